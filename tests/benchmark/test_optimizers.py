"""Optimizers, budgets and suites of quality experiments."""

from importlib.util import find_spec

import numpy as np
import pytest

from skde.benchmark import optimizers, suites, trials
from skde.benchmark.optimizers import Budget, get_optimizer, optimizer_names
from skde.benchmark.suites import find_suite
from skde.cli.arguments import algorithms

INSTALLED = [name for name in optimizer_names() if ":" in name and find_spec(name.partition(":")[0]) is not None]


@pytest.mark.parametrize(
    ("text", "evals", "seconds"),
    [
        ("300000", 300_000, None),
        ("3e5", 300_000, None),
        ("10000*dim", 70_000, None),
        ("1e4 * dim", 70_000, None),
        ("2.5s", None, 2.5),
    ],
)
def test_budget(text, evals, seconds):
    budget = Budget.read(text)
    assert (budget.evals(7), budget.seconds) == (evals, seconds)


@pytest.mark.parametrize("text", ["", "dim", "10*D", "0", "0s", "-3", "1.5", "nan", "1e4*dims", "10 000", "s"])
def test_invalid_budgets_are_refused(text):
    with pytest.raises(ValueError, match=r"budget must be .* 10000\*dim, .* 2.5s; got"):
        Budget.read(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("de,jde", [("de", {}), ("jde", {})]),
        ("de:F=0.5", [("de", {"F": 0.5})]),
        (
            "de:F=0.52,CR=0.879,strategy=rand/1/exp,pop_size=48,jde,minionpy:LSHADE",
            [
                ("de", {"F": 0.52, "CR": 0.879, "strategy": "rand/1/exp", "pop_size": 48}),
                ("jde", {}),
                ("minionpy:LSHADE", {}),
            ],
        ),
        (
            "minionpy:jSO:memory_size=6, de:F=0.3,0.9,CR=1,jde",
            [("minionpy:jSO", {"memory_size": 6}), ("de", {"F": (0.3, 0.9), "CR": 1}), ("jde", {})],
        ),
        ("de:CR=1,F=0.3,0.9", [("de", {"CR": 1, "F": (0.3, 0.9)})]),
    ],
)
def test_algorithms_are_read(text, expected):
    assert algorithms(text) == expected


def test_an_algorithms_text_reads_as_itself():
    text = "de:strategy=rand/1/exp,F=0.3,0.9,pop_size=48"
    ((name, parameters),) = algorithms(text)
    assert get_optimizer(name, **parameters).text == text


@pytest.mark.parametrize("name", ["lshade", "jso"])
def test_a_population_that_shrinks_needs_evaluations(name):
    own = get_optimizer(name, F_start=0.4)
    own.check_budget(Budget.read("100*dim"))
    with pytest.raises(ValueError, match=f"{name}:F_start=0.4 needs a budget of evaluations"):
        own.check_budget(Budget.read("2.5s"))


# -- peers and suites --------------------------------------------------------------------------------------------------


def test_an_error_names_the_missing_library(monkeypatch):
    for module in (optimizers, suites):
        monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match="'minionpy:jSO' needs minionpy, which is not installed: pip install minionpy"):
        get_optimizer("minionpy:jSO")
    with pytest.raises(ValueError, match="'pygmo:sade' needs pygmo, which is not installed"):
        get_optimizer("pygmo:sade")
    with pytest.raises(ValueError, match="the suite 'cec2017' needs minionpy, which is not installed"):
        find_suite("cec2017").function("f1", 10)


def test_peers_options_are_checked(monkeypatch):
    monkeypatch.setattr(optimizers, "find_spec", lambda name: True)
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
        trials.run(trials.Settings("nashed2012", "2s", 1), [get_optimizer("minionpy:jSO")], [2])


def test_runs_of_peers_have_different_seeds(monkeypatch):
    monkeypatch.setattr(optimizers, "find_spec", lambda name: True)
    seen = []

    def minimize(self, function, evals, seed):
        seen.append((function.of_lists([[3.0, 4.0]]), evals, seed))
        return float(seed), evals

    monkeypatch.setattr(optimizers.MinionpyOptimizer, "minimize", minimize)
    cell = trials.run(
        trials.Settings("nashed2012", "200*dim", 3, seed=5), [get_optimizer("minionpy:JADE")], [2], ["f0"]
    )["cells"][0]
    assert seen == [([25.0], 400, 5), ([25.0], 400, 6), ([25.0], 400, 7)]
    assert (cell["best"], cell["error"], cell["n_evals"]) == ([5.0, 6.0, 7.0], [5.0, 6.0, 7.0], [400] * 3)


def test_installed_peers_minimise():
    for name in INSTALLED:
        pop_size = {"pop_size": 20} if name == "pygmo:sade" else {"population_size": 20}
        settings = trials.Settings("nashed2012", "3000", 2)
        cell = trials.run(settings, [get_optimizer(name, **pop_size)], [2], ["f0"])["cells"][0]
        assert max(cell["error"]) < 1e-3
        assert cell["best"][0] != cell["best"][1]
        assert all(3000 <= n_evals <= 3005 for n_evals in cell["n_evals"])  # the last population may go beyond


def test_cec2017():
    suite = find_suite("cec2017")
    assert len(suite.functions) == 29
    assert "f2" not in suite.functions
    with pytest.raises(ValueError, match="dims of 'cec2017' must be of 10, 30, 50, 100; got 20"):
        suite.function("f1", 20)
    if find_spec("minionpy") is not None:
        function = suite.function("f5", 10)
        points = np.random.default_rng(0).uniform(-100, 100, (suites.BLOCK + 9, 10)).tolist()
        assert function.of_lists(points) == function.objective(np.array(points)).tolist()
        assert (function.dim, function.f_opt) == (10, 500.0)
        assert min(function.of_lists(points)) > 500
        record = trials.run(trials.Settings("cec2017", "400", 2), [get_optimizer("jde")], [10], ["f5"])
        cell = record["cells"][0]  # ten digits of each number
        assert cell["error"][0] == pytest.approx(cell["best"][0] - 500, abs=1e-6)


@pytest.mark.parametrize("suite", ["nashed2012", "qin2012"])
def test_both_forms_of_a_function_agree(suite):
    for name in find_suite(suite).functions:
        function = find_suite(suite).function(name, 3)
        points = [[0.5, -1.0, 0.25], [1.0, 1.0, 1.0]]
        assert function.of_lists(points) == function.objective(np.array(points)).tolist()
