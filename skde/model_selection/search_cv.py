"""EvolutionSearchCV: search for the parameters of an estimator of scikit-learn, with cross-validation."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import check_scoring
from sklearn.model_selection import RandomizedSearchCV, check_cv
from sklearn.utils import indexable

from skde.algorithms import Algorithm
from skde.callbacks import callback_list
from skde.model_selection.cv_results import cv_results
from skde.model_selection.evaluation import SearchEnd, SearchEvaluation, SearchLimits, SearchProgress
from skde.model_selection.fold_fits import SCORE, FoldTask
from skde.model_selection.parameter_space import Condition, ParameterSpace
from skde.model_selection.search_record import SearchRecord
from skde.model_selection.search_setting import describe_input, digests
from skde.model_selection.searches import RACING, find_search, random_search
from skde.notebook import bundle_with, curve_svg, html_with
from skde.stopping import MESSAGES, Status
from skde.utils.progress_bar import ProgressBar
from skde.utils.random_state import first_seed
from skde.utils.validation import check_int, check_jobs, check_path, check_real, check_verbose, quote, suggest_names

ALL_TRIED = "All configurations of the space were tried."
ALL_SPENT = "The fits of the search are used up."
# Attributes that only some searches have.
BEST = ("best_index_", "best_score_", "best_params_", "best_estimator_", "refit_time_", "feature_names_in_")


class EvolutionSearchCV(RandomizedSearchCV):
    """Search for the best parameters of an estimator by racing or by an evolutionary algorithm.

    The interface is `sklearn.model_selection.RandomizedSearchCV`'s.

    With ``search="racing"``, configurations race over the splits of the cross-validation: after the third split, and
    after each later one, those that a statistical test finds worse than the best are given up. The fits that this
    saves go to new configurations, which are drawn around the best ones with the help of a model of all scores. The
    last configurations have all their fits.

    Parameters
    ----------
    estimator : estimator
        It is cloned for every fit.
    param_distributions : mapping, or list of mappings
        By the name of a parameter: a list of values, a distribution of scipy.stats, one of Optuna, or a typed variable
        such as `skde.Log`; not a pair of numbers. Of a list of mappings, a configuration has the parameters of one.
    conditions : mapping of str to callable, or None, default None
        condition(values) returns whether a parameter applies, from the dict of the others' values, in any order. A
        parameter that does not apply is not set; for other conditions it is None.
    search : str or Algorithm, default "racing"
        "racing", which needs ``skde[tuning]``; an algorithm's name, such as "jde", with a population of a sixth of
        n_iter; or a parameter object, such as DE(pop_size=20). Where these are not possible, n_iter random
        configurations are tried with all their splits, and message_ says so (docs/hyperparameters.md).
    n_iter : int, default 60
        The budget: as many fits as n_iter configurations with all their splits. A race tries more configurations, most
        of them on some splits. All configurations are tried, with any `search`, where the space has at most n_iter.
    max_time : float or None, default None
        Time limit in seconds, > 0, checked after every fit. The last fit and the refit come on top.
    scoring : str, callable, list, tuple, dict or None, default None
        As in `RandomizedSearchCV`: one metric or several.
    n_jobs : int or None, default None
        Workers of joblib, as in scikit-learn: None: 1; -1: as many as processors. All fits of a generation, or up to
        the next test of a race, are handed out at once.
    refit : bool, str or callable, default True
        Whether the best configuration is fitted to all data. With several metrics: the name of the one to search by, a
        function of cv_results_ that returns best_index_, or False; the search then goes by the first metric.
    cv : int, splitter, iterable or None, default None
        The splits, which are the same for all configurations. A race over the splits of a repeated cross-validation,
        such as RepeatedStratifiedKFold, has more steps to give up bad configurations.
    verbose : int, default 0
        1: a progress bar, and a line where random configurations are tried.
    pre_dispatch : int or str, default "2*n_jobs"
        Fits that joblib hands out ahead.
    random_state : int, RandomState, Generator or None, default None
        Makes the search repeatable, with any n_jobs, as far as the fits are. (With a guided race, which uses LAPACK,
        perhaps not on another processor.) None: NumPy's global state makes the seed.
    error_score : float or "raise", default NaN
        The score of a fit that fails.
    return_train_score : bool, default False
        Whether cv_results_ has the scores on the training rows.
    callbacks : callable, list of callables or None, default None
        Called with a `SearchProgress` after every batch of fits. One that returns a true value, or raises
        StopIteration, ends the search.
    checkpoint : str, path or None, default None
        A file for the scores so far, written about every second as data, with which `resume` continues after a kill.

    Attributes
    ----------
    best_params_, best_score_, best_index_, best_estimator_, cv_results_, refit_time_, scorer_, multimetric_, n_splits_
        As in `RandomizedSearchCV`. Scores of splits that a configuration was not tried on are NaN, and means are over
        those that there are; a configuration with fewer fits ranks after all with more.
    n_fits_ : int
        The number of fits.
    candidate_fits_ : ndarray of shape (n_candidates,)
        The number of splits that each configuration of cv_results_ was tried on.
    message_ : str
        The reason for the end of the search.
    history_ : dict of str to ndarray
        "n_fits", "seconds" and "best_score" after every batch of fits, and at the time limit; the score belongs to the
        best configuration with all its fits.

    Notes
    -----
    No configuration is fitted twice on the same split. After Ctrl-C, `fit` raises KeyboardInterrupt, and cv_results_
    and best_params_ have the fits so far; `resume` continues.

    scikit-learn's own callbacks (`set_callbacks`) are refused, because an estimator can call them by private functions
    of scikit-learn only: use ``callbacks``.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from skde.estimators import EvolutionSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> space = {"C": loguniform(1e-2, 1e3), "gamma": loguniform(1e-4, 10)}
    >>> search = EvolutionSearchCV(SVC(), space, search="jde", n_iter=30, random_state=0).fit(X, y)
    >>> bool(search.best_score_ > 0.97)
    True
    """

    @suggest_names
    def __init__(
        self,
        estimator: Any,
        param_distributions: Any,
        *,
        conditions: Mapping[str, Condition] | None = None,
        search: str | Algorithm = RACING,
        n_iter: int = 60,
        max_time: float | None = None,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: Any = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: Any = "2*n_jobs",
        random_state: Any = None,
        error_score: Any = np.nan,
        return_train_score: bool = False,
        callbacks: Callable[[SearchProgress], Any] | Sequence[Callable[[SearchProgress], Any]] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> None:
        super().__init__(
            estimator,
            param_distributions,
            n_iter=n_iter,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            random_state=random_state,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.conditions = conditions
        self.search = search
        self.max_time = max_time
        self.callbacks = callbacks
        self.checkpoint = checkpoint

    def set_callbacks(self, *callbacks: Any) -> Any:
        """Refuse scikit-learn's callbacks.

        Raises
        ------
        NotImplementedError
            For any callback.
        """
        if callbacks:
            raise NotImplementedError(
                "EvolutionSearchCV does not call scikit-learn's callbacks, for which scikit-learn has private "
                "functions only: use callbacks=..."
            )
        return self

    def fit(self, X: Any, y: Any = None, **params: Any) -> EvolutionSearchCV:
        """Search, and fit the best configuration to all data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The data.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), or None, default None
            The targets.
        **params
            Metadata, such as groups and sample_weight: for the estimator and the splitter or, with metadata routing,
            for those that request it. Values with one row for each of X are split.

        Returns
        -------
        self : EvolutionSearchCV

        Raises
        ------
        ValueError, TypeError
            For parameters that are not allowed, and where all fits fail.
        KeyboardInterrupt
            After Ctrl-C. The results so far can be read, and `resume` continues.
        """
        if self.checkpoint is not None and os.path.exists(check_path("checkpoint", self.checkpoint)):
            raise ValueError(
                f"checkpoint={os.fspath(self.checkpoint)!r} exists: resume(X, y) continues the search in it; give "
                "another name, or remove it, to begin one"
            )
        return self._run(X, y, params, None)

    def resume(self, X: Any, y: Any = None, **params: Any) -> EvolutionSearchCV:
        """Continue a search that was interrupted, killed or limited, with the limits that are set now.

        The scores come from the file `checkpoint` or, without a file, from this object. The search
        is repeated from its beginning, and only fits without a score are done, so that it ends as if it had not been
        interrupted. A splitter that shuffles needs a fixed random_state for that.

        Parameters
        ----------
        X, y, **params
            As in `fit`, the same data.

        Returns
        -------
        self : EvolutionSearchCV

        Raises
        ------
        ValueError
            If there is nothing to resume, or the search had other data or parameters.
        """
        if self.checkpoint is not None and os.path.exists(check_path("checkpoint", self.checkpoint)):
            return self._run(X, y, params, SearchRecord.load(self.checkpoint))
        if not hasattr(self, "_record"):
            raise ValueError("there is no search to resume: begin one by fit(X, y)")
        return self._run(X, y, params, self._record)

    # -- the search ----------------------------------------------------------------------------------------------------

    def _run(self, X: Any, y: Any, params: dict[str, Any], record: SearchRecord | None) -> EvolutionSearchCV:
        self._check()
        space = ParameterSpace(self.param_distributions, self.conditions)
        search = find_search(self.search)
        scorer, self.scorer_ = self._scorers()
        X, y = indexable(X, y)
        routed = self._route(params)
        splits = self._splits(X, y, routed.splitter.split)
        single = self.scoring is None or isinstance(self.scoring, str)
        task = FoldTask(
            clone(self.estimator),
            X,
            y,
            scorer,
            (SCORE,) if single else tuple(self.scorer_) if isinstance(self.scorer_, dict) else (),
            routed.estimator.fit,
            routed.scorer.score,
            self.error_score,
            self.return_train_score,
        )
        self._record = self._begin_record(record, self._setting(task, splits, space))
        limits = SearchLimits(self.n_iter, self.max_time, check_jobs(self.n_jobs), self.pre_dispatch)
        metric = self.refit if isinstance(self.refit, str) else None
        evaluation = SearchEvaluation(task, splits, space, self._record, metric, limits)
        evaluation.search, evaluation.checkpoint = self, self.checkpoint
        evaluation.callbacks = callback_list(self.callbacks)
        self._search_to_the_end(evaluation, search)
        if self.refit:
            self._refit(X, y, routed.estimator.fit)
        return self

    def _search_to_the_end(self, evaluation: SearchEvaluation, search: Callable[[SearchEvaluation], None]) -> None:
        """Search, and store the results, also those before an exception."""
        bar = ProgressBar(evaluation.describe, evaluation.n_fits, "fit") if check_verbose(self.verbose) else None
        if bar is not None:
            evaluation.on_fit, evaluation.on_remark = bar.move, bar.write
        message = ""
        try:
            every = evaluation.space.all_candidates(self.n_iter)
            drawn = [parameter.name for parameter in evaluation.space.parameters if parameter.drawn]
            if every is None:
                if drawn:
                    random_search(evaluation, f"the distribution of {drawn[0]!r} has the method rvs alone")
                else:
                    search(evaluation)
                message = " ".join([ALL_SPENT, *(f"{text}." for text in evaluation.remarks)])
            else:
                evaluation.mean_costs(every)
                message = ALL_TRIED
        except SearchEnd as end:
            message = str(end)
        except KeyboardInterrupt:
            message = MESSAGES[Status.INTERRUPTED]
            raise
        except BaseException as error:
            message = f"The search failed with {type(error).__name__}: {error}".splitlines()[0]
            raise
        finally:
            if bar is not None:
                bar.close()
            if evaluation.tried:
                self._store(evaluation, message)
            evaluation.save()  # last: a file that cannot be written must not take the results
        self._warn(evaluation)

    def _forget(self) -> None:
        """Remove the best configuration of an earlier search: not every search finds one, or comes to its refit."""
        for name in BEST:
            if hasattr(self, name):
                delattr(self, name)

    def _store(self, evaluation: SearchEvaluation, message: str) -> None:
        """Store the results of the fits so far."""
        self._forget()
        self.message_ = message
        record = evaluation.record
        candidates = evaluation.tried
        scores = [record.scores[one.identity] for one in candidates]
        fits = [fit for of_splits in scores for fit in of_splits.values()]
        self.multimetric_ = any(fit.several for fit in fits) or isinstance(self.scorer_, dict)
        self.n_fits_, self.candidate_fits_ = len(fits), np.array([len(of_splits) for of_splits in scores])
        columns = zip(*evaluation.history, strict=True) if evaluation.history else ((), (), ())
        names = ("n_fits", "seconds", "best_score")
        self.history_ = {name: np.array(column) for name, column in zip(names, columns, strict=True)}
        self.cv_results_ = cv_results(
            candidates, scores, evaluation.n_splits, self.error_score, self.return_train_score
        )
        if self.refit or not self.multimetric_:
            self._select_best()

    def _select_best(self) -> None:
        """Store the best configuration."""
        results = self.cv_results_
        if callable(self.refit):
            index = self.refit(results)
            if not isinstance(index, Integral):
                raise TypeError(f"best_index_ returned is not an integer: refit returned {quote(index)}")
            self.best_index_ = int(index)
            if not 0 <= self.best_index_ < len(results["params"]):
                raise IndexError(f"best_index_ index out of range: refit returned {index}")
        else:
            metric = self.refit if self.multimetric_ else SCORE
            self._check_metric(metric, [name[10:] for name in results if name.startswith("rank_test_")])
            self.best_index_ = int(results[f"rank_test_{metric}"].argmin())
            self.best_score_ = results[f"mean_test_{metric}"][self.best_index_]
        self.best_params_ = results["params"][self.best_index_]

    def _refit(self, X: Any, y: Any, fit_params: dict[str, Any]) -> None:
        """Fit the best configuration to all data."""
        best = clone(self.estimator)
        self.best_estimator_ = best.set_params(**clone(self.best_params_, safe=False))
        begin = time.perf_counter()
        self.best_estimator_.fit(X, *(() if y is None else (y,)), **fit_params)
        self.refit_time_ = time.perf_counter() - begin
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_

    def _warn(self, evaluation: SearchEvaluation) -> None:
        """Warn of fits that failed, and of means that are not finite."""
        for name, means in self.cv_results_.items():
            if name.startswith(("mean_test_", "mean_train_")) and not np.isfinite(means).all():
                kind = name.split("_")[1]
                warnings.warn(f"One or more of the {kind} scores are non-finite: {means}", UserWarning, stacklevel=4)
        failed = evaluation.failures()
        if failed:
            last = failed[-1].strip().splitlines()[-1]
            warnings.warn(
                f"{len(failed)} fits failed out of a total of {evaluation.record.n_fits}. The score on these train-test"
                f" partitions for these parameters will be set to {self.error_score}. If these failures are not "
                "expected, you can try to debug them by setting error_score='raise'. Below are more details about the "
                f"failures: {last}",
                FitFailedWarning,
                stacklevel=4,
            )

    # -- notebooks -----------------------------------------------------------------------------------------------------

    @property
    def _repr_html_(self) -> Callable[[], str]:
        """scikit-learn's description and, after a search, the best score over fits."""
        return html_with(self._curve, super()._repr_html_)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        return bundle_with(self._curve, super()._repr_mimebundle_(**kwargs))

    def _curve(self) -> str:
        """Return an SVG of the best score over fits; empty before a search."""
        history = getattr(self, "history_", None)
        if history is None or not len(history["n_fits"]):
            return ""
        # The best score so far is a step function.
        fits, best = np.repeat(history["n_fits"], 2)[1:], np.repeat(history["best_score"], 2)[:-1]
        return curve_svg(fits, [best] * 3, f"best mean score {history['best_score'][-1]:.4g}", "fits", self.message_)

    # -- inputs --------------------------------------------------------------------------------------------------------

    def _check(self) -> None:
        """Check the parameters that nothing else checks."""
        if not hasattr(self.estimator, "fit"):
            raise TypeError(f"estimator must have the method fit, got {quote(self.estimator)}")
        check_int("n_iter", self.n_iter, 1)
        check_jobs(self.n_jobs)
        check_verbose(self.verbose)
        callback_list(self.callbacks)
        if self.max_time is not None:
            check_real("max_time", self.max_time, 0, low_open=True)
        error = self.error_score
        if error != "raise" and not isinstance(error, int | float | np.number):
            raise ValueError(f"error_score must be 'raise' or a number, got {quote(error)}")

    def _scorers(self) -> tuple[Any, Any]:
        """Return the scorer of all metrics, and the scorer or scorers for `score`."""
        if not isinstance(self.scoring, list | tuple | set | dict):
            scorer = check_scoring(self.estimator, self.scoring)
            return scorer, scorer
        together = check_scoring(self.estimator, self.scoring, raise_exc=self.error_score == "raise")
        given = self.scoring if isinstance(self.scoring, dict) else {name: name for name in self.scoring}
        by_name = {name: check_scoring(self.estimator, one) for name, one in given.items()}
        if self.refit is not False and not callable(self.refit):
            self._check_metric(self.refit, list(by_name))
        return together, by_name

    def _check_metric(self, metric: Any, names: list[str]) -> None:
        if not (isinstance(metric, str) and metric in names):
            raise ValueError(
                "For multi-metric scoring, the parameter refit must be set to a scorer key or a callable to refit an "
                "estimator with the best parameter setting on the whole data and make the best_* attributes available "
                "for that metric. If this is not needed, refit should be set to False explicitly. "
                f"{self.refit!r} was passed; the scorers are {', '.join(map(repr, names))}."
            )

    def _route(self, params: dict[str, Any]) -> Any:
        """Return the metadata for the estimator's fit, for the splitter and for the scorer."""
        # The base class alone knows whether the scorers of the installed version take sample_weight; scikit-learn has
        # no public function for it.
        return self._get_routed_params_for_fit(params)

    def _splits(self, X: Any, y: Any, params: dict[str, Any]) -> list[tuple[Any, Any]]:
        """Return the splits, which are the same for all configurations."""
        splitter = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        self.n_splits_ = int(splitter.get_n_splits(X, y, **params))
        splits = list(splitter.split(X, y, **params))
        if len(splits) != self.n_splits_:
            raise ValueError(
                "cv.split and cv.get_n_splits return inconsistent results. "
                f"Expected {self.n_splits_} splits, got {len(splits)}"
            )
        if not splits:
            raise ValueError("No fits were performed. Was the CV iterator empty? Were there no candidates?")
        return splits

    def _setting(self, task: FoldTask, splits: list[tuple[Any, Any]], space: ParameterSpace) -> dict[str, str]:
        """Return the inputs that the scores of a search depend on, as text."""
        points = [space.at(np.full(len(space.parameters), u)).identity for u in (0.0, 0.3, 1.0)]
        choices = [parameter.choices for parameter in space.parameters if parameter.choices is not None]
        return {
            "estimator": describe_input(self.estimator),
            "search": describe_input(self.search),
            "scoring": describe_input(self.scoring),
            "return_train_score": describe_input(self.return_train_score),
            "random_state": describe_input(self.random_state if isinstance(self.random_state, Integral) else None),
            "choices": describe_input(choices),
            "space": ", ".join(points),
            "n_splits": describe_input(len(splits)),
            "data and splits": joblib.hash((task.X, task.y, splits)),
            "fit parameters": digests(task.fit_params),
            "score parameters": digests(task.score_params),
        }

    def _begin_record(self, record: SearchRecord | None, setting: dict[str, str]) -> SearchRecord:
        """Return the record to continue, or a new one."""
        if record is not None:
            record.check(setting)
            return record
        return SearchRecord(first_seed(self.random_state), setting)
