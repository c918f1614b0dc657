"""Reproduction of a paper's tuning, and comparison of its result with the paper's parameters."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats
from sklearn.exceptions import NotFittedError

from skde.algorithms import ALGORITHMS, Algorithm
from skde.benchmark import provenance
from skde.benchmark.optimizers import Budget
from skde.benchmark.papers import Paper, Tuning, find_paper
from skde.benchmark.records import Record, collapse, expand, write_figures
from skde.benchmark.statistics import errors, rank_sum, stratified_t
from skde.benchmark.suites import find_suite
from skde.benchmark.trials import gpu_of, or_null
from skde.problems import Problem
from skde.problems.data import uniforms
from skde.tuning import RacingTuner, Space
from skde.tuning.default_spaces import SPACES
from skde.tuning.report import python_line
from skde.tuning.rules import Rules, preset
from skde.tuning.study_storage import StudyRecord, open_storage
from skde.tuning.targets.algorithm_target import ClockedMinimizer
from skde.typing import FloatArray
from skde.validation import check_choice, check_int

# The two settings of the comparison.
BOTH = ("tuned", "paper")
# The largest share of its width that a box loses, in every variable.
MOST_CUT = 0.5
# Functions of many kinds: ranks on a few of them say little about the others, and on many the good ones tie. So half of
# the paper's twenty are seen before anybody is out; elites keep what they have shown, and are more than irace has, so
# that chance does not decide early where to search; the last race is a final; and a model makes the most of results.
RULES = Rules(elitist=True, first_test=10, each_test=5, mu=10, survivors=8, new_steps=5, final=True, guided=True)


@dataclass(frozen=True)
class Settings:
    """The settings of a record.

    Attributes
    ----------
    paper : str
        Its name.
    dim : int
        Variables.
    max_experiments : int
        Of every algorithm.
    budget : str
        Of an experiment, and of a run of the comparison: seconds, as "1s", or evaluations, as "20000" or "1000*dim".
    held_out : int
        Boxes of every function on which the comparison is made, see `moved_problem`.
    runs : int
        Of each of the two settings in each of these.
    seed : int
        Of the tuning and of the runs.
    device : str
        "cpu", "cuda" or "cuda:N".
    n_jobs : int or None
        Threads on the CPU.
    as_published : bool
        Whether the tuning is the paper's own: its kind of race, on its functions as they are. Otherwise it is by
        `RULES`, on its functions in boxes that are others on every step.
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
    """Return how a paper's parameters were found.

    Raises
    ------
    ValueError
        Where that table is of something else.
    """
    if paper.tuning is None or paper.tuning.table != table:
        known = "" if paper.tuning is None else f"; its tuning is table {paper.tuning.table}"
        raise ValueError(f"table {table} of {paper.name!r} is no tuning{known}")
    return paper.tuning


def run(
    paper: Paper,
    settings: Settings,
    algorithms: list[str],
    *,
    out: str | os.PathLike[str] | None = None,
    command: str = "",
    verbose: bool = False,
    started: Callable[[Record], None] | None = None,
) -> Record:
    """Tune a paper's algorithms within its budget, then compare what was found with the paper's parameters.

    Parameters
    ----------
    paper : Paper
        Which.
    settings : Settings
        How.
    algorithms : list of str
        Of the paper's.
    out : path or None, default None
        A file that is rewritten after every race and every function. Results in it, and in the journal `out` + ".log",
        are not computed again: a run that was killed goes on.
    command : str, default ""
        The command to store in the record.
    verbose : bool, default False
        Whether to draw progress bars; every race prints a line on stderr in any case.
    started : callable or None, default None
        As for `trials.run`.

    Returns
    -------
    record : dict
        Where and with what it was taken, the settings; of every algorithm the races and the best configuration; of
        every algorithm, function and box the ranks of the runs with both settings by their errors, among each other,
        and of each setting the median error and the mean number of evaluations.

    Raises
    ------
    ValueError, TypeError, RuntimeError
        For what is not allowed or not there, and for a file with other settings.
    """
    if paper.tuning is None:
        raise ValueError(f"{paper.name!r} has no tuning to be done again")
    for name in algorithms:
        check_choice(f"algorithm of {paper.name!r}", name, paper.tuning.parameters)
    for what in ("held_out", "runs"):
        check_int(what, getattr(settings, what), 1)
    record = opened_record(settings, out, command)
    if started is not None:
        started(record)

    def keep() -> None:
        if out is not None:
            write_tuning(out, record)

    storage = None if out is None else f"{out}.log"
    for name in algorithms:
        if not record["tuned"].get(name, {}).get("finished"):
            tune(paper, settings, name, storage, verbose, record["tuned"], keep)
        compare(paper, settings, name, record, keep)
    return record


