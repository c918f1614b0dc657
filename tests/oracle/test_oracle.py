"""The kernels make the decisions of the plain implementation, to the last bit, in every generation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from skde import DE, JDE, Minimizer
from skde.algorithms.base import REPAIRS
from skde.algorithms.de import strategies

from .philox import Draws
from .reference import Reference, distinct

BOX = np.array([[-1.0, 2.0], [0.0, 0.25], [-3.0, -1.0], [5.0, 9.0], [-1e-3, 1e3], [-2.0, 2.0], [0.0, 1.0]])
# More than one vector of components, and more than one block of draws.
WIDE = np.tile([[-2.0, 3.0]], (75, 1))


def pull(X: Any) -> Any:
    """Pull into a corner, so that trials leave the box."""
    return (X - BOX[: X.shape[1], 0] * 1.5).sum(axis=1) if X.shape[1] <= len(BOX) else X.sum(axis=1)


def compare(algorithm: Any, box: Any, generations: int, seed: int) -> int:
    """Run both side by side; return how many trials were accepted."""
    kernel = Minimizer(algorithm, bounds=box, max_iter=generations, random_state=seed, device="cpu")
    plain = Reference(algorithm, box, seed)
    accepted = 0
    while not kernel.stopped_:
        X = kernel.ask()
        expected = plain.ask()
        assert np.array_equal(X, expected), f"generation {plain.generation}"
        f = pull(X)
        kernel.tell(X, f)
        before = plain.x.copy()
        plain.tell(expected, f)
        accepted += int((before != plain.x).any(axis=1).sum())
        assert np.array_equal(kernel.population_, plain.x)
        assert np.array_equal(kernel.fitness_, plain.f)
    assert plain.generation == generations
    return accepted


@pytest.mark.parametrize("strategy", strategies())
@pytest.mark.parametrize("name", ["de", "jde"])
def test_strategies(name: str, strategy: str) -> None:
    kind: Any = {"de": DE, "jde": JDE}[name]
    parameters = {"F": (0.3, 0.9), "CR": 0.6} if name == "de" else {"tau_1": 0.4, "tau_2": 0.4}
    algorithm = kind(strategy, pop_size=17, p_best=0.2, **parameters)
    assert compare(algorithm, BOX, 25, seed=2**40 + 7) > 20
    assert compare(algorithm, WIDE, 4, seed=3) > 5


@pytest.mark.parametrize("repair", REPAIRS)
def test_repairs(repair: str) -> None:
    assert compare(DE("rand/1/bin", F=2.0, CR=1.0, pop_size=12, repair=repair), BOX, 30, seed=11) > 10


@pytest.mark.parametrize("CR", [0.0, 1.0])
@pytest.mark.parametrize("crossover", ["bin", "exp"])
def test_extreme_crossover_rates(crossover: str, CR: float) -> None:
    """CR = 0 takes one component, CR = 1 takes all."""
    m = Minimizer(DE(f"rand/1/{crossover}", CR=CR, pop_size=20), bounds=WIDE, max_iter=5, random_state=0, device="cpu")
    X = m.ask()
    m.tell(X, np.zeros(20))
    changed = (m.ask() != X).sum(axis=1)
    assert (changed == (1 if CR == 0 else WIDE.shape[0])).all()


def test_indices_are_distinct_and_uniform() -> None:
    """The oracle draws without replacement; so, being its equal, does the kernel."""
    n, target = 9, 4
    counts = np.zeros((5, n))
    for generation in range(4000):
        drawn = distinct(Draws(1, generation, target), n, target, 5)
        assert len({*drawn, target}) == 6
        for m, index in enumerate(drawn):
            counts[m, index] += 1
    others = [k for k in range(n) if k != target]
    assert (counts[:, target] == 0).all()
    assert min(chisquare(row[others]).pvalue for row in counts) > 1e-3


def test_smallest_populations() -> None:
    """As many individuals as the strategy draws, and the target."""
    for strategy, size in (("rand/1/bin", 4), ("rand/2/bin", 6), ("best/1/bin", 3), ("best/2/exp", 5)):
        compare(DE(strategy, pop_size=size), BOX, 20, seed=1)
