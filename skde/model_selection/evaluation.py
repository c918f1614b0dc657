"""The fits of a search: every configuration and split once, a whole generation at a time to joblib."""

from __future__ import annotations

import math
import os
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np

from skde.callbacks import stops
from skde.model_selection.fold_fits import SCORING_FAILED, FoldScores, FoldTask, error_value, fit_and_score
from skde.model_selection.parameter_space import Candidate, ParameterSpace
from skde.model_selection.search_record import SearchRecord
from skde.stopping import MESSAGES, Status

SAVE_SECONDS = 1.0  # between two writes of the file


class SearchEnd(Exception):
    """The end of a search before its number of fits is used up."""


@dataclass(frozen=True)
class SearchProgress:
    """A search that runs, for callbacks.

    Attributes
    ----------
    search : EvolutionSearchCV
        The search.
    n_fits, n_candidates : int
        Fits so far, and configurations with at least one.
    seconds : float
        Since the search began.
    best_score : float
        The best mean score of a configuration with all its fits; NaN before there is one.
    best_params : dict or None
        That configuration.
    """

    search: Any
    n_fits: int
    n_candidates: int
    seconds: float
    best_score: float
    best_params: dict[str, Any] | None


@dataclass(frozen=True)
class SearchLimits:
    """Limits and workers of a search.

    Attributes
    ----------
    n_iter : int
        The fits that the search may do, in configurations with all their splits.
    max_time : float or None
        Seconds.
    n_jobs : int or None
        Workers of joblib.
    pre_dispatch : int or str
        Fits that joblib hands out ahead.
    """

    n_iter: int
    max_time: float | None
    n_jobs: int | None
    pre_dispatch: Any


