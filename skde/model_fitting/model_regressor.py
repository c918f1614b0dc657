"""ModelRegressor: fit any model(X, theta) to numbers, under any loss."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from skde.algorithms import Algorithm
from skde.model_fitting.base_model import BaseModel, Model, on_host
from skde.model_fitting.fit_watch import ModelProgress
from skde.model_fitting.losses import Loss
from skde.model_fitting.predictor import LINEAR
from skde.model_fitting.regression_losses import regression_loss
from skde.typing import Array
from skde.utils.arrays import to_numpy
from skde.utils.validation import check_bool, check_real, suggest_names


class ModelRegressor(RegressorMixin, BaseModel):
    """Fit the parameters of any model to numbers, under any loss.

    A population searches the box of the parameters, a local search by least squares ends the search where the loss
    allows it, and searches are repeated until several agree. Parameters in which the model is linear are found, and
    solved for.

    Parameters
    ----------
    model : callable or "linear", default "linear"
        model(X, theta) returns a prediction for every row of X. theta[j] is the j-th parameter. "linear": an
        intercept and a coefficient for each feature.
    bounds : array-like of shape (n_parameters, 2), Bounds, mapping or list of Variable, default (-100, 100)
        Bounds of the parameters, or typed variables, as in `Minimizer`. One pair is enough for model="linear".
    loss : str, callable or object with residuals, default "squared"
        "squared", "absolute", "huber", "log_cosh", "quantile" or "chebyshev"; a name of
        `sklearn.metrics.get_scorer_names()`, minus the score; loss(y, predictions), which returns a number; or an
        object with residuals(y, predictions), which are squared and summed (docs/models.md).
    delta : float, default 1.0
        The residual up to which "huber" is quadratic, > 0.
    quantile : float, default 0.5
        The quantile that loss="quantile" estimates, in (0, 1).
    penalty : {"l1", "l2"}, callable or None, default None
        A penalty that is added to the loss: the sum of the parameters' absolute values or squares (without the
        intercept of model="linear"), or penalty(theta), a number.
    alpha : float, default 1e-4
        The factor of the penalty, >= 0.
    vectorized : bool, default False
        False: theta has the shape (n_parameters,), and the model returns n_samples numbers. True: theta has the shape
        (n_parameters, n, 1), and the model returns numbers of shape (n, n_samples), a row for each of n candidates. A
        formula of theta[j] and columns X[:, k] is the same for both.
    algorithm : str or Algorithm, default "lshade"
        The algorithm of the population.
    max_evals : int or None, default None
        Evaluations of one search, >= 1; None: 3000 for each parameter that is searched.
    max_time : float or None, default None
        Time limit of the fit in seconds, > 0, checked as in `Minimizer`, and in every step of a local search and after
        every fit of a bootstrap. A fit that it ends is not converged_, unless the searches had come to their end. A
        bootstrap that it ends has fewer fits, with a RuntimeWarning.
    polish : bool, default True
        Whether the losses "squared", "huber" and "log_cosh", without a penalty or with "l2", are minimised further by
        `scipy.optimize.least_squares`, from the best of a population and from random points for its beginning.
    separate_linear : bool, default True
        Whether parameters with real bounds in which the model is linear are solved for, so that only the others are
        searched; for loss="squared", without a penalty or with "l2".
    n_agreeing : int, default 3
        Searches are repeated until this many of them have the best loss, >= 1.
    max_restarts : int, default 20
        The largest number of searches, >= n_agreeing.
    agreement_tol : float, default 1e-6
        The relative difference of losses that agree, >= 0.
    standard_errors : {"auto", "jacobian", "bootstrap"} or None, default "auto"
        "jacobian": of least squares, for loss="squared" without a penalty. "bootstrap": of fits, from the best
        parameters, to samples that are drawn with replacement. "auto": "jacobian" where it is allowed, else None.
    n_bootstrap : int, default 200
        The number of fits for "bootstrap", >= 2.
    device : {"auto", "cpu", "cuda", "cuda:N"}, default "auto"
        The device of X and theta for the model; "auto": where the X given to fit is. A GPU needs vectorized=True.
    n_jobs : int or None, default None
        Workers of joblib for a model with vectorized=False.
    callbacks : callable, list of callables or None, default None
        Called with a `ModelProgress`: as in `Minimizer` while a population searches, about every 40 ms in a local
        search, and after every search and every fit of a bootstrap. A callback that returns a true value, or raises
        StopIteration, ends the fit, as max_time does.
    random_state : int, RandomState, Generator or None, default None
        Makes the fit repeatable. None: NumPy's global state makes the seed.
    constraints : LinearConstraint, NonlinearConstraint, a list of these, or None, default None
        Constraints between the parameters, of `scipy.optimize`, in the order of the bounds; functions take one vector
        of parameters or, with vectorized=True, rows of candidates, (n, n_parameters). Local searches keep them.
    on_error : {"raise", "nan"}, default "raise"
        "nan": a candidate for which the model raises, or returns another shape than y's, has the loss NaN, which
        never wins; the first one is a RuntimeWarning.
    nan_policy : {"raise", "omit", "propagate"}, default "raise"
        NaN in X or y: an error; samples that are left out, also by `predict`, which returns NaN for them; or values
        that model and loss receive.
    absolute_sigma : bool, default False
        Whether sample_weight is 1 / sigma**2 with known standard deviations sigma of y, as in SciPy's `curve_fit`.
        False: only their ratios count for standard errors by "jacobian".

    Attributes
    ----------
    theta_ : ndarray of shape (n_parameters,)
        The best parameters.
    params_ : dict of str to object
        The same by name; names are theta0, theta1, ... where the bounds have none.
    loss_ : float
        The loss, with the penalty.
    standard_errors_, covariance_ : ndarray or None
        Standard errors and covariance of the parameters; by "jacobian", NaN for parameters at a bound and typed ones.
    bootstrap_thetas_ : ndarray of shape (n_bootstrap, n_parameters)
        The parameters of the fits for "bootstrap"; fewer, where max_time or a callback ended them.
    n_evals_ : int
        Candidates that the model was called with, also for a bootstrap.
    n_restarts_, n_agreeing_ : int
        The number of searches, and of those that agree with the best.
    restart_losses_ : ndarray of shape (n_restarts_,)
        The best loss of each search.
    converged_ : bool
        Whether n_agreeing searches agree.
    linear_ : list of str
        The parameters that were solved for.

    Notes
    -----
    Source: G. H. Golub, V. Pereyra: The differentiation of pseudo-inverses and nonlinear least squares problems whose
    variables separate, 1973, for the linear parameters. Differences: they are found numerically, as parameters in
    which predictions are straight along random lines; and their best values beyond a bound are set to the bound.

    After Ctrl-C, `fit` raises KeyboardInterrupt, and the attributes describe the best candidate so far, without
    standard errors.

    A model may fail for candidates in the box: NaN is worse than any number. Floating-point warnings are off.

    Functions cannot write to X, y and sample_weight: NumPy raises a ValueError. theta is a copy for each call.

    Examples
    --------
    >>> import numpy as np
    >>> from skde.estimators import ModelRegressor
    >>> x = np.linspace(0, 4, 30)[:, None]
    >>> y = 2.5 * np.exp(-1.3 * x[:, 0])
    >>> model = ModelRegressor(lambda X, theta: theta[0] * np.exp(-theta[1] * X[:, 0]), {"a": (0, 10), "b": (0, 5)})
    >>> {name: round(value, 6) for name, value in model.fit(x, y).params_.items()}
    {'a': 2.5, 'b': 1.3}
    """

    @suggest_names
    def __init__(
        self,
        model: str | Model = LINEAR,
        bounds: Any = (-100.0, 100.0),
        *,
        loss: Any = "squared",
        delta: float = 1.0,
        quantile: float = 0.5,
        penalty: str | Callable[[Array], Any] | None = None,
        alpha: float = 1e-4,
        vectorized: bool = False,
        algorithm: str | Algorithm = "lshade",
        max_evals: int | None = None,
        max_time: float | None = None,
        polish: bool = True,
        separate_linear: bool = True,
        n_agreeing: int = 3,
        max_restarts: int = 20,
        agreement_tol: float = 1e-6,
        standard_errors: str | None = "auto",
        n_bootstrap: int = 200,
        device: str = "auto",
        n_jobs: int | None = None,
        callbacks: Callable[[ModelProgress], Any] | Sequence[Callable[[ModelProgress], Any]] | None = None,
        random_state: Any = None,
        constraints: Any = None,
        on_error: str = "raise",
        nan_policy: str = "raise",
        absolute_sigma: bool = False,
    ) -> None:
        self.model = model
        self.bounds = bounds
        self.loss = loss
        self.delta = delta
        self.quantile = quantile
        self.penalty = penalty
        self.alpha = alpha
        self.vectorized = vectorized
        self.algorithm = algorithm
        self.max_evals = max_evals
        self.max_time = max_time
        self.polish = polish
        self.separate_linear = separate_linear
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
        self.absolute_sigma = absolute_sigma

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ModelRegressor:
        """Fit the parameters.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), NumPy or CuPy, or data frame
            The samples. A data frame stays one for the model.
        y : array-like of shape (n_samples,)
            The targets; complex ones count as their real and imaginary parts.
        sample_weight : array-like of shape (n_samples,) or None, default None
            Weights >= 0; samples of the weight 0 are left out. For "chebyshev" all weights above 0 are alike.

        Returns
        -------
        self : ModelRegressor

        Raises
        ------
        ValueError, TypeError
            For parameters, predictions or losses that are not allowed, and where no candidate has a finite loss.
        KeyboardInterrupt
            After Ctrl-C, with the best parameters so far, unless nothing had been evaluated.
        """
        delta = check_real("delta", self.delta, 0, low_open=True)
        quantile = check_real("quantile", self.quantile, 0, 1, low_open=True, high_open=True)
        check_bool("absolute_sigma", self.absolute_sigma)
        number = self._place(X)
        self._forget()
        samples = self._samples(X, y, sample_weight, y_numeric=True)
        y = samples.y if samples.y.dtype.kind == "c" else np.asarray(samples.y, np.float64)

        def make_loss(xp: Any, rows: Any, shares: Array) -> Loss:
            given = xp.asarray(samples.weights[rows]) if samples.weighted else None
            return regression_loss(self.loss, xp.asarray(y[rows]), shares, given, samples.X[rows], delta, quantile)

        return self._fit(samples, y, number, None, make_loss)

    def predict(self, X: Any) -> Array:
        """Return predictions, in the library of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), NumPy or CuPy
            The samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        return self._output(X, None)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R**2 of the predictions, of complex ones by the squares of absolute values.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), NumPy or CuPy, or data frame
            The samples. nan_policy="omit" leaves out those with NaN in X or y.
        y : array-like of shape (n_samples,)
            The targets.
        sample_weight : array-like of shape (n_samples,) or None, default None
            Weights.

        Returns
        -------
        score : float
        """
        X, y, weights = self._read_scored(X, y, sample_weight)
        predictions, targets = to_numpy(self.predict(X)), np.asarray(on_host(y))
        if targets.dtype.kind != "c" and predictions.dtype.kind != "c":
            return float(r2_score(targets, predictions, sample_weight=weights))
        parts = (np.stack([one.real, one.imag], axis=1) for one in (targets, predictions))
        return float(r2_score(*parts, sample_weight=weights, multioutput="variance_weighted"))
