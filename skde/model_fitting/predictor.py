"""Predictions of a model for one or many candidates."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from skde.model_fitting.samples import is_complex, real_parts
from skde.model_fitting.user_functions import call_with_data
from skde.typing import Array, FloatArray
from skde.utils.arrays import array_namespace, is_on_gpu, real_array

LINEAR = "linear"
FAILURES = ON_ERROR_RAISE, ON_ERROR_NAN = "raise", "nan"


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
    given : data frame or None, default None
        What the model gets as X; None: the array.
    complex_valued : bool, default False
        Whether predictions are complex: real parts, and then imaginary parts, are two samples for each row of X.
    on_error : {"raise", "nan"}, default "raise"
        Whether a candidate for which the model fails has predictions of NaN.

    Attributes
    ----------
    n_evals : int
        The number of candidates so far.
    first_error : str
        The first failure of the model for a candidate that has NaN; empty: there was none.
    """

    def __init__(
        self,
        model: Callable[[Array, Array], Any],
        X: Array,
        vectorized: bool,
        n_outputs: int | None = None,
        *,
        given: Any = None,
        complex_valued: bool = False,
        on_error: str = ON_ERROR_RAISE,
    ) -> None:
        self.model = model
        self.X = X
        self.given = X if given is None else given
        self.vectorized = vectorized
        self.complex_valued = complex_valued
        self.on_error = on_error
        self.returned = (len(X),) if n_outputs is None else (len(X), n_outputs)
        self.shape = (2 * len(X),) if complex_valued else self.returned
        self.n_evals = 0
        self.first_error = ""

    def __call__(self, theta: Array) -> Array:
        """Return the predictions for candidates of shape (n, n_parameters), of shape (n, n_samples, ...).

        Floating-point warnings are off: candidates are from the whole box, and those that fail have NaN.
        """
        self.n_evals += len(theta)
        xp = array_namespace(self.X)
        theta = xp.array(theta)  # a copy, because a model may change it
        with np.errstate(all="ignore"):
            if not self.vectorized:
                return self.predict_in_turn(theta)
            if self.on_error == ON_ERROR_RAISE:
                return self.of_candidates(theta)
            try:
                return self.of_candidates(theta.copy())
            except Exception:  # of one candidate at least: which ones is found out
                return self.predict_in_turn(theta)

    def of_candidates(self, theta: Array) -> Array:
        """Return the predictions of a vectorised model."""
        return self.check_predictions(self.outputs(theta.T[:, :, None]), len(theta))

    def predict_in_turn(self, theta: Array) -> Array:
        """Return the predictions for one candidate after the other."""
        xp = array_namespace(self.X)
        predictions = xp.empty((len(theta), *self.shape))
        for k, row in enumerate(theta):
            predictions[k] = self.of_candidate(row)
        return predictions

    def of_candidate(self, row: Array) -> Array:
        """Return the predictions for one candidate; NaN where the model fails and this is allowed."""
        try:
            if self.vectorized:
                return self.of_candidates(row[None])[0]
            return self.check_predictions(self.outputs(row), None)
        except Exception as error:  # whatever the user's code raises
            if self.on_error == ON_ERROR_RAISE:
                raise
            self.note(error)
            return array_namespace(self.X).full(self.shape, np.nan)

    def note(self, error: Exception) -> None:
        """Warn of the first failure."""
        if not self.first_error:
            self.first_error = repr(error)
            warnings.warn(
                f"the model failed: {error!r}; with on_error='nan' the loss of candidates that fail is NaN",
                RuntimeWarning,
                stacklevel=2,
            )

    def one(self, theta: FloatArray) -> Array:
        """Return the predictions for one candidate of shape (n_parameters,)."""
        return self(theta[None])[0]

    def outputs(self, theta: Array) -> Any:
        """Return what the model gives for parameters on the first axis; an index that is missing is explained."""
        try:
            return call_with_data(self.model, self.given, theta)
        except IndexError as error:
            error.add_note(f"the model was given {len(theta)} parameters, one for each bound, and X of {self.X.shape}")
            raise

    def check_predictions(self, predictions: Any, n: int | None) -> Array:
        """Return predictions for n candidates, or for one without an axis, as an array of float64, or refuse them."""
        shape = self.returned if n is None else (n, *self.returned)
        array = self.real(predictions, shape)
        return array if array.dtype == np.float64 else array.astype(np.float64)

    def real(self, predictions: Any, shape: tuple[int, ...]) -> Array:
        """Return predictions as real numbers; complex ones as their parts."""
        name, xp = "the model's predictions", array_namespace(self.X)
        if self.complex_valued and is_complex(predictions):
            predictions = predictions if is_on_gpu(predictions) else np.asarray(predictions)
            parts = [real_array(getattr(predictions, part), self.X, name) for part in ("real", "imag")]
            array = parts[0] + 1j * parts[1]
        else:
            array = real_array(predictions, self.X, name)
        if array.shape != shape:
            hint = (
                "theta[j] has the shape (n, 1), and a model of one candidate needs vectorized=False"
                if self.vectorized
                else "theta has the shape (n_parameters,)"
            )
            raise ValueError(f"the model must return predictions of shape {shape}, got {array.shape}; {hint}")
        return real_parts(xp.asarray(array)) if self.complex_valued else array


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
