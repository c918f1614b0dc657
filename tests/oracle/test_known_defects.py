"""Defects that implementations of these algorithms are known for: a memory that never learns, a crossover rate off by
one component, individuals drawn twice, starts outside the bounds, scale factors that are not positive.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest, chisquare, kstest

from skde import DE, JADE, JSO, LSHADE, SHADE, Minimizer
from skde.algorithms import ALGORITHMS

from .side_by_side import SEVEN, archive, bowl, corner, memory, side_by_side

FAMILY = [JADE, SHADE, LSHADE, JSO]
each = pytest.mark.parametrize("kind", FAMILY)


def made_with(m: Minimizer, name: str) -> Any:
    """F or CR of the trials of the last ask, before tell."""
    batch = m._fit.batch
    generation = int(batch.array["generation"][0]) + 1
    return batch.array["extra"][batch.array_names.index(name), generation & 1, 0, : batch.sizes(generation)[0]]


# -- memory ------------------------------------------------------------------------------------------------------------


@each
def test_the_memory_learns(kind: Any) -> None:
    """All cells move from where they started, to where the papers' equations take them."""
    own: dict[str, Any] = {} if kind is JADE else {"memory_size": 4}
    seen: set[tuple[Any, ...]] = set()

    def check(kernel: Minimizer, plain: Any) -> None:
        learnt = memory(kernel, len(plain.M_F))
        assert learnt == (plain.M_F, plain.M_CR)
        seen.add(tuple(learnt[0]))

    algorithm = kind(pop_size=25, **own)
    plain = side_by_side(algorithm, SEVEN, bowl(SEVEN), check=check, max_iter=25)
    assert len(seen) > 15
    assert all(algorithm.F_start != F and 0 < F <= 1 for F in plain.M_F)
    assert all(algorithm.CR_start != CR and (CR is None or 0 <= CR <= 1) for CR in plain.M_CR)


@pytest.mark.parametrize("F", [0.3, 0.8])
@each
def test_the_memory_learns_what_succeeds(kind: Any, F: float) -> None:
    """Where trials with a scale factor near F always succeed and others never, the memory goes there."""
    algorithm = kind(pop_size=60, pop_min=60) if kind in (LSHADE, JSO) else kind(pop_size=60)
    m = Minimizer(algorithm, bounds=SEVEN, max_iter=400, random_state=1, device="cpu")
    m.tell(m.ask(), np.zeros(60))
    for generation in range(1, 400):
        X = m.ask()
        succeeds = np.abs(made_with(m, "F") - F) < 0.05
        m.tell(X, np.where(succeeds, -float(generation), 1.0))
    cells = 1 if kind is JADE else algorithm.memory_size
    # jSO's last cell is written like the others and read as 0.9.
    learnt = np.array(memory(m, cells)[0])
    assert (np.abs(learnt - F) < 0.05).all()


# -- F and CR ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("CR", [0.0, 0.1, 0.5, 0.9, 0.99])
def test_binomial_crossover_takes_as_many_components_as_asked(CR: float) -> None:
    """One for sure, and of all others the share CR."""
    n, d = 200, 50
    m = Minimizer(DE(F=0.3, CR=CR, pop_size=n), bounds=[(-1.0, 1.0)] * d, max_iter=1, random_state=5, device="cpu")
    X = m.ask()
    crossed = m.tell(X, np.zeros(n)).ask() != X
    assert crossed.any(axis=1).all()
    others = int(crossed.sum()) - n
    assert binomtest(others, n * (d - 1), CR).pvalue > 1e-3
    assert chisquare(crossed.sum(axis=0)).pvalue > 1e-3  # no component more often than another


@pytest.mark.parametrize("CR", [0.1, 0.5, 0.9])
def test_exponential_crossover_takes_as_many_components_as_asked(CR: float) -> None:
    """L >= k with probability CR^(k-1), at most all, in one piece."""
    n, d = 4000, 6
    algorithm = DE("rand/1/exp", F=0.3, CR=CR, pop_size=n)
    m = Minimizer(algorithm, bounds=[(-1.0, 1.0)] * d, max_iter=1, random_state=6, device="cpu")
    X = m.ask()
    crossed = m.tell(X, np.zeros(n)).ask() != X
    at_least = CR ** np.arange(d)
    expected = n * (at_least - np.append(at_least[1:], 0.0))
    length = crossed.sum(axis=1)
    counts = np.bincount(length, minlength=d + 1)
    assert counts[0] == 0
    # Lengths that are hardly ever expected count together.
    rare = max(int((expected > 5).sum()), 1)
    found, wanted = (np.append(v[:rare], v[rare:].sum()) for v in (counts[1:], expected))
    assert chisquare(found[wanted > 0], wanted[wanted > 0]).pvalue > 1e-3
    begins = crossed & ~np.roll(crossed, 1, axis=1)
    assert (begins.sum(axis=1) == (length < d)).all()


@pytest.mark.parametrize("CR", [0.3, 0.7])
@pytest.mark.parametrize("kind", [JADE, SHADE, LSHADE])
def test_drawn_crossover_rates_are_the_trials_own(kind: Any, CR: float) -> None:
    """CR is normal around the cell, and trials take the share that was drawn for them."""
    n, d = 400, 40
    algorithm = kind(CR_start=CR, pop_size=n)
    m = Minimizer(algorithm, bounds=[(-1.0, 1.0)] * d, max_iter=50, random_state=7, device="cpu")
    X = m.ask()
    f = np.arange(n, dtype=float)  # ranks are indices
    trials = m.tell(X, f).ask()
    drawn = made_with(m, "CR")
    inside = (drawn > 0) & (drawn < 1)
    assert inside.mean() > 0.98
    assert kstest((drawn[inside] - CR) / 0.1, "norm").pvalue > 1e-3
    others = (trials != X[: len(trials)]).sum(axis=1) - 1
    expected, variance = (d - 1) * drawn, (d - 1) * drawn * (1 - drawn)
    assert abs((others - expected).sum()) < 4 * np.sqrt(variance.sum())


