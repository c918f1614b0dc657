"""What the evaluations at the end of a fit of a noisy function have found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from skde.engines import Spec
from skde.engines.state.task import NUMBER, WORD
from skde.objectives.feasibility import Outcome
from skde.result import History, RunResult
from skde.typing import FloatArray, IntArray
from skde.utils.serialization import Layout, entry
from skde.utils.validation import check_points_inside


class FinalValues(NamedTuple):
    """The points that evaluations at the end of a noisy function's fit chose, and their values.

    Attributes
    ----------
    chosen : ndarray of bool, of shape (n_runs,)
        The runs with such a point.
    points : ndarray of shape (n_runs, dim)
        The points of the box.
    fun : ndarray of shape (n_runs,)
        The means of the evaluations.
    """

    chosen: Any
    points: FloatArray
    fun: FloatArray


class FinalResults:
    """The cost and the result of the evaluations after the last generation.

    Parameters
    ----------
    n_runs : int
        The runs.

    Attributes
    ----------
    n_evals : ndarray of int of shape (n_runs,)
        All such evaluations of every run.
    values : FinalValues or None
        Their result; None where they are not complete.
    """

    def __init__(self, n_runs: int) -> None:
        self.n_evals: IntArray = np.zeros(n_runs, np.int64)
        self.values: FinalValues | None = None

    @property
    def begun(self) -> bool:
        """Whether there are such evaluations."""
        return bool(self.n_evals.any())

    def extend(
        self,
        results: list[RunResult],
        seconds: float,
        at: Callable[[FloatArray, FloatArray], tuple[FloatArray, list[Outcome]]],
    ) -> list[RunResult]:
        """Return results of the runs with these evaluations.

        Parameters
        ----------
        results : list of RunResult
            Every run's result at the end of its last generation.
        seconds : float
            The time at the end of these evaluations.
        at : callable
            Returns values of variables and outcomes at points of the box with these values.
        """
        totals = [result.n_evals + extra for result, extra in zip(results, self.n_evals.tolist(), strict=True)]
        changed = [replace(result, n_evals=total) for result, total in zip(results, totals, strict=True)]
        values = self.values
        if values is None:
            return changed
        x_of_runs, outcomes = at(values.points, np.where(values.chosen, values.fun, 0.0))
        for run in np.flatnonzero(values.chosen).tolist():
            fun, history = float(values.fun[run]), changed[run].history
            sample = (history.n_evals, totals[run]), (history.seconds, seconds), (history.best, fun)
            changed[run] = replace(
                changed[run],
                x=x_of_runs[run],
                fun=fun,
                time=seconds,
                max_violation=outcomes[run].max_violation,
                history=History(*(np.append(column, last) for column, last in sample)),
            )
        return changed

    # -- saved state ---------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return the arrays of a file."""
        arrays: dict[str, Any] = {"extra_evals": self.n_evals} if self.n_evals.any() else {}
        if self.values is not None:
            chosen, points, fun = self.values
            arrays |= {"final_chosen": chosen.astype(np.int64), "final_points": points, "final_fun": fun}
        return arrays

    @staticmethod
    def layout(spec: Spec, n_runs: int, arrays: dict[str, Any]) -> dict[str, Layout]:
        """Return the layout of the arrays of a file, which has some of them."""
        final = {
            "final_chosen": Layout((n_runs,), WORD),
            "final_points": Layout((n_runs, len(spec.lower)), spec.dtype),
            "final_fun": Layout((n_runs,), NUMBER),
        }
        found = {"extra_evals": Layout((n_runs,), WORD)} if "extra_evals" in arrays else {}
        return found | (final if "final_chosen" in arrays else {})

    @staticmethod
    def check(spec: Spec, arrays: dict[str, Any]) -> None:
        """Check the values of the arrays of a file."""
        with entry("extra_evals"):
            if "extra_evals" in arrays and not ((arrays["extra_evals"] >= 0) & (arrays["extra_evals"] < 2**40)).all():
                raise ValueError("numbers of evaluations must be in [0, 2^40)")
        if "final_chosen" not in arrays:
            return
        with entry("final_chosen"):
            if not np.isin(arrays["final_chosen"], (0, 1)).all():
                raise ValueError("it must be 0 or 1 for every run")
        with entry("final_points"):
            box = np.stack([spec.lower, spec.upper], axis=1)
            check_points_inside(arrays["final_points"][arrays["final_chosen"] == 1], box, spec.dtype)

    @classmethod
    def from_state(cls, n_runs: int, arrays: dict[str, Any]) -> FinalResults:
        """Return what `state` described."""
        final = cls(n_runs)
        final.n_evals = arrays.get("extra_evals", final.n_evals)
        if "final_chosen" in arrays:
            chosen, points, fun = (arrays[name] for name in ("final_chosen", "final_points", "final_fun"))
            final.values = FinalValues(chosen == 1, points, fun)
        return final
