"""The command `skde minmax`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from skde import __version__
from skde.algorithms import describe, get_algorithm
from skde.base import best_result_of
from skde.cli.arguments import (
    InputError,
    add_command,
    add_evaluation_options,
    add_fit_options,
    algorithms,
    check_writable,
    find_device,
    integer,
    read_number,
    read_parameters,
    refuse_options,
    shows_progress,
)
from skde.cli.output import align_lines, ending, format_json, has_value, outcome, run_and_show, vector
from skde.minmax import MinMaxSolver
from skde.minmax.spec import POP_SIZE, get_side
from skde.problems import ConstrainedProblem, MinMaxProblem, get_problem, optimal_value
from skde.utils.validation import check_choice

EXAMPLES = """examples:
  skde minmax minmax/rustem1
  skde minmax minmax/damped_cosine --algorithm-x jde --algorithm-y de:F=0.7,CR=0.9 --max-iter 400 --runs 20
  skde minmax fabris2012/p1 --dim 20 --max-evals 1e7 --tol 1e-6
  skde minmax fabris2012/p5 --runs 20 --save p5.npz
as Fabris and Krohling (2012) have it:
  skde minmax fabris2012/p3 --preset fabris2012 --strategy best/1/bin --pop-size 100 --runs 20 --json
"""
PRESETS = ("fabris2012",)
SIDES = ("algorithm_x", "algorithm_y")
OF_PRESETS = ("strategy", "pop_size")
# Options with another name than the solver's parameter.
OPTIONS = {
    "archive_size": "archive",
    "n_runs": "runs",
    "random_state": "seed",
    "recorder": "record",
}
PARAMETERS = (
    *("max_iter", "gens_x", "gens_y", "archive_size", "renewal", "multipliers", "penalty"),
    *("max_evals", "max_time", "target", "tol", "atol", "stagnation", "n_runs", "dtype", "n_jobs", "random_state"),
    *("max_eval_time", "recorder"),
)


def add_minmax(commands: Any) -> None:
    """Add `skde minmax`."""
    what = "minimise the worst case of a min-max problem, or a constrained problem against its multipliers"
    add = add_command(commands, "minmax", what, run_minmax, EXAMPLES).add_argument
    add("problem", metavar="NAME", help="of a min-max or a constrained problem (see skde problems)")
    add("--dim", type=integer, help="variables of x, where the problem leaves them open")
    side_of = "NAME[:PARAMETER=VALUE,...]"
    add("--algorithm-x", type=side, metavar=side_of, help=f"of x (default: jde, with {POP_SIZE} individuals)")
    add("--algorithm-y", type=side, metavar=side_of, help="of y (default: as x)")
    add("--max-iter", type=integer, help="cycles: turns of both sides after the initial populations (default: 200)")
    add("--gens-x", type=integer, help="generations of x in a cycle (default: 20)")
    add("--gens-y", type=integer, help="generations of y in a cycle (default: 20)")
    add("--archive", type=integer, help="strongest opponents of x to keep (default: 10)")
    add("--renewal", type=read_number, help="share of y to replace by new points in every cycle (default: 0.2)")
    add("--multipliers", help="of a constrained problem: update or evolve (default: update)")
    add("--penalty", type=read_number, help="the factor r of the Lagrangian (default: adapted)")
    add("--preset", help="fabris2012: the solver as published; other options change it")
    add("--strategy", help="of the preset: rand/1/bin or best/1/bin (default: rand/1/bin)")
    add("--pop-size", type=integer, help="of the preset: individuals of both sides (default: 50)")
    add("--max-evals", type=integer, help="pairs, or points of a constrained problem, that one run evaluates")
    add("--tol", type=read_number, help="a run ends when the best values of both sides are this close, relatively")
    add("--atol", type=read_number, help="absolute tolerance of this rule, for values near 0 (default: 0)")
    add("--stagnation", type=integer, metavar="CYCLES", help="a run ends after CYCLES cycles without a better value")
    add_fit_options(add, "float64, or float32 without constraints", "threads")
    add_evaluation_options(add, "pair")
    add("--save", type=Path, metavar="FILE", help="save the solver; MinMaxSolver.load(FILE).resume() continues it")


def side(text: str) -> tuple[str, dict[str, Any]]:
    """Read NAME[:PARAMETER=VALUE,...], the algorithm of one side."""
    algorithm, *others = algorithms(text)
    if others:
        raise argparse.ArgumentTypeError(f"one algorithm is needed, such as de:F=0.5,CR=0.9, got {text!r}")
    return algorithm


def run_minmax(options: Any) -> int:
    """Solve and print the result; after an interruption or an error, the result so far."""
    if options.save is not None:
        check_writable("--save", options.save)
    problem = find_problem(options.problem, options.dim)
    solver = make_solver(options)
    device, reason = find_device(options.device, None, options.n_jobs)
    solver.set_params(device=device, verbose=int(shows_progress(options)))

    def show() -> None:
        result = report_game(problem, solver, device, reason)
        print(format_json(result) if options.json else format_game(result))
        if options.save is not None:
            solver.save(options.save)

    run_and_show(lambda: solver.fit(problem), show, lambda: has_value(solver))
    return 0


def find_problem(name: str, dim: int | None) -> Any:
    """Return the problem of that name."""
    problem = get_problem(name, dim=dim)
    if problem.game is None and problem.constrained is None:
        raise InputError(f"{name!r} has one side and no constraints: skde minimize {name}")
    return problem


def make_solver(options: Any) -> MinMaxSolver:
    """Return the solver, or its preset, with the parameters of the options."""
    if options.preset is None:
        refuse_options(options, OF_PRESETS, "is for --preset")
        sides = {
            name: get_algorithm(algorithm, **{"pop_size": POP_SIZE, **parameters})
            for name, (algorithm, parameters) in read_parameters(options, SIDES, OPTIONS).items()
        }
        return MinMaxSolver(**sides, **read_parameters(options, PARAMETERS, OPTIONS))
    check_choice("--preset", options.preset, PRESETS)
    refuse_options(options, SIDES, "cannot go with --preset, which has its own")
    return MinMaxSolver.fabris2012(**read_parameters(options, OF_PRESETS + PARAMETERS, OPTIONS))


def report_game(
    problem: MinMaxProblem | ConstrainedProblem, solver: MinMaxSolver, device: str, reason: str
) -> dict[str, Any]:
    """Return the report of a fit as data."""
    constrained = problem.constrained is not None
    x = solver.algorithm_x
    y = x if solver.algorithm_y is None else solver.algorithm_y
    updated = constrained and solver.multipliers == "update"  # y is no population then
    common = outcome(solver.runs_, best_result_of(solver))
    dim = len(solver.x_)
    for run in common["runs"]:
        run["x"], run["multipliers" if constrained else "y"] = run["x"][:dim], run["x"][dim:]
    return {
        "skde": __version__,
        "problem": problem.name,
        "constrained": constrained,
        "dim_x": dim,
        "dim_y": len(solver.y_),
        "algorithm_x": describe(get_side("algorithm_x", x)),
        "algorithm_y": None if updated else describe(get_side("algorithm_y", y)),
        "parameters": {name: getattr(solver, name) for name in PARAMETERS},
        "device": device,
        "device_reason": reason,
        "x": solver.x_,
        "multipliers" if constrained else "y": solver.y_,
        "known": optimal_value(problem),
        "error": solver.fun_ - optimal_value(problem),
        "worst_case": None if constrained else solver.worst_case_,
        "saddle_gap": None if constrained else solver.saddle_gap_,
        **common,
    }


def format_game(result: dict[str, Any]) -> str:
    """Return the report of a fit as text."""
    constrained = result["constrained"]
    against = f"{result['dim_y']} {'constraints' if constrained else 'of the opponent'}"
    x, y = (algorithm_text(result[name]) for name in ("algorithm_x", "algorithm_y"))
    lines = [
        ("problem", f"{result['problem']}, {result['dim_x']} variables, {against}"),
        ("algorithm x", x),
        ("algorithm y", y),
        ("device", f"{result['device']} ({result['device_reason']})"),
        ("value", f"{result['fun']:.10g}"),
        ("known", f"{result['known']:.10g}, from which it differs by {result['error']:.3g}"),
    ]
    if constrained:
        lines.append(("violation", f"{result['max_violation']:.3g} at most, of one constraint"))
    else:
        lines.append(("worst case", f"{result['worst_case']:.10g}, by a search over y alone"))
        lines.append(("saddle gap", f"{result['saddle_gap']:.3g}: about 0 at a saddle point"))
    lines += ending(result, constrained, "points" if constrained else "pairs")
    lines.append(("x", vector(result["x"])))
    name = "multipliers" if constrained else "y"
    lines.append((name, vector(result[name])))
    return align_lines(lines)


def algorithm_text(algorithm: dict[str, Any] | None) -> str:
    """Return an algorithm of a report as Python."""
    if algorithm is None:
        return "none: multipliers are updated once a cycle"
    return str(get_algorithm(algorithm["name"], **algorithm["parameters"]))
