"""Distributions of Optuna as typed variables of skde."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

from skde.typing import FloatArray
from skde.variables import LARGEST_INTEGER, Categorical, Integer, Log, Real, Variable, Variables

MOST_LEVELS = LARGEST_INTEGER["float64"]
# A value of a distribution with a step is so near to a level, in steps.
STEP_TOLERANCE = 1e-8

# The numbers of a point, equal for equal values of the parameters.
Key = tuple[float, ...]


@dataclass(frozen=True)
class StudyParameter:
    """A parameter of a study as a variable: a level (integers, floats with a step), an index of a choice, or a value.

    Integers on a logarithmic scale, and integers in a range of more than 2**50, are real numbers that are rounded.

    Attributes
    ----------
    distribution : BaseDistribution
        Its distribution, with more than one value.
    """

    distribution: BaseDistribution

    @cached_property
    def n_levels(self) -> int | None:
        """Number of values; None where they are no levels."""
        distribution = self.distribution
        if isinstance(distribution, CategoricalDistribution):
            return len(distribution.choices)
        assert isinstance(distribution, FloatDistribution | IntDistribution)
        if distribution.log or distribution.step is None:
            return None
        span, step = distribution.high - distribution.low, distribution.step
        n = 1 + (int(span // step) if isinstance(distribution, IntDistribution) else round(span / step))
        return n if n <= MOST_LEVELS else None

    @cached_property
    def variable(self) -> Variable:
        """The variable that an algorithm searches."""
        distribution = self.distribution
        if isinstance(distribution, CategoricalDistribution):
            return Categorical(range(len(distribution.choices)))
        if self.n_levels is not None:
            return Integer(0, self.n_levels - 1)
        assert isinstance(distribution, FloatDistribution | IntDistribution)
        half = 0.5 if isinstance(distribution, IntDistribution) else 0.0
        kind = Log if distribution.log else Real
        return kind(distribution.low - half, distribution.high + half)

    def value(self, number: float) -> Any:
        """Return the parameter's value for a number of the variable."""
        distribution = self.distribution
        if isinstance(distribution, CategoricalDistribution):
            return distribution.choices[int(number)]
        assert isinstance(distribution, FloatDistribution | IntDistribution)
        low, high = distribution.low, distribution.high
        if self.n_levels is not None:
            assert distribution.step is not None
            return type(low)(min(low + int(number) * distribution.step, high))
        if isinstance(distribution, IntDistribution):
            return min(low + round((number - low) / distribution.step) * distribution.step, high)
        return float(min(max(number, low), high))

    def number(self, value: Any) -> float | None:
        """Return the variable's number for a value; None for a value that the distribution does not have."""
        distribution = self.distribution
        if isinstance(distribution, CategoricalDistribution):
            return float(distribution.to_internal_repr(value)) if value in distribution.choices else None
        assert isinstance(distribution, FloatDistribution | IntDistribution)
        if not distribution.low <= value <= distribution.high:
            return None
        if self.n_levels is None:
            return float(value)
        assert distribution.step is not None
        level = (value - distribution.low) / distribution.step
        return float(round(level)) if abs(level - round(level)) < STEP_TOLERANCE else None


class StudySpace:
    """Parameters of a study as the variables of an algorithm.

    Parameters
    ----------
    distributions : mapping of str to BaseDistribution
        Distributions by name, each with more than one value.

    Attributes
    ----------
    variables : Variables
        The variables.
    """

    def __init__(self, distributions: Mapping[str, BaseDistribution]) -> None:
        self.distributions = dict(distributions)
        self.parameters = {name: StudyParameter(distribution) for name, distribution in distributions.items()}
        self.variables = Variables({name: parameter.variable for name, parameter in self.parameters.items()})

    def params(self, point: FloatArray) -> dict[str, Any]:
        """Return a point, as an objective of the variables gets it, as values of the parameters."""
        return {
            name: parameter.value(float(number))
            for (name, parameter), number in zip(self.parameters.items(), point, strict=True)
        }

    def key(self, params: Mapping[str, Any]) -> Key | None:
        """Return the numbers of values; None where a parameter is missing or has another range."""
        numbers = []
        for name, parameter in self.parameters.items():
            number = parameter.number(params[name]) if name in params else None
            if number is None:
                return None
            numbers.append(number)
        return tuple(numbers)

    def key_of_point(self, point: FloatArray) -> Key:
        """Return the key of a point."""
        key = self.key(self.params(point))
        assert key is not None
        return key
