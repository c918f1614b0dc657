"""Workers as processes: the same decisions as alone, also when workers and the tuner are killed or hang."""

from __future__ import annotations

import math
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from optuna.storages import InMemoryStorage
from optuna.trial import TrialState

from skde import get_problem
from skde.tuning import RacingTuner
from skde.tuning.study_storage import open_storage
from skde.tuning.targets import base as target_module
from skde.tuning.targets.base import TargetJob, TargetLimits, TargetOutcome
from skde.tuning.targets.conversion import as_target
from skde.tuning.targets.cost_targets import FunctionCost, SequentialTarget
from skde.tuning.work_queue import (
    QueuedExperiment,
    QueuedTarget,
    WorkQueue,
    claim_batch,
    experiment_of,
    outcome_of,
    pause,
    work,
)

from .landscape import INSTANCES, SPACE, cost
from .servers import mysql, postgresql

Start = Callable[..., subprocess.Popen[str]]
SCRIPT = str(Path(__file__).parent / "worker.py")


def tuner(storage: Any, **options: Any) -> RacingTuner:
    return RacingTuner(SPACE, INSTANCES, max_experiments=120, random_state=1, storage=storage, **options)


def decisions(fitted: RacingTuner) -> Any:
    return [(race["elites"], race["alive"], race["n_experiments"]) for race in fitted.races_], fitted.elites_


