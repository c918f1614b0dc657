"""Exceptions, Ctrl-C, callbacks, time limits and stopping rules in one fit, which goes on to the same end."""

from __future__ import annotations

import random
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest

from skde import Minimizer

from .settings import examples
from .test_interruptions import Interrupted, continued, parameters_of, waves
from .test_pieces import told

# Ways to evaluate a function of one point; joblib's threads are those of this process.
WAYS: dict[str, dict[str, Any]] = {
    "one process": {},
    "joblib": {"execution": "joblib", "n_jobs": 2},
    "devices": {"device": ["cpu", "cpu"]},
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("example", range(examples(8)))
def test_everything_that_ends_a_fit_at_once(example: int, way: str, tmp_path: Path) -> None:
    draw = random.Random(f"{way}, {example}")
    space = draw.choice(["real", "mixed"])
    parameters = {**parameters_of(draw, space), "n_runs": draw.choice([2, 3]), **WAYS[way]}
    constraints = parameters["constraints"]
    whole = Minimizer(**{**parameters, "device": "cpu", "execution": "auto"}).fit(waves)
    f = Interrupted(draw)
    chances = random.Random(example)

    def g(x: Any) -> float:
        time.sleep(chances.choice([0.0] * 9 + [0.002]))
        return f(x)

    def limits() -> dict[str, Any]:
        ends = draw.choice([None, lambda progress: chances.random() < 0.5])
        return {"callbacks": ends, "max_time": draw.choice([None, None, 1e-6, 0.005, 0.02])}

    m = Minimizer(**{**parameters, **limits()})
    with joblib.parallel_config("threading"):
        for k in range(10_000):
            with suppress(KeyboardInterrupt, ZeroDivisionError):
                m = m.fit(g) if k == 0 or not m.__sklearn_is_fitted__() else m.resume(g)
            if m.__sklearn_is_fitted__():
                if constraints is None:
                    assert sum(run.n_evals for run in m.runs_) == sum(f.seen.values())
                if m._fit.population.done:  # a run has reached its target with its first island, while others go on
                    break
                m = continued(draw, m.set_params(callbacks=None), tmp_path / "fit")
            m.set_params(**limits())
    np.testing.assert_equal(told(m), told(whole))
    assert sum(run.n_evals for run in m.runs_) == sum(run.n_evals for run in whole.runs_)
