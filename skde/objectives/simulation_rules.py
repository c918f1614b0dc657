"""Feasibility rules where one function returns the objective and the constraints."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from skde.functions.point_workers import Part
from skde.objectives.feasibility import EXACT, FeasibilityRules, Outcome, outcomes_of
from skde.problems.constraints import total_violation
from skde.problems.simulation import Simulation
from skde.typing import Array, FloatArray


class SimulationRules(FeasibilityRules):
    """Feasibility rules of a simulation: every point is evaluated once, whether it is feasible or not.

    Parameters
    ----------
    problem : Simulation
        The function and its bounds.
    tolerance : float
        Tolerance of satisfied constraints.
    """

    problem: Simulation
    chooses_points = False

    def __init__(self, problem: Simulation, tolerance: float) -> None:
        super().__init__(problem, tolerance)

    def __call__(self, X: Array) -> Array:
        """Return the codes of the rows of X."""
        return self.codes_of(self.problem.values(X))

    def codes_of(self, rows: Array) -> Array:
        """Return the codes of points from rows of f, g and h."""
        return self.codes(rows[:, 0], total_violation(rows[:, 1:], self.problem.n_inequalities, self.tolerance))

    def parts(self, X: Array, seconds_left: Callable[[], float]) -> Iterator[Part]:
        """Yield the codes of the rows of X as they come."""
        for part in self.problem.parts(X, seconds_left):
            yield Part(part.rows, self.codes_of(part.values))

    def outcomes(self, x: FloatArray, codes: FloatArray, xp: Any) -> list[Outcome]:
        """Return value and violations of all runs' best points.

        Their outputs are kept; the function is called again where they are no longer.
        """
        rows = self.problem.recall_values(xp.asarray(x))
        values = np.where(codes <= EXACT, codes, rows[:, 0])
        return outcomes_of(codes, values, rows[:, 1:], self.problem.n_inequalities, self.tolerance)
