"""Tasks of the comparison of tuners: targets, spaces, instances for tuning and for judgement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_wine,
    make_classification,
    make_hastie_10_2,
    make_moons,
)
from sklearn.ensemble import GradientBoostingClassifier

from skde import get_problem
from skde.benchmark.tuning_reproduction import move_problem
from skde.problems import Problem
from skde.tuning import space_of
from skde.tuning.targets.base import TargetJob, TargetLimits
from skde.tuning.targets.conversion import as_target


@dataclass
class Task:
    """A tuning problem: a target with instances for tuning and others for judgement."""

    target: Any
    space: Any
    instances: list[Any]
    held_out: list[Any]
    max_experiments: int
    evals: int | None = None
    test: str = "friedman"
    zero: float = 0.0  # smaller costs count as this

    def scale(self, costs: Any) -> Any:
        """Return costs in a form that can be averaged."""
        return costs if self.test != "friedman" else np.log(np.minimum(costs, 1e30))


def shift_problem(name: str, dim: int, rng: np.random.Generator) -> Problem:
    """Return a problem in a box that is moved by up to a quarter of its width."""
    problem = get_problem(name, dim=dim)
    width = problem.bounds[:, 1] - problem.bounds[:, 0]
    bounds = problem.bounds - (rng.uniform(-0.25, 0.25, dim) * width)[:, None]
    return Problem(name, problem.kernel, bounds, problem.x_opt, problem.f_opt, problem.arrays, problem.options)


def differential_evolution(repetition: int, n_boxes: int = 2) -> Task:
    """Differential evolution on twelve shifted functions of ten variables, some boxes each, 3000 evaluations a run.

    Every repetition has other boxes; with the same ones, the comparison would hold for these boxes only.
    """
    names = [f"nashed2012/f{i}" for i in (0, 1, 4, 6, 8, 9, 10, 12, 14, 15, 16, 19)] * n_boxes
    rng = np.random.default_rng([4000, repetition])
    seen, held_out = ([shift_problem(name, 10, rng) for name in names] for _ in range(2))
    return Task("de", space_of("de").parameters, seen, held_out, 960, evals=3000, zero=1e-8)


def suite(repetition: int) -> Task:
    """Differential evolution on a whole suite, twenty functions of ten variables, 20000 evaluations a run.

    As `skde tune de --suite nashed2012 --dim 10 --max-experiments 600 --run-max-evals 20000`, but every repetition has
    other boxes.
    """
    problems = [get_problem(f"nashed2012/f{i}", dim=10) for i in range(20)]
    names = (f"tuners:{repetition}:{which}" for which in ("seen", "held out"))
    seen, held_out = ([move_problem(problem, name) for problem in problems] for name in names)
    return Task("de", space_of("de").parameters, seen, held_out, 600, evals=20000, zero=1e-8)


LANDSCAPE = {
    "a": FloatDistribution(0, 1),
    "b": FloatDistribution(0, 1),
    "c": FloatDistribution(1e-3, 1, log=True),
    "kind": CategoricalDistribution(["p", "q", "r", "s"]),
    "n": IntDistribution(1, 30),
    "unused": FloatDistribution(0, 1),
}


def truth(config: dict[str, Any], shift: np.ndarray) -> float:
    """Return the landscape without noise; its minimum is 0.1."""
    numbers = np.array([config["a"] - 0.6, config["b"] - 0.3, np.log10(config["c"]) / 3 + 0.5])
    return float(
        0.1
        + 4 * ((numbers - shift) ** 2).sum()
        + {"p": 0.4, "q": 0.0, "r": 0.15, "s": 1.0}[config["kind"]]
        + ((config["n"] - 22) / 30) ** 2
    )


def noisy(config: dict[str, Any], instance: tuple[float, list[float]], seed: int) -> float:
    """Return a cost: instances have sizes and shifts, and the noise has heavy tails."""
    size, shift = instance
    words = [seed, *(int(abs(float(v)) * 1e6) for v in config.values() if not isinstance(v, str))]
    noise = np.random.default_rng(words).standard_t(3)
    return float(size * truth(config, np.array(shift)) * np.exp(0.4 * noise))


def landscape(repetition: int) -> Task:
    """A landscape with known truth, twelve instances of very different sizes, and noise of heavy tails.

    The same in every repetition.
    """
    rng = np.random.default_rng(5)
    made = [(float(10 ** rng.uniform(-1, 2)), (0.08 * rng.normal(size=3)).tolist()) for _ in range(24)]
    return Task(noisy, LANDSCAPE, made[:12], made[12:], 1200)


BOOSTING = {
    "learning_rate": FloatDistribution(1e-4, 1, log=True),
    "n_estimators": IntDistribution(1, 60, log=True),
    "max_depth": IntDistribution(1, 8),
    "min_samples_leaf": IntDistribution(1, 60, log=True),
    "subsample": FloatDistribution(0.1, 1),
    "max_features": FloatDistribution(0.1, 1),
    "ccp_alpha": FloatDistribution(1e-5, 0.1, log=True),
}


def gradient_boosting(repetition: int) -> Task:
    """Gradient boosting on six data sets; judgement is on the other halves of the same data.

    The same in every repetition.
    """
    sets = [
        load_wine(return_X_y=True),
        load_breast_cancer(return_X_y=True),
        load_digits(n_class=3, return_X_y=True),
        make_moons(400, noise=0.3, random_state=0),
        make_classification(400, n_informative=5, random_state=0),
        make_hastie_10_2(400, random_state=0),
    ]
    halves = [tuple(part[:400][parity::2] for part in data) for parity in (0, 1) for data in sets]
    return Task(GradientBoostingClassifier(), BOOSTING, halves[:6], halves[6:], 480, test="t")


TASKS: dict[str, Callable[[int], Task]] = {
    "differential evolution": differential_evolution,
    "sixty instances": partial(differential_evolution, n_boxes=5),
    "suite": suite,
    "landscape": landscape,
    "gradient boosting": gradient_boosting,
}


# -- experiments -------------------------------------------------------------------------------------------------------


def experiment_costs(task: Task, jobs: Sequence[TargetJob]) -> list[float]:
    """Return the costs of experiments."""
    target = as_target(task.target, TargetLimits(None, task.evals), 1, "cpu")
    return [max(outcome.cost, task.zero) for outcome in target.run(jobs)]


def costs(task: Task, configurations: Sequence[dict[str, Any]], instances: list[Any], seeds: Sequence[int]) -> Any:
    """Return the costs of configurations on every instance with its seed, of shape (configurations, instances)."""
    jobs = [
        TargetJob(c, params, i, instance, seed)
        for i, (instance, seed) in enumerate(zip(instances, seeds, strict=True))
        for c, params in enumerate(configurations)
    ]
    return np.reshape(experiment_costs(task, jobs), (len(instances), len(configurations))).T
