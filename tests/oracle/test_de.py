"""Strategies with all repairs, values that are not numbers, runs of a batch, indices read off a kernel's trials."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from skde import DE, JDE, Minimizer
from skde.algorithms.base import REPAIRS
from skde.algorithms.de import strategies
from skde.testing.base import PROBE_CALLS

from . import reference
from .reference import Reference

BOX = np.array([[-1.0, 2.0], [0.0, 0.25], [-3.0, -1.0], [5.0, 9.0], [-1e-3, 1e3]])
NAN, INF = math.nan, math.inf


class NanAware(Reference):
    """The plain implementation, with NaN worse than any number and replaced by anything."""

    def ask(self) -> Any:
        """The trials; the best is found by ranks instead of values."""
        values = self.f
        if values is not None:
            order = sorted(range(len(values)), key=lambda k: (math.isnan(values[k]), values[k], k))
            self.f = np.argsort(order)
        trials = super().ask()
        self.f = values
        return trials

    def tell(self, trials: Any, f: Any) -> None:
        """Selection, which notes down what was accepted."""
        if self.f is not None:
            self.accepted = np.isnan(self.f) | (f <= self.f)
            # The plain rule knows numbers only: what must be accepted becomes less, what must not becomes more.
            plain, self.f = np.where(self.accepted, -1.0, 1.0), np.zeros(len(f))
            values = np.where(self.accepted, f, self.before)
            super().tell(trials, plain)
            self.f = values
        else:
            super().tell(trials, f)
        self.before = self.f.copy()


def corner(X: Any) -> Any:
    """Pull out of the box, at the corner where all are low; in any scale of the variables."""
    return ((X - BOX[:, 0]) / (BOX[:, 1] - BOX[:, 0])).sum(axis=-1)


def full_of_holes(X: Any) -> Any:
    """Mostly numbers that tie now and then; NaN and both infinities in stripes."""
    where = np.floor(np.abs(X[..., 2]) * 64.0) % 8.0
    return np.select([where == 0, where == 1, where == 2], [NAN, INF, -np.floor(X[..., 0])], np.floor(X[..., 3]))


# -- strategies, repairs and runs --------------------------------------------------------------------------------------


@pytest.mark.parametrize("repair", REPAIRS)
@pytest.mark.parametrize("strategy", strategies())
@pytest.mark.parametrize("kind", [DE, JDE])
def test_every_strategy_with_every_repair(
    kind: Any, strategy: str, repair: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trials, decisions and populations, generation by generation; many components leave the box."""
    repaired: list[float] = []
    plainly = reference.repaired

    def counting(*arguments: Any) -> float:
        repaired.append(plainly(*arguments))
        return repaired[-1]

    monkeypatch.setattr(reference, "repaired", counting)
    # F up to 2 and a narrow box: reflecting once is not always enough.
    own = {"tau_1": 0.3, "tau_2": 0.6} if kind is JDE else {"CR": 0.7}
    algorithm = kind(strategy=strategy, pop_size=10, F=(0.4, 2.0), p_best=0.3, repair=repair, **own)
    kernel = Minimizer(algorithm, bounds=BOX, max_iter=6, random_state=7, device="cpu", execution="step")
    plain = NanAware(algorithm, BOX, 7)
    accepted = 0
    while not kernel.stopped_:
        X, expected = kernel.ask(), plain.ask()
        assert np.array_equal(X, expected), f"trials of generation {plain.generation}"
        before = kernel.population_ if plain.generation else None
        f = corner(X)
        kernel.tell(X, f)
        plain.tell(expected, f)
        if before is not None:
            moved = (kernel.population_ != before).any(axis=1)
            assert np.array_equal(moved, plain.accepted & (expected != before).any(axis=1))
            accepted += int(moved.sum())
        assert np.array_equal(kernel.population_, plain.x)
        assert np.array_equal(kernel.fitness_, plain.f)
    assert plain.generation == 6
    assert len(repaired) > 5
    assert accepted > 0


@pytest.mark.parametrize("strategy", strategies())
@pytest.mark.parametrize("kind", [DE, JDE])
def test_values_that_are_no_numbers(kind: Any, strategy: str) -> None:
    """NaN is never the best, and any number replaces it; infinities are numbers like others."""
    algorithm = kind(strategy=strategy, pop_size=16, p_best=0.4)
    kernel = Minimizer(algorithm, bounds=BOX, max_iter=12, random_state=1, device="cpu")
    plain = NanAware(algorithm, BOX, 1)
    seen = set()
    while not kernel.stopped_:
        X, expected = kernel.ask(), plain.ask()
        assert np.array_equal(X, expected)
        f = full_of_holes(X)
        seen |= {str(v) for v in f if not math.isfinite(v)}
        kernel.tell(X, f)
        plain.tell(expected, f)
        assert np.array_equal(kernel.population_, plain.x)
        assert np.array_equal(kernel.fitness_, plain.f, equal_nan=True)
    assert seen == {"nan", "inf"}
    assert kernel.fun_ == np.nanmin(plain.f)


