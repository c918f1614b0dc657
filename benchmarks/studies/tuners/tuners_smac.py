"""SMAC3 as a tuner: its facade for algorithm configuration, with its defaults."""

from __future__ import annotations

from importlib.util import find_spec
from tempfile import TemporaryDirectory
from typing import Any

from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from tuners_tasks import Task, costs


def missing() -> str | None:
    """Return the reason why SMAC cannot run, or None."""
    return None if find_spec("smac") else "there is no package smac: pip install smac"


def smac(task: Task, seed: int) -> dict[str, Any]:
    """Return the configuration that SMAC finds for the mean of scaled costs over instances and seeds."""
    from ConfigSpace import ConfigurationSpace
    from smac import AlgorithmConfigurationFacade, Scenario

    def cost(config: Any, instance: str, seed: int) -> float:
        found = costs(task, [read(config)], [task.instances[int(instance)]], [seed])
        return float(task.scale(found)[0, 0])

    def read(config: Any) -> dict[str, Any]:
        return {name: native(config[name], found) for name, found in task.space.items()}

    space = ConfigurationSpace(seed=seed)
    space.add([hyperparameter(name, found) for name, found in task.space.items()])
    names = [str(i) for i in range(len(task.instances))]
    with TemporaryDirectory() as folder:
        scenario = Scenario(
            space,
            instances=names,
            # SMAC's model identifies instances by features; the only one here is the instance's number.
            instance_features={name: [float(name)] for name in names},
            n_trials=task.max_experiments,
            seed=seed,
            output_directory=folder,
        )
        return read(AlgorithmConfigurationFacade(scenario, cost, logging_level=False, overwrite=True).optimize())


def hyperparameter(name: str, found: BaseDistribution) -> Any:
    """Return a parameter of SMAC's space."""
    from ConfigSpace import CategoricalHyperparameter, UniformFloatHyperparameter, UniformIntegerHyperparameter

    if isinstance(found, CategoricalDistribution):
        return CategoricalHyperparameter(name, found.choices)
    assert isinstance(found, FloatDistribution | IntDistribution)
    kind = UniformFloatHyperparameter if isinstance(found, FloatDistribution) else UniformIntegerHyperparameter
    return kind(name, found.low, found.high, log=found.log)


def native(value: Any, found: BaseDistribution) -> Any:
    """Return a value as Python's own type."""
    if isinstance(found, CategoricalDistribution):
        return next(choice for choice in found.choices if choice == value)
    return float(value) if isinstance(found, FloatDistribution) else int(value)