@pytest.fixture(scope="module")
def alone() -> Any:
    return decisions(tuner(None).fit(cost))


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Start a process of worker.py; whatever still runs at the end of the test is killed."""
    monkeypatch.setattr(target_module, "GRACE_SECONDS", 1.0)  # as in worker.py
    started: list[subprocess.Popen[str]] = []

    def begin(role: str, storage: Any, *options: str) -> subprocess.Popen[str]:
        command = [sys.executable, SCRIPT, role, str(storage), *options]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        return started[-1]

    yield begin
    for process in started:
        process.kill()
        process.communicate()


def done_by(process: subprocess.Popen[str]) -> int:
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return int(out)


def wait_for_offer(storage: Any, state: TrialState, count: int = 1) -> None:
    """Wait until so many offers are in a state."""
    queue = WorkQueue(open_storage(storage))
    end = time.monotonic() + 60
    while len(queue.offers(state)) < count:
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.fixture(params=[postgresql, mysql])
def database(request: pytest.FixtureRequest) -> Iterator[str]:
    with request.param() as url:
        yield url


def test_two_workers_decide_as_one_process(start: Start, tmp_path: Path, alone: Any) -> None:
    storage = tmp_path / "tuning.log"
    workers = [start("work", storage, "1.0", "sleep0.01") for _ in range(2)]
    fitted = tuner(storage, use_workers=True).fit(cost)
    assert decisions(fitted) == alone
    counts = [done_by(worker) for worker in workers]
    assert sum(counts) == len(fitted.results_)
    assert all(result.seconds >= 0.01 for result in fitted.results_)


def test_workers_of_a_database_are_killed_and_hang(start: Start, database: str, alone: Any) -> None:
    """One hangs, one is killed at work, two do it all; then the tuner is killed, and resumes."""
    first = start("fit", database, "0.2")
    hanging, killed = start("work", database, "0.2", "hang"), start("work", database, "0.2", "hang")
    wait_for_offer(database, TrialState.RUNNING, 2)
    killed.kill()
    workers = [start("work", database, "0.2") for _ in range(2)]
    wait_for_offer(database, TrialState.COMPLETE, 40)
    assert first.poll() is None
    first.kill()
    resumed = tuner(database, use_workers=True, run_max_time=0.2).resume(cost)
    assert decisions(resumed) == alone
    assert hanging.poll() is None
    assert sum(done_by(worker) for worker in workers) == len(resumed.results_)
    offers = WorkQueue(open_storage(database)).offers()
    assert [offer.user_attrs["turn"] for offer in offers if offer.state == TrialState.FAIL] == [1, 1]


@pytest.fixture
def queue(tmp_path: Path) -> WorkQueue:
    return WorkQueue(open_storage(tmp_path / "tuning.log"))


def test_an_offer_has_one_owner_and_one_end(queue: WorkQueue, tmp_path: Path) -> None:
    other = WorkQueue(open_storage(tmp_path / "tuning.log"))
    number = queue.offer(QueuedExperiment(3, 1, 5), 1)
    (seen,) = other.offers(TrialState.WAITING)
    assert experiment_of(seen) == QueuedExperiment(3, 1, 5)
    assert other.claim(number)
    assert not queue.claim(number)
    queue.withdraw(number)
    other.deliver(number, TargetOutcome(1.0, 1.0))  # too late
    assert queue.get(number).state == TrialState.FAIL
    assert not other.claim(number)


def test_a_worker_takes_all_experiments_of_a_step_together(queue: WorkQueue) -> None:
    for place in (QueuedExperiment(c, instance, seed) for instance, seed in ((0, 5), (1, 6)) for c in range(4)):
        queue.offer(place, 1)
    taken: list[list[TargetJob]] = []

    class Many(SequentialTarget):
        def batch_size(self, instance: Any, seed: int) -> int:
            assert (instance, seed) in ((INSTANCES[0], 5), (INSTANCES[1], 6))
            return 3

        def run(self, jobs: Any) -> Any:
            taken.append(list(jobs))
            if len(taken) == 4:
                raise KeyboardInterrupt
            return super().run(jobs)

    with pytest.raises(KeyboardInterrupt):
        work(queue, lambda number: {"x": 0.0, "kind": "good", "n": number + 1}, INSTANCES, Many(FunctionCost(cost), 1))
    assert sorted(map(len, taken)) == [1, 1, 3, 3]
    assert all(len({(job.index, job.seed) for job in jobs}) == 1 for jobs in taken)
    states = [offer.state for offer in queue.offers()]
    assert states.count(TrialState.COMPLETE) == 8 - len(taken[3])
    assert states.count(TrialState.FAIL) == len(taken[3])


def test_a_worker_takes_one_run_of_a_python_function(queue: WorkQueue) -> None:
    """They take turns, and the time after which one is lost begins with the claim."""
    target = as_target("de", TargetLimits(0.1), 2, "cpu")
    assert target.batch_size("nashed2012/f0", 1) == 2
    assert target.batch_size(lambda seed: get_problem("sphere", dim=2), 1) == 2
    assert target.batch_size((sphere, [(-1.0, 1.0)]), 1) == 1
    for configuration in range(3):
        queue.offer(QueuedExperiment(configuration, 0, 5), 1)
    waiting = queue.offers(TrialState.WAITING)
    assert len(claim_batch(queue, waiting, lambda place: target.batch_size((sphere, [(-1.0, 1.0)]), place.seed))) == 1


def test_an_instance_that_cannot_be_made_leaves_no_claim(queue: WorkQueue) -> None:
    def broken(seed: int) -> Any:
        raise ArithmeticError(f"no instance for {seed}")

    queue.offer(QueuedExperiment(0, 0, 5), 1)
    with pytest.raises(ArithmeticError, match="no instance for 5"):
        work(queue, lambda number: {}, [broken], as_target("de", TargetLimits(0.1), 2, "cpu"))
    assert [offer.state for offer in queue.offers()] == [TrialState.WAITING]


def sphere(x: Any) -> Any:
    return (x**2).sum(axis=-1)


@pytest.mark.parametrize(
    "outcome",
    [TargetOutcome(2.5, 0.5, 7), TargetOutcome(2.5, 0.5), TargetOutcome(math.inf, 0.5, error="ValueError: bad")],
)
def test_outcomes_come_back(queue: WorkQueue, outcome: TargetOutcome) -> None:
    number = queue.offer(QueuedExperiment(3, 1, 5), 1)
    queue.claim(number)
    queue.deliver(number, outcome)
    assert outcome_of(queue.get(number)) == outcome


def test_an_experiment_that_three_workers_lose_fails(queue: WorkQueue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target_module, "GRACE_SECONDS", 0.05)
    target = QueuedTarget(SequentialTarget(FunctionCost(cost), 1), queue, TargetLimits(0.05))
    turns = []

    def claim_and_hang(seconds: float) -> None:
        for offer in queue.offers(TrialState.WAITING):
            turns.append(offer.user_attrs["turn"])
            queue.claim(offer.number)
        time.sleep(seconds)

    monkeypatch.setattr("skde.tuning.work_queue.time", SimpleNamespace(sleep=claim_and_hang, monotonic=time.monotonic))
    (outcome,) = target.run([TargetJob(0, {}, 0, 1.0, 5)])
    assert turns == [1, 2, 3]
    assert outcome.cost == math.inf
    assert outcome.error == "lost by 3 workers, or it hangs"


def test_a_hanging_configuration_gets_no_more_workers(queue: WorkQueue, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three workers lose a configuration's first experiment; its others are withdrawn, but for what is done."""
    monkeypatch.setattr(target_module, "GRACE_SECONDS", 0.05)
    target = QueuedTarget(SequentialTarget(FunctionCost(cost), 1), queue, TargetLimits(0.05))
    claimed: list[int] = []
    end = time.monotonic() + 20

    def claim(seconds: float) -> None:
        assert time.monotonic() < end
        for offer in queue.offers(TrialState.WAITING):
            configuration, instance, _ = experiment_of(offer)
            if instance == 0 or configuration == 1 or instance == 3:
                queue.claim(offer.number)
                claimed.append(instance)
                if configuration == 1 or instance == 3:
                    queue.deliver(offer.number, TargetOutcome(7.0, 0.1))
        time.sleep(seconds)

    monkeypatch.setattr("skde.tuning.work_queue.time", SimpleNamespace(sleep=claim, monotonic=time.monotonic))
    jobs = [TargetJob(0, {}, instance, 1.0, 5) for instance in range(4)] + [TargetJob(1, {}, 4, 1.0, 5)]
    assert [outcome.cost for outcome in target.run(jobs)] == [math.inf, math.inf, math.inf, 7.0, 7.0]
    assert sorted(claimed) == [0, 0, 0, 3, 4]
    assert not queue.offers(TrialState.WAITING)


