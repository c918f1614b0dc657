"""Gaussian process of costs over configurations, with a part common to all instances and one for each."""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, cholesky, solve_triangular
from scipy.optimize import minimize
from scipy.spatial.distance import cdist

from skde.typing import FloatArray, IntArray

# First variances, for costs of variance 1: of the part common to all instances, of each instance's part, of noise.
VARIANCES = (0.7, 0.5, 0.5)
# Standard deviations of the logarithms of variances and of length scales.
VARIANCE_PRIOR, LENGTH_PRIOR = 1.0, 0.8
# The search goes no further, in these deviations: a line search may try values that overflow.
FARTHEST = 20.0
# Added to the variance of every cost, and of every draw as a share; tenfold where rounding needs more, up to the last.
JITTER, LAST_JITTER = 1e-6, 1.0
# The time grows with the cube of the number of costs, and learning takes many evaluations: it uses at most this many.
MOST_LEARNT = 250


class GaussianProcess:
    r"""A Gaussian process of costs, each the mean of n results of a configuration x on instances i with the shares w.

    .. math::
        c = a(x) + \sum_i w_i b_i(x) + e, \qquad
        \operatorname{cov}(c, c') = (\alpha + \beta\, w \cdot w')\, M(x, x') + \frac{\nu}{n} [c = c']

    with Matern's kernel M of 5/2, which has a length scale for every column of x. The variances alpha, beta, nu and
    the length scales have the highest posterior density; their logarithms are normal around the first ones,
    because where noise is large the likelihood alone would find long scales, and see nothing of a narrow region.

    Parameters
    ----------
    points : ndarray of shape (k, d)
        Configurations as points, one for every cost.
    lengths : ndarray of shape (d,)
        First length scales.
    shares : ndarray of shape (k, number of instances)
        Shares of the instances in each cost; they add up to 1.
    costs : ndarray of shape (k,)
        Costs without the effects of instances and steps on all configurations.
    counts : ndarray of shape (k,)
        Number of results in each cost.

    Notes
    -----
    Source: C. E. Rasmussen, C. K. I. Williams, Gaussian processes for machine learning (2006), equations 2.25 and 2.26
    (the mean and the variance), 5.8 and 5.9 (the likelihood and its gradient); K. Swersky, J. Snoek, R. P. Adams,
    Multi-task Bayesian optimization (NIPS 2013); this is the case where all instances are equally alike.
    Difference: parameters have the highest posterior density, and are not sampled.
    """

    def __init__(
        self, points: FloatArray, lengths: FloatArray, shares: FloatArray, costs: FloatArray, counts: FloatArray
    ) -> None:
        self.points = points
        self._middle = float(costs.mean())
        self._spread = float(costs.std()) or 1.0
        data = Observations(points, shares @ shares.T, (costs - self._middle) / self._spread, counts)
        first = np.log(np.concatenate([VARIANCES, lengths]))
        # A fixed random subset: tables are regular, so every n-th cost could be a biased subset.
        some = np.random.default_rng(0).permutation(len(costs))[:MOST_LEARNT]
        self.parameters = np.exp(map_estimate(data.part(some), first))
        self._factor = data.factor(self.parameters)
        self._weights = cho_solve(self._factor, data.costs)

    def mean(self, points: FloatArray, n_instances: int) -> FloatArray:
        """Return the expected costs of configurations, over all instances."""
        deviations: FloatArray = self._covariance(points, self.points, n_instances) @ self._weights
        return self._middle + self._spread * deviations

    def draws(self, points: FloatArray, n_instances: int, count: int, rng: np.random.Generator) -> FloatArray:
        """Return draws of the mean costs over all instances from the posterior distribution."""
        cross = self._covariance(points, self.points, n_instances)
        explained = solve_triangular(self._factor[0], cross.T, lower=True, check_finite=False)
        prior = self._covariance(points, points, n_instances)
        unknown = prior - explained.T @ explained
        # Equal points and those with costs have the variance 0, which rounding could make negative.
        noise = rng.standard_normal((count, len(points))) @ lower_factor(unknown, float(prior[0, 0])).T
        samples: FloatArray = self._middle + self._spread * (cross @ self._weights + noise)
        return samples

    def _covariance(self, first: FloatArray, second: FloatArray, n_instances: int) -> FloatArray:
        """Return the covariances of mean costs over all instances.

        They are the same with a cost of a few instances, because its shares add up to 1.
        """
        common, own = self.parameters[:2]
        correlation = matern(scale_distances(first, second, self.parameters[3:]))
        covariances: FloatArray = (common + own / n_instances) * correlation
        return covariances


