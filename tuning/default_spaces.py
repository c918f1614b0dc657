"""Spaces of skde's algorithms, with the ranges of their papers."""

from __future__ import annotations

from typing import Any

from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

from skde.algorithms import Algorithm, get_algorithm
from skde.tuning.space import Space


def _population(low: int, high: int) -> IntDistribution:
    return IntDistribution(low, high, log=True)


# Nashed et al. (2012) tuned three mutations and both crossovers.
_STRATEGIES = CategoricalDistribution(
    [
        f"{mutation}/{crossover}"
        for mutation in ("rand/1", "best/1", "current-to-best/1")
        for crossover in ("bin", "exp")
    ]
)
# Storn and Price (1997): F in [0, 2], of which more than 1 was never reported to help; CR in [0, 1].
_DE = {
    "strategy": _STRATEGIES,
    "F": FloatDistribution(0.1, 1.0),
    "CR": FloatDistribution(0.0, 1.0),
    "pop_size": _population(8, 256),
}
# Brest et al. (2006): the probabilities are 0.1.
_JDE = {
    "strategy": _STRATEGIES,
    "tau_1": FloatDistribution(0.01, 0.5, log=True),
    "tau_2": FloatDistribution(0.01, 0.5, log=True),
    "pop_size": _population(8, 256),
}
# Wang et al. (2013) take 0.05.
_OPPOSITION = {"opposition": FloatDistribution(0.01, 0.4, log=True)}
# Tanabe and Fukunaga (2014) tuned these.
_SHADE = {
    "p_best": FloatDistribution(0.05, 0.3),
    "memory_size": IntDistribution(2, 100, log=True),
    "archive_rate": FloatDistribution(0.5, 3.0),
}

SPACES: dict[str, dict[str, Any]] = {
    "de": _DE,
    "jde": _JDE,
    "gode": {**_DE, **_OPPOSITION},
    "gojde": {**_JDE, **_OPPOSITION},
    # Qin et al. (2009): learning periods of 20 to 60 made no difference.
    "sade": {
        "learning_period": IntDistribution(10, 100, log=True),
        "F_mean": FloatDistribution(0.3, 0.8),
        "F_deviation": FloatDistribution(0.05, 0.5),
        "pop_size": _population(8, 256),
    },
    "gade": {
        "p_best": FloatDistribution(0.05, 0.3),
        "pbest_rate": FloatDistribution(0.0, 1.0),
        "F_least": FloatDistribution(0.0, 0.5),
        "learning_period": IntDistribution(5, 100, log=True),
        "pop_size": _population(8, 256),
    },
    # Zhang and Sanderson (2009): 1/c in [5, 20] and p in [5 %, 20 %].
    "jade": {
        "p_best": FloatDistribution(0.05, 0.2),
        "c": FloatDistribution(0.05, 0.2),
        "archive_rate": FloatDistribution(0.0, 2.0),
        "pop_size": _population(8, 256),
    },
    "shade": {**_SHADE, "pop_size": _population(8, 256)},
    "lshade": {**_SHADE, "pop_size": _population(20, 1000)},
    "jso": {
        **_SHADE,
        "F_start": FloatDistribution(0.1, 0.9),
        "CR_start": FloatDistribution(0.1, 1.0),
        "pop_size": _population(20, 1000),
    },
    "lsrtde": {
        "memory_size": IntDistribution(2, 20, log=True),
        "CR_start": FloatDistribution(0.5, 1.0),
        "pop_size": _population(20, 1000),
    },
    "arrde": {
        "p_best": FloatDistribution(0.02, 0.4),
        "memory_size": IntDistribution(2, 20, log=True),
        "archive_rate": FloatDistribution(0.0, 4.0),
        "refine_from": FloatDistribution(0.5, 0.99),
        "tol_first": FloatDistribution(1e-12, 1e-2, log=True),
        "tol_restart": FloatDistribution(1e-12, 1e-2, log=True),
        "tol_refine": FloatDistribution(1e-12, 1e-2, log=True),
        "pop_size": _population(20, 1000),
    },
    "rdex": {
        "memory_size": IntDistribution(2, 20, log=True),
        "exploit_rate": FloatDistribution(0.0, 1.0),
        "exploit_from": FloatDistribution(0.3, 1.0),
        "perturbation_rate": FloatDistribution(0.0, 1.0),
        "pop_size": _population(20, 1000),
    },
    "soupde": {
        "subpopulations": IntDistribution(1, 6),
        "CR": FloatDistribution(0.0, 1.0),
        "shuffle": FloatDistribution(0.0, 1.0),
        "update": FloatDistribution(0.0, 1.0),
        "pop_size": _population(24, 256),
    },
    "chc": {
        "alpha": FloatDistribution(0.1, 1.0),
        "bits": IntDistribution(5, 30),
        "divergence": FloatDistribution(0.05, 1.0),
        "pop_size": _population(8, 256),
    },
    # Nashed et al. (2012) tuned these four; Kennedy and Eberhart: the neighbourhood.
    "pso": {
        "w": FloatDistribution(0.0, 1.0),
        "c1": FloatDistribution(0.0, 3.0),
        "c2": FloatDistribution(0.0, 3.0),
        "topology": CategoricalDistribution(["global", "ring", "random"]),
        "pop_size": _population(8, 256),
    },
    # The five that they tuned, and the update.
    "ss": {
        "n_best": IntDistribution(2, 12),
        "n_diverse": IntDistribution(0, 8),
        "lambda_": FloatDistribution(0.0, 0.5),
        "n_local": IntDistribution(1, 200, log=True),
        "update": CategoricalDistribution(["quality", "quality_and_diversity"]),
        "pop_size": _population(20, 256),
    },
    "cmaes": {
        "sigma0": FloatDistribution(0.05, 0.5, log=True),
        "restarts": CategoricalDistribution(["ipop", "bipop"]),
        "active": CategoricalDistribution([True, False]),
        "pop_size": _population(8, 256),
    },
}


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

    Examples
    --------
    >>> from skde.tuning import space_of
    >>> sorted(space_of("de").distributions)
    ['CR', 'F', 'pop_size', 'strategy']
    """
    instance = get_algorithm(algorithm)
    parameters = SPACES[instance.name]
    given = {name: value for name, value in instance.get_params().items() if name in parameters}
    try:
        return Space(parameters, initial=[given])
    except ValueError:  # such as a dithered F, or a population that depends on the dimension
        return Space(parameters)