class SearchEvaluation:
    """The fits of a search, which a method of search asks for.

    Parameters
    ----------
    task : FoldTask
        The inputs of all fits.
    splits : list of pairs of arrays
        Training and test rows.
    space : ParameterSpace
        The configurations.
    record : SearchRecord
        The scores so far.
    metric : str or None
        The metric to search by; None: the first one.
    limits : SearchLimits
        Limits and workers.

    Attributes
    ----------
    candidates : dict of str to Candidate
        The configurations, by identity.
    history : list of tuple
        Fits, seconds and best score after every batch of fits.
    remarks : list of str
        Texts of the method of search about what it does.
    """

    def __init__(
        self,
        task: FoldTask,
        splits: list[tuple[Any, Any]],
        space: ParameterSpace,
        record: SearchRecord,
        metric: str | None,
        limits: SearchLimits,
    ) -> None:
        self.task = task
        self.splits = splits
        self.space = space
        self.record = record
        self.metric = metric
        self.limits = limits
        self.search: Any = None
        self.callbacks: Sequence[Callable[[SearchProgress], Any]] = []
        self.checkpoint: str | os.PathLike[str] | None = None
        self.on_fit: Callable[[], None] | None = None  # called after every fit
        self.on_remark: Callable[[str], None] | None = None
        self.remarks: list[str] = []
        self.candidates: dict[str, Candidate] = {}
        self.history: list[tuple[int, float, float]] = []
        self._begin = time.monotonic()
        self._saved = self._begin

    # -- for methods of search -----------------------------------------------------------------------------------------

    @property
    def n_splits(self) -> int:
        """The number of splits."""
        return len(self.splits)

    @property
    def n_fits(self) -> int:
        """The fits that the search may do."""
        return self.limits.n_iter * self.n_splits

    @property
    def n_iter(self) -> int:
        """The configurations that the search may try with all their splits."""
        return self.limits.n_iter

    @property
    def seed(self) -> int:
        """The seed of the search."""
        return self.record.seed

    def costs(self, pairs: Sequence[tuple[Candidate, int]]) -> list[float]:
        """Return the costs of configurations on splits; fits that are missing go to joblib together.

        Returns
        -------
        costs : list of float
            Minus the score of the metric; infinite for a fit that failed.

        Raises
        ------
        SearchEnd
            At the time limit, and where a callback asks for it.
        ValueError
            When all fits have failed.
        """
        missing: dict[tuple[str, int], Candidate] = {}
        for candidate, split in pairs:
            self.candidates.setdefault(candidate.identity, candidate)
            if split not in self.record.scores.get(candidate.identity, {}):
                missing[candidate.identity, split] = candidate
        if missing:
            self._fit(missing)
            self._report()
        return [self.cost(candidate, split) for candidate, split in pairs]

    def remark(self, text: str) -> None:
        """Say what the search does, for `message_` and for verbose."""
        self.remarks.append(text)
        if self.on_remark is not None:
            self.on_remark(f"skde: {text}")

    def cost(self, candidate: Candidate, split: int) -> float:
        """Return the cost of a fit that is done."""
        score = self.score(self.record.scores[candidate.identity][split])
        return math.inf if math.isnan(score) else -score

    def mean_costs(self, candidates: Sequence[Candidate]) -> list[float]:
        """Return the mean costs of configurations over all splits."""
        pairs = [(candidate, split) for candidate in candidates for split in range(self.n_splits)]
        costs = np.reshape(self.costs(pairs), (len(candidates), self.n_splits))
        return [float(cost) for cost in costs.mean(axis=1)]

    def describe(self) -> tuple[int, str]:
        """Return the number of fits, and the best score, once a configuration has all its fits."""
        best = self.history[-1][2] if self.history else math.nan
        return self.record.n_fits, "" if math.isnan(best) else f"best score {best:.6g}"

    # -- fits ----------------------------------------------------------------------------------------------------------

    def score(self, scores: FoldScores) -> float:
        """Return the score of the metric to search by; the error score of a fit that failed before it had metrics."""
        metric = self.metric if self.metric is not None and scores.several else next(iter(scores.test), "")
        return scores.test.get(metric, error_value(self.task.error_score))

    def _fit(self, missing: dict[tuple[str, int], Candidate]) -> None:
        parallel = joblib.Parallel(
            n_jobs=self.limits.n_jobs, pre_dispatch=self.limits.pre_dispatch, return_as="generator"
        )
        fits = parallel(
            joblib.delayed(fit_and_score)(self.task, candidate.params, *self.splits[split])
            for (_, split), candidate in missing.items()
        )
        with closing_quietly(fits):
            for (identity, split), scores in zip(missing, fits, strict=True):
                self.record.add(identity, split, scores)
                if self.metric is not None and scores.several and self.metric not in scores.test:
                    raise ValueError(
                        "For multi-metric scoring, the parameter refit must be set to a scorer key or a callable; "
                        f"refit={self.metric!r} is none of {', '.join(map(repr, scores.test))}"
                    )
                if self.on_fit is not None:
                    self.on_fit()
                limit = self.limits.max_time
                if limit is not None and time.monotonic() - self._begin >= limit:
                    self._note()
                    raise SearchEnd(MESSAGES[Status.TIME])
        for failed in (self.failures(), self.scoring_failures()):
            if len(failed) == self.record.n_fits:
                raise ValueError(
                    f"All the {len(failed)} fits failed. It is very likely that your model is misconfigured. You can "
                    f"try to debug the error by setting error_score='raise'. The last error:\n{failed[-1]}"
                )

    @property
    def tried(self) -> list[Candidate]:
        """The configurations with at least one fit, in the order in which the search asked for them."""
        return [one for identity, one in self.candidates.items() if identity in self.record.scores]

    def failures(self) -> list[str]:
        """Return the tracebacks of the fits that failed."""
        return [error for error in self._errors() if not error.startswith(SCORING_FAILED)]

    def scoring_failures(self) -> list[str]:
        """Return the tracebacks of the fits that have no score because the scorer failed."""
        return [error for error in self._errors() if error.startswith(SCORING_FAILED)]

    def _errors(self) -> list[str]:
        return [one.error for of_splits in self.record.scores.values() for one in of_splits.values() if one.error]

    # -- reports -------------------------------------------------------------------------------------------------------

    def complete(self, identity: str) -> bool:
        """Whether a configuration has all its fits."""
        return len(self.record.scores.get(identity, {})) == self.n_splits

    def best(self) -> tuple[float, Candidate | None]:
        """Return the best mean score of a configuration with all its fits, and that configuration."""
        best_score, best = math.nan, None
        for identity, candidate in self.candidates.items():
            if self.complete(identity):
                score = float(np.mean([self.score(one) for one in self.record.scores[identity].values()]))
                if score > best_score or math.isnan(best_score):
                    best_score, best = score, candidate
        return best_score, best

    def progress(self) -> SearchProgress:
        """Return the state of the search for callbacks."""
        score, best = self.best()
        seconds = time.monotonic() - self._begin
        params = None if best is None else dict(best.params)
        return SearchProgress(self.search, self.record.n_fits, len(self.tried), seconds, score, params)

    def _note(self) -> SearchProgress:
        """Add the state of the search to its history, and return it."""
        progress = self.progress()
        self.history.append((progress.n_fits, progress.seconds, progress.best_score))
        return progress

    def _report(self) -> None:
        """Write the file, and call the callbacks."""
        progress = self._note()
        if time.monotonic() - self._saved >= SAVE_SECONDS:
            self.save()
        if stops(self.callbacks, progress):
            raise SearchEnd(MESSAGES[Status.CALLBACK])

    def save(self) -> None:
        """Write the file, if there is to be one; without a score it would only keep `fit` from beginning."""
        if self.checkpoint is not None and self.record.scores:
            self.record.save(self.checkpoint)
        self._saved = time.monotonic()


@contextmanager
def closing_quietly(fits: Generator[FoldScores]) -> Iterator[None]:
    """Close joblib's generator at the end, without its warning of fits that were begun and not used."""
    try:
        yield
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            fits.close()
