"""Sampling of new configurations: uniform in the first race, then ever closer around the elites."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution, CategoricalDistribution
from scipy import special
from scipy.spatial import cKDTree
from scipy.stats import qmc

from skde.tuning.parameter_scale import ParameterScale, choice_number, uniform
from skde.tuning.space import Configuration, Space
from skde.typing import FloatArray

FIRST_SIGMA = 0.5  # half the range
# Configurations closer than this in every parameter, on the unit interval, cause a soft restart.
SAME = 1e-4
# A model selects a race's children from this many candidates: at least, and for each child.
MIN_CANDIDATES, CANDIDATES_PER_CHILD = 400, 2

# choose(configurations, count, rng) returns the numbers of the selected ones.
CandidateSelector = Callable[[Sequence[Configuration], int, np.random.Generator], list[int]]


@dataclass(frozen=True)
class SamplingModel:
    """The distribution of a configuration's children.

    Attributes
    ----------
    sigma : float
        Standard deviation of numbers and ordered choices, on the unit interval.
    probabilities : mapping of str to ndarray
        Probabilities of the choices without an order, by parameter; equal ones for parameters without an entry.
    """

    sigma: float = FIRST_SIGMA
    probabilities: Mapping[str, FloatArray] = field(default_factory=dict)


@dataclass(frozen=True)
class Parent:
    """A configuration with the distribution of its children."""

    configuration: Configuration
    model: SamplingModel


@dataclass(frozen=True)
class RaceStage:
    """The numbers of a race that sampling depends on.

    Attributes
    ----------
    iteration, n_iterations : int
        The race's number, from 2 on, and how many are planned.
    n_new : int
        New configurations of the race.
    n_parameters : int
        Parameters that are not fixed.
    capped : bool
        Whether the probability of a choice is at most 0.2 ** (1 / n_parameters), as in an elitist race.
    """

    iteration: int
    n_iterations: int
    n_new: int
    n_parameters: int
    capped: bool


def first_configurations(space: Space, count: int, rng: np.random.Generator, sobol: bool) -> list[Configuration]:
    """Return configurations spread over the space.

    Parameters
    ----------
    space : Space
        Space of the configurations.
    count : int
        Number of configurations, >= 1.
    rng : Generator
        Generator of the draws.
    sobol : bool
        Whether they come from a scrambled Sobol sequence with one dimension for every parameter, or are independent. A
        point of the sequence that is forbidden is replaced by an independent one.
    """

    def independent(name: str, distribution: BaseDistribution) -> Any:
        return uniform(distribution, rng)

    if not sobol:
        return [space.draw(independent) for _ in range(count)]
    column = {name: j for j, name in enumerate(space.distributions)}
    points = qmc.Sobol(len(column), seed=rng).random_base2((count - 1).bit_length())[:count]
    configurations = []
    for point in points:

        def place(name: str, distribution: BaseDistribution, point: FloatArray = point) -> Any:
            if name not in column:  # a rare parameter of a function, unknown before
                return uniform(distribution, rng)
            return ParameterScale(distribution).value(float(point[column[name]]))

        configuration = space.build(place)
        configurations.append(configuration if space.allows(configuration) else space.draw(independent))
    return configurations


def update_model(parent: Parent, stage: RaceStage, ordinal: Collection[str] = ()) -> Parent:
    r"""Return the parent with the model for its children in this race.

    .. math::
        \sigma \leftarrow \sigma\, (1 / N_{new})^{1/N}, \qquad
        p_c \leftarrow p_c \left(1 - \frac{j - 1}{N_{iter}}\right) + \frac{j - 1}{N_{iter}} [c = c_{parent}]

    with N parameters and race number j; capped probabilities are at most :math:`0.2^{1/N}`, and then scaled to a sum
    of 1.
    """
    weight = (stage.iteration - 1) / stage.n_iterations
    most = 0.2 ** (1 / stage.n_parameters) if stage.capped else 1.0
    probabilities = dict(parent.model.probabilities)
    for name, distribution in parent.configuration.distributions.items():
        if isinstance(distribution, CategoricalDistribution) and name not in ordinal:
            p = (1 - weight) * probabilities_of(parent.model, name, distribution)
            p[choice_number(distribution, parent.configuration.params[name])] += weight
            p = np.minimum(p, most)
            probabilities[name] = p / p.sum()
    sigma = parent.model.sigma * (1 / stage.n_new) ** (1 / stage.n_parameters)
    return replace(parent, model=SamplingModel(sigma, probabilities))


def restart_model(parent: Parent, stage: RaceStage) -> Parent:
    """Return the parent with its model set back by two races, at most to the second one's.

    Probabilities become 0.9 p + 0.1 max(p), scaled to a sum of 1.
    """
    shrunk = (1 / stage.n_new) ** (1 / stage.n_parameters)
    probabilities = {}
    for name, p in parent.model.probabilities.items():
        wider = 0.9 * p + 0.1 * p.max()
        probabilities[name] = wider / wider.sum()
    return replace(
        parent, model=SamplingModel(min(parent.model.sigma / shrunk**2, FIRST_SIGMA * shrunk), probabilities)
    )


def parent_weights(n: int) -> FloatArray:
    """Return the probabilities of n parents: (n - r + 1) / (n (n + 1) / 2) for the one of rank r."""
    return np.arange(n, 0, -1) / (n * (n + 1) / 2)


def children(
    parents: Sequence[Parent],
    space: Space,
    count: int,
    rng: np.random.Generator,
    choose: CandidateSelector | None = None,
) -> list[tuple[int, Configuration]]:
    """Return new configurations, each with the number of its parent."""
    size = count if choose is None else max(MIN_CANDIDATES, CANDIDATES_PER_CHILD * count)
    candidates = []
    for number in rng.choice(len(parents), size=size, p=parent_weights(len(parents))).tolist():
        parent = parents[number]

        def near(name: str, distribution: BaseDistribution, parent: Parent = parent) -> Any:
            return value_near(parent, name, distribution, name in space.ordinal, rng)

        candidates.append((number, space.draw(near)))
    if choose is None:
        return candidates
    return [candidates[i] for i in choose([configuration for _, configuration in candidates], count, rng)]


def value_near(
    parent: Parent, name: str, distribution: BaseDistribution, ordinal: bool, rng: np.random.Generator
) -> Any:
    """Return a value around the parent's; uniform where the parameter does not apply to the parent."""
    params = parent.configuration.params
    if isinstance(distribution, CategoricalDistribution) and params.get(name, _MISSING) not in distribution.choices:
        return uniform(distribution, rng)
    if isinstance(distribution, CategoricalDistribution) and not ordinal:
        p = probabilities_of(parent.model, name, distribution)
        return distribution.choices[int(rng.choice(len(p), p=p))]
    if name not in params:
        return uniform(distribution, rng)
    scale = ParameterScale(distribution)
    return scale.value(draw_truncated_normal(scale.unit(params[name]), parent.model.sigma, rng))


