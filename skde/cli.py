"""The command line: reads arguments, calls the library, prints."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import math
import os
import re
import shlex
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from sklearn.exceptions import NotFittedError

from skde import __version__
from skde.algorithms import ALGORITHMS, Algorithm, describe, get_algorithm
from skde.device_objective import DeviceObjective
from skde.engines import choose_engine
from skde.minimizer import Minimizer
from skde.plotting import ConvergenceDisplay
from skde.problems import ALIASES, Problem, get_problem, problem_names
from skde.result import RunResult
from skde.stopping import Status
from skde.validation import check_choice, nearest

COMMANDS = ("minimize", "info", "bench", "problems", "algorithms")
NUMBER = r"[-+]?(?:inf|nan|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
BAD_INPUT, INTERRUPTED = 2, 130  # exit codes; 130 is the shell's for Ctrl-C

MINIMIZE_EXAMPLES = """examples:
  skde minimize rastrigin --dim 30
  skde minimize rastrigin --dim 10 --algorithm de --set F=0.3,0.9 --set pop_size=50 --runs 30 --plot runs.png
  skde minimize mymodule:loss --bounds "-5,5; 0,1; 0,1" --max-time 10
  skde minimize mymodule:loss_of_one_point --scalar --dim 8 --bounds -5 5 --n-jobs 4 --json
