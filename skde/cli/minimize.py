"""The command `skde minimize`."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from inspect import Signature, signature
from pathlib import Path
from typing import Any

import numpy as np

from skde import __version__
from skde.algorithms import ALGORITHMS, Algorithm, describe, get_algorithm
from skde.algorithms.auto import AUTO
from skde.algorithms.sequence import AlgorithmSequence
from skde.cli.arguments import (
    VARIABLE_FORMS,
    InputError,
    add_command,
    add_evaluation_options,
    add_fit_options,
    bounds,
    check_writable,
    find_device,
    integer,
    parse_variable,
    read_number,
    read_parameters,
    read_setting,
    shows_progress,
)
from skde.cli.output import align_lines, ending, format_json, has_value, outcome, run_and_show, vector
from skde.cli.user_modules import error_line, import_name
from skde.fit.phases.scipy_search import NAMES
from skde.minimizer import Minimizer
from skde.minimizer.parameters import EXECUTIONS
from skde.plotting import ConvergenceDisplay
from skde.problems import find_forms, get_problem
from skde.result import best_run
from skde.utils.validation import check_choice
from skde.variables import Variables

EXAMPLES = """examples:
  skde minimize rastrigin --dim 30
  skde minimize rastrigin --dim 10 --algorithm de --set F=0.3,0.9 --set pop_size=50 --runs 30 --plot runs.png
  skde minimize fabris2012/p3 --max-evals 200000 --runs 20
  skde minimize janssen2024/F8 --dim 50 --algorithm de --max-iter 1000 --execution step
  skde minimize mymodule:loss --bounds "-5,5; 0,1; 0,1" --max-time 10
  skde minimize mymodule:cost --var n:int:1:20 --var rate:log:1e-5:1 --var kind:cat:ring,star
  skde minimize mymodule:loss_of_one_point --dim 8 --bounds -5 5 --n-jobs 4 --json
