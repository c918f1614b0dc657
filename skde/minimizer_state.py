"""A Minimizer's files and pickles."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from skde.algorithms import describe, get_algorithm
from skde.base import plain
from skde.engines.state_layout import NUMBER, WORD, batch_layout, check_batch
from skde.islands import Migration
from skde.minimizer_spec import Plan, Preparing
from skde.objectives.feasibility import StoredOutcomes
from skde.objectives.objective import Objective
from skde.runner import Runner
from skde.serialization import HEADER, Layout, check_layout, entry
from skde.stopping import Status
from skde.validation import check_bounds, check_int, check_jobs, check_real, check_start

BUDGET = ("max_iter", "max_evals", "max_time")
# Parameters that a file has in a form of its own, or not at all.
APART = ("algorithm", "bounds", "callbacks", "random_state", "migration", "constraints")


class Saving(Preparing):
    """What a file holds of a Minimizer."""

    HEADER: ClassVar[dict[str, Any]] = {
        "parameters": dict,
        "algorithms": list,
        "migration": (dict, type(None)),
        "one_algorithm": bool,
        "source": dict,
        "seconds": (float, int),
        "ending": int,
        "dtype": str,
    }
    OPTIONAL: ClassVar[dict[str, Any]] = {"feasibility_tol": (float, int), "planned": list}

    _source: dict[str, Any]  # of a fit that was loaded: what its objective was

    def _state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        runner = self._fitted()
        self._check_unchanged()
        self._stopping(runner.rules is not None)
        check_jobs(self.n_jobs)
        runner.judge()
        spec = runner.batch.spec
        parameters = {
            name: spec.dtype.name if name == "dtype" else plain(value)
            for name, value in self.get_params(deep=False).items()
            if name not in APART
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
            "planned": list(self._planned),
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
        with entry(HEADER):
            if not header["algorithms"] or (header["one_algorithm"] and len(header["algorithms"]) > 1):
                raise ValueError("algorithms must be one or, for as many runs, several")
            if header["parameters"].get("dtype") != header["dtype"]:
                raise ValueError("dtype must be that among the parameters")
            algorithms = [get_algorithm(one["name"], **one["parameters"]) for one in header["algorithms"]]
            solver = cls(
                algorithms[0] if header["one_algorithm"] else algorithms,
                migration=None if header["migration"] is None else Migration(**header["migration"]),
                **header["parameters"],
            )
        check_layout(arrays, solver._own_layout(header), whole=False)
        solver.bounds, solver.random_state = arrays["box"], int(arrays["seeds"][0])
        return solver

    def _own_layout(self, header: dict[str, Any]) -> dict[str, Layout]:
        """Return the layout of what a file holds beside the state of the batch."""
        with entry(HEADER):
            n_runs = check_int("n_runs", self.n_runs, 1, 2**20)
            n_seeds = n_runs * check_int("n_islands", self.n_islands, 1, 2**16)
        layout = {
            "box": Layout((None, 2), NUMBER),
            "start": Layout((None, None), NUMBER),
            "seeds": Layout((n_seeds,), np.dtype(np.uint64)),
            "limits": Layout((n_seeds,), WORD),
            "marks": Layout((None, 2), NUMBER),
        }
        if "feasibility_tol" in header:
            layout["outcomes"] = Layout((n_runs, 3), NUMBER)
        return layout

    def _plan(self, header: dict[str, Any], arrays: dict[str, Any]) -> Plan:
        """Check what a file holds beside the state of the batch, and return what its batch is made of."""
        check_layout(arrays, self._own_layout(header), whole=False)
        with entry("box"):
            box = check_bounds(arrays["box"])
        with entry(HEADER):
            given = header.get("planned", list(self._budget))
            if len(given) != len(BUDGET):
                raise ValueError(f"planned must be {', '.join(BUDGET)}, got {given!r}")
            budget = (given[0], given[1], given[2])
            self._check_source(header["source"], len(box))
            Status(header["ending"])
            check_real("feasibility_tol", header.get("feasibility_tol", 0.0), 0)
            # Before anything is made that is as large as the populations are said to be.
            rows = arrays["x"].shape[1] if "x" in arrays and arrays["x"].ndim == 3 else 0
            setting = self._setting(len(box), budget)
            for algorithm in {id(one): one for one in self._algorithms()}.values():
                if (pop_size := algorithm.kernel_parameters(setting)["pop_size"]) > rows:
                    raise ValueError(f"pop_size is {pop_size}, and entry 'x' has {rows} rows")
        with entry("limits"):
            if (arrays["limits"] < 0).any():
                raise ValueError("limits must be >= 0")
        if "outcomes" in arrays:
            with entry("outcomes"):
                if not (arrays["outcomes"][:, 1:] >= 0).all():
                    raise ValueError("violations must be >= 0")
        self._check_marks(arrays["marks"])
        return Plan(budget, arrays["seeds"], arrays["limits"])

    def _check_source(self, source: dict[str, Any], dim: int) -> None:
        """Check how the objective is to be found again."""
        if "problem" in source and (source.get("dim") != dim or "options" not in source):
            raise ValueError(f"'source' must be a problem of dim {dim}, with options, got {source!r}")

    def _restore(self, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        plan = self._plan(header, arrays)
        box, start = arrays["box"], arrays["start"]
        with entry("start"):
            check_start(start if len(start) else None, box, arrays["x"].shape[1])
        with entry(HEADER):
            spec = self._spec(box, start if len(start) else None, "outcomes" in arrays, plan)
        check_layout(arrays, {**self._own_layout(header), **batch_layout(spec)})
        spec.last = max(spec.last, int(arrays["generation"].max()))
        check_batch(spec, arrays, own=self._algorithms()[0])
        self._source = header["source"]
        self._objective = None
        compiled = "problem" in self._source or "device_objective" in self._source
        with entry(HEADER):
            engine = self._engine(None if compiled or not self._source else Objective(box))
            runner = Runner(engine, spec)
        runner.rules = StoredOutcomes(arrays["outcomes"], header["feasibility_tol"]) if "outcomes" in arrays else None
        runner.batch.restore(arrays)
        runner.set_limits(arrays["limits"])
        runner.ending = Status(header["ending"])
        runner.clock.before = float(header["seconds"])
        runner.clock.marks = [(int(generation), float(seconds)) for generation, seconds in arrays["marks"]]
        self._box, self._planned, self._runner = box, plan.budget, runner
        self._note_parameters()
