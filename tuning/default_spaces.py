"""Spaces of skde's algorithms, as their classes state them."""

from __future__ import annotations

from typing import Any

from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

from skde.algorithms import Algorithm, get_algorithm
from skde.algorithms.tuning_space import Range
from skde.tuning.space import Space


def distribution(given: Range | tuple[Any, ...]) -> BaseDistribution:
    """Return the distribution of a range or of choices."""
    if not isinstance(given, Range):
        return CategoricalDistribution(given)
    if isinstance(given.low, int) and isinstance(given.high, int):
        return IntDistribution(given.low, given.high, log=given.log)
    return FloatDistribution(given.low, given.high, log=given.log)


def distributions(kind: type[Algorithm]) -> dict[str, BaseDistribution]:
    """Return the distributions of the parameters that a tuning configures."""
    return {name: distribution(given) for name, given in kind.tuning_space.items()}


def space_of(algorithm: str | Algorithm) -> Space:
    """Return the space of one of skde's algorithms.

    Its first configuration is the algorithm as given, where it is inside the space.

    Parameters
    ----------
    algorithm : str or Algorithm
        A registry name or a parameter object, which keeps the values of all parameters outside the space.

    Returns
    -------
    space : Space

    Raises
    ------
    ValueError
        For an algorithm that states no space.

    Examples
    --------
    >>> from skde.tuning import space_of
    >>> sorted(space_of("de").distributions)
    ['CR', 'F', 'pop_size', 'strategy']
    """
    instance = get_algorithm(algorithm)
    parameters = distributions(type(instance))
    if not parameters:
        raise ValueError(f"{type(instance).__name__} has no tuning_space: give the tuner a Space of its parameters")
    given = {name: value for name, value in instance.get_params().items() if name in parameters}
    try:
        return Space(parameters, initial=[given])
    except ValueError:  # such as a dithered F, or a population that depends on the dimension
        return Space(parameters)