"""


class InputError(ValueError):
    """What the user gave cannot be used; the message is all that is shown."""


class Parser(argparse.ArgumentParser):
    """argparse, with its complaints as InputError, so that all errors look alike."""

    def error(self, message: str) -> NoReturn:
        """Raise what argparse would print."""
        raise InputError(f"{message} (see {self.prog} --help)")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str or None, default None
        The arguments; None: those of the process.

    Returns
    -------
    code : int
        0; 2 for what is not allowed or does not work; 130 after Ctrl-C.

    Examples
    --------
    >>> from skde.cli import main
    >>> main(["minimize", "sphere", "--dim", "0"])
    2
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        if arguments and not arguments[0].startswith("-"):
            check_choice("the command", arguments[0], COMMANDS)
        options, unknown = make_parser().parse_known_args(tie_numbers(arguments))
        if unknown:
            known = re.findall(r"--[\w-]+", options.parser.format_help())
            raise InputError(
                f"unknown argument {unknown[0]!r}{nearest(unknown[0], known)} (see {options.parser.prog} --help)"
            )
        options.command_line = shlex.join(["skde", *arguments])
        code: int = options.command(options)
        return code
    except (ValueError, TypeError, RuntimeError, OSError) as error:
        message = str(error).replace("vectorized=False", "--scalar")  # what the option is called here
        print(f"skde: error: {message}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("skde: interrupted", file=sys.stderr)
        return INTERRUPTED


# -- the arguments -----------------------------------------------------------------------------------------------------


def make_parser() -> Parser:
    """Return the parser of all commands."""
    parser = Parser(
        prog="skde",
        description="Population-based optimisation, compiled for CPU and GPU from one source.",
        epilog="example:\n  skde minimize rastrigin --dim 30",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"skde {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    add_minimize(commands)
    add_command(commands, "info", "versions, devices, and what device='auto' would choose", show_info)
    bench = add_command(commands, "bench", "measurements", None, example="skde bench speed --json")
    add_bench_speed(bench.add_subparsers(metavar="MEASUREMENT", required=True))
    add_command(commands, "problems", "the problems that have a name", show_problems)
    add_command(commands, "algorithms", "the algorithms and their parameters", show_algorithms)
    return parser


def add_command(
    commands: Any, name: str, what: str, command: Callable[[Any], int] | None, example: str | None = None
) -> Parser:
    """Add a command, with --json where it prints something, and return its parser."""
    epilog = example if example and "\n" in example else f"example:\n  {example or f'skde {name}'}"
    added: Parser = commands.add_parser(
        name,
        help=what,
        description=what[0].upper() + what[1:] + ".",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    if command is not None:
        added.add_argument("--json", action="store_true", help="print one JSON object")
    added.set_defaults(command=command, parser=added)
    return added


def add_minimize(commands: Any) -> None:
    """Add `skde minimize`."""
    add = add_command(commands, "minimize", "minimise a function", minimize, MINIMIZE_EXAMPLES).add_argument
    add("objective", metavar="NAME|MODULE:FUNCTION", help="a problem's name (see skde problems), or your function")
    add("--dim", type=whole, help="variables (names: 30)")
    add("--bounds", type=bounds, metavar="LOW HIGH", help='the box; or one pair a variable: "LOW,HIGH; LOW,HIGH; ..."')
    add("--algorithm", default="jde", metavar="NAME", help="see skde algorithms (default: jde)")
    add("--set", type=setting, action="append", default=[], metavar="NAME=VALUE", help="a parameter of the algorithm")
    add("--max-iter", type=whole, help="generations after the initial population")
    add("--max-evals", type=whole, help="evaluations of one run (default, without other limits: 10000 a variable)")
    add("--max-time", type=number, metavar="SECONDS", help="seconds")
    add("--target", type=number, help="a run ends at this value")
    add("--tol", type=number, help="a run ends when its population's values are this close, relatively")
    add("--runs", type=whole, default=1, help="independent runs (default: 1)")
    add("--seed", type=whole, default=0, help="the same seed gives the same result (default: 0)")
    add("--device", default="auto", help="auto, cpu, cuda or cuda:N (default: auto)")
    add("--dtype", default="float64", help="float64 or float32 (default: float64)")
    add("--scalar", action="store_true", help="your function takes one point, not an array of points")
    add("--n-jobs", type=whole, help="threads; with --scalar also processes")
    add("--plot", type=Path, metavar="FILE", help="draw the best value against evaluations (needs matplotlib)")
    add("--quiet", action="store_true", help="no progress bar")


def add_bench_speed(commands: Any) -> None:
    """Add `skde bench speed`."""
    what = "speed next to SciPy, pygmo and minionpy where they are installed, as ratios taken in one run"
    example = "skde bench speed --device cuda --out speed.json"
    add = add_command(commands, "speed", what, bench_speed, example).add_argument
    add("--device", default="cpu", help="cpu, cuda or cuda:N (default: cpu)")
    add("--threads", type=whole, default=2, metavar="N", help="of the comparison with one thread (default: 2)")
    add("--seconds", type=number, default=0.2, help="of every repeat of a measurement on the CPU (default: 0.2)")
    add("--out", type=Path, metavar="FILE", help="also write the record, JSON, to a file")


def tie_numbers(arguments: list[str]) -> list[str]:
    """Tie negative numbers to the option before them, for argparse would take some for options.

    ``--bounds -5 5`` becomes ``--bounds=-5 5``, and ``--target -1e-3`` becomes ``--target=-1e-3``.
    """
    tied: list[str] = []
    for argument in arguments:
        before = tied[-1] if tied else ""
        numeric = re.fullmatch(rf"{NUMBER}(?:[,;\s]+{NUMBER})*", argument.strip()) is not None
        if numeric and before.startswith("--bounds"):
            tied[-1] += (" " if "=" in before else "=") + argument
        elif numeric and argument.startswith("-") and before.startswith("--") and "=" not in before:
            tied[-1] += f"={argument}"
        else:
            tied.append(argument)
    return tied


def whole(text: str) -> int:
    """Read a whole number; 2e4 is one."""
    try:
        return int(text)
    except ValueError:
        value = float(text) if re.fullmatch(NUMBER, text) else math.nan
    if not (math.isfinite(value) and value.is_integer()):
        raise argparse.ArgumentTypeError(f"a whole number is needed, such as 20000 or 2e4, got {text!r}")
    return int(value)


def number(text: str) -> float:
    """Read a number."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"a number is needed, such as 0.5 or 1e-8, got {text!r}") from None


def bounds(text: str) -> list[tuple[float, float]]:
    """Read 'LOW HIGH', or 'LOW,HIGH; LOW,HIGH; ...'."""
    pairs = [re.split(r"\s*,\s*|\s+", pair.strip()) for pair in text.split(";") if pair.strip()]
    try:
        return [(float(low), float(high)) for low, high in pairs]
    except ValueError:
        raise argparse.ArgumentTypeError(
            f'LOW HIGH is needed, or one pair a variable, "LOW,HIGH; LOW,HIGH; ...", got {text!r}'
        ) from None


