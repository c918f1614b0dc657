"""The fit that ModelRegressor and ModelClassifier have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from skde.algorithms import Algorithm
from skde.algorithms.auto import AUTO
from skde.callbacks import callback_list
from skde.engines import check_device, choose_engine
from skde.functions.named_point import find_refused_signature
from skde.minimizer.plan import resolve_algorithm
from skde.model_fitting.fit_task import FitTask
from skde.model_fitting.fit_watch import FitWatch
from skde.model_fitting.losses import Loss
from skde.model_fitting.model_fit import FittedParameters, SearchPlan, fit_model
from skde.model_fitting.parameter_constraints import ParameterConstraints
from skde.model_fitting.predictor import FAILURES, LINEAR, LinearModel, Predictor
from skde.model_fitting.samples import (
    NAN_POLICIES,
    OMIT,
    RAISE,
    check_complex,
    complete_rows,
    complex_values,
    explain_nan,
    frame_rows,
    is_complex,
    is_frame,
    real_parts,
    refuse_dates,
)
from skde.model_fitting.standard_errors import bootstrap_thetas, jacobian_covariance
from skde.problems.scipy_constraints import constraint_list
from skde.typing import Array, FloatArray, IntArray
from skde.utils.arrays import device_of, is_on_gpu, to_numpy
from skde.utils.random_state import run_seeds
from skde.utils.validation import (
    check_bool,
    check_bounds,
    check_choice,
    check_int,
    check_jobs,
    check_real,
    quote,
    refuse_ragged,
)
from skde.variables import Variables, as_variables

Model = Callable[[Array, Array], Array]
PENALTIES = ("l1", "l2")
STANDARD_ERRORS = ("auto", "jacobian", "bootstrap")


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
    max_time: float | None
    polish: bool
    n_agreeing: int
    max_restarts: int
    agreement_tol: float
    standard_errors: str | None
    n_bootstrap: int
    device: str
    n_jobs: int | None
    callbacks: Any
    random_state: Any
    constraints: Any
    on_error: str
    nan_policy: str
    _complex_valued: bool = False  # of the targets
    _takes_frames: bool = False  # whether the model was given a data frame
    covariance_: FloatArray | None
    standard_errors_: FloatArray | None

    def _plan(self) -> SearchPlan:
        """Check the parameters of the search."""
        check_bool("vectorized", self.vectorized)
        check_int("n_bootstrap", self.n_bootstrap, 2)
        if self.standard_errors is not None:
            check_choice("standard_errors", self.standard_errors, STANDARD_ERRORS)
        if not callable(self.model) and self.model != LINEAR:
            raise TypeError(f"model must be {LINEAR!r} or a callable model(X, theta), got {quote(self.model)}")
        if callable(self.model) and (signature := find_refused_signature(self.model, 2)):
            raise TypeError(
                "model must take two arguments, the samples and an array of all parameters: model(X, theta); got "
                f"{quote(self.model)}, with {signature}; for a function f(x, a, b) write "
                "lambda X, theta: f(X[:, 0], *theta)"
            )
        if self.penalty is not None and not callable(self.penalty):
            check_choice("penalty", self.penalty, PENALTIES)
        check_real("alpha", self.alpha, 0, np.inf, high_open=True)
        check_choice("on_error", self.on_error, FAILURES)
        if not (isinstance(self.algorithm, str) and self.algorithm == AUTO):
            resolve_algorithm(self.algorithm)
        agreeing = check_int("n_agreeing", self.n_agreeing, 1)
        return SearchPlan(
            algorithm=self.algorithm,
            max_evals=None if self.max_evals is None else check_int("max_evals", self.max_evals, 1),
            polish=check_bool("polish", self.polish),
            separate=check_bool("separate_linear", getattr(self, "separate_linear", False)),
            agreeing=agreeing,
            max_restarts=check_int("max_restarts", self.max_restarts, agreeing),
            tolerance=check_real("agreement_tol", self.agreement_tol, 0),
            device="cpu",
            n_jobs=check_jobs(self.n_jobs),
            max_time=None if self.max_time is None else check_real("max_time", self.max_time, 0, low_open=True),
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

    def _samples(self, X: Any, y: Any, sample_weight: Any, **checks: Any) -> Samples:
        """Return the samples of a fit after checking them, without those that have missing values or no weight."""
        policy = check_choice("nan_policy", self.nan_policy, NAN_POLICIES)
        for name, given in (("X", X), ("y", y), ("sample_weight", sample_weight)):
            refuse_dates(name, given)
        frame = X if is_frame(X) and callable(self.model) else None
        self._takes_frames = frame is not None
        X, y = on_host(X), on_host(y)
        complex_valued = not is_classifier(self) and is_complex(y)
        if policy == RAISE and not complex_valued:
            try:
                X, y = validate_data(self, X, y, dtype=np.float64, **checks)
            except ValueError as error:
                raise explain_nan(error) from None
        else:
            # scikit-learn has no policy for the targets.
            X = validate_data(self, X, dtype=np.float64, ensure_all_finite=True if policy == RAISE else "allow-nan")
            y = check_complex(y, len(X), policy) if complex_valued else read_targets(y, X, is_classifier(self))
        rows = complete_rows(X, y) if policy == OMIT else np.arange(len(X))
        known = y[rows]
        weights = np.ones(len(X)) if sample_weight is None else read_weights(sample_weight, len(X), rows)
        rows = rows[weights[rows] > 0]
        frame = frame if frame is None or len(rows) == len(X) else frame_rows(frame, rows)
        return Samples(X[rows], y[rows], weights[rows], frame, sample_weight is not None, known)

    def _forget(self) -> None:
        """Remove the results of an earlier fit: its samples may have had other features and classes."""
        for name in ("theta_", "bootstrap_thetas_"):
            if hasattr(self, name):
                delattr(self, name)

    def _predictor(
        self,
        X: Array,
        n_outputs: int | None,
        frame: Any = None,
        complex_valued: bool = False,
        on_error: str = RAISE,
    ) -> Predictor:
        """Return the model with samples."""
        model, vectorized = (self.model, self.vectorized) if callable(self.model) else (LinearModel(n_outputs), True)
        options: dict[str, Any] = {"given": frame, "complex_valued": complex_valued, "on_error": on_error}
        return Predictor(model, X, vectorized, n_outputs, **options)

    def _variables(self, n_features: int, n_outputs: int | None) -> Variables:
        """Return the parameters of the model, with bounds."""
        names = None if callable(self.model) else LinearModel(n_outputs).names(n_features)
        if self.bounds is None:
            raise ValueError("bounds must be given: one pair (low, high), or a typed variable, for every parameter")
        given = as_variables(self.bounds)
        if given is None:
            refuse_ragged("bounds", self.bounds)
            single = np.shape(self.bounds) == (2,)
            if single and names is None:
                raise ValueError(
                    "bounds must have one pair (low, high) for every parameter theta[j] of the model, such as "
                    f"[(0, 1), (-5, 5)]; got {quote(self.bounds)}, a pair for all parameters of model={LINEAR!r}"
                )
            box = check_bounds(self.bounds, len(names) if names is not None and single else None)
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
        samples: Samples,
        y: Any,
        number: int | None,
        n_outputs: int | None,
        make_loss: Callable[[Any, Any, Array], Loss],
    ) -> Self:
        """Fit to samples with targets y.

        `make_loss` is called with the library of arrays, the rows of the samples and weights of the sum 1.
        """
        X, weights, complex_valued = samples.X, samples.weights, y.dtype.kind == "c"
        self._complex_valued = complex_valued
        plan, callbacks = self._plan(), callback_list(self.callbacks)
        variables = self._variables(X.shape[1], n_outputs)
        penalized = np.ones(len(variables), bool)
        if not callable(self.model):  # by the model's names: the bounds may have others
            names = LinearModel(n_outputs).names(X.shape[1])
            penalized = np.array([not name.startswith("intercept") for name in names])
        constraints = None
        if constraint_list(self.constraints):
            constraints = ParameterConstraints(self.constraints, variables, self.vectorized)
        with use_device(number) as xp:

            def task_of(rows: Any) -> FitTask:
                share = weights[rows] / weights[rows].sum()
                shares = xp.asarray(np.tile(share, 2) if complex_valued else share)
                frame = samples.frame
                if frame is not None and not isinstance(rows, slice):
                    frame = frame_rows(frame, rows)
                return FitTask(
                    predictor=self._predictor(xp.asarray(X[rows]), n_outputs, frame, complex_valued, self.on_error),
                    loss=make_loss(xp, rows, shares),
                    variables=variables,
                    penalty=self.penalty,
                    alpha=float(self.alpha),
                    penalized=penalized,
                    y=xp.asarray(real_parts(y[rows]) if complex_valued else y[rows]),
                    weights=shares,
                    constraints=constraints,
                )

            task = task_of(slice(None))
            if number is not None:
                if not task.predictor.vectorized:
                    raise ValueError(f"vectorized must be True for samples on a GPU, got {self.vectorized!r}")
                plan = replace(plan, device=f"cuda:{number}")
            seeds = [int(seed) for seed in run_seeds(self.random_state, plan.max_restarts)]
            by_jacobian = self._by_jacobian(task)
            watch = FitWatch(self, task.predictor, variables, callbacks, plan.max_time)
            found = FittedParameters(theta=variables.middle)
            try:
                fit_model(task, plan, seeds, found, watch)
            finally:
                if np.isfinite(found.loss):
                    self._store(task, plan, found)
            if self.standard_errors == "bootstrap":
                tasks = (task_of(rows) for rows in self._resample(y, seeds[0]))
                thetas = bootstrap_thetas(tasks, plan, found, self.n_bootstrap, seeds[0], watch)
                self.bootstrap_thetas_ = thetas
                if len(thetas) > 1:
                    self._store_covariance(np.cov(thetas.T).reshape(len(found.theta), -1))
            elif by_jacobian:
                known = 1.0 / float(weights.sum()) if getattr(self, "absolute_sigma", False) else None
                self._store_covariance(jacobian_covariance(task, found.theta, known))
            self.n_evals_ = task.predictor.n_evals
        return self

    def _resample(self, y: FloatArray, seed: int) -> Iterator[IntArray]:
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
                f"standard_errors='jacobian' needs loss='squared' and penalty=None, got loss={quote(self.loss)} and "
                f"penalty={quote(self.penalty)}; take 'bootstrap'"
            )
        return self.standard_errors is not None and squares

    def _store_covariance(self, covariance: FloatArray) -> None:
        """Store the covariance of the parameters, and its roots."""
        self.covariance_ = covariance
        self.standard_errors_ = np.sqrt(np.diag(covariance))

    def _store(self, task: FitTask, plan: SearchPlan, found: FittedParameters) -> None:
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
        self.n_evals_ = task.predictor.n_evals

    def _output(self, X: Any, n_outputs: int | None) -> Array:
        """Return the model's output for new samples, in their library."""
        check_is_fitted(self)
        refuse_dates("X", X)
        raises = self.nan_policy == RAISE
        frame = X if self._takes_frames and is_frame(X) else None
        try:
            samples = validate_data(
                self, on_host(X), reset=False, dtype=np.float64, ensure_all_finite=True if raises else "allow-nan"
            )
        except ValueError as error:
            raise explain_nan(error) from None
        with use_device(device_of(X) if is_on_gpu(X) else None) as xp:
            kept = (
                np.flatnonzero(~np.isnan(samples).any(axis=1)) if self.nan_policy == OMIT else np.arange(len(samples))
            )
            if len(kept) == len(samples):
                return self._output_of(xp.asarray(samples), frame, n_outputs)
            of_kept = None
            if len(kept):
                of_kept = self._output_of(
                    xp.asarray(samples[kept]), None if frame is None else frame_rows(frame, kept), n_outputs
                )
            shape = (len(samples),) if n_outputs is None else (len(samples), n_outputs)
            out = xp.full(shape, np.nan, np.float64 if of_kept is None else of_kept.dtype)
            if of_kept is not None:
                out[kept] = of_kept
            return out

    def _numbers(self, X: Any) -> FloatArray:
        """Return new samples as numbers on the host, with NaN."""
        numbers: FloatArray = validate_data(
            self, on_host(X), reset=False, dtype=np.float64, ensure_all_finite="allow-nan"
        )
        return numbers

    def _read_scored(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
        """Return the samples, targets and weights of a score: without those that the policy leaves out."""
        targets = np.asarray(on_host(y))
        targets = targets.reshape(len(targets)) if targets.ndim == 2 and targets.shape[1] == 1 else targets
        weights = None if sample_weight is None else np.asarray(on_host(sample_weight))
        if self.nan_policy != OMIT:
            return X, targets, weights
        rows = complete_rows(self._numbers(X), targets)
        kept = frame_rows(X, rows) if is_frame(X) else on_host(X)[rows] if hasattr(X, "shape") else np.asarray(X)[rows]
        return kept, targets[rows], None if weights is None else weights[rows]

    def _output_of(self, X: Array, frame: Any, n_outputs: int | None) -> Array:
        """Return the model's output for samples."""
        out = self._predictor(X, n_outputs, frame, self._complex_valued)(self.theta_[None])[0]
        return complex_values(out) if self._complex_valued else out

    def __sklearn_tags__(self) -> Any:
        """Return the tags of scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.nan_policy != RAISE
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        """Whether there is a result."""
        return hasattr(self, "theta_")


class Samples(NamedTuple):
    """The samples of a fit.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        The samples.
    y : ndarray of shape (n_samples,)
        The targets.
    weights : ndarray of shape (n_samples,)
        Weights above 0.
    frame : data frame or None
        The samples as the model gets them; None: as the array.
    weighted : bool
        Whether weights were given.
    known_y : ndarray
        The targets, also of the samples without a weight.
    """

    X: FloatArray
    y: Any
    weights: FloatArray
    frame: Any
    weighted: bool
    known_y: Any


@contextmanager
def use_device(number: int | None) -> Iterator[Any]:
    """Yield the library of arrays on a GPU, which is the current one, or NumPy for None."""
    if number is None:
        yield np
        return
    import cupy

    with cupy.cuda.Device(number):
        yield cupy


def read_weights(sample_weight: Any, n_samples: int, rows: IntArray) -> FloatArray:
    """Return the weights of samples; other rows do not count, and have 0.

    Samples of the weight 0 are left out: a model need not be defined for those, and its NaN, times 0, would be a part
    of the loss.
    """
    given = np.asarray(on_host(sample_weight))
    if given.shape != (n_samples,):
        raise ValueError(f"sample_weight must have shape ({n_samples},), got {given.shape}")
    weights = np.zeros(n_samples)
    weights[rows] = check_array(given[rows], ensure_2d=False, dtype=np.float64, input_name="sample_weight")
    if (weights < 0).any() or not weights.any():
        raise ValueError(f"sample_weight must be >= 0, and not zero for all samples, got {quote(sample_weight)}")
    if not weights.max() <= np.finfo(np.float64).max / n_samples:
        raise ValueError(f"sample_weight must have a finite sum: divide by its largest, {weights.max()}")
    return weights


def read_targets(y: Any, X: FloatArray, classes: bool) -> Any:
    """Return targets that may be missing."""
    y = column_or_1d(y, warn=True)
    check_consistent_length(X, y)
    if classes:
        return y
    y = np.asarray(y, np.float64)
    if np.isinf(y).any():
        raise ValueError("Input y contains infinity.")
    return y


def on_host(given: Any) -> Any:
    """Return an array of a GPU as one of NumPy; anything else as it is."""
    return to_numpy(given) if is_on_gpu(given) else given
