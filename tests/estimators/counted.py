"""A classifier with a known best, and searches of its parameters."""

from __future__ import annotations

from collections import Counter
from typing import Any, ClassVar

import numpy as np
from scipy.stats import uniform
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris

from skde.estimators import EvolutionSearchCV

X, y = load_iris(return_X_y=True)


class Counted(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier with a score that its parameters say, of which fits are noted in FITS."""

    FITS: ClassVar[Counter[tuple[Any, ...]]] = Counter()
    CALLS: ClassVar[list[dict[str, Any]]] = []

    def __init__(self, a: float = 0.0, b: float = 0.0, mode: str = "x", fails: float = 2.0) -> None:
        self.a, self.b, self.mode, self.fails = a, b, mode, fails

    def fit(self, X: Any, y: Any, **params: Any) -> Counted:
        self.FITS[self.a, self.b, self.mode, float(np.sum(X)), len(X)] += 1
        self.CALLS.append(params)
        if self.a > self.fails:
            raise ValueError("a is too large")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.zeros(len(X), int)

    def score(self, X: Any, y: Any) -> float:
        return float(1 - (self.a - 0.7) ** 2 - (self.b - 0.2) ** 2 + 1e-3 * X[0, 0])


def search(space: Any = None, **parameters: Any) -> EvolutionSearchCV:
    given = {"n_iter": 24, "random_state": 0, "cv": 3, **parameters}
    return EvolutionSearchCV(Counted(), space or {"a": uniform(0, 1), "b": uniform(0, 1)}, **given)