class Observations:
    """Costs of mean 0 and variance 1, with their points and instances.

    Attributes
    ----------
    points : ndarray of shape (k, d)
    alike : ndarray of shape (k, k)
        1 for two costs of the same instance, 0 for costs of different instances.
    costs, counts : ndarray of shape (k,)
    """

    def __init__(self, points: FloatArray, alike: FloatArray, costs: FloatArray, counts: FloatArray) -> None:
        self.points, self.alike, self.costs, self.counts = points, alike, costs, counts

    def part(self, rows: IntArray) -> Observations:
        """Return some of the costs."""
        return Observations(self.points[rows], self.alike[np.ix_(rows, rows)], self.costs[rows], self.counts[rows])

    def covariance(self, parameters: FloatArray, correlation: FloatArray) -> FloatArray:
        """Return the costs' covariances, without jitter."""
        common, own, noise = parameters[:3]
        covariances: FloatArray = (common + own * self.alike) * correlation
        covariances[np.diag_indices(len(covariances))] += noise / self.counts
        return covariances

    def factor(self, parameters: FloatArray) -> tuple[FloatArray, bool]:
        """Return the covariances' Cholesky factor."""
        correlation = matern(scale_distances(self.points, self.points, parameters[3:]))
        return lower_factor(self.covariance(parameters, correlation), 1.0), True

    def negative_log_likelihood(self, logarithms: FloatArray) -> tuple[float, FloatArray]:
        """Return the negative logarithm of the likelihood, up to a constant, and its gradient."""
        parameters = np.exp(logarithms)
        common, own, noise = parameters[:3]
        distances = scale_distances(self.points, self.points, parameters[3:])
        correlation = matern(distances)
        covariances = self.covariance(parameters, correlation)
        covariances[np.diag_indices(len(covariances))] += JITTER
        factor = cho_factor(covariances, lower=True)
        weights = cho_solve(factor, self.costs)
        value = self.costs @ weights / 2 + np.log(np.diag(factor[0])).sum()
        # Half the inverse less the weights' product, which is how the value changes with the covariances.
        change = (cho_solve(factor, np.eye(len(weights))) - np.outer(weights, weights)) / 2
        by_correlation = change * correlation
        variances = [
            common * by_correlation.sum(),
            own * (by_correlation * self.alike).sum(),
            noise * (np.diag(change) / self.counts).sum(),
        ]
        # Of the sum over i, j of h_ij (x_i - x_j)^2, which is twice the sum of h_ij x_i^2 - h_ij x_i x_j.
        by_distance = change * (common + own * self.alike) * (5 / 3 * (1 + distances) * np.exp(-distances))
        x = self.points / parameters[3:]
        lengths = 2 * (by_distance.sum(axis=1) @ x**2 - (x * (by_distance @ x)).sum(axis=0))
        return float(value), np.concatenate([variances, lengths])


def scale_distances(first: FloatArray, second: FloatArray, lengths: FloatArray) -> FloatArray:
    """Return the square root of 5 times the distances, with columns in units of their length scales.

    They come from differences: |a|^2 + |b|^2 - 2 a b loses so many digits where a length scale is short, as a
    conditional parameter's may be, that the matrix of correlations is not positive semidefinite.
    """
    distances: FloatArray = np.sqrt(5) * cdist(first / lengths, second / lengths)
    return distances


def lower_factor(covariances: FloatArray, variance: float) -> FloatArray:
    """Return Cholesky's lower factor of covariances plus the least jitter, a share of a variance, that it needs."""
    jitter = JITTER
    while True:
        raised = covariances + np.diag(np.full(len(covariances), jitter * variance))
        try:
            factor: FloatArray = cholesky(raised, lower=True)
        except LinAlgError:
            if jitter >= LAST_JITTER:
                raise
            jitter *= 10
        else:
            return factor


def matern(distances: FloatArray) -> FloatArray:
    """Return Matern's correlations, of 5/2, at scaled distances."""
    correlations: FloatArray = (1 + distances + distances**2 / 3) * np.exp(-distances)
    return correlations


def map_estimate(data: Observations, first: FloatArray) -> FloatArray:
    """Return the logarithms of variances and length scales of the highest posterior density."""
    deviations = np.concatenate([np.full(3, VARIANCE_PRIOR), np.full(len(first) - 3, LENGTH_PRIOR)])

    def loss(logarithms: FloatArray) -> tuple[float, FloatArray]:
        off = (logarithms - first) / deviations
        if np.abs(off).max() > FARTHEST:
            return 1e10, off / deviations
        try:
            value, gradient = data.negative_log_likelihood(logarithms)
        except LinAlgError:  # after a step that was too long
            return 1e10, off / deviations
        return value + (off**2).sum() / 2, gradient + off / deviations

    estimate: FloatArray = minimize(loss, first, jac=True, method="L-BFGS-B", options={"ftol": 1e-5, "maxiter": 40}).x
    return estimate