_MISSING = object()


def draw_truncated_normal(mean: float, sigma: float, rng: np.random.Generator) -> float:
    """Return a draw from a normal distribution truncated to [0, 1], by the inverse of its distribution function."""
    low, high = special.ndtr(-mean / sigma), special.ndtr((1 - mean) / sigma)
    return float(np.clip(mean + sigma * special.ndtri(low + rng.random() * (high - low)), 0.0, 1.0))


def probabilities_of(model: SamplingModel, name: str, distribution: CategoricalDistribution) -> FloatArray:
    """Return the probabilities of the choices."""
    probabilities = model.probabilities.get(name)
    n = len(distribution.choices)
    return np.full(n, 1 / n) if probabilities is None or len(probabilities) != n else probabilities.copy()


def too_similar(configurations: Sequence[Configuration], space: Space) -> set[int]:
    """Return the numbers of those that have another one within `SAME` of them in every parameter.

    Different choices, and parameters that apply to one of two only, are a whole range apart.
    """
    names = list(space.distributions)
    places = np.full((len(configurations), len(names)), -1.0)
    for i, configuration in enumerate(configurations):
        for j, name in enumerate(names):
            if name in configuration.params:
                distribution = configuration.distributions[name]
                value = configuration.params[name]
                if isinstance(distribution, CategoricalDistribution) and name not in space.ordinal:
                    places[i, j] = choice_number(distribution, value)
                else:
                    places[i, j] = ParameterScale(distribution).unit(value)
    pairs = cKDTree(places).query_pairs(SAME, p=np.inf, output_type="ndarray")
    return set(pairs.ravel().tolist())


@dataclass(frozen=True)
class CandidatePool:
    """The configurations of a race.

    Attributes
    ----------
    parents : list of Parent
        The elites, with the models of their children.
    children : list of Parent
        The new ones, with the models of their parents.
    restarted : bool
        Whether there was a soft restart.
    """

    parents: list[Parent]
    children: list[Parent]
    restarted: bool = False


def next_configurations(
    parents: Sequence[Parent],
    space: Space,
    stage: RaceStage,
    rng: np.random.Generator,
    choose: CandidateSelector | None = None,
) -> CandidatePool:
    """Return the new configurations of a race after the first.

    Where some have come so close that they are the same (`too_similar`), the models of their parents are set back, and
    all are drawn again, once.

    Parameters
    ----------
    parents : sequence of Parent
        The elites, the best first, with the models of the race before.
    space : Space
        Space of the configurations.
    stage : RaceStage
        Stage of the race.
    rng : Generator
        Generator of the draws.
    choose : callable, optional
        As for `children`.
    """
    models = [update_model(parent, stage, space.ordinal) for parent in parents]
    drawn = children(models, space, stage.n_new, rng, choose)
    everyone = [parent.configuration for parent in parents] + [configuration for _, configuration in drawn]
    same = too_similar(everyone, space)
    if same:
        n = len(parents)
        stuck = {number if number < n else drawn[number - n][0] for number in same}
        models = [restart_model(parent, stage) if number in stuck else parent for number, parent in enumerate(models)]
        drawn = children(models, space, stage.n_new, rng, choose)
    return CandidatePool(
        models, [Parent(configuration, models[number].model) for number, configuration in drawn], bool(same)
    )
