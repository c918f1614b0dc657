"""JADE, SHADE, L-SHADE and jSO and the NumPy implementation: archive, memory, shrinking, repair."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from skde import JADE, JSO, LSHADE, SHADE, Minimizer
from skde.algorithms.base import REPAIRS

from .side_by_side import SEVEN, bowl, corner, memory, side_by_side
from .success_history import SuccessHistory, folded_sum, improvement

NAN, INF = np.nan, np.inf
FAMILY = [JADE, SHADE, LSHADE, JSO]
SHRINKING = [LSHADE, JSO]
each = pytest.mark.parametrize("kind", FAMILY)


@each
@pytest.mark.parametrize("archive_rate", [0.0, 0.05, 0.3, 1.0, 4.0])
def test_archives(kind: Any, archive_rate: float) -> None:
    """None, one that overflows in the first generation, and one that is never full; and those that shrink."""
    sizes: list[tuple[int, int]] = []
    plain = side_by_side(
        kind(pop_size=30, archive_rate=archive_rate),
        SEVEN,
        corner(SEVEN),
        check=lambda kernel, plain: sizes.append((len(plain.archive), plain.capacity)),
        max_iter=25,
    )
    assert any(rows == capacity for rows, capacity in sizes) or archive_rate > 1
    assert all(rows <= capacity for rows, capacity in sizes)
    assert (len(plain.archive) > 0) == (plain.capacity > 0)


@each
@pytest.mark.parametrize("repair", REPAIRS)
def test_repairs(kind: Any, repair: str) -> None:
    """F near 1 in a corner: many components leave the box."""
    side_by_side(kind(pop_size=14, F_start=1.0, repair=repair), SEVEN, corner(SEVEN), seed=5, max_iter=20)


@each
@pytest.mark.parametrize("p_best", [1e-3, 0.5, 1.0])
def test_shares_of_the_best(kind: Any, p_best: float) -> None:
    """As few as there may be, rounding at the half, and all."""
    for pop_size in (4, 5, 21):
        side_by_side(kind(pop_size=pop_size, p_best=p_best), SEVEN[:2], bowl(SEVEN[:2]), seed=8, max_iter=20)


@pytest.mark.parametrize("kind", [SHADE, LSHADE, JSO])
@pytest.mark.parametrize("memory_size", [1, 2, 40])
def test_memories_of_any_size(kind: Any, memory_size: int) -> None:
    """One cell, of which jSO reads nothing; few, written in turn; and some that are never written."""
    plain = side_by_side(kind(pop_size=16, memory_size=memory_size), SEVEN, bowl(SEVEN), seed=2, max_iter=30)
    assert plain.M_F[0] != kind().F_start
    assert (plain.M_F[-1] != kind().F_start) == (memory_size < 40)


@pytest.mark.parametrize("c", [0.01, 1.0])
def test_rates_of_learning(c: float) -> None:
    side_by_side(JADE(c=c, pop_size=20), SEVEN, bowl(SEVEN), seed=4, max_iter=30)


@each
def test_scale_factors_that_are_drawn_again(kind: Any) -> None:
    """Around 0 every second draw is not positive."""
    side_by_side(kind(pop_size=20, F_start=0.0), SEVEN, bowl(SEVEN), seed=6, max_iter=20)


def test_crossover_rates_that_end() -> None:
    """Where all successes had CR = 0, the cell of CR is 0 for good."""
    for seed in range(8):
        plain = side_by_side(LSHADE(pop_size=8, CR_start=0.0), SEVEN[:3], bowl(SEVEN[:3]), seed=seed, max_iter=30)
        if None in plain.M_CR:
            return
    pytest.fail("no cell ended")


def test_jso_crossover_rates_that_end() -> None:
    """After half of the search nothing keeps jSO's CR up."""

    def late(X: Any) -> Any:
        # Nothing succeeds in the first half.
        nonlocal generation
        generation += 1
        return bowl(SEVEN)(X) if generation in (1, *range(22, 42)) else np.full(len(X), INF)

    for seed in range(8):
        generation = 0
        plain = side_by_side(JSO(pop_size=5, CR_start=0.0), SEVEN, late, seed=seed, max_iter=40)
        if None in plain.M_CR:
            return
    pytest.fail("no cell ended")


# -- budgets -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", SHRINKING)
@pytest.mark.parametrize("max_evals", [20, 39, 40, 41, 137, 400, 401, 1000])
def test_budgets_of_evaluations(kind: Any, max_evals: int) -> None:
    """A generation is made where the budget holds it whole, and the population gets as small as it may."""
    algorithm = kind(pop_size=20, pop_min=5)
    plain = side_by_side(algorithm, SEVEN, corner(SEVEN), seed=max_evals, max_evals=max_evals)
    assert plain.evals <= max_evals
    assert plain.evals > max_evals - 20
    assert 5 <= len(plain.x) <= 20
    if max_evals >= 400:
        assert len(plain.x) <= 6


