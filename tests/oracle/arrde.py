"""ARRDE (Muzakka, Shali, Suhendar, Möller, Finsterbusch 2025) in NumPy, reading the kernels' random stream."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np

from .common import COMBINATION, RENEWAL, STRATEGY, exp, log
from .philox import Draws, below, unit
from .soupde import permutation
from .success_history import SuccessHistory, Vector, folded_sum, ranking, replaces

FIRST, RESTART, REFINEMENT = range(3)
TRIES, KEPT = 8, 32  # draws of a component; boxes, and copies of the memory


class Phased(SuccessHistory):
    """The search: `x` and `f` are its population, without the best point that was found."""

    deviation = 0.05

    def __init__(self, algorithm: Any, *args: Any, **parameters: Any) -> None:
        super().__init__(algorithm, *args, **parameters)
        d = len(self.box)
        self.least = min(max((d + 1) // 2, 4), algorithm.pop_size) if algorithm.pop_min is None else algorithm.pop_min
        self.late = max(min(max(2 * d, round(algorithm.pop_size / 4)), algorithm.pop_size), 1)
        self.power = 1.17 + 2.075 * exp(-0.0567 * d)
        self.phase, self.renewed, self.restarts = FIRST, -1, 1
        self.records: list[tuple[Vector, float]] = []
        self.n_records = self.n_boxes = self.n_copies = 0
        self.bests: list[tuple[Vector, float]] = []
        self.boxes: list[Any] = [None] * KEPT
        self.copies: list[Any] = [None] * KEPT
        self.phases: list[int] = []
        self.left: tuple[list[Vector], list[float]] = ([], [])  # rows that a refinement leaves as they are
        self.told = 0  # generations, after the one that trials were made for

    @property
    def progress(self) -> float:
        """The share of the budget that is spent when the next trials are made."""
        share = self.evals / self.max_evals if self.max_evals else (self.generation + self.told) / self.max_iter
        return min(share, 1.0)

    def begin(self) -> None:
        """As before."""
        self.told, self.left = 0, ([], [])
        super().begin()

    def size(self) -> int:
        """It grows where the last refinement begins."""
        most, least, begin = self.algorithm.pop_size, self.least, self.algorithm.refine_from
        if self.progress > begin:
            rest = 1 - (self.progress - begin) / (1 - begin)
            return int(least + (max(self.late, least) - least) * (rest * rest) + 0.5)
        rest = 1 - self.progress / begin
        share = exp(self.power * log(rest)) if rest > 0 else 0.0
        return int(least + (most - least) * share + 0.5)

    # -- the trials ----------------------------------------------------------------------------------------------------

    def trial(self, i: int, draws: Draws) -> Vector:
        """That of L-SHADE, or a random point outside the boxes."""
        if self.generation != self.renewed:
            return super().trial(i, draws)
        d, boxes = len(self.box), [box for box in self.boxes if box is not None]
        point = np.empty(d)
        for j, (low, high) in enumerate(self.box):
            for k in range(TRIES):
                point[j] = min(low + (high - low) * unit(draws.component(RENEWAL, k * d + j)), high)
                if not any(lower[j] <= point[j] <= upper[j] for lower, upper in boxes):
                    break
        return point

    def early(self, share: float) -> bool:
        """Whether jSO's limits hold up to this share of the time before the last refinement."""
        return self.phase == FIRST and self.progress < share * self.algorithm.refine_from

    def scale_factor(self, draws: Draws, cell: int) -> float:
        """With jSO's limit in the first phase."""
        F = super().scale_factor(draws, cell)
        return min(F, 0.7) if self.early(0.6) else F

    def crossover_rate(self, draws: Draws, cell: int) -> float:
        """Likewise."""
        CR = super().crossover_rate(draws, cell)
        return max(CR, 0.7 if self.early(0.25) else 0.6 if self.early(0.5) else 0.0)

    # -- the phases ----------------------------------------------------------------------------------------------------

    def tell(self, trials: Any, f: Any) -> None:
        """Selection; then the phase ends, where it is due."""
        first, before, cell = self.f is None, None if self.f is None else self.f[0], self.cursor
        spent, self.told = self.progress, 1
        if self.generation == self.renewed:
            self.x, self.f, self.evals = [x.copy() for x in trials], [float(v) for v in f], self.evals + len(f)
        else:
            super().tell(trials, f)
        if first:
            return
        assert self.f is not None
        H = len(self.M_F)
        if cell == H - 1 and self.cursor == 0:
            self.M_F[H - 1] = self.M_CR[H - 1] = 0.9
        order = ranking(self.f)
        best = self.f[order[0]]
        if self.phase == FIRST and before is not None and best < before:
            self.bests.append((self.x[order[0]].copy(), best))
        self.n = min(self.size(), len(self.x))
        left, grows = order[: self.n], self.size() > len(self.x)
        tolerance = (
            self.algorithm.tol_first
            if self.phase == FIRST
            else self.algorithm.tol_restart
            if self.phase == RESTART
            else 0.0
            if spent > self.algorithm.refine_from
            else self.algorithm.tol_refine
        )
        ends = converged([self.f[k] for k in left], tolerance)
        if grows or ends:
            self.end_phase([(self.x[k].copy(), self.f[k]) for k in left], grows, ends)

    def end_phase(self, members: list[tuple[Vector, float]], grows: bool, ends: bool) -> None:
        """Note where it ended, and begin the next."""
        known = min([f for _, f in self.records if not math.isnan(f)], default=math.inf)
        if self.phase != RESTART:
            self.copies[self.n_copies % KEPT] = (copy.copy(self.M_F), copy.copy(self.M_CR))
            self.n_copies += 1
        if self.phase == FIRST or ends:
            for k, member in enumerate(members):
                self.note(member, Draws(self.seed, self.generation, k))
        total, squares = 0.0, 0.0
        for x, _ in members:
            total = total + x
        mean = total / len(members)
        for x, _ in members:
            squares = squares + (x - mean) * (x - mean)
        deviation = np.sqrt(squares / len(members))
        low, high = np.array(self.box).T
        self.boxes[self.n_boxes % KEPT] = (np.maximum(mean - deviation, low), np.minimum(mean + deviation, high))
        self.n_boxes += 1

        failed = known <= members[0][1] and self.restarts < int(1 + 4 * self.progress + 0.5)
        self.archive, self.cursor = [], 0
        if not grows and (self.phase != RESTART or failed):
            self.phase, self.renewed, self.restarts = RESTART, self.generation + 1, self.restarts + 1
            self.M_F = [self.algorithm.F_start] * len(self.M_F)
            self.M_CR = [self.algorithm.CR_start] * len(self.M_CR)
        else:
            self.phase, self.restarts = REFINEMENT, 0
            self.refine(grows)
        self.phases.append(self.phase)

    def note(self, member: tuple[Vector, float], draws: Draws) -> None:
        """A record; where there are as many as individuals at first, all of them so far are equally likely to stay."""
        if self.n_records < self.algorithm.pop_size:
            self.records.append(member)
        else:
            place = below(draws.block(COMBINATION, 0)[0], self.n_records + 1)
            if place < self.algorithm.pop_size:
                self.records[place] = member
        self.n_records += 1

    def refine(self, with_best: bool) -> None:
        """The population is drawn from the records, and the memory from its copies."""
        drawn = permutation(Draws(self.seed, self.generation, 0), len(self.records), STRATEGY)
        sources = [self.records[k] for k in drawn] + self.bests[: -self.late - 1 : -1]
        chosen = []
        for k in range(self.size()):
            word = Draws(self.seed, self.generation, k).block(COMBINATION, 1)[0]
            chosen.append(sources[k if k < len(sources) else below(word, len(sources))])
        if with_best:
            chosen[0] = self.records[ranking([f for _, f in self.records])[0]]
        assert self.f is not None
        self.left = (self.x[len(chosen) :], self.f[len(chosen) :])
        self.x, self.f = [x.copy() for x, _ in chosen], [f for _, f in chosen]
        H = len(self.M_F)
        copies = [kept for kept in self.copies if kept is not None]
        cells = [(F, CR) for M_F, M_CR in copies for F, CR in zip(M_F, M_CR, strict=True)]
        words = [Draws(self.seed, self.generation, k).block(STRATEGY, 2)[0] for k in range(2 * H)]
        self.M_F = [cells[below(word, len(cells))][0] for word in words[:H]]
        self.M_CR = [cells[below(word, len(cells))][1] for word in words[H:]]


