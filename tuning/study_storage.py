"""Storage of a tuning by Optuna: configurations as trials, results as intermediate values by step."""

from __future__ import annotations

import json
import math
import os
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Any

import optuna
from optuna.exceptions import ExperimentalWarning
from optuna.storages import BaseStorage, InMemoryStorage, RDBStorage
from optuna.study import Study, StudyDirection
from optuna.trial import TrialState, create_trial

from skde.tuning.journal import open_journal
from skde.tuning.race import Experiment
from skde.tuning.space import Configuration
from skde.utils.validation import check_int

STUDY = "skde-tuning"
IDENTITY = "skde:tuning"
WORKERS = "skde:workers"
ERROR, COST = "error", "cost"
RETRY_SECONDS = 0.5
_VERBOSITY = RLock()


@contextmanager
def quiet_optuna() -> Iterator[None]:
    """Leave out Optuna's line about a new study."""
    with _VERBOSITY:  # threads would restore each other's verbosity
        before = optuna.logging.get_verbosity()
        optuna.logging.set_verbosity(max(before, optuna.logging.WARNING))
        try:
            yield
        finally:
            optuna.logging.set_verbosity(before)


def open_storage(storage: Any) -> BaseStorage:
    """Return the storage for a file's name, a database's URL, a storage, or None: in memory."""
    if storage is None:
        return InMemoryStorage()
    if isinstance(storage, BaseStorage):
        return storage
    if not isinstance(storage, str | os.PathLike):
        raise TypeError(
            "storage must be None, a file's name, a URL or a storage of Optuna, "
            f"got {storage!r} ({type(storage).__name__})"
        )
    if "://" in str(storage):
        return open_database(str(storage))
    return open_journal(os.fspath(storage))


def refuse_missing(storage: Any, name: str) -> None:
    """Refuse to resume from a file that is not there: to open it would make it.

    Raises
    ------
    ValueError
        With the way to begin a tuning.
    """
    path = file_of(storage)
    if path is not None and not os.path.exists(path):
        raise ValueError(f"the storage holds no tuning to resume, {name!r}: begin it by fit()")


def file_of(storage: Any) -> str | None:
    """Return the file of a journal's name or of SQLite's URL; None of other storages."""
    if not isinstance(storage, str | os.PathLike):
        return None
    if "://" not in str(storage):
        return os.fspath(storage)
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        url = make_url(str(storage))
    except ArgumentError:  # open_database says why
        return None
    return url.database if url.get_backend_name() == "sqlite" and url.database != ":memory:" else None


def open_database(url: str, tries: int = 3) -> RDBStorage:
    """Return the storage in a database; failures are retried, because another process may be making the tables."""
    from sqlalchemy.exc import ArgumentError, SQLAlchemyError

    kind = url.partition("://")[0]  # what follows may have a password
    try:
        return RDBStorage(url)
    except ImportError as error:
        raise RuntimeError(
            f"the driver for {kind}:// is not installed ({error.__cause__ or error}): pip install psycopg2-binary for "
            "postgresql+psycopg2://, pymysql for mysql+pymysql://"
        ) from None
    except SQLAlchemyError as error:
        if tries == 1 or isinstance(error, ArgumentError):
            raise RuntimeError(f"the storage {kind}://... cannot be opened: {error}") from None
    time.sleep(RETRY_SECONDS)
    return open_database(url, tries - 1)


