"""A MinMaxSolver's files and pickles."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from skde.algorithms import describe, get_algorithm
from skde.minmax.pairs import Pairs, resolve_pairs
from skde.minmax.preparing import Preparing, get_side
from skde.problems import get_problem
from skde.stopping import Status

# Parameters that a file has in a form of its own, or not at all.
APART = ("algorithm_x", "algorithm_y", "bounds_x", "bounds_y", "callbacks", "random_state")


class Saving(Preparing):
    """What a file holds of a MinMaxSolver."""

    _source: dict[str, Any]  # how its function is found again

    def _state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        runner, pair = self._fitted(), self._pair
        if pair.constraints and "problem" not in self._source:
            raise ValueError("the constraints of Python functions cannot be in a file or a pickle")
        given = (("algorithm_x", self.algorithm_x), ("algorithm_y", self.algorithm_y))
        header: dict[str, Any] = {
            "parameters": {name: value for name, value in self.get_params(deep=False).items() if name not in APART},
            "algorithms": [None if side is None else describe(get_side(name, side)) for name, side in given],
            "source": self._source,
            "seconds": runner.clock.seconds,
            "ending": int(runner.ending),
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
        given = zip(("algorithm_x", "algorithm_y"), header["algorithms"], strict=True)
        sides = {name: get_algorithm(one["name"], **one["parameters"]) for name, one in given if one is not None}
        boxes = {f"bounds_{name[-1]}": arrays[name] for name in ("box_x", "box_y") if len(arrays[name])}
        return cls(**sides, **boxes, random_state=int(arrays["seeds"][0]), **header["parameters"])

    def _restore(self, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        self._source = header["source"]
        box_y = arrays["box_y"] if len(arrays["box_y"]) else None
        if "problem" in self._source:
            problem = get_problem(self._source["problem"], dim=self._source["dim"])
            pairs = resolve_pairs(problem, arrays["box_x"], box_y, feasibility_tol=self.feasibility_tol)
        else:
            pairs = Pairs(arrays["box_x"], box_y)
        self._objective = pairs if pairs.game is not None else None
        runner = self._start(pairs)
        runner.rules = pairs.rules
        self._runner = runner
        pair = self._pair
        for batch, name in ((pair, "seeds"), (pair.x, "seeds_x"), (pair.y, "seeds_y")):
            batch.spec.seeds = arrays[name]
            batch.put("seeds", arrays[name].view(np.int64))
        pair.restore(arrays)
        runner.set_limits(arrays["limits"])
        runner.ending = Status(header["ending"])
        runner.clock.before = header["seconds"]
        runner.clock.marks = [(int(cycle), float(seconds)) for cycle, seconds in arrays["marks"]]
