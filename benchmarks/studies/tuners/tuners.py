"""Comparison of iterated racing with other tuners, with equal numbers of experiments, on held-out steps.

python benchmarks/studies/tuners/tuners.py --repetitions 20 --jobs 4 --out benchmarks/records/tuners.json

The measure is the mean over instances and seeds that no tuner has seen: of the costs where these can be averaged, like
errors of classifiers, and otherwise of their logarithms. The tuners that do not race minimise that mean over their
instances. "racing, means" has the same costs, or logarithms, and eliminates by t-tests with the preset for small
budgets; so does "racing, not guided", without that preset's model. The other races have their presets' rules; if costs
cannot be averaged, they have the costs unchanged, and Friedman's test. "racing, later tests" is "racing, means" for
instances of many kinds.

Results in FILE are not computed again, so a new tuner or more tasks can be added to a record.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import optuna
import tuners_irace
import tuners_smac
from scipy import stats
from tuners_tasks import TASKS, Task, costs, noisy, truth

from skde.benchmark import provenance
from skde.benchmark.records import DIGITS, write_figures
from skde.tuning import PRESETS, RacingTuner

# -- tuners ------------------------------------------------------------------------------------------------------------


def racing(preset: str, means: bool = False, **changes: Any) -> Callable[[Task, int], dict[str, Any]]:
    """Return a racing tuner; with `means`, it has costs that can be averaged; `changes` are of the preset's rules."""

    def tune(task: Task, seed: int) -> dict[str, Any]:
        def cost(config: dict[str, Any], instance: Any, seed: int) -> float:
            found = costs(task, [config], [instance], [seed])[0, 0]
            return float(task.scale(found) if means else found)

        rules = replace(PRESETS[preset], test="t" if means else task.test, **changes)
        tuner = RacingTuner(
            task.space,
            task.instances,
            max_experiments=task.max_experiments,
            run_max_evals=task.evals,
            preset=rules,
            random_state=seed,
        )
        return tuner.fit(cost).best_params_

    return tune


def optuna_study(sampler: Callable[[int], Any], pruner: Callable[[], Any] | None = None) -> Callable[[Task, int], Any]:
    """Return a tuner by an Optuna study: a trial runs on all instances in a new order, until it is pruned."""

    def tune(task: Task, seed: int) -> dict[str, Any]:
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
                values.append(float(task.scale(cost)))
                if pruner:
                    trial.report(values[-1], i)
                    pruned = trial.should_prune()
                    if pruned:
                        break
            if len(values) == n or pruned:
                state = optuna.trial.TrialState.PRUNED if pruned else optuna.trial.TrialState.COMPLETE
                study.tell(trial, None if pruned else float(np.mean(values)), state=state)
        return study.best_params

    return tune


TUNERS: dict[str, Callable[[Task, int], dict[str, Any]]] = {
    "racing, means": racing("small-budget", means=True),
    "racing, not guided": racing("small-budget", means=True, guided=False),
    "racing, later tests": racing("small-budget", means=True, first_test=10, mu=20, survivors=2),
    "racing, elitist": racing("elitist"),
    "racing, irace-2011": racing("irace-2011"),
    "irace, elitist": tuners_irace.irace(elitist=True),
    "irace, not elitist": tuners_irace.irace(elitist=False),
    "random search": optuna_study(lambda seed: optuna.samplers.RandomSampler(seed)),
    "TPE": optuna_study(lambda seed: optuna.samplers.TPESampler(seed=seed)),
    "TPE, WilcoxonPruner": optuna_study(
        lambda seed: optuna.samplers.TPESampler(seed=seed), optuna.pruners.WilcoxonPruner
    ),
    "SMAC": tuners_smac.smac,
}

NEEDS = {
    "irace, elitist": tuners_irace.missing,
    "irace, not elitist": tuners_irace.missing,
    "SMAC": tuners_smac.missing,
}
# The irace that a preset follows.
REFERENCES = {"racing, elitist": "irace, elitist", "racing, irace-2011": "irace, not elitist"}

# -- the comparison ----------------------------------------------------------------------------------------------------


def measure_held_out(task: Task, configurations: list[dict[str, Any]], repetition: int, n_seeds: int) -> list[float]:
    """Return every configuration's mean cost, scaled, on held-out instances and seeds."""
    if task.target is noisy:  # the truth is known
        return [
            float(np.mean([np.log(truth(c, np.array(shift))) for _, shift in task.held_out])) for c in configurations
        ]
    found = []
    for k in range(n_seeds):
        seeds = np.random.default_rng([repetition, k]).integers(2**31, size=len(task.held_out)).tolist()
        found.append(task.scale(costs(task, configurations, task.held_out, seeds)))
    return [float(value) for value in np.mean(found, axis=(0, 2))]


def run_repetition(name: str, tuners: list[str], repetition: int, n_seeds: int) -> list[float]:
    """Return the held-out cost of each tuner in a repetition of a task."""
    quieten()  # this may be another process
    task = TASKS[name](repetition)
    return measure_held_out(task, [TUNERS[tuner](task, repetition) for tuner in tuners], repetition, n_seeds)


