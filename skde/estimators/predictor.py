"""Predictions of a model for one or many candidates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from skde.arrays import array_namespace, real_array
from skde.estimators.user_functions import call_with_data
from skde.typing import Array, FloatArray

LINEAR = "linear"


class Predictor:
    """The predictions of a model for given samples.

    Parameters
    ----------
    model : callable
        model(X, theta).
    X : ndarray of shape (n_samples, n_features)
        The samples, NumPy or CuPy.
    vectorized : bool
        Whether the model takes many candidates at once.
    n_outputs : int or None, default None
        Numbers that the model predicts for a sample; None: one, without an axis.

    Attributes
    ----------
    n_evals : int
        The number of candidates so far.
    """

    def __init__(
        self, model: Callable[[Array, Array], Any], X: Array, vectorized: bool, n_outputs: int | None = None
    ) -> None:
        self.model = model
        self.X = X
        self.vectorized = vectorized
        self.shape = (len(X),) if n_outputs is None else (len(X), n_outputs)
        self.n_evals = 0

    def __call__(self, theta: Array) -> Array:
        """Return the predictions for candidates of shape (n, n_parameters), of shape (n, n_samples, ...).

        Floating-point warnings are off: candidates are from the whole box, and those that fail have NaN.
        """
        self.n_evals += len(theta)
        xp = array_namespace(self.X)
        theta = xp.array(theta)  # a copy, because a model may change it
        with np.errstate(all="ignore"):
            if self.vectorized:
                return self.checked(self.outputs(theta.T[:, :, None]), (len(theta), *self.shape))
            predictions = xp.empty((len(theta), *self.shape))
            for k, row in enumerate(theta):
                predictions[k] = self.checked(self.outputs(row), self.shape)
        return predictions

    def one(self, theta: FloatArray) -> Array:
        """Return the predictions for one candidate of shape (n_parameters,)."""
        return self(theta[None])[0]

    def outputs(self, theta: Array) -> Any:
        """Return what the model gives for parameters on the first axis; an index that is missing is explained."""
        try:
            return call_with_data(self.model, self.X, theta)
        except IndexError as error:
            error.add_note(f"the model was given {len(theta)} parameters, one for each bound, and X of {self.X.shape}")
            raise

    def checked(self, predictions: Any, shape: tuple[int, ...]) -> Array:
        """Return predictions as an array of float64 of this shape, or refuse them."""
        array = real_array(predictions, self.X, "the model's predictions")
        if array.shape != shape:
            hint = (
                "theta[j] has the shape (n, 1), and a model of one candidate needs vectorized=False"
                if self.vectorized
                else "theta has the shape (n_parameters,)"
            )
            raise ValueError(f"the model must return predictions of shape {shape}, got {array.shape}; {hint}")
        return array if array.dtype == np.float64 else array.astype(np.float64)


class LinearModel:
    """An intercept and a coefficient for each feature, for every output.

    Parameters
    ----------
    n_outputs : int or None
        As in `Predictor`.
    """

    def __init__(self, n_outputs: int | None) -> None:
        self.n_outputs = n_outputs

    def names(self, n_features: int) -> list[str]:
        """Return the names of the parameters."""
        names = ["intercept", *(f"coef{j}" for j in range(n_features))]
        return names if self.n_outputs is None else [f"{name}_{k}" for k in range(self.n_outputs) for name in names]

    def __call__(self, X: Array, theta: Array) -> Array:
        """Return the predictions, with theta of shape (n_parameters, n, 1)."""
        outputs = 1 if self.n_outputs is None else self.n_outputs
        weights = theta[:, :, 0].T.reshape(theta.shape[1], outputs, -1)
        out = weights[:, :, :1] + weights[:, :, 1:] @ X.T
        return out[:, 0] if self.n_outputs is None else out.transpose(0, 2, 1)