class StudyRecord:
    """A tuning's study.

    Parameters
    ----------
    storage : BaseStorage
        Storage of the study.
    identity : dict
        The inputs of the tuning's decisions, as data.
    resume : bool
        Whether the study must exist, or must not.
    name : str, default STUDY
        Name of the study; a storage may have several.
    workers : bool or None, default None
        Whether the tuning leaves its experiments to workers; None: as it is stored.

    Attributes
    ----------
    stored : dict of Experiment to float
        The stored results.
    errors : dict of int to str
        The reasons of failures, by configuration.

    Raises
    ------
    ValueError
        For a study that must exist and does not, or must not and does, and for another tuning's.
    """

    def __init__(
        self,
        storage: BaseStorage,
        identity: dict[str, Any],
        resume: bool,
        name: str = STUDY,
        workers: bool | None = None,
    ) -> None:
        self.storage = storage
        self.name = name
        self.stored: dict[Experiment, float] = {}
        self.errors: dict[int, str] = {}
        self._trials: list[int] = []
        self._params: list[dict[str, Any]] = []
        self._done: list[bool] = []
        self._study: int
        if resume:
            self._load(identity)
            if workers is not None and workers != self.has_workers:
                storage.set_study_user_attr(self._study, WORKERS, workers)
            return
        described = json.dumps(identity, sort_keys=True)
        try:
            with quiet_optuna():
                self._study = storage.create_new_study([StudyDirection.MINIMIZE], name)
        except optuna.exceptions.DuplicatedStudyError:
            raise ValueError(
                f"the storage holds a tuning already, {name!r}: continue it by resume(), or give another storage or "
                "study_name"
            ) from None
        if workers:  # before workers see that there is a tuning
            storage.set_study_user_attr(self._study, WORKERS, True)
        storage.set_study_user_attr(self._study, IDENTITY, described)

    @property
    def has_workers(self) -> bool:
        """Whether the tuning leaves its experiments to workers."""
        return bool(self.storage.get_study_user_attrs(self._study).get(WORKERS))

    @staticmethod
    def exists(storage: BaseStorage, name: str = STUDY) -> bool:
        """Whether a storage holds a tuning of this name that has begun."""
        studies = {study.study_name: study for study in storage.get_all_studies()}
        return name in studies and IDENTITY in studies[name].user_attrs

    @staticmethod
    def identity(storage: BaseStorage, name: str = STUDY) -> dict[str, Any]:
        """Return the identity of the tuning of this name in a storage.

        Raises
        ------
        ValueError
            If there is none.
        """
        try:
            study = storage.get_study_id_from_name(name)
        except KeyError:
            raise ValueError(f"the storage holds no tuning to resume, {name!r}: begin it by fit()") from None
        text = storage.get_study_user_attrs(study).get(IDENTITY)
        if text is None:
            raise ValueError(f"the study {name!r} in the storage is not of a tuning")
        try:
            identity: dict[str, Any] = json.loads(text)
            check_int("random_state", identity["random_state"], 0)
        except (ValueError, TypeError, KeyError):
            raise ValueError(
                f"the tuning {name!r} in the storage is damaged: what it was begun with cannot be read; give another "
                "storage or study_name"
            ) from None
        return identity

    def _load(self, identity: dict[str, Any]) -> None:
        there = self.identity(self.storage, self.name)
        for name, value in json.loads(json.dumps(identity)).items():
            if there.get(name) != value:
                raise ValueError(
                    f"the tuning in the storage had another {name.replace('_', ' ')}, {there.get(name)!r}, than "
                    f"this one, {value!r}; a tuning can only be resumed as it was begun"
                )
        self._study = self.storage.get_study_id_from_name(self.name)
        for trial in self.storage.get_all_trials(self._study, deepcopy=False):
            self._trials.append(self.storage.get_trial_id_from_study_id_trial_number(self._study, trial.number))
            self._params.append(restore_tuples(trial.params))
            self._done.append(trial.state.is_finished())
            if ERROR in trial.user_attrs:
                self.errors[trial.number] = trial.user_attrs[ERROR]
            for step, cost in trial.intermediate_values.items():
                self.stored[Experiment(trial.number, step)] = cost

    def reload(self) -> StudyRecord:
        """Return the record of the same tuning, read from the storage."""
        return StudyRecord(self.storage, self.identity(self.storage, self.name), resume=True, name=self.name)

    @property
    def study(self) -> Study:
        """The study."""
        return optuna.load_study(study_name=self.name, storage=self.storage)

    def name_value(self, name: str) -> None:
        """Store the name of the trials' value, for Optuna's plots and tables."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ExperimentalWarning)
            self.study.set_metric_names([name])

    def add(self, number: int, configuration: Configuration, race: int) -> None:
        """Add a configuration that is not stored yet, and check one that is.

        Raises
        ------
        ValueError
            If another configuration has this number.
        """
        if number < len(self._trials):
            if self._params[number] != restore_tuples(configuration.params):
                raise ValueError(
                    f"configuration {number} of the tuning in the storage is {self._params[number]!r}, but the space "
                    f"gives {configuration.params!r} now; a tuning can only be resumed with the space it was begun with"
                )
            return
        trial = create_trial(
            state=TrialState.RUNNING,
            params=configuration.params,
            distributions=configuration.distributions,
            user_attrs={"race": race},
        )
        self._trials.append(self.storage.create_new_trial(self._study, trial))
        self._params.append(restore_tuples(configuration.params))
        self._done.append(False)

    def params(self, number: int) -> dict[str, Any]:
        """Return a configuration's values, also of one that another process has added."""
        while number >= len(self._params):
            trial = self.storage.get_trial_id_from_study_id_trial_number(self._study, len(self._params))
            self._trials.append(trial)
            self._params.append(restore_tuples(self.storage.get_trial(trial).params))
            self._done.append(False)
        return self._params[number]

    def report(self, experiment: Experiment, cost: float, error: str | None = None) -> None:
        """Store a result, and why it is a failure."""
        if error:
            self.storage.set_trial_user_attr(self._trials[experiment.configuration], ERROR, error)
        self.storage.set_trial_intermediate_value(self._trials[experiment.configuration], experiment.step, cost)
        self.stored[experiment] = cost

    def finish(self, number: int, state: TrialState, value: float = math.inf, cost: float = math.inf) -> None:
        """End a configuration's trial.

        Parameters
        ----------
        number : int
            The configuration.
        state : TrialState
            COMPLETE; PRUNED for one that a race has eliminated; FAIL for one that has failed.
        value, cost : float
            Value of the trial, and the mean cost, an attribute of it; not of one that has failed.
        """
        if self._done[number]:
            return
        trial, failed = self._trials[number], state == TrialState.FAIL
        if not failed:
            self.storage.set_trial_user_attr(trial, COST, cost)
        self.storage.set_trial_state_values(trial, state, None if failed else [value])
        self._done[number] = True

    def store_race(self, iteration: int, summary: dict[str, Any]) -> None:
        """Store the summary of a race that is over."""
        self.storage.set_study_user_attr(self._study, f"race {iteration}", summary)


def restore_tuples(params: dict[str, Any]) -> dict[str, Any]:
    """Return parameters with tuples for the lists that storages make of them, as of hidden_layer_sizes=(10, 10)."""
    return {name: as_tuple(value) for name, value in params.items()}


def as_tuple(value: Any) -> Any:
    """Return lists, and those within, as tuples."""
    return tuple(as_tuple(part) for part in value) if isinstance(value, list | tuple) else value
