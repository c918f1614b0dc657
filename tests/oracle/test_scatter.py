"""Scatter search and the NumPy implementation: reference sets, updates, renewals, repair."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from skde import SS
from skde.algorithms import ALGORITHMS
from skde.algorithms.base import REPAIRS
from skde.algorithms.ss import UPDATES

from .scatter import Scatter
from .side_by_side import SEVEN, WIDE, bowl, corner, holes, plateau, side_by_side


def small(**parameters: Any) -> SS:
    """A search with iterations of six generations."""
    return SS(**{"pop_size": 14, "n_best": 4, "n_diverse": 1, "n_local": 5, **parameters})


def same_search(kernel: Any, plain: Scatter) -> None:
    """The state of every member's local search."""
    if plain.generation == 0:
        return
    batch = kernel._fit.batch
    half, pool = plain.generation & 1, len(plain.pool)
    arrays = dict(zip(batch.array_names, batch.array["extra"][:, half, 0, :pool], strict=True))
    assert arrays["deviation"].tolist() == [member.deviation for member in plain.pool]
    assert arrays["streak"].tolist() == [member.streak for member in plain.pool]
    assert arrays["opposite"].tolist() == [member.opposite for member in plain.pool]
    bias = batch.array["vectors"][batch.vector_names.index("bias"), half, 0, :pool]
    assert np.array_equal(bias, [member.bias for member in plain.pool])


def test_is_in_the_registry() -> None:
    assert ALGORITHMS["ss"] is SS


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("repair", REPAIRS)
def test_updates_with_every_repair(repair: str, update: str) -> None:
    algorithm = small(repair=repair, update=update, n_diverse=2)
    plain = side_by_side(algorithm, SEVEN, corner(SEVEN), seed=2**40 + 3, check=same_search, max_iter=40)
    assert plain.left > 50


@pytest.mark.parametrize(("n_best", "n_diverse"), [(1, 1), (2, 0), (1, 4), (6, 3)])
@pytest.mark.parametrize("update", UPDATES)
def test_reference_sets(update: str, n_best: int, n_diverse: int) -> None:
    """The smallest, without farthest ones, with most of them."""
    algorithm = small(update=update, n_best=n_best, n_diverse=n_diverse)
    side_by_side(algorithm, SEVEN, bowl(SEVEN), seed=3, check=same_search, max_iter=26)


@pytest.mark.parametrize("n_local", [0, 1, 2, 30])
def test_local_searches(n_local: int) -> None:
    """None at all, an iteration of even and of odd length, long enough for steps to grow and to shrink."""
    algorithm = small(n_local=n_local)
    side_by_side(algorithm, SEVEN, bowl(SEVEN), seed=4, check=same_search, max_iter=4 * (1 + n_local) + 1)


@pytest.mark.parametrize("update", UPDATES)
def test_renewals(update: str) -> None:
    """Where nothing gets into the reference set, the pool is drawn again, and only the best stays."""
    flat = side_by_side(small(update=update), SEVEN, plateau, check=same_search, max_iter=60)
    assert flat.renewals == 0  # among equals, the children come first
    lonely = side_by_side(small(update=update), SEVEN, first_is_best(), check=same_search, max_iter=60)
    assert lonely.renewals > 2


def first_is_best() -> Any:
    """Nothing is as good as the points that came first."""
    calls = iter(range(10**6))
    return lambda X: float(next(calls)) + np.arange(len(X)) / 1024.0


@pytest.mark.parametrize("update", UPDATES)
def test_the_search_as_the_paper_prints_it(update: str) -> None:
    """Steps in widths of the bounds, and no renewal: both, and each alone."""
    printed = {"restart": False, "step_unit": "bounds"}
    for parameters in (printed, {"restart": False}, {"step_unit": "bounds"}):
        side_by_side(small(update=update, **parameters), SEVEN, bowl(SEVEN), check=same_search, max_iter=26)
    lonely = side_by_side(small(update=update, **printed), SEVEN, first_is_best(), check=same_search, max_iter=60)
    assert lonely.renewals == 0


def test_values_that_are_not_numbers() -> None:
    for seed in range(5):
        side_by_side(small(), SEVEN, holes, seed=seed, check=same_search, max_iter=30)


def test_many_components_and_members() -> None:
    side_by_side(small(), WIDE, bowl(WIDE), check=same_search, max_iter=8)
    side_by_side(SS(n_local=3), SEVEN[:2], bowl(SEVEN[:2]), check=same_search, max_iter=9)


@pytest.mark.parametrize("parameters", [{"lambda_": 0.0}, {"lambda_": 0.5}, {"step": 5.0}, {"step": 1e-3}])
def test_weights(parameters: dict[str, float]) -> None:
    side_by_side(small(**parameters), SEVEN, bowl(SEVEN), check=same_search, max_iter=20)