def test_a_pause_is_a_twentieth_of_the_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr("skde.tuning.work_queue.time", SimpleNamespace(sleep=slept.append, monotonic=lambda: 1000.0))
    for waited in (0.0, 0.01, 1.0, 2.0, 900.0):
        pause(1000.0 - waited)
    assert slept == pytest.approx([0.001, 0.001, 0.05, 0.1, 0.1])


def test_a_workers_wait_begins_with_its_last_experiment(queue: WorkQueue, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[float] = []

    def after_one_more(since: float) -> None:
        begun.append(since)
        if len(begun) == 2:
            queue.offer(QueuedExperiment(0, 1, 5), 1)
        queue.finish(len(begun) == 3)

    monkeypatch.setattr("skde.tuning.work_queue.pause", after_one_more)
    assert work(queue, lambda number: {"x": 0.5, "y": 0.5}, INSTANCES, SequentialTarget(FunctionCost(cost), 1)) == 1
    assert begun[0] == begun[1] < begun[2]


def test_storages_that_cannot_be_shared(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="workers cannot share SQLite: claims are not atomic"):
        tuner(f"sqlite:///{tmp_path / 'tuning.db'}", use_workers=True).fit(cost)
    for storage in (None, InMemoryStorage()):
        with pytest.raises(ValueError, match="workers need a storage that other processes reach"):
            tuner(storage, use_workers=True).fit(cost)
        with pytest.raises(ValueError, match="workers need a storage that other processes reach"):
            tuner(storage).work(cost)
    with pytest.raises(ValueError, match="run_max_time must be given with workers"):
        tuner(tmp_path / "tuning.log", use_workers=True, run_max_time=None).fit(cost)


def test_workers_of_another_tuning_are_refused(tmp_path: Path) -> None:
    storage = tmp_path / "tuning.log"
    tuner(storage).fit(cost)
    with pytest.raises(ValueError, match="had another limits"):
        tuner(storage, run_max_time=3.0).work(cost)


def test_a_tuner_without_workers_waits(start: Start, tmp_path: Path, alone: Any) -> None:
    storage = tmp_path / "tuning.log"
    first = start("fit", storage)
    wait_for_offer(storage, TrialState.WAITING, 20)
    first.kill()
    worker = start("work", storage)
    time.sleep(1)
    assert worker.poll() is None  # although all that was offered may be done
    assert decisions(tuner(storage, use_workers=True).resume(cost)) == alone
    assert done_by(worker) > 0


def interrupted(storage: Any, n_jobs: int, after: int) -> None:
    """Leave a tuning that was interrupted."""

    def stops(config: dict[str, Any], instance: float, seed: int) -> float:
        stops.calls += 1  # type: ignore[attr-defined]
        if stops.calls > after:  # type: ignore[attr-defined]
            raise KeyboardInterrupt
        return cost(config, instance, seed)

    stops.calls = 0  # type: ignore[attr-defined]
    stops.__qualname__ = cost.__qualname__
    with pytest.raises(KeyboardInterrupt):
        tuner(storage, n_jobs=n_jobs).fit(stops)


def test_workers_end_where_a_tuning_is_resumed_without_them(start: Start, tmp_path: Path, alone: Any) -> None:
    storage = tmp_path / "tuning.log"
    first = start("fit", storage)
    wait_for_offer(storage, TrialState.WAITING, 20)
    first.kill()
    worker = start("work", storage, "1.0", "sleep0.05")
    wait_for_offer(storage, TrialState.COMPLETE, 3)
    assert worker.poll() is None
    assert decisions(tuner(storage).resume(cost)) == alone
    out, err = worker.communicate(timeout=60)
    assert int(out) >= 3
    assert "the tuning has no workers" in err


def test_workers_of_a_tuning_without_workers_end(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    storage = tmp_path / "tuning.log"
    interrupted(storage, 1, 30)
    assert tuner(storage).work(cost) == 0
    assert "the tuning has no workers: its process runs the experiments itself" in caplog.text


def test_a_tuning_may_get_workers_when_it_is_resumed(start: Start, tmp_path: Path, alone: Any) -> None:
    storage = tmp_path / "tuning.log"
    interrupted(storage, 1, 30)
    resumed = start("resume", storage)
    wait_for_offer(storage, TrialState.WAITING)
    tuner(storage).work(cost)
    resumed.communicate(timeout=60)
    assert decisions(tuner(storage).resume(cost)) == alone


@pytest.mark.parametrize("name", ["tuning.log", "sqlite"])
def test_a_refused_tuning_leaves_no_file(name: str, tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path}/tuning.db" if name == "sqlite" else tmp_path / name
    with pytest.raises(ValueError, match="max_experiments must be at least"):
        tuner(storage).set_params(max_experiments=2).fit(cost)
    with pytest.raises(ValueError, match="a problem's name, a pair"):
        tuner(storage).fit("de")
    with pytest.raises(ValueError, match=r"workers cannot share SQLite|run_max_time must be given with workers"):
        tuner(storage, use_workers=True, run_max_time=None).fit(cost)
    for random_state in (1, None):
        with pytest.raises(ValueError, match="the storage holds no tuning to resume, 'skde-tuning': begin it by fit"):
            tuner(storage).set_params(random_state=random_state).resume(cost)
    with pytest.raises(ValueError, match="a problem's name, a pair"):
        tuner(storage).work("de")
    assert list(tmp_path.iterdir()) == []
