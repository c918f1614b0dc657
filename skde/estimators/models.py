"""ModelRegressor and ModelClassifier: fit any model(X, theta) under any loss."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from skde.algorithms import Algorithm
from skde.arrays import device_of, is_on_gpu, to_numpy
from skde.engines import check_device, choose_engine
from skde.estimators.losses import LOG_LOSS, Loss, Responses, classification_loss, regression_loss
from skde.estimators.model_fit import FitTask, Found, Plan, fit_model, refit
from skde.estimators.predictor import LINEAR, LinearModel, Predictor
from skde.estimators.standard_errors import jacobian_covariance
from skde.random_state import run_seeds
from skde.typing import Array, FloatArray, IntArray
from skde.validation import (
    check_bool,
    check_bounds,
    check_choice,
    check_int,
    check_jobs,
    check_real,
    named_parameters,
    shown,
)
from skde.variables import Variables, as_variables

Model = Callable[[Array, Array], Array]
PENALTIES = ("l1", "l2")
STANDARD_ERRORS = ("auto", "jacobian", "bootstrap")
OUTPUTS = ("decision", "probability")
RESPONSES = ("decision_function", "predict_proba", "predict")


class BaseModel(BaseEstimator):
    """The fit that regression and classification have in common."""

    model: str | Model
    bounds: Any
    loss: Any
    penalty: Any
    alpha: float
    vectorized: bool
    algorithm: str | Algorithm
    max_evals: int | None
    polish: bool
    n_agreeing: int
    max_restarts: int
    agreement_tol: float
    standard_errors: str | None
    n_bootstrap: int
    device: str
    n_jobs: int | None
    random_state: Any
    covariance_: FloatArray | None
    standard_errors_: FloatArray | None

    def _plan(self) -> Plan:
        """Check the parameters of the search."""
        check_bool("vectorized", self.vectorized)
        check_int("n_bootstrap", self.n_bootstrap, 2)
        if self.standard_errors is not None:
            check_choice("standard_errors", self.standard_errors, STANDARD_ERRORS)
        if not callable(self.model) and self.model != LINEAR:
            raise TypeError(f"model must be {LINEAR!r} or a callable model(X, theta), got {shown(self.model)}")
        if self.penalty is not None and not callable(self.penalty):
            check_choice("penalty", self.penalty, PENALTIES)
        check_real("alpha", self.alpha, 0, np.inf, high_open=True)
        agreeing = check_int("n_agreeing", self.n_agreeing, 1)
        return Plan(
            algorithm=self.algorithm,
            max_evals=None if self.max_evals is None else check_int("max_evals", self.max_evals, 1),
            polish=check_bool("polish", self.polish),
            separate=check_bool("separate_linear", getattr(self, "separate_linear", False)),
            agreeing=agreeing,
            max_restarts=check_int("max_restarts", self.max_restarts, agreeing),
            tolerance=check_real("agreement_tol", self.agreement_tol, 0),
            device="cpu",
            n_jobs=check_jobs(self.n_jobs),
        )

    def _place(self, X: Any) -> int | None:
        """Return the number of the GPU to compute on; None: the CPU."""
        check_device(self.device)
        if self.device == "auto":
            return device_of(X) if is_on_gpu(X) else None
        number = check_device(self.device)
        if number is not None:
            choose_engine(self.device)  # refuses a device that is not there
        return number

    def _predictor(self, X: Array, n_outputs: int | None) -> Predictor:
        """Return the model with samples."""
        if callable(self.model):
            return Predictor(self.model, X, self.vectorized, n_outputs)
        return Predictor(LinearModel(n_outputs), X, True, n_outputs)

    def _variables(self, n_features: int, n_outputs: int | None) -> Variables:
        """Return the parameters of the model, with bounds."""
        names = None if callable(self.model) else LinearModel(n_outputs).names(n_features)
        if self.bounds is None:
            raise ValueError("bounds must be given: one pair (low, high), or a typed variable, for every parameter")
        given = as_variables(self.bounds)
        if given is None:
            repeated = names is not None and np.shape(self.bounds) == (2,)
            box = check_bounds(self.bounds, len(names) if names is not None and repeated else None)
            given = Variables(box.tolist())
        if names is not None and len(given) != len(names):
            raise ValueError(f"bounds must be one pair, or one for each of {', '.join(names)}; got {len(given)}")
        if isinstance(self.bounds, Mapping | Variables):
            return given
        default = [f"theta{j}" for j in range(len(given))] if names is None else names
        own = [getattr(one, "name", None) or name for one, name in zip(given.members, default, strict=True)]
        return Variables(dict(zip(own, given.members, strict=True)))

    def _fit(
        self,
        X: FloatArray,
        y: Any,
        weights: FloatArray,
        number: int | None,
        n_outputs: int | None,
        make_loss: Callable[[Any, Any], Loss],
    ) -> Self:
        """Fit; `make_loss` is called with the library of arrays and the rows of the samples."""
        plan = self._plan()
        variables = self._variables(X.shape[1], n_outputs)
        penalized = np.array([callable(self.model) or not name.startswith("intercept") for name in variables.names])
        with placed(number) as xp:

            def task_of(rows: Any) -> FitTask:
                return FitTask(
                    predictor=self._predictor(xp.asarray(X[rows]), n_outputs),
                    loss=make_loss(xp, rows),
                    variables=variables,
                    penalty=self.penalty,
                    alpha=float(self.alpha),
                    penalized=penalized,
                    y=xp.asarray(y[rows]),
                    weights=xp.asarray(weights[rows] / weights[rows].sum()),
                )

            task = task_of(slice(None))
            if number is not None:
                if not task.predictor.vectorized:
                    raise ValueError(f"vectorized must be True for samples on a GPU, got {self.vectorized!r}")
                plan = replace(plan, device=f"cuda:{number}")
            seeds = [int(seed) for seed in run_seeds(self.random_state, plan.max_restarts)]
            found = fit_model(task, plan, seeds)
            self._store(task, plan, found)
            if self.standard_errors == "bootstrap":
                tasks = (task_of(rows) for rows in self._resampled(y, seeds[0]))
                self.bootstrap_thetas_ = np.array([refit(one, plan, found, seeds[0]) for one in tasks])
                self._store_covariance(np.cov(self.bootstrap_thetas_.T).reshape(len(found.theta), -1))
            elif self._by_jacobian(task):
                self._store_covariance(jacobian_covariance(task, found.theta))
            self.n_evals_ = task.predictor.n_evals
        return self

    def _resampled(self, y: FloatArray, seed: int) -> Iterator[IntArray]:
        """Yield the rows of samples that are drawn with replacement, of a classifier within each class."""
        random = np.random.default_rng(seed)
        groups = [np.flatnonzero(y == one) for one in np.unique(y)] if is_classifier(self) else [np.arange(len(y))]
        for _ in range(self.n_bootstrap):
            yield np.concatenate([random.choice(rows, len(rows)) for rows in groups])

    def _by_jacobian(self, task: FitTask) -> bool:
        """Return whether there are standard errors by the Jacobian."""
        squares = task.loss.squared and self.penalty is None
        if self.standard_errors == "jacobian" and not squares:
            raise ValueError(
                f"standard_errors='jacobian' needs loss='squared' and penalty=None, got loss={shown(self.loss)} and "
                f"penalty={shown(self.penalty)}; take 'bootstrap'"
            )
        return self.standard_errors is not None and squares

    def _store_covariance(self, covariance: FloatArray) -> None:
        """Store the covariance of the parameters, and its roots."""
        self.covariance_ = covariance
        self.standard_errors_ = np.sqrt(np.diag(covariance))

    def _store(self, task: FitTask, plan: Plan, found: Found) -> None:
        """Store the results of the searches."""
        self.theta_ = found.theta
        self.params_ = task.variables.params(found.theta)
        self.loss_ = found.loss
        self.linear_ = [task.variables.names[j] for j in found.linear]
        self.restart_losses_ = np.array(found.losses)
        self.n_restarts_ = len(found.losses)
        self.n_agreeing_ = found.agreeing
        self.converged_ = found.agreeing >= plan.agreeing or found.exact
        self.covariance_ = self.standard_errors_ = None

    def _output(self, X: Any, n_outputs: int | None) -> Array:
        """Return the model's output for new samples, in their library."""
        check_is_fitted(self)
        samples = validate_data(self, on_host(X), reset=False, dtype=np.float64)
        with placed(device_of(X) if is_on_gpu(X) else None) as xp:
            return self._predictor(xp.asarray(samples), n_outputs)(self.theta_[None])[0]

    def __sklearn_is_fitted__(self) -> bool:
        """Whether there is a result."""
        return hasattr(self, "theta_")


