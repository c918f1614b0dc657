"""A Minimizer's files and pickles."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from skde.algorithms import describe, get_algorithm
from skde.feasibility import Remembered
from skde.islands import Migration
from skde.objective import Objective
from skde.preparing import Preparing
from skde.stopping import Status
from skde.storing import plain


class Saving(Preparing):
    """What a file holds of a Minimizer."""

    _source: dict[str, Any]  # of a fit that was loaded: what its objective was

    def _state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        runner = self._fitted()
        runner.judge()
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
    def _unstored(cls, header: dict[str, Any], arrays: dict[str, Any]) -> Self:
        algorithms = [get_algorithm(entry["name"], **entry["parameters"]) for entry in header["algorithms"]]
        return cls(
            algorithms[0] if header["one_algorithm"] else algorithms,
            bounds=arrays["box"],
            random_state=int(arrays["seeds"][0]),
            migration=None if header["migration"] is None else Migration(**header["migration"]),
            **header["parameters"],
        )

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
