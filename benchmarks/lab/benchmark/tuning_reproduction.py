"""Reproduction of a paper's tuning, and runs with its result and with the paper's parameters."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from skde.algorithms import ALGORITHMS, Algorithm
from skde.benchmark.growing_record import UNRECORDED, CellJob, GrowingRecording
from skde.benchmark.optimizers import Budget
from skde.benchmark.papers import Paper, Tuning
from skde.benchmark.records import Record, or_null
from skde.benchmark.suites import find_suite
from skde.benchmark.tuning_comparison import BOTH, paper_setting, rank_runs, read_tuning, write_tuning
from skde.problems import Problem
from skde.problems.data import uniforms
from skde.tuning import RacingTuner, Space
from skde.tuning.default_spaces import distributions
from skde.tuning.report import python_line
from skde.tuning.rules import Rules, find_preset
from skde.tuning.study_storage import StudyRecord, open_storage
from skde.tuning.targets.algorithm_target import ClockedMinimizer
from skde.utils.validation import check_choice, check_int

# The largest share of its width that a box loses, in every variable.
MOST_CUT = 0.5
# The paper's functions differ much: ranks on a few of them say little about the others, and on many the good settings
# tie. So a configuration runs on half of the twenty before the first test; elites keep their results, and are more
# than in irace, so that chance does not decide early where to search; the last race is a final; and a model uses the
# results of all races.
RULES = Rules(elitist=True, first_test=10, each_test=5, mu=10, survivors=8, new_steps=5, final=True, guided=True)


@dataclass(frozen=True)
class TuningSettings:
    """The settings of a record.

    Attributes
    ----------
    paper : str
        Name of the paper.
    dim : int
        Number of variables.
    max_experiments : int
        Experiments of every algorithm.
    budget : str
        Limit of an experiment, and of a run of the comparison: seconds, as "1s", or evaluations, as "20000" or
        "1000*dim".
    held_out : int
        Boxes of every function in which the settings are compared, see `move_problem`.
    runs : int
        Runs of each of the two settings in each of these boxes.
    seed : int
        Seed of the tuning and of the runs.
    device : str
        "cpu", "cuda" or "cuda:N".
    n_jobs : int or None
        Threads on the CPU.
    as_published : bool
        Whether the tuning is the paper's: its kind of race, on its functions as they are. Otherwise the races have
        `RULES`, and the functions have another box on every step.
    """

    paper: str
    dim: int
    max_experiments: int
    budget: str
    held_out: int = 5
    runs: int = 30
    seed: int = 0
    device: str = "cpu"
    n_jobs: int | None = None
    as_published: bool = False


def tuning_of(paper: Paper, table: int) -> Tuning:
    """Return the tuning that found a paper's parameters.

    Raises
    ------
    ValueError
        If the table is not of a tuning.
    """
    if paper.tuning is None or paper.tuning.table != table:
        hint = "" if paper.tuning is None else f"; its tuning is table {paper.tuning.table}"
        raise ValueError(f"table {table} of {paper.name!r} is no tuning{hint}")
    return paper.tuning


def run_tunings(
    paper: Paper,
    settings: TuningSettings,
    algorithms: list[str],
    *,
    recording: GrowingRecording = UNRECORDED,
) -> Record:
    """Tune a paper's algorithms within its budget, then compare its results with the paper's parameters.

    Parameters
    ----------
    paper : Paper
        The paper.
    settings : TuningSettings
        Settings of the record.
    algorithms : list of str
        A subset of the paper's.
    recording : GrowingRecording, default UNRECORDED
        The file of the record, which is written after every race and every box, and the progress bar. The experiments
        are in the journal `out` + ".log". A tuning that was killed continues from both. Every race prints a line on
        stderr.

    Returns
    -------
    record : dict
        The provenance and the settings; for every algorithm the races and the best configuration; for every algorithm,
        function and box the ranks of the errors of all runs with both settings, and for each setting the median error
        and the mean number of evaluations.

    Raises
    ------
    ValueError, TypeError, RuntimeError
        For unknown names, values that are not allowed, missing devices, and a file with other settings.
    """
    if paper.tuning is None:
        raise ValueError(f"{paper.name!r} has no tuning to reproduce")
    for name in algorithms:
        check_choice(f"algorithm of {paper.name!r}", name, paper.tuning.parameters)
    for what in ("held_out", "runs"):
        check_int(what, getattr(settings, what), 1)
    recording = replace(recording, read=read_tuning, write=write_tuning)
    record = recording.begin(settings, {"tuned": {}, "compared": []})
    for name in algorithms:
        if not record["tuned"].get(name, {}).get("finished"):
            tune_algorithm(paper, settings, name, record["tuned"], recording, partial(recording.save, record))
        recording.run(record, comparison_jobs(paper, settings, name, record["tuned"][name]["best"]), "compared")
    return record


# -- tuning ------------------------------------------------------------------------------------------------------------


def space(paper: Paper, name: str) -> Space:
    """Return the space of the paper's tuning; the paper's values are not among the first configurations."""
    assert paper.tuning is not None
    every = distributions(ALGORITHMS[name])
    return Space({parameter: every[parameter] for parameter in paper.tuning.parameters[name]})


def rules(paper: Paper, settings: TuningSettings) -> Rules:
    """Return the rules of the races."""
    assert paper.tuning is not None
    return replace(find_preset(paper.tuning.preset) if settings.as_published else RULES, test=paper.tuning.test)


def training_instances(paper: Paper, settings: TuningSettings) -> list[Any]:
    """Return the instances: the paper's functions, or these with their minimisers elsewhere on every step."""
    suite = find_suite(paper.suite)
    problems = [suite.function(function, settings.dim).objective for function in suite.functions]
    return problems if settings.as_published else [MovedProblem(problem) for problem in problems]