def setting(text: str) -> tuple[str, Any]:
    """Read NAME=VALUE: a whole number, a number, a pair of numbers LOW,HIGH, or else text."""
    name, equals, value = (part.strip() for part in text.partition("="))
    if not (name and equals and value):
        raise argparse.ArgumentTypeError(f"NAME=VALUE is needed, such as F=0.5, got {text!r}")
    if re.fullmatch(r"[-+]?\d+", value):
        return name, int(value)
    if re.fullmatch(NUMBER, value):
        return name, float(value)
    if re.fullmatch(rf"{NUMBER}\s*,\s*{NUMBER}", value):
        low, high = value.split(",")
        return name, (float(low), float(high))
    return name, value


# -- skde minimize -----------------------------------------------------------------------------------------------------


def minimize(options: Any) -> int:
    """Minimise, and print what was found, also where it was interrupted or went wrong half-way."""
    if options.plot is not None:
        if find_spec("matplotlib") is None:
            raise InputError("--plot needs matplotlib: pip install 'skde[plot]'")
        check_writable("--plot", options.plot)
    algorithm = get_algorithm(options.algorithm, **dict(options.set))
    objective = find_objective(options.objective, options.dim)
    if not isinstance(objective, Problem):
        check_box(options)
    device, reason = find_device(options.device, isinstance(objective, Guarded), options.n_jobs)
    minimizer = Minimizer(
        algorithm,
        max_iter=options.max_iter,
        max_evals=options.max_evals,
        max_time=options.max_time,
        target=options.target,
        tol=options.tol,
        n_runs=options.runs,
        device=device,
        dtype=options.dtype,
        vectorized=not options.scalar,
        n_jobs=options.n_jobs,
        verbose=int(sys.stderr.isatty() and not options.quiet and not options.json),
        random_state=options.seed,
    )

    def show() -> list[RunResult]:
        runs = minimizer.runs_
        found = report(options.objective, objective, algorithm, device, reason, minimizer)
        print(to_json(found) if options.json else readable(found))
        return runs

    try:
        minimizer.fit(objective, dim=options.dim, bounds=options.bounds)
    except Exception:
        with contextlib.suppress(NotFittedError):  # it went wrong before there was anything to show
            show()
        raise
    try:
        runs = show()
    except NotFittedError:  # interrupted before anything was evaluated
        raise KeyboardInterrupt from None
    if options.plot is not None:
        f_opt = objective.f_opt if isinstance(objective, Problem) else 0.0
        ConvergenceDisplay.from_estimator(minimizer, f_opt=f_opt).figure_.savefig(options.plot)
    return INTERRUPTED if any(run.status == Status.INTERRUPTED for run in runs) else 0


class Guarded:
    """The user's function; what it raises is told in one line that says where."""

    def __init__(self, name: str, function: Callable[[Any], Any]) -> None:
        self.name = name
        self.function = function

    def __call__(self, X: Any) -> Any:
        """Return the function's values."""
        try:
            return self.function(X)
        except Exception as error:
            raise InputError(f"{self.name} raised {told(error)}") from error


