"""A MinMaxSolver's files and pickles."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from skde.algorithms import describe, get_algorithm
from skde.engines.state_layout import NUMBER, WORD, check_coevolution, coevolution_layout
from skde.minmax.objective import Pairs, resolve_pairs, side_bounds
from skde.minmax.spec import Plan, Preparing, get_side
from skde.problems import get_problem, problem_names
from skde.serialization import HEADER, Layout, check_layout, entry
from skde.stopping import Status, check_stopping
from skde.validation import check_choice, check_int, check_jobs

# Parameters that a file has in a form of its own, or not at all.
APART = ("algorithm_x", "algorithm_y", "bounds_x", "bounds_y", "callbacks", "random_state")


class Saving(Preparing):
    """What a file holds of a MinMaxSolver."""

    HEADER: ClassVar[dict[str, Any]] = {
        "parameters": dict,
        "algorithms": list,
        "source": dict,
        "seconds": (float, int),
        "ending": int,
    }
    OPTIONAL: ClassVar[dict[str, Any]] = {"planned": int}

    _source: dict[str, Any]  # how its function is found again

    def _state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        runner, pair = self._fitted(), self._pair
        if pair.constraints and "problem" not in self._source:
            raise ValueError("the constraints of Python functions cannot be in a file or a pickle")
        self._check_unchanged()
        check_stopping(self.target, self.tol, self.stagnation, self.max_time)
        check_jobs(self.n_jobs)
        given = (("algorithm_x", self.algorithm_x), ("algorithm_y", self.algorithm_y))
        header: dict[str, Any] = {
            "parameters": {name: value for name, value in self.get_params(deep=False).items() if name not in APART},
            "algorithms": [None if side is None else describe(get_side(name, side)) for name, side in given],
            "source": self._source,
            "seconds": runner.clock.seconds,
            "ending": int(runner.ending),
            "planned": self._planned,
        }
        header["parameters"]["dtype"] = pair.spec.dtype.name
        box_x, box_y = self._boxes
        arrays = {
            "box_x": box_x,
            "box_y": np.empty((0, 2)) if box_y is None else box_y,
            "seeds": pair.spec.seeds,
            "seeds_x": pair.x.spec.seeds,
            "seeds_y": pair.y.spec.seeds,
            "limits": pair.spec.limits,
            "marks": np.array(runner.clock.marks, np.float64).reshape(-1, 2),
            **pair.state(),
        }
        return header, arrays

    @classmethod
    def _unstored(cls, header: dict[str, Any], arrays: dict[str, Any]) -> Self:
        with entry(HEADER):
            given = header["algorithms"]
            if len(given) != 2 or given[0] is None:
                raise ValueError("algorithms must be that of x, and that of y or null")
            sides = [None if one is None else get_algorithm(one["name"], **one["parameters"]) for one in given]
            solver = cls(sides[0], sides[1], **header["parameters"])
        check_layout(arrays, solver._own_layout(), whole=False)
        solver.bounds_x, solver.bounds_y = (box if len(box := arrays[name]) else None for name in ("box_x", "box_y"))
        solver.random_state = int(arrays["seeds"][0])
        return solver

    def _own_layout(self) -> dict[str, Layout]:
        """Return the layout of what a file holds beside the state of the populations."""
        with entry(HEADER):
            n_runs = check_int("n_runs", self.n_runs, 1, 2**20)
        box, seeds = Layout((None, 2), NUMBER), Layout((n_runs,), np.dtype(np.uint64))
        return {
            **dict.fromkeys(("box_x", "box_y", "marks"), box),
            **dict.fromkeys(("seeds", "seeds_x", "seeds_y"), seeds),
            "limits": Layout((n_runs,), WORD),
        }

    def _restore(self, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        own = self._own_layout()
        check_layout(arrays, own, whole=False)
        self._check_marks(arrays["marks"])
        with entry("limits"):
            if (arrays["limits"] < 0).any():
                raise ValueError("limits must be >= 0")
        pairs = self._saved_pairs(header, arrays)
        with entry(HEADER):
            ending = Status(header["ending"])
            rounds = self._rounds(
                pairs,
                Plan(
                    n_cycles=header.get("planned", self.n_cycles),
                    **{name: arrays[name] for name in ("seeds", "seeds_x", "seeds_y", "limits")},
                ),
            )
        check_layout(arrays, own | coevolution_layout(rounds))
        rounds.answers.last = max(rounds.answers.last, int(arrays["generation"].max()))
        sides = (get_side("algorithm_x", self.algorithm_x), get_side("algorithm_y", self._given_y))
        check_coevolution(rounds, arrays, *sides)
        self._source = header["source"]
        self._objective = pairs if pairs.game is not None else None
        with entry(HEADER):
            runner = self._begin_with(pairs, rounds, header.get("planned", self.n_cycles))
        runner.rules = pairs.rules
        self._runner = runner
        self._pair.restore(arrays)
        runner.set_limits(arrays["limits"])
        runner.ending = ending
        runner.clock.before = float(header["seconds"])
        runner.clock.marks = [(int(cycle), float(seconds)) for cycle, seconds in arrays["marks"]]

    def _saved_pairs(self, header: dict[str, Any], arrays: dict[str, Any]) -> Pairs:
        """Return what a file says of the function: its boxes and, where its name is enough, the function."""
        source, boxes = header["source"], []
        for name in ("box_x", "box_y"):
            with entry(name):
                boxes.append(side_bounds(name, arrays[name]) if len(arrays[name]) else None)
        box_x, box_y = boxes
        with entry(HEADER):
            if "problem" in source:
                check_choice("source", source["problem"], [*problem_names("constrained"), *problem_names("minmax")])
                if source.get("dim") != len(arrays["box_x"]):
                    raise ValueError(f"source must have the dim of box_x, {len(arrays['box_x'])}, got {source!r}")
                problem = get_problem(source["problem"], dim=source["dim"])
                return resolve_pairs(problem, box_x, box_y, feasibility_tol=self.feasibility_tol)
            if box_x is None or box_y is None:
                raise ValueError("a function of two sides needs box_x and box_y")
            return Pairs(box_x, box_y)
