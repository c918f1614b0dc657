"""The commands `skde tune` and `skde tune worker`."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from pathlib import Path
from typing import Any

import optuna

from skde.algorithms import Algorithm, get_algorithm
from skde.cli.arguments import (
    InputError,
    add_command,
    add_device,
    add_quiet,
    bounds,
    check_writable,
    integer,
    names,
    parse_variable,
    read_number,
    read_parameters,
    read_setting,
    refuse_options,
    shows_progress,
)
from skde.cli.extensions import find_suite
from skde.cli.minimize import VARIABLE_HELP, check_box, find_objective, find_variables
from skde.cli.output import format_json, run_and_show
from skde.problems import find_forms
from skde.tuning.report import check_drawing, elite_lines
from skde.tuning.rules import PRESETS
from skde.tuning.statistical_tests import TESTS
from skde.tuning.study_storage import StudyRecord, open_storage, refuse_missing
from skde.tuning.tuner import RacingTuner
from skde.tuning.work_queue import WorkQueue, check_shared, pause
from skde.utils.validation import check_bounds
from skde.variables import Variables

WORKER = "tune worker"
HELD_OUT = 20  # steps of a report, after a tuning that was not interrupted

EXAMPLES = """examples:
  skde tune de mymodule:loss --bounds "-5,5; 0,1; 0,1" --max-experiments 300 --run-max-evals 5000
  skde tune jade mymodule:loss_of_one_point --bounds -5 5 --dim 8 --max-experiments 300 --run-max-evals 2000
  skde tune de --suite nashed2012 --dim 10 --max-experiments 600 --run-max-evals 20000
  skde tune pso --suite nashed2012 --functions f0,f9,f12 --run-max-time 1 --storage pso.log
  skde tune pso --suite nashed2012 --functions f0,f9,f12 --run-max-time 1 --storage pso.log --resume
  skde tune jde --suite nashed2012 --run-max-evals 20000 --report jde.html
with workers, on this machine and on others (see skde tune worker --help):
  skde tune pso --suite nashed2012 --storage postgresql://... --use-workers
"""
WORKER_EXAMPLES = """examples:
  skde tune worker --storage postgresql+psycopg2://user@host/database
  skde tune worker --storage pso.log --study pso --device cuda:1