@pytest.mark.parametrize("p_best", [0.1, 0.3, 0.6])
def test_nan_ranks_last(p_best: float) -> None:
    """Where half of a population is NaN, anywhere in it, pbest is drawn from the other half first."""
    algorithm = DE("current-to-pbest/1/bin", pop_size=14, p_best=p_best)
    for seed in range(20):
        f = np.random.default_rng(seed).permutation([*range(7), *[NAN] * 7])
        kernel = Minimizer(algorithm, bounds=BOX, max_iter=1, random_state=seed, device="cpu")
        plain = NanAware(algorithm, BOX, seed)
        kernel.tell(kernel.ask(), f)
        plain.tell(plain.ask(), f)
        assert np.array_equal(kernel.ask(), plain.ask())


@pytest.mark.parametrize("kind", [DE, JDE])
def test_every_run_of_a_batch(kind: Any) -> None:
    """Runs have different strategies and population sizes."""
    algorithms = [
        kind("rand/2/exp", pop_size=9),
        kind("current-to-pbest/1/bin", pop_size=14, p_best=0.5, repair="random"),
        kind("current-to-rand/1", pop_size=4, repair="periodic"),
    ]
    kernel = Minimizer(algorithms, bounds=BOX, n_runs=3, max_iter=8, random_state=2, device="cpu")
    plain: list[Reference] = []
    while not kernel.stopped_:
        asked = kernel.ask()
        f = corner(asked)
        kernel.tell(asked, f)
        plain = plain or [Reference(a, BOX, run.seed) for a, run in zip(algorithms, kernel.runs_, strict=True)]
        for r, run in enumerate(plain):
            expected, n = run.ask(), algorithms[r].pop_size
            assert np.array_equal(asked[r, :n], expected)
            run.tell(expected, f[r, :n])
    assert [run.generation for run in plain] == [8, 8, 8]
    assert [run.fun for run in kernel.runs_] == [run.f.min() for run in plain]


# -- selection ---------------------------------------------------------------------------------------------------------

# Parent, trial, whether the trial takes the parent's place.
SELECTION = [
    (1.0, 0.5, True),
    (1.0, 1.0, True),
    (1.0, 1.5, False),
    (1.0, NAN, False),
    (1.0, INF, False),
    (1.0, -INF, True),
    (NAN, 1.0, True),
    (NAN, INF, True),
    (NAN, NAN, True),
    (INF, INF, True),
    (INF, NAN, False),
    (INF, 1.0, True),
    (-INF, -INF, True),
    (-INF, -1e30, False),
    (-INF, NAN, False),
    (0.0, -0.0, True),
    (-0.0, 0.0, True),
]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_replacement_of_targets(dtype: str) -> None:
    parents, trials, accepted = (np.array(column) for column in zip(*SELECTION, strict=True))
    m = Minimizer(DE(pop_size=len(SELECTION)), bounds=BOX, max_iter=3, random_state=0, dtype=dtype, device="cpu")
    first = m.ask()
    second = m.tell(first, parents).ask()
    assert (first != second).any(axis=1).all()
    m.tell(second, trials)
    assert np.array_equal(m.population_, np.where(accepted[:, None], second, first))
    expected = np.where(accepted, trials, parents).astype(dtype)
    assert np.array_equal(m.fitness_, expected, equal_nan=True)


@pytest.mark.parametrize(
    ("values", "best"),
    [
        ([3.0, 1.0, 2.0, 5.0], 1),
        ([3.0, 1.0, 1.0, 1.0], 1),
        ([NAN, 3.0, 1.0, 1.0], 2),
        ([NAN, NAN, NAN, 7.0], 3),
        ([NAN, INF, INF, NAN], 1),
        ([INF, INF, INF, INF], 0),
        ([INF, NAN, -INF, -INF], 2),
        ([0.0, -0.0, 0.0, 0.0], 0),
    ],
)
def test_choice_of_the_best(values: list[float], best: int) -> None:
    """With F = 0 and CR = 1 every trial of best/1 is the best."""
    m = Minimizer(DE("best/1/bin", F=0.0, CR=1.0, pop_size=4), bounds=BOX, max_iter=3, random_state=0, device="cpu")
    X = m.ask()
    trials = m.tell(X, values).ask()
    assert np.array_equal(trials, np.tile(X[best], (4, 1)))
    assert np.array_equal(m.x_, X[best])


