"""The best configuration against the default, on seeds that the tuning did not use."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np

from skde.tuning.loop import HELD_OUT, TuningSetting
from skde.tuning.targets.base import Target, TargetJob
from skde.typing import FloatArray

DEFAULT = -1  # the number of the default configuration


@dataclass(frozen=True)
class HeldOutCosts:
    """Costs on steps that the tuning did not use.

    Attributes
    ----------
    number : int
        The best configuration.
    instances : ndarray of int
        The instance of every step, by its number.
    best : ndarray
        Costs of the best configuration; inf where it failed.
    default : ndarray or None
        Costs of the default on the same steps; None where there is no default.
    new_seeds : bool
        Whether the steps have seeds; else they are the instances of the tuning.
    comparable : bool
        Whether costs of different instances have a mean that says something.
    """

    number: int
    instances: np.ndarray[Any, np.dtype[np.int64]]
    best: FloatArray
    default: FloatArray | None
    new_seeds: bool = True
    comparable: bool = True


def measure_held_out(
    setting: TuningSetting, target: Target, number: int, params: dict[str, Any], n_steps: int
) -> HeldOutCosts:
    """Return the costs of the best configuration and of the default.

    Parameters
    ----------
    setting : TuningSetting
        The tuning's inputs. Costs that do not depend on the seed are from all its instances.
    target : Target
        Runs the experiments.
    number, params
        The best configuration.
    n_steps : int
        Number of steps, >= 1.
    """
    steps = [setting.step(k) for k in range(len(setting.instances))]
    if not setting.deterministic:
        steps = [make_held_out_step(setting, k) for k in range(n_steps)]
    configurations = {number: params}
    default = default_params(setting, target.configure)
    if default is not None:
        configurations[DEFAULT] = default
    jobs = [
        TargetJob(configuration, dict(values), instance, setting.instances[instance], seed)
        for instance, seed in steps
        for configuration, values in configurations.items()
    ]
    with closing(target.run(jobs)) as outcomes:
        costs = np.array([outcome.cost for outcome in outcomes]).reshape(len(steps), len(configurations))
    instances = np.array([instance for instance, _ in steps])
    by_default = costs[:, 1] if default is not None else None
    comparable = setting.rules.test != "friedman"
    return HeldOutCosts(number, instances, costs[:, 0], by_default, not setting.deterministic, comparable)


def make_held_out_step(setting: TuningSetting, k: int) -> tuple[int, int]:
    """Return the instance, all of them in turn, and the seed of held-out step k."""
    return k % len(setting.instances), int(setting.rng(HELD_OUT, k).integers(2**31))


def default_params(setting: TuningSetting, configured: Callable[[dict[str, Any]], Any]) -> dict[str, Any] | None:
    """Return the default: an algorithm or estimator as given, else the first initial configuration, if there is one."""
    try:
        configured({})
    except AttributeError:
        return setting.space.initial[0].params if setting.space.initial else None
    return {}
