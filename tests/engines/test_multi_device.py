"""Runs and islands on several devices and joblib workers: the same bits for every number of them."""

from __future__ import annotations

import _thread
import itertools
import pickle
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest

from skde import DE, JDE, LSHADE, SADE, DeviceObjective, Migration, Minimizer, ParameterTrace, Status, get_problem
from skde.engines import find_gpus
from skde.engines.gpu.current_device import CurrentDevice
from skde.engines.multi_device import MultiDeviceEngine
from skde.engines.state.parts import ranges
from skde.islands import Archipelago
from skde.testing.base import PROBE_CALLS, same

BOX = [(-5.0, 5.0)] * 4
HABITS = [
    (topology, choice, place)
    for topology, (choice, place) in product(("ring", "random", "full"), (("best", "worst"), ("random", "random")))
]


def squares(X: Any) -> Any:
    return (X * X).sum(axis=1)


def square(x: Any) -> float:
    return float((x * x).sum())


def make(algorithm: Any = None, **parameters: Any) -> Minimizer:
    options: dict[str, Any] = {
        "n_islands": 5,
        "n_runs": 3,
        "migration": Migration(every=5),
        "device": "cpu",
        "n_jobs": 1,
    }
    return Minimizer(algorithm or DE(pop_size=10), **{**options, "max_iter": 40, "random_state": 3, **parameters})


def stops_after_five() -> list[Any]:
    """Return callbacks that end a fit with generation 5, also on a busy machine: calls end at a trace's records."""
    return [ParameterTrace(every=5), lambda progress: progress.n_iter >= 5]


def equal(first: Minimizer, second: Minimizer) -> bool:
    """Whether all results of two fits but the time are equal."""
    told = [
        [(run.fun, run.n_evals, run.n_iter, run.status, run.x.tolist(), run.history.best.tolist()) for run in m.runs_]
        for m in (first, second)
    ]
    return same(first, second) and told[0] == told[1]


# -- division of runs and islands --------------------------------------------------------------------------------------


def test_parts_are_consecutive_and_even() -> None:
    assert ranges(7, 3) == [(0, 2), (2, 4), (4, 7)]
    assert ranges(4, 4) == [(0, 1), (1, 2), (2, 3), (3, 4)]


def test_islands_of_whole_runs_migrate_within_a_part() -> None:
    spec = make().fit("sphere", dim=2)._fit.batch.spec
    for n, across in ((1, 0), (2, 5), (3, 0), (4, 5)):
        rows = ranges(15, n)
        assert spec.share_islands(rows).every == across
        parts = spec.parts(rows)
        assert {part.islands.every for part in parts} == {5 - across}
        assert [part.islands.first for part in parts] == [begin % 5 for begin, _ in rows]
        assert np.array_equal(np.concatenate([part.seeds for part in parts]), spec.seeds)


def test_legs_end_at_migrations() -> None:
    islands = Archipelago(n_islands=3, every=10)
    assert list(islands.stretches(-1, 25)) == [(-1, 10), (10, 20), (20, 25)]
    assert [g for g in range(31) if islands.migrates(g)] == [10, 20, 30]
    assert list(Archipelago().stretches(-1, 25)) == [(-1, 25)]
    assert [
        Archipelago(n_islands=4, first=first).count_islands(n) for first, n in ((0, 4), (3, 1), (3, 2), (2, 8))
    ] == [
        4,
        4,
        8,
        12,
    ]


# -- several devices ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("habits", HABITS)
@pytest.mark.parametrize("algorithm", [DE(pop_size=10), LSHADE(pop_size=15), SADE(pop_size=12)])
def test_the_number_of_devices_does_not_matter(algorithm: Any, habits: Any) -> None:
    topology, choice, place = habits
    migration = Migration(topology, every=5, n_migrants=3, select=choice, replace=place)
    one = make(algorithm, migration=migration).fit("rastrigin", dim=6)
    for n in (1, 2, 3, 10):
        assert equal(one, make(algorithm, migration=migration, device=["cpu"] * n).fit("rastrigin", dim=6))


