"""What all results so far say about configurations: a Gaussian process of their costs without the steps' effects."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from optuna.distributions import CategoricalDistribution
from scipy import special, stats
from scipy.optimize import minimize
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern

from skde.tuning.race import Experiment
from skde.tuning.scale import Scale
from skde.tuning.space import Configuration, Space
from skde.typing import FloatArray

# The work grows with the cube of the configurations: more than these are not looked at.
MOST = 300
# Length scales before anything is known, of numbers and ordered choices on the unit interval and of choices without an
# order, of which the columns of two are sqrt(2) apart. Good regions are often narrow, and noise hides that.
LENGTH, CHOICE_LENGTH = 0.3, 2.0
# Standard deviation of their logarithms, and of the logarithm of the variance.
PRIOR = 0.8
# Where a number stands that does not apply: beyond the range, so that it says little about those that do.
ABSENT = -0.5
BOUNDS = (1e-4, 1e4)  # which the prior keeps parameters away from
STEADY = 1e-6  # added to a variance of 1


class Surrogate:
    """The cost of a configuration, before and after it has been run.

    Parameters
    ----------
    space : Space
        Where configurations are from.
    configurations : sequence of Configuration
        By their numbers.
    results : mapping of Experiment to float
        Costs; inf for a failure, and at least one is finite.
    by_ranks : bool
        Whether only the ranks of costs on a step count, so that their normal scores are taken for the costs.
    """

    def __init__(
        self,
        space: Space,
        configurations: Sequence[Configuration],
        results: Mapping[Experiment, float],
        by_ranks: bool,
    ) -> None:
        self.space = space
        numbers, costs = table(results)
        if by_ranks:
            costs = np.apply_along_axis(normal_scores, 0, costs)
        effect, variance = effects(costs)
        spread = float(effect.std()) or 1.0
        points, lengths = self._points([configurations[number] for number in numbers])
        self._process = GaussianProcessRegressor(
            ConstantKernel(1.0, BOUNDS) * Matern(lengths, BOUNDS, nu=2.5),
            alpha=variance / spread**2 + STEADY,
            normalize_y=True,
            optimizer=most_probable,
        ).fit(points, effect)

    def mean(self, configurations: Sequence[Configuration]) -> FloatArray:
        """Return the expected costs; lower is better, and zero says nothing."""
        found: FloatArray = self._process.predict(self._points(configurations)[0])
        return found

    def best(self, configurations: Sequence[Configuration]) -> Configuration:
        """Return the configuration of the lowest expected cost."""
        return configurations[int(self.mean(configurations).argmin())]

    def _points(self, configurations: Sequence[Configuration]) -> tuple[FloatArray, FloatArray]:
        """Return configurations as points, and the length scales of their columns."""
        columns, lengths = [], []
        for name, distribution in self.space.distributions.items():
            if isinstance(distribution, CategoricalDistribution) and name not in self.space.ordinal:
                for choice in distribution.choices:
                    columns.append([float(c.params.get(name, _MISSING) == choice) for c in configurations])
                    lengths.append(CHOICE_LENGTH)
            elif not distribution.single():
                columns.append([place(c, name) for c in configurations])
                lengths.append(LENGTH)
        return np.array(columns).T, np.array(lengths)


_MISSING = object()


def place(configuration: Configuration, name: str) -> float:
    """Return where a number or ordered choice stands on the unit interval."""
    if name not in configuration.params:
        return ABSENT
    return Scale(configuration.distributions[name]).unit(configuration.params[name])


def table(results: Mapping[Experiment, float]) -> tuple[list[int], FloatArray]:
    """Return the numbers of configurations, and their costs by step, NaN where there is none.

    Of more than `MOST` configurations those with the most results are taken, of these the latest.
    """
    counts: dict[int, int] = {}
    for experiment in results:
        counts[experiment.configuration] = counts.get(experiment.configuration, 0) + 1
    numbers = sorted(sorted(counts, key=lambda number: (counts[number], number))[-MOST:])
    row = {number: r for r, number in enumerate(numbers)}
    column = {step: c for c, step in enumerate(sorted({e.step for e in results if e.configuration in row}))}
    costs = np.full((len(row), len(column)), np.nan)
    for experiment, cost in results.items():
        if experiment.configuration in row:
            costs[row[experiment.configuration], column[experiment.step]] = cost
    return numbers, costs


def normal_scores(costs: FloatArray) -> FloatArray:
    """Return what a normal distribution would have at the ranks of costs; NaN has none, and failures keep inf."""
    n = int((~np.isnan(costs)).sum())
    scores = special.ndtri((stats.rankdata(costs, nan_policy="omit") - 0.5) / max(n, 1))
    return np.where(np.isposinf(costs), np.inf, scores)


def effects(costs: FloatArray) -> tuple[FloatArray, FloatArray]:
    r"""Return what configurations add to the costs of steps, and the variances of these estimates.

    The least squares of :math:`c_{ij} = a_i + s_j + e_{ij}` over the results that there are: configurations that ran
    on hard steps are not taken for bad ones. A configuration that failed has the worst of the effects.

    Parameters
    ----------
    costs : ndarray of shape (k, n)
        Of k configurations on n steps; NaN where there is none, inf for a failure.

    Returns
    -------
    effect : ndarray of shape (k,)
        Up to a constant.
    variance : ndarray of shape (k,)
        Of the errors, over the number of a configuration's results.
    """
    failed = np.asarray(np.isposinf(costs).any(axis=1))
    there = np.isfinite(costs) & ~failed[:, None]
    known = np.where(there, costs, 0.0)
    counts = there.sum(axis=1)
    normal = np.block([[np.diag(counts), there], [there.T, np.diag(there.sum(axis=0))]]).astype(float)
    found = np.linalg.lstsq(normal, np.concatenate([known.sum(axis=1), known.sum(axis=0)]), rcond=None)[0]
    effect, step = found[: len(costs)], found[len(costs) :]
    errors = np.where(there, costs - effect[:, None] - step, 0.0)
    freedom = there.sum() - (~failed).sum() - there.any(axis=0).sum() + 1
    effect[failed] = effect[~failed].max()
    variance = (errors**2).sum() / freedom if freedom > 0 else effect.var()
    return effect, variance / np.maximum(counts, 1)


def most_probable(
    minus_log_likelihood: Callable[..., Any], first: FloatArray, bounds: FloatArray
) -> tuple[FloatArray, float]:
    """Return the logarithms of a kernel's parameters of the highest posterior density, and what it came to.

    The prior is normal around the first ones. Where noise is large, the likelihood alone would find long scales, and
    the surrogate see nothing of a narrow region.
    """

    def loss(theta: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = minus_log_likelihood(theta)
        off = (theta - first) / PRIOR
        return value + (off**2).sum() / 2, gradient + off / PRIOR

    found = minimize(loss, first, jac=True, bounds=bounds, method="L-BFGS-B", options={"ftol": 1e-5})
    return found.x, found.fun
