"""The spec of a batch, built from algorithms and their kernel parameters."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_
from typing import Any

import numpy as np

from skde.algorithms.base import Algorithm, FitSetting
from skde.algorithms.population_size import PopulationSchedule
from skde.engines.state.algorithm_kernels import algorithm_entry
from skde.engines.state.spec import Spec
from skde.typing import FloatArray


def build_spec(
    algorithms: Sequence[Algorithm],
    kernel_parameters: Sequence[dict[str, float]],
    schedules: Sequence[PopulationSchedule],
    setting: FitSetting,
    box: FloatArray,
    **fields: Any,
) -> Spec:
    """Return the spec of a batch with one population for each algorithm.

    Parameters
    ----------
    algorithms : sequence of Algorithm
        Parameter objects of one class, all checked.
    kernel_parameters, schedules
        One entry for each algorithm.
    setting : FitSetting
        The setting that the kernel parameters were computed for.
    box : ndarray of shape (dim, 2)
        The bounds.
    **fields
        The remaining fields of the spec, such as seeds, limits and start.
    """
    names = algorithm_entry(algorithms[0].kernel).parameters
    needs = [algorithm.needs(setting, given) for algorithm, given in zip(algorithms, kernel_parameters, strict=True)]
    return Spec(
        algorithm=algorithms[0].kernel,
        parameters=np.array([[float(given[name]) for name in names] for given in kernel_parameters]),
        lower=box[:, 0],
        upper=box[:, 1],
        constants=algorithms[0].constants,
        needs=reduce(or_, needs),
        schedules=tuple(schedules),
        iteration=max(algorithm.iteration_length for algorithm in algorithms),
        **fields,
    )


def build_spec_without_trials(schedules: Sequence[PopulationSchedule], box: FloatArray, **fields: Any) -> Spec:
    """Return the spec of populations of one individual, which come from outside: no algorithm makes trials for them.

    Parameters
    ----------
    schedules : sequence of PopulationSchedule
        One entry for each population.
    box : ndarray of shape (dim, 2)
        The bounds.
    **fields
        The remaining fields of the spec, such as seeds, limits and start.
    """
    return Spec(
        algorithm="de",  # the spec needs one, and any will do
        parameters=np.ones((len(schedules), 1)),  # pop_size
        lower=box[:, 0],
        upper=box[:, 1],
        schedules=tuple(schedules),
        **fields,
    )