"""
PARAMETERS = (
    *("max_iter", "max_evals", "max_time", "max_stall_time", "target", "tol", "atol", "n_runs", "dtype", "n_jobs"),
    *("random_state", "final_evals", "on_error", "max_eval_time", "recorder"),
)
VARIABLE_HELP = (
    f"a typed variable, one option for each, instead of --bounds: {VARIABLE_FORMS} (a function of one point gets the "
    "values by name; one of arrays of points gets the number of a text, from 0)"
)
EXECUTION_HELP = f"how generations run, with the same result: {', '.join(EXECUTIONS)} (default: auto)"
NO_POLISH = "none"
POLISH_HELP = (
    f"improve the best point of every run by a local method: {', '.join(NAMES)} (default: by constraints); "
    f"{NO_POLISH}: not even after auto"
)
# Options with another name than the Minimizer's parameter.
OPTIONS = {"n_runs": "runs", "random_state": "seed", "recorder": "record"}


def add_minimize(commands: Any) -> None:
    """Add `skde minimize`."""
    add = add_command(commands, "minimize", "minimise a function", run_minimize, EXAMPLES).add_argument
    add("objective", metavar="NAME|MODULE:FUNCTION", help="a problem's name (see skde problems), or your function")
    add("--dim", type=integer, help="variables (names: as many as --var, or 30)")
    add("--bounds", type=bounds, metavar="LOW HIGH", help='the box; or one pair a variable: "LOW,HIGH; LOW,HIGH; ..."')
    add("--var", type=parse_variable, action="append", metavar="NAME:KIND:...", help=VARIABLE_HELP)
    add(
        "--algorithm",
        default=AUTO,
        metavar="NAME",
        help="see skde algorithms (default: auto, chosen by dimension and budget)",
    )
    add(
        "--set",
        type=read_setting,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a parameter of the algorithm",
    )
    add("--max-iter", type=integer, help="generations after the initial population")
    add("--max-stall-time", type=read_number, metavar="SECONDS", help="limit without a better value, in seconds")
    add("--max-evals", type=integer, help="evaluations of one run (default: until searches agree, or 10000 a variable)")
    add("--tol", type=read_number, help="a run ends when its population's values are this close, relatively")
    add("--atol", type=read_number, help="absolute tolerance of this rule, for minima near 0 (default: 0)")
    add_fit_options(add, "float64 or float32", "threads; for a function of one point also processes")
    add("--execution", default="auto", metavar="MODEL", help=EXECUTION_HELP)
    add(
        "--scalar",
        action="store_true",
        help="your function takes one point, not an array of points (default: found out)",
    )
    add("--polish", nargs="?", const=True, metavar="METHOD", help=POLISH_HELP)
    add("--final-evals", type=integer, help="evaluations at the end that choose x and estimate f of a noisy function")
    add("--on-error", metavar="raise|nan", help="nan makes an exception of your function of one point the value NaN")
    add_evaluation_options(add, "point")
    add("--plot", type=Path, metavar="FILE", help="plot the best value against evaluations (needs matplotlib)")


def run_minimize(options: Any) -> int:
    """Minimise and print the result; after an interruption or an error, the result so far."""
    if options.plot is not None:
        check_plot(options.plot)
    algorithm = find_algorithm(options.algorithm, dict(options.set))
    box = find_variables(options) if options.var else options.bounds
    dim = len(box) if options.var and options.dim is None else options.dim
    objective = find_objective(options.objective, dim)
    stated = find_forms(objective)
    if stated.space is None:
        check_box(options, box)
    check_choice("--execution", options.execution, EXECUTIONS)
    device, reason = find_device(options.device, stated.cpu_reason, options.n_jobs)
    minimizer = Minimizer(
        algorithm,
        device=device,
        execution=options.execution,
        vectorized=False if options.scalar else "auto",
        polish=False if options.polish == NO_POLISH else options.polish,
        verbose=int(shows_progress(options)),
        **read_parameters(options, PARAMETERS, OPTIONS),
    )

    def show() -> None:
        result = report_fit(options.objective, objective, device, reason, minimizer)
        print(format_json(result) if options.json else format_fit(result))
        if options.plot is not None:
            from matplotlib.figure import Figure  # without pyplot, which may open a window

            axes = Figure(layout="constrained").subplots()
            ConvergenceDisplay.from_estimator(minimizer, f_opt=stated.f_opt, ax=axes).figure_.savefig(options.plot)

    run_and_show(lambda: minimizer.fit(objective, dim=options.dim, bounds=box), show, lambda: has_value(minimizer))
    return 0


class NamedFunction:
    """The user's function; an exception becomes one line with the place where it was raised.

    Parameters
    ----------
    name : str
        Its name in messages, MODULE:FUNCTION.
    function : callable
        The function.
    """

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self.name = name
        self.function = function
        self.__signature__ = signature_of(function)

    def __call__(self, *given: Any, **named: Any) -> Any:
        """Return the function's values."""
        try:
            return self.function(*given, **named)
        except Exception as error:
            hint = f"; it was given {description_of(given, named)}" if isinstance(error, TypeError | ValueError) else ""
            raise InputError(f"{self.name} raised {error_line(error)}{hint}") from error


def signature_of(function: Callable[..., Any]) -> Signature | None:
    """Return the signature of a function; None where it is not known."""
    try:
        return signature(function)
    except (TypeError, ValueError):
        return None


def description_of(given: tuple[Any, ...], named: dict[str, Any]) -> str:
    """Return what a function was called with."""
    if named:
        return f"the values of {', '.join(named)} as keywords"
    (point,) = given
    if not isinstance(point, np.ndarray):
        return f"a {type(point).__name__}"
    return f"an array of points, of shape {point.shape}" if point.ndim > 1 else f"a point, an array of {point.size}"


def find_objective(text: str, dim: int | None) -> Any:
    """Return the problem of that name, or import MODULE:FUNCTION, also from the current directory."""
    module_name, colon, path = text.partition(":")
    if not colon:
        problem = get_problem(text, dim=dim)
        if problem.game is not None:
            raise InputError(
                f"{text!r} is a min-max problem: it has two sides, and only functions of one are minimised "
                f"(skde minmax {text})"
            )
        return problem
    if not (module_name and path):
        raise InputError(f"the objective must be a problem's name or MODULE:FUNCTION, got {text!r}")
    owner = import_name(text)
    stated = find_forms(owner)
    if stated.function is not None:
        return NamedFunction(text, owner)
    if stated.functor is None and stated.constrained is None:
        raise InputError(
            f"{text!r} must be a function, of Python or C, a Problem, a ConstrainedProblem or a DeviceObjective, "
            f"got {owner!r}"
        )
    return owner