@pytest.mark.parametrize(("objective", "has_threads"), [(get_problem("sphere", dim=4), False), (squares, True)])
def test_one_thread_may_start_the_work_of_all(
    objective: Any, has_threads: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on GPUs: in turn up to each barrier of a migration, for compiled objectives and by ask and tell."""
    one, asked = make(bounds=BOX).fit(objective), make(bounds=BOX).fit(squares)
    monkeypatch.setattr(MultiDeviceEngine, "_is_asynchronous", True)
    threads: dict[int, set[int]] = {}  # of a migration
    migrate = MultiDeviceEngine._migrate

    def noted(engine: Any, batch: Any, k: int, barrier: Any, g: int) -> Any:
        threads.setdefault(g, set()).add(threading.get_ident())
        return migrate(engine, batch, k, barrier, g)

    monkeypatch.setattr(MultiDeviceEngine, "_migrate", noted)
    assert equal(one, make(device=["cpu"] * 4, bounds=BOX).fit(objective))
    assert {len(some) for some in threads.values()} == {4 if has_threads else 1}
    m = make(device=["cpu"] * 4, bounds=BOX)
    while not m.stopped_:
        X = m.ask()
        m.tell(X, squares(X.reshape(-1, 4)).reshape(3, -1))
    assert equal(m, asked)


def test_a_fit_leaves_no_thread() -> None:
    """Python ignores Ctrl-C for a moment when it deletes a pool with running threads."""

    def threads() -> set[threading.Thread]:
        return {thread for thread in threading.enumerate() if thread.name.startswith("skde")}

    before = threads()
    minimizer = Minimizer("jde", max_iter=5, n_runs=2, device=["cpu"] * 2, random_state=0).fit("sphere", dim=2)
    assert threads() <= before  # another test's threads may end meanwhile
    assert minimizer.set_params(max_iter=10).resume().n_iter_ == 10
    assert threads() <= before  # another test's threads may end meanwhile


def test_bests_are_found_again_on_every_device() -> None:
    m = Minimizer(DE(pop_size=600), n_runs=3, max_iter=3, device=["cpu", "cpu"], random_state=0).fit("sphere", dim=2)
    batch = m._fit.batch
    batch.find_bests()
    known = batch.host("bests")
    for part in batch.parts:
        part.put("bests", np.zeros_like(part.host("bests")))
    batch.find_bests()
    assert known.any()
    assert np.array_equal(batch.host("bests"), known)


@pytest.mark.parametrize("execution", ["run", "step"])
@pytest.mark.parametrize("rule", [{"target": 1e-2}, {"stagnation": 3}, {"tol": 0.3}])
def test_early_stops_end_all_parts(rule: Any, execution: str) -> None:
    one = make(max_iter=400, **rule).fit("sphere", dim=4)
    assert one.runs_[0].status != Status.LIMIT
    for n in (2, 3):
        assert equal(one, make(max_iter=400, device=["cpu"] * n, execution=execution, **rule).fit("sphere", dim=4))


def test_the_target_at_the_last_generation_is_seen() -> None:
    """Also where generations are made one by one."""
    free = make(n_islands=1, migration=None, n_runs=2, max_iter=30).fit(squares, bounds=BOX)
    options: dict[str, Any] = {"n_islands": 1, "migration": None, "max_iter": 30, "target": free.fun_}
    one, two = (make(device=device, **options).fit(squares, bounds=BOX) for device in ("cpu", ["cpu", "cpu"]))
    assert Status.TARGET in [run.status for run in one.runs_]
    assert equal(one, two)


def test_independent_runs_with_different_parameters() -> None:
    algorithms = [DE(pop_size=size) for size in (20, 8, 30, 10, 12)]
    options: dict[str, Any] = {"n_islands": 1, "n_runs": 5, "migration": None, "max_iter": None, "max_evals": 900}
    for objective, where in (("ackley", {"dim": 5}), (squares, {"bounds": BOX})):
        one, three = (make(algorithms, device=d, **options).fit(objective, **where) for d in ("cpu", ["cpu"] * 3))
        assert equal(one, three)
        raised = [m.set_params(max_evals=2000).resume() for m in (one, three)]
        assert equal(*raised)


def test_functions_are_called_with_the_parts() -> None:
    sizes: list[int] = []

    def counted(X: Any) -> Any:
        sizes.append(len(X))
        return squares(X)

    two = make(device=["cpu", "cpu"]).fit(counted, bounds=BOX)
    assert set(sizes[PROBE_CALLS:]) == {70, 80}
    assert sum(sizes[PROBE_CALLS:]) == sum(run.n_evals for run in two.runs_)
    assert equal(two, make().fit(squares, bounds=BOX))
    assert equal(two, make(device=["cpu"] * 3, vectorized=False).fit(square, bounds=BOX))


def test_ask_and_tell() -> None:
    for algorithm in (DE(pop_size=10), LSHADE(pop_size=15)):
        asked = make(algorithm, device=["cpu"] * 3, bounds=BOX)
        while not asked.stopped_:
            X = asked.ask()
            asked.tell(X, squares(X.reshape(-1, 4)).reshape(3, -1))
        assert equal(asked, make(algorithm).fit(squares, bounds=BOX))


def test_saved_on_some_devices_and_resumed_on_others(tmp_path: Path) -> None:
    whole = make(LSHADE(pop_size=15)).fit("levy", dim=6)
    devices: list[Any] = [["cpu"] * 3, "cpu", ["cpu", "cpu"]]
    for first, second in pairwise(devices):
        part = make(LSHADE(pop_size=15), device=first, callbacks=stops_after_five())
        part.fit("levy", dim=6).save(tmp_path / "part")
        assert part.n_iter_ == 5
        resumed = Minimizer.load(tmp_path / "part", device=second)
        assert resumed.device == second
        assert equal(whole, resumed.resume())
        assert equal(whole, pickle.loads(pickle.dumps(part.set_params(callbacks=None))).resume())


def test_warm_start() -> None:
    warm = make(device=["cpu", "cpu"], max_iter=20, warm_start=True)
    assert equal(warm.fit(squares, bounds=BOX).fit(squares, bounds=BOX), make(max_iter=40).fit(squares, bounds=BOX))


def test_callbacks_see_the_whole() -> None:
    seen: list[tuple[int, float, int]] = []

    def look(progress: Any) -> None:
        assert squares(progress.x[None])[0] == progress.fun == progress.funs.min()
        seen.append((progress.n_iter, progress.fun, progress.n_evals))

    m = make(device=["cpu"] * 3, callbacks=look).fit(squares, bounds=BOX)
    assert seen == sorted(seen, key=lambda one: one[2])
    assert seen[0][2] == 150
    assert len(m.population_) == 50
    assert m.result_.nfev == sum(run.n_evals for run in m.runs_)


def stop(error: type[BaseException] | None) -> None:
    """Raise, or let the main thread be interrupted, as Ctrl-C does, before the other threads end."""
    if error is None:
        _thread.interrupt_main()
        time.sleep(0.3)
    else:
        raise error


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt, None])
@pytest.mark.parametrize("fails", [4, 17, 60])
def test_a_failing_function_ends_all_and_the_fit_can_be_resumed(error: type[BaseException] | None, fails: int) -> None:
    """The others may be some generations ahead."""
    calls = itertools.count(1)  # which counts right in several threads

    def broken(X: Any) -> Any:
        if next(calls) == PROBE_CALLS + fails:
            stop(error)
        return squares(X)

    m = make(device=["cpu"] * 3, max_iter=1000)  # more than one engine call can do
    with pytest.raises(error or KeyboardInterrupt):
        m.fit(broken, bounds=BOX)
    if error is not ZeroDivisionError:
        assert Status.INTERRUPTED in [run.status for run in m.runs_]
    assert equal(m.resume(squares), make(max_iter=1000).fit(squares, bounds=BOX))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"device": []}, r"device, where it is a list, must name 'cpu' once or more, or GPUs 'cuda:N', got \[\]"),
        ({"device": ["cpu", "cuda:0"]}, r"device, where it is a list.*got \['cpu', 'cuda:0'\]"),
        ({"device": ["auto", "cpu"]}, r"device, where it is a list.*got \['auto', 'cpu'\]"),
        ({"device": ["cpu", "tpu"]}, r"device must be 'auto', 'cpu', 'cuda', 'cuda:N' or a list of devices, got 'tpu'"),
        ({"device": ["cpu", 0]}, r"device must be 'auto'.*got 0"),
        ({"device": ["cpu"] * 16}, r"device has 16 entries, more than n_runs \* n_islands = 15 populations"),
        ({"device": ["cpu"] * 2, "execution": "graph"}, r"execution='graph'"),
        (
            {"device": ["cpu"] * 2, "execution": "joblib"},
            r"execution='joblib' needs one device.*got device=\['cpu', 'cpu'\]",
        ),
        ({"device": "tpu", "execution": "joblib"}, r"device must be 'auto'.*got 'tpu'"),
    ],
)
def test_bad_input(parameters: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(**parameters).fit(squares, bounds=BOX)


# -- joblib's workers --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [1, 3, 16])
@pytest.mark.parametrize(("topology", "choice", "place"), HABITS[::3])
def test_the_number_of_workers_does_not_matter(topology: str, choice: str, place: str, n_jobs: int) -> None:
    migration = Migration(topology, every=5, n_migrants=3, select=choice, replace=place)
    options: dict[str, Any] = {"migration": migration, "target": 1.0}
    for algorithm in (DE(pop_size=10), LSHADE(pop_size=15)):
        one = make(algorithm, **options).fit("rastrigin", dim=3)
        with joblib.parallel_config("threading", n_jobs=n_jobs):
            many = make(algorithm, execution="joblib", n_jobs=None, **options).fit("rastrigin", dim=3)
        assert equal(one, many)


def test_processes_take_all_forms_of_objectives() -> None:
    compiled = DeviceObjective(
        "return team.sum(d, [&](int j) { return w[j] * x[j] * x[j]; });", arrays={"w": [1.0] * 4}
    )
    assert compiled(np.ones((1, 4))) == 4.0  # what has been loaded here does not travel
    for objective in ("sphere", squares, lambda X: 2 * squares(X), compiled):
        where: dict[str, Any] = {"dim": 4} if objective == "sphere" else {"bounds": BOX}
        one = make(max_iter=12).fit(objective, **where)
        with joblib.parallel_config("loky"):
            assert equal(one, make(max_iter=12, execution="joblib", n_jobs=2).fit(objective, **where))
    rows = make(max_iter=12, execution="joblib", vectorized=False, n_jobs=2).fit(square, bounds=BOX)
    assert equal(rows, make(max_iter=12).fit(squares, bounds=BOX))


def test_workers_stop_and_resume(tmp_path: Path) -> None:
    algorithm, limits = JDE(pop_size=10), {"max_iter": 100, "tol": 1e-6}
    whole = make(algorithm, **limits).fit(squares, bounds=BOX)
    part = make(algorithm, **limits, execution="joblib", callbacks=stops_after_five())
    part.fit(squares, bounds=BOX).save(tmp_path / "part")
    assert part.n_iter_ == 5
    assert equal(whole, Minimizer.load(tmp_path / "part").resume(squares))
    asked = make(execution="joblib", bounds=BOX, n_runs=1)
    while not asked.stopped_:
        X = asked.ask()
        asked.tell(X, squares(X))
    assert equal(asked, make(n_runs=1).fit(squares, bounds=BOX))


def test_the_exception_of_a_worker_ends_the_fit() -> None:
    def broken(X: Any) -> Any:
        raise ZeroDivisionError("no value")

    with pytest.raises(ZeroDivisionError, match="no value"):
        make(execution="joblib", n_jobs=2).fit(broken, bounds=BOX)
    with pytest.warns(RuntimeWarning, match="no value of the objective was finite"):
        make(execution="joblib").fit(lambda X: squares(X) * np.nan, bounds=BOX)


def test_a_fit_cannot_change_between_joblib_and_other_executions() -> None:
    m = make().fit(squares, bounds=BOX).set_params(execution="joblib", max_iter=50)
    with pytest.raises(ValueError, match="execution='joblib': this fit began on 'cpu'"):
        m.resume()


# -- GPUs --------------------------------------------------------------------------------------------------------------


def gpus() -> list[list[str]]:
    """Return lists of devices to test: one GPU in several parts, and all that there are."""
    count = find_gpus()[0]
    return [["cuda:0"] * 2, *([[f"cuda:{k}" for k in range(count)]] if count > 1 else [])]


class Runtime(threading.local):
    """A stand-in for CUDA's runtime: every thread has a current device, at first number 0."""

    def __init__(self) -> None:
        self.device, self.changes = 0, 0

    def getDevice(self) -> int:
        return self.device

    def setDevice(self, device: int) -> None:
        self.device, self.changes = device, self.changes + 1


def test_a_gpu_is_the_current_one_for_a_while() -> None:
    runtime = Runtime()
    with CurrentDevice(runtime, 2):
        with CurrentDevice(runtime, 2), CurrentDevice(runtime, 1), CurrentDevice(runtime, 2):
            assert runtime.device == 2
        assert runtime.device == 2
    assert (runtime.device, runtime.changes) == (0, 6)
    with pytest.raises(ZeroDivisionError), CurrentDevice(runtime, 1), CurrentDevice(runtime, 0):
        raise ZeroDivisionError
    assert (runtime.device, runtime.changes) == (0, 10)
    with CurrentDevice(runtime, 0):
        runtime.setDevice(3)  # as an objective may do
    assert (runtime.device, runtime.changes) == (0, 12)
    with CurrentDevice(runtime, 0), CurrentDevice(runtime, 0):
        pass
    assert runtime.changes == 12  # nothing to do


def test_every_thread_has_its_current_gpu() -> None:
    runtime, inside = Runtime(), threading.Barrier(3)

    def work(device: int) -> list[int]:
        seen = [runtime.getDevice()]
        with CurrentDevice(runtime, device):
            inside.wait(60)
            seen.append(runtime.getDevice())
            inside.wait(60)
        return [*seen, runtime.getDevice()]

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(work, (1, 2, 3))) == [[0, 1, 0], [0, 2, 0], [0, 3, 0]]


