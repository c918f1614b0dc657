"""The launches of "kernels" and "fused", with kernels compiled for the CPU: they have the bits of whole generations."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skde import DE, GODE, JDE, LSHADE, SS, Migration, Minimizer, get_problem
from skde.algorithms import get_algorithm
from skde.benchmark.execution_models.engines import KERNELS as OWN_KERNELS
from skde.benchmark.execution_models.launches import MODELS, PREPARED_BYTES, RECORDED
from skde.engines import CpuEngine
from skde.engines.cpu import data_of
from skde.engines.gpu.launch_plan import Plan
from skde.engines.gpu.nvrtc import KERNELS, Launcher
from skde.engines.state.algorithm_kernels import algorithm_entry

from ...shared_builds import built_once

PROBLEM = "rotated_rastrigin"
TEAMS = 7  # of a run


class Record(ctypes.Structure):
    """Launch of generation.cpp."""

    _fields_ = (("task", ctypes.c_int64), ("teams", ctypes.c_int64), ("backward", ctypes.c_bool))


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], ctypes.CDLL]:
    """Return the function that compiles the kernels for an algorithm."""
    libraries: dict[str, ctypes.CDLL] = {}
    source = Path(__file__).with_name("generation.cpp")
    objective = get_problem(PROBLEM, dim=2).cpp_type

    def compile_kernels(algorithm: str) -> ctypes.CDLL:
        kind = algorithm_entry(algorithm).cpp_type

        def build(target: Path) -> None:
            definitions = (f"-DSKDE_ALGORITHM=skde::{kind}", f"-DSKDE_OBJECTIVE=skde::{objective}")
            flags = ("-std=c++17", "-O1", "-DSKDE_SCALAR", "-ffp-contract=off", "-shared", "-fPIC", f"-I{KERNELS}")
            flags += (f"-I{OWN_KERNELS}", f"-DSKDE_PREPARED_BYTES={PREPARED_BYTES}")
            subprocess.run(["g++", *flags, *definitions, str(source), "-o", str(target)], check=True)

        if kind not in libraries:
            libraries[kind] = ctypes.CDLL(str(built_once(f"{kind}.so", build, tmp_path_factory)))
        return libraries[kind]

    return compile_kernels


class Machine:
    """A GPU of one stream: launches run at once, or are recorded."""

    def __init__(self, library: ctypes.CDLL, backward: bool) -> None:
        self.library, self.backward = library, backward
        self.recording: list[Any] | None = None
        self.replays = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    @property
    def cuda(self) -> Machine:
        return self

    def Stream(self, non_blocking: bool = False) -> Stream:
        return Stream(self)

    def get_current_stream(self) -> Stream:
        return Stream(self)

    def Event(self, disable_timing: bool = False) -> Event:
        return Event()

    def get_function(self, name: str) -> Kernel:
        return Kernel(self, name)


class Event:
    """An event; all work is done when it is recorded."""

    def record(self, stream: Stream) -> None: ...


class Stream:
    """A stream of a machine."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def __enter__(self) -> None: ...

    def __exit__(self, *error: object) -> None: ...

    def wait_event(self, event: Event) -> None: ...

    def begin_capture(self) -> None:
        self.machine.recording = []

    def end_capture(self) -> Graph:
        recorded, self.machine.recording = self.machine.recording, None
        assert recorded is not None
        return Graph(self.machine, recorded)


class Graph:
    """The launches that were recorded."""

    def __init__(self, machine: Machine, calls: list[Any]) -> None:
        self.machine, self.calls = machine, calls

    def launch(self, stream: Stream) -> None:
        self.machine.replays += 1
        for call in self.calls:
            call()


class Kernel:
    """A kernel of the library."""

    max_dynamic_shared_size_bytes = 2**20

    def __init__(self, machine: Machine, name: str) -> None:
        self.machine, self.name = machine, name
        self.tasks: list[Any] = []

    def __call__(self, grid: Any, block: Any, arguments: tuple[Any, ...], shared_mem: int = 0) -> None:
        kernel = getattr(self.machine.library, self.name)
        if self.name == "advance":
            call = partial(kernel, *(ctypes.c_int64(int(argument)) for argument in arguments))
        else:
            self.tasks.append(np.array(arguments[0]))  # by value, as a launch copies it
            record = Record(self.tasks[-1].ctypes.data, TEAMS, self.machine.backward)
            numbers = (ctypes.c_int64(int(argument)) for argument in arguments[2:])
            call = partial(kernel, ctypes.byref(record), *numbers)
        if self.machine.recording is not None:
            self.machine.recording.append(call)
        else:
            call()


