"""Opposition and the NumPy implementation, and the state after a generation of opposites."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import kstest
from sklearn.base import clone

from skde import DE, GADE, GODE, GOJDE, JADE, JDE, JSO, LSHADE, SADE, SHADE, Minimizer
from skde.algorithms import ALGORITHMS
from skde.algorithms.base import REPAIRS
from skde.algorithms.de import strategies
from skde.problems import get_problem

from .common import OPPOSITION
from .compare import BOXES, OBJECTIVES, bowl, check_best_survives, compare, compare_fit, corner, learned
from .opposition import Opposed
from .philox import Draws, unit

# Those that learn, and with what they get to it quickly.
LEARNING = [
    JADE(archive_rate=0.3),
    SHADE(memory_size=3),
    LSHADE(memory_size=2, archive_rate=0.5),
    JSO(memory_size=3),
    SADE(learning_period=4),
    GADE(learning_period=3),
]
each_that_learns = pytest.mark.parametrize("algorithm", LEARNING, ids=lambda algorithm: algorithm.name)


def side_by_side(algorithm: Any, dim: int, max_iter: int, seed: int, objective: Callable[[Any], Any]) -> Opposed:
    """The slow run at its end."""
    kernel = Minimizer(algorithm, bounds=BOXES[dim], max_iter=max_iter, random_state=seed, device="cpu")
    slow = Opposed(algorithm, BOXES[dim], seed, max_iter=max_iter)
    compare(kernel, slow, objective)
    assert slow.generation == max_iter
    return slow


@pytest.mark.parametrize("name", ["gode", "gojde"])
@pytest.mark.parametrize("opposition", [0.05, 0.3, 1.0])
@pytest.mark.parametrize(("dim", "pop_size", "max_iter"), [(2, 5, 80), (7, 131, 8), (75, 20, 12)])
def test_decisions(name: str, opposition: float, dim: int, pop_size: int, max_iter: int) -> None:
    """Few individuals measure the range of many components, and many of few."""
    side_by_side(ALGORITHMS[name](pop_size=pop_size, opposition=opposition), dim, max_iter, 2**40 + 7, corner)


@pytest.mark.parametrize("strategy", strategies())
@pytest.mark.parametrize("kind", [DE, JDE])
def test_decisions_with_every_strategy(kind: Any, strategy: str) -> None:
    side_by_side(kind(strategy, pop_size=11, p_best=0.3, opposition=0.4), 7, 20, 1, bowl)


def test_decisions_with_a_range_of_crossover_rates() -> None:
    """Of JDE, without opposition too."""
    for opposition in (0.0, 0.4):
        side_by_side(JDE(tau_2=0.5, CR=(0.2, 0.7), pop_size=12, opposition=opposition), 7, 20, 1, bowl)


def test_decisions_where_f_and_cr_are_kept_always() -> None:
    """Of jDE and of GOjDE: not as where they are kept after a success."""
    for algorithm in (JDE.cujde(tau_1=0.4, tau_2=0.4, pop_size=12), GOJDE(keep="always", tau_2=0.5, pop_size=12)):
        always = side_by_side(algorithm, 7, 30, 1, bowl)
        success = side_by_side(clone(algorithm).set_params(keep="success"), 7, 30, 1, bowl)
        assert (always.x != success.x).any()


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("kind", [GODE, GOJDE])
def test_decisions_on_plateaus_and_on_no_numbers(kind: Any, objective: Callable[[Any], Any]) -> None:
    side_by_side(kind("current-to-pbest/1/bin", pop_size=14, opposition=0.3), 7, 30, 3, objective)


@pytest.mark.parametrize("repair", REPAIRS)
def test_decisions_with_every_repair(repair: str) -> None:
    """Repair of the trials; opposites are repaired by a different rule."""
    slow = side_by_side(GOJDE(F=(0.4, 2.0), pop_size=10, opposition=0.5, repair=repair), 7, 20, 11, corner)
    assert slow.redrawn > 0


def test_decisions_from_given_points() -> None:
    algorithm, x0 = GOJDE(pop_size=9, opposition=0.4), BOXES[7].mean(axis=1) * [[1.0], [0.9]]
    kernel = Minimizer(algorithm, max_iter=20, random_state=4, device="cpu")
    compare_fit(kernel, Opposed(algorithm, BOXES[7], 4, x0), BOXES[7], x0, bowl)


# -- with algorithms that learn ----------------------------------------------------------------------------------------


@each_that_learns
@pytest.mark.parametrize("opposition", [0.05, 0.3, 1.0])
@pytest.mark.parametrize(("dim", "pop_size", "max_iter"), [(2, 6, 60), (7, 131, 8), (75, 20, 12)])
def test_decisions_of_those_that_learn(
    algorithm: Any, opposition: float, dim: int, pop_size: int, max_iter: int
) -> None:
    """The memory is compared, too; populations shrink also after generations of opposites."""
    algorithm = clone(algorithm).set_params(pop_size=pop_size, opposition=opposition)
    side_by_side(algorithm, dim, max_iter, 2**40 + 7, corner)


@each_that_learns
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_decisions_of_those_that_learn_on_no_numbers(algorithm: Any, objective: Callable[[Any], Any]) -> None:
    side_by_side(clone(algorithm).set_params(pop_size=15, opposition=0.3), 7, 30, 3, objective)


@pytest.mark.parametrize("kind", [LSHADE, JSO])
@pytest.mark.parametrize("max_evals", [90, 400, 401])
def test_populations_shrink_with_the_evaluations(kind: Any, max_evals: int) -> None:
    algorithm = kind(pop_size=30, pop_min=5, opposition=0.4)
    kernel = Minimizer(algorithm, bounds=BOXES[7], max_evals=max_evals, random_state=1, device="cpu")
    slow = Opposed(algorithm, BOXES[7], 1, max_evals=max_evals)
    compare(kernel, slow, bowl)
    assert kernel.n_evals_ == slow.plain.evals <= max_evals
    assert len(slow.x) < 30


@each_that_learns
def test_opposites_teach_nothing(algorithm: Any) -> None:
    """Where all generations are opposites, what is learned stays as it began, and the archive empty."""
    algorithm = clone(algorithm).set_params(pop_size=20, opposition=1.0)
    kernel = Minimizer(algorithm, bounds=BOXES[7], max_iter=20, random_state=2, device="cpu")
    X = kernel.ask()
    kernel.tell(X, bowl(X))
    # SaDE's chances and medians; all that the others have before the population's range.
    own = 7 if algorithm.name == "sade" else len(learned(kernel)) - 2 * 7
    began, best = learned(kernel)[:own], kernel.fun_
    while not kernel.stopped_:
        X = kernel.ask()
        kernel.tell(X, bowl(X))
        assert learned(kernel)[:own] == began
    assert not kernel._fit.batch.array["archive"].any()
    assert kernel.fun_ < best


@each_that_learns
def test_islands_and_ask_and_tell(algorithm: Any) -> None:
    """Islands of populations with opposites, in a fit and by halves, on the objective's compiled values."""
    algorithm = clone(algorithm).set_params(pop_size=16, opposition=0.3)
    problem = get_problem("sphere", dim=7)
    options: dict[str, Any] = {"n_islands": 3, "max_iter": 40, "random_state": 5, "device": "cpu"}
    fitted = Minimizer(algorithm, **options).fit(problem)
    halves = Minimizer(algorithm, bounds=problem.bounds, **options)
    while not halves.stopped_:
        X = halves.ask()
        halves.tell(X, problem(X))
    assert fitted.n_iter_ == 40
    assert np.array_equal(fitted.population_, halves.population_)
    assert np.array_equal(fitted.fitness_, halves.fitness_)


