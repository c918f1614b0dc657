"""The pairs of a data set and an estimator, with the space to search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from scipy.stats import loguniform, randint, uniform
from sklearn import datasets
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import ElasticNet, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

DIGITS = 500  # rows of digits, so that a fit takes some milliseconds


@dataclass(frozen=True)
class Task:
    """A data set, an estimator and its space."""

    data: Callable[..., Any]
    estimator: Any
    space: dict[str, Any]
    rows: int | None = None

    def load(self) -> tuple[Any, Any]:
        """Return X and y."""
        X, y = self.data(return_X_y=True)
        return (X, y) if self.rows is None else (X[: self.rows], y[: self.rows])


def add_scaler(estimator: Any) -> Any:
    """Return an estimator after a scaler."""
    return make_pipeline(StandardScaler(), estimator)


SVC_SPACE = {"svc__C": loguniform(1e-2, 1e4), "svc__gamma": loguniform(1e-6, 1e1)}
TREE_SPACE = {
    "max_depth": randint(1, 21),
    "min_samples_leaf": randint(1, 31),
    "max_features": uniform(0.1, 0.9),
    "ccp_alpha": loguniform(1e-6, 1e-1),
}
TASKS = {
    "breast cancer, SVC": Task(datasets.load_breast_cancer, add_scaler(SVC()), SVC_SPACE),
    "wine, SVC": Task(datasets.load_wine, add_scaler(SVC()), SVC_SPACE),
    "digits, SVC": Task(datasets.load_digits, add_scaler(SVC()), SVC_SPACE, DIGITS),
    "breast cancer, logistic regression": Task(
        datasets.load_breast_cancer,
        add_scaler(LogisticRegression(max_iter=300)),
        {"logisticregression__C": loguniform(1e-4, 1e4), "logisticregression__class_weight": [None, "balanced"]},
    ),
    "digits, neighbours": Task(
        datasets.load_digits,
        KNeighborsClassifier(),
        {"n_neighbors": randint(1, 41), "weights": ["uniform", "distance"], "p": uniform(1, 4)},
        DIGITS,
    ),
    "breast cancer, tree": Task(
        datasets.load_breast_cancer,
        DecisionTreeClassifier(random_state=0),
        {**TREE_SPACE, "criterion": ["gini", "entropy"]},
    ),
    "diabetes, SVR": Task(
        datasets.load_diabetes,
        add_scaler(SVR()),
        {"svr__C": loguniform(1e-1, 1e4), "svr__gamma": loguniform(1e-6, 1e1), "svr__epsilon": loguniform(1e-2, 1e2)},
    ),
    "diabetes, kernel ridge": Task(
        datasets.load_diabetes,
        add_scaler(KernelRidge(kernel="rbf")),
        {"kernelridge__alpha": loguniform(1e-6, 1e2), "kernelridge__gamma": loguniform(1e-6, 1e1)},
    ),
    "diabetes, elastic net": Task(
        datasets.load_diabetes,
        add_scaler(ElasticNet()),
        {"elasticnet__alpha": loguniform(1e-4, 1e2), "elasticnet__l1_ratio": uniform(0, 1)},
    ),
    "diabetes, extra trees": Task(
        datasets.load_diabetes,
        ExtraTreesRegressor(n_estimators=5, random_state=0),
        TREE_SPACE,
    ),
    "diabetes, tree": Task(datasets.load_diabetes, DecisionTreeRegressor(random_state=0), TREE_SPACE),
}