def told(error: Exception) -> str:
    """Return an exception of the user's code in one line."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({place.filename}, line {place.lineno})"


def find_objective(text: str, dim: int | None) -> Problem | DeviceObjective | Guarded:
    """Return the problem of that name, or import MODULE:FUNCTION, also from the current directory."""
    module_name, colon, path = text.partition(":")
    if not colon:
        return get_problem(text, dim=dim)
    if not (module_name and path):
        raise InputError(f"the objective must be a problem's name or MODULE:FUNCTION, got {text!r}")
    here = os.getcwd()
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found = importlib.import_module(module_name)
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and f"{module_name}.".startswith(f"{error.name}."):
            files = [file.stem for file in Path(here).glob("*.py")]
            raise InputError(
                f"there is no module {error.name!r} in {here} or among the installed packages"
                f"{nearest(error.name, files)}"
            ) from None
        raise InputError(f"importing {module_name!r} raised {told(error)}") from error
    for name in path.split("."):
        if not hasattr(found, name):
            raise InputError(f"{module_name!r} has no {name!r}{nearest(name, dir(found))}")
        found = getattr(found, name)
    if isinstance(found, Problem | DeviceObjective):
        return found
    if not callable(found):
        raise InputError(f"{text!r} must be a function, a Problem or a DeviceObjective, got {found!r}")
    return Guarded(text, found)


def check_box(options: Any) -> None:
    """See to it that a function of the user's has a box, of known dimension."""
    if options.bounds is None:
        raise InputError(f'{options.objective!r} needs --bounds LOW HIGH with --dim, or --bounds "LOW,HIGH; LOW,HIGH"')
    if len(options.bounds) == 1 and options.dim is None:
        raise InputError("--bounds with one pair needs --dim, the number of variables")


def find_device(device: str, is_python: bool, n_jobs: int | None) -> tuple[str, str]:
    """Return the device's full name and why it was chosen."""
    if not re.fullmatch(r"cuda:\d+", device):
        check_choice("--device", device, ("auto", "cpu", "cuda", "cuda:0"))
    if device == "auto" and is_python:
        return "cpu", "a Python function may only know NumPy"
    engine, reason = choose_engine(device, n_jobs)
    return engine.name, reason


def check_writable(option: str, path: Path) -> None:
    """Say at once, not after the work, that a file has no place."""
    if not path.absolute().parent.is_dir():
        raise InputError(f"{option}: there is no directory {str(path.parent)!r}")


def report(
    name: str, objective: Any, algorithm: Algorithm, device: str, reason: str, minimizer: Minimizer
) -> dict[str, Any]:
    """Return all that is known of a fit."""
    runs = minimizer.runs_
    funs = np.array([run.fun for run in runs])
    best = runs[0 if np.isnan(funs).all() else int(np.nanargmin(funs))]
    seconds = max(run.time for run in runs)
    n_evals = sum(run.n_evals for run in runs)
    is_problem = isinstance(objective, Problem)
    return {
        "skde": __version__,
        "objective": name,
        "problem": objective.name if is_problem else None,
        "dim": len(best.x),
        "algorithm": describe(algorithm),
        "device": device,
        "device_reason": reason,
        "dtype": minimizer.dtype,
        "seed": minimizer.random_state,
        "fun": best.fun,
        "x": best.x,
        "f_opt": objective.f_opt if is_problem else None,
        "error": best.fun - objective.f_opt if is_problem else None,
        "n_evals": n_evals,
        "n_iter": best.n_iter,
        "seconds": seconds,
        "evals_per_second": n_evals / seconds if seconds > 0 else None,
        "status": best.status.name,
        "message": best.message,
        "success": best.status.success,
        "summary": {
            "mean": funs.mean(),
            "median": np.median(funs),
            "best": funs.min(),
            "worst": funs.max(),
            "std": funs.std(ddof=1) if len(funs) > 1 else 0.0,
        },
        "runs": [
            {
                "fun": run.fun,
                "x": run.x,
                "n_evals": run.n_evals,
                "n_iter": run.n_iter,
                "seconds": run.time,
                "status": run.status.name,
                "message": run.message,
                "seed": run.seed,
                "history": {
                    "n_evals": run.history.n_evals,
                    "seconds": run.history.seconds,
                    "best": run.history.best,
                },
            }
            for run in runs
        ],
    }


