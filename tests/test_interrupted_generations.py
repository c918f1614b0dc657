"""Interruptions within a generation: what was evaluated is kept, counts, and is not evaluated again."""

from __future__ import annotations

import pickle
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skde import DE, Categorical, Checkpoint, Integer, Minimizer, Real, Status

BOX = [(-5.0, 5.0)] * 2
TYPED = [Integer(0, 30), Categorical(["a", "b"]), Real(-1.0, 1.0)]


def sphere(x: Any) -> float:
    """Squared distance to a point of the box."""
    return float(((x - 0.5) ** 2).sum())


class Breaking:
    """A function of one point that raises at some of its calls.

    Parameters
    ----------
    breaks : dict of int to exception
        The exceptions, by the number of the call.
    """

    def __init__(self, breaks: dict[int, BaseException]) -> None:
        self.breaks = breaks
        self.calls = 0
        self.seen: Counter[bytes] = Counter()

    def __call__(self, x: Any) -> float:
        self.calls += 1
        if self.calls in self.breaks:
            raise self.breaks[self.calls]
        self.seen[x.tobytes()] += 1
        return sphere(x)


def make(**parameters: Any) -> Minimizer:
    defaults: dict[str, Any] = {"bounds": BOX, "max_iter": 4, "random_state": 3, "device": "cpu", "vectorized": False}
    return Minimizer(DE(pop_size=20), **{**defaults, **parameters})


def results(m: Minimizer) -> list[Any]:
    return [(run.x.tolist(), run.fun, run.n_evals, run.status, run.history.best.tolist()) for run in m.runs_]


def saved(m: Minimizer, path: Path) -> Minimizer:
    m.save(path)
    return Minimizer.load(path)


AGAIN: dict[str, Callable[[Minimizer, Path], Minimizer]] = {
    "in memory": lambda m, path: m,
    "file": saved,
    "pickle": lambda m, path: pickle.loads(pickle.dumps(m)),
}


@pytest.mark.parametrize("again", AGAIN)
@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
@pytest.mark.parametrize("call", [1, 8, 20, 21, 47])
def test_values_before_an_interruption_are_kept(call: int, error: Any, again: str, tmp_path: Path) -> None:
    whole, f = make().fit(sphere), Breaking({call: error()})
    m = make()
    with pytest.raises(error):
        m.fit(f)
    if call > 1:
        assert m.n_evals_ == m.result_.nfev == call - 1
        assert m.fun_ == min(sphere(np.frombuffer(x)) for x in f.seen)
        assert m.fun_ == sphere(m.x_)
        assert m.history_.n_evals[-1] == call - 1
        assert m.history_.best[-1] == m.fun_
        assert m.runs_[0].status == (Status.INTERRUPTED if error is KeyboardInterrupt else Status.RUNNING)
        m = AGAIN[again](m, tmp_path / "fit")
        assert m.n_evals_ == call - 1
        assert m.fun_ == min(sphere(np.frombuffer(x)) for x in f.seen)
    assert results(m.resume(f)) == results(whole)
    assert sum(f.seen.values()) == m.n_evals_ == 100


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_runs": 3, "target": 0.05, "max_iter": 8},
        {"n_islands": 2, "dtype": "float32"},
        {"bounds": TYPED},
        {"algorithm": [DE(pop_size=n) for n in (8, 11)], "n_runs": 2},
        {"algorithm": "lshade", "max_evals": 300, "max_iter": None},
        {"algorithm": "ss", "max_evals": 200, "max_iter": None},
    ],
    ids=["runs", "islands", "typed", "algorithms", "shrinking", "ss"],
)
def test_many_interruptions_change_no_bit(parameters: dict[str, Any], tmp_path: Path) -> None:
    def new() -> Minimizer:
        own = dict(parameters)
        m = make(**{name: value for name, value in own.items() if name != "algorithm"})
        return m.set_params(algorithm=own["algorithm"]) if "algorithm" in own else m

    def weighted(x: Any) -> float:
        return sphere(np.asarray(x, np.float64))

    whole, f = new().fit(weighted), Breaking({call: ZeroDivisionError() for call in range(5, 1000, 13)})
    m = new()
    with pytest.raises(ZeroDivisionError):
        m.fit(f)
    for _ in range(1000):
        try:
            m.resume(f)
            break
        except ZeroDivisionError:
            assert sum(run.n_evals for run in m.runs_) == sum(f.seen.values())
            m = saved(m, tmp_path / "fit")
    assert results(m) == results(whole)
    assert sum(f.seen.values()) == sum(run.n_evals for run in whole.runs_)


def test_array_functions_lose_one_call(tmp_path: Path) -> None:
    sizes: list[int] = []

    def f(X: Any) -> Any:
        sizes.append(len(X))
        if sum(size for size in sizes if size == 20) == 60:
            sizes[-1] = 0
            sizes.append(-1)
            raise KeyboardInterrupt
        return ((X - 0.5) ** 2).sum(axis=1)

    m = make(vectorized=True)
    with pytest.raises(KeyboardInterrupt):
        m.fit(f)
    assert m.n_evals_ == 40
    m.resume(lambda X: ((X - 0.5) ** 2).sum(axis=1))
    assert m.n_evals_ == 100


def test_a_callback_may_save_and_end_within_a_generation(tmp_path: Path) -> None:
    import time

    path = tmp_path / "fit"
    seen: list[int] = []

    def slow(x: Any) -> float:
        time.sleep(0.02)
        return sphere(x)

    def ends(progress: Any) -> bool:
        seen.append(progress.n_evals)
        assert progress.fun == sphere(progress.x) == progress.funs.min()
        return len(seen) == 1

    m = make(callbacks=[Checkpoint(path, every=0.0), ends], max_iter=0).fit(slow)
    assert 5 <= m.n_evals_ == seen[0] < 20
    assert m.runs_[0].status == Status.CALLBACK
    loaded = Minimizer.load(path)
    assert loaded.n_evals_ == seen[0]
    f = Breaking({})
    assert results(loaded.resume(f)) == results(make(max_iter=0).fit(sphere))
    assert f.calls == 20 - seen[0]


def test_what_other_workers_finished_is_kept(tmp_path: Path) -> None:
    def f(x: Any) -> float:
        import time

        with open(tmp_path / "log", "a") as file:
            file.write(f"{x.tobytes().hex()}\n")
        time.sleep(0.01)
        if x[0] > 0 and not (tmp_path / "again").exists():
            raise ZeroDivisionError(f"broken at {x[0]}")
        return float(((x - 0.5) ** 2).sum())

    whole = make().fit(sphere)
    m = make(n_jobs=2)
    with pytest.raises(ZeroDivisionError, match="broken at"):
        m.fit(f)
    before = (tmp_path / "log").read_text().split()
    raised = sum(np.frombuffer(bytes.fromhex(x))[0] > 0 for x in before)
    assert m._fit.incomplete_evals.sum() == len(before) - raised
    (tmp_path / "again").touch()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert results(m.resume()) == results(whole)
    assert len((tmp_path / "log").read_text().split()) == 100 + raised


def test_a_constrained_fit_keeps_what_it_evaluated() -> None:
    from scipy.optimize import LinearConstraint

    constraints = LinearConstraint(np.ones(2), 0.5, 3.0)
    whole, f = make(constraints=constraints).fit(sphere), Breaking({call: ZeroDivisionError() for call in (7, 25, 26)})
    m = make(constraints=constraints)
    with pytest.raises(ZeroDivisionError):
        m.fit(f)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            m.resume(f)
    assert results(m.resume(f)) == results(whole)
    assert max(f.seen.values()) == 1
