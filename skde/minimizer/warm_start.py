"""Checks that a second fit may continue from the populations of the first."""

from __future__ import annotations

from typing import Any

import numpy as np

from skde.engines import Engine, Spec
from skde.fit.fit import Fit
from skde.objectives.objective import Objective
from skde.typing import FloatArray


def check_warm_objective(before: Objective | None, box: FloatArray, objective: Objective, x0: Any) -> None:
    """Check that the second fit with warm_start=True has the objective and the box of the first, and no x0."""
    if x0 is not None:
        raise ValueError("x0 cannot be given with warm_start=True: this fit continues with the population of the first")
    if not np.array_equal(objective.box, box):
        raise ValueError("warm_start=True: the box differs from that of the first fit; set warm_start=False")
    if before is None:
        raise ValueError(
            "warm_start=True: the objective of the first fit is not known, because that fit was loaded or made by ask "
            "and tell: resume(objective) continues it; or set warm_start=False"
        )
    if before.identity != objective.identity:
        raise ValueError(
            "warm_start=True: the objective differs from that of the first fit, and the population has values of "
            "that one; set warm_start=False"
        )


def check_warm_spec(fit: Fit, spec: Spec, engine: Engine) -> None:
    """Check that the second fit with warm_start=True has the algorithm, the sizes and the device of the first."""
    before = fit.batch.spec
    same = np.array_equal(spec.parameters, before.parameters) and spec.dtype == before.dtype
    if not same or spec.algorithm != before.algorithm or engine.name != fit.engine.name:
        raise ValueError(
            "warm_start=True: algorithm, its parameters, n_runs, dtype and device must be those of the first fit; "
            "set warm_start=False"
        )
