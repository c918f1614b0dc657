"""ModelClassifier: fit any model(X, theta) to classes, under any loss."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from skde.algorithms import Algorithm
from skde.model_fitting.base_model import BaseModel, Model
from skde.model_fitting.class_losses import LOG_LOSS, OUTPUTS, PROBABILITY, ClassSamples, Responses, classification_loss
from skde.model_fitting.fit_watch import ModelProgress
from skde.model_fitting.losses import Loss
from skde.model_fitting.predictor import LINEAR
from skde.model_fitting.samples import OMIT, missing
from skde.typing import Array
from skde.utils.arrays import to_numpy
from skde.utils.validation import check_choice, quote, suggest_names

RESPONSES = ("decision_function", "predict_proba", "predict")


class ModelClassifier(ClassifierMixin, BaseModel):
    """Fit the parameters of any model to classes, under any loss.

    The search is `ModelRegressor`'s.

    Parameters
    ----------
    model : callable or "linear", default "linear"
        model(X, theta) returns, for every row of X, a decision value or, for K > 2 classes, K of them on the last axis.
        theta[j] is the j-th parameter. "linear": an intercept and a coefficient for each feature.
    bounds : array-like of shape (n_parameters, 2), Bounds, mapping or list of Variable, default (-100, 100)
        Bounds of the parameters, or typed variables, as in `Minimizer`. One pair is enough for model="linear".
    loss : str or callable, default "log_loss"
        "log_loss", the weighted mean of minus the logarithm of the class's probability; "roc_auc" or "f1" (two
        classes), "accuracy", or another name of `sklearn.metrics.get_scorer_names()`, minus the score; or
        loss(y, response), where weights are given with sample_weight=weights, which returns a number.
    output : {"decision", "probability"}, default "decision"
        The model's values: log-odds, with 0 between two classes, and for several classes logarithms of probabilities up
        to a constant; or probabilities, of two classes the second's, and of several divided by their sum.
        Candidates with a value outside [0, 1], or with a sum of 0, have failed: their loss is NaN.
    response_method : {"decision_function", "predict_proba", "predict"}, default "decision_function"
        The second argument of a callable loss: the model's values, probabilities of shape (n_samples, n_classes), or
        classes.
    penalty : {"l1", "l2"}, callable or None, default "l2"
        As in `ModelRegressor`. Without a penalty, a linear model of classes that can be separated ends at its bounds.
    alpha : float, default 1e-4
        The factor of the penalty, >= 0.
    vectorized : bool, default False
        As in `ModelRegressor`; for K > 2 classes the model returns values of shape (n_samples, K), or with True
        (n, n_samples, K).
    algorithm, max_evals, max_time
        As in `ModelRegressor`.
    polish : bool, default True
        As in `ModelRegressor`, for the loss "log_loss".
    n_agreeing, max_restarts, agreement_tol
        As in `ModelRegressor`.
    standard_errors : {"bootstrap"} or None, default None
        As in `ModelRegressor`; samples are drawn within each class.
    n_bootstrap, device, n_jobs, callbacks, random_state, constraints, on_error, nan_policy
        As in `ModelRegressor`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    theta_, params_, loss_, standard_errors_, covariance_, bootstrap_thetas_, n_evals_, n_restarts_, n_agreeing_
        As in `ModelRegressor`.
    restart_losses_, converged_
        As in `ModelRegressor`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from skde.estimators import ModelClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = scale(X[:, [7, 20]])
    >>> auc = ModelClassifier(loss="roc_auc", bounds=(-1, 1), max_evals=500, max_restarts=3, random_state=0).fit(X, y)
    >>> round(-auc.loss_, 2)
    0.99
    """

    @suggest_names
    def __init__(
        self,
        model: str | Model = LINEAR,
        bounds: Any = (-100.0, 100.0),
        *,
        loss: Any = LOG_LOSS,
        output: str = "decision",
        response_method: str = "decision_function",
        penalty: str | Callable[[Array], Any] | None = "l2",
        alpha: float = 1e-4,
        vectorized: bool = False,
        algorithm: str | Algorithm = "lshade",
        max_evals: int | None = None,
        max_time: float | None = None,
        polish: bool = True,
        n_agreeing: int = 3,
        max_restarts: int = 20,
        agreement_tol: float = 1e-6,
        standard_errors: str | None = None,
        n_bootstrap: int = 200,
        device: str = "auto",
        n_jobs: int | None = None,
        callbacks: Callable[[ModelProgress], Any] | Sequence[Callable[[ModelProgress], Any]] | None = None,
        random_state: Any = None,
        constraints: Any = None,
        on_error: str = "raise",
        nan_policy: str = "raise",
    ) -> None:
        self.model = model
        self.bounds = bounds
        self.loss = loss
        self.output = output
        self.response_method = response_method
        self.penalty = penalty
        self.alpha = alpha
        self.vectorized = vectorized
        self.algorithm = algorithm
        self.max_evals = max_evals
        self.max_time = max_time
        self.polish = polish
        self.n_agreeing = n_agreeing
        self.max_restarts = max_restarts
        self.agreement_tol = agreement_tol
        self.standard_errors = standard_errors
        self.n_bootstrap = n_bootstrap
        self.device = device
        self.n_jobs = n_jobs
        self.callbacks = callbacks
        self.random_state = random_state
        self.constraints = constraints
        self.on_error = on_error
        self.nan_policy = nan_policy

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ModelClassifier:
        """Fit the parameters.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), NumPy or CuPy
            The samples.
        y : array-like of shape (n_samples,)
            The classes, at least two.
        sample_weight : array-like of shape (n_samples,) or None, default None
            Weights >= 0; samples of the weight 0 are left out.

        Returns
        -------
        self : ModelClassifier

        Raises
        ------
        ValueError, TypeError
            For parameters, predictions or losses that are not allowed, and where no candidate has a finite loss.
        KeyboardInterrupt
            After Ctrl-C, with the best parameters so far, unless nothing had been evaluated.
        """
        check_choice("output", self.output, OUTPUTS)
        check_choice("response_method", self.response_method, RESPONSES)
        number = self._place(X)
        self._forget()
        samples = self._samples(X, y, sample_weight)
        y = samples.y
        if missing(samples.known_y).any():
            raise ValueError("y must have a class for every sample, and has missing ones: take nan_policy='omit'")
        check_classification_targets(samples.known_y)
        self.classes_ = np.unique(samples.known_y)
        codes = np.searchsorted(self.classes_, y)
        if len(self.classes_) < 2:
            raise ValueError(f"y must have at least two classes, got one class: {quote(self.classes_[0])}")

        def make_loss(xp: Any, rows: Any, shares: Array) -> Loss:
            given = samples.weights[rows] if samples.weighted else None
            chosen = ClassSamples(samples.X[rows], y[rows], xp.asarray(codes[rows]), shares, given)
            loss = classification_loss(self.loss, chosen, self._responses, self.classes_, self.response_method)
            if self.output == PROBABILITY:
                loss.valid = self._responses.valid
            return loss

        try:
            return self._fit(samples, codes, number, self._n_outputs, make_loss)
        except ValueError as error:
            if self.output == PROBABILITY and "NaN" in str(error):
                error.add_note("with output='probability' the loss is NaN where a value of the model is not in [0, 1]")
            raise

    @property
    def _n_outputs(self) -> int | None:
        return None if len(self.classes_) == 2 else len(self.classes_)

    @property
    def _responses(self) -> Responses:
        return Responses(len(self.classes_), self.output)

    def decision_function(self, X: Any) -> Array:
        """Return the model's values, in the library of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), NumPy or CuPy
            The samples.

        Returns
        -------
        values : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        check_is_fitted(self)
        return self._output(X, self._n_outputs)

    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of the classes, in the library of X.

        They mean something where the model was fitted by a loss of probabilities, such as "log_loss".

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), NumPy or CuPy
            The samples.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        return self._responses.probabilities(self.decision_function(X))

    def predict(self, X: Any) -> Any:
        """Return the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), NumPy or CuPy
            The samples.

        Returns
        -------
        classes : ndarray of shape (n_samples,)
            On the host.

        Raises
        ------
        ValueError
            For samples with NaN that nan_policy="omit" leaves out, which have no class; `predict_proba` returns NaN.
        """
        if self.nan_policy == OMIT:
            left_out = np.flatnonzero(np.isnan(self._numbers(X)).any(axis=1))
            if len(left_out):
                raise ValueError(
                    f"X has NaN in {len(left_out)} rows, the first is row {left_out[0]}: with nan_policy='omit' these "
                    "have no class; leave them out, or take predict_proba, which returns NaN for them"
                )
        out = self.decision_function(X)
        return self.classes_[to_numpy(self._responses.labels(out))]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of samples with the right class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), NumPy or CuPy, or data frame
            The samples. nan_policy="omit" leaves out those with NaN in X or y.
        y : array-like of shape (n_samples,)
            The classes.
        sample_weight : array-like of shape (n_samples,) or None, default None
            Weights.

        Returns
        -------
        score : float
        """
        X, y, sample_weight = self._read_scored(X, y, sample_weight)
        return float(super().score(X, y, sample_weight))
