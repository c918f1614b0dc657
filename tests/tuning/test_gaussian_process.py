"""The Gaussian process of costs: it agrees with its equations, and distinguishes instances."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import LinAlgError
from scipy.stats import multivariate_normal
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern

from skde.tuning import gaussian_process
from skde.tuning.gaussian_process import (
    JITTER,
    MOST_LEARNT,
    GaussianProcess,
    Observations,
    lower_factor,
    map_estimate,
    matern,
    scale_distances,
)
from skde.typing import FloatArray


def some(count: int, n_instances: int, seed: int = 0) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return points, shares of instances, costs and counts."""
    rng = np.random.default_rng(seed)
    points, shares = rng.random((count, 3)), rng.dirichlet(np.full(n_instances, 0.3), count)
    costs = 3 + 5 * points[:, 0] + rng.normal(size=count)
    return points, shares, costs, rng.integers(1, 5, count).astype(float)


def by_the_equations(
    points: FloatArray, shares: FloatArray, counts: FloatArray, parameters: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return covariances of costs, and correlations, one by one."""
    common, own, noise, *lengths = parameters
    k = len(points)
    correlation, covariance = np.empty((k, k)), np.empty((k, k))
    for i in range(k):
        for j in range(k):
            d = np.sqrt(5 * sum(((points[i] - points[j]) / lengths) ** 2))
            correlation[i, j] = (1 + d + d * d / 3) * np.exp(-d)
            covariance[i, j] = (common + own * sum(shares[i] * shares[j])) * correlation[i, j]
        covariance[i, i] += noise / counts[i] + JITTER
    return covariance, correlation


PARAMETERS = np.array([0.8, 0.6, 0.3, 0.4, 1.5, 0.7])


def test_the_likelihood_is_that_of_the_equations() -> None:
    points, shares, costs, counts = some(12, 4)
    data = Observations(points, shares @ shares.T, costs, counts)

    def expected(parameters: FloatArray) -> float:
        return -float(multivariate_normal.logpdf(costs, cov=by_the_equations(points, shares, counts, parameters)[0]))

    other = PARAMETERS * np.linspace(0.5, 2, 6)
    found = [data.negative_log_likelihood(np.log(parameters))[0] for parameters in (PARAMETERS, other)]
    np.testing.assert_allclose(found[1] - found[0], expected(other) - expected(PARAMETERS), rtol=1e-9)


def test_the_gradient_is_that_of_the_likelihood() -> None:
    points, shares, costs, counts = some(20, 4)
    data = Observations(points, shares @ shares.T, costs - costs.mean(), counts)
    logarithms, step = np.log(PARAMETERS), 1e-5
    differences = [
        (data.negative_log_likelihood(logarithms + d)[0] - data.negative_log_likelihood(logarithms - d)[0]) / (2 * step)
        for d in step * np.eye(6)
    ]
    np.testing.assert_allclose(data.negative_log_likelihood(logarithms)[1], differences, rtol=1e-6, atol=1e-7)


def test_for_one_instance_it_predicts_as_scikit_learn() -> None:
    points, _, costs, counts = some(40, 1)
    process = GaussianProcess(points, np.full(3, 0.5), np.ones((40, 1)), costs, counts)
    common, own, noise, *lengths = process.parameters
    same = GaussianProcessRegressor(
        ConstantKernel(common + own) * Matern(lengths, nu=2.5),
        alpha=noise / counts + JITTER,
        optimizer=None,
        normalize_y=True,
    ).fit(points, costs)
    new = some(9, 1, seed=1)[0]
    np.testing.assert_allclose(process.mean(new, 1), same.predict(new), rtol=1e-8)


def test_its_prediction_over_instances_is_the_conditional_mean() -> None:
    points, shares, costs, counts = some(25, 4)
    process = GaussianProcess(points, np.full(3, 0.5), shares, costs, counts)
    new = some(5, 4, seed=1)[0]
    everywhere = np.vstack([shares, np.full((5, 4), 0.25)])
    many = np.concatenate([counts, np.full(5, np.inf)])
    covariance, _ = by_the_equations(np.vstack([points, new]), everywhere, many, process.parameters)
    z = (costs - costs.mean()) / costs.std()
    expected = covariance[25:, :25] @ np.linalg.solve(covariance[:25, :25], z)
    np.testing.assert_allclose(process.mean(new, 4), costs.mean() + costs.std() * expected, rtol=1e-8)


def test_draws_have_the_conditional_mean_and_covariances() -> None:
    points, shares, costs, counts = some(25, 4)
    process = GaussianProcess(points, np.full(3, 0.5), shares, costs, counts)
    new = some(5, 4, seed=1)[0]
    new[4] = new[0]  # the same twice
    everywhere = np.vstack([shares, np.full((5, 4), 0.25)])
    many = np.concatenate([counts, np.full(5, np.inf)])
    covariance, _ = by_the_equations(np.vstack([points, new]), everywhere, many, process.parameters)
    known, cross = covariance[:25, :25], covariance[25:, :25]
    expected = costs.var() * (covariance[25:, 25:] - cross @ np.linalg.solve(known, cross.T))
    draws = process.draws(new, 4, 200_000, np.random.default_rng(0))
    assert draws.shape == (200_000, 5)
    spread = np.sqrt(expected.diagonal())
    np.testing.assert_allclose((draws.mean(axis=0) - process.mean(new, 4)) / spread, 0, atol=0.01)
    np.testing.assert_allclose(
        np.cov(draws.T) / np.outer(spread, spread), expected / np.outer(spread, spread), atol=0.02
    )
    np.testing.assert_allclose(draws[:, 4], draws[:, 0], atol=0.02 * costs.std())


def test_effects_of_single_instances_do_not_mislead_it() -> None:
    """Costs of two instances go up and down against each other, and only their mean counts."""
    rng = np.random.default_rng(0)
    points, instances = rng.random((80, 1)), rng.integers(2, size=80)
    costs = (points[:, 0] - 0.3) ** 2 + np.where(instances, 1, -1) * np.sin(6 * points[:, 0])
    process = GaussianProcess(points, np.array([0.3]), np.eye(2)[instances], costs, np.ones(80))
    x = np.linspace(0.05, 0.95, 50)
    np.testing.assert_allclose(process.mean(x[:, None], 2), (x - 0.3) ** 2, atol=0.02)
    _, own, noise, _ = process.parameters
    assert noise < 0.1 < own


def test_it_learns_from_all_instances_of_a_regular_table() -> None:
    """As many configurations as it learns from costs, each on every instance: not the same one of each."""
    rng = np.random.default_rng(0)
    points, instances = np.repeat(rng.random((MOST_LEARNT, 1)), 2, axis=0), np.tile([0, 1], MOST_LEARNT)
    costs = np.where(instances, 1, -1) * np.sin(6 * points[:, 0]) + rng.normal(0, 0.1, len(points))
    process = GaussianProcess(points, np.array([0.3]), np.eye(2)[instances], costs, np.ones(len(costs)))
    common, own, _, _ = process.parameters
    assert own > 5 * common


def test_learned_parameters_are_the_most_probable_and_bounded() -> None:
    points, shares, costs, counts = some(30, 4)
    data = Observations(points, shares @ shares.T, (costs - costs.mean()) / costs.std(), counts)
    first = np.log([0.7, 0.5, 0.5, 0.3, 0.3, 0.3])
    found = map_estimate(data, first)
    off = (found - first) / np.array([1, 1, 1, 0.8, 0.8, 0.8])
    gradient = data.negative_log_likelihood(found)[1] + off / np.array([1, 1, 1, 0.8, 0.8, 0.8])
    assert np.abs(gradient).max() < 0.05
    nothing = Observations(points, shares @ shares.T, np.zeros(30), counts)
    assert np.isfinite(map_estimate(nothing, first)).all()


def test_a_step_to_where_nothing_can_be_computed_is_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    points, shares, costs, counts = some(30, 4)
    data = Observations(points, shares @ shares.T, (costs - costs.mean()) / costs.std(), counts)
    with pytest.raises(LinAlgError):
        data.negative_log_likelihood(np.array([60.0, 0.0, -60.0, 20.0, 20.0, 20.0]))
    first = np.log([0.7, 0.5, 0.5, 0.3, 0.3, 0.3])
    expected, likelihood, calls = map_estimate(data, first), data.negative_log_likelihood, []

    def failing_once(logarithms: FloatArray) -> tuple[float, FloatArray]:
        calls.append(1)
        if len(calls) == 2:
            raise LinAlgError
        return likelihood(logarithms)

    monkeypatch.setattr(data, "negative_log_likelihood", failing_once)
    np.testing.assert_allclose(map_estimate(data, first), expected, atol=0.05)


def test_it_avoids_parameters_that_overflow() -> None:
    points, shares, costs, counts = some(30, 4)
    first = np.log([0.7, 0.5, 0.5, 0.3, 0.3, 0.3])
    asked = []

    class Steep(Observations):
        def negative_log_likelihood(self, logarithms: FloatArray) -> tuple[float, FloatArray]:
            asked.append(np.abs(logarithms - first).max())
            return -1e4 * float(logarithms.sum()), np.full(6, -1e4)

    found = map_estimate(Steep(points, shares @ shares.T, costs, counts), first)
    assert 1 < max(asked) <= 20  # exp(20) is 5e8
    assert (found > first).all()


@pytest.mark.parametrize("count", [1, 2, MOST_LEARNT + 1, 2 * MOST_LEARNT + 100])
def test_any_number_of_costs(count: int) -> None:
    points, shares, costs, counts = some(count, 3)
    found = GaussianProcess(points, np.full(3, 0.3), shares, costs, counts).mean(points, 3)
    if count > MOST_LEARNT:
        assert np.corrcoef(found, points[:, 0])[0, 1] > 0.95
    assert np.isfinite(found).all()


# -- short length scales, as a conditional parameter may have ----------------------------------------------------------


def conditional(count: int, seed: int) -> FloatArray:
    """Return points with a choice, a number, and one that applies to the second choice alone; many are alike."""
    rng = np.random.default_rng(seed)
    second = rng.integers(0, 2, count)
    points = np.stack(
        [second == 0, second == 1, rng.random(count), np.where(second, rng.random(count), -0.5)], axis=1
    ).astype(float)
    alike = points[rng.integers(0, count, count)]
    alike[:, 2] = np.clip(alike[:, 2] + 1e-4 * rng.normal(size=count), 0, 1)
    return np.concatenate([points, alike, points])


@pytest.mark.parametrize("length", [1.0, 1e-3, 1e-5, 1e-7])
def test_correlations_are_those_of_points(length: float) -> None:
    points = conditional(30, 0)
    for column in range(4):
        lengths = np.ones(4)
        lengths[column] = length
        correlations = matern(scale_distances(points, points, lengths))
        assert (np.diag(correlations) == 1).all()
        assert (correlations == correlations.T).all()
        assert np.linalg.eigvalsh(correlations).min() > -1e-13


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("length", [1e-5, 1e-6])
def test_draws_with_a_short_length_scale(seed: int, length: float, monkeypatch: pytest.MonkeyPatch) -> None:
    parameters = np.array([0.4, 0.6, 0.1, 2.0, 2.0, 0.3, length])
    monkeypatch.setattr(gaussian_process, "map_estimate", lambda data, first: np.log(parameters))
    points, candidates = conditional(20, seed), conditional(60, seed + 100)
    rng = np.random.default_rng(seed)
    shares = np.eye(3)[rng.integers(0, 3, len(points))]
    process = GaussianProcess(points, parameters[3:], shares, rng.normal(size=len(points)), np.ones(len(points)))
    assert np.isfinite(process.draws(candidates, 3, 4, rng)).all()


def test_the_jitter_grows_until_it_is_enough() -> None:
    rng = np.random.default_rng(0)
    q = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    for least in (0.0, -1e-5, -1e-3):
        covariances = q @ np.diag([2.0, 1.0, 0.5, 0.2, 0.1, least]) @ q.T
        factor = lower_factor(covariances, 1.0)
        np.testing.assert_allclose(factor @ factor.T, covariances, atol=max(1e-6, -11 * least))
    with pytest.raises(LinAlgError):
        lower_factor(np.diag([1.0, -2.0]), 1.0)
