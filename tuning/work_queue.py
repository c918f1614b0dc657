"""Queue of experiments for workers in other processes and on other machines, in Optuna's storage.

A second study is the queue. Each of its trials is an offer of one experiment: waiting until a worker claims it, running
while the worker has it, complete with its outcome. An experiment is offered again when a worker does not finish it in
time.
"""

from __future__ import annotations

import logging
import math
import random
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, suppress
from typing import Any, NamedTuple

import optuna
from optuna.exceptions import UpdateFinishedTrialError
from optuna.storages import BaseStorage, InMemoryStorage, RDBStorage
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState, create_trial

from skde.tuning.study_storage import STUDY, quiet_optuna
from skde.tuning.targets.base import Target, TargetJob, TargetLimits, TargetOutcome

logger = logging.getLogger("skde.tuning")
WITHOUT_WORKERS = "the tuning has no workers: its process runs the experiments itself, use_workers is False"
FINISHED_KEY = "skde:finished"
OPTIONS_KEY = "skde:orders"
SHORTEST_PAUSE, LONGEST_PAUSE = 0.001, 0.1
# Interval between two checks of all running offers.
CHECK_SECONDS = 1.0
# An experiment that MOST_OFFERS workers did not finish is a failure of its configuration.
MOST_OFFERS = 3


def pause(since: float) -> None:
    """Sleep for a twentieth of the time since the wait began, so that a long wait polls seldom."""
    time.sleep(min(max((time.monotonic() - since) / 20, SHORTEST_PAUSE), LONGEST_PAUSE))


class QueuedExperiment(NamedTuple):
    """The experiment of an offer: the numbers of a configuration and an instance, and a seed."""

    configuration: int
    instance: int
    seed: int


class WorkQueue:
    """The offers of a tuning.

    Parameters
    ----------
    storage : BaseStorage
        Storage of the tuning.
    study : str, default STUDY
        Name of the tuning.

    Raises
    ------
    ValueError
        For a storage that several processes cannot share safely.
    """

    def __init__(self, storage: BaseStorage, study: str = STUDY) -> None:
        check_shared(storage)
        self.storage = storage
        name = f"{study}-queue"
        try:
            # The values of an offer: cost, seconds, evaluations.
            with quiet_optuna():
                self._study = storage.create_new_study([StudyDirection.MINIMIZE] * 3, name)
        except optuna.exceptions.DuplicatedStudyError:
            self._study = storage.get_study_id_from_name(name)

    def offers(self, *states: TrialState) -> list[FrozenTrial]:
        """Return the offers in some states; without any, all."""
        return self.storage.get_all_trials(self._study, deepcopy=False, states=states or None)

    def offer(self, experiment: QueuedExperiment, turn: int) -> int:
        """Offer an experiment for the first, second, ... time; return the offer's number."""
        attributes = {**experiment._asdict(), "turn": turn}
        trial = create_trial(state=TrialState.WAITING, user_attrs=attributes)
        return self.storage.get_trial_number_from_id(self.storage.create_new_trial(self._study, trial))

    def get(self, number: int) -> FrozenTrial:
        """Return an offer."""
        return self.storage.get_trial(self._id(number))

    def claim(self, number: int) -> bool:
        """Take an offer, unless another worker was faster."""
        try:
            return self.storage.set_trial_state_values(self._id(number), TrialState.RUNNING)
        except UpdateFinishedTrialError:
            return False

    def deliver(self, number: int, outcome: TargetOutcome) -> None:
        """Store the outcome of an offer, unless it was withdrawn."""
        n_evals = -1 if outcome.n_evals is None else outcome.n_evals
        with suppress(UpdateFinishedTrialError):
            if outcome.error is not None:
                self.storage.set_trial_user_attr(self._id(number), "error", outcome.error)
            values = [outcome.cost, outcome.seconds, float(n_evals)]
            self.storage.set_trial_state_values(self._id(number), TrialState.COMPLETE, values)

    def withdraw(self, number: int) -> None:
        """End an offer that is not complete."""
        with suppress(UpdateFinishedTrialError):
            self.storage.set_trial_state_values(self._id(number), TrialState.FAIL)

    @property
    def finished(self) -> bool:
        """Whether the tuning is over, so that workers can end."""
        return bool(self.storage.get_study_user_attrs(self._study).get(FINISHED_KEY))

    def finish(self, finished: bool) -> None:
        """Store whether the tuning is over."""
        self.storage.set_study_user_attr(self._study, FINISHED_KEY, finished)

    @property
    def worker_options(self) -> Any:
        """The options of the tuning for workers that only know the storage; None until they are stored."""
        return self.storage.get_study_user_attrs(self._study).get(OPTIONS_KEY)

    @worker_options.setter
    def worker_options(self, worker_options: Any) -> None:
        self.storage.set_study_user_attr(self._study, OPTIONS_KEY, worker_options)

    def _id(self, number: int) -> int:
        return self.storage.get_trial_id_from_study_id_trial_number(self._study, number)