def readable(found: dict[str, Any]) -> str:
    """Return a fit's report for people."""
    rate = found["evals_per_second"]
    other_name = f" ({found['problem']})" if found["problem"] not in (None, found["objective"]) else ""
    lines = [
        ("objective", f"{found['objective']}{other_name}, {found['dim']} variables"),
        ("algorithm", str(get_algorithm(found["algorithm"]["name"], **found["algorithm"]["parameters"]))),
        ("device", f"{found['device']} ({found['device_reason']})"),
        ("best value", f"{found['fun']:.10g}"),
    ]
    if found["error"] is not None:
        lines.append(("error", f"{found['error']:.3g} above the known minimum {found['f_opt']:g}"))
    if len(found["runs"]) > 1:
        summary = ", ".join(f"{name} {value:.6g}" for name, value in found["summary"].items())
        lines.append((f"{len(found['runs'])} runs", summary))
    speed = f", {rate:,.0f} a second" if rate else ""
    lines.append(("evaluations", f"{found['n_evals']:,} in {found['seconds']:.3g} s{speed}"))
    lines.append(("ended", found["message"]))
    lines.append(("x", np.array2string(found["x"], precision=6, threshold=12, prefix=" " * 13)))
    return "\n".join(f"{label:<13}{text}" for label, text in lines)


def to_json(value: Any) -> str:
    """Return JSON; what is not finite is null, as JSON has no word for it."""
    return json.dumps(plain(value), allow_nan=False)


def plain(value: Any) -> Any:
    """Return the value in JSON's types."""
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


# -- the other commands ------------------------------------------------------------------------------------------------


def show_info(options: Any) -> int:
    """Print versions, devices, and what would be chosen."""
    from skde.benchmark import gpu_descriptions, machine, versions

    gpus, no_gpu = gpu_descriptions()
    engine, reason = choose_engine("auto")
    found: dict[str, Any] = {
        "versions": versions(),
        "machine": machine(),
        "gpus": gpus,
        "no_gpu_because": no_gpu or None,
        "auto": {"device": engine.name, "reason": reason},
    }
    if options.json:
        print(to_json(found))
        return 0
    for name, version in found["versions"].items():
        print(f"{name:<15}{version}")
    computer = found["machine"]
    print(f"\n{'cpu':<15}{computer['cpu']}, {computer['cores']} cores, {computer['threads']} threads used")
    print(f"{'instructions':<15}{computer['isa']} of {', '.join(computer['isas'])}")
    for gpu in gpus:
        print(f"{gpu['device']:<15}{gpu['name']}")
    if no_gpu:
        print(f"{'gpu':<15}none: {no_gpu}")
    print(f"{'auto':<15}{engine.name} for names, problems and DeviceObjectives: {reason}")
    print(f"{'':<15}cpu for Python functions: they may only know NumPy")
    return 0


def bench_speed(options: Any) -> int:
    """Measure, print and keep."""
    from skde.benchmark import speed

    if not re.fullmatch(r"cuda:\d+", options.device):
        check_choice("--device", options.device, ("cpu", "cuda", "cuda:0"))
    if options.out is not None:
        check_writable("--out", options.out)

    def say(text: str) -> None:
        if sys.stderr.isatty():
            print(f"measuring {text}", file=sys.stderr)

    record = speed.measure(
        options.device, threads=options.threads, seconds=options.seconds, command=options.command_line, say=say
    )
    if options.out is not None:
        options.out.write_text(json.dumps(plain(record), indent=1, allow_nan=False) + "\n")
    print(to_json(record) if options.json else speed.table(record))
    return 0


def show_problems(options: Any) -> int:
    """Print the problems' names."""
    friendly = {name: alias for alias, name in ALIASES.items()}
    found = [{"name": name, "alias": friendly.get(name)} for name in problem_names() if name not in ALIASES]
    if options.json:
        print(to_json(found))
    else:
        for entry in found:
            print(f"{entry['name']:<20}{entry['alias'] or ''}".rstrip())
    return 0


def show_algorithms(options: Any) -> int:
    """Print the algorithms, and their parameters with defaults."""
    found: list[dict[str, Any]] = [
        {
            "name": name,
            "class": kind.__name__,
            "summary": (kind.__doc__ or "").strip().splitlines()[0],
            "parameters": kind().get_params(),
        }
        for name, kind in ALGORITHMS.items()
    ]
    if options.json:
        print(to_json(found))
        return 0
    for entry in found:
        print(f"{entry['name']:<8}{entry['summary']}")
        print(" " * 8 + ", ".join(f"{name}={value!r}" for name, value in entry["parameters"].items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