@contextmanager
def placed(number: int | None) -> Iterator[Any]:
    """Yield the library of arrays on a GPU, which is the current one, or NumPy for None."""
    if number is None:
        yield np
        return
    import cupy

    with cupy.cuda.Device(number):
        yield cupy


def checked_weights(sample_weight: Any, n_samples: int) -> FloatArray:
    """Return weights of samples, ones for None."""
    if sample_weight is None:
        return np.ones(n_samples)
    weights: FloatArray = check_array(
        on_host(sample_weight), ensure_2d=False, dtype=np.float64, input_name="sample_weight"
    )
    if weights.shape != (n_samples,):
        raise ValueError(f"sample_weight must have shape ({n_samples},), got {weights.shape}")
    if (weights < 0).any() or not weights.any():
        raise ValueError(f"sample_weight must be >= 0, and not zero for all samples, got {shown(sample_weight)}")
    return weights


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
    loss : str or callable, default "squared"
        "squared", "absolute", "huber", "log_cosh" or "quantile", of which the weighted mean is minimised;
        "chebyshev", the largest absolute residual; a name of `sklearn.metrics.get_scorer_names()`, minus the score; or
        loss(y, predictions), where weights are given with sample_weight=weights, which returns a number.
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
        Evaluations of one search; None: 3000 for each parameter that is searched.
    polish : bool, default True
        Whether the losses "squared", "huber" and "log_cosh", without a penalty or with "l2", are minimised further by
        `scipy.optimize.least_squares`, from the best of a population and from random points for its beginning.
    separate_linear : bool, default True
        Whether parameters with real bounds in which the model is linear are solved for, so that only the others are
        searched; for loss="squared", without a penalty or with "l2".
    n_agreeing : int, default 3
        Searches are repeated until so many have the best loss, >= 1.
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
        The device of X and theta for the model; "auto": that of the X given to fit. A GPU needs vectorized=True.
    n_jobs : int or None, default None
        Workers of joblib for a model with vectorized=False.
    random_state : int, RandomState, Generator or None, default None
        Makes the fit repeatable.

    Attributes
    ----------
    theta_ : ndarray of shape (n_parameters,)
        The best parameters.
    params_ : dict of str to object
        The same by name; names are theta0, theta1, ... where the bounds have none.
    loss_ : float
        The loss, with the penalty.
    standard_errors_, covariance_ : ndarray or None
        Standard errors and covariance of the parameters; NaN for parameters at a bound and, by "jacobian", for typed
        ones.
    bootstrap_thetas_ : ndarray of shape (n_bootstrap, n_parameters)
        The parameters of the fits for "bootstrap".
    n_evals_ : int
        Candidates that the model was called with.
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

    A model may fail for candidates in the box: NaN is worse than any number. Floating-point warnings are off.

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

    @named_parameters
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
        polish: bool = True,
        separate_linear: bool = True,
        n_agreeing: int = 3,
        max_restarts: int = 20,
        agreement_tol: float = 1e-6,
        standard_errors: str | None = "auto",
        n_bootstrap: int = 200,
        device: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
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
        self.polish = polish
        self.separate_linear = separate_linear
        self.n_agreeing = n_agreeing
        self.max_restarts = max_restarts
        self.agreement_tol = agreement_tol
        self.standard_errors = standard_errors
        self.n_bootstrap = n_bootstrap
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ModelRegressor:
        """Fit the parameters.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), NumPy or CuPy
            The samples.
        y : array-like of shape (n_samples,)
            The targets.
        sample_weight : array-like of shape (n_samples,) or None, default None
            Weights >= 0; for "chebyshev" all weights above 0 are alike.

        Returns
        -------
        self : ModelRegressor

        Raises
        ------
        ValueError, TypeError
            For parameters, predictions or losses that are not allowed, and where no candidate has a finite loss.
        KeyboardInterrupt
            After Ctrl-C, without a result.
        """
        delta = check_real("delta", self.delta, 0, low_open=True)
        quantile = check_real("quantile", self.quantile, 0, 1, low_open=True, high_open=True)
        number = self._place(X)
        X, y = validate_data(self, on_host(X), on_host(y), dtype=np.float64, y_numeric=True)
        y = np.asarray(y, np.float64)
        weights = checked_weights(sample_weight, len(X))

        def make_loss(xp: Any, rows: Any) -> Loss:
            given = None if sample_weight is None else xp.asarray(weights[rows])
            shares = xp.asarray(weights[rows] / weights[rows].sum())
            return regression_loss(self.loss, xp.asarray(y[rows]), shares, given, X[rows], delta, quantile)

        return self._fit(X, y, weights, number, None, make_loss)

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


