"""Local searches from the best point of every run."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from skde.engines.state.task import NUMBER, WORD
from skde.fit.ledger import Ledger
from skde.fit.phases.feasible_search import FeasibleSearch
from skde.fit.phases.joint_search import JointSearch
from skde.fit.phases.quasi_newton_search import QuasiNewtonSearch
from skde.fit.phases.requests import Request, RequestPhase, Steps
from skde.fit.phases.scipy_search import FEASIBLE, NAMES, SIMPLEX, TOGETHER, LocalSearch, Values, quiet_scipy
from skde.fit.phases.simplex_search import SimplexSearch
from skde.fit.polish_budget import MOST_GRADIENTS
from skde.typing import FloatArray, IntArray
from skde.utils.calls import yield_calls
from skde.utils.serialization import Layout, entry


@dataclass(frozen=True, eq=False)
class SearchSpace:
    """What local searches know of the function.

    Attributes
    ----------
    lower, upper : ndarray of shape (dim,)
        The box.
    real : ndarray of bool of shape (dim,)
        The variables without steps; the others stay as they are.
    target : float
        A search ends where its best value is this or less.
    dtype : dtype
        The precision of the values.
    n_inequalities : int or None, default None
        Constraints g <= 0; those that follow are h = 0. None: there are no constraints.
    tolerance : float, default 0.0
        That of satisfied constraints.
    linear : ndarray of shape (m + l, dim) or None, default None
        The derivatives of linear constraints, NaN for the others.
    """

    lower: FloatArray
    upper: FloatArray
    real: Any
    target: float
    dtype: np.dtype[Any]
    n_inequalities: int | None = None
    tolerance: float = 0.0
    linear: FloatArray | None = None


class LocalSearchPhase(RequestPhase):
    """Local searches by one method, or by a method of SciPy and then Nelder and Mead's.

    Those of SciPy's methods run one after the other, the others together. A row of values has f or, with constraints,
    f, g and h.

    Parameters
    ----------
    methods : tuple of str
        A method of SciPy, one of TOGETHER, or one of each.
    starts, codes : ndarray of shape (n_runs, dim), (n_runs,)
        The best point of every run, and its value or, with constraints, its code of the feasibility rules.
    order : ndarray of int
        The runs that are searched, the first one first.
    n_iter : ndarray of int of shape (n_runs,)
        The generations that the phase follows.
    last : bool, default False
        Whether the runs end with it.

    Attributes
    ----------
    complete : ndarray of bool of shape (n_runs,)
        The runs with searches that have come to their ends.
    """

    kind, label, with_constraints = "polish", "polish", True

    def __init__(
        self,
        methods: tuple[str, ...],
        starts: FloatArray,
        codes: FloatArray,
        order: IntArray,
        n_iter: IntArray,
        last: bool = False,
    ) -> None:
        super().__init__(len(starts), n_iter)
        self.last = last
        self._clock: float | None = None
        self.methods, self.starts, self.codes, self.order = methods, starts, codes, order
        self.complete = np.zeros(len(starts), bool)

        self.everywhere = methods[0] != FEASIBLE

    def begin_searches(self, space: SearchSpace, max_evals: IntArray, seconds: float) -> None:
        """Begin, or begin again after an interruption, with limits on the evaluations of every run in the phase.

        `seconds` is the running time of the fit.
        """
        self.complete[:], self._clock = False, seconds
        self.begin(self._search(space, max_evals))

    def _search(self, space: SearchSpace, max_evals: IntArray) -> Steps:
        """Yield the requests of all searches."""
        starts, codes, left = self.starts.copy(), self.codes.copy(), max_evals.copy()
        together = self.methods[-1] in TOGETHER
        if self.methods[0] not in TOGETHER:
            for run in self.order.tolist():
                most = min(left[run], MOST_GRADIENTS * (len(starts[run]) + 1)) if together else left[run]
                search = yield from search_alone(self.methods[0], space, run, starts[run], codes[run], int(most))
                starts[run], codes[run] = search.x, search.code
                left[run] -= search.n_evals
                self.complete[run] = not together
        if together and len(self.order):
            yield from self._search_together(space, starts, codes, left)

    def _search_together(self, space: SearchSpace, starts: FloatArray, codes: FloatArray, left: IntArray) -> Steps:
        runs = self.order
        free = np.flatnonzero(space.real & (space.upper > space.lower))
        low, width = space.lower[free], (space.upper - space.lower)[free]
        begin = np.clip((starts[runs][:, free] - low) / width, 0.0, 1.0)
        f, most = np.where(np.isnan(codes), np.inf, codes)[runs], np.maximum(left[runs], 0)
        search: JointSearch
        if self.methods[-1] == SIMPLEX:
            search = SimplexSearch(begin, f, most, space.target)
        else:
            search = QuasiNewtonSearch(begin, f, most, space.target, lower=low, width=width, dtype=space.dtype)
        while search.active.any():
            self.complete[runs] = ~search.active
            step, values = search.step(), None
            while True:
                try:
                    searches, u = next(step) if values is None else step.send(values)
                except StopIteration:
                    break
                x = starts[runs[searches]].astype(np.float64)
                x[:, free] = np.clip(low + u * width, low, space.upper[free])
                values = (yield Request(x, runs[searches]))[:, 0]
        self.complete[runs] = True

    def account(self, ledger: Ledger, rows: IntArray, codes: FloatArray) -> None:
        """Count rows of the present request that have got values, and keep the best point of every run."""
        before, self._clock = self._clock, ledger.timer.seconds
        took = 0.0 if before is None else self._clock - before
        local = ledger.open_local(self.starts.shape[1])
        local.note(self.request.runs[rows], self.request.points[rows], codes, took)

    def close(self, ledger: Ledger) -> None:
        """Note which searches have come to their ends."""
        local = ledger.open_local(self.starts.shape[1])
        local.generation[self.complete] = self.n_iter[self.complete]
        if self.last:
            ledger.finished |= self.complete

    # -- saved state ---------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return the arrays of a file."""
        return super().state() | {
            "polish_methods": np.array([NAMES.index(method) for method in self.methods]),
            "polish_starts": self.starts.astype(np.float64),
            "polish_codes": self.codes.astype(np.float64),
            "polish_order": self.order,
            "polish_last": np.array([int(self.last)]),
        }

    @classmethod
    def layout(cls, n_runs: int, dim: int) -> dict[str, Layout]:
        """Return the layout of the arrays of a file."""
        return super().layout(n_runs, dim) | {
            "polish_methods": Layout((None,), WORD),
            "polish_starts": Layout((n_runs, dim), NUMBER),
            "polish_codes": Layout((n_runs,), NUMBER),
            "polish_order": Layout((None,), WORD),
            "polish_last": Layout((1,), WORD),
        }

    @classmethod
    def from_state(cls, n_runs: int, arrays: dict[str, Any], dtype: np.dtype[Any]) -> Self | None:
        """Return what `state` described, after a check; None where a file has no local searches."""
        if "polish_iter" not in arrays:
            return None
        with entry("polish_methods"):
            numbers = arrays["polish_methods"].tolist()
            if not 1 <= len(numbers) <= 2 or not all(0 <= number < len(NAMES) for number in numbers):
                raise ValueError(f"it must have one or two numbers of methods, got {numbers}")
        order = arrays["polish_order"]
        with entry("polish_order"):
            if not np.isin(order, np.arange(n_runs)).all() or len(np.unique(order)) < len(order):
                raise ValueError(f"it must have different numbers of runs, got {order.tolist()}")
        methods = tuple(NAMES[number] for number in numbers)
        starts, last = arrays["polish_starts"].astype(dtype), bool(arrays["polish_last"][0])
        phase = cls(methods, starts, arrays["polish_codes"], order, arrays["polish_iter"], last)
        phase.restore(arrays)
        return phase


def search_alone(
    method: str, space: SearchSpace, run: int, start: FloatArray, code: float, max_evals: int
) -> Generator[Request, FloatArray, LocalSearch]:
    """Yield the requests of a search by a method of SciPy, and return it at its end."""
    kind = FeasibleSearch if space.n_inequalities is not None and method == FEASIBLE else LocalSearch

    def work(values: Values) -> LocalSearch:
        search = kind(
            values,
            start,
            code,
            np.where(space.real, space.lower, start),
            np.where(space.real, space.upper, start),
            n_inequalities=space.n_inequalities,
            tolerance=space.tolerance,
            linear=space.linear,
            max_evals=max(max_evals, 0),
            stops=lambda: search.code <= space.target,
            dtype=space.dtype,
        )
        search.run(method)
        return search

    calls: Generator[FloatArray, FloatArray, LocalSearch] = yield_calls(work, quiet_scipy)
    values = None
    while True:
        try:
            points = next(calls) if values is None else calls.send(values)
        except StopIteration as end:
            found: LocalSearch = end.value
            return found
        values = yield Request(points, np.full(len(points), run))
