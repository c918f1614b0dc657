"""Parameters on the unit interval, where distances and deviations of all of them can be compared."""

from __future__ import annotations

from math import exp, floor, log
from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution


class ParameterScale:
    """Maps the values of a distribution, which have an order, to [0, 1] and back.

    Levels (integers, floats with a step, ordered choices) have intervals of equal width, with themselves in the middle.
    So the half steps below the first and above the last level belong to the interval, and the last level is as likely
    as the others. Integers on a logarithmic scale have intervals up to the next one, as in irace, where Optuna's are
    from half a step below to half a step above.

    Parameters
    ----------
    distribution : BaseDistribution
        Distribution of Optuna; the choices of a categorical one are ordered as they are.
    """

    def __init__(self, distribution: BaseDistribution) -> None:
        self.distribution = distribution
        self.levels: int | None = None
        if isinstance(distribution, CategoricalDistribution):
            self.levels = len(distribution.choices)
            return
        assert isinstance(distribution, FloatDistribution | IntDistribution)
        self.log = distribution.log
        self.whole = isinstance(distribution, IntDistribution)
        low, high = float(distribution.low), float(distribution.high)
        if self.log and self.whole:
            high += 1
        elif distribution.step is not None:
            # Of the integers themselves: those beyond 2**53 are no floats.
            span, step = distribution.high - distribution.low, distribution.step
            self.levels = int(span // step if self.whole else round(span / step)) + 1
        self.low, self.high = (log(low), log(high)) if self.log else (low, high)

    def unit(self, value: Any) -> float:
        """Return a value's position in [0, 1]; of one outside the bounds, the nearer end."""
        distribution = self.distribution
        if self.levels is not None:
            if isinstance(distribution, CategoricalDistribution):
                level: float = choice_number(distribution, value)
            else:
                assert isinstance(distribution, FloatDistribution | IntDistribution)
                assert distribution.step is not None
                level = (value - distribution.low) / distribution.step
            position = (level + 0.5) / self.levels
        else:
            middle = value + 0.5 if self.whole else value
            position = ((log(middle) if self.log else middle) - self.low) / max(self.high - self.low, 1e-300)
        return float(min(max(position, 0.0), 1.0))

    def value(self, position: float) -> Any:
        """Return the value at a position in [0, 1]."""
        distribution = self.distribution
        if self.levels is not None:
            level = min(floor(position * self.levels), self.levels - 1) if position < 1 else self.levels - 1
            if isinstance(distribution, CategoricalDistribution):
                return distribution.choices[level]
            assert isinstance(distribution, FloatDistribution | IntDistribution)
            step = distribution.step
            assert step is not None
            return type(step)(min(distribution.low + level * step, distribution.high))
        assert isinstance(distribution, FloatDistribution | IntDistribution)
        if self.whole and position in (0.0, 1.0):
            return distribution.high if position else distribution.low  # which large ones miss by rounding
        scaled = self.low + position * (self.high - self.low)
        inside = min(max(exp(scaled) if self.log else scaled, distribution.low), distribution.high)
        return floor(inside) if self.whole else float(inside)


def choice_number(distribution: CategoricalDistribution, value: Any) -> int:
    """Return the number of a choice among the choices."""
    return int(distribution.to_internal_repr(value))


def uniform(distribution: BaseDistribution, rng: np.random.Generator) -> Any:
    """Return a value drawn uniformly; on a logarithmic scale where the distribution is one."""
    return ParameterScale(distribution).value(float(rng.random()))