def quieten() -> None:
    """Silence Optuna."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)


def compare(
    names: Sequence[str],
    tuners: Sequence[str],
    repetitions: Sequence[int],
    n_seeds: int,
    rows: list[dict[str, Any]],
    save: Callable[[], None],
    n_jobs: int = 1,
) -> None:
    """Add the missing repetitions of all tuners to the rows, and save after each."""
    absent = {tuner: reason for tuner, asked in NEEDS.items() if tuner in tuners and (reason := asked())}
    for tuner, reason in absent.items():
        print(f"{tuner} is left out: {reason}", file=sys.stderr)
    for name in names:
        reached: dict[str, list[float]] = {tuner: [] for tuner in TUNERS}
        reached |= {row["tuner"]: row["values"] for row in rows if row["task"] == name}
        present = [tuner for tuner in tuners if tuner not in absent]
        lacking = [[tuner for tuner in present if len(reached[tuner]) <= n] for n in range(len(repetitions))]
        left = [(repetition, missing) for repetition, missing in zip(repetitions, lacking, strict=True) if missing]
        parallel = joblib.Parallel(n_jobs, return_as="generator")
        runs = parallel(
            joblib.delayed(run_repetition)(name, missing, repetition, n_seeds) for repetition, missing in left
        )
        for (repetition, missing), found in zip(left, runs, strict=True):
            values = [float(f"{cost:.{DIGITS}g}") for cost in found]
            for tuner, value in zip(missing, values, strict=True):
                reached[tuner].append(value)
            results = {tuner: round(value, 3) for tuner, value in zip(missing, values, strict=True)}
            print(f"{name}, repetition {repetition}: {results}", file=sys.stderr, flush=True)
            rows[:] = [row for row in rows if row["task"] != name]
            rows += [row_of(name, tuner, reached) for tuner in TUNERS if reached[tuner]]
            save()


def row_of(task: str, tuner: str, reached: dict[str, list[float]]) -> dict[str, Any]:
    """Return a tuner's results; lower is better.

    p comes from Wilcoxon's one-sided test over the repetitions that the first tuner is not better. In the comparison
    with its reference, p is that the tuner is not better than the reference, and p_worse that it is not worse.
    """
    values = reached[tuner]
    row = {
        "task": task,
        "tuner": tuner,
        "median": float(np.median(values)),
        "p": p_less(reached[next(iter(TUNERS))], values),
    }
    reference = REFERENCES.get(tuner, "")
    if theirs := reached.get(reference):
        row["against"] = {"tuner": reference, "p": p_less(values, theirs), "p_worse": p_less(theirs, values)}
    return {**row, "values": values}


def p_less(first: list[float], second: list[float]) -> float:
    """Return p of Wilcoxon's test that the first values are not lower than the second ones of the same repetitions."""
    n = min(len(first), len(second))
    return 1.0 if first[:n] == second[:n] else float(stats.wilcoxon(first[:n], second[:n], alternative="less").pvalue)


def open_record(out: str | None, settings: dict[str, int]) -> dict[str, Any]:
    """Return rows and earlier dates, commits and commands of an existing record, or an empty record."""
    if out is None or not os.path.exists(out):
        return {"figures": [], "earlier": []}
    found = json.loads(Path(out).read_bytes())
    for name in ("first", "seeds"):
        there = found["settings"].get(name, 0)
        if there != settings[name]:
            raise ValueError(f"{out} has {name} {there}, not {settings[name]}; use the same, or another file")
    last = {name: found[name] for name in ("date", "commit", "command")}
    return {"figures": found["figures"], "earlier": [*found.get("earlier", []), last]}


def main(arguments: list[str]) -> list[dict[str, Any]]:
    """Compare, print, and write a record if --out names a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS), help="tasks (all)")
    parser.add_argument(
        "--tuners", nargs="+", choices=TUNERS, default=list(TUNERS), help="tuners to compare with the first (all)"
    )
    parser.add_argument("--repetitions", type=int, default=20, help="repetitions of every tuning (20)")
    parser.add_argument("--first", type=int, default=0, help="number and seed of the first repetition (0)")
    parser.add_argument("--seeds", type=int, default=20, help="seeds of the judgement for each instance (20)")
    parser.add_argument("--jobs", type=int, default=1, help="repetitions at a time, each in a process (1)")
    parser.add_argument("--out", help="a file for the record, in JSON; results are added to an existing one")
    options = parser.parse_args(arguments)
    settings = {name: getattr(options, name) for name in ("first", "repetitions", "seeds")}
    record = open_record(options.out, settings)
    rows: list[dict[str, Any]] = record["figures"]
    repetitions = range(options.first, options.first + options.repetitions)
    here = provenance(shlex.join(["python", "benchmarks/studies/tuners/tuners.py", *arguments]))

    def save() -> None:
        if options.out:
            write_figures(options.out, {**here, "settings": settings, **record})

    tuners = [tuner for number, tuner in enumerate(TUNERS) if number == 0 or tuner in options.tuners]
    compare(options.tasks, tuners, repetitions, options.seeds, rows, save, options.jobs)
    for row in rows:
        print(f"{row['task']:<24}{row['tuner']:<22}median {row['median']:.4f}  p {row['p']:.2g}")
    return rows


if __name__ == "__main__":
    main(sys.argv[1:])
