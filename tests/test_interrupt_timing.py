"""Ctrl-C at random lines of a fit: it is raised, the results are readable, and resume ends as a whole fit does."""

from __future__ import annotations

import random
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import CodeType
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import skde
from skde import DE, SHADE, SS, Migration, Minimizer, MinMaxSolver
from skde.functions.pointwise import array_namespace
from skde.utils.interrupts import Interrupts

from .fuzz.settings import examples
from .interrupted_lines import Moment
from .minmax.games import game, ring

SOURCES = str(Path(skde.__file__).parent)
BOX = [(-5.0, 5.0)] * 3
gpu = pytest.mark.gpu
MIGRATION = Migration(every=2, n_migrants=2)


def f(X: Any) -> Any:
    """Sum of squares, waves added."""
    return (X * X - 4 * array_namespace(X).cos(3 * X)).sum(axis=1)


def minimizer(algorithm: Any, **parameters: Any) -> Minimizer:
    """Return a Minimizer of two runs with islands, unless told otherwise."""
    given = {"n_runs": 2, "n_islands": 2, "migration": MIGRATION, "max_iter": 9, "random_state": 1, "n_jobs": 1}
    return Minimizer(algorithm, **{**given, **parameters})


def solver(**parameters: Any) -> MinMaxSolver:
    """Return a MinMaxSolver of few and short cycles."""
    given = {"max_iter": 4, "gens_x": 2, "gens_y": 2, "archive_size": 2, "n_runs": 2, "n_jobs": 1, "random_state": 1}
    return MinMaxSolver(SHADE(pop_size=8), "lsrtde", **{**given, **parameters})


ALONE = {"n_islands": 1, "migration": None}
BY_NAME = {"objective": "rastrigin", "dim": 4}
BY_FUNCTION = {"objective": f, "bounds": BOX}
PLAY = {"objective": game, "bounds_x": BOX, "bounds_y": BOX}
WAYS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "run": (lambda device: minimizer(SHADE(pop_size=8), device=device), BY_NAME),
    "scatter search": (lambda device: minimizer(SS(12, 3, 1, n_local=2), device=device), BY_FUNCTION),
    "step": (lambda device: minimizer(SHADE(pop_size=8), device=device, execution="step"), BY_FUNCTION),
    "devices": (lambda device: minimizer(SHADE(pop_size=8), device=[device] * 3), BY_FUNCTION),
    "joblib": (lambda device: minimizer(SHADE(pop_size=8), device=device, execution="joblib", n_jobs=3), BY_FUNCTION),
    "bar": (lambda device: minimizer(DE(pop_size=8), device=device, verbose=1, callbacks=print), BY_FUNCTION),
    "game": (lambda device: solver(device=device), PLAY),
    "compiled game": (lambda device: solver(device=device), {"objective": "minmax/rustem4"}),
    "multipliers": (lambda device: solver(device=device), {"objective": ring()}),
    "evolving multipliers": (
        lambda device: solver(device=device, multipliers="evolve", penalty=10.0),
        {"objective": ring()},
    ),
    "games": (lambda device: solver(device=[device] * 2), PLAY),
}


@pytest.fixture(autouse=True)
def ctrl_c() -> Iterator[None]:
    """Let Ctrl-C raise, and see that it does so after the test."""
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_while_threads_are_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads that have just begun are waited for."""
    make, given = WAYS["devices"]
    submit = ThreadPoolExecutor.submit
    starts: list[Any] = []

    def pressed(pool: Any, work: Any, *arguments: Any) -> Any:
        future = submit(pool, work, *arguments)
        if work.__name__ == "run_all":
            starts.append(future)
            if len(starts) == 2:
                signal.raise_signal(signal.SIGINT)
        return future

    monkeypatch.setattr("concurrent.futures.ThreadPoolExecutor.submit", pressed)
    part = make("cpu")
    with pytest.raises(KeyboardInterrupt):
        part.fit(**given)
    assert starts[-1].done()
    assert outcomes(part.resume(f)) == outcomes(make("cpu").fit(**given))


@pytest.mark.parametrize("function", ["getsignal", "signal"])
def test_ctrl_c_while_the_old_handler_is_restored(function: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then it is raised too, and the old handler is back."""
    interrupts, old = Interrupts(), signal.getsignal(signal.SIGINT)
    original = getattr(signal, function)

    def pressed(*args: Any) -> Any:
        monkeypatch.undo()
        signal.raise_signal(signal.SIGINT)
        return original(*args)

    interrupts.fit.__enter__()
    with interrupts.deferred:
        assert signal.getsignal(signal.SIGINT) == interrupts.handle
    monkeypatch.setattr(signal, function, pressed)
    with pytest.raises(KeyboardInterrupt):
        interrupts.fit.__exit__()
    assert signal.getsignal(signal.SIGINT) == old
    assert interrupts.old_handler is None


def ctrl_c_at(k: int) -> Moment:
    """Return Ctrl-C at the k-th line of the package."""

    def of_package(code: CodeType) -> bool:
        return code.co_filename.startswith(SOURCES) and not code.co_filename.endswith("interrupts.py")

    return Moment(k, of_package, "with interrupts")


def outcomes(solver: Any) -> list[Any]:
    """Return the results of all runs, their times left out; NaN, the value at an infeasible point, equals itself."""
    return [(run.x.tolist(), repr(run.fun), run.n_evals, run.status, run.history.best.tolist()) for run in solver.runs_]


# On a GPU, joblib's workers would be other processes.
CASES = [(way, "cpu") for way in WAYS] + [pytest.param(way, "cuda", marks=gpu) for way in WAYS if way != "joblib"]


@pytest.mark.parametrize(("way", "device"), CASES)
def test_ctrl_c_at_any_moment(way: str, device: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make, given = WAYS[way]
    draw = random.Random(way)
    with joblib.parallel_config("threading"):
        whole = make(device).fit(**given)
        counted = ctrl_c_at(0)
        counted.during(lambda: make(device).fit(**given))
        for _ in range(examples(6 if way == "joblib" else 25)):
            part = make(device)
            pressed = ctrl_c_at(draw.randint(1, counted.lines))
            try:
                pressed.during(lambda part=part: part.fit(**given))
            except KeyboardInterrupt:
                assert pressed.lines >= pressed.k
            else:  # the number of engine calls depends on their speed
                assert pressed.lines < pressed.k
            again = next(iter(given.values()))
            try:
                assert all(np.isfinite(run.x).all() for run in part.runs_)
            except NotFittedError:  # nothing was evaluated
                try:
                    part.resume(again)
                except NotFittedError:  # nor had the fit begun
                    part.fit(**given)
            if draw.random() < 0.3 and "multipliers" not in way:
                part.save(tmp_path / "part.skde")
                part = type(part).load(tmp_path / "part.skde")
            part.resume(again)
            assert outcomes(part) == outcomes(whole)
            assert np.array_equal(part.population_, whole.population_)
