"""The table of a search, in the form of scikit-learn's cv_results_."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.ma import MaskedArray
from scipy.stats import rankdata

from skde.model_selection.fold_fits import FoldScores, error_value
from skde.model_selection.parameter_space import Candidate
from skde.typing import FloatArray
from skde.variables.choices import as_plain


def cv_results(
    candidates: Sequence[Candidate],
    scores: Sequence[dict[int, FoldScores]],
    n_splits: int,
    error_score: Any,
    train_score: bool,
) -> dict[str, Any]:
    """Return the table of a search, one row a configuration.

    A fit that was not done is NaN, and means are over the fits that were done. Ranks are first by the number of fits:
    a configuration that was given up after two splits has no rank before one that has all of them.
    """

    def table(value: Any) -> FloatArray:
        """Return a value of every fit, of shape (candidates, splits); NaN where it was not done."""
        return np.array(
            [[value(of_splits[s]) if s in of_splits else np.nan for s in range(n_splits)] for of_splits in scores]
        ).reshape(len(candidates), n_splits)

    done = table(lambda fit: 1.0) == 1.0
    results: dict[str, Any] = {}
    for name in ("fit_time", "score_time"):
        times = table(lambda fit, name=name: getattr(fit, name))
        results[f"mean_{name}"], results[f"std_{name}"] = mean_and_std(times, done)
    results.update(parameter_columns(candidates))
    results["params"] = [candidate.params for candidate in candidates]
    default = error_value(error_score)
    fits = [fit for of_splits in scores for fit in of_splits.values()]
    # A scorer that fails has one number, whether or not it would have had several metrics.
    named = [fit for fit in fits if fit.several] or fits
    for metric in dict.fromkeys(name for fit in named for name in fit.test):
        add_scores(results, f"test_{metric}", table(lambda fit, m=metric: fit.test.get(m, default)), done)
        results[f"rank_test_{metric}"] = ranks(results[f"mean_test_{metric}"], done.sum(axis=1))
        if train_score:
            add_scores(results, f"train_{metric}", table(lambda fit, m=metric: fit.train.get(m, default)), done)
    return results


def add_scores(results: dict[str, Any], name: str, values: FloatArray, done: Any) -> None:
    """Add the columns of one metric."""
    for split in range(values.shape[1]):
        results[f"split{split}_{name}"] = values[:, split]
    results[f"mean_{name}"], results[f"std_{name}"] = mean_and_std(values, done)


def mean_and_std(values: FloatArray, done: Any) -> tuple[FloatArray, FloatArray]:
    """Return mean and standard deviation of the fits that were done; a NaN among these makes them NaN."""
    count = done.sum(axis=1)
    mean = np.where(done, values, 0.0).sum(axis=1) / count
    with np.errstate(invalid="ignore"):  # inf - inf
        spread = np.where(done, values - mean[:, None], 0.0)
    return mean, np.sqrt((spread**2).sum(axis=1) / count)


def ranks(means: FloatArray, n_fits: Any) -> Any:
    """Return ranks from 1: NaN last, then by the number of fits, then by the mean; equal ones share the best rank."""
    failed = np.isnan(means)
    order = np.stack([failed, -n_fits * ~failed, np.where(failed, 0.0, -means)])
    _, level = np.unique(order, axis=1, return_inverse=True)
    return rankdata(np.ravel(level), method="min").astype(np.int32)


def parameter_columns(candidates: Sequence[Candidate]) -> dict[str, Any]:
    """Return a masked array of the values of every parameter; masked where it does not apply."""
    columns: dict[str, Any] = {}
    for name in dict.fromkeys(name for candidate in candidates for name in candidate.params):
        present = [name in candidate.params for candidate in candidates]
        given = [candidate.params[name] for candidate in candidates if name in candidate.params]
        data: MaskedArray[Any, Any] = MaskedArray(np.empty(len(candidates), column_type(given)), mask=True)
        for row, value in zip(np.flatnonzero(present), given, strict=True):
            data[row] = value
        columns[f"param_{name}"] = data
    return columns


def column_type(values: Sequence[Any]) -> Any:
    """Return the type of a column: its numbers' or booleans', if all have room, else object."""
    values = list(map(as_plain, values))
    kinds = {type(value) for value in values}
    if kinds <= {bool} or kinds <= {int} or kinds <= {float} or kinds <= {int, float}:
        with suppress(OverflowError):
            return np.array(values, np.result_type(*kinds)).dtype
    return object
