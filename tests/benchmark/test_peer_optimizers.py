"""Optimisers of other libraries: each that is installed minimises within its budget, from its seed."""

from importlib.util import find_spec

import numpy as np
import pytest

from skde.benchmark import functions, trials
from skde.benchmark.functions import Function
from skde.benchmark.optimizers import get_optimizer
from skde.benchmark.peer_optimizers import LIBRARIES, BudgetSpent, EvaluationCounter, MinionpyOptimizer
from skde.benchmark.suites import find_suite

EVALS = 1003
# Local searches that have converged, and one run of CMA-ES, stop by themselves.
STOP = {"minionpy:L_BFGS_B", "minionpy:L_BFGS", "cma:cmaes", "fcmaes:cmaes", "fcmaes:crfmnes"}
DETERMINISTIC = {"scipy:direct"}
# They need a minute each to compile, and have a test that needs a GPU.
SLOW = {"evosax", "evox"}
INSTALLED = [
    f"{name}:{algorithm}"
    for name, library in LIBRARIES.items()
    if name not in SLOW and find_spec(library.package.module) is not None
    for algorithm in library.algorithms
]


@pytest.fixture
def sphere():
    """A sphere with its minimum away from the middle of the box, where some algorithms begin."""

    def values(X):
        return ((X - 1.75) ** 2).sum(axis=1)

    def of_lists(points):
        return values(np.array(points)).tolist()

    return Function("sphere", values, of_lists, np.array([[-5.0, 5.0]] * 3), 0.0)


def test_the_fields_libraries_are_there():
    assert set(LIBRARIES) == {"scipy", "pygmo", "minionpy", "cma", "fcmaes", "evosax", "evox"}
    assert len(LIBRARIES["minionpy"].algorithms) == 26


@pytest.mark.parametrize("name", INSTALLED)
def test_a_peer_minimises_within_its_budget(name, sphere):
    optimizer = get_optimizer(name)
    first, again, other = (optimizer.minimize(sphere, EVALS, seed) for seed in (1, 1, 2))
    assert first.best[-1] < first.best[0]
    assert first.n_evals[-1] == EVALS or name in STOP
    assert first.n_evals[-1] <= EVALS
    if not name.startswith("fcmaes:"):  # compiled parts of fcmaes have random numbers without a seed
        assert (first.best.tolist(), first.n_evals.tolist()) == (again.best.tolist(), again.n_evals.tolist())
    assert first.best.tolist() != other.best.tolist() or name in DETERMINISTIC


# -- evaluations -------------------------------------------------------------------------------------------------------


def test_evaluations_end_with_the_budget(sphere):
    evaluations = EvaluationCounter(sphere, 5)
    middle = 1.75
    assert evaluations.of_points([[middle, middle, row] for row in (6.75, 11.75, 3.75)]) == [25.0, 100.0, 4.0]
    with pytest.raises(BudgetSpent):
        evaluations.of_points([[middle, middle, row] for row in (6.75, 2.75, 1.75)])
    with pytest.raises(BudgetSpent):
        evaluations.of_point([middle] * 3)
    history = evaluations.history()
    assert history.n_evals.tolist() == [1, 3, 5, 5]
    assert history.best.tolist() == [25, 4, 1, 1]
    assert (np.diff(history.seconds) >= 0).all()


def test_evaluations_end_at_the_last_target_of_a_platform():
    reached = []
    function = Function("f", lambda X: X[:, 0], None, np.array([[0.0, 1.0]]), 0.0, solved=lambda: bool(reached))
    evaluations = EvaluationCounter(function, 100)
    evaluations.of_point([0.5])
    reached.append(True)
    with pytest.raises(BudgetSpent):
        evaluations.of_point([0.25])
    assert (evaluations.count, evaluations.best) == (2, 0.25)


def test_values_that_are_not_numbers_are_no_improvements():
    function = Function("f", lambda X: np.array([np.nan, np.inf, 3.0, np.nan]), None, np.array([[0.0, 1.0]]), 0.0)
    evaluations = EvaluationCounter(function, 100)
    evaluations.of_arrays(np.zeros((4, 1)))
    assert evaluations.history().best.tolist() == [3, 3]
    assert evaluations.history().n_evals.tolist() == [3, 4]


# -- names and options -------------------------------------------------------------------------------------------------


def test_an_error_names_the_missing_library(monkeypatch):
    monkeypatch.setattr(functions, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match="'minionpy:jSO' needs minionpy, which is not installed: pip install minionpy"):
        get_optimizer("minionpy:jSO")
    with pytest.raises(ValueError, match="the suite 'cec2017' needs minionpy, which is not installed"):
        find_suite("cec2017").function("f1", 10)
    with pytest.raises(ValueError, match=r"'bbob' needs coco-experiment, .*: pip install coco-experiment"):
        find_suite("bbob").check("f1", 10)


def test_peers_options_are_checked(monkeypatch):
    monkeypatch.setattr(functions, "find_spec", lambda name: True)
    made = get_optimizer("minionpy:LSHADE", archive_size_ratio=1, bound_strategy="clip")
    assert made.text == "minionpy:LSHADE:archive_size_ratio=1,bound_strategy=clip"
    # minionpy would ignore a whole number here without a warning.
    assert isinstance(made.options["archive_size_ratio"], float)
    with pytest.raises(ValueError, match=r"parameter of 'minionpy:jSO' must be one of .*did you mean 'memory_size'"):
        get_optimizer("minionpy:jSO", memry_size=5)
    with pytest.raises(TypeError, match=r"memory_size of 'minionpy:jSO' must be an integer >= 0, got 5.5"):
        get_optimizer("minionpy:jSO", memory_size=5.5)
    with pytest.raises(ValueError, match="bound_strategy of 'minionpy:jSO' must be one of 'random'"):
        get_optimizer("minionpy:jSO", bound_strategy="mirror")
    with pytest.raises(ValueError, match=r"minionpy:jSO needs a budget of evaluations.*got '2s'"):
        trials.run_trials(trials.TrialSettings("nashed2012", "2s", 1), [get_optimizer("minionpy:jSO")], [2])


def test_runs_of_peers_have_different_seeds(monkeypatch):
    monkeypatch.setattr(functions, "find_spec", lambda name: True)
    seen = []

    def search(self, evaluations, bounds, seed):
        seen.append((bounds.shape, evaluations.limit, seed))
        evaluations.of_point([float(seed), 0.0])

    monkeypatch.setattr(MinionpyOptimizer, "search", search)
    settings = trials.TrialSettings("nashed2012", "200*dim", 3, seed=5)
    cell = trials.run_trials(settings, [get_optimizer("minionpy:JADE")], [2], ["f0"])["cells"][0]
    assert seen == [((2, 2), 400, 5), ((2, 2), 400, 6), ((2, 2), 400, 7)]
    assert (cell["best"], cell["error"], cell["n_evals"]) == ([25.0, 36.0, 49.0], [25.0, 36.0, 49.0], [1] * 3)


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["evosax:DifferentialEvolution", "evosax:CMA_ES", "evox:DE", "evox:PSO"])
def test_peers_of_a_gpu_minimise(name, sphere):
    pytest.importorskip(name.partition(":")[0])
    optimizer = get_optimizer(name, pop_size=50)
    first, again = (optimizer.minimize(sphere, 2010, 1) for _ in range(2))
    assert first.best[-1] < first.best[0]
    assert first.n_evals[-1] == 2010
    assert first.best.tolist() == again.best.tolist()