def tune_algorithm(
    paper: Paper,
    settings: TuningSettings,
    name: str,
    tuned: dict[str, Any],
    recording: GrowingRecording,
    save: Callable[[], None],
) -> None:
    """Tune one algorithm, or continue its tuning; after every race, write the results to `tuned` and save."""
    assert paper.tuning is not None
    budget, begin = Budget.read(settings.budget), time.perf_counter()
    storage = None if recording.out is None else f"{recording.out}.log"

    def save_entry() -> None:
        tuned[name] = tuning_entry(tuner, time.perf_counter() - begin)
        save()

    def report_race(tuner: RacingTuner) -> None:
        save_entry()
        race = tuner.races_[-1]
        print(
            f"{name}: race {race['iteration']}, {race['n_configurations']} configurations on {race['n_steps']} steps, "
            f"{tuner.n_experiments_} of {settings.max_experiments} experiments; best {tuned[name]['python']}",
            file=sys.stderr,
            flush=True,
        )

    tuner = RacingTuner(
        space(paper, name),
        training_instances(paper, settings),
        max_experiments=settings.max_experiments,
        run_max_time=budget.seconds,
        run_max_evals=budget.evals(settings.dim),
        preset=rules(paper, settings),
        storage=storage,
        study_name=f"{paper.name}-{name}",
        n_jobs=settings.n_jobs,
        device=settings.device,
        random_state=settings.seed,
        callbacks=report_race,
        verbose=int(recording.verbose),
    )
    exists = storage is not None and StudyRecord.exists(open_storage(storage), tuner.study_name)
    try:
        (tuner.resume if exists else tuner.fit)(paper_setting(paper, name))
    except KeyboardInterrupt:
        with suppress(NotFittedError):  # interrupted before the first result
            save_entry()
        raise
    save_entry()