def opened_record(settings: Settings, out: str | os.PathLike[str] | None, command: str) -> Record:
    """Return the record to go on with: a new one, or that of a file with the same settings."""
    wanted = asdict(settings)
    here = provenance(command)
    here["machine"] |= gpu_of(settings.device)
    record = {**here, "settings": wanted, "tuned": {}, "compared": []}
    if out is None or not os.path.exists(out):
        return record
    found = read_tuning(out)
    if found["settings"] != wanted:
        raise ValueError(
            f"{out} has the settings {found['settings']}, not {wanted}; use the same settings, or another file"
        )
    return {**record, **{name: found[name] for name in ("tuned", "compared")}}


def read_tuning(file: str | os.PathLike[str]) -> Record:
    """Return the record in a file.

    Parameters
    ----------
    file : path
        Written by `run`, or by an earlier version, which kept the errors of all runs; ranks are made of these.

    Returns
    -------
    record : dict

    Raises
    ------
    ValueError
        Where it holds something else.
    """
    try:
        record: Record = json.loads(Path(file).read_bytes())
        runs, paper = record["settings"].get("runs"), find_paper(record["settings"]["paper"])
        assert isinstance(paper, Paper)
        record["tuned"].keys()
        record["compared"] = [unpacked(cell, runs, paper.zero) for cell in record["compared"]]
    except (ValueError, KeyError, TypeError, AttributeError, AssertionError):
        raise ValueError(f"{file} is no record of a paper's tuning: give another file") from None
    return record


def write_tuning(file: str | os.PathLike[str], record: Record) -> None:
    """Write a record; ranks that are the same for all runs of a setting are written once."""
    runs = record["settings"]["runs"]
    cells = [
        {**cell, "ranks": {who: collapse(cell["ranks"][who], runs) for who in BOTH}} for cell in record["compared"]
    ]
    write_figures(file, {**record, "compared": cells})


def unpacked(cell: dict[str, Any], runs: Any, zero: float) -> dict[str, Any]:
    """Return a box's cell with the ranks of all runs."""
    if "ranks" in cell:
        return {**cell, "ranks": {who: expand(cell["ranks"][who], runs) for who in BOTH}}
    key = {name: cell[name] for name in ("algorithm", "function", "box")}
    return {**key, **ranked({who: cell[who] for who in BOTH}, cell["n_evals"], zero)}


# -- the tuning --------------------------------------------------------------------------------------------------------


def paper_setting(paper: Paper, name: str) -> Algorithm:
    """Return an algorithm with the paper's parameters."""
    algorithm: Algorithm = getattr(ALGORITHMS[name], paper.name)()
    return algorithm


def space(paper: Paper, name: str) -> Space:
    """Return what the paper tuned, without the paper's own values among the first configurations."""
    assert paper.tuning is not None
    return Space({parameter: SPACES[name][parameter] for parameter in paper.tuning.parameters[name]})


def rules(paper: Paper, settings: Settings) -> Rules:
    """Return the kind of race."""
    assert paper.tuning is not None
    return replace(preset(paper.tuning.preset) if settings.as_published else RULES, test=paper.tuning.test)


def instances(paper: Paper, settings: Settings) -> list[Any]:
    """Return what is tuned for: the paper's functions, or these with their minimisers elsewhere on every step."""
    suite = find_suite(paper.suite)
    problems = [suite.function(function, settings.dim).objective for function in suite.functions]
    return problems if settings.as_published else [MovedProblem(problem) for problem in problems]


