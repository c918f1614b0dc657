"""Fits of a few generations."""

from __future__ import annotations

from typing import Any

from skde import Minimizer

BOX = [(-5.0, 5.0)] * 3


def f(X: Any) -> Any:
    """Sum of squares."""
    return (X * X).sum(axis=1)


def fit(
    objective: Any = f, *, algorithm: Any = "jde", fit_options: dict[str, Any] | None = None, **parameters: Any
) -> Any:
    """Fit for a few generations."""
    options = {"max_iter": 5, "random_state": 0, "device": "cpu", **parameters}
    return Minimizer(algorithm, **options).fit(objective, **({"bounds": BOX} if fit_options is None else fit_options))
