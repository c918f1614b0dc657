"""R's irace as a tuner: it runs in R (tuners_irace.R) and asks this module for every experiment."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from tuners_tasks import Task, experiment_costs

from skde.tuning.targets.base import TargetJob

PROGRAM = Path(__file__).with_suffix(".R")


@cache
def missing() -> str | None:
    """Return the reason why irace cannot run, or None."""
    if shutil.which("Rscript") is None:
        return "there is no Rscript: install R and its package irace"
    asked = ["Rscript", "-e", "packageVersion('irace')"]
    found = subprocess.run(asked, capture_output=True, text=True, check=False)
    return None if found.returncode == 0 else "R has no package irace: install.packages('irace')"


def irace(elitist: bool) -> Callable[[Task, int], dict[str, Any]]:
    """Return irace with its defaults, elitist or not, and with the task's test."""

    def tune(task: Task, seed: int) -> dict[str, Any]:
        test = {"friedman": "friedman", "t": "t-test"}[task.test]
        lines = [line_of(name, found) for name, found in task.space.items()]
        numbers = [int(elitist), test, task.max_experiments, len(task.instances), seed]
        command = ["Rscript", str(PROGRAM), *map(str, numbers), "\n".join(lines)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            best = run_experiments(task, process)
        if process.returncode or best is None:
            raise RuntimeError(f"irace ended with exit status {process.returncode} and without a configuration")
        return best

    return tune


def run_experiments(task: Task, process: subprocess.Popen[str]) -> dict[str, Any] | None:
    """Run the experiments that irace asks for, and return its best configuration."""
    assert process.stdin is not None
    assert process.stdout is not None
    jobs: list[TargetJob] = []
    n_done, best = 0, None
    for line in process.stdout:
        word, *rest = line.split() or [""]
        if word == "run":
            index, seed = int(rest[0]), int(rest[1])
            jobs.append(TargetJob(len(jobs), params_of(rest[2:], task.space), index, task.instances[index], seed))
        elif word == "costs":
            n_done += len(jobs)
            if n_done > task.max_experiments:
                raise RuntimeError(f"irace asked for {n_done} experiments, and may have {task.max_experiments}")
            process.stdin.write(" ".join(map(repr, experiment_costs(task, jobs))) + "\n")
            process.stdin.flush()
            jobs = []
        elif word == "best":
            best = params_of(rest, task.space)
    return best


def line_of(name: str, found: BaseDistribution) -> str:
    """Return a parameter in the form of irace's files."""
    if isinstance(found, CategoricalDistribution):
        return f'{name} "" c ({",".join(json.dumps(str(choice)) for choice in found.choices)})'
    assert isinstance(found, FloatDistribution | IntDistribution)
    kind = "r" if isinstance(found, FloatDistribution) else "i"
    return f'{name} "" {kind}{",log" if found.log else ""} ({found.low!r},{found.high!r})'


def params_of(words: list[str], space: dict[str, BaseDistribution]) -> dict[str, Any]:
    """Return the configuration that irace has written."""
    return {name: value_of(word, found) for word, (name, found) in zip(words, space.items(), strict=True)}


def value_of(word: str, found: BaseDistribution) -> Any:
    """Return a value of a distribution from its text."""
    if isinstance(found, CategoricalDistribution):
        return {str(choice): choice for choice in found.choices}[word]
    return float(word) if isinstance(found, FloatDistribution) else int(word)