class ModelClassifier(ClassifierMixin, BaseModel):
    """Fit the parameters of any model to classes, under any loss.

    The search is that of `ModelRegressor`.

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
        to a constant; or probabilities, of two classes that of the second.
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
    algorithm, max_evals
        As in `ModelRegressor`.
    polish : bool, default True
        As in `ModelRegressor`, for the loss "log_loss".
    n_agreeing, max_restarts, agreement_tol
        As in `ModelRegressor`.
    standard_errors : {"bootstrap"} or None, default None
        As in `ModelRegressor`; samples are drawn within each class.
    n_bootstrap, device, n_jobs, random_state
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

    @named_parameters
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
        polish: bool = True,
        n_agreeing: int = 3,
        max_restarts: int = 20,
        agreement_tol: float = 1e-6,
        standard_errors: str | None = None,
        n_bootstrap: int = 200,
        device: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
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
        self.polish = polish
        self.n_agreeing = n_agreeing
        self.max_restarts = max_restarts
        self.agreement_tol = agreement_tol
        self.standard_errors = standard_errors
        self.n_bootstrap = n_bootstrap
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ModelClassifier:
        """Fit the parameters.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), NumPy or CuPy
            The samples.
        y : array-like of shape (n_samples,)
            The classes, at least two.
        sample_weight : array-like of shape (n_samples,) or None, default None
            Weights >= 0.

        Returns
        -------
        self : ModelClassifier

        Raises
        ------
        ValueError, TypeError
            For parameters, predictions or losses that are not allowed, and where no candidate has a finite loss.
        KeyboardInterrupt
            After Ctrl-C, without a result.
        """
        check_choice("output", self.output, OUTPUTS)
        check_choice("response_method", self.response_method, RESPONSES)
        number = self._place(X)
        X, y = validate_data(self, on_host(X), on_host(y), dtype=np.float64)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y must have at least two classes, got one class: {shown(self.classes_[0])}")
        weights = checked_weights(sample_weight, len(X))

        def make_loss(xp: Any, rows: Any) -> Loss:
            given = None if sample_weight is None else weights[rows]
            shares = xp.asarray(weights[rows] / weights[rows].sum())
            return classification_loss(
                self.loss,
                y[rows],
                xp.asarray(codes[rows]),
                shares,
                given,
                X[rows],
                self._responses,
                self.classes_,
                self.response_method,
            )

        return self._fit(X, codes, weights, number, self._n_outputs, make_loss)

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
        """
        out = self.decision_function(X)
        return self.classes_[to_numpy(self._responses.labels(out))]


def on_host(given: Any) -> Any:
    """Return an array of a GPU as one of NumPy; anything else as it is."""
    return to_numpy(given) if is_on_gpu(given) else given
