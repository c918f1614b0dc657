"""Kernels make the decisions of the NumPy implementation in every generation, to the last bit."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from skde import DE, JADE, JDE, JSO, LSHADE, PSO, SHADE, Minimizer
from skde.algorithms.base import REPAIRS
from skde.algorithms.de import strategies

from .philox import Draws
from .reference import distinct
from .side_by_side import SEVEN, WIDE, bowl, corner, holes, plateau, side_by_side

KINDS: dict[str, Any] = {
    "de": DE,
    "jde": JDE,
    "jade": JADE,
    "shade": SHADE,
    "lshade": LSHADE,
    "jso": JSO,
    "pso": PSO,
}
BOXES = {"one": SEVEN[:1], "two": SEVEN[:2], "seven": SEVEN, "wide": WIDE}


@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize("name", KINDS)
def test_algorithms(name: str, box: str) -> None:
    """Default parameters; small populations, and one of more than 128, where sums are folded."""
    for seed, (pop_size, max_iter) in enumerate(((4, 30), (17, 20), (150, 5))):
        many = max_iter if box != "wide" else 2
        for objective in (corner(BOXES[box]), bowl(BOXES[box])):
            side_by_side(KINDS[name](pop_size=pop_size), BOXES[box], objective, seed=2**40 + seed, max_iter=many)


@pytest.mark.parametrize("name", KINDS)
def test_nothing_succeeds(name: str) -> None:
    """On a plateau trials are accepted, and nothing is learnt from them."""
    plain = side_by_side(KINDS[name](pop_size=12), SEVEN, plateau, max_iter=15)
    assert not getattr(plain, "archive", [])


@pytest.mark.parametrize("name", sorted({*KINDS} - {"de", "jde"}))
def test_values_that_are_no_numbers(name: str) -> None:
    """NaN is never the best, and any number replaces it; an infinite improvement is learnt from like others."""
    for seed in range(6):
        seen: set[str] = set()

        def objective(X: Any, seen: set[str] = seen) -> Any:
            f = holes(X)
            seen.update(str(v) for v in f if not np.isfinite(v))
            return f

        side_by_side(KINDS[name](pop_size=25), SEVEN[:3], objective, seed=seed, max_iter=15)
        assert seen == {"nan", "inf", "-inf"}


def accepted(algorithm: Any, box: Any, generations: int, seed: int) -> int:
    """Run both side by side; return how many trials were accepted."""
    populations: list[Any] = []
    side_by_side(
        algorithm,
        box,
        corner(box),
        seed,
        check=lambda kernel, plain: populations.append(plain.x.copy()),
        max_iter=generations,
    )
    return sum(int((after != before).any(axis=1).sum()) for before, after in pairwise(populations))


@pytest.mark.parametrize("strategy", strategies())
@pytest.mark.parametrize("name", ["de", "jde"])
def test_strategies(name: str, strategy: str) -> None:
    parameters = {"F": (0.3, 0.9), "CR": 0.6} if name == "de" else {"tau_1": 0.4, "tau_2": 0.4}
    algorithm = KINDS[name](strategy, pop_size=17, p_best=0.2, **parameters)
    assert accepted(algorithm, SEVEN, 25, seed=2**40 + 7) > 20
    assert accepted(algorithm, WIDE, 4, seed=3) > 5


@pytest.mark.parametrize("repair", REPAIRS)
def test_repairs(repair: str) -> None:
    assert accepted(DE("rand/1/bin", F=2.0, CR=1.0, pop_size=12, repair=repair), SEVEN, 30, seed=11) > 10


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
        accepted(DE(strategy, pop_size=size), SEVEN, 20, seed=1)
