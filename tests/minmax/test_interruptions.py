"""Interruptions within a cycle: what was evaluated is kept, counts, and is not evaluated again."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import NonlinearConstraint

from skde import Checkpoint, ConstrainedProblem, MinMaxSolver, Status, get_problem
from skde.utils import serialization
from skde.utils.serialization import json_view

from .games import BOX, game, make, same, side

SMALL: dict[str, Any] = {"max_iter": 2, "gens_x": 1, "gens_y": 2, "archive_size": 2}
FIRST = 144  # pairs of cycle 0


def pair(x: Any, y: Any) -> float:
    return float(game(x[None], y[None])[0, 0])


def new(**parameters: Any) -> MinMaxSolver:
    return make(algorithm_x=side("de"), **{**SMALL, "pairwise": True, **parameters})


class Breaking:
    """A function of one pair that raises at some of its calls.

    Parameters
    ----------
    breaks : dict of int to exception
        The exceptions, by the number of the call.
    """

    def __init__(self, breaks: dict[int, BaseException]) -> None:
        self.breaks, self.calls = breaks, 0
        self.seen: list[tuple[Any, Any, float]] = []

    def __call__(self, x: Any, y: Any) -> float:
        self.calls += 1
        if self.calls in self.breaks:
            raise self.breaks[self.calls]
        self.seen.append((x.copy(), y.copy(), pair(x, y)))
        return self.seen[-1][2]


def saved(m: MinMaxSolver, path: Path) -> MinMaxSolver:
    m.save(path)
    return MinMaxSolver.load(path)


AGAIN: dict[str, Callable[[MinMaxSolver, Path], MinMaxSolver]] = {
    "in memory": lambda m, path: m,
    "file": saved,
    "pickle": lambda m, path: pickle.loads(pickle.dumps(m)),
}


@pytest.mark.parametrize("again", AGAIN)
@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
@pytest.mark.parametrize("call", [1, 2, 30, 144, 145, 200, 500, 801, 1400])
def test_values_before_an_interruption_are_kept(call: int, error: Any, again: str, tmp_path: Path) -> None:
    whole, f = new().fit(pair, BOX, BOX), Breaking({call: error()})
    assert whole.n_evals_ > 1400
    m = new()
    with pytest.raises(error):
        m.fit(f, BOX, BOX)
    if call > 1:
        for _ in range(2):
            assert m.n_evals_ == m.result_.nfev == m.history_.n_evals[-1] == call - 1
            assert m.fun_ == pair(m.x_, m.y_) == m.history_.best[-1]
            assert m.runs_[0].status == (Status.INTERRUPTED if error is KeyboardInterrupt else Status.RUNNING)
            m = AGAIN[again](m, tmp_path / "fit")
    assert same(m.resume(f), whole)
    assert len(f.seen) == m.n_evals_ == whole.n_evals_


def test_the_best_of_an_incomplete_first_cycle() -> None:
    """Of the x with the most opponents, the one with the smallest worst value."""
    m, f = new(), Breaking({41: ZeroDivisionError()})
    with pytest.raises(ZeroDivisionError):
        m.fit(f, BOX, BOX)
    rows = [f.seen[12 * k : 12 * (k + 1)] for k in range(3)]
    strongest = [max(row, key=lambda one: one[2]) for row in rows]
    x, y, value = min(strongest, key=lambda one: one[2])
    assert m.x_.tolist() == x.tolist()
    assert m.y_.tolist() == y.tolist()
    assert m.fun_ == value


@pytest.mark.parametrize("parameters", [{"n_runs": 3, "target": 2.0}, {"dtype": "float32"}, {"archive_size": 0}])
def test_many_interruptions_change_no_bit(parameters: dict[str, Any], tmp_path: Path) -> None:
    """Calls that compare the runs are made when results are read, and do not count."""
    whole = new(**parameters).fit(pair, BOX, BOX)
    f = Breaking({call: ZeroDivisionError() for call in range(7, 10_000, 213)})
    m = new(**parameters)
    with pytest.raises(ZeroDivisionError):
        m.fit(f, BOX, BOX)
    for _ in range(1000):
        assert sum(run.n_evals for run in m.runs_) == len(f.seen)
        m = saved(m, tmp_path / "fit")
        assert sum(run.n_evals for run in m.runs_) == len(f.seen)
        try:
            m.resume(f)
            break
        except ZeroDivisionError:
            pass
    assert same(m, whole)
    assert len(f.seen) == sum(run.n_evals for run in whole.runs_)


def test_arrays_of_pairs_of_other_runs_are_kept(tmp_path: Path) -> None:
    """A function of arrays is called once for every run: an interruption loses one call."""
    calls: Counter[int] = Counter()

    def f(X: Any, Y: Any) -> Any:
        calls["all"] += 1
        if calls["all"] in (3 + 2, 3 + 12):  # after three calls that find the form out
            raise KeyboardInterrupt
        calls["pairs"] += len(X) * len(Y)
        return game(X, Y)

    parameters: dict[str, Any] = {"n_runs": 3, "pairwise": False}
    whole, m = new(**parameters).fit(game, BOX, BOX), new(**parameters)
    with pytest.raises(KeyboardInterrupt):
        m.fit(f, BOX, BOX)
    before = calls["pairs"]
    counted = [run.n_evals for run in m.runs_]
    assert sum(counted) > 0
    assert sum(counted) % FIRST == 0
    m = saved(m, tmp_path / "fit")
    assert [run.n_evals for run in m.runs_] == counted
    with pytest.raises(KeyboardInterrupt):
        m.resume(f)
    assert same(m.resume(game), whole)
    assert before >= sum(counted)


@pytest.mark.parametrize("again", AGAIN)
@pytest.mark.parametrize("stop", [3, 7, 20])
def test_pairs_told_in_parts_count_and_are_kept(stop: int, again: str, tmp_path: Path) -> None:
    whole = new().fit(pair, BOX, BOX)
    m, told = new(bounds_x=BOX, bounds_y=BOX), 0
    for _ in range(stop):
        X, Y = m.ask(5)
        m.tell(X, Y, game(X, Y))
        told += len(X) * len(Y)
        assert m.n_evals_ == told or stop == 20  # the incumbent may equal another row, which then has its values
    told = m.n_evals_
    m = AGAIN[again](m, tmp_path / "fit")
    assert m.n_evals_ == told
    f = Breaking({})
    m.resume(f)
    assert same(m, whole)
    assert len(f.seen) + told == whole.n_evals_


def test_ask_goes_on_after_a_file(tmp_path: Path) -> None:
    """Rows with all their values are not handed out again."""
    m, told = new(bounds_x=BOX, bounds_y=BOX), 0
    while not m.stopped_:
        X, Y = m.ask(7)
        assert len(X)
        m.tell(X, Y, game(X, Y))
        told += len(X) * len(Y)
        m = saved(m, tmp_path / "fit")
    assert same(m, new().fit(pair, BOX, BOX))
    assert told <= m.n_evals_  # the incumbent may equal another row, which then has its values


@pytest.mark.parametrize("call", [1, 20, 25, 40, 70])
def test_points_of_a_constrained_problem_are_kept(call: int) -> None:
    seen: list[bytes] = []
    breaks = {call, call + 1}

    def f(x: Any) -> float:
        if len(seen) + 1 in breaks:
            breaks.discard(len(seen) + 1)
            raise ZeroDivisionError
        seen.append(x.tobytes())
        return float(x[0] + x[1])

    def problem(f: Any) -> ConstrainedProblem:
        inside = NonlinearConstraint(lambda x: x[..., 0] ** 2 + x[..., 1] ** 2, -np.inf, 1.0)
        return ConstrainedProblem(f, [(-2, 2)] * 2, inside, vectorized=False)

    whole = new(pairwise="auto").fit(problem(lambda x: float(x[0] + x[1])))
    m = new(pairwise="auto")
    with pytest.raises(ZeroDivisionError):
        m.fit(problem(f))
    for _ in range(2):
        assert m.__sklearn_is_fitted__() == (len(seen) > 0)
        if seen:
            assert m.n_evals_ == len(seen)
            assert np.isfinite(m.x_).all()
            assert m.max_violation_ == max(m.x_[0] ** 2 + m.x_[1] ** 2 - 1, 0)
        if breaks:
            with pytest.raises(ZeroDivisionError):
                m.resume()
    assert same(m.resume(), whole)
    assert len(seen) == whole.n_evals_


def test_a_callback_may_save_and_end_within_a_cycle(tmp_path: Path) -> None:
    import time

    seen: list[int] = []

    def slow(x: Any, y: Any) -> float:
        time.sleep(0.004)
        return pair(x, y)

    def ends(progress: Any) -> int:
        seen.append(progress.n_evals)
        assert progress.fun == pair(progress.x[:3], progress.x[3:]) == progress.funs.min()
        return len(seen)

    m = new(callbacks=[Checkpoint(tmp_path / "fit", every=0.0), ends]).fit(slow, BOX, BOX)
    assert 5 <= m.n_evals_ == seen[0] < FIRST
    assert m.runs_[0].status == Status.CALLBACK
    loaded, f = MinMaxSolver.load(tmp_path / "fit"), Breaking({})
    assert loaded.n_evals_ == seen[0]
    whole = new().fit(pair, BOX, BOX)
    assert same(loaded.resume(f), whole)
    assert len(f.seen) == whole.n_evals_ - seen[0]


def test_what_other_workers_finished_is_kept(tmp_path: Path) -> None:
    def f(x: Any, y: Any) -> float:
        with open(tmp_path / "log", "a") as file:
            file.write(f"{x.tobytes().hex()}\n")
        if x[0] > 0 and not (tmp_path / "again").exists():
            raise ZeroDivisionError(f"broken at {x[0]}")
        return float(((x - 0.5) ** 2 - (y + 0.5) ** 2 + x * y).sum())

    m = new(n_jobs=2, max_iter=0)
    with pytest.raises(ZeroDivisionError, match="broken at"):
        m.fit(f, BOX, BOX)
    before = (tmp_path / "log").read_text().split()
    raised = sum(np.frombuffer(bytes.fromhex(x))[0] > 0 for x in before)
    assert m._fit.incomplete_evals.sum() == len(before) - raised
    (tmp_path / "again").touch()
    assert m.resume().n_evals_ == FIRST
    assert len((tmp_path / "log").read_text().split()) == FIRST + raised


def test_several_devices_keep_what_was_evaluated(tmp_path: Path) -> None:
    """A fit on two devices continues on one. Its runs are at different places of a cycle."""
    parameters: dict[str, Any] = {"n_runs": 4, "device": ["cpu", "cpu"]}
    whole = new(n_runs=4).fit(pair, BOX, BOX)
    f = Breaking({1000: ZeroDivisionError()})
    m = new(**parameters)
    with pytest.raises(ZeroDivisionError):
        m.fit(f, BOX, BOX)
    assert sum(run.n_evals for run in m.runs_) == len(f.seen)
    m.save(tmp_path / "fit")
    m = MinMaxSolver.load(tmp_path / "fit", device="cpu")
    f.breaks = {f.calls + 500: ZeroDivisionError()}  # the other device's thread has gone on for a while
    with pytest.raises(ZeroDivisionError):
        m.resume(f)
    assert sum(run.n_evals for run in m.runs_) == len(f.seen)
    m.resume(f)
    assert [(run.x.tolist(), run.fun, run.n_evals) for run in m.runs_] == [
        (run.x.tolist(), run.fun, run.n_evals) for run in whole.runs_
    ]
    assert len(f.seen) == sum(run.n_evals for run in whole.runs_)


@pytest.mark.parametrize("name", ["minmax/rustem4", "fabris2012/p3"])
def test_whole_cycles_of_compiled_problems_have_no_rest(name: str) -> None:
    for multipliers in ("update", "evolve") if name == "fabris2012/p3" else ("update",):
        penalty = 1e7 if multipliers == "evolve" else None
        m = make(max_iter=5, n_runs=2, multipliers=multipliers, penalty=penalty).fit(get_problem(name))
        assert m._fit.cycles.evals.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("entry", "value"),
    [
        ("told_rows", lambda rows: rows + FIRST),
        ("told_rows", lambda rows: np.zeros_like(rows)),
        ("told_runs", lambda runs: runs + 1),
        ("told_values", lambda values: values[1:]),
    ],
)
def test_wrong_values_of_a_file_are_refused(entry: str, value: Any, tmp_path: Path) -> None:
    m = new()
    with pytest.raises(ZeroDivisionError):
        m.fit(Breaking({40: ZeroDivisionError()}), BOX, BOX)
    header, arrays = m._state()
    arrays[entry] = value(arrays[entry])
    serialization.save(tmp_path / "fit", json_view({"solver": "MinMaxSolver", **header}), arrays)
    with pytest.raises(ValueError, match="told_rows"):
        MinMaxSolver.load(tmp_path / "fit")


@pytest.mark.parametrize("pairwise", [True, False])
@pytest.mark.parametrize("error", [KeyboardInterrupt, FloatingPointError("no mesh")], ids=["Ctrl-C", "error"])
def test_results_of_several_interrupted_runs_are_read_without_calls(pairwise: bool, error: Any) -> None:
    calls = 0

    def broken(x: Any, y: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls >= (2 * FIRST + 50 if pairwise else 12):
            raise error
        return pair(x, y) if pairwise else game(x, y)

    m = new(n_runs=2, pairwise=pairwise)
    with pytest.raises(KeyboardInterrupt if error is KeyboardInterrupt else FloatingPointError):
        m.fit(broken, BOX, BOX)
    before = calls
    own = min(m.runs_, key=lambda run: run.fun)
    assert (m.fun_, m.x_.tolist()) == (own.fun, own.x[:3].tolist())
    assert np.isfinite(m.fun_)
    assert calls == before
    again = m.resume(pair if pairwise else game)
    whole = new(n_runs=2, pairwise=pairwise).fit(pair if pairwise else game, BOX, BOX)
    assert (again.fun_, again.x_.tolist()) == (whole.fun_, whole.x_.tolist())
