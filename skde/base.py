"""The base of all solvers: results, saving, loading and pickling."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Self

import numpy as np
from scipy.optimize import Bounds, OptimizeResult
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from skde.engines import choose_engine
from skde.fit.fit import Fit
from skde.fit.results import values_of_points
from skde.notebook import bundle_with, convergence_svg, html_with
from skde.objectives.caller_library import CallerLibrary, move_to_host
from skde.objectives.feasibility import values_of_codes
from skde.result import History, RunResult, best_run, optimize_result
from skde.typing import Array, FloatArray
from skde.utils import serialization
from skde.utils.serialization import check_keys, entry, json_view
from skde.utils.validation import nearest, quote
from skde.variables import Variables

HOLDERS = (BaseEstimator, Bounds)  # the types of parameters that hold parameters
# The keys of a header's entry `source`, by which the objective is found again.
SOURCE = {
    "problem": str,
    "dim": int,
    "options": dict,
    "callable": str,
    "takes": str,
    "returns": list,
    "device_objective": str,
}


class BaseSolver(BaseEstimator):
    """The results, files and pickles of solvers; a Fit holds their state.

    Results are read from it, so that they are there after an interrupted fit, too. A subclass defines the
    contents of its files by `_state`, `_from_header` and `_restore`.

    Attributes
    ----------
    FIT_PARAMETERS : tuple of str
        The parameters that determine the populations of a fit. They must not change before a fit is continued or
        saved; the others, such as limits and callbacks, may.
    REQUIRED_KEYS, OPTIONAL_KEYS : dict of str to type
        The required and the optional keys of a file's header.
    NOT_PICKLED : tuple of str
        Attributes that a pickle leaves out, because `_restore` sets them or they are computed again.
    """

    FIT_PARAMETERS: ClassVar[tuple[str, ...]]
    REQUIRED_KEYS: ClassVar[dict[str, Any]]
    OPTIONAL_KEYS: ClassVar[dict[str, Any]]
    NOT_PICKLED: ClassVar[tuple[str, ...]] = ("_fit", "_objective", "_begun", "_library")

    device: str | Sequence[str]
    _fit: Fit
    _begun: dict[str, Any]  # FIT_PARAMETERS at the beginning of the fit
    _library: CallerLibrary | None = None  # in which arrays of results are; None: NumPy

    # -- results -------------------------------------------------------------------------------------------------------

    def __sklearn_is_fitted__(self) -> bool:
        """Whether there is a best point to read."""
        return hasattr(self, "_fit") and self._fit.has_results

    @property
    def _has_state(self) -> bool:
        """Whether there is something to save: values, or trials that a user was given."""
        return self.__sklearn_is_fitted__() or (hasattr(self, "_fit") and self._fit.partial is not None)

    @contextmanager
    def _earlier_fit_kept(self) -> Iterator[None]:
        """Keep the earlier fit where the checks of a new one fail, or Ctrl-C comes before its populations are there.

        After a later Ctrl-C `resume` continues the new fit.
        """
        before = dict(self.__dict__)
        try:
            yield
        except BaseException as error:
            if isinstance(error, Exception) or self.__dict__.get("_fit") is before.get("_fit"):
                self.__dict__.clear()
                self.__dict__.update(before)
            raise

    def _require_fit(self, allowed: str = "") -> Fit:
        if not self.__sklearn_is_fitted__() and not (allowed and hasattr(self, "_fit")):
            raise NotFittedError(f"this {type(self).__name__} has evaluated nothing yet: call fit, or ask and tell")
        return self._fit

    @property
    def runs_(self) -> list[RunResult]:
        """Every run's result."""
        return self._require_fit().runs()

    @property
    def _best_run(self) -> int:
        return best_run(self.runs_)

    @property
    def _best(self) -> RunResult:
        return self.runs_[self._best_run]

    @property
    def x_(self) -> Array:
        """The best point of all runs, of shape (dim,)."""
        return self._give_back(self._best.x)

    @property
    def params_(self) -> dict[str, Any]:
        """The best point by the names of its variables; only where the bounds are typed."""
        return params_of(self._variables, move_to_host(self.x_))

    @property
    def _variables(self) -> Variables | None:
        return self._require_fit().batch.spec.variables

    @property
    @abstractmethod
    def _limits(self) -> FloatArray:
        """The smallest and the largest value of every variable, of shape (dim, 2)."""

    @property
    def fun_(self) -> float:
        """The best point's value."""
        return self._best.fun

    @property
    def max_violation_(self) -> float:
        """The largest violation of one constraint at the best point; 0.0 without constraints."""
        return self._best.max_violation

    @property
    def n_evals_(self) -> int:
        """Evaluations of the best run."""
        return self._best.n_evals

    @property
    def n_iter_(self) -> int:
        """Generations of the best run, after the initial population."""
        return self._best.n_iter

    @property
    def time_(self) -> float:
        """Seconds that the best run took."""
        return self._best.time

    @property
    def converged_(self) -> bool:
        """Whether the best run reached its target or its tolerance, at a feasible point."""
        return self._best.success

    @property
    def message_(self) -> str:
        """The reason for the end of the best run."""
        return self._best.message

    @property
    def history_(self) -> History:
        """The best value of the best run over time."""
        return self._best.history

    @property
    def population_(self) -> Array:
        """The best run's population, of shape (pop_size, dim); of all its islands, one after the other."""
        return self._give_back(self._populations(self._best_run)[0])

    @property
    def fitness_(self) -> Array:
        """The values of the best run's population, of shape (pop_size,); infinite where a point is not feasible."""
        return self._give_back(self._populations(self._best_run)[1])

    def _give_back(self, array: FloatArray) -> Any:
        """Return an array of the results in the caller's library."""
        return array if self._library is None else self._library.convert(array)

    def _populations(self, run: int) -> tuple[FloatArray, FloatArray]:
        fit = self._require_fit()
        x, fitness = fit.members(run)
        return values_of_points(fit.batch, x), fitness if fit.rules is None else values_of_codes(fitness)

    @property
    def result_(self) -> OptimizeResult:
        """The best run in SciPy's form."""
        runs = self.runs_
        best = self._best_run
        population, fitness = self._populations(best)
        result = optimize_result(runs[best], population, fitness, sum(run.n_evals for run in runs))
        if self._library is not None:
            result |= {name: self._give_back(result[name]) for name in ("x", "population", "population_energies")}
        if self._variables is not None:
            result["params"] = self.params_
        return result

    # -- notebooks -----------------------------------------------------------------------------------------------------

    @property
    def _repr_html_(self) -> Callable[[], str]:
        """scikit-learn's description and, after a fit, the best value over evaluations."""
        return html_with(self._curve, super()._repr_html_)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        return bundle_with(self._curve, super()._repr_mimebundle_(**kwargs))

    def _curve(self) -> str:
        """Return an SVG of the runs; empty before the first evaluation."""
        if not self.__sklearn_is_fitted__():
            return ""
        runs = self.runs_
        several = f", {len(runs)} runs" if len(runs) > 1 else ""
        best = runs[best_run(runs)]
        return convergence_svg([run.history for run in runs], f"best value {best.fun:.6g}{several}", best.message)

    # -- saving, loading and pickling ----------------------------------------------------------------------------------

    def _note_parameters(self) -> None:
        """Keep a snapshot of the parameters that the fit begins with."""
        self._begun = {name: snapshot(getattr(self, name)) for name in self.FIT_PARAMETERS}

    def _check_unchanged(self) -> None:
        """Refuse to continue or save a fit with other parameters than at its beginning."""
        for name in self.FIT_PARAMETERS:
            for changed, before, now in list_differences(name, self._begun[name], snapshot(getattr(self, name))):
                raise ValueError(
                    f"{changed} was {before!r} when the fit began and is {now!r} now: set it back, or call fit"
                )

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters; a parameter object's as ``algorithm__F``.

        Raises
        ------
        ValueError
            For an unknown parameter, with the nearest name, and for a parameter of something that has none.
        """
        names = list(self.get_params(deep=False))
        for name in parameters:
            own, nested, _ = name.partition("__")
            if own not in names:
                kind = type(self).__name__
                raise ValueError(
                    f"Invalid parameter {own!r} for {kind}, which has {', '.join(names)}{nearest(own, names)}"
                )
            value = parameters.get(own, getattr(self, own))
            if nested and not isinstance(value, BaseEstimator):
                example = f", such as {own}=JDE()" if own.startswith("algorithm") else ""
                raise ValueError(f"{name} needs a parameter object{example}; got {quote(value)}")
        super().set_params(**parameters)
        return self

    @abstractmethod
    def _state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the contents of a file: a header for JSON, and arrays."""

    @classmethod
    @abstractmethod
    def _from_header(cls, header: dict[str, Any], arrays: dict[str, Any]) -> Self:
        """Return a solver with the parameters of a file."""

    @abstractmethod
    def _restore(self, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        """Restore the fit from the contents of a file."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save parameters and state as data, in one atomic write.

        Functions and constraints are not data: `resume` needs them again.

        Parameters
        ----------
        path : str or path-like
            The file.

        Raises
        ------
        OSError
            When it cannot be written; an older file of that name then stays as it was.
        """
        header, arrays = self._state()
        serialization.save(path, json_view({"solver": type(self).__name__, **header}), arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str], device: str | Sequence[str] | None = None) -> Self:
        """Return the solver that was saved, ready to resume.

        Parameters
        ----------
        path : str or path-like
            A file that `save` wrote.
        device : str, list of str or None, default None
            The device to continue on; None: the device of the saved fit.

        Returns
        -------
        solver
            A solver of this class.

        Raises
        ------
        ValueError
            When the file is broken, foreign, of another class or of another version, with the entry that is wrong.
        """
        if device is not None:
            choose_engine(device)  # so that a wrong device is not taken for a broken file
        header, arrays = serialization.load(path)
        if header.get("solver", cls.__name__) != cls.__name__:
            raise ValueError(f"{os.fspath(path)!r} holds a {header['solver']}: load it with {header['solver']}.load")
        try:
            with entry(serialization.HEADER):
                cls._check_header(header)
            solver = cls._from_header(header, arrays)
            if device is not None:
                solver.device = device
            solver._restore(header, arrays)
        except ValueError as error:
            raise ValueError(f"{os.fspath(path)!r} is incomplete or inconsistent: {error}") from error
        return solver

    @classmethod
    def _check_header(cls, header: dict[str, Any]) -> None:
        """Check names and types of a header's entries; values are checked where they are used."""
        format_keys = {"format": str, "version": int, "solver": str}
        check_keys("the header", header, cls.REQUIRED_KEYS, {**format_keys, **cls.OPTIONAL_KEYS})
        check_keys("parameters", header["parameters"], {}, dict.fromkeys(cls().get_params(deep=False)))
        for described in header["algorithms"]:
            check_keys("algorithms", {"entry": described}, {"entry": (dict, type(None))}, {})
            if described is not None:
                check_keys("an algorithm", described, {"name": str, "parameters": dict}, {})
        check_keys("source", header["source"], {}, SOURCE)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the parameters and the contents of a file; a Python objective is not part of it."""
        state = {name: value for name, value in super().__getstate__().items() if name not in self.NOT_PICKLED}
        if self._has_state:
            state["_saved"] = self._state()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a pickled fit."""
        saved = state.pop("_saved", None)
        super().__setstate__(state)
        if saved is not None:
            header, arrays = json_view(saved[0]), saved[1]
            with entry(serialization.HEADER):
                self._check_header(header)
            self._restore(header, arrays)


