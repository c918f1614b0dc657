"""Large populations, which the kernels sort: the decisions of the NumPy implementation, with any number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from skde import (
    ARRDE,
    CHC,
    CMAES,
    DE,
    GADE,
    GODE,
    JADE,
    LSHADE,
    LSRTDE,
    NLSHADERSP,
    PSO,
    RDEX,
    SADE,
    SHADE,
    SOUPDE,
    SS,
    DeviceObjective,
    Migration,
    Minimizer,
)
from skde.constants import CONSTANTS

from .arrde import Arrde
from .compare import BOXES, compare, holes, steps
from .lsrtde import Lsrtde
from .nlshadersp import NlShadeRsp
from .opposition import Opposed
from .rdex import Rdex
from .side_by_side import side_by_side

LARGE = CONSTANTS["COUNTED_BY_CPU"] + 13
BOX = BOXES[2]


def test_decisions() -> None:
    side_by_side(SHADE(pop_size=LARGE, archive_rate=0.3), BOX, holes, seed=4, max_iter=3)
    side_by_side(DE("current-to-pbest/1/bin", pop_size=LARGE), BOX, steps, seed=4, max_iter=3)


def test_decisions_of_a_population_that_shrinks() -> None:
    """From many that are sorted to few that are counted."""
    side_by_side(LSHADE(pop_size=LARGE, pop_min=20), BOX, steps, seed=1, max_iter=5)


@pytest.mark.parametrize(("kind", "slow"), [(LSRTDE, Lsrtde), (RDEX, Rdex)])
@pytest.mark.parametrize("pop_min", [LARGE + 40, LARGE])
@pytest.mark.parametrize("objective", [holes, steps])
def test_decisions_of_two_populations(objective: Any, pop_min: int, kind: Any, slow: Any) -> None:
    """They stay large, with and without members that leave."""
    algorithm = kind(pop_size=LARGE + 40, pop_min=pop_min)
    kernel = Minimizer(algorithm, bounds=BOX, random_state=2, max_iter=6, device="cpu")
    compare(kernel, slow(algorithm, BOX, 2, max_iter=6), objective)


@pytest.mark.parametrize("objective", [holes, steps])
@pytest.mark.parametrize("pop_min", [20, LARGE])
def test_decisions_in_phases(pop_min: int, objective: Any) -> None:
    algorithm = ARRDE(pop_size=LARGE + 40, pop_min=pop_min, tol_first=1e9, tol_restart=1e9, tol_refine=1e9)
    kernel = Minimizer(algorithm, bounds=BOX, random_state=2, max_iter=9, device="cpu")
    compare(kernel, Arrde(algorithm, BOX, 2, max_iter=9), objective)


@pytest.mark.parametrize("objective", [holes, steps])
@pytest.mark.parametrize("pop_min", [4, LARGE])
def test_decisions_with_sorted_crossover_rates(pop_min: int, objective: Any) -> None:
    """From many that are sorted to few that are counted, and many throughout."""
    algorithm = NLSHADERSP(pop_size=LARGE + 40, pop_min=pop_min, memory_size=3)
    kernel = Minimizer(algorithm, bounds=BOX, random_state=2, max_iter=9, device="cpu")
    compare(kernel, NlShadeRsp(algorithm, BOX, 2, max_iter=9), objective)


def test_decisions_with_opposition() -> None:
    algorithm = JADE(pop_size=LARGE, opposition=0.6)
    kernel = Minimizer(algorithm, bounds=BOX, random_state=3, max_iter=4, device="cpu")
    compare(kernel, Opposed(algorithm, BOX, 3, max_iter=4), steps)


def test_decisions_of_a_large_pool() -> None:
    algorithm = SS(pop_size=LARGE, n_best=20, n_diverse=4, n_local=1, update="quality_and_diversity")
    side_by_side(algorithm, BOX, steps, seed=5, max_iter=4)


MANY = CONSTANTS["COUNTED_BY_GPU"] + 100
ALGORITHMS = [
    DE("best/1/bin", pop_size=MANY),
    DE("current-to-pbest/1/bin", pop_size=MANY),
    JADE(pop_size=MANY),
    LSHADE(pop_size=MANY, pop_min=MANY - 40, archive_rate=0.4),
    LSHADE(pop_size=MANY, pop_min=500, archive_rate=0.4),
    NLSHADERSP(pop_size=MANY, pop_min=MANY - 40, archive_rate=0.4),
    NLSHADERSP(pop_size=MANY),
    ARRDE(pop_size=MANY, tol_first=1e9, tol_restart=1e9, tol_refine=1e9),
    ARRDE(pop_size=MANY, pop_min=MANY - 40),
    LSRTDE(pop_size=MANY, pop_min=MANY - 40),
    RDEX(pop_size=MANY, pop_min=MANY - 40, exploit_from=0.3),
    SADE(pop_size=MANY),
    GADE(pop_size=MANY, learning_period=2),
    SOUPDE(100, pop_size=MANY, shuffle=1.0),
    CHC(pop_size=MANY, bits=1),
    PSO(pop_size=MANY),
    GODE(pop_size=MANY, opposition=0.4),
    JADE(pop_size=MANY, opposition=0.4),
    SS(pop_size=MANY, n_best=45, n_diverse=3, n_local=2, update="quality_and_diversity"),
    CMAES(pop_size=MANY),
]
names = [f"{algorithm.name}-{k}" for k, algorithm in enumerate(ALGORITHMS)]


def fit(algorithm: Any, objective: Any = "rastrigin", **options: Any) -> Minimizer:
    """Return a fit in which threads share a population."""
    return Minimizer(algorithm, max_iter=8, random_state=0, **{"device": "cpu", "n_jobs": 1, **options}).fit(
        objective, **({"dim": 5} if isinstance(objective, str) else {"bounds": [(-4, 4)] * 5})
    )


def same(first: Minimizer, second: Minimizer) -> bool:
    """Whether two fits ended with the same bits."""
    pairs = zip(first.runs_, second.runs_, strict=True)
    runs = all(np.array_equal(a.x, b.x) and a.fun == b.fun and a.n_evals == b.n_evals for a, b in pairs)
    return runs and np.array_equal(first.population_, second.population_)


# Few values, so that equal ones are in the pieces of several threads.
TERRACES = DeviceObjective("return floor(x[0] + x[1] * x[2]);")


@pytest.mark.parametrize("objective", ["rastrigin", TERRACES])
@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=names)
def test_threads_sort_together(algorithm: Any, objective: Any) -> None:
    assert same(fit(algorithm, objective), fit(algorithm, objective, n_jobs=3))


@pytest.mark.parametrize("topology", ["ring", "full", "random"])
@pytest.mark.parametrize("migrants", [{}, {"select": "random"}, {"replace": "random"}])
def test_islands_sort_their_migrants(topology: str, migrants: dict[str, str]) -> None:
    options = {"n_islands": 3, "migration": Migration(topology, every=3, n_migrants=0.3, **migrants)}
    few, many = (fit(SHADE(pop_size=MANY // 3), n_jobs=jobs, **options) for jobs in (1, 3))
    assert same(few, many)


@pytest.mark.gpu
@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=names)
def test_a_gpu_sorts_alike(algorithm: Any) -> None:
    assert same(fit(algorithm), fit(algorithm, device="cuda"))


@pytest.mark.gpu
@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=names)
def test_a_gpu_sorts_alike_by_steps(algorithm: Any) -> None:
    def ridge(X: Any) -> Any:
        return np.floor(8 * (X[:, 0] + 0.5 * X[:, 1] * X[:, 2])) * X[:, 3]

    def on_gpu(X: Any) -> Any:
        import cupy

        return cupy.floor(8 * (X[:, 0] + 0.5 * X[:, 1] * X[:, 2])) * X[:, 3]

    assert same(fit(algorithm, ridge), fit(algorithm, on_gpu, device="cuda", execution="step"))


@pytest.mark.gpu
@pytest.mark.parametrize("topology", ["ring", "full"])
def test_islands_on_a_gpu_sort_alike(topology: str) -> None:
    options = {"n_islands": 2, "migration": Migration(topology, every=3, n_migrants=0.5)}
    algorithm = JADE(pop_size=MANY)
    assert same(fit(algorithm, **options), fit(algorithm, device="cuda", **options))