def tuning_entry(tuner: RacingTuner, elapsed: float) -> dict[str, Any]:
    """Return the entry of a record on a tuning; `elapsed` are its seconds."""
    best = tuner.best_params_
    timed = [result for result in tuner.results_ if result.seconds is not None]
    return {
        "finished": tuner.finished_,
        "best": best,
        "python": python_line(tuner.configure(best), best),
        "elites": [elite.params for elite in tuner.elites_],
        "n_experiments": tuner.n_experiments_,
        "n_configurations": len({result.configuration for result in tuner.results_}),
        # These four count from the last resumption.
        "elapsed": elapsed,
        "timed_experiments": len(timed),
        "seconds": sum(result.seconds or 0.0 for result in timed),
        "n_evals": sum(result.n_evals or 0 for result in timed),
        "races": [{name: value for name, value in race.items() if name != "alive"} for race in tuner.races_],
    }


# -- comparison --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MovedProblem:
    """A problem, with its minimiser at a place that a seed chooses; none of these boxes is one of the comparison's."""

    problem: Problem

    def __call__(self, seed: int) -> Problem:
        """Return the problem with the box of a seed."""
        return move_problem(self.problem, f"tuning:{seed}")


def move_problem(problem: Problem, box: int | str) -> Problem:
    """Return a problem with its minimiser at another place of a smaller box.

    In every variable a part of the box, up to half of it, is cut off at one of its ends, where the minimiser is not.
    """
    u, side = uniforms(f"moved:{problem.name}:{box}", 2 * problem.dim).reshape(2, -1)
    low, high = problem.bounds.T.copy()
    cut = MOST_CUT * u * (high - low)
    at_low = np.where(side < 0.5, low + cut <= problem.x_opt, high - cut < problem.x_opt)
    bounds = np.column_stack([np.where(at_low, low + cut, low), np.where(at_low, high, high - cut)])
    return Problem(problem.name, problem.kernel, bounds, problem.x_opt, problem.f_opt, problem.arrays, problem.options)


def comparison_jobs(paper: Paper, settings: TuningSettings, name: str, best: dict[str, Any]) -> list[CellJob]:
    """Return the jobs that run the tuned and the paper's setting in boxes that the tuning has not seen."""
    suite = find_suite(paper.suite)
    both = [paper_setting(paper, name).set_params(**best), paper_setting(paper, name)]
    return [
        CellJob(
            {"algorithm": name, "function": function, "box": box},
            f"{name} {function} box {box}",
            partial(measure_box, paper, settings, function, both, box),
        )
        for function in suite.functions
        for box in range(settings.held_out)
    ]


def measure_box(
    paper: Paper, settings: TuningSettings, function: str, both: list[Algorithm], box: int
) -> dict[str, Any]:
    """Return the ranks of both settings' runs on a function in one box, see `rank_runs`."""
    problem = find_suite(paper.suite).function(function, settings.dim).objective
    return rank_runs(*run_both(move_problem(problem, box), both, settings, box), paper.zero)


def run_both(
    problem: Problem, both: list[Algorithm], settings: TuningSettings, box: int
) -> tuple[dict[str, list[float | None]], dict[str, list[int]]]:
    """Return errors and evaluations of both settings' runs, which run in one batch."""
    budget = Budget.read(settings.budget)
    minimizer = ClockedMinimizer(
        [algorithm for algorithm in both for _ in range(settings.runs)],
        n_runs=2 * settings.runs,
        max_evals=budget.evals(settings.dim),
        max_time=budget.seconds,
        device=settings.device,
        n_jobs=settings.n_jobs,
        random_state=settings.seed * settings.held_out + box,
    )
    minimizer.run_seconds = budget.seconds
    runs = minimizer.fit(problem).runs_
    halves = dict(zip(BOTH, (runs[: settings.runs], runs[settings.runs :]), strict=True))
    error = {setting: or_null([run.fun - problem.f_opt for run in half]) for setting, half in halves.items()}
    return error, {setting: [run.n_evals for run in half] for setting, half in halves.items()}
