"""Iterated racing beside random search and Optuna's TPE, at equal numbers of experiments, judged on held-out steps.

python examples/tuners.py --repetitions 20 --out docs/benchmarks/tuners.json

All are judged by the mean over instances and seeds that none of them has seen: of the costs where these can be
averaged, as errors of classifiers can, else of their logarithms. The tuners that do not race minimise that mean over
their instances. "racing, means" sees the same costs, or logarithms, and eliminates by t-tests, the first after three
steps. The other races have their presets' rules; where costs cannot be averaged they see them as they are, and have
Friedman's test.

What FILE has is not run again; so a new tuner or more tasks can be added to a record.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import optuna
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from scipy import stats
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_classification, make_moons
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from skde import get_problem
from skde.benchmark import taken
from skde.benchmark.records import write_figures
from skde.tuning import RacingTuner, Rules, space_of
from skde.tuning.target import Job, Limits
from skde.tuning.targets import as_target

# -- problems ----------------------------------------------------------------------------------------------------------


@dataclass
class Task:
    """A tuning problem: a target on instances to learn from, and others to be judged on."""

    target: Any
    space: Any
    instances: list[Any]
    held_out: list[Any]
    max_experiments: int
    evals: int | None = None
    test: str = "friedman"

    def scaled(self, costs: Any) -> Any:
        """Return costs as they can be averaged."""
        return costs if self.test != "friedman" else np.log(np.minimum(costs, 1e30))


class Shifted:
    """A problem whose minimum is moved by up to a quarter of the box."""

    def __init__(self, name: str, dim: int, seed: int) -> None:
        self.problem = get_problem(name, dim=dim)
        width = self.problem.bounds[:, 1] - self.problem.bounds[:, 0]
        self.shift = np.random.default_rng(seed).uniform(-0.25, 0.25, dim) * width

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Return the values, not below 1e-8, which counts as zero."""
        return np.maximum(self.problem(X - self.shift) - self.problem.f_opt, 1e-8)


def differential_evolution() -> Task:
    """Differential evolution on shifted functions of ten variables, 3000 evaluations a run."""
    names = [f"nashed2012/f{i}" for i in (0, 1, 4, 6, 8, 9, 10, 12, 14, 15, 16, 19)]

    def shifted(seed: int) -> list[Any]:
        made = [Shifted(name, 10, seed + i) for i, name in enumerate(names)]
        return [(function, function.problem.bounds) for function in made]

    return Task("de", space_of("de").parameters, shifted(0), shifted(1000), 480, evals=3000)


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


def landscape() -> Task:
    """A landscape with known truth, twelve instances of very different sizes, and noise of heavy tails."""
    rng = np.random.default_rng(5)
    made = [(float(10 ** rng.uniform(-1, 2)), (0.08 * rng.normal(size=3)).tolist()) for _ in range(24)]
    return Task(noisy, LANDSCAPE, made[:12], made[12:], 1200)


def support_vectors() -> Task:
    """A support vector machine on six data sets; it is judged on other halves of the same data."""
    sets = [
        load_iris(return_X_y=True),
        load_wine(return_X_y=True),
        load_breast_cancer(return_X_y=True),
        tuple(part[:300] for part in load_digits(return_X_y=True)),
        make_moons(300, noise=0.3, random_state=0),
        make_classification(300, n_informative=5, random_state=0),
    ]
    halves = [tuple(part[parity::2] for part in data) for parity in (0, 1) for data in sets]
    space = {"svc__C": FloatDistribution(1e-3, 1e4, log=True), "svc__gamma": FloatDistribution(1e-5, 10, log=True)}
    space["svc__kernel"] = CategoricalDistribution(["rbf", "sigmoid"])
    return Task(make_pipeline(StandardScaler(), SVC()), space, halves[:6], halves[6:], 480, test="t")


TASKS: dict[str, Callable[[], Task]] = {
    "differential evolution": differential_evolution,
    "landscape": landscape,
    "support vectors": support_vectors,
}

# -- tuners ------------------------------------------------------------------------------------------------------------


def raced(rules: str | Rules, means: bool = False) -> Callable[[Task, int], dict[str, Any]]:
    """Return iterated racing; with `means`, by the costs that can be averaged."""

    def tuned(task: Task, seed: int) -> dict[str, Any]:
        def scaled(config: dict[str, Any], instance: Any, seed: int) -> float:
            return float(task.scaled(costs(task, [config], [instance], [seed])[0, 0]))

        tuner = RacingTuner(
            task.space,
            task.instances,
            max_experiments=task.max_experiments,
            run_evals_limit=task.evals,
            preset=rules,
            test=task.test,
            random_state=seed,
        )
        return tuner.fit(scaled if means else task.target).best_params_

    return tuned


def costs(task: Task, configurations: Sequence[dict[str, Any]], instances: list[Any], seeds: Sequence[int]) -> Any:
    """Return the costs of configurations on every instance with its seed, of shape (configurations, instances)."""
    target = as_target(task.target, Limits(None, task.evals), 1, "cpu")
    jobs = [
        Job(c, params, i, instance, seed)
        for i, (instance, seed) in enumerate(zip(instances, seeds, strict=True))
        for c, params in enumerate(configurations)
    ]
    found = [outcome.cost for outcome in target.run(jobs)]
    return np.reshape(found, (len(instances), len(configurations))).T


