"""Optimizers and budgets of quality experiments."""

import time

import numpy as np
import pytest

from skde.benchmark.functions import Function
from skde.benchmark.optimizers import Budget, get_optimizer
from skde.cli.arguments import algorithms


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


def test_a_run_alone_has_the_seconds_of_its_generations():
    def slow(X):
        time.sleep(0.01)
        return (X**2).sum(axis=1)

    function = Function("slow", slow, None, np.array([[-5.0, 5.0]] * 2), 0.0)
    history = get_optimizer("de", pop_size=10).minimize(function, 50, 0)
    assert history.seconds.tolist() == sorted(history.seconds)
    assert (history.seconds >= 0.01 * history.n_evals / 10).all()