def find_variables(options: Any) -> Variables:
    """Return the variables of --var."""
    if options.bounds is not None:
        raise InputError("--bounds and --var cannot go together; NAME:real:LOW:HIGH is a real variable")
    given = [name for name, _ in options.var]
    for name in given:
        if given.count(name) > 1:
            raise InputError(f"--var: the name {name!r} is given twice")
    return Variables(dict(options.var))


def check_box(options: Any, box: Any) -> None:
    """Refuse a user's function without bounds or without a dimension."""
    if box is None:
        raise InputError(
            f'{options.objective!r} needs --bounds LOW HIGH with --dim, --bounds "LOW,HIGH; LOW,HIGH", or --var '
            "NAME:real:LOW:HIGH for each variable"
        )
    if len(box) == 1 and options.dim is None and not options.var:
        raise InputError("--bounds with one pair needs --dim, the number of variables")


def check_plot(path: Path) -> None:
    """Refuse a plot that cannot be drawn or written, before the work begins."""
    if find_spec("matplotlib") is None:
        raise InputError("--plot needs matplotlib: pip install 'skde[plot]'")
    from matplotlib.backend_bases import FigureCanvasBase

    check_writable("--plot", path)
    if path.suffix:
        check_choice("--plot: the ending", path.suffix[1:].lower(), FigureCanvasBase.filetypes)


def find_algorithm(name: str, parameters: dict[str, Any]) -> str | Algorithm:
    """Return the parameter object of --algorithm and --set; "auto" itself, which is chosen when the fit begins."""
    if name != AUTO:
        return get_algorithm(check_choice("--algorithm", name, (AUTO, *ALGORITHMS)), **parameters)
    if parameters:
        raise InputError(f"--set {next(iter(parameters))} needs the algorithm's name, such as --algorithm jso")
    return name


def report_fit(name: str, objective: Any, device: str, reason: str, minimizer: Minimizer) -> dict[str, Any]:
    """Return the report of a fit as data."""
    runs = minimizer.runs_
    algorithm = minimizer.algorithm_
    assert isinstance(algorithm, Algorithm | AlgorithmSequence)
    best = runs[best_run(runs)]
    stated = find_forms(objective)
    f_opt = stated.f_opt
    return {
        "skde": __version__,
        "objective": name,
        "problem": None if stated.space is None else objective.name,
        "dim": len(best.x),
        "algorithm": describe_algorithm(algorithm),
        "automatic": minimizer.algorithm == AUTO,
        "polish_evals": minimizer.polish_evals_,
        "device": device,
        "device_reason": reason,
        "execution": minimizer.execution,
        "dtype": minimizer.dtype,
        "seed": minimizer.random_state,
        "x": best.x,
        "params": minimizer.result_.get("params"),
        "f_opt": f_opt,
        "error": None if f_opt is None else best.fun - f_opt,
        "constrained": stated.constrained is not None,
        **outcome(runs, best),
    }


def describe_algorithm(algorithm: Algorithm | AlgorithmSequence) -> dict[str, Any]:
    """Return name and parameters of an algorithm, or the names and the searches of a sequence."""
    if isinstance(algorithm, Algorithm):
        return describe(algorithm)
    searches = [describe(one) for one in algorithm.algorithms]
    return {"name": algorithm.name, "searches": searches}


def format_fit(result: dict[str, Any]) -> str:
    """Return the report of a fit as text."""
    other_name = f" ({result['problem']})" if result["problem"] not in (None, result["objective"]) else ""
    ran = ", then ".join(
        str(get_algorithm(one["name"], **one["parameters"]))
        for one in result["algorithm"].get("searches", [result["algorithm"]])
    )
    lines = [
        ("objective", f"{result['objective']}{other_name}, {result['dim']} variables"),
        ("algorithm", f"{ran}, chosen by dimension and budget" if result["automatic"] else ran),
        ("device", f"{result['device']} ({result['device_reason']})"),
        *([("execution", result["execution"])] if result["execution"] != "auto" else []),
        ("best value", f"{result['fun']:.10g}"),
    ]
    if result["error"] is not None:
        lines.append(("error", f"{result['error']:.3g} above the known minimum {result['f_opt']:g}"))
    if result["constrained"]:
        lines.append(("violation", f"{result['max_violation']:.3g} at most, of one constraint"))
    lines += ending(result, result["constrained"])
    lines.append(("x", vector(result["x"])))
    if result["params"] is not None:
        lines.append(("variables", ", ".join(f"{name}={value}" for name, value in result["params"].items())))
    return align_lines(lines)
