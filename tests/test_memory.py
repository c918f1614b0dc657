"""Refusal of allocations that exceed the available memory."""

from __future__ import annotations

import gc
import re
import subprocess
import sys
import time
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skde import DE, DeviceObjective, Migration, Minimizer, MinMaxSolver, get_problem
from skde.cli.main import main
from skde.engines import CpuEngine
from skde.engines.state.batch_arrays import AXES, array_shapes
from skde.utils import memory
from skde.utils.validation import check_bounds

FIGURES = r"needs [\d.e+]+ [KMGT]iB of memory, [\d.e+]+ [KMGT]iB is available"


@pytest.fixture(autouse=True)
def small_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine of which no more than 2 GiB are free."""
    monkeypatch.setattr(memory, "machine_memory", lambda: 2**31)


def bowl(X: Any) -> Any:
    return (X * X).sum(axis=1)


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_runs": 2**20},
        {"n_runs": 2**20, "n_islands": 2**16},
        {"n_islands": 2**16, "migration": Migration(n_migrants=0.5)},
        {"n_runs": 2**16, "device": ["cpu", "cpu"]},
        {"n_runs": 2**16, "execution": "joblib"},
        {"n_runs": 2**16, "dtype": "float32"},
        {"algorithm": "shade", "n_runs": 30_000},
        {"n_runs": 2**20, "max_iter": None, "max_time": 1.0},
    ],
)
@pytest.mark.parametrize("objective", ["sphere", bowl])
def test_a_fit(parameters: dict[str, Any], objective: Any) -> None:
    m = Minimizer(**{"algorithm": "jde", "max_iter": 3, "device": "cpu", "random_state": 0, **parameters})
    start = time.perf_counter()
    with pytest.raises(MemoryError, match=r"a batch of \d+ populations of 100 individuals in 40 dimensions " + FIGURES):
        m.fit(objective, **({} if objective == "sphere" else {"bounds": [(-1, 1)]}), dim=40)
    assert time.perf_counter() - start < 1


def test_migrants_beyond_the_numbers_of_32_bits() -> None:
    m = Minimizer(DE(pop_size=2**20), n_islands=2**12, migration=Migration(n_migrants=0.9), max_iter=1, device="cpu")
    with pytest.raises(MemoryError, match=FIGURES):
        m.fit("sphere", dim=2)


def test_ask() -> None:
    with pytest.raises(MemoryError, match=FIGURES):
        Minimizer("jde", bounds=[(-1, 1)] * 1000, n_runs=2**16, device="cpu").ask()


@pytest.mark.parametrize("device", ["cpu", ["cpu", "cpu"]])
@pytest.mark.parametrize("parameters", [{"n_runs": 2**17}, {"archive_size": 2**20, "n_runs": 100}])
def test_two_sides(parameters: dict[str, Any], device: Any) -> None:
    with pytest.raises(MemoryError, match=r"a co-evolution of \d+ runs with 50 and 50 individuals " + FIGURES):
        MinMaxSolver(**parameters, device=device, random_state=0).fit("fabris2012/p1")


def test_both_sides_count() -> None:
    """Each of them alone would have room."""
    solver = MinMaxSolver(n_runs=2, device="cpu", random_state=0, max_iter=1, gens_x=1, gens_y=1).fit("fabris2012/p1")
    spec = solver._coevolution.coevolution_spec
    sides = [array_shapes(side, 2).nbytes for side in (spec.x, spec.y, spec.incumbents)]
    n_runs = int(2**31 / max(sides)) * 2 // 5 * 4
    with pytest.raises(MemoryError, match=FIGURES):
        solver.set_params(n_runs=n_runs).fit("fabris2012/p1")


def test_dimensions() -> None:
    with pytest.raises(MemoryError, match=r"dim=1000000000 " + FIGURES):
        Minimizer("jde", device="cpu").fit(bowl, dim=10**9, bounds=[(-1, 1)])


@pytest.mark.parametrize("name", ["fletcher_powell", "schwefel_2_6", "rotated_rastrigin"])
def test_data_of_a_problem(name: str) -> None:
    with pytest.raises(MemoryError, match=r"data of the problem.*" + FIGURES):
        get_problem(name, dim=20_000)


def test_working_memory_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DeviceObjective, "cpu_address", lambda objective, single: 0)
    objective = DeviceObjective("return x[0];", scratch=64)
    engine, X = CpuEngine(1000), np.zeros((1, 10_000))
    with pytest.raises(MemoryError, match=r"working memory of 1000 threads " + FIGURES + ".*n_jobs"):
        engine.evaluate(objective, X)
    with pytest.raises(MemoryError, match=r"working memory of 1000 threads"):
        Minimizer("de", n_jobs=1000, device="cpu").fit(objective, bounds=[(-1, 1)] * 10_000)


def test_a_history_that_grows() -> None:
    m = Minimizer("de", n_runs=2, max_iter=3, device="cpu", random_state=0).fit("sphere", dim=2)
    m._fit.batch.n_runs = 10**6
    with pytest.raises(MemoryError, match="the history of 1000000 runs " + FIGURES):
        m.set_params(max_iter=2**60).resume()
    m._fit.batch.n_runs = 2
    m.set_params(max_iter=5).resume()
    assert (m.n_iter_, m._fit.batch.spec.last) == (5, 5)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit the addresses of a process so")
@pytest.mark.parametrize("threads", [1, 2])
def test_threads_without_memory_for_their_work(threads: int) -> None:
    """The process goes on: no exception leaves a thread.

    The arrays of the fit have room in 70 MiB, the threads' vectors in 100 MiB; each process finds its memory as it is.
    """
    code = """