@pytest.mark.parametrize("F_start", [0.0, 0.5, 1.0])
@each
def test_scale_factors_are_positive_and_at_most_1(kind: Any, F_start: float) -> None:
    """Not positive: drawn again. Above 1: cut. Neither is ever learnt from otherwise."""
    m = Minimizer(kind(F_start=F_start, pop_size=100), bounds=SEVEN, max_iter=20, random_state=2, device="cpu")
    objective = bowl(SEVEN)
    while not m.stopped_:
        X = m.ask()
        if m._fit.population.generation >= 0:
            F, CR = made_with(m, "F"), made_with(m, "CR")
            assert ((F > 0) & (F <= 1)).all()
            assert ((CR >= 0) & (CR <= 1)).all()
        m.tell(X, objective(X))


# -- indices -----------------------------------------------------------------------------------------------------------


def test_r1_and_r2_are_distinct_and_uniform_over_population_and_archive() -> None:
    """r1 is not i; r2 is neither i nor r1, and is in the archive as often as anywhere.

    Parents are at 8^0 ... 8^4, and all lose to trials at 8^5 ... 8^9. The trials of the next
    generation then are x_i + F (x_best - x_i) + F (x_r1 - x_r2). Their digits to the base of 8 show the drawn
    individuals.
    """
    n, n_runs = 5, 4000
    algorithm = JADE(p_best=1e-6, pop_size=n)
    box = [(-(2.0**50), 2.0**50)]
    m = Minimizer(algorithm, bounds=box, n_runs=n_runs, max_iter=2, random_state=3, device="cpu")
    values = np.broadcast_to(np.arange(n, dtype=float), (n_runs, n))
    place = 8.0 ** np.arange(2 * n)
    m.ask()
    m.tell(np.broadcast_to(place[:n, None], (n_runs, n, 1)).copy(), values)
    m.ask()
    m.tell(np.broadcast_to(place[n:, None], (n_runs, n, 1)).copy(), values - 10.0)
    u = m.ask()[..., 0]
    batch = m._fit.batch
    F = batch.array["extra"][batch.array_names.index("F"), 0]
    x, best = place[n:], place[n]
    left = np.rint((u - x) / F - (best - x)).astype(np.int64)
    digits = np.empty((n_runs, n, 2 * n), np.int64)
    for k in range(2 * n):
        digits[..., k] = (left + 3) % 8 - 3
        left = (left - digits[..., k]) // 8
    assert (left == 0).all()
    assert set(np.unique(digits)) == {-1, 0, 1}  # r1 = r2 would leave nothing
    assert ((digits == 1).sum(axis=-1) == 1).all()
    assert ((digits == -1).sum(axis=-1) == 1).all()
    r1, r2 = (digits == 1).argmax(axis=-1), (digits == -1).argmax(axis=-1)
    assert (r1 >= n).all()  # of the population, which comes after the archive here
    for i in range(n):
        pairs = np.zeros((2 * n, 2 * n))
        np.add.at(pairs, (r1[:, i], r2[:, i]), 1)
        own = n + i
        assert pairs[own].sum() == pairs[:, own].sum() == 0
        allowed = [pairs[a, b] for a in range(n, 2 * n) for b in range(2 * n) if own not in (a, b) and a != b]
        assert sum(allowed) == n_runs
        assert chisquare(allowed).pvalue > 1e-4


# -- bounds ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", ALGORITHMS)
def test_starts_and_trials_are_inside_the_bounds(name: str, dtype: str) -> None:
    """To the last bit, whatever the precision rounds to."""
    box = np.vstack([SEVEN, [[1.0, 1.0000005], [-1e30, 1e30], [1e6, 1e6 + 1]]])
    m = Minimizer(name, bounds=box, max_iter=15, random_state=4, dtype=dtype, device="cpu")
    lower, upper = box.T.astype(dtype)
    start = m.ask()
    share = (start.astype(float) - lower) / (upper.astype(float) - lower)
    assert kstest(share[:, :7].ravel(), "uniform").pvalue > 1e-3
    while not m.stopped_:
        X = m.ask()
        assert ((lower <= X) & (upper >= X)).all()
        m.tell(X, ((X - lower) / (upper - lower)).sum(axis=1))


@pytest.mark.parametrize("archive_rate", [0.2, 1.0, 3.0])
@each
def test_the_archive_holds_parents_that_lost_and_nothing_else(kind: Any, archive_rate: float) -> None:
    """Every member was replaced by a better trial; none is made up, so none is outside the bounds."""
    m = Minimizer(kind(archive_rate=archive_rate, pop_size=30), bounds=SEVEN, max_iter=30, random_state=9, device="cpu")
    objective = corner(SEVEN)
    lost: set[bytes] = set()
    most = 0
    x = f = np.empty(0)
    while not m.stopped_:
        X = m.ask()
        m.tell(X, objective(X))
        order = np.argsort(f, kind="stable")
        x, f, parents, before = m.population_, m.fitness_, x[order], f[order]
        # Individuals compete by rank; where the population shrinks, the worst parents do not compete.
        lost |= {p.tobytes() for p, old, new in zip(parents, before, f, strict=False) if new < old}
        members = archive(m)
        assert ((members >= SEVEN[:, 0]) & (members <= SEVEN[:, 1])).all()
        assert {row.tobytes() for row in members} <= lost
        most = max(most, len(members))
    assert 0 < most <= archive_rate * 30