def check_shared(storage: Any) -> None:
    """Refuse a storage, or the name of one, in which two workers could claim the same offer."""
    if storage is None or isinstance(storage, InMemoryStorage):
        raise ValueError("workers need a storage that other processes reach: a journal file's name or a database's URL")
    url = storage.url if isinstance(storage, RDBStorage) else storage
    if isinstance(url, str) and "://" in url and url.startswith("sqlite"):
        raise ValueError(
            "workers cannot share SQLite: claims are not atomic there, so experiments would be done twice; "
            "give a journal file's name, or the URL of PostgreSQL or MySQL"
        )


def worker_timeout(limits: TargetLimits) -> float:
    """Return the seconds after which the experiment of a worker counts as lost."""
    if limits.timeout is None:
        raise ValueError("run_max_time must be given with workers: it defines when an experiment counts as lost")
    return limits.timeout


# -- the tuner's side --------------------------------------------------------------------------------------------------


class QueuedTarget(Target):
    """A target that leaves experiments to workers.

    Parameters
    ----------
    target : Target
        The target of the workers.
    queue : WorkQueue
        Queue of the experiments.
    limits : TargetLimits
        Limits of an experiment, after which it counts as lost.
    """

    batched = True

    def __init__(self, target: Target, queue: WorkQueue, limits: TargetLimits) -> None:
        self.target = target
        self.queue = queue
        self.timeout = worker_timeout(limits)
        self._latest = {experiment_of(offer): offer.number for offer in queue.offers()}  # also those before a kill
        self._since: dict[int, float] = {}  # when an offer was first seen running, by this process's clock
        self._last_check = 0.0
        self._given_up: dict[int, TargetOutcome] = {}  # by configurations that hang, or end their workers

    def run(self, jobs: Sequence[TargetJob]) -> Generator[TargetOutcome]:
        """Offer all jobs, then yield their outcomes in the order of the jobs."""
        if self.queue.finished:  # a tuning that is resumed
            self.queue.finish(False)
        experiments = [QueuedExperiment(job.configuration, job.index, job.seed) for job in jobs]
        for experiment in experiments:
            if experiment not in self._latest:
                self._latest[experiment] = self.queue.offer(experiment, 1)
        for experiment in experiments:
            yield self._wait(experiment)

    def _wait(self, experiment: QueuedExperiment) -> TargetOutcome:
        """Return the outcome of an experiment, offering it again if a worker lost it."""
        since = time.monotonic()
        while True:
            offer = self.queue.get(self._latest[experiment])
            if offer.state == TrialState.COMPLETE:
                return outcome_of(offer)
            if experiment.configuration in self._given_up:
                return self._given_up[experiment.configuration]
            if offer.state == TrialState.FAIL:
                turn = offer.user_attrs["turn"]
                if turn >= MOST_OFFERS:
                    lost = TargetOutcome(math.inf, turn * self.timeout, error=f"lost by {turn} workers, or it hangs")
                    return self._give_up(experiment.configuration, lost)
                self._latest[experiment] = self.queue.offer(experiment, turn + 1)
            self._withdraw_lost()
            pause(since)

    def _give_up(self, configuration: int, outcome: TargetOutcome) -> TargetOutcome:
        """Withdraw all offers of a configuration, so that it blocks no more workers; return their outcome."""
        self._given_up[configuration] = outcome
        for experiment, number in self._latest.items():
            if experiment.configuration == configuration:
                self.queue.withdraw(number)
        return outcome

    def _withdraw_lost(self) -> None:
        """Withdraw the offers that have been running for too long."""
        now = time.monotonic()
        if now - self._last_check < min(CHECK_SECONDS, self.timeout / 4):
            return
        self._last_check = now
        running = [offer.number for offer in self.queue.offers(TrialState.RUNNING)]
        self._since = {number: self._since.get(number, now) for number in running}
        for number, since in self._since.items():
            if now - since > self.timeout:
                self.queue.withdraw(number)

    def finish(self) -> None:
        """Let the workers end."""
        self.queue.finish(True)

    def describe(self) -> str:
        """Return a reproducible text on the target."""
        return self.target.describe()

    def configure(self, params: dict[str, Any]) -> Any:
        """Return the target with the values of a configuration."""
        return self.target.configure(params)

    def check(self, instances: Sequence[Any]) -> None:
        """Refuse instances that the target cannot take."""
        self.target.check(instances)

    @property
    def local(self) -> Target:
        """The target of the workers."""
        return self.target


