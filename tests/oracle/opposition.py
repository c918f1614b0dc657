"""Generalised opposition (Wang, Rahnamayan, Wu 2013) for DE and jDE, slow and plain."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from .philox import CONTROL, REPAIR, Draws, unit
from .plain import OPPOSITION, replaces, worth
from .reference import Reference


class Opposed(Reference):
    """One run: the generations without opposition are those of the plain DE or jDE."""

    def __init__(self, algorithm: Any, box: Any, seed: int, x0: Any = None) -> None:
        super().__init__(clone(algorithm).set_params(opposition=0.0), box, seed)
        self.opposition = algorithm.opposition
        if x0 is not None:
            self.x[: len(x0)] = x0
        self.turned = False
        self.learned: list[float] = []  # nothing for a whole run
        self.redrawn = 0

    def control(self, draws: Draws, i: int) -> tuple[float, float]:
        """GOjDE's new crossover rates come from a range."""
        F, CR = super().control(draws, i)
        if self.algorithm.kernel == "jde":
            _, _, r3, r4 = (unit(word) for word in draws.block(CONTROL, 1))
            low, high = self.algorithm.CR
            CR = low + r3 * (high - low) if r4 < self.algorithm.tau_2 else self.CR[i]
        return F, CR

    def ask(self) -> Any:
        """The trials of the next generation: now and then opposites."""
        if self.f is None:
            return super().ask()
        words = Draws(self.seed, self.generation + 1, 0).block(OPPOSITION, 0)
        self.turned = unit(words[0]) < self.opposition
        if self.turned:
            self.generation += 1
            return self.opposites(unit(words[1]))
        # Whoever looks for the best sees ranks instead of values, among which NaN has its place.
        values, n = self.f, len(self.f)
        self.f = np.argsort(sorted(range(n), key=lambda k: worth(values[k])))
        trials = super().ask()
        self.f = values
        return trials

    def opposites(self, k: float) -> Any:
        """Equations 5 to 7."""
        least, most = self.x.min(axis=0), self.x.max(axis=0)
        x = np.empty_like(self.x)
        for i, j in np.ndindex(*x.shape):
            low, high = self.box[j]
            x[i, j] = k * (least[j] + most[j]) - self.x[i, j]
            if not low <= x[i, j] <= high:
                u = unit(Draws(self.seed, self.generation, int(i)).component(REPAIR, int(j)))
                x[i, j] = min(least[j] + (most[j] - least[j]) * u, most[j])
                self.redrawn += 1
        return x

    def tell(self, trials: Any, f: Any) -> None:
        """Selection: one by one, or the best of both populations."""
        if self.f is None:
            self.f = f.copy()
        elif not self.turned:
            for i in range(len(f)):
                if replaces(f[i], self.f[i]):
                    self.x[i], self.f[i] = trials[i], f[i]
                    if self.algorithm.kernel == "jde":
                        self.F[i], self.CR[i] = self.tried[i]
        else:
            n = len(f)
            both_x, both_f = np.concatenate([self.x, trials]), np.concatenate([self.f, f])
            # sorted() is stable: among equal values the old come first.
            best = sorted(range(2 * n), key=lambda k: worth(both_f[k]))[:n]
            self.x, self.f = both_x[best], both_f[best]
            if self.algorithm.kernel == "jde":
                # An opposite has the F and CR of its individual.
                self.F, self.CR = (np.concatenate([own, own])[best] for own in (self.F, self.CR))