def studied(sampler: Callable[[int], Any], pruner: Callable[[], Any] | None = None) -> Callable[[Task, int], Any]:
    """Return a study of Optuna whose trials run on all instances, in a new order each, as far as not pruned."""

    def tuned(task: Task, seed: int) -> dict[str, Any]:
        study = optuna.create_study(sampler=sampler(seed), pruner=pruner() if pruner else optuna.pruners.NopPruner())
        left = task.max_experiments
        n = len(task.instances)
        while left > 0:
            trial = study.ask(task.space)
            order = np.random.default_rng([seed, trial.number]).permutation(n)[:left]
            values, pruned = [], False
            for i in order.tolist():
                left -= 1
                cost = costs(task, [trial.params], [task.instances[i]], [seed])[0, 0]
                values.append(float(task.scaled(cost)))
                if pruner:
                    trial.report(values[-1], i)
                    pruned = trial.should_prune()
                    if pruned:
                        break
            if len(values) == n or pruned:
                state = optuna.trial.TrialState.PRUNED if pruned else optuna.trial.TrialState.COMPLETE
                study.tell(trial, None if pruned else float(np.mean(values)), state=state)
        return study.best_params

    return tuned


# With budgets as small as these, more configurations are worth more than steps of each.
MEANS = Rules(elitist=True, test="t", first_test=3, mu=3, patience=5)
TUNERS: dict[str, Callable[[Task, int], dict[str, Any]]] = {
    "racing, means": raced(MEANS, means=True),
    "racing, elitist": raced("elitist"),
    "racing, irace-2011": raced("irace-2011"),
    "random search": studied(lambda seed: optuna.samplers.RandomSampler(seed)),
    "TPE": studied(lambda seed: optuna.samplers.TPESampler(seed=seed)),
    "TPE, WilcoxonPruner": studied(lambda seed: optuna.samplers.TPESampler(seed=seed), optuna.pruners.WilcoxonPruner),
}

# -- the comparison ----------------------------------------------------------------------------------------------------


def judged(task: Task, configurations: list[dict[str, Any]], repetition: int, n_seeds: int) -> list[float]:
    """Return every configuration's mean cost, scaled, on held-out instances and seeds."""
    if task.target is noisy:  # the truth is known
        return [
            float(np.mean([np.log(truth(c, np.array(shift))) for _, shift in task.held_out])) for c in configurations
        ]
    found = []
    for k in range(n_seeds):
        seeds = np.random.default_rng([repetition, k]).integers(2**31, size=len(task.held_out)).tolist()
        found.append(task.scaled(costs(task, configurations, task.held_out, seeds)))
    return [float(value) for value in np.mean(found, axis=(0, 2))]


def compare(names: Sequence[str], repetitions: int, n_seeds: int, rows: list[dict[str, Any]]) -> None:
    """Add what every tuner reached in every repetition to the rows, as far as it is not there.

    Lower is better; p is that of Wilcoxon's one-sided test over the repetitions that the first tuner is not better.
    """
    for name in names:
        task = TASKS[name]()
        reached: dict[str, list[float]] = {tuner: [] for tuner in TUNERS}
        reached |= {row["tuner"]: row["values"] for row in rows if row["task"] == name}
        for repetition in range(repetitions):
            missing = [tuner for tuner in TUNERS if len(reached[tuner]) <= repetition]
            if not missing:
                continue
            values = judged(task, [TUNERS[tuner](task, repetition) for tuner in missing], repetition, n_seeds)
            for tuner, value in zip(missing, values, strict=True):
                reached[tuner].append(value)
            told = {tuner: round(value, 3) for tuner, value in zip(missing, values, strict=True)}
            print(f"{name}, repetition {repetition}: {told}", file=sys.stderr, flush=True)
        rows[:] = [row for row in rows if row["task"] != name]
        rows += [row_of(name, tuner, reached[tuner], reached[next(iter(TUNERS))]) for tuner in TUNERS]


def row_of(task: str, tuner: str, values: list[float], first: list[float]) -> dict[str, Any]:
    """Return what a tuner reached, compared with the first one."""
    same = np.array_equal(values, first)
    p = 1.0 if same else float(stats.wilcoxon(first, values, alternative="less").pvalue)
    return {"task": task, "tuner": tuner, "median": float(np.median(values)), "p": p, "values": values}


def begun(out: str | None, seeds: int) -> dict[str, Any]:
    """Return the record that is to be added to: its rows, and when its parts were taken."""
    if out is None or not os.path.exists(out):
        return {"figures": [], "earlier": []}
    found = json.loads(Path(out).read_bytes())
    if found["settings"]["seeds"] != seeds:
        raise ValueError(f"{out} has seeds {found['settings']['seeds']}, not {seeds}; use the same, or another file")
    last = {name: found[name] for name in ("date", "commit", "command")}
    return {"figures": found["figures"], "earlier": [*found.get("earlier", []), last]}


def main(arguments: list[str]) -> list[dict[str, Any]]:
    """Compare, print, and write a record where one is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS), help="which problems (all)")
    parser.add_argument("--repetitions", type=int, default=20, help="of every tuning (20)")
    parser.add_argument("--seeds", type=int, default=20, help="by which a configuration is judged, an instance (20)")
    parser.add_argument("--out", help="a file for the record, in JSON, or with one to add to")
    options = parser.parse_args(arguments)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
    record = begun(options.out, options.seeds)
    rows: list[dict[str, Any]] = record["figures"]
    compare(options.tasks, options.repetitions, options.seeds, rows)
    for row in rows:
        print(f"{row['task']:<24}{row['tuner']:<22}median {row['median']:.4f}  p {row['p']:.2g}")
    if options.out:
        here = taken(shlex.join(["python", "examples/tuners.py", *arguments]))
        settings = {"repetitions": options.repetitions, "seeds": options.seeds}
        write_figures(options.out, {**here, "settings": settings, **record})
    return rows


if __name__ == "__main__":
    main(sys.argv[1:])