def tune(
    paper: Paper,
    settings: Settings,
    name: str,
    storage: str | None,
    verbose: bool,
    tuned: dict[str, Any],
    keep: Callable[[], None],
) -> None:
    """Tune one algorithm, or go on with it; `tuned` gets what is known after every race."""
    assert paper.tuning is not None
    budget, begin = Budget.read(settings.budget), time.perf_counter()

    def note() -> None:
        tuned[name] = tuning_entry(tuner, time.perf_counter() - begin)
        keep()

    def tell(tuner: RacingTuner) -> None:
        note()
        race = tuner.races_[-1]
        print(
            f"{name}: race {race['iteration']}, {race['n_configurations']} configurations on {race['n_steps']} steps, "
            f"{tuner.n_experiments_} of {settings.max_experiments} experiments; best {tuned[name]['python']}",
            file=sys.stderr,
            flush=True,
        )

    tuner = RacingTuner(
        space(paper, name),
        instances(paper, settings),
        max_experiments=settings.max_experiments,
        run_time_limit=budget.seconds,
        run_evals_limit=budget.evals(settings.dim),
        preset=rules(paper, settings),
        storage=storage,
        study_name=f"{paper.name}-{name}",
        n_jobs=settings.n_jobs,
        device=settings.device,
        random_state=settings.seed,
        callback=tell,
        verbose=int(verbose),
    )
    there = storage is not None and StudyRecord.exists(open_storage(storage), tuner.study_name)
    try:
        (tuner.resume if there else tuner.fit)(paper_setting(paper, name))
    except KeyboardInterrupt:
        with suppress(NotFittedError):  # interrupted before there was anything to note
            note()
        raise
    note()


def tuning_entry(tuner: RacingTuner, elapsed: float) -> dict[str, Any]:
    """Return what a record has of a tuning that has been at work for so many seconds."""
    best = tuner.best_params_
    timed = [result for result in tuner.results_ if result.seconds is not None]
    return {
        "finished": tuner.finished_,
        "best": best,
        "python": python_line(tuner.configured(best), best),
        "elites": [elite.params for elite in tuner.elites_],
        "n_experiments": tuner.n_experiments_,
        "n_configurations": len({result.configuration for result in tuner.results_}),
        # Of what was done since the last resumption.
        "elapsed": elapsed,
        "timed_experiments": len(timed),
        "seconds": sum(result.seconds or 0.0 for result in timed),
        "n_evals": sum(result.n_evals or 0 for result in timed),
        "races": [{name: value for name, value in race.items() if name != "alive"} for race in tuner.races_],
    }


# -- the comparison ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MovedProblem:
    """A problem, with its minimiser at a place that a seed chooses; none of these boxes is one of the comparison's."""

    problem: Problem

    def __call__(self, seed: int) -> Problem:
        """Return the problem for a seed."""
        return moved_problem(self.problem, f"tuning:{seed}")


def moved_problem(problem: Problem, which: int | str) -> Problem:
    """Return a problem with its minimiser at another place of a smaller box.

    In every variable a part of the box, up to half of it, is cut off at one of its ends, where the minimiser is not.
    """
    u, side = uniforms(f"moved:{problem.name}:{which}", 2 * problem.dim).reshape(2, -1)
    low, high = problem.bounds.T.copy()
    cut = MOST_CUT * u * (high - low)
    at_low = np.where(side < 0.5, low + cut <= problem.x_opt, high - cut < problem.x_opt)
    bounds = np.column_stack([np.where(at_low, low + cut, low), np.where(at_low, high, high - cut)])
    return Problem(problem.name, problem.kernel, bounds, problem.x_opt, problem.f_opt, problem.arrays, problem.options)


def compare(paper: Paper, settings: Settings, name: str, record: Record, keep: Callable[[], None]) -> None:
    """Run both settings in boxes that the tuning has not seen."""
    suite = find_suite(paper.suite)
    done = {(cell["algorithm"], cell["function"], cell["box"]) for cell in record["compared"]}
    both = [paper_setting(paper, name).set_params(**record["tuned"][name]["best"]), paper_setting(paper, name)]
    for function in suite.functions:
        boxes = [box for box in range(settings.held_out) if (name, function, box) not in done]
        if boxes:
            problem = suite.function(function, settings.dim).objective
            for box in boxes:
                cell = {"algorithm": name, "function": function, "box": box}
                runs = run_both(moved_problem(problem, box), both, settings, box)
                record["compared"].append({**cell, **ranked(*runs, paper.zero)})
            keep()
            print(f"{name}: {function} compared", file=sys.stderr, flush=True)