@pytest.mark.parametrize("kind", SHRINKING)
@pytest.mark.parametrize("max_iter", [1, 2, 7, 33])
def test_budgets_of_generations(kind: Any, max_iter: int) -> None:
    plain = side_by_side(kind(pop_size=24, pop_min=4), SEVEN, bowl(SEVEN), max_iter=max_iter)
    assert len(plain.x) == 4


@pytest.mark.parametrize("kind", SHRINKING)
def test_a_population_that_may_not_shrink(kind: Any) -> None:
    plain = side_by_side(kind(pop_size=9, pop_min=9), SEVEN, bowl(SEVEN), max_iter=12)
    assert len(plain.x) == 9


@pytest.mark.parametrize("kind", SHRINKING)
def test_evaluations_count_where_generations_are_limited_too(kind: Any) -> None:
    """The population follows max_evals; max_iter only ends the run."""
    algorithm = kind(pop_size=20)
    kernel = Minimizer(algorithm, bounds=SEVEN, random_state=1, device="cpu", max_evals=600, max_iter=10)
    plain = SuccessHistory(algorithm, SEVEN, 1, max_evals=600)
    while not kernel.stopped_:
        X = kernel.ask()
        assert np.array_equal(X, plain.ask())
        f = bowl(SEVEN)(X)
        kernel.tell(X, f)
        plain.tell(X, f)
    assert plain.generation == 10


def test_default_sizes() -> None:
    """18 D and 25 log(D) sqrt(D), with all other parameters as they are."""
    for kind, dim, pop_size in ((LSHADE, 7, 126), (JSO, 7, 129)):
        algorithm = kind()
        kernel = Minimizer(algorithm, bounds=SEVEN, random_state=3, device="cpu", max_evals=1000)
        assert kernel.ask().shape == (pop_size, dim)
        side_by_side(kind(pop_size=pop_size), SEVEN, bowl(SEVEN), seed=3, max_evals=1000)


# -- the pieces of the plain implementation ----------------------------------------------------------------------------


def test_folded_sums() -> None:
    """Exact where every order is; close where it is not."""
    for n in (0, 1, 2, 127, 128, 129, 300):
        assert folded_sum([float(k) for k in range(n)]) == n * (n - 1) / 2
    terms = np.random.default_rng(0).normal(size=1000)
    assert np.isclose(folded_sum(terms.tolist()), terms.sum(), rtol=1e-12)


@pytest.mark.parametrize(
    ("trial", "parent", "gain"),
    [
        (1.0, 3.0, 2.0),
        (3.0, 3.0, 0.0),
        (4.0, 3.0, 0.0),
        (NAN, 3.0, 0.0),
        (NAN, NAN, 0.0),
        (3.0, NAN, 2.0**900),
        (INF, NAN, 2.0**900),
        (3.0, INF, 2.0**900),
        (INF, INF, 0.0),
        (-INF, 3.0, 2.0**900),
        (-1e308, 1e308, 2.0**900),
    ],
)
def test_improvements(trial: float, parent: float, gain: float) -> None:
    assert improvement(trial, parent) == gain


# -- improvements as small as numbers get ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [SHADE, LSHADE, JSO])
def test_the_smallest_improvements_are_learnt_from(kind: Any) -> None:
    """By 5e-324 each: weights, not improvements, are multiplied by F and CR, or the products would vanish."""

    def steps(X: Any) -> Any:
        nonlocal left
        left -= 1
        return np.full(len(X), left * 5e-324)

    left = 1000
    plain = side_by_side(kind(pop_size=12), SEVEN, steps, max_iter=30)
    assert all(0 < F <= 1 for F in plain.M_F)
    assert None not in plain.M_CR


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("kind", [SHADE, LSHADE, JSO])
def test_memories_stay_numbers_down_to_zero(kind: Any, dtype: str) -> None:
    """Where f itself gets as small as numbers are."""
    for seed in range(3):
        m = Minimizer(kind(pop_size=30), max_iter=4000, random_state=seed, dtype=dtype, device="cpu")
        m.fit("sphere", dim=5)
        F, CR = memory(m, m.algorithm.memory_size)
        assert all(0 < value <= 1 for value in F)
        assert all(value is None or 0 <= value <= 1 for value in CR)


def test_archives_do_not_depend_on_threads() -> None:
    """Where several parents draw one row, the last of them has it, whoever writes first."""
    options: dict[str, Any] = {"max_iter": 60, "random_state": 0, "device": "cpu"}
    algorithm = SHADE(pop_size=120, archive_rate=0.05)
    one, two = (Minimizer(algorithm, n_jobs=n, **options).fit("sphere", dim=150) for n in (1, 2))
    archives = [m._fit.batch.array["archive"] for m in (one, two)]
    assert archives[0].any()
    assert np.array_equal(*archives)
    assert np.array_equal(one.population_, two.population_)
