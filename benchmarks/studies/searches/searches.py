"""Comparison of searches for hyperparameters, with equal numbers of fits, by nested cross-validation.

python benchmarks/studies/searches/searches.py --outer 3 --n-iter 30 --out benchmarks/records/searches.json

Every search has n_iter times five fits on the training rows of an outer split. The measures are the score of the
refitted estimator on its test rows, which no search has seen, and the best mean score of the inner splits.
HalvingRandomSearchCV has as many fits, most of them on fewer rows. Results in FILE are not computed again.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import optuna
from scipy.stats import rankdata, wilcoxon
from searches_tasks import TASKS, Task
from sklearn.base import clone, is_classifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401 - HalvingRandomSearchCV
from sklearn.model_selection import (
    HalvingRandomSearchCV,
    KFold,
    RandomizedSearchCV,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    cross_val_score,
)

from skde.benchmark import provenance
from skde.benchmark.records import write_figures
from skde.estimators import EvolutionSearchCV
from skde.model_selection.parameter_space import ParameterSpace

INNER = 5


def splits(task: Task, n: int, seed: int, repeats: int = 1) -> Any:
    """Return a shuffled cross-validation."""
    classes = is_classifier(task.estimator)
    if repeats > 1:
        repeated = RepeatedStratifiedKFold if classes else RepeatedKFold
        return repeated(n_splits=n, n_repeats=repeats, random_state=seed)
    return (StratifiedKFold if classes else KFold)(n, shuffle=True, random_state=seed)


def by_evolution(search: str, repeats: int = 1) -> Callable[..., tuple[Any, float]]:
    """Return a search of skde; with repeats, it has as many fits on more splits."""

    def run(task: Task, X: Any, y: Any, n_iter: int, seed: int) -> tuple[Any, float]:
        cv, n_iter = splits(task, INNER, seed, repeats), n_iter // repeats
        found = EvolutionSearchCV(task.estimator, task.space, search=search, n_iter=n_iter, cv=cv, random_state=seed)
        found.fit(X, y)
        return found, found.best_score_

    return run


def search_at_random(task: Task, X: Any, y: Any, n_iter: int, seed: int) -> tuple[Any, float]:
    """Search at random."""
    cv = splits(task, INNER, seed)
    found = RandomizedSearchCV(task.estimator, task.space, n_iter=n_iter, cv=cv, random_state=seed).fit(X, y)
    return found, found.best_score_


def halving(task: Task, X: Any, y: Any, n_iter: int, seed: int) -> tuple[Any, float]:
    """Search by successive halving of random configurations: c, c / 3 and c / 9 of them have n_iter together."""
    found = HalvingRandomSearchCV(
        task.estimator,
        task.space,
        n_candidates=max(round(n_iter * 9 / 13), 1),
        factor=3,
        min_resources=len(X) // 9,
        cv=splits(task, INNER, seed),
        random_state=seed,
    ).fit(X, y)
    return found, found.best_score_


def tpe(task: Task, X: Any, y: Any, n_iter: int, seed: int) -> tuple[Any, float]:
    """Search by Optuna's TPE, multivariate, in the quantiles of the distributions."""
    cv, space = splits(task, INNER, seed), ParameterSpace(task.space)

    def params(trial: Any) -> dict[str, Any]:
        raw: dict[str, Any] = {}
        for parameter in space.parameters:
            if parameter.choices is None:
                raw[parameter.key] = trial.suggest_float(parameter.key, 0.0, 1.0)
            elif parameter.ordered:
                raw[parameter.key] = trial.suggest_int(parameter.key, 0, len(parameter.choices) - 1)
            else:
                raw[parameter.key] = trial.suggest_categorical(parameter.key, range(len(parameter.choices)))
        return space.candidate(raw).params

    def objective(trial: Any) -> float:
        estimator = clone(task.estimator).set_params(**params(trial))
        return float(cross_val_score(estimator, X, y, cv=cv).mean())

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed, multivariate=True))
    study.optimize(objective, n_trials=n_iter)
    best = clone(task.estimator).set_params(**params(study.best_trial))
    return best.fit(X, y), study.best_value


POPULATION = 10  # of the genetic search, which has n_iter / 10 - 1 generations after the first


def genetic(task: Task, X: Any, y: Any, n_iter: int, seed: int) -> tuple[Any, float]:
    """Search by sklearn-genetic-opt (0.13 or newer, which needs Python 3.12), with (mu, lambda) selection."""
    from sklearn_genetic import GASearchCV
    from sklearn_genetic.space import Categorical, Continuous, Integer

    def variable(distribution: Any) -> Any:
        if isinstance(distribution, list):
            return Categorical(distribution)
        if distribution.dist.name == "randint":
            low, high = distribution.support()
            return Integer(int(low), int(high))
        kind = {"loguniform": "log-uniform", "reciprocal": "log-uniform", "uniform": "uniform"}[distribution.dist.name]
        return Continuous(*map(float, distribution.support()), distribution=kind)

    found = GASearchCV(
        task.estimator,
        param_grid={name: variable(distribution) for name, distribution in task.space.items()},
        cv=splits(task, INNER, seed),
        population_size=POPULATION,
        generations=n_iter // POPULATION - 1,
        algorithm="eaSimple",
        use_cache=False,
        verbose=False,
        random_state=seed,
    ).fit(X, y)
    return found, found.best_score_