def run_both(
    problem: Problem, both: list[Algorithm], settings: Settings, box: int
) -> tuple[dict[str, list[float | None]], dict[str, list[int]]]:
    """Return errors and evaluations of both settings' runs, which are side by side in one batch."""
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
    found = {who: or_null([run.fun - problem.f_opt for run in half]) for who, half in halves.items()}
    return found, {who: [run.n_evals for run in half] for who, half in halves.items()}


def ranked(error: dict[str, list[float | None]], n_evals: dict[str, list[int]], zero: float) -> dict[str, Any]:
    """Return what a record keeps of both settings' runs in one box: their ranks among each other, medians, means.

    Parameters
    ----------
    error : dict of list of float or None
        Of the runs of both settings.
    n_evals : dict of list of int
        Their evaluations.
    zero : float
        Errors below are 0.
    """
    # Rounding can put a value below the minimum.
    values = {who: np.maximum(errors({"error": error[who]}, zero), 0.0) for who in BOTH}
    ranks = stats.rankdata(np.concatenate([values[who] for who in BOTH])).tolist()
    n = len(values["tuned"])
    return {
        "ranks": {"tuned": ranks[:n], "paper": ranks[n:]},
        "median": dict(zip(BOTH, or_null([float(np.median(values[who])) for who in BOTH]), strict=True)),
        "mean_evals": {who: round(float(np.mean(n_evals[who]))) for who in BOTH},
    }


def summary(record: Record) -> list[dict[str, Any]]:
    """Return, for every algorithm, how what was found compares with the paper's parameters.

    Parameters
    ----------
    record : dict
        Of `run`.

    Returns
    -------
    rows : list of dict
        algorithm; tuned, as Python; better, equal, worse: functions on which the tuned setting is so, by Wilcoxon's
        rank-sum test at 0.05 on ranks within each box; share, the mean probability that a run of it is better than one
        of the paper's; and p of one-sided tests of that not being above one half: p of Wilcoxon's signed-rank test over
        the functions, as if they were drawn from others of their kind; p_boxes of `stratified_t`, on these functions in
        other boxes; None where one has been run in a single box.
    """
    rows = []
    for name, tuned in record["tuned"].items():
        cells = [cell for cell in record["compared"] if cell["algorithm"] == name]
        functions = list(dict.fromkeys(cell["function"] for cell in cells))
        if not functions:
            continue
        verdicts, above = [], []
        for function in functions:
            ranks = [both_ranks(cell) for cell in cells if cell["function"] == function]
            ours, theirs = (np.concatenate(half) for half in zip(*ranks, strict=True))
            verdicts.append(rank_sum(ours, theirs))
            above.append(np.array([(paper.mean() - found.mean()) / (2 * len(found)) for found, paper in ranks]))
        means = np.array([found.mean() for found in above])
        counts = {verdict: verdicts.count(verdict) for verdict in ("better", "equal", "worse")}
        p = float(stats.wilcoxon(means, alternative="greater").pvalue) if means.any() else 1.0
        p_boxes = stratified_t(above) if min(map(len, above)) > 1 else None
        chances = {"share": float(0.5 + means.mean()), "p": p, "p_boxes": p_boxes}
        rows.append({"algorithm": name, "tuned": tuned["python"], **counts, **chances})
    return rows


def both_ranks(cell: dict[str, Any]) -> tuple[FloatArray, FloatArray]:
    """Return the ranks of both settings' runs in one box."""
    ours, theirs = (np.array(cell["ranks"][who], np.float64) for who in BOTH)
    return ours, theirs


def table(paper: Paper, record: Record) -> str:
    """Return what was found, for people."""
    assert paper.tuning is not None
    lines = []
    for row in summary(record):
        theirs = paper_setting(paper, row["algorithm"])
        over_boxes = "unknown" if row["p_boxes"] is None else f"{row['p_boxes']:.2g}"
        shown = {name: theirs.get_params()[name] for name in paper.tuning.parameters[row["algorithm"]]}
        lines += [
            f"{row['algorithm']}: {row['tuned']}",
            f"    paper: {python_line(theirs, shown)}",
            f"    {row['better']} functions better, {row['equal']} equal, {row['worse']} worse than with the paper's; "
            f"a run is better with probability {row['share']:.3f} (p {row['p']:.2g} over functions, "
            f"{over_boxes} over boxes)",
        ]
    return "\n".join(lines)
