"""execution="auto": the choice between single steps and a recorded generation, on an engine that records on the CPU."""

from __future__ import annotations

import random
import sys
import time
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from skde import DE, GODE, LSHADE, SHADE, SS, Migration, Minimizer
from skde.engines import CpuEngine, RecordingError
from skde.engines.gpu import graph_replay
from skde.engines.gpu.graph_replay import (
    LEAST_GENERATIONS,
    Generation,
    StepTime,
    check_replay,
    reason_by_pace,
    reason_to_step,
)
from skde.minimizer.execution import choose_execution
from skde.objectives.objective import as_objective
from skde.testing.base import PROBE_CALLS

from ..test_interrupt_timing import ctrl_c_at

pytestmark = pytest.mark.usefixtures("without_jax")
BOX = [(-5.0, 5.0)] * 4
NEVER_RECORDED = {**graph_replay.NEVER_RECORDED}
LONG = LEAST_GENERATIONS + 60


def squares(X: Any) -> Any:
    """Return a row's sum of squares."""
    return (X * X).sum(axis=1)


class Replays:
    """A recording that makes plain generations."""

    def __init__(self, engine: RecordingCpu, batch: Any, g: int, function: Any) -> None:
        self.engine, self.batch, self.g, self.function = engine, batch, g, function
        self.values: Any = None

    def replay(self, generations: int) -> None:
        for _ in range(generations):
            g = self.g = self.g + 1
            self.engine.propose(self.batch, g)
            self.values = self.function(self.engine.trials(self.batch, g))
            self.engine.accept(self.batch, g, None, self.values)
            self.engine.replayed += 1


class OldValues(Replays):
    """A recording that contains no part of the objective."""

    def __init__(self, engine: RecordingCpu, batch: Any, g: int, function: Any) -> None:
        trials = engine.trials(batch, g + 1)
        f = function(np.concatenate([trials[-1:], trials[:-1]]))
        super().__init__(engine, batch, g, lambda X: f)


class OtherState(Replays):
    """A recording that returns the right values and selects by others."""

    def replay(self, generations: int) -> None:
        super().replay(generations)
        self.batch.array["f"] *= 2


class RecordingCpu(CpuEngine):
    """A CPU that records."""

    def __init__(self, kind: type[Replays] = Replays, error: Exception | None = None) -> None:
        super().__init__(1)
        self.kind, self.error = kind, error
        self.recorded = self.replayed = 0

    def record(self, batch: Any, g: int, values: Any) -> Replays:
        self.recorded += 1
        if self.error is not None:
            raise self.error
        return self.kind(self, batch, g, values)