SEARCHES: dict[str, Callable[..., tuple[Any, float]]] = {
    "racing": by_evolution("racing"),
    "random": search_at_random,
    "halving": halving,
    "TPE": tpe,
    "jde": by_evolution("jde"),
    "pso": by_evolution("pso"),
    "racing, 2 repeats": by_evolution("racing", 2),
    "sklearn-genetic-opt": genetic,
}
OTHER_SPLITS = ("halving", "racing, 2 repeats")  # the mean of their inner splits is of other rows


def compare(options: argparse.Namespace, rows: list[dict[str, Any]], save: Callable[[], None]) -> None:
    """Add the missing results, outer split by outer split, until the processor's time is used up."""
    done = {(row["task"], row["split"], row["search"]) for row in rows}
    for split in range(options.outer):
        for name in options.tasks:
            task = TASKS[name]
            X, y = task.load()
            train, test = list(splits(task, options.outer, options.seed).split(X, y))[split]
            for search in options.searches:
                if (name, split, search) in done:
                    continue
                begin = time.process_time()
                if begin > 60 * options.minutes:
                    print("the time is used up", file=sys.stderr)
                    return
                found, inner = SEARCHES[search](task, X[train], y[train], options.n_iter, options.seed + split)
                score, seconds = float(found.score(X[test], y[test])), time.process_time() - begin
                rows.append(
                    {
                        **{"task": name, "split": split, "search": search},
                        **{"score": round(score, 6), "inner": round(float(inner), 6), "cpu_seconds": round(seconds, 2)},
                    }
                )
                print(rows[-1], file=sys.stderr, flush=True)
                save()


def summary(rows: list[dict[str, Any]], measure: str) -> list[dict[str, Any]]:
    """Return mean ranks, over the tasks and splits that all searches have, and the tasks that the first one wins.

    p comes from Wilcoxon's two-sided test of the tasks' means against the first search's. Inner scores of
    searches with other inner splits do not count.
    """
    names = [name for name in SEARCHES if any(row["search"] == name for row in rows)]
    if measure == "inner":
        names = [name for name in names if name not in OTHER_SPLITS]
    values = {(row["task"], row["split"], row["search"]): row[measure] for row in rows}
    keys = sorted({(task, split) for task, split, _ in values})
    keys = [key for key in keys if all((*key, name) in values for name in names)]
    table = np.array([[values[(*key, name)] for name in names] for key in keys])
    ranks = rankdata(-table.round(6), axis=1).mean(axis=0)
    tasks = sorted({task for task, _ in keys})
    means = np.array([table[[key[0] == task for key in keys]].mean(axis=0) for task in tasks]).round(6)
    result = []
    for k, name in enumerate(names):
        difference = means[:, 0] - means[:, k]
        entry = {"measure": measure, "search": name, "mean_rank": round(float(ranks[k]), 3), "n": len(keys)}
        if k and difference.any():
            p = float(wilcoxon(difference[difference != 0]).pvalue)
            entry |= {"won": int((difference > 0).sum()), "lost": int((difference < 0).sum()), "p": round(p, 4)}
        result.append(entry)
    return result


def main(arguments: list[str]) -> list[dict[str, Any]]:
    """Compare, print, and write a record if --out names a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS), help="tasks (all)")
    parser.add_argument("--searches", nargs="+", choices=SEARCHES, default=list(SEARCHES), help="searches (all)")
    parser.add_argument("--outer", type=int, default=5, help="outer splits (5)")
    parser.add_argument("--n-iter", type=int, default=60, help="configurations with five fits each (60)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the splits and of the first search (0)")
    parser.add_argument("--minutes", type=float, default=np.inf, help="no search begins after so much processor time")
    parser.add_argument("--out", help="a file for the record, in JSON; results are added to an existing one")
    options = parser.parse_args(arguments)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    warnings.simplefilter("ignore")
    settings = {"outer": options.outer, "inner": INNER, "n_iter": options.n_iter, "seed": options.seed}
    rows: list[dict[str, Any]] = []
    earlier: list[dict[str, Any]] = []
    if options.out and os.path.exists(options.out):
        found = json.loads(Path(options.out).read_bytes())
        if found["settings"] != settings:
            raise ValueError(f"{options.out} has the settings {found['settings']}, not {settings}; give another file")
        rows = found["figures"]
        earlier = [*found.get("earlier", []), {name: found[name] for name in ("date", "commit", "command")}]
    here = provenance(shlex.join(["python", "benchmarks/studies/searches/searches.py", *arguments]))

    def save() -> None:
        if options.out:
            both = [*summary(rows, "score"), *summary(rows, "inner")]
            write_figures(
                options.out, {**here, "earlier": earlier, "settings": settings, "summary": both, "figures": rows}
            )

    compare(options, rows, save)
    for entry in [*summary(rows, "score"), *summary(rows, "inner")]:
        print(entry)
    return rows


if __name__ == "__main__":
    main(sys.argv[1:])