# -- indices -----------------------------------------------------------------------------------------------------------


def drawn(strategy: str, n: int, n_runs: int) -> Any:
    """Every individual's coefficient in every trial of the first generation, of shape (runs, n, n).

    Individual i is at 8^i, F is 2 and all components are crossed: a trial's digits to the base of 8 are 1 for the
    base vector, 2 for what is added and -2 for what is taken away, all without rounding.
    """
    seen: list[Any] = []

    def flat(X: Any) -> Any:
        seen.append(X.copy())
        return np.zeros(len(X))

    x0 = 8.0 ** np.arange(n)[:, None]
    m = Minimizer(DE(strategy, F=2.0, CR=1.0, pop_size=n), n_runs=n_runs, max_iter=1, random_state=11, device="cpu")
    m.fit(flat, bounds=[(-(2.0**50), 2.0**50)], x0=x0)
    first, second = (X.reshape(n_runs, n) for X in seen[PROBE_CALLS:])
    assert np.array_equal(first, np.broadcast_to(x0[:, 0], (n_runs, n)))
    left = second.astype(np.int64)
    digits = []
    for _ in range(n):
        digits.append((left + 3) % 8 - 3)
        left = (left - digits[-1]) // 8
    assert (left == 0).all()
    return np.stack(digits, axis=-1)


@pytest.mark.parametrize(
    ("strategy", "n", "pairs"),
    [
        *(("rand/1/bin", n, 1) for n in (4, 5, 7, 12)),
        *(("rand/2/exp", n, 2) for n in (6, 7, 9)),
    ],
)
def test_indices_are_distinct_and_uniform(strategy: str, n: int, pairs: int) -> None:
    """For every target: all choices of distinct individuals other than the target, equally often."""
    digits = drawn(strategy, n, n_runs=2500)
    assert set(np.unique(digits)) <= {-2, 0, 1, 2}  # an individual drawn twice would leave another number
    for digit, times in ((1, 1), (2, pairs), (-2, pairs)):
        assert ((digits == digit).sum(axis=-1) == times).all()
    targets = np.arange(n)
    assert (digits[:, targets, targets] == 0).all()
    # Count the choices by their place among the n - 1 others, over all targets.
    others = np.stack([np.delete(digits[:, i], i, axis=-1) for i in targets])
    codes = (others + 2) @ 5 ** np.arange(n - 1)
    roles = [1] + [2] * pairs + [-2] * pairs + [0] * (n - 2 - 2 * pairs)
    choices = [(np.array(roles_of) + 2) @ 5 ** np.arange(n - 1) for roles_of in arrangements(roles)]
    counts = np.array([np.count_nonzero(codes == code) for code in choices])
    assert counts.sum() == codes.size
    assert chisquare(counts).pvalue > 1e-4
    # And one target for itself, index by index: which one is the base.
    base = (others[n // 2] == 1).sum(axis=0)
    assert chisquare(base).pvalue > 1e-4


@pytest.mark.parametrize("n", [4, 6, 7, 12])
def test_shifted_indices(n: int) -> None:
    """As in cujDE's program: at most n // 3 places after the one before, or next to the target."""
    digits = drawn("shifted-rand/1/bin", n, n_runs=2500)
    third, second, first = (np.argmax(digits == value, axis=-1) for value in (1, 2, -2))
    target = np.arange(n)
    assert (np.sort(digits, axis=-1)[..., [0, -2, -1]] == [-2, 1, 2]).all()
    for one, other in ((first, second), (second, third)):
        shift = (other - one) % n
        behind = (other - 1) % n == target
        assert (other != target).all()
        assert ((shift >= 1) & (shift <= n // 3 + behind)).all()
        assert set(np.unique(shift[~behind])) == set(range(1, n // 3 + 1))
    # The first is uniform, but for the one after the target, which is also taken for it.
    counts = np.array([np.bincount((first[:, i] - i) % n, minlength=n) for i in range(n)])
    assert (counts[:, 0] == 0).all()
    assert chisquare(counts[:, 1:].sum(axis=0), 2500 * np.array([2, *[1] * (n - 2)])).pvalue > 1e-3


def arrangements(roles: list[int]) -> list[tuple[int, ...]]:
    """Every distinct order of the roles."""
    n, found = len(roles), []
    for base in range(n):
        rest = [k for k in range(n) if k != base]
        for plus in itertools.combinations(rest, roles.count(2)):
            for minus in itertools.combinations([k for k in rest if k not in plus], roles.count(-2)):
                order = [0] * n
                order[base] = 1
                for k in plus:
                    order[k] = 2
                for k in minus:
                    order[k] = -2
                found.append(tuple(order))
    return found
