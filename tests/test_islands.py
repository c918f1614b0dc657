"""Islands: migration and wrong parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from skde import DE, Migration, Minimizer, Status
from skde.testing.base import same

BOX = [(-5.0, 5.0)] * 4


def squares(X: Any) -> Any:
    return (X * X).sum(axis=1)


def make(migration: Migration | None = None, **parameters: Any) -> Minimizer:
    options: dict[str, Any] = {"n_islands": 4, "max_iter": 20, "random_state": 3, "device": "cpu", **parameters}
    return Minimizer(DE(pop_size=10), migration=migration, **options)


def islands_after(migration: Migration, generations: int) -> tuple[Any, Any]:
    """Points and values of every island just before its generation `generations` + 1 is evaluated."""
    m = make(migration, bounds=BOX, max_iter=generations + 1)
    for _ in range(generations + 1):
        X = m.ask()
        m.tell(X, squares(X))
    m.ask()
    return m.population_.reshape(4, 10, 4), m.fitness_.reshape(4, 10)


def apart(generations: int) -> tuple[Any, Any]:
    return islands_after(Migration(every=1000), generations)


@pytest.mark.parametrize("n_migrants", [1, 3, 0.3, 0.05])
def test_the_best_of_the_neighbour_replace_the_worst(n_migrants: float) -> None:
    count = max(int(n_migrants * 10), 1) if isinstance(n_migrants, float) else n_migrants
    x, f = apart(5)
    y, after = islands_after(Migration("ring", every=5, n_migrants=n_migrants), 5)
    for k in range(4):
        guests = np.argsort(f[k - 1], kind="stable")[:count]
        hosts = np.argsort(f[k], kind="stable")[::-1][:count]
        expected_x, expected_f = x[k].copy(), f[k].copy()
        for guest, host in zip(guests, hosts, strict=True):
            if f[k - 1][guest] < f[k][host]:
                expected_x[host], expected_f[host] = x[k - 1][guest], f[k - 1][guest]
        assert np.array_equal(y[k], expected_x)
        assert np.array_equal(after[k], expected_f)


def test_the_best_of_all_reaches_every_island() -> None:
    _, f = apart(5)
    _, after = islands_after(Migration("full", every=5, n_migrants=2), 5)
    assert (after.min(axis=1) == f.min()).all()


@pytest.mark.parametrize("device", ["cpu", ["cpu", "cpu"], pytest.param("cuda", marks=pytest.mark.gpu)])
def test_islands_that_have_ended_send_nothing(device: Any) -> None:
    """Where migrants are so many that they are sorted, too."""
    for seed in range(6):
        m = make(
            Migration("full", every=5, n_migrants=0.9),
            n_islands=2,
            max_iter=60,
            stagnation=2,
            random_state=seed,
            device=device,
        ).set_params(algorithm=DE(pop_size=2600 if device == "cuda" else 600))
        m.fit(lambda X: 1 + squares(X - 0.3), bounds=[(0.1, 1.0)] * 10)
        assert m.fun_ >= 1
        assert (m.population_ >= 0.1).all()


def test_islands_receive_from_one_other_at_random() -> None:
    """Over many seeds every island's best goes everywhere, and never do all migrants come from two islands."""
    seen = set()
    for seed in range(40):
        m = make(Migration("random", every=1, n_migrants=1), bounds=BOX, max_iter=2, random_state=seed)
        alone = make(Migration(every=1000), bounds=BOX, max_iter=2, random_state=seed)
        for one in (m, alone):
            for _ in range(2):
                X = one.ask()
                one.tell(X, squares(X))
            one.ask()
        f, after = alone.fitness_.reshape(4, 10), m.fitness_.reshape(4, 10)
        for k in range(4):
            new = set(after[k]) - set(f[k])
            seen |= {(k, j) for j in range(4) for value in new if value == f[j].min()}
            assert len(new) <= 1
    assert seen == {(k, j) for k in range(4) for j in range(4) if k != j}


def test_random_islands_and_migrants() -> None:
    _, f = apart(5)
    _, after = islands_after(Migration(every=5, n_migrants=4, select="random", replace="random"), 5)
    for k in range(4):
        new = np.flatnonzero(after[k] != f[k])
        assert len(new) <= 4
        assert set(after[k][new]) <= set(f[k - 1])
        assert (after[k] <= f[k]).all()
    assert (after != f).any()


def test_no_migration_is_many_runs() -> None:
    """Islands that exchange nothing are the runs of their seeds."""
    m = make(Migration(every=1000)).fit(squares, bounds=BOX)
    seeds = m._fit.batch.spec.seeds
    alone = [make(None, n_islands=1, random_state=int(seed)).fit(squares, bounds=BOX) for seed in seeds]
    assert m.fun_ == min(one.fun_ for one in alone)
    assert m.n_evals_ == sum(one.n_evals_ for one in alone)
    assert np.array_equal(m.population_, np.concatenate([one.population_ for one in alone]))
    assert np.array_equal(m.history_.best, np.min([one.history_.best for one in alone], axis=0))


def test_one_island_at_the_target_ends_all_at_the_next_migration() -> None:
    m = make(Migration(every=50), max_iter=1000, target=1e-3).fit(squares, bounds=BOX)
    assert m.runs_[0].status == Status.TARGET
    assert m.n_iter_ % 50 == 0
    generation = m._fit.batch.host("generation")
    assert len(set(generation.tolist())) > 1
    assert m.converged_


def test_evaluations_are_shared() -> None:
    m = make(max_iter=None, max_evals=1000).fit(squares, bounds=BOX)
    assert m.n_evals_ == 1000
    assert m.n_iter_ == 24
    with pytest.raises(ValueError, match="population size times n_islands=4, 40, got 39"):
        make(max_iter=None, max_evals=39).fit(squares, bounds=BOX)


def test_migration_is_a_parameter() -> None:
    m = make(Migration(every=5))
    copy = clone(m).set_params(migration__every=7)
    assert (m.migration.every, copy.migration.every) == (5, 7)
    assert not same(m.fit(squares, bounds=BOX), copy.fit(squares, bounds=BOX))


@pytest.mark.parametrize(
    ("parameters", "options", "error", "message"),
    [
        ({"every": 0}, {}, ValueError, r"Migration.every must be an integer >= 1, got 0"),
        ({"every": 1.5}, {}, TypeError, r"Migration.every.*got 1.5"),
        ({"topology": "rnig"}, {}, ValueError, r"Migration.topology.*did you mean 'ring'"),
        ({"n_migrants": 10}, {}, ValueError, r"Migration.n_migrants must be below the population's size, 10, got 10"),
        ({"n_migrants": 0}, {}, ValueError, r"Migration.n_migrants must be an integer >= 1, got 0"),
        ({"n_migrants": 1.0}, {}, ValueError, r"Migration.n_migrants must be a number in \(0, 1\), got 1.0"),
        ({"select": "worst"}, {}, ValueError, r"Migration.select must be one of 'best', 'random'"),
        ({"replace": "best"}, {}, ValueError, r"Migration.replace must be one of 'worst', 'random'"),
        ({}, {"n_islands": 1}, ValueError, r"migration needs islands to go to: n_islands must be at least 2, got 1"),
        ({}, {"n_islands": 0}, ValueError, r"n_islands must be an integer in \[1, 65536\], got 0"),
    ],
)
def test_bad_input(parameters: Any, options: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make(Migration(**parameters), **options).fit(squares, bounds=BOX)
    with pytest.raises(TypeError, match="migration must be a Migration or None, got 'ring'"):
        make("ring").fit(squares, bounds=BOX)