@pytest.fixture
def current(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A GPU that is the current one when a test begins, and when it ends."""
    import cupy

    with cupy.cuda.Device(request.param) as device:
        yield device
        assert cupy.cuda.Device() == device


def last_gpu() -> int:
    """Return the number of the last GPU."""
    return max(find_gpus()[0] - 1, 0)


@pytest.mark.gpu
@pytest.mark.parametrize("current", sorted({0, last_gpu()}), indirect=True)
@pytest.mark.parametrize("device", sorted({"cuda:0", f"cuda:{last_gpu()}"}) + gpus(), ids=str)
def test_the_callers_gpu_stays_the_current_one(device: Any, current: Any, tmp_path: Path) -> None:
    import cupy

    other = cupy.cuda.Device(last_gpu() - current.id)

    def fails(X: Any) -> Any:
        other.use()
        raise ZeroDivisionError("no value")

    def values(X: Any) -> Any:
        with X.device:
            return squares(X.reshape(-1, 4)).reshape(X.shape[:-1])

    def unchanged() -> bool:
        return bool(cupy.cuda.Device() == current)

    one = make().fit("sphere", dim=4)
    for execution in ("run", "step"):
        assert equal(one, make(device=device, execution=execution).fit("sphere", dim=4))
        assert unchanged()
    one = make(device=device).fit(squares, bounds=BOX)
    assert unchanged()
    if isinstance(device, str):
        assert same(one, make(device=device, execution="graph").fit(squares, bounds=BOX))
        assert unchanged()
    with pytest.raises(ZeroDivisionError):
        make(device=device).fit(fails, bounds=BOX)
    assert unchanged()
    asked = make(device=device, bounds=BOX)
    while not asked.stopped_:
        X = asked.ask()
        assert unchanged()
        asked.tell(X, values(X))
        assert unchanged()
    assert equal(one, asked)
    make(device=device, max_iter=20).fit(squares, bounds=BOX).save(tmp_path / "part")
    again = Minimizer.load(tmp_path / "part", device=device).set_params(max_iter=40)
    assert unchanged()
    assert equal(one, again.resume(squares))
    assert unchanged()


@pytest.mark.gpu
def test_fits_in_threads_use_different_gpus() -> None:
    import cupy

    def work(number: int) -> Minimizer:
        before = cupy.cuda.Device()
        fitted = make(device=f"cuda:{number}", max_iter=300).fit(squares, bounds=BOX)
        assert cupy.cuda.Device() == before
        return fitted

    numbers = [k % find_gpus()[0] for k in range(4)]
    with ThreadPoolExecutor(4) as pool:
        first, *others = pool.map(work, numbers)
    assert all(equal(first, other) for other in others)


@pytest.mark.gpu
@pytest.mark.parametrize("devices", gpus(), ids=str)
@pytest.mark.parametrize("habits", HABITS)
@pytest.mark.parametrize("algorithm", [DE(pop_size=10), LSHADE(pop_size=15), SADE(pop_size=12)])
def test_islands_on_several_gpus_equal_the_cpu(algorithm: Any, habits: Any, devices: list[str]) -> None:
    topology, choice, place = habits
    migration = Migration(topology, every=5, n_migrants=3, select=choice, replace=place)
    one = make(algorithm, migration=migration).fit("rastrigin", dim=6)
    for execution in ("run", "step"):
        many = make(algorithm, migration=migration, device=devices, execution=execution).fit("rastrigin", dim=6)
        assert equal(one, many)


@pytest.mark.gpu
@pytest.mark.parametrize("devices", gpus(), ids=str)
@pytest.mark.parametrize("rule", [{"target": 1e-2}, {"stagnation": 3}, {"tol": 0.3}])
def test_early_stops_on_several_gpus(rule: Any, devices: list[str]) -> None:
    one = make(max_iter=2000, n_islands=7, **rule).fit("sphere", dim=33)
    assert equal(one, make(max_iter=2000, n_islands=7, device=devices, **rule).fit("sphere", dim=33))


@pytest.mark.gpu
@pytest.mark.parametrize("devices", gpus(), ids=str)
def test_functions_ask_and_tell_on_several_gpus(devices: list[str]) -> None:
    """A function gets arrays of its thread's GPU; the points of ask are on the first GPU."""
    import cupy

    seen: set[int] = set()

    def f(X: Any) -> Any:
        assert X.device.id == cupy.cuda.Device().id
        seen.add(X.device.id)
        return squares(X)

    one = make(device="cuda").fit(squares, bounds=BOX)
    assert equal(one, make(device=devices).fit(f, bounds=BOX))
    assert seen == {int(name[5:]) for name in devices}
    asked = make(device=devices, bounds=BOX)
    while not asked.stopped_:
        X = asked.ask()
        assert X.device.id == 0
        asked.tell(X, squares(X.reshape(-1, 4)).reshape(3, -1))
    assert equal(one, asked)


@pytest.mark.gpu
@pytest.mark.parametrize("devices", gpus(), ids=str)
def test_saved_on_several_gpus_and_resumed_elsewhere(devices: list[str], tmp_path: Path) -> None:
    whole = make(max_iter=3000, n_runs=2).fit("levy", dim=40)
    part = make(max_iter=3000, n_runs=2, device=devices, callbacks=lambda progress: True).fit("levy", dim=40)
    part.save(tmp_path / "part")
    assert part.n_iter_ < 3000
    for device in ("cpu", devices):
        assert equal(whole, Minimizer.load(tmp_path / "part", device=device).resume())


@pytest.mark.gpu
@pytest.mark.parametrize("device", sorted({"cuda:0", f"cuda:{last_gpu()}"}))
def test_every_gpu_works_alone(device: str, tmp_path: Path) -> None:
    """Functions and ask and tell work where the current device is another one."""
    one = make(device="cuda").fit(squares, bounds=BOX)
    assert equal(one, make(device=device).fit(squares, bounds=BOX))
    asked = make(device=device, bounds=BOX)
    while not asked.stopped_:
        X = asked.ask()
        with X.device:
            asked.tell(X, squares(X.reshape(-1, 4)).reshape(3, -1))
    assert equal(one, asked)
    assert equal(make().fit("sphere", dim=4), make(device=device).fit("sphere", dim=4).set_params(max_iter=40).resume())


@pytest.mark.gpu
def test_workers_may_have_gpus() -> None:
    with joblib.parallel_config("threading", n_jobs=2):
        many = make(execution="joblib", device="cuda", n_jobs=None).fit("rastrigin", dim=6)
    assert equal(many, make().fit("rastrigin", dim=6))