"""
# Options of a tuning that its workers need, with their types in JSON.
WORKER_OPTIONS = {
    "algorithm": str,
    "objectives": list,
    "bounds": list | None,
    "var": list | None,
    "scalar": bool,
    "set": list,
    "suite": str | None,
    "functions": list | None,
    "dim": int | None,
    "max_experiments": int,
    "run_max_time": int | float,
    "run_max_evals": int | None,
    "test": str,
    "preset": str,
}

PARAMETERS = (
    *("max_experiments", "run_max_time", "run_max_evals", "test", "preset"),
    *("storage", "study_name", "n_jobs", "device"),
)
# Options with another name than the RacingTuner's parameter.
OPTIONS = {"study_name": "study"}


def add_commands(commands: Any) -> None:
    """Add `skde tune` and `skde tune worker`."""
    add_tune(commands)
    add_worker(commands)


def add_tune(commands: Any) -> None:
    """Add `skde tune`."""
    what = "find good parameters for an algorithm on your function or the functions of a suite, by iterated racing"
    add = add_command(commands, "tune", what, run_tune, EXAMPLES).add_argument
    add("algorithm", metavar="NAME", help="see skde algorithms")
    add("objectives", nargs="*", metavar="FUNCTION", help="problems' names (see skde problems), or MODULE:FUNCTION")
    add("--bounds", type=bounds, metavar="LOW HIGH", help='the box; or one pair a variable: "LOW,HIGH; LOW,HIGH; ..."')
    add("--var", type=parse_variable, action="append", metavar="NAME:KIND:...", help=VARIABLE_HELP)
    add(
        "--scalar",
        action="store_true",
        help="your function takes one point, not an array of points (default: found out)",
    )
    add("--suite", metavar="NAME", help="nashed2012, qin2012, wang2012, or cec2017 (needs minionpy), without FUNCTION")
    add("--functions", type=names, metavar="NAME,...", help="of the suite (default: all)")
    add("--dim", type=integer, help="variables (suites and problems' names: 30)")
    add("--set", type=read_setting, action="append", default=[], metavar="NAME=VALUE", help="a parameter to start from")
    add("--max-experiments", type=integer, default=30_000, help="runs on one function (default: 30000)")
    add("--run-max-time", type=read_number, default=1.0, metavar="SECONDS", help="of one experiment (default: 1)")
    add("--run-max-evals", type=integer, help="of one experiment, instead of seconds: repeatable")
    add("--test", default="friedman", help=f"{', '.join(TESTS)} (default: friedman)")
    add("--preset", default="elitist", help=f"{', '.join(PRESETS)} (default: elitist)")
    add_storage(add, required=False)
    add("--n-jobs", type=integer, default=1, help="threads (default: 1)")
    add("--use-workers", action="store_true", help="leave the experiments to workers: skde tune worker")
    add("--seed", type=integer, help="the same seed gives the same draws (default: another one every time)")
    add("--resume", action="store_true", help="continue the tuning in the storage")
    add("--report", type=Path, metavar="FILE", help="write the result as HTML (needs matplotlib)")
    add_quiet(add)


def add_worker(commands: Any) -> None:
    """Add `skde tune worker`."""
    what = "do experiments of a tuning that leaves them to workers, until it is over"
    add = add_command(commands, WORKER, what, run_worker, WORKER_EXAMPLES).add_argument
    add_storage(add, required=True)
    add("--n-jobs", type=integer, default=1, help="threads (default: 1)")


def add_storage(add: Any, required: bool) -> None:
    """Add the options of both commands."""
    add(
        "--storage",
        required=required,
        metavar="FILE|URL",
        help="where the study is stored, so that workers and --resume find it",
    )
    add("--study", default="skde-tuning", metavar="NAME", help="its name there (default: skde-tuning)")
    add_device(add)


def run_tune(options: Any) -> int:
    """Tune and print the result."""
    silence_optuna()
    if options.report is not None:
        check_drawing()
        check_writable("--report", options.report)
    tuner, algorithm = make_tuner(
        options,
        use_workers=options.use_workers,
        random_state=options.seed,
        verbose=int(shows_progress(options)),
    )
    if options.use_workers:
        store_worker_options(options, tuner, algorithm)

    def show() -> None:
        result = summarize(tuner)
        print(format_json(result) if options.json else format_tuning(result))
        if options.report is not None:
            tuner.report(options.report, held_out=HELD_OUT if tuner.finished_ else 0)

    run_and_show(lambda: (tuner.resume if options.resume else tuner.fit)(algorithm), show)
    return 0


def run_worker(options: Any) -> int:
    """Do experiments, and print how many."""
    silence_optuna()
    check_shared(options.storage)
    storage = open_storage(options.storage)
    queue = WorkQueue(storage, options.study)
    if queue.worker_options is None:
        print(f"waiting for skde tune ... --use-workers --storage ... --study {options.study}", file=sys.stderr)
    since = time.monotonic()
    while (worker_options := queue.worker_options) is None:
        if StudyRecord.exists(storage, options.study) and queue.worker_options is None:
            raise InputError(
                f"the tuning {options.study!r} has no workers of this command: begin it by skde tune ... --use-workers"
            )
        pause(since)
    tuner, algorithm = make_tuner(Namespace(**{**vars(options), **read_worker_options(worker_options)}))
    done = tuner.work(algorithm)  # which says where the tuning goes on without workers
    end = "; the tuning is over" if queue.finished else ""
    print(format_json({"n_experiments": done}) if options.json else f"{done} experiments done{end}")
    return 0


def read_worker_options(worker_options: Any) -> dict[str, Any]:
    """Return the options that a tuning has stored for its workers.

    Raises
    ------
    InputError
        When they cannot be read.
    """
    given: dict[str, Any] = worker_options if isinstance(worker_options, dict) else {}
    pairs: Any = given.get("set")
    readable = (
        given.keys() == WORKER_OPTIONS.keys()
        and all(isinstance(given[name], kind) for name, kind in WORKER_OPTIONS.items())
        and all(isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str) for pair in pairs)
    )
    if not readable:
        raise InputError(
            f"the options for workers in the storage cannot be read, {worker_options!r}: the storage is damaged or of "
            "another version; begin with another --storage or --study"
        )
    parameters = [(name, tuple(value) if isinstance(value, list) else value) for name, value in pairs]
    pairs = given["bounds"]
    read = {"bounds": None if pairs is None else [tuple(pair) for pair in pairs], "var": None}
    if given["var"] is not None:
        variables = Variables.from_description(given["var"])
        read["var"] = list(zip(variables.names, variables.members, strict=True))
    return {**given, "set": parameters, **read}


def store_worker_options(options: Any, tuner: Any, algorithm: Algorithm) -> None:
    """Store the options for workers, unless the tuning is resumed and has them in its storage."""
    tuner.predict_budget(algorithm)  # workers see nothing of a tuning that is refused, which leaves no file
    check_shared(options.storage)
    if options.resume:
        refuse_missing(options.storage, options.study)
    storage = open_storage(options.storage)
    queue = WorkQueue(storage, options.study)
    if queue.worker_options is None or not StudyRecord.exists(storage, options.study):
        given = {name: getattr(options, name) for name in WORKER_OPTIONS}
        queue.worker_options = {**given, "var": find_variables(options).describe() if options.var else None}


def silence_optuna() -> None:
    """Turn Optuna's log messages off: users of the command do not see the study."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)