import resource
import sys
from pathlib import Path
from skde import JADE, Minimizer
threads, room = map(int, sys.argv[1:])
options = {"max_iter": 1, "device": "cpu", "n_jobs": threads}
Minimizer("de", n_runs=2, **options).fit("sphere", dim=100)
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + room * 2**20, resource.RLIM_INFINITY))
try:
    Minimizer(JADE(pop_size=300_000), **options).fit("sphere", dim=2)
except MemoryError as error:
    print(error)
"""
    seen = []
    for room in (80, 90, 70, 85, 75, 95):
        command = [sys.executable, "-c", code, str(threads), str(room)]
        ended = subprocess.run(command, capture_output=True, text=True)
        assert ended.returncode == 0, ended.stderr
        seen.append(ended.stdout)
        if "bad_alloc" in ended.stdout:
            return
    pytest.fail(f"no thread lacked memory: {seen}")


def test_a_fit_of_a_function_of_one_point_is_freed_at_once() -> None:
    """No circle holds it until the collector comes, such as one through the exception of the array form."""

    def first(x: Any) -> float:
        return float(x[0])

    gc.disable()
    try:
        solver = Minimizer("de", max_iter=1, device="cpu").fit(first, [(0, 1)] * 2)
        batch = weakref.ref(solver._fit.batch)
        del solver
        assert batch() is None
    finally:
        gc.enable()


def test_the_estimate_is_what_is_allocated() -> None:
    for algorithm in ("de", "shade", "lsrtde", "ss", "pso"):
        m = Minimizer(algorithm, n_runs=3, n_islands=2, max_iter=3, device="cpu", random_state=0).fit("sphere", dim=3)
        batch = m._fit.batch
        taken = sum(batch.array[name].nbytes for name in AXES)
        assert taken == array_shapes(batch.spec, batch.n_runs).nbytes


def test_a_million_bounds_take_no_time() -> None:
    box = [(-5.0, 5.0)] * 10**6
    start = time.perf_counter()
    assert check_bounds(box).shape == (10**6, 2)
    assert time.perf_counter() - start < 4
    box[-1] = (1.0, 1.0)
    with pytest.raises(ValueError, match=r"bounds\[999999\] must have low < high, got \(1.0, 1.0\)"):
        check_bounds(box)


def test_the_command_prints_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["minimize", "fletcher_powell", "--dim", "20000", "--device", "cpu"]) != 0
    error = capsys.readouterr().err
    assert re.search(FIGURES, error)
    assert len(error.strip().splitlines()) == 1


# -- available memory --------------------------------------------------------------------------------------------------


@pytest.fixture
def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Control groups, which a test writes."""
    monkeypatch.setattr(memory, "GROUPS", tmp_path)
    monkeypatch.setattr(memory, "OWN_GROUPS", tmp_path / "own")
    return tmp_path


def write_group(folder: Path, limit: str, usage: int, inactive: int, names: tuple[str, str]) -> None:
    """Write the files of a control group."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / names[0]).write_text(f"{limit}\n")
    (folder / names[1]).write_text(f"{usage}\n")
    (folder / "memory.stat").write_text(f"anon 5\ninactive_file {inactive}\nfile 7\n")


SECOND = ("memory.max", "memory.current")
FIRST = ("memory.limit_in_bytes", "memory.usage_in_bytes")


def test_control_groups(groups: Path) -> None:
    """The least of all on the way up counts; what can be taken back from files is free."""
    (groups / "own").write_text("0::/a/b\n")
    write_group(groups / "a" / "b", "max", 10, 0, SECOND)
    write_group(groups / "a", "1000000", 700_000, 50_000, SECOND)
    assert list(memory.group_memory()) == [350_000]
    assert memory.host_memory() == 350_000
    write_group(groups / "a" / "b", "2000", 3000, 0, SECOND)
    assert memory.host_memory() == 0


def test_control_groups_of_the_first_version(groups: Path) -> None:
    (groups / "own").write_text("12:cpu,cpuacct:/c\n4:memory:/c\n0::/\n")
    write_group(groups / "memory" / "c", "5000000", 1_000_000, 0, FIRST)
    assert memory.host_memory() == 4_000_000


def test_a_machine_without_control_groups(groups: Path) -> None:
    assert memory.host_memory() == 2**31


def test_the_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.undo()
    assert 2**20 < (memory.machine_memory() or 0) < 2**60
    monkeypatch.setattr(memory, "MEMINFO", tmp_path / "none")
    assert 2**20 < (memory.machine_memory() or 0) < 2**60


def test_units() -> None:
    assert [memory.in_units(size) for size in (0, 5, 2048, 3 * 2**30, 2**60)] == [
        "0 B",
        "5 B",
        "2 KiB",
        "3 GiB",
        "1.05e+06 TiB",
    ]


@pytest.mark.gpu
@pytest.mark.parametrize("parameters", [{"n_runs": 2**20}, {"n_islands": 2**16}])
def test_a_fit_on_a_gpu(parameters: dict[str, Any]) -> None:
    m = Minimizer("jde", max_iter=3, device="cuda", random_state=0, **parameters)
    with pytest.raises(MemoryError, match=FIGURES + " on the GPU"):
        m.fit("sphere", dim=2000)


@pytest.mark.gpu
def test_two_sides_on_a_gpu() -> None:
    with pytest.raises(MemoryError, match=r"a co-evolution .*" + FIGURES + " on the GPU"):
        MinMaxSolver(archive_size=2**20, n_runs=2**14, device="cuda", random_state=0).fit("fabris2012/p1")
