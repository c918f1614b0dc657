"""The sizes of `skde bench speed --scale`, and the memory that they take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

import numpy as np

from skde import DE, PSO, SS, Algorithm, get_problem
from skde.algorithms import ALGORITHMS, FitSetting
from skde.algorithms.population_size import PopulationSchedule
from skde.benchmark.generations import new_spec
from skde.benchmark.peers import CR, C, F, W
from skde.engines.state.batch_arrays import array_shapes
from skde.utils.validation import DTYPES, check_choice, check_int, check_real

PROBLEM = "rastrigin"
# Axis -> dimension, population and runs, in the order of their sizes.
AXES = {
    "population": tuple((30, 10**k, 1) for k in range(2, 7)),
    "large": ((100, 10**4, 1), (100, 10**5, 1), (1000, 10**4, 1)),
    "dimension": tuple((dim, 1000, 1) for dim in (10, 30, 100, 1000, 10**4)),
    "runs": tuple((10, 50, 10**k) for k in range(5)),
}
QUICK_COMPONENTS = 10**6  # of all individuals; --quick has no larger sizes
# Parameters other than the sizes: the peers', and nine steps of a local search.
PARAMETERS: dict[str, dict[str, Any]] = {
    DE.name: {"F": F, "CR": CR},
    PSO.name: {"w": W, "c1": C, "c2": C},
    SS.name: {"n_local": 9},
}
MOST_GENERATIONS = 2000
FEWEST_IN_MEMORY = 50


@dataclass(frozen=True)
class Cell:
    """One setting of the measurement."""

    axis: str
    algorithm: str
    dtype: str
    dim: int
    pop_size: int
    n_runs: int

    @property
    def components(self) -> int:
        """Components of all individuals."""
        return self.dim * self.pop_size * self.n_runs

    @property
    def itemsize(self) -> int:
        """Bytes of a component."""
        return np.dtype(self.dtype).itemsize

    def __str__(self) -> str:
        runs = f" runs={self.n_runs}" if self.n_runs > 1 else ""
        return f"{self.algorithm} {self.dtype} D={self.dim} NP={self.pop_size}{runs}"


@dataclass(frozen=True)
class ScaleSettings:
    """The choices of the user.

    Attributes
    ----------
    algorithms, dtypes, axes : sequence of str
        Names.
    quick : bool
        Small sizes only.
    repeats : int
        Repeats of every figure.
    seconds : float
        Time of a repeat.
    limit : float
        Most seconds of one figure with all its repeats; larger sizes are left out.
    """

    algorithms: Sequence[str]
    dtypes: Sequence[str]
    axes: Sequence[str]
    quick: bool = False
    repeats: int = 5
    seconds: float = 0.2
    limit: float = 60.0

    def __post_init__(self) -> None:
        allowed = {"algorithms": ALGORITHMS, "dtypes": DTYPES, "axes": AXES}
        for name, choices in allowed.items():
            for value in getattr(self, name):
                check_choice(f"each of {name}", value, choices)
        check_int("repeats", self.repeats, 1)
        check_real("seconds", self.seconds, 0, low_open=True)
        check_real("limit", self.limit, 0, low_open=True)

    def cells(self) -> Iterator[Cell]:
        """Give the cells: for each axis, precision and algorithm from the smallest to the largest."""
        for axis in self.axes:
            for dtype in self.dtypes:
                for algorithm in self.algorithms:
                    for dim, pop_size, n_runs in AXES[axis]:
                        cell = Cell(axis, algorithm, dtype, dim, pop_size, n_runs)
                        if not self.quick or cell.components <= QUICK_COMPONENTS:
                            yield cell


def read_cell(entry: dict[str, Any]) -> Cell:
    """Return the cell of an entry of a record."""
    return Cell(**{name.name: entry[name.name] for name in fields(Cell)})


def algorithm_of_size(name: str, pop_size: int) -> Algorithm:
    """Return an algorithm that makes about pop_size trials in every generation."""
    return ALGORITHMS[name].with_trials(pop_size, **PARAMETERS.get(name, {}))


def trials_of(name: str, pop_size: int) -> int:
    """Return the number of trials of a generation."""
    algorithm = algorithm_of_size(name, pop_size)
    given = algorithm.kernel_parameters(FitSetting(1, max_iter=MOST_GENERATIONS))
    return PopulationSchedule.from_parameters(algorithm.kernel, given).size(1)


@cache
def batch_bytes(name: str, dtype: str, dim: int, pop_size: int, n_runs: int) -> int:
    """Return the bytes of the arrays of a batch."""
    spec = new_spec(algorithm_of_size(name, pop_size), get_problem(PROBLEM, dim=dim), 1, MOST_GENERATIONS, dtype=dtype)
    return array_shapes(spec, n_runs).nbytes


@cache
def largest_population(name: str, dtype: str, dim: int, n_runs: int, available: int | None) -> int | None:
    """Return the largest population that fits into a number of bytes: 0 if none does, None where it is not known."""
    if available is None:
        return None
    fits, most = 0, ALGORITHMS[name].most_trials
    least = FEWEST_IN_MEMORY
    while least <= most:
        middle = (least + most) // 2
        if batch_bytes(name, dtype, dim, middle, n_runs) <= available:
            fits, least = middle, middle + 1
        else:
            most = middle - 1
    return fits
