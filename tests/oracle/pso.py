"""Particle swarms in NumPy, from the papers' equations; one run, reading the kernels' random stream."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .philox import COGNITIVE, REPAIR, SOCIAL, TOPOLOGY, VELOCITY, Draws, unit
from .reference import first_population, repaired
from .success_history import ranking, replaces


class Swarm:
    """Positions and velocities; x and f are the personal bests and their values."""

    def __init__(self, algorithm: Any, box: Any, seed: int) -> None:
        self.algorithm, self.box, self.seed = algorithm, box, seed
        self.generation = 0
        self.x = first_population(algorithm.pop_size, box, seed)
        self.f: Any = None
        self.position = self.x.copy()
        self.velocity = np.empty_like(self.x)
        for i, row in enumerate(self.velocity):
            draws = Draws(seed, 0, i)
            for j, (low, high) in enumerate(box):
                there = low + (high - low) * unit(draws.component(VELOCITY, j))
                row[j] = self.limited(0.5 * (there - self.x[i, j]), low, high)
        self.graph = 0  # the generation that drew it
        self.left = 0  # components that left the box

    def limited(self, v: float, low: float, high: float) -> float:
        """Not faster than v_max, a share of the box."""
        if self.algorithm.v_max is None:
            return v
        most = self.algorithm.v_max * (high - low)
        return max(min(v, most), -most)

    def neighbours(self, i: int) -> list[int]:
        """The neighbourhood of particle i, which includes i."""
        a, n = self.algorithm, len(self.x)
        if a.topology == "global":
            return list(range(n))
        if a.topology == "ring":
            reach = (a.n_neighbors or 2) // 2
            return sorted({(i + step) % n for step in range(-reach, reach + 1)})
        link = 1 - (1 - 1 / n) ** (a.n_neighbors or 3)
        draws = Draws(self.seed, self.graph, i)
        return [k for k in range(n) if k == i or draws.component(TOPOLOGY, k) < math.floor(link * 2**32)]

    def ask(self) -> Any:
        """The positions of the next generation."""
        if self.f is None:
            return self.x.copy()
        self.generation += 1
        a = self.algorithm
        rank = {k: place for place, k in enumerate(ranking(list(self.f)))}
        position, velocity = self.position.copy(), self.velocity.copy()
        for i in range(len(position)):
            draws = Draws(self.seed, self.generation, i)
            leader = self.x[min(self.neighbours(i), key=rank.__getitem__)]
            for j, (low, high) in enumerate(self.box):
                x, v, mine = self.position[i, j], self.velocity[i, j], self.x[i, j]
                r1, r2 = unit(draws.component(COGNITIVE, j)), unit(draws.component(SOCIAL, j))
                v = self.limited(a.w * v + a.c1 * r1 * (mine - x) + a.c2 * r2 * (leader[j] - x), low, high)
                there = x + v
                if not low <= there <= high:
                    self.left += 1
                    there = repaired(a.repair, there, x, low, high, draws.component(REPAIR, j))
                    v = {"reflect": -v, "periodic": v}.get(a.repair, 0.0)
                position[i, j], velocity[i, j] = there, v
        self.position, self.velocity = position, velocity
        return position.copy()

    def tell(self, trials: Any, f: Any) -> None:
        """Personal bests; a generation without a better best draws the graph again."""
        if self.f is None:
            self.f = f.copy()
            return
        before = np.fmin.reduce(self.f)
        for i in range(len(f)):
            if replaces(f[i], self.f[i]):
                self.x[i], self.f[i] = trials[i], f[i]
        if not np.fmin.reduce(self.f) < before:
            self.graph = self.generation