class EmulatedEngine(CpuEngine):
    """An engine with the models of a GPU."""

    chunk_seconds = 60.0  # one generation, eight, and all that are left
    even = True

    def __init__(self, machine: Machine, model: str) -> None:
        super().__init__(1)
        self.machine, self.model = machine, model

    @property
    def xp(self) -> Any:  # type: ignore[override]
        return self.machine

    def load(self, batch: Any, objective: Any) -> None:
        batch.attach(data_of(objective, batch.spec.dtype))
        batch.xp = self.machine
        plan = Plan("Warp", 32, 1, TEAMS, batch.n_runs, 0, True, 0)
        batch.step = Launcher(self.machine, plan)
        batch.program = MODELS[self.model](batch, plan, objective.scratch, lambda source, shape: self.machine)

    def run(self, batch: Any, begin: int, until: int) -> None:
        batch.program.run(begin, until)


SETTINGS: dict[str, dict[str, Any]] = {
    "rand/1/bin": {"algorithm": DE("rand/1/bin", pop_size=11, F=(0.4, 0.9), repair="random")},
    "rand/2/exp": {"algorithm": DE("rand/2/exp", pop_size=9), "n_runs": 3, "target": 12.0},
    "best/2/bin": {"algorithm": DE("best/2/bin", pop_size=9, repair="reflect"), "stagnation": 9, "n_runs": 2},
    "current-to-rand/1": {"algorithm": DE("current-to-rand/1", pop_size=8)},
    "jde, ranked": {"algorithm": JDE("current-to-pbest/1/bin", pop_size=12), "n_runs": 2},
    "opposites": {"algorithm": GODE(pop_size=10, opposition=0.5)},
    "islands": {"algorithm": JDE(pop_size=8), "n_islands": 3, "migration": Migration(every=7)},
    "a population that shrinks": {"algorithm": LSHADE(pop_size=20), "n_runs": 2},
    "iterations": {"algorithm": SS(**SS.get_test_params())},
}


@pytest.mark.parametrize(("model", "backward"), [("kernels", False), ("fpde", True), ("fused", False), ("fused", True)])
@pytest.mark.parametrize("parameters", SETTINGS.values(), ids=SETTINGS)
def test_models_have_the_bits_of_whole_generations(
    compiled: Any, monkeypatch: pytest.MonkeyPatch, model: str, parameters: dict[str, Any], backward: bool
) -> None:
    """Whatever the order of the teams, and with replays of a recorded graph."""
    options: dict[str, Any] = {"max_iter": 3 * RECORDED + 19, "random_state": 5, "device": "cpu", **parameters}
    whole = Minimizer(**options).fit(PROBLEM, dim=5)
    machine = Machine(compiled(get_algorithm(parameters["algorithm"]).kernel), backward)
    monkeypatch.setattr("skde.minimizer.solver.make_engine", lambda *_: EmulatedEngine(machine, model))
    by_model = Minimizer(execution="run", **options).fit(PROBLEM, dim=5)
    assert [(run.x.tolist(), run.fun, run.n_evals, run.n_iter, run.status) for run in by_model.runs_] == [
        (run.x.tolist(), run.fun, run.n_evals, run.n_iter, run.status) for run in whole.runs_
    ]
    assert np.array_equal(by_model.population_, whole.population_)
    assert np.array_equal(by_model.history_.best, whole.history_.best)
    assert machine.replays == (0 if "n_islands" in parameters else 3)


@pytest.mark.parametrize("model", ["kernels", "fused"])
def test_runs_at_different_generations_continue(compiled: Any, monkeypatch: pytest.MonkeyPatch, model: str) -> None:
    """One launch makes the same generation of all its runs."""
    algorithms = [DE(pop_size=8), DE(pop_size=13)]
    options: dict[str, Any] = {"n_runs": 2, "max_evals": 400, "random_state": 5, "device": "cpu"}
    whole = Minimizer(algorithms, **options).fit(PROBLEM, dim=5).set_params(max_evals=1200).resume()
    engine = EmulatedEngine(Machine(compiled("de"), backward=False), model)
    monkeypatch.setattr("skde.minimizer.solver.make_engine", lambda *_: engine)
    by_model = Minimizer(algorithms, execution="run", **options).fit(PROBLEM, dim=5)
    assert len({run.n_iter for run in by_model.runs_}) == 2
    by_model.set_params(max_evals=1200).resume()
    for one, other in zip(by_model.runs_, whole.runs_, strict=True):
        assert (one.x.tolist(), one.fun, one.n_evals, one.n_iter) == (
            other.x.tolist(),
            other.fun,
            other.n_evals,
            other.n_iter,
        )
