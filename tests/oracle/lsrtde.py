"""L-SRTDE (Stanovov, Semenkin 2024) in NumPy, reading the kernels' random stream."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .common import exp, inner_unit, inside, log, normal_quantile, taken, tanh, worth
from .folded import folded_sum
from .philox import CONTROL, INDICES, Draws, below
from .reference import first_population


@dataclass(frozen=True, eq=False)
class Member:
    """A point of the top or of the front, and its turn: among equal values trials come before old members."""

    x: Any
    f: float
    turn: tuple[int, int]

    def rank(self) -> Any:
        """A key to sort by."""
        return worth(self.f), self.turn


def gain(trial: float, parent: float) -> float:
    """By how much a trial is better; from NaN and infinity, by very much."""
    if not trial < parent and not math.isnan(parent):
        return 0.0
    difference = float(parent) - float(trial)
    return difference if difference < 2.0**900 else 2.0**900


class Lsrtde:
    """One run; `top` and `front` are the two populations, the front in the order of its slots."""

    individuals_per_variable = 20

    def __init__(
        self, algorithm: Any, box: Any, seed: int, x0: Any = None, max_evals: int = 0, max_iter: int = 0
    ) -> None:
        self.algorithm, self.box, self.seed = algorithm, box, seed
        self.max_evals, self.max_iter = max_evals, max_iter
        self.most = algorithm.pop_size or self.individuals_per_variable * len(box)
        self.generation = self.evals = 0
        self.x = first_population(self.most, box, seed, x0)
        self.f: Any = None
        self.top: list[Member] = []
        self.front: list[Member] = []
        self.M = [algorithm.CR_start] * algorithm.memory_size
        self.cell = self.next = 0
        self.success_rate = 0.5

    @property
    def learned(self) -> list[float]:
        """The kernel's memory."""
        return [*self.M, self.cell, self.success_rate, self.next]

    def size(self, generation: int) -> int:
        """How many individuals a generation has, as far as the budget is spent."""
        spent = self.evals / self.max_evals if self.max_evals else generation / self.max_iter
        return int(self.most - (self.most - self.algorithm.pop_min) * min(spent, 1.0) + 0.5)

    def ask(self) -> Any:
        """The trials of the next generation."""
        if self.f is None:
            return self.x.copy()
        self.generation += 1
        n, d, s = len(self.front), len(self.box), self.success_rate
        mean_F = 0.4 + 0.25 * tanh(5 * s)
        many = max(2, int(n * 0.7 * exp(-7 * s)))
        by_rank = sorted(range(n), key=lambda k: self.front[k].rank())
        trials = np.empty((n, d))
        self.chosen: list[int] = []
        self.crossed: list[float] = []
        for i in range(n):
            draws = Draws(self.seed, self.generation, i)
            c, control = below(draws.block(INDICES, 0)[0], n), draws.block(CONTROL, 0)
            best, middle, worst, F, CR = self.step(draws, c, many, mean_F, by_rank)
            take = taken(draws, CR, d, below(control[3], d))

            x = self.front[c].x
            v = x + F * (best - x) + F * (middle - worst)
            trials[i] = inside(self.algorithm.repair, np.where(take, v, self.kept(draws, x)), x, self.box, draws)
            self.chosen.append(c)
            self.crossed.append(take.count(True) / d)
        return trials

    def step(self, draws: Draws, c: int, many: int, mean_F: float, by_rank: list[int]) -> tuple[Any, ...]:
        """The three points of the mutation of member c, its F and its CR."""
        n, words, control = len(self.front), draws.block(INDICES, 0), draws.block(CONTROL, 0)
        others = [k for k in range(many) if k != c]
        pbest = others[below(words[1], len(others))]
        r1 = next(r for r in (self.by_weight(draws, by_rank, k) for k in itertools.count(1)) if r != pbest)
        others = [k for k in range(n) if k not in (pbest, r1)]
        r2 = others[below(words[3], len(others))]

        # The paper draws again while F is outside [0, 1], which is more than fifteen deviations away.
        F = mean_F + 0.02 * normal_quantile(inner_unit(control[0]))
        assert 0 <= F <= 1
        CR = self.M[below(control[1], len(self.M))] + 0.05 * normal_quantile(inner_unit(control[2]))
        return self.top[pbest].x, self.front[r1].x, self.top[r2].x, F, min(max(CR, 0.0), 1.0)

    def kept(self, draws: Draws, x: Any) -> Any:
        """The values of those components of a trial that it does not take from the mutant; x is the member."""
        return x

    def by_weight(self, draws: Draws, by_rank: list[int], again: int) -> int:
        """Draw a slot of the front, with the weight exp(-3 k / N) for rank k."""
        u, n = inner_unit(draws.block(INDICES, again)[0]), len(by_rank)
        return by_rank[min(int(-log(1 - u * (1 - exp(-3.0))) * (n / 3.0)), n - 1)]

    def tell(self, trials: Any, f: Any) -> None:
        """Successes enter the front in turn and the top by rank; then both shrink."""
        self.evals += len(f)
        if self.f is None:
            self.f = f.copy()
            members = [Member(x, value, (0, i)) for i, (x, value) in enumerate(zip(self.x, f, strict=True))]
            self.top, self.front = sorted(members, key=Member.rank), sorted(members, key=Member.rank)
        else:
            self.select(trials, f)
        left = self.size(self.generation + 1)
        self.top = self.top[:left]
        while len(self.front) > left:
            self.front.remove(max(self.front, key=Member.rank))
        self.next %= left

    def select(self, trials: Any, f: Any) -> None:
        """The state after a generation: both populations, the memory, the success rate."""
        n = len(self.front)
        self.front = [Member(member.x, member.f, (1, k)) for k, member in enumerate(self.front)]
        self.top = [Member(member.x, member.f, (1, k)) for k, member in enumerate(self.top)]
        successes, gains = [], [0.0] * n
        for i in range(n):
            rival = self.front[self.chosen[i]].f
            if math.isnan(f[i]) or f[i] > rival:
                continue
            successes.append(i)
            gains[i] = gain(f[i], rival)
            self.front[self.next] = Member(trials[i], f[i], (0, i))
            self.top.append(Member(trials[i], f[i], (0, i)))
            self.next = (self.next + 1) % n
        self.top = sorted(self.top, key=Member.rank)[:n]
        self.x = np.array([member.x for member in self.top])
        self.f = np.array([member.f for member in self.top])

        self.success_rate = len(successes) / n
        if folded_sum(gains) < 2.0**-900:
            gains = [2.0**900 * g for g in gains]
        self.learn(bool(successes), gains)
        if successes:
            self.cell = (self.cell + 1) % len(self.M)

    def learn(self, succeeded: bool, gains: list[float]) -> None:
        """The next entry of the memory moves after a generation with successes."""
        if succeeded:
            self.M[self.cell] = 0.5 * (self.M[self.cell] + lehmer_mean(gains, self.crossed))


def lehmer_mean(weights: list[float], values: list[float]) -> float:
    """The weighted Lehmer mean; 1 where all weights or all values are 0."""
    weighted = [w * v for w, v in zip(weights, values, strict=True)]
    total, squares = folded_sum(weighted), folded_sum([w * v for w, v in zip(weighted, values, strict=True)])
    return squares / total if total > 0 else 1.0
