"""Surrogate model of configurations' costs, without the effects of steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from optuna.distributions import CategoricalDistribution
from scipy import special, stats

from skde.tuning.gaussian_process import GaussianProcess
from skde.tuning.parameter_scale import ParameterScale
from skde.tuning.race import Experiment
from skde.tuning.space import Configuration, Space
from skde.typing import FloatArray, IntArray
from skde.utils.hypothesis_tests import rescale

# The time grows with the cube of the number of costs. Only this many configurations are used, and if they have more
# costs than this, means over several instances replace means over one.
MOST, MOST_COSTS = 300, 1500
# First length scales, of numbers and ordered choices on the unit interval and of choices without an
# order: the columns of two are sqrt(2) apart. Good regions are often narrow, and noise hides that.
LENGTH, CHOICE_LENGTH = 0.3, 2.0
# The position of a number that does not apply: outside the range, far from those that do.
ABSENT = -0.5


class Surrogate:
    """The cost of a configuration over all instances, before and after it has been run.

    Parameters
    ----------
    space : Space
        Space of the configurations.
    configurations : sequence of Configuration
        All configurations, by their numbers.
    results : mapping of Experiment to float
        Costs; inf for a failure, and at least one is finite.
    instance_of : callable
        instance_of(step) returns the number of a step's instance.
    n_instances : int
        Number of instances.
    by_ranks : bool
        Whether only the ranks of costs on a step count: their normal scores then replace the costs.
    """

    def __init__(
        self,
        space: Space,
        configurations: Sequence[Configuration],
        results: Mapping[Experiment, float],
        instance_of: Callable[[int], int],
        n_instances: int,
        by_ranks: bool,
    ) -> None:
        self.space = space
        self.n_instances = n_instances
        numbers, steps, costs = arrange_costs(results)
        if by_ranks:
            costs = np.apply_along_axis(normal_scores, 0, costs)
        rows, shares, means, counts = by_instance(
            without_step_effects(rescale(costs)), np.array([instance_of(step) for step in steps])
        )
        points, lengths = self._points([configurations[number] for number in numbers])
        self._process = GaussianProcess(points[rows], lengths, shares, means, counts)

    def mean(self, configurations: Sequence[Configuration]) -> FloatArray:
        """Return the expected costs; lower is better; their zero and their unit have no meaning."""
        return self._process.mean(self._points(configurations)[0], self.n_instances)

    def choose(self, configurations: Sequence[Configuration], count: int, rng: np.random.Generator) -> list[int]:
        """Return the configurations to run: each is the best in a draw of the costs of all of them (Thompson sampling).

        So the frequency of a configuration is its probability to be the best under the model. No configuration is
        chosen twice, and none that equals a chosen one while there are others.
        """
        points, _ = self._points(configurations)
        same_point = np.unique(points, axis=0, return_inverse=True)[1].ravel()
        left, fresh = np.ones(len(points), bool), np.ones(len(points), bool)
        chosen = []
        for costs in self._process.draws(points, self.n_instances, count, rng):
            eligible = fresh if fresh.any() else left
            number = int(np.where(eligible, costs, np.inf).argmin())
            chosen.append(number)
            left[number] = False
            fresh &= same_point != same_point[number]
        return chosen

    def _points(self, configurations: Sequence[Configuration]) -> tuple[FloatArray, FloatArray]:
        """Return configurations as points, and the length scales of their columns."""
        columns, lengths = [], []
        for name, distribution in self.space.distributions.items():
            if isinstance(distribution, CategoricalDistribution) and name not in self.space.ordinal:
                for choice in distribution.choices:
                    columns.append([float(c.params.get(name, _MISSING) == choice) for c in configurations])
                    lengths.append(CHOICE_LENGTH)
            elif not distribution.single():
                columns.append([position(c, name) for c in configurations])
                lengths.append(LENGTH)
        return np.array(columns).T, np.array(lengths)


_MISSING = object()


def position(configuration: Configuration, name: str) -> float:
    """Return the position of a number or ordered choice on the unit interval."""
    if name not in configuration.params:
        return ABSENT
    return ParameterScale(configuration.distributions[name]).unit(configuration.params[name])


def arrange_costs(results: Mapping[Experiment, float]) -> tuple[list[int], list[int], FloatArray]:
    """Return the numbers of configurations and of steps, and the costs, NaN where there is none.

    Of more than `MOST` configurations those with the most results are taken, of these the latest.
    """
    counts: dict[int, int] = {}
    for experiment in results:
        counts[experiment.configuration] = counts.get(experiment.configuration, 0) + 1
    numbers = sorted(sorted(counts, key=lambda number: (counts[number], number))[-MOST:])
    row = {number: r for r, number in enumerate(numbers)}
    steps = sorted({experiment.step for experiment in results if experiment.configuration in row})
    column = {step: c for c, step in enumerate(steps)}
    costs = np.full((len(row), len(column)), np.nan)
    for experiment, cost in results.items():
        if experiment.configuration in row:
            costs[row[experiment.configuration], column[experiment.step]] = cost
    return numbers, steps, costs


def normal_scores(costs: FloatArray) -> FloatArray:
    """Return normal scores of costs by their ranks; NaN has none, and failures keep inf."""
    n = int((~np.isnan(costs)).sum())
    scores = special.ndtri((stats.rankdata(costs, nan_policy="omit") - 0.5) / max(n, 1))
    return np.where(np.isposinf(costs), np.inf, scores)


def without_step_effects(costs: FloatArray) -> FloatArray:
    r"""Return costs without the effects of steps.

    The steps' effects are the least squares of :math:`c_{ij} = a_i + s_j + e_{ij}` over the results that there are:
    so that configurations on hard steps do not count as bad. Where a configuration failed it has the worst of
    the effects a, and its other results are left out.

    Parameters
    ----------
    costs : ndarray of shape (k, n)
        Costs of k configurations on n steps; NaN where there is none, inf for a failure.

    Returns
    -------
    costs : ndarray of shape (k, n)
        The costs, up to a constant.
    """
    failures = np.isposinf(costs)
    failed = np.asarray(failures.any(axis=1))
    used = np.isfinite(costs) & ~failed[:, None]
    finite = np.where(used, costs, 0.0)
    normal = np.block([[np.diag(used.sum(axis=1)), used], [used.T, np.diag(used.sum(axis=0))]]).astype(float)
    effects = np.linalg.lstsq(normal, np.concatenate([finite.sum(axis=1), finite.sum(axis=0)]), rcond=None)[0]
    effect, step = effects[: len(costs)], effects[len(costs) :]
    adjusted = np.where(used, costs - step, np.nan)
    adjusted[failures] = effect[~failed].max()
    return adjusted


def by_instance(costs: FloatArray, instances: IntArray) -> tuple[IntArray, FloatArray, FloatArray, FloatArray]:
    """Return the means of configurations' costs on instances.

    Where these are more than `MOST_COSTS`, those with the most have means over several instances instead.

    Parameters
    ----------
    costs : ndarray of shape (k, n)
        Costs of k configurations on n steps; NaN where there is none.
    instances : ndarray of shape (n,)
        Instances of the steps.

    Returns
    -------
    rows : ndarray of shape (m,)
        Configuration of each mean.
    shares : ndarray of shape (m, number of instances in the results)
        Shares of these instances in each mean.
    means, counts : ndarray of shape (m,)
        The means, and their numbers of costs.
    """
    kinds, kind = np.unique(instances, return_inverse=True)
    member = np.eye(len(kinds))[kind]
    used = ~np.isnan(costs)
    counts, sums = used @ member, np.where(used, costs, 0.0) @ member
    rows, columns = np.nonzero(counts)
    numbers = (np.cumsum(counts > 0, axis=1) - 1)[rows, columns]  # of a configuration's instances
    most, sizes = len(kinds), np.bincount(rows)
    while most > 1 and np.minimum(sizes, most).sum() > MOST_COSTS:
        most -= 1
    means, mean = np.unique(rows * most + numbers % most, return_inverse=True)
    shares = np.zeros((len(means), len(kinds)))
    shares[mean, columns] = counts[rows, columns]
    totals = shares.sum(axis=1)
    return means // most, shares / totals[:, None], np.bincount(mean, sums[rows, columns]) / totals, totals