# -- opposite generations ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [GODE, GOJDE])
def test_opposites_lie_on_the_line_or_in_the_range(kind: Any) -> None:
    """k (a + b) - x with one k for all where that is in the box; elsewhere within the population's range."""
    lower, upper = BOXES[7].T
    kernel = Minimizer(kind(pop_size=30, opposition=1.0), bounds=BOXES[7], max_iter=15, random_state=0, device="cpu")
    X = kernel.ask()
    kernel.tell(X, corner(X))
    redrawn, scales = 0, []
    while not kernel.stopped_:
        population, X = kernel.population_.copy(), kernel.ask()
        scales.append(unit(Draws(0, len(scales) + 1, 0).block(OPPOSITION, 0)[1]))
        least, most = population.min(axis=0), population.max(axis=0)
        opposite = scales[-1] * (least + most) - population
        outside = (opposite < lower) | (opposite > upper)
        assert np.array_equal(X[~outside], opposite[~outside])
        assert ((least <= X) & (most >= X))[outside].all()
        assert ((lower <= X) & (upper >= X)).all()
        redrawn += np.count_nonzero(outside)
        kernel.tell(X, corner(X))
    assert redrawn > 100
    assert kstest(scales, "uniform").pvalue > 1e-4


@pytest.mark.parametrize("kind", [GODE, GOJDE])
def test_the_best_of_both_populations_survive(kind: Any) -> None:
    """In order, after a generation of opposites."""
    kernel = Minimizer(kind(pop_size=25, opposition=1.0), bounds=BOXES[7], max_iter=30, random_state=0, device="cpu")
    X = kernel.ask()
    kernel.tell(X, bowl(X))
    new = 0
    while not kernel.stopped_:
        x, f, X = kernel.population_.copy(), kernel.fitness_.copy(), kernel.ask()
        trials = bowl(X)
        kernel.tell(X, trials)
        assert kernel.fitness_.tolist() == sorted([*f, *trials])[:25]
        new += sum((row != x).any(axis=1).all() for row in kernel.population_)
    assert new > 25