class ParameterSnapshot:
    """A copy of the parameters of a parameter object.

    Parameters
    ----------
    value : object
        A parameter object.
    """

    def __init__(self, value: Any) -> None:
        self.kind, self.parameters = type(value), dict(vars(value))

    def __repr__(self) -> str:
        parameters = ", ".join(f"{name}={value!r}" for name, value in self.parameters.items())
        return f"{self.kind.__name__}({parameters})"


def best_run_of(solver: BaseSolver) -> int:
    """Return the number of the best run of a fit."""
    return solver._best_run


def best_result_of(solver: BaseSolver) -> RunResult:
    """Return the result of the best run of a fit."""
    return solver._best


def variables_of(solver: BaseSolver) -> Variables | None:
    """Return the typed variables of a fit, of x for a MinMaxSolver; None where all are real."""
    return solver._variables


def find_variable_limits(solver: BaseSolver) -> FloatArray:
    """Return the smallest and the largest value of every variable of a fit, of shape (dim, 2); as `variables_of`."""
    return solver._limits


def source_of(solver: BaseSolver) -> dict[str, Any]:
    """Return the entries of a header by which the objective of a fit is found again."""
    check_is_fitted(solver)
    objective = getattr(solver, "_objective", None)
    source: dict[str, Any] = getattr(solver, "_source", {}) if objective is None else objective.source
    return source


