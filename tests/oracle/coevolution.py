"""Co-evolution in NumPy: one run, from the equations of the papers, reading the kernels' random stream."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .common import worth
from .folded import folded_sum
from .philox import Draws, unit53
from .reference import Reference

RENEWAL = 13
Function = Callable[[Any, Any], Any]


def first_best(values: Any) -> int:
    """The place of the smallest number, the first of equals."""
    return min(range(len(values)), key=lambda k: (worth(values[k]), k))


class MinMaxRunner:
    """Points against opponents."""

    def __init__(self, solver: Any, f: Function, box_x: Any, box_y: Any, seeds: tuple[int, int]) -> None:
        self.f = f
        self.x, self.y = (
            Reference(solver.algorithm_x, box, seed) for box, seed in zip((box_x, box_y), seeds, strict=True)
        )
        self.gens_x, self.gens_y, self.size = solver.gens_x, solver.gens_y, solver.archive_size
        self.renewed = int(solver.renewal * len(self.y.x))
        self.archive: list[Any] = []
        self.answers: list[tuple[Any, Any, Any]] = []

    def worst_x(self, X: Any, Y: Any) -> Any:
        """Equation 11; no number is as bad as can be."""
        return np.array([max(math.inf if math.isnan(v) else v for v in row) for row in self.f(X, Y)])

    def worst_y(self, Y: Any, X: Any) -> Any:
        """Equation 12 for minimisation; pairs with NaN do not count."""
        columns = self.f(X, Y).T
        return np.array([max((-v for v in column if not math.isnan(v)), default=math.nan) for column in columns])

    def opponents(self) -> Any:
        """The population of y, then the remembered points."""
        return np.array([*self.y.x, *self.archive])

    def renew(self) -> None:
        """The worst y give way to points anywhere in the box."""
        n = len(self.y.x)
        order = sorted(range(n), key=lambda k: (worth(self.y.f[k]), k))
        for i in order[n - self.renewed :]:
            draws = Draws(self.y.seed, self.y.generation, i)
            for j, (low, high) in enumerate(self.y.box):
                words = draws.block(RENEWAL, j // 2)
                u = unit53(words[2], words[3]) if j % 2 else unit53(words[0], words[1])
                self.y.x[i, j] = min(low + (high - low) * u, high)

    def cycle(self) -> None:
        """One cycle; the first is the initial populations."""
        if self.x.f is None:
            self.x.tell(self.x.ask(), self.worst_x(self.x.x, self.opponents()))
            self.y.tell(self.y.ask(), self.worst_y(self.y.x, self.x.x))
        else:
            for _ in range(self.gens_x):
                trials = self.x.ask()
                self.x.tell(trials, self.worst_x(trials, self.opponents()))
            self.renew()
            self.y.f = self.worst_y(self.y.x, self.x.x)
            for _ in range(self.gens_y):
                trials = self.y.ask()
                self.y.tell(trials, self.worst_y(trials, self.x.x))
            self.x.f = self.worst_x(self.x.x, self.opponents())
        self.conclude()

    def conclude(self) -> None:
        """The best x takes the answer's place where it is better than what that has met; its opponent is remembered."""
        opponents = self.opponents()
        best = first_best(self.x.f)
        strongest = first_best(-self.f(self.x.x[best : best + 1], opponents)[0])
        x, y, value = self.x.x[best].copy(), opponents[strongest].copy(), self.x.f[best]
        if self.answers:
            old_x, old_y, old = self.answers[-1]
            met = self.f(old_x[None], opponents)[0]
            found = first_best(-met)
            if not met[found] <= old:
                old_y, old = opponents[found].copy(), met[found]
            if not value < old:
                x, y, value = old_x, old_y, old
        place = len(self.answers) % self.size if self.size else 0
        self.answers.append((x, y, value))
        if self.size:
            self.archive[place : place + 1] = [opponents[strongest].copy()]


class Multipliers:
    """Points against one vector of multipliers, by the method of multipliers."""

    def __init__(self, solver: Any, problem: Any, seed: int) -> None:
        self.problem, self.gens_x, self.tol = problem, solver.gens_x, solver.feasibility_tol
        self.x = Reference(solver.algorithm_x, problem.bounds, seed)
        self.m, n = problem.n_inequalities, problem.n_inequalities + problem.n_equalities
        self.multipliers, self.r, self.before = np.zeros(n), np.ones(n), np.full(n, math.inf)
        self.answers: list[tuple[Any, Any, Any]] = []

    def lagrangian(self, row: Any) -> float:
        """The augmented Lagrangian of f, g and h: p_i by the threshold -mu / (2 r)."""
        value = row[0]
        for g, mu, r in zip(row[1 : 1 + self.m], self.multipliers, self.r, strict=False):
            value += g * (mu + r * g) if g >= -mu / (2 * r) else -mu / (2 * r) * (mu + r * (-mu / (2 * r)))
        for k in range(self.m, len(self.r)):
            h = row[1 + k]
            value += h * (self.multipliers[k] + self.r[k] * h)
        return float(value)

    def values(self, X: Any) -> Any:
        """The values of all points."""
        return np.array([self.lagrangian(row) for row in self.problem.values(X)])

    def cycle(self) -> None:
        """One cycle; the first is the initial population."""
        first = self.x.f is None
        for _ in range(1 if first else self.gens_x):
            trials = self.x.ask()
            self.x.tell(trials, self.values(trials))
        rows = self.problem.values(self.x.x)
        (self.balance if first else self.correct)(rows)
        self.x.f = np.array([self.lagrangian(row) for row in rows])
        self.conclude(rows)

    def balance(self, rows: Any) -> None:
        """r = 10 mean |f - mean f| / (mean |g|)^2."""
        n = len(rows)
        middle = folded_sum(rows[:, 0]) / n
        spread = max(folded_sum(np.abs(rows[:, 0] - middle)) / n, 1e-12)
        for k in range(len(self.r)):
            size = folded_sum(np.abs(rows[:, 1 + k])) / n
            self.r[k] = 10 * spread / max(size * size, 1e-12)

    def correct(self, rows: Any) -> None:
        """mu = max(0, mu + 2 r g), lambda = lambda + 2 r h; r is doubled where a violation has not fallen by half."""
        values = rows[first_best(self.x.f), 1:]
        for k, value in enumerate(values):
            mu, r = self.multipliers[k], self.r[k]
            violation = abs(max(value, -mu / (2 * r)) if k < self.m else value)
            self.multipliers[k] = max(mu + 2 * r * value, 0.0) if k < self.m else mu + 2 * r * value
            if violation > 0.5 * self.before[k] and violation > 0.1 * self.tol:
                self.r[k] *= 2
            self.before[k] = violation

    def conclude(self, rows: Any) -> None:
        """The best of all cycles by feasibility rules."""

        def key(row: Any) -> tuple[float, float]:
            g, h = row[1 : 1 + self.m], np.abs(row[1 + self.m :]) - self.tol
            violation = sum(float(v) for v in g if v > self.tol) + sum(float(v) for v in h if v > 0)
            return violation, 0.0 if violation > 0 else float(row[0])

        best = min(range(len(rows)), key=lambda k: (key(rows[k]), k))
        x, worth_of_it = self.x.x[best].copy(), key(rows[best])
        if self.answers and not worth_of_it < self.answers[-1][2]:
            x, worth_of_it = self.answers[-1][0], self.answers[-1][2]
        self.answers.append((x, self.multipliers.copy(), worth_of_it))
