"""A landscape with a known best configuration, instances of different sizes, and noise that the seed makes."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

import numpy as np
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

from skde.tuning import RacingTuner

SPACE = {
    "x": FloatDistribution(-1.0, 1.0),
    "kind": CategoricalDistribution(["good", "bad", "ugly"]),
    "n": IntDistribution(1, 20),
}
INSTANCES = [1.0, 10.0, 100.0]


def truth(config: dict[str, Any]) -> float:
    """Return the expected cost on an instance of size 1; 1 is the best."""
    return 1 + (config["x"] - 0.3) ** 2 + (config["kind"] != "good") + abs(config["n"] - 15) / 20


def cost(config: dict[str, Any], instance: float, seed: int) -> float:
    """Return a cost, of which the logarithm has normal noise."""
    noise = np.random.default_rng([seed, int(config["x"] * 1e6) % 2**32, config["n"]]).normal()
    return float(instance * truth(config) * np.exp(0.2 * noise))


def killed_after(calls: int) -> Callable[[dict[str, Any], float, int], float]:
    """Return the cost as a function that kills its process, as kill -9 does, when it is called once too often."""
    left = [calls]

    def function(config: dict[str, Any], instance: float, seed: int) -> float:
        left[0] -= 1
        if left[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return cost(config, instance, seed)

    function.__qualname__ = cost.__qualname__
    return function


def sometimes(config: dict[str, Any], instance: float, seed: int) -> float:
    """Return the cost, or fail."""
    found = cost(config, instance, seed)
    if int(1e6 * found) % 10 == 0:
        raise ArithmeticError("one in ten")
    return found


def tuner(**options: Any) -> RacingTuner:
    """Return a tuner of the landscape that always decides the same."""
    settings = {"space": SPACE, "instances": INSTANCES, "max_experiments": 600, "random_state": 1, **options}
    return RacingTuner(settings.pop("space"), settings.pop("instances"), **settings)


def decisions(fitted: RacingTuner) -> Any:
    """Return what a tuning decided."""
    return [(race["elites"], race["alive"], race["n_experiments"]) for race in fitted.races_], fitted.elites_
