"""Scatter search (Nashed et al. 2012) with Solis' and Wets' local search (1981) in NumPy.

It reads the kernels' random stream, and keeps the reference set, the pool and what every member of it learned apart.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

import skde._cpu as _cpu

from .philox import REPAIR, START, Draws, unit, unit53
from .reference import first_population, repaired
from .success_history import folded_sum, improvement

COMBINATION = 12
Vector = Any


def worth(f: float) -> tuple[bool, float]:
    """Sort key of values, with NaN last."""
    return math.isnan(f), 0.0 if math.isnan(f) else f


@dataclass
class Member:
    """One individual of the pool in its local search."""

    x: Vector
    f: float
    unit: Vector
    deviation: float
    bias: Vector
    streak: int = 0
    move: Vector = None
    opposite: bool = False


class Scatter:
    """One run; x and f are the pool and, from generation 1 on, the reference set behind it."""

    def __init__(self, algorithm: Any, box: Any, seed: int) -> None:
        self.algorithm, self.box, self.seed = algorithm, box, seed
        self.width = box[:, 1] - box[:, 0]
        self.generation = 0
        self.first = first_population(algorithm.pop_size, box, seed)
        self.pool: list[Member] = []
        self.references: list[tuple[Vector, float]] = []
        self.fresh = False  # whether this iteration's pool was drawn at random
        self.renewals = 0
        self.left = 0

    @property
    def x(self) -> Any:
        """Rows of the population."""
        kept = [x for x, _ in self.references] if self.generation else []
        return np.array([member.x for member in self.pool] + kept)

    @property
    def f(self) -> Any:
        """Their values."""
        kept = [f for _, f in self.references] if self.generation else []
        return np.array([member.f for member in self.pool] + kept)

    def part(self) -> int:
        """0 in a generation of children, then the number of the evaluation in their local search."""
        return (self.generation - 1) % (1 + self.algorithm.n_local)

    def ask(self) -> Any:
        """The trials of the next generation."""
        if not self.references:
            return self.first.copy()
        self.generation += 1
        n = len(self.references)
        draws = [Draws(self.seed, self.generation, i) for i in range(n * (n - 1))]
        if self.part() > 0:
            return np.array([self.step(d, member) for d, member in zip(draws, self.pool, strict=True)])
        self.units = [(self.width, self.algorithm.step)] * len(draws)
        if self.fresh:
            return np.array([self.anywhere(d) for d in draws])
        children = []
        pairs = [(a, (a + apart) % n) for apart in range(1, n) for a in range(n)][: n * (n - 1) // 2]
        for i, (a, b) in enumerate(pair for pair in pairs for _ in "ab"):
            x, y = self.references[a][0], self.references[b][0]
            sign = -1 if i % 2 else 1
            children.append(self.child(draws[i], x, y, 0.5 + sign * self.algorithm.lambda_))
            mean = self.distance(x, y) / len(x)
            if self.algorithm.step_unit == "bounds":
                self.units[i] = self.width, self.algorithm.step
            elif i % 2:
                self.units[i] = self.width, self.algorithm.step * math.sqrt(math.sqrt(mean))
            else:
                self.units[i] = abs(x - y), self.algorithm.step
        return np.array(children)

    def distance(self, x: Vector, y: Vector) -> float:
        """The square, in widths of the box."""
        return folded_sum([((a - b) / w) * ((a - b) / w) for a, b, w in zip(x, y, self.width, strict=True)])

    def anywhere(self, draws: Draws) -> Vector:
        """Uniform in the box."""
        x = np.empty(len(self.box))
        for j, (low, high) in enumerate(self.box):
            words = draws.block(START, j // 2)[j % 2 * 2 :]
            x[j] = min(low + (high - low) * unit53(*words[:2]), high)
        return x

    def child(self, draws: Draws, x: Vector, y: Vector, alpha: float) -> Vector:
        """BLX-alpha."""
        out = np.empty(len(x))
        for j, (a, b) in enumerate(zip(x, y, strict=True)):
            low, width = min(a, b), max(a, b) - min(a, b)
            out[j] = low - alpha * width + (1 + 2 * alpha) * width * unit(draws.component(COMBINATION, j))
        return self.inside(draws, out, x)

    def step(self, draws: Draws, member: Member) -> Vector:
        """A random step, or the opposite of the one that failed."""
        if member.opposite:
            member.move = -member.move
        else:
            noise = _cpu.normal_draw(np.array([draws.component(COMBINATION, j) for j in range(len(self.box))], float))
            member.move = member.bias + member.deviation * member.unit * noise
        return self.inside(draws, member.x + member.move, member.x)

    def inside(self, draws: Draws, x: Vector, parent: Vector) -> Vector:
        """Repaired where it left the box."""
        for j, (low, high) in enumerate(self.box):
            if not low <= x[j] <= high:
                self.left += 1
                x[j] = repaired(self.algorithm.repair, x[j], parent[j], low, high, draws.component(REPAIR, j))
        return x

    def tell(self, trials: Any, f: Any) -> None:
        """Take the values; at the end of an iteration, choose the references."""
        none = np.zeros(len(self.box))
        if self.generation == 0:
            self.pool = [Member(x, v, none, math.nan, none) for x, v in zip(trials, f, strict=True)]
            self.choose([(m.x, m.f) for m in self.pool], diverse=True)
            return
        if self.part() == 0:
            self.pool = [Member(x, v, *unit, none) for x, v, unit in zip(trials, f, self.units, strict=True)]
        else:
            for x, v, member in zip(trials, f, self.pool, strict=True):
                self.learn(member, x, v)
        if self.part() == self.algorithm.n_local:
            self.update()

    def learn(self, member: Member, x: Vector, f: float) -> None:
        """Solis' and Wets' rules."""
        if improvement(f, member.f) > 0:
            member.bias = (1.0 if member.opposite else 0.2) * member.bias + 0.4 * member.move
            member.x, member.f, member.opposite = x.copy(), f, False
            member.streak = max(member.streak, 0) + 1
        elif not member.opposite:
            member.opposite = True
        else:
            member.bias, member.opposite = 0.5 * member.bias, False
            member.streak = min(member.streak, 0) - 1
        if member.streak > 5:
            member.deviation, member.streak = 2 * member.deviation, 0
        if member.streak < -3:
            member.deviation, member.streak = 0.5 * member.deviation, 0

    def update(self) -> None:
        """The next references; where the best of them are the old ones, the next pool is drawn at random."""
        pool = [(m.x, m.f) for m in self.pool]
        if self.fresh:
            best = min(range(len(self.references)), key=lambda k: (*worth(self.references[k][1]), k))
            self.choose([*pool, self.references[best]], diverse=True)
            self.fresh = False
            return
        old = {id(x) for x, _ in self.references}
        diverse = self.algorithm.update == "quality_and_diversity"
        self.choose(pool + self.references, diverse)
        n = self.algorithm.n_best if diverse else len(self.references)
        self.fresh = self.algorithm.restart and all(id(x) in old for x, _ in self.references[:n])
        self.renewals += self.fresh

    def choose(self, candidates: list[tuple[Vector, float]], diverse: bool) -> None:
        """The best of the candidates, then one by one those that are farthest from all chosen."""
        a = self.algorithm
        order = sorted(range(len(candidates)), key=lambda k: (*worth(candidates[k][1]), k))
        n = a.n_best + a.n_diverse
        chosen = order[: a.n_best if diverse else n]
        while len(chosen) < n:
            left = [k for k in range(len(candidates)) if k not in chosen]
            near = {k: min(self.distance(candidates[k][0], candidates[c][0]) for c in chosen) for k in left}
            chosen.append(max(left, key=lambda k: (near[k], -k)))
        self.references = [candidates[k] for k in chosen]
