"""The augmented Lagrangian of a constrained problem, as a game of points against multipliers."""

from __future__ import annotations

from typing import Any

import numpy as np

from skde.engines import matrix
from skde.engines.game import Game
from skde.problems.constraints import ConstrainedProblem
from skde.typing import Array
from skde.utils.arrays import points
from skde.utils.validation import check_real


class AugmentedLagrangian:
    r"""The augmented Lagrangian of a constrained problem as a function of points and multipliers.

    .. math::

        L(x, \mu, \lambda) &= f(x) + \sum_i p_i + \sum_j \lambda_j h_j(x) + r_j h_j(x)^2 \\
        p_i &= \mu_i g_i(x) + r_i g_i(x)^2 \quad\text{if } g_i(x) \ge -\mu_i / (2 r_i),
        \quad\text{else } -\mu_i^2 / (4 r_i)

    for constraints :math:`g_i(x) \le 0` and :math:`h_j(x) = 0`, with :math:`\mu_i \ge 0` and :math:`\lambda_j` of
    either sign. Where the problem's Kuhn-Tucker point is a strong minimum and r is large enough, :math:`(x^*, \mu^*,
    \lambda^*)` is a saddle point: a minimum over x near :math:`x^*`, a maximum over the multipliers.

    Parameters
    ----------
    problem : ConstrainedProblem
        The problem.
    penalty : float or array-like of shape (m + l,), default 1.0
        The factors r, > 0: one number, or one for each constraint, inequalities first.

    Raises
    ------
    TypeError, ValueError
        For a problem that is no ConstrainedProblem, and for a penalty that is not positive or has another length.

    Notes
    -----
    Source: F. Fabris, R. A. Krohling, 2012, equations 6 and 7, after M.-J. Tahk, B.-C. Sun, 2000.

    Differences: equation 7 is printed with the threshold :math:`+\mu_i / (2 r)`, at which :math:`p_i` jumps; here it is
    :math:`-\mu_i / (2 r)`, at which it and its derivatives are continuous. :math:`\mu_i` may be 0, and
    :math:`\lambda_j` negative. Every constraint may have another factor. Where f is NaN or infinite and a constraint is
    violated, L is :math:`2^{600}` times the violation.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.optimize import LinearConstraint
    >>> from skde import AugmentedLagrangian, ConstrainedProblem
    >>> problem = ConstrainedProblem(lambda X: X[:, 0] ** 2, [(-2, 2)], LinearConstraint([[1.0]], 1, np.inf))
    >>> L = AugmentedLagrangian(problem, penalty=10.0)
    >>> L(np.array([[0.5], [1.0]]), np.array([[0.0], [2.0]])).tolist()
    [[2.75, 3.75], [1.0, 1.0]]
    """

    def __init__(self, problem: ConstrainedProblem, penalty: Any = 1.0) -> None:
        if not isinstance(problem, ConstrainedProblem):
            raise TypeError(f"problem must be a ConstrainedProblem, got {problem!r} ({type(problem).__name__})")
        self.problem = problem
        self.penalty = check_penalty(penalty, problem.n_inequalities + problem.n_equalities)

    def __call__(self, X: Array, Y: Array) -> Array:
        """Return the values of points against multipliers.

        Parameters
        ----------
        X : array-like of shape (n, dim), NumPy or CuPy
            Points.
        Y : array-like of shape (k, m + l)
            Multipliers of the inequalities, then of the equalities.

        Returns
        -------
        L : ndarray of shape (n, k)
        """
        Y = points(Y, self.problem.n_inequalities + self.problem.n_equalities, self.problem, "multipliers Y")
        values = self.problem.values(points(X, self.problem.dim, self.problem).astype(np.float64, copy=False))
        return matrix(lagrangian_game(self.problem.n_inequalities, self.penalty), values, Y)


def lagrangian_game(inequalities: int, penalty: Any) -> Game:
    """Return the game of features (f, g, h) against multipliers; the size of its second array is the number of g."""
    return Game("lagrangian", (penalty, np.zeros(inequalities)))


def check_penalty(given: Any, constraints: int) -> Any:
    """Return the factors r, checked, of shape (constraints,)."""
    if np.ndim(given) == 0:
        return np.full(constraints, check_real("penalty", given, 0, low_open=True, high_open=True))
    try:
        r = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        r = np.empty(0)
    if r.shape != (constraints,) or not ((r > 0) & np.isfinite(r)).all():
        raise ValueError(f"penalty must be positive numbers, one for each of {constraints} constraints, got {given!r}")
    return r
