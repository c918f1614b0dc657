"""Maximise the area under the ROC curve of a linear classifier directly.

The AUC is the share of the pairs (malignant, benign) that a score puts in order. It is a step function of the weights,
without a gradient. Logistic regression maximises a smooth function instead; here the AUC itself is the objective. One
matrix product gives the scores of a whole population of weights, on NumPy or CuPy arrays:

    python auc_breast_cancer.py --device cpu
    python auc_breast_cancer.py --device cuda
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from skde import Minimizer


def array_module(array: Any) -> Any:
    """Return the library that an array belongs to; CuPy is imported only by those that use it."""
    if type(array).__module__.partition(".")[0] == "cupy":
        return sys.modules["cupy"]
    return np


def make_objective(X: Any, y: Any) -> Callable[[Any], Any]:
    """Return f(W) -> 1 - AUC of the scores X W^T, one value a row of W.

    The sum of the positives' ranks gives the number of pairs in order (Mann-Whitney statistic). Positives come first in
    the data and the sort is stable, so positives get the lower ranks of equal scores: a tied pair counts as wrong, and
    a constant score has an AUC of 0.
    """
    n_positive, n_negative = int(np.sum(y == 1)), int(np.sum(y == 0))
    rows = np.concatenate([X[y == 1], X[y == 0]])
    most, least = n_positive * n_negative, n_positive * (n_positive + 1) / 2
    data = {}  # by library, so that the rows go to the GPU once

    def objective(W: Any) -> Any:
        xp = array_module(W)
        if xp not in data:
            data[xp] = xp.asarray(rows), xp.arange(1.0, len(rows) + 1)
        samples, ranks = data[xp]
        scores = samples @ W.T
        order = xp.argsort(scores, axis=0, kind="stable")
        rank_sums = ranks @ (order < n_positive).astype(scores.dtype)
        return 1.0 - (rank_sums - least) / most

    return objective


def main(device: str = "cpu", max_evals: int = 40_000, random_state: int = 0) -> dict[str, float]:
    """Fit both classifiers and return their AUC on the training and the test data."""
    X, y = load_breast_cancer(return_X_y=True)
    y = 1 - y  # positive: malignant
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, stratify=y, random_state=random_state)
    scaler = StandardScaler().fit(X)
    X, X_test = scaler.transform(X), scaler.transform(X_test)

    # Only the direction of the weights matters, so any box around zero will do.
    search = Minimizer("jde", max_evals=max_evals, target=0.0, device=device, random_state=random_state)
    search.fit(make_objective(X, y), bounds=[(-1.0, 1.0)] * X.shape[1])
    logistic = LogisticRegression().fit(X, y)

    return {
        "train": roc_auc_score(y, X @ search.x_),
        "test": roc_auc_score(y_test, X_test @ search.x_),
        "logistic_train": roc_auc_score(y, logistic.decision_function(X)),
        "logistic_test": roc_auc_score(y_test, logistic.decision_function(X_test)),
        "seconds": search.time_,
        "n_evals": search.n_evals_,
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu", help="cpu, cuda or cuda:N (default: cpu)")
    parser.add_argument("--max-evals", type=int, default=40_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    found = main(arguments.device, arguments.max_evals, arguments.seed)
    print(f"{found['n_evals']} evaluations in {found['seconds']:.2f} s on {arguments.device}")
    print("AUC                  train    test")
    print(f"directly maximised  {found['train']:.4f}  {found['test']:.4f}")
    print(f"LogisticRegression  {found['logistic_train']:.4f}  {found['logistic_test']:.4f}")
