"""The command `skde tune`: iterated racing of one of skde's algorithms on a suite."""

from __future__ import annotations

import sys
from typing import Any

from skde.algorithms import get_algorithm
from skde.cli_arguments import add_command, names, number, setting, whole
from skde.cli_minimize import INTERRUPTED, to_json
from skde.problems import Problem

EXAMPLES = """examples:
  skde tune de --suite nashed2012 --dim 10 --max-experiments 600 --evals-limit 20000
  skde tune pso --suite nashed2012 --functions f0,f9,f12 --time-limit 1 --storage pso.log
  skde tune pso --suite nashed2012 --functions f0,f9,f12 --time-limit 1 --storage pso.log --resume
workers: the first command with --jobs 0, and elsewhere, any number of times, with --worker:
  skde tune pso --suite nashed2012 --storage postgresql://... --jobs 0
  skde tune pso --suite nashed2012 --storage postgresql://... --worker
"""


def add_tune(commands: Any) -> None:
    """Add `skde tune`."""
    what = "find good parameters for an algorithm over the functions of a suite, by iterated racing"
    add = add_command(commands, "tune", what, tune, EXAMPLES).add_argument
    add("algorithm", metavar="NAME", help="see skde algorithms")
    add("--suite", required=True, metavar="NAME", help="nashed2012, qin2012, or cec2017 (needs minionpy)")
    add("--functions", type=names, metavar="NAME,...", help="of the suite (default: all)")
    add("--dim", type=whole, default=30, help="variables (default: 30)")
    add("--set", type=setting, action="append", default=[], metavar="NAME=VALUE", help="a parameter to start from")
    add("--max-experiments", type=whole, default=30_000, help="runs on one function (default: 30000)")
    add("--time-limit", type=number, default=1.0, metavar="SECONDS", help="of one experiment (default: 1)")
    add("--evals-limit", type=whole, help="of one experiment, in the place of seconds: repeatable")
    add("--test", default="friedman", help="friedman, t, t-holm or t-bonferroni (default: friedman)")
    add("--preset", default="elitist", help="elitist or irace-2011 (default: elitist)")
    add("--storage", metavar="FILE|URL", help="keep the study, so that it can be resumed")
    add("--jobs", type=whole, default=1, help="threads; 0: leave experiments to workers (default: 1)")
    add("--device", default="auto", help="auto, cpu, cuda or cuda:N (default: auto)")
    add("--seed", type=whole, help="the same seed gives the same draws (default: another one every time)")
    add("--resume", action="store_true", help="go on with what is in the storage")
    add("--worker", action="store_true", help="do experiments of what another process tunes with --jobs 0")
    add("--quiet", action="store_true", help="no progress bar")


def tune(options: Any) -> int:
    """Tune, and print what was found."""
    try:
        from skde.tuning import RacingTuner
    except ImportError as error:
        raise RuntimeError(str(error)) from None
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)  # the study is not what users of the command look at
    algorithm = get_algorithm(options.algorithm, **dict(options.set))
    tuner = RacingTuner(
        None,
        instances(options.suite, options.functions, options.dim),
        max_experiments=options.max_experiments,
        run_time_limit=options.time_limit,
        run_evals_limit=options.evals_limit,
        test=options.test,
        preset=options.preset,
        storage=options.storage,
        n_jobs=options.jobs,
        device=options.device,
        random_state=options.seed,
        verbose=int(not options.quiet and not options.json and sys.stderr.isatty()),
    )
    if options.worker:
        done = tuner.work(algorithm)
        print(to_json({"n_experiments": done}) if options.json else f"{done} experiments done; the tuning is over")
        return 0
    if options.resume:
        tuner.resume(algorithm)
    else:
        tuner.fit(algorithm)
    found = summary(tuner)
    print(to_json(found) if options.json else text(found))
    return 0 if tuner.finished_ else INTERRUPTED


def instances(suite: str, functions: list[str] | None, dim: int) -> list[Any]:
    """Return the functions of a suite as instances."""
    from skde.benchmark.suites import find_suite

    found = find_suite(suite)
    made = [found.function(name, dim) for name in functions or found.functions]
    return [
        function.objective if isinstance(function.objective, Problem) else (function.objective, function.bounds)
        for function in made
    ]


def summary(tuner: Any) -> dict[str, Any]:
    """Return what a tuning has found, as data."""
    kind = type(tuner.best_estimator_).__name__
    return {
        "finished": tuner.finished_,
        "python": [python_line(kind, elite.params) for elite in tuner.elites_],
        "elites": [{"configuration": elite.number, "params": elite.params} for elite in tuner.elites_],
        "races": tuner.races_,
        "n_experiments": tuner.n_experiments_,
        "n_configurations": len(tuner.study_.get_trials(deepcopy=False)),
    }


def python_line(kind: str, params: dict[str, Any]) -> str:
    """Return a configuration as Python."""
    return f"{kind}({', '.join(f'{name}={value!r}' for name, value in params.items())})"


def text(found: dict[str, Any]) -> str:
    """Return what a tuning has found, for people."""
    lines = ["race  configurations  steps  experiments  alive  rejected  ended because"]
    for race in found["races"]:
        alive, rejected = len(race["alive"]), len(race["rejected"])
        counts = f"{race['n_configurations']:>14}  {race['n_steps']:>5}  {race['n_experiments']:>11}"
        lines.append(f"{race['iteration']:>4}  {counts}  {alive:>5}  {rejected:>8}  {race['ended']}")
    end = "" if found["finished"] else ", interrupted"
    lines += ["", f"{found['n_experiments']} experiments of {found['n_configurations']} configurations{end}"]
    lines += ["the best first:", *found["python"]]
    return "\n".join(lines)