@pytest.mark.parametrize(("opposition", "low", "high"), [(0.05, 2, 40), (0.3, 60, 120), (1.0, 300, 300)])
def test_generations_are_turned_by_chance(opposition: float, low: int, high: int) -> None:
    """Three hundred of them; on a plateau all trials are accepted, opposites none."""
    kernel = Minimizer(
        GODE(pop_size=4, opposition=opposition), bounds=BOXES[2], max_iter=300, random_state=5, device="cpu"
    )
    X = kernel.ask()
    kernel.tell(X, np.zeros(4))
    turned = 0
    while not kernel.stopped_:
        before, X = kernel.population_.copy(), kernel.ask()
        kernel.tell(X, np.zeros(4))
        turned += np.array_equal(kernel.population_, before)
    assert low <= turned <= high


@pytest.mark.parametrize("kind", [GODE, GOJDE])
def test_the_best_is_never_lost(kind: Any) -> None:
    check_best_survives(kind(pop_size=20, opposition=0.3), BOXES[7], bowl)


@pytest.mark.parametrize("algorithm", [DE, JDE, SADE, SHADE])
def test_runs_with_and_without_opposition_in_one_batch(algorithm: Any, tmp_path: Path) -> None:
    kinds = [algorithm(pop_size=12), algorithm(pop_size=12, opposition=0.4), algorithm(pop_size=12, opposition=0.1)]
    together = Minimizer(kinds, n_runs=3, max_iter=30, random_state=5, device="cpu").fit("rastrigin", dim=4)
    together.save(tmp_path / "fit.skde")
    loaded = Minimizer.load(tmp_path / "fit.skde")
    for k, one in enumerate(kinds):
        runs = Minimizer([one] * 3, n_runs=3, max_iter=30, random_state=5, device="cpu").fit("rastrigin", dim=4).runs_
        for got in (together.runs_[k], loaded.runs_[k]):
            assert got.fun == runs[k].fun
            assert np.array_equal(got.x, runs[k].x)
    assert together.runs_[0].fun != together.runs_[1].fun
