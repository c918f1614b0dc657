"""Ask and tell: the user makes the loop, and evaluates where the solver does not look."""

from __future__ import annotations

from typing import Self

import numpy as np

from skde.arrays import contiguous, moved_to, real_values
from skde.minimizer_spec import Preparing
from skde.objectives.feasibility import FeasibilityRules, StoredOutcomes
from skde.objectives.objective import Objective, ask_tell_objective
from skde.runner import Runner
from skde.typing import Array
from skde.validation import check_bounds


class Asking(Preparing):
    """What a Minimizer offers to those who evaluate themselves."""

    def ask(self) -> Array:
        """Return the points to evaluate next: the trials of one generation.

        Returns
        -------
        X : ndarray of shape (pop_size, dim), or (n_runs, pop_size, dim) with n_runs > 1; islands one after the other
            NumPy or CuPy, where the solver lives; a copy. Asking again without telling returns the same points. All
            rows are inside the bounds, and some need no value: those of a run (or island) that has ended, which are
            points of its last population; and those behind a smaller population where sizes differ, as the largest
            counts, which repeat its trials.

        Raises
        ------
        ValueError
            Without bounds in the constructor.
        RuntimeError
            When every run has ended (`stopped_`).
        """
        runner = self._asking()
        if runner.has_told():
            raise RuntimeError(f"every run has ended: {self.message_}")
        batch = runner.batch
        rows = runner.engine.trials(batch, runner.generation + 1)
        shape = self._ask_shape(runner)
        with runner.engine.here:
            if batch.varies or (batch.pops != batch.pop_max).any():
                size = shape[-2] // batch.n_islands
                used = np.arange(batch.n_runs)[:, None] * batch.pop_max + np.arange(size) % runner.sizes[:, None]
                rows = rows[batch.xp.asarray(used)]
            runner.asked = rows.reshape(shape)
        return runner.asked

    def tell(self, X: Array, f: Array) -> Self:
        """Give the values of the points asked for, and select.

        Parameters
        ----------
        X : ndarray of the shape that `ask` returned
            The points that were evaluated, usually those asked for; others are taken in their place, inside the bounds.
        f : array-like of shape (pop_size,), or (n_runs, pop_size)
            Their values. With constraints these are evaluated here.
            In rows that need no value, whatever they hold is ignored.

        Returns
        -------
        self : Minimizer
        """
        runner = self._fitted("ask")
        if runner.asked is None:
            raise RuntimeError("tell needs an ask before it")
        batch, xp = runner.batch, runner.batch.xp
        shape = self._ask_shape(runner)
        if np.shape(X) != shape:
            raise ValueError(f"X must have the shape {shape} that ask returned, got {np.shape(X)}")
        if np.shape(f) != shape[:-1]:
            raise ValueError(f"f must have shape {shape[:-1]}, got {np.shape(f)}")
        with runner.engine.here:
            points = runner.asked
            if X is not runner.asked:
                points = contiguous(moved_to(X, runner.asked, "X"), batch.spec.dtype)
            # Looking at the points of a GPU means waiting for it: those that were asked for are known to be inside.
            if xp is np or points is not runner.asked:
                self._check_inside(points.reshape(batch.n_runs, -1, batch.dim), runner)
            flat = f.reshape(-1) if hasattr(f, "reshape") else np.reshape(f, -1)
            values = real_values(flat, points.reshape(-1, batch.dim), "f")
            rules = self._rules_of(runner)
            if rules is not None:
                values = rules.codes(points.reshape(-1, batch.dim), values)
            size = shape[-2] // batch.n_islands
            if size == batch.pop_max:
                runner.accept(points, values)
            else:  # the kernels' rows are those of the largest population
                all_points = xp.zeros((batch.n_runs, batch.pop_max, batch.dim), batch.spec.dtype)
                all_values = xp.zeros((batch.n_runs, batch.pop_max), batch.spec.dtype)
                all_points[:, :size] = points.reshape(batch.n_runs, -1, batch.dim)
                all_values[:, :size] = values.reshape(batch.n_runs, -1)
                runner.accept(all_points, all_values)
        return self

    @property
    def stopped_(self) -> bool:
        """Whether every run has ended, so that there is nothing more to ask.

        A GPU is asked at most every few milliseconds, so this may come true some generations late: until then `ask`
        returns points of the last populations, and what they are told is ignored.
        """
        return self._asking().hear()

    def _asking(self) -> Runner:
        """Return the runner with the trials of the next generation made."""
        if not hasattr(self, "_runner"):
            if self.bounds is None:
                raise ValueError("ask needs bounds: Minimizer(bounds=[(low, high), ...])")
            self._check_parameters()
            self._objective = None
            known = self._told()
            box = check_bounds(self.bounds) if known is None else known.box
            self._runner = self._start(self._engine(None), box, None, None if known is None else known.rules)
        if not self._runner.proposed:
            self._runner.propose()
        return self._runner

    def _told(self) -> Objective | None:
        """Return the objective whose values are told, where there are constraints."""
        if self.constraints is None:
            return None
        return ask_tell_objective(self.bounds, self.constraints, self.vectorized, self._row_jobs, self.feasibility_tol)

    def _rules_of(self, runner: Runner) -> FeasibilityRules | None:
        """Return what the told values are made into; after loading, from the constraints that were given again."""
        if isinstance(runner.rules, StoredOutcomes):
            known = self._told()
            if known is None:
                raise ValueError("tell needs the constraints again: set_params(constraints=...)")
            runner.rules = known.rules
        return runner.rules

    def _ask_shape(self, runner: Runner) -> tuple[int, ...]:
        batch = runner.batch
        size = int(runner.sizes.max()) if batch.varies else batch.pop_max
        shape = (batch.n_runs // batch.n_islands, batch.n_islands * size, batch.dim)
        return shape if shape[0] > 1 else shape[1:]

    def _check_inside(self, points: Array, runner: Runner) -> None:
        spec, xp = runner.batch.spec, runner.batch.xp
        lower, upper = (xp.asarray(bound, dtype=spec.dtype) for bound in (spec.lower, spec.upper))
        used = xp.asarray(np.arange(points.shape[1]) < runner.sizes[:, None])
        inside = ((points >= lower) & (points <= upper)).all(axis=-1) | ~used
        if not bool(inside.all()):
            raise ValueError("X must lie inside the bounds (and hold no NaN)")
