"""Generalised opposition (Wang, Rahnamayan, Wu 2013) for the whole family in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from skde import GADE, SADE
from skde.algorithms.success_history import SuccessHistoryDE

from .common import OPPOSITION, replaces, worth
from .gade import Gade
from .philox import CONTROL, REPAIR, Draws, unit
from .reference import Reference
from .sade import Sade
from .success_history import SuccessHistory


class Differential(Reference):
    """DE or jDE among values that need not be numbers, and with the crossover rates of GOjDE."""

    @property
    def learned(self) -> list[float]:
        """Nothing, for a whole run."""
        return []

    def control(self, draws: Draws, i: int) -> tuple[float, float]:
        """New crossover rates come from a range."""
        F, CR = super().control(draws, i)
        if self.algorithm.kernel == "jde":
            _, _, r3, r4 = (unit(word) for word in draws.block(CONTROL, 1))
            low, high = self.algorithm.CR
            CR = low + r3 * (high - low) if r4 < self.algorithm.tau_2 else self.CR[i]
        return F, CR

    def ask(self) -> Any:
        """The best is found by ranks instead of values, because ranks order NaN."""
        if self.f is None:
            return super().ask()
        values, n = self.f, len(self.f)
        self.f = np.argsort(sorted(range(n), key=lambda k: worth(values[k])))
        trials = super().ask()
        self.f = values
        return trials

    def tell(self, trials: Any, f: Any) -> None:
        """NaN gives way to anything; jDE's F and CR go with the trial."""
        if self.f is None:
            self.f = f.copy()
            return
        for i in range(len(f)):
            better = replaces(f[i], self.f[i])
            if better:
                self.x[i], self.f[i] = trials[i], f[i]
            if self.algorithm.kernel == "jde" and (better or self.algorithm.keep == "always"):
                self.F[i], self.CR[i] = self.tried[i]


def plain_run(algorithm: Any, box: Any, seed: int, budget: dict[str, int]) -> Any:
    """The algorithm without opposition."""
    if isinstance(algorithm, SuccessHistoryDE):
        return SuccessHistory(algorithm, box, seed, **budget)
    kind = {GADE: Gade, SADE: Sade}.get(type(algorithm), Differential)
    return kind(algorithm, box, seed)


class Opposed:
    """One run: the generations without opposition are those of the plain algorithm."""

    def __init__(self, algorithm: Any, box: Any, seed: int, x0: Any = None, **budget: int) -> None:
        self.plain = plain_run(clone(algorithm).set_params(opposition=0.0), box, seed, budget)
        self.opposition, self.box, self.seed = algorithm.opposition, box, seed
        if x0 is not None:
            self.plain.x[: len(x0)] = x0
        self.turned = False
        self.redrawn = 0

    @property
    def x(self) -> Any:
        """The population."""
        return np.array(self.plain.x)

    @property
    def f(self) -> Any:
        """Its values."""
        return np.array(self.plain.f)

    @property
    def generation(self) -> int:
        """The number of the last one that was asked for."""
        return int(self.plain.generation)

    @property
    def learned(self) -> Any:
        """The memory of successes."""
        return self.plain.learned

    def ask(self) -> Any:
        """The trials of the next generation: now and then opposites."""
        if self.plain.f is None:
            return self.plain.ask()
        words = Draws(self.seed, self.generation + 1, 0).block(OPPOSITION, 0)
        self.turned = unit(words[0]) < self.opposition
        if not self.turned:
            return self.plain.ask()
        if isinstance(self.plain, SuccessHistory):
            self.plain.begin()
        else:
            self.plain.generation += 1
        return self.opposites(unit(words[1]))

    def opposites(self, k: float) -> Any:
        """Equations 5 to 7."""
        old = self.x
        least, most = old.min(axis=0), old.max(axis=0)
        x = np.empty_like(old)
        for i, j in np.ndindex(*x.shape):
            low, high = self.box[j]
            x[i, j] = k * (least[j] + most[j]) - old[i, j]
            if not low <= x[i, j] <= high:
                u = unit(Draws(self.seed, self.generation, int(i)).component(REPAIR, int(j)))
                x[i, j] = min(least[j] + (most[j] - least[j]) * u, most[j])
                self.redrawn += 1
        return x

    def tell(self, trials: Any, f: Any) -> None:
        """Selection: the plain algorithm's, or the best of both populations; memories and archives then stay."""
        run = self.plain
        if not self.turned:
            run.tell(trials, f)
            return
        n = len(f)
        both_x, both_f = np.concatenate([self.x, trials]), np.concatenate([self.f, f])
        # sorted() is stable: among equal values the old come first.
        best = sorted(range(2 * n), key=lambda k: worth(both_f[k]))[:n]
        if isinstance(run, SuccessHistory):
            run.x, run.f = list(both_x[best]), both_f[best].tolist()
            run.evals += n
            return
        run.x, run.f = both_x[best], both_f[best]
        if run.algorithm.kernel == "jde":
            # An opposite has the F and CR of its individual.
            run.F, run.CR = (np.concatenate([own, own])[best] for own in (run.F, run.CR))