@pytest.fixture
def fit(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return fit(engine, algorithm, objective, ...)."""

    def run(engine: Any, algorithm: Any = "jde", objective: Any = squares, **parameters: Any) -> Minimizer:
        monkeypatch.setattr("skde.minimizer.solver.make_engine", lambda *_: engine)
        m = Minimizer(algorithm, **{"max_iter": LONG, "random_state": 0, "vectorized": True, **parameters})
        return m.fit(objective, bounds=BOX)

    return run


def results(m: Minimizer) -> Any:
    """Return all that a fit ended with, as text."""
    runs = [(run.x, run.fun, run.n_evals, run.n_iter, run.status, run.history.best) for run in m.runs_]
    return repr([runs, m.population_, m.fitness_])


SETTINGS: dict[str, dict[str, Any]] = {
    "jde": {},
    "runs of which some end": {"n_runs": 3, "target": 1e-3},
    "stagnation": {"n_runs": 2, "stagnation": 3},
    "islands": {"n_islands": 3, "migration": Migration(every=7)},
    "float32": {"dtype": "float32"},
    "max_evals": {"max_evals": 20_000, "max_iter": None},
    "shade": {"algorithm": "shade"},
    "sade": {"algorithm": "sade"},
    "gade": {"algorithm": "gade"},
    "chc": {"algorithm": "chc"},
    "soupde": {"algorithm": "soupde"},
    "pso": {"algorithm": "pso"},
    "cmaes": {"algorithm": "cmaes"},
    "gode": {"algorithm": GODE(pop_size=20)},
}


@pytest.mark.parametrize("parameters", SETTINGS.values(), ids=SETTINGS)
def test_auto_is_step_to_the_last_bit(fit: Any, parameters: dict[str, Any]) -> None:
    auto, step, graph = RecordingCpu(), RecordingCpu(), RecordingCpu()
    expected = results(fit(step, execution="step", **parameters))
    assert results(fit(auto, **parameters)) == expected
    assert results(fit(graph, execution="graph", **parameters)) == expected
    assert (step.recorded, step.replayed) == (0, 0)
    assert auto.recorded == graph.recorded == 1
    assert auto.replayed > 1


REFUSED: dict[str, tuple[Any, str]] = {
    "old values": (lambda: RecordingCpu(OldValues), "a replayed generation has other values than a plain call"),
    "another state": (lambda: RecordingCpu(OtherState), "ends with another population than a plain one"),
    "not recorded": (lambda: RecordingCpu(error=RecordingError("it reads back")), "it reads back"),
    "no memory": (lambda: RecordingCpu(error=MemoryError("3 GB")), "no memory for a recording: 3 GB"),
}


@pytest.mark.parametrize(("engine", "reason"), REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("parameters", [{}, {"n_runs": 3, "target": 1e-3}], ids=str)
def test_a_recording_that_fails_leaves_the_bits_of_steps(
    fit: Any, engine: Any, reason: str, parameters: dict[str, Any], capsys: Any
) -> None:
    used = engine()
    found = results(fit(used, verbose=1, **parameters))
    out = capsys.readouterr().out
    assert out.startswith("skde: execution='auto' chose 'step': ")
    assert reason in out
    assert out.count("\n") == 1
    assert used.recorded == 1
    assert found == results(fit(RecordingCpu(), execution="step", **parameters))


def test_old_values_in_memory_that_every_call_writes_to_are_noticed(fit: Any, capsys: Any) -> None:
    memory = np.empty(100)

    def writes(X: Any) -> Any:
        return np.sum(X * X, axis=1, out=memory) if len(X) == len(memory) else squares(X)

    found = results(fit(RecordingCpu(OldValues), objective=writes, verbose=1))
    assert "has other values than a plain call" in capsys.readouterr().out
    assert found == results(fit(RecordingCpu(), execution="step"))


def test_the_choice_is_printed_under_verbose_only(fit: Any, capsys: Any) -> None:
    fit(RecordingCpu(), verbose=1)
    assert capsys.readouterr().out == (
        "skde: execution='auto' chose 'graph': a replayed generation has the bits of a plain one\n"
    )
    fit(RecordingCpu())
    assert capsys.readouterr().out == ""


def test_equal_values_show_nothing(fit: Any, capsys: Any) -> None:
    """Old values would be the same."""
    engine = RecordingCpu(OldValues)
    fit(engine, objective=lambda X: np.zeros(len(X)), verbose=1)
    assert "all values of the compared generation are equal" in capsys.readouterr().out
    assert engine.replayed == 1


@pytest.mark.parametrize(
    ("algorithm", "parameters", "reason"),
    [
        ("jde", {"max_iter": LEAST_GENERATIONS - 2}, "99 generations are left, and a recording pays from 100 on"),
        ("jde", {"vectorized": False}, "the host calls the function of one point"),
        (LSHADE(), {}, "a recording needs the same pop_size in all runs and generations"),
        (SS(), {}, "a recording needs the same pop_size in all runs and generations"),
        ([DE(pop_size=8), DE(pop_size=9)], {"n_runs": 2}, "a recording needs the same pop_size"),
    ],
)
def test_fits_that_are_not_recorded(
    fit: Any, algorithm: Any, parameters: dict[str, Any], reason: str, capsys: Any
) -> None:
    engine = RecordingCpu()
    objective = squares if parameters.get("vectorized", True) else lambda x: float((x * x).sum())
    fit(engine, algorithm, objective, verbose=1, **parameters)
    assert engine.recorded == 0
    assert f"chose 'step': {reason}" in capsys.readouterr().out


def test_a_time_limit_that_leaves_few_generations_prevents_a_recording(fit: Any, capsys: Any) -> None:
    def slow(X: Any) -> Any:
        time.sleep(4e-3)
        return squares(X)

    engine = RecordingCpu()
    fit(engine, objective=slow, max_time=0.2, verbose=1)
    assert engine.recorded == 0
    assert "chose 'step': max_time leaves 0.1" in capsys.readouterr().out


def test_jax_that_is_loaded_prevents_a_recording(fit: Any, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr(graph_replay, "NEVER_RECORDED", NEVER_RECORDED)
    monkeypatch.setitem(sys.modules, "jax", object())
    engine = RecordingCpu()
    fit(engine, verbose=1)
    assert engine.recorded == 0
    assert "JAX is loaded, and its work cannot be recorded" in capsys.readouterr().out


def test_the_calls_of_a_comparison_are_not_counted(fit: Any) -> None:
    rows: list[int] = []

    def counted(X: Any) -> Any:
        rows.append(len(X))
        return squares(X)

    m = fit(RecordingCpu(), objective=counted)
    assert m.n_evals_ == 100 * (LONG + 1)
    assert sum(rows[PROBE_CALLS:]) == m.n_evals_ + 100  # one generation twice


def test_errors_of_the_function_are_raised_as_by_steps(fit: Any) -> None:
    def breaks(after: int) -> Any:
        calls: list[int] = []

        def function(X: Any) -> Any:
            calls.append(len(X))
            if len(calls) > after:
                raise ZeroDivisionError(f"call {after}")
            return squares(X)

        return function

    for after in range(PROBE_CALLS, PROBE_CALLS + 12):
        with pytest.raises(ZeroDivisionError, match=f"call {after}"):
            fit(RecordingCpu(), objective=breaks(after))


@pytest.mark.parametrize("last", [0, 1, 2, 3, 4])
def test_a_callback_ends_a_fit_at_any_time(fit: Any, last: int) -> None:
    seen: list[int] = []

    def ends(progress: Any) -> bool:
        seen.append(progress.n_iter)
        return bool(progress.n_iter >= last)

    m = fit(RecordingCpu(), callbacks=ends)
    assert seen == list(range(last + 1))
    assert m.n_iter_ == last
    m.set_params(callbacks=None).resume()
    assert results(m) == results(fit(RecordingCpu(), execution="step"))


@pytest.mark.parametrize("kind", [Replays, OldValues])
def test_ctrl_c_at_any_moment(monkeypatch: pytest.MonkeyPatch, kind: type[Replays]) -> None:
    monkeypatch.setattr(graph_replay, "LEAST_GENERATIONS", 5)
    monkeypatch.setattr("skde.minimizer.solver.make_engine", lambda *_: RecordingCpu(kind))
    draw = random.Random(0)

    def make() -> Minimizer:
        return Minimizer(SHADE(pop_size=8), max_iter=12, n_runs=2, random_state=1)

    whole = results(make().fit(squares, bounds=BOX))
    moment = ctrl_c_at(0)
    moment.during(lambda: make().fit(squares, bounds=BOX))
    for _ in range(40):
        part = make()
        pressed = ctrl_c_at(draw.randint(1, moment.lines))
        try:
            pressed.during(lambda part=part: part.fit(squares, bounds=BOX))
        except KeyboardInterrupt:
            assert pressed.lines >= pressed.k
        try:
            part.resume(squares)
        except NotFittedError:
            part.fit(squares, bounds=BOX)
        assert results(part) == whole


def test_a_fit_that_has_ended_calls_the_function_no_more(fit: Any) -> None:
    calls: list[int] = []

    def counted(X: Any) -> Any:
        calls.append(len(X))
        return squares(X)

    m = fit(RecordingCpu(), objective=counted, target=1e-2)
    before = len(calls)
    m.set_params(max_iter=10 * LONG).resume()
    assert len(calls) == before
    assert min(calls) > 0


def test_choice_of_the_execution() -> None:
    python, compiled = as_objective(squares, None, BOX), as_objective("sphere", 4, None)
    for engine, found in ((RecordingCpu(), "auto"), (CpuEngine(), "step")):
        assert choose_execution("auto", python, engine) == found
        assert choose_execution("auto", compiled, engine) == "run"
        for asked in ("step", "graph"):
            assert choose_execution(asked, python, engine) == asked


def test_reasons_against_a_recording() -> None:
    class Sizes:
        varies = False
        pop_sizes, pop_max = np.array([8, 8]), 8

    batch: Any = Sizes()
    assert reason_to_step(batch, None, LEAST_GENERATIONS, {}) is None
    assert reason_to_step(batch, None, LEAST_GENERATIONS - 1, {}) is not None
    assert reason_to_step(batch, "the host calls it", LEAST_GENERATIONS, {}) is not None
    batch.pop_sizes = np.array([8, 7])
    assert reason_to_step(batch, None, LEAST_GENERATIONS, {}) is not None


def test_reasons_by_the_pace_of_steps() -> None:
    assert reason_by_pace(StepTime(150e-6, 170e-6), np.inf) is None
    assert reason_by_pace(StepTime(150e-6, 170e-6), 0.0171) is None
    assert (
        reason_by_pace(StepTime(150e-6, 170e-6), 0.0169) == "max_time leaves 0.0169 s, and a generation takes 0.00017 s"
    )
    assert reason_by_pace(StepTime(150e-6, 500e-6), np.inf) == (
        "the device needs 500 us for a generation; the host takes 150 us, and a replay saves only these"
    )


def test_bits_are_compared() -> None:
    def generation(value: float, f: float = 0.0) -> Generation:
        return Generation(np.array([[1.0, np.nan, value], [5.0, 5.0, 5.0]]), {"f": np.array([f, np.nan])})

    running = np.array([True, False])
    check_replay(generation(0.0), generation(0.0), running)
    with pytest.raises(RecordingError, match="other values"):
        check_replay(generation(0.0), generation(-0.0), running)
    with pytest.raises(RecordingError, match="another population"):
        check_replay(generation(0.0, 0.0), generation(0.0, -0.0), running)
    ended = Generation(generation(0.0).values + np.array([[0.0], [1.0]]), generation(0.0).state)
    check_replay(generation(0.0), ended, running)
    with pytest.raises(RecordingError, match="so old values look like new ones"):
        check_replay(generation(0.0), generation(0.0), ~running)
