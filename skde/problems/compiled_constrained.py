"""Constrained problems of the compiled core."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from skde.functions.forms import Form
from skde.functions.point_workers import unlimited
from skde.problems.base import Problem, make_read_only
from skde.problems.constraints import ConstrainedProblem
from skde.typing import Array, FloatArray
from skde.utils.arrays import array_namespace, points


class CompiledConstrainedProblem(ConstrainedProblem):
    """A constrained problem of the registry, compiled into the core.

    Parameters
    ----------
    problem : Problem
        Name, box, minimum, data and options; its kernel has the constrained problem.
    multipliers_opt : ndarray of shape (m + l,)
        Multipliers of g and h at the minimiser, one each.
    n_equalities : int, default 0
        Number of the multipliers that belong to h, the last ones.
    """

    kernel: str
    x_opt: FloatArray
    f_opt: float

    def __init__(self, problem: Problem, multipliers_opt: FloatArray, n_equalities: int = 0) -> None:
        self.name, self.kernel, self.bounds = problem.name, problem.kernel, problem.bounds
        self.x_opt, self.f_opt = problem.x_opt, problem.f_opt
        self.arrays, self.options = problem.arrays, problem.options
        self.multipliers_opt = make_read_only(multipliers_opt)
        self.vectorized, self.form, self._constraints = True, Form(True), []
        self._counts = len(multipliers_opt) - n_equalities, n_equalities

    @property
    def has_constraints(self) -> bool:
        """Whether there are constraints: always."""
        return True

    @property
    def n_inequalities(self) -> int:
        """Number of constraints g(x) <= 0."""
        return self._counts[0]

    @property
    def n_equalities(self) -> int:
        """Number of constraints h(x) = 0."""
        return self._counts[1]

    @property
    def linear_slopes(self) -> FloatArray:
        """Derivatives of g and h that are constant: none is known."""
        return np.full((sum(self._counts), self.dim), np.nan)

    def f(self, X: Array) -> Array:
        """Return the objective's values at the rows of X, of shape (n,); X as in `values`."""
        return self.component(0)(points(X, self.dim, self))

    def constraint_values(self, X: Array, seconds_left: Callable[[], float] = unlimited) -> Array:
        """Return the constraints' values, g and then h, at the rows of X, of shape (n, m + l); X as in `values`."""
        X = points(X, self.dim, self)
        return array_namespace(X).stack([self.component(k)(X) for k in range(1, 1 + sum(self._counts))], axis=1)

    @property
    def file_entry(self) -> dict[str, Any]:
        """What finds the problem again in the registry."""
        return {"problem": self.name, "dim": self.dim, "options": self.options}

    def feasibility_objective(self, tolerance: float) -> Problem:
        """Return the compiled objective with the codes of feasibility rules as values."""
        return self._objective(self.kernel, tolerance)

    @property
    def identity(self) -> Any:
        """Key that is equal for equal problems."""
        return self.name, self.dim, self.options

    def component(self, k: int) -> Problem:
        """Return one of f, g_1, ... g_m, h_1, ... h_l as a compiled objective."""
        return self._objective(f"{self.kernel}_component", float(k))

    def _objective(self, kernel: str, first: float) -> Problem:
        """Return a compiled objective with the given number as the first of its data."""
        return Problem(self.name, kernel, self.bounds, self.x_opt, self.f_opt, (np.array([first]), *self.arrays))