def params_of(variables: Variables | None, x: FloatArray) -> dict[str, Any]:
    """Return a point by the names of its variables."""
    if variables is None:
        raise AttributeError("params_ needs typed variables: bounds={'n': Integer(1, 20), 'x': (0.0, 1.0)}")
    return variables.params(x)


def snapshot(value: Any) -> Any:
    """Return a copy of a parameter that later changes of its parameters or elements do not reach."""
    if isinstance(value, HOLDERS):
        return ParameterSnapshot(value)
    if isinstance(value, (list, tuple)):
        return [snapshot(element) if isinstance(element, BaseEstimator) else element for element in value]
    return value.copy() if isinstance(value, (np.ndarray, dict)) else value


def list_differences(name: str, before: Any, now: Any) -> Iterator[tuple[str, Any, Any]]:
    """Give name and both values of every difference between two snapshots of a parameter."""
    if isinstance(before, ParameterSnapshot) and isinstance(now, ParameterSnapshot) and before.kind is now.kind:
        for key, value in before.parameters.items():
            yield from list_differences(f"{name}__{key}", value, now.parameters[key])
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for k, (old, new) in enumerate(zip(before, now, strict=True)):
            if old is not new:
                yield from list_differences(f"{name}[{k}]", old, new)
    elif not (before is now or np.array_equal(before, now)):
        yield name, before, now