def experiment_of(offer: FrozenTrial) -> QueuedExperiment:
    """Return the experiment of an offer."""
    for name in (*QueuedExperiment._fields, "turn"):
        if not isinstance(offer.user_attrs.get(name), int):
            raise ValueError(
                f"the queue in the storage is damaged: {name} of offer {offer.number} is "
                f"{offer.user_attrs.get(name)!r}; give another storage or study_name"
            )
    return QueuedExperiment(*(offer.user_attrs[name] for name in QueuedExperiment._fields))


def outcome_of(offer: FrozenTrial) -> TargetOutcome:
    """Return the outcome of a complete offer."""
    cost, seconds, n_evals = offer.values
    return TargetOutcome(cost, seconds, None if n_evals < 0 else int(n_evals), offer.user_attrs.get("error"))


# -- a worker's side ---------------------------------------------------------------------------------------------------


def work(
    queue: WorkQueue,
    params_of: Callable[[int], dict[str, Any]],
    instances: Sequence[Any],
    target: Target,
    has_workers: Callable[[], bool] = lambda: True,
) -> int:
    """Run offered experiments until the tuning is over, or goes on without workers; return how many were done."""
    done = 0
    since = time.monotonic()
    while True:
        if not has_workers():
            logger.warning("%s", WITHOUT_WORKERS)
            return done
        waiting = queue.offers(TrialState.WAITING)
        claimed = claim_batch(
            queue, waiting, lambda experiment: target.batch_size(instances[experiment.instance], experiment.seed)
        )
        left = {offer.number for offer in claimed}
        try:
            jobs = [job_of(experiment_of(offer), params_of, instances) for offer in claimed]
            with closing(target.run(jobs)) as outcomes:
                for offer, outcome in zip(claimed, outcomes, strict=True):
                    queue.deliver(offer.number, outcome)
                    left.remove(offer.number)
                    done += 1
        except BaseException:  # such as Ctrl-C; withdrawn experiments need not wait until they count as lost
            for number in left:
                queue.withdraw(number)
            raise
        if waiting:
            since = time.monotonic()
        elif queue.finished:
            return done
        else:
            pause(since)


def claim_batch(
    queue: WorkQueue, waiting: Sequence[FrozenTrial], batch_size: Callable[[QueuedExperiment], int]
) -> list[FrozenTrial]:
    """Claim an offer, and others with its instance and seed, as far as other workers are not faster.

    No more than run at once: the time after which an experiment counts as lost begins with the claim.
    """
    order = random.sample(waiting, len(waiting))  # so that workers seldom want the same
    claimed: list[FrozenTrial] = []
    most = 0
    for offer in order:
        experiment = experiment_of(offer)
        if not claimed:  # before the claim: an instance that cannot be made leaves none behind
            most = batch_size(experiment)
        elif experiment[1:] != experiment_of(claimed[0])[1:]:
            continue
        if queue.claim(offer.number):
            claimed.append(offer)
            if len(claimed) == most:
                break
    return claimed


def job_of(
    experiment: QueuedExperiment, params_of: Callable[[int], dict[str, Any]], instances: Sequence[Any]
) -> TargetJob:
    """Return an offer's job."""
    return TargetJob(
        experiment.configuration,
        params_of(experiment.configuration),
        experiment.instance,
        instances[experiment.instance],
        experiment.seed,
    )