def converged(values: list[float], tolerance: float) -> bool:
    """Whether the standard deviation of values is at most a tolerance times the size of their mean."""
    n = len(values)
    mean = folded_sum(values) / n
    variance = folded_sum([(v - mean) * (v - mean) for v in values]) / n
    return math.isfinite(mean) and math.isfinite(variance) and math.sqrt(variance) <= tolerance * abs(mean)


class Arrde:
    """One run; the population has the best point that was found in its first row."""

    def __init__(self, *args: Any, **parameters: Any) -> None:
        self.search = Phased(*args, **parameters)
        self.best: tuple[Vector, float] | None = None
        self.rows = len(self.search.x)

    def ask(self) -> Any:
        """The trials of the next generation."""
        return self.search.ask()

    def tell(self, trials: Any, f: Any) -> None:
        """The best is kept, whatever the search does."""
        self.rows = len(f)
        if self.best is None:
            self.best = (trials[0].copy(), float(f[0]))
        else:
            # After generation 0 the best may be a parent.
            parents = zip(self.search.x, self.search.f or [], strict=True)
            pairs = zip(zip(trials, map(float, f), strict=True), parents, strict=True)
            survivors = [trial if replaces(trial[1], parent[1]) else parent for trial, parent in pairs]
            x, value = survivors[ranking([value for _, value in survivors])[0]]
            if ahead(value, self.best[1]):
                self.best = (x.copy(), value)
        self.search.tell(trials, f)

    @property
    def x(self) -> Any:
        """The rows of the population."""
        first = self.search.x[0] if self.best is None else self.best[0]
        return np.array([first, *[*self.search.x, *self.search.left[0]][1 : self.rows]])

    @property
    def f(self) -> Any:
        """Their values."""
        assert self.best is not None
        assert self.search.f is not None
        return np.array([self.best[1], *[*self.search.f, *self.search.left[1]][1 : self.rows]])

    @property
    def generation(self) -> int:
        """The last generation."""
        return self.search.generation

    @property
    def learned(self) -> list[float]:
        """The kernel's memory."""
        s = self.search
        counts = [s.phase, s.renewed, s.restarts, s.n_records, len(s.bests), s.n_boxes, s.n_copies]
        return [*s.learned, *counts]


def ahead(value: float, other: float) -> bool:
    """Whether a value is better."""
    return not math.isnan(value) if math.isnan(other) else value < other
