"""
A classifier with the largest AUC
=================================

The area under the ROC curve is the share of the pairs (malignant, benign) that a score puts in order. It is a step
function of the weights, without a gradient. Logistic regression maximises a smooth function instead; here the AUC
itself is the objective of a linear score.
"""

from collections.abc import Callable
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import RocCurveDisplay, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from skde import Minimizer, array_namespace, find_gpus

DEVICE = "cuda" if find_gpus()[0] else "cpu"  # Python functions run on the CPU unless a GPU is named

# %%
# The objective takes a whole population: one matrix product gives the scores of all weights, on NumPy or CuPy arrays.
# The sum of the positives' ranks gives the number of pairs in order (Mann-Whitney statistic). Positives come first in
# the data and the sort is stable, so that positives get the lower ranks of equal scores: a tied pair counts as wrong,
# and a constant score has an AUC of 0.


def one_minus_auc(X: Any, y: Any) -> Callable[[Any], Any]:
    """Return f(W) -> 1 - AUC of the scores X W^T, one value a row of W."""
    n_positive, n_negative = int(np.sum(y == 1)), int(np.sum(y == 0))
    rows = np.concatenate([X[y == 1], X[y == 0]])
    most, least = n_positive * n_negative, n_positive * (n_positive + 1) / 2
    data = {}  # by library, so that the rows go to the GPU once

    def objective(W: Any) -> Any:
        xp = array_namespace(W)
        if xp not in data:
            data[xp] = xp.asarray(rows), xp.arange(1.0, len(rows) + 1)
        samples, ranks = data[xp]
        order = xp.argsort(samples @ W.T, axis=0, kind="stable")
        rank_sums = ranks @ (order < n_positive).astype(samples.dtype)
        return 1.0 - (rank_sums - least) / most

    return objective


# %%
# Only the direction of the weights matters, so any box around zero will do. The fit ends when all pairs are in order.

X, y = load_breast_cancer(return_X_y=True)
y = 1 - y  # positive: malignant
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, stratify=y, random_state=0)
scaler = StandardScaler().fit(X_train)
X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)

search = Minimizer("jde", max_evals=20_000, target=0.0, device=DEVICE, random_state=0)
search.fit(one_minus_auc(X_train, y_train), bounds=[(-1.0, 1.0)] * X.shape[1])
search

# %%
# Logistic regression for comparison. With so few wrong pairs left, more of them in order on the training rows need not
# be more on the test rows.

logistic = LogisticRegression().fit(X_train, y_train)
scores = {
    "AUC maximised": (X_train @ search.x_, X_test @ search.x_),
    "logistic regression": (logistic.decision_function(X_train), logistic.decision_function(X_test)),
}
auc = {}
for name, (train, test) in scores.items():
    auc[name] = roc_auc_score(y_train, train), roc_auc_score(y_test, test)
    print(f"{name:<20}  train {auc[name][0]:.4f}  test {auc[name][1]:.4f}")

figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, part, truth in zip(axes, (0, 1), (y_train, y_test), strict=True):
    for name, of in scores.items():
        RocCurveDisplay.from_predictions(truth, of[part], name=name, ax=ax)
    ax.set(title=("training rows", "test rows")[part], xlim=(-0.01, 0.3), ylim=(0.7, 1.01))
    ax.set(xlabel="false positive rate", ylabel="true positive rate")
plt.show()
