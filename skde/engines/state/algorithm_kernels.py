"""The compiled kernels of the algorithms: their numbers, and the names of their parameters and state."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import skde._cpu as _cpu
from skde.engines.state.spec import Spec


class Kernel(NamedTuple):
    """The kernel of an algorithm: its number and C++ type in all.cuh, and its names of parameters and state.

    Attributes
    ----------
    varies : bool
        Whether it may change the size of a population.
    large_stages : int
        The largest number of stages between generations of a large population, without sorting; 0: as many as for a
        small one.
    along_sorting : bool
        Whether these go along with the stages of sorting on a GPU, where their number may be another one.
    """

    number: int
    cpp_type: str
    parameters: list[str]
    arrays: list[str]
    vectors: list[str]
    scratch: list[str]
    varies: bool
    large_stages: int
    along_sorting: bool


@lru_cache
def algorithm_entry(name: str) -> Kernel:
    """Return the kernel of a name."""
    number, cpp_type, *names = _cpu.algorithms()[name]
    parameters, arrays, vectors, scratch = map(split, names)
    return Kernel(number, cpp_type, parameters, arrays, vectors, scratch, *_cpu.algorithm_traits()[name])


def state_names(spec: Spec) -> tuple[list[str], list[str]]:
    """Return the names of the arrays and the vectors of an individual's state, with opposition.cuh's."""
    kernel, opposition = algorithm_entry(spec.algorithm), spec.needs.opposition
    return kernel.arrays + ["opposite_value"] * opposition, kernel.vectors + ["opposite"] * opposition


def split(names: str) -> list[str]:
    """Return the names in 'a, b'."""
    return [name.strip() for name in names.split(",") if name.strip()]