def make_tuner(options: Any, **more: Any) -> tuple[Any, Algorithm]:
    """Return a tuner, and the algorithm to tune."""
    tuner = RacingTuner(
        None,
        find_instances(options),
        vectorized=False if options.scalar else "auto",
        **read_parameters(options, PARAMETERS, OPTIONS),
        **more,
    )
    return tuner, get_algorithm(options.algorithm, **dict(options.set))


def find_instances(options: Any) -> list[Any]:
    """Return the user's functions, or a suite's, as instances."""
    if options.objectives:
        refuse_options(options, ("suite", "functions"), "cannot go together with FUNCTION")
        return [find_instance(options, name) for name in options.objectives]
    if options.suite is None:
        raise InputError("FUNCTION or --suite is needed: skde tune de mymodule:loss --bounds -5 5 --dim 10")
    refuse_options(options, ("bounds", "var"), "is for FUNCTION; the functions of a suite have bounds")
    return suite_instances(options.suite, options.functions, 30 if options.dim is None else options.dim)


def find_instance(options: Any, name: str) -> Any:
    """Return a problem of this name, or MODULE:FUNCTION with its bounds."""
    box = find_variables(options) if options.var else options.bounds
    dim = len(box) if options.var and options.dim is None else options.dim
    objective = find_objective(name, dim)
    if find_forms(objective).space is not None:
        refuse_options(options, ("bounds", "var"), f"is for MODULE:FUNCTION; {name!r} has bounds")
        return objective
    check_box(Namespace(**{**vars(options), "objective": name}), box)
    return objective, box if options.var else check_bounds(box, options.dim)


def suite_instances(suite: str, functions: list[str] | None, dim: int) -> list[Any]:
    """Return the functions of a suite as instances."""
    chosen = find_suite(suite)
    made = [chosen.function(name, dim) for name in functions or chosen.functions]
    return [
        (function.objective, function.bounds) if find_forms(function.objective).space is None else function.objective
        for function in made
    ]


def summarize(tuner: Any) -> dict[str, Any]:
    """Return the result of a tuning as data."""
    return {
        "finished": tuner.finished_,
        "python": elite_lines(tuner),
        "elites": [{"configuration": elite.number, "params": elite.params} for elite in tuner.elites_],
        "races": tuner.races_,
        "n_experiments": tuner.n_experiments_,
        "n_configurations": len(tuner.study_.get_trials(deepcopy=False)),
    }


def format_tuning(result: dict[str, Any]) -> str:
    """Return the result of a tuning as text."""
    lines = ["race  configurations  steps  experiments  alive  rejected  ended because"]
    for race in result["races"]:
        alive, rejected = len(race["alive"]), len(race["rejected"])
        counts = f"{race['n_configurations']:>14}  {race['n_steps']:>5}  {race['n_experiments']:>11}"
        lines.append(f"{race['iteration']:>4}  {counts}  {alive:>5}  {rejected:>8}  {race['ended']}")
    end = "" if result["finished"] else ", interrupted"
    lines += ["", f"{result['n_experiments']} experiments of {result['n_configurations']} configurations{end}"]
    lines += ["the best first:", *result["python"]]
    return "\n".join(lines)
