"""A fit that goes into a file or a pickle and comes out of it, ready to go on."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from skde import checkpoint
from skde.algorithms import describe, get_algorithm
from skde.constraints import Remembered
from skde.engines import choose_engine
from skde.islands import Migration
from skde.objective import Objective
from skde.preparing import Preparing
from skde.stopping import Status


class Saving(Preparing):
    """Files and pickles of a Minimizer."""

    _source: dict[str, Any]  # of a fit that was loaded: what its objective was

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save parameters and state: data only, written to a temporary name and renamed.

        Functions and constraints are not data: `resume` needs them again.

        Parameters
        ----------
        path : str or path-like
            The file.

        Raises
        ------
        OSError
            When it cannot be written; a file of that name then stays as it was.
        """
        header, arrays = self._state()
        checkpoint.save(path, plain(header), arrays)

    def _state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what a file holds: a header for JSON, and arrays."""
        runner = self._fitted()
        spec = runner.batch.spec
        parameters = {
            name: spec.dtype.name if name == "dtype" else plain(value)
            for name, value in self.get_params(deep=False).items()
            if name not in ("algorithm", "bounds", "callbacks", "random_state", "migration", "constraints")
        }
        algorithms = self.algorithm if isinstance(self.algorithm, list | tuple) else [self.algorithm]
        objective = getattr(self, "_objective", None)
        header: dict[str, Any] = {
            "parameters": parameters,
            "algorithms": [describe(get_algorithm(algorithm)) for algorithm in algorithms],
            "migration": None if self.migration is None else self.migration.get_params(),
            "one_algorithm": not isinstance(self.algorithm, list | tuple),
            "source": objective.source if objective is not None else getattr(self, "_source", {}),
            "seconds": runner.clock.seconds,
            "ending": int(runner.ending),
            "dtype": spec.dtype.name,
        }
        arrays = {
            "box": self._box,
            "start": spec.start,
            "seeds": spec.seeds,
            "limits": spec.limits,
            "marks": np.array(runner.clock.marks, np.float64).reshape(-1, 2),
            **runner.batch.state(),
        }
        if runner.rules is not None:
            header["feasibility_tol"] = runner.rules.tolerance
            arrays["outcomes"] = np.array([(run.fun, run.max_violation, run.violation) for run in runner.results()])
        return header, arrays

    @classmethod
    def load(cls, path: str | os.PathLike[str], device: str | Sequence[str] | None = None) -> Self:
        """Return the Minimizer that was saved, ready to resume.

        Parameters
        ----------
        path : str or path-like
            A file that `save` wrote.
        device : str, list of str or None, default None
            Where to go on; None: where it ran.

        Returns
        -------
        minimizer : Minimizer

        Raises
        ------
        ValueError
            When the file is broken, foreign, or of another version.
        """
        if device is not None:
            choose_engine(device)  # so that a wrong device is not taken for a broken file
        header, arrays = checkpoint.load(path)
        try:
            algorithms = [get_algorithm(entry["name"], **entry["parameters"]) for entry in header["algorithms"]]
            minimizer = cls(
                algorithms[0] if header["one_algorithm"] else algorithms,
                bounds=arrays["box"],
                random_state=int(arrays["seeds"][0]),
                migration=None if header["migration"] is None else Migration(**header["migration"]),
                **header["parameters"],
            )
            if device is not None:
                minimizer.device = device
            minimizer._restore(header, arrays)
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            raise ValueError(f"{os.fspath(path)!r} is incomplete or inconsistent: {error!r}") from error
        return minimizer

    def _restore(self, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        self._source = header["source"]
        self._objective = None
        compiled = "problem" in self._source or "device_objective" in self._source
        engine = self._engine(None if compiled or not self._source else Objective(arrays["box"]))
        rules = Remembered(arrays["outcomes"], header["feasibility_tol"]) if "outcomes" in arrays else None
        runner = self._start(engine, arrays["box"], arrays["start"] if len(arrays["start"]) else None, rules)
        runner.batch.spec.seeds = arrays["seeds"]
        runner.batch.put("seeds", arrays["seeds"].view(np.int64))
        runner.batch.restore(arrays)
        runner.set_limits(arrays["limits"])
        runner.ending = Status(header["ending"])
        runner.clock.before = header["seconds"]
        runner.clock.marks = [(int(generation), float(seconds)) for generation, seconds in arrays["marks"]]
        self._runner = runner

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the parameters and, of a fit, what a file would hold; a Python objective is not part of it."""
        hidden = ("_runner", "_objective")
        state = {name: value for name, value in super().__getstate__().items() if name not in hidden}
        if self.__sklearn_is_fitted__():
            state["_saved"] = self._state()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take up a pickled fit where it was."""
        saved = state.pop("_saved", None)
        super().__setstate__(state)
        if saved is not None:
            self._restore(*saved)


def plain(value: Any) -> Any:
    """Return value in JSON's types."""
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    return value
