"""The command line: reads arguments, calls the library, prints."""

from __future__ import annotations

import argparse
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from skde import __version__
from skde.algorithms import ALGORITHMS
from skde.cli.arguments import Parser, add_command, bounds, number, setting, tie_numbers, whole
from skde.cli.bench import add_bench
from skde.cli.minimize import InputError, minimize, to_json
from skde.cli.minmax import add_minmax
from skde.cli.reproduce import add_reproduce
from skde.cli.signals import Termination
from skde.engines import choose_engine
from skde.problems import ALIASES, NAMES, problem_names
from skde.tuning.cli import WORKER, add_tune, add_worker
from skde.validation import check_choice, nearest

COMMANDS = ("minimize", "minmax", "info", "bench", "reproduce", "tune", WORKER, "problems", "algorithms")
BAD_INPUT = 2  # exit code
KINDS = {"plain": "", "constrained": "with constraints", "minmax": "min over x, max over y"}

MINIMIZE_EXAMPLES = """examples:
  skde minimize rastrigin --dim 30
  skde minimize rastrigin --dim 10 --algorithm de --set F=0.3,0.9 --set pop_size=50 --runs 30 --plot runs.png
  skde minimize fabris2012/p3 --max-evals 200000 --runs 20
  skde minimize mymodule:loss --bounds "-5,5; 0,1; 0,1" --max-time 10
  skde minimize mymodule:loss_of_one_point --scalar --dim 8 --bounds -5 5 --n-jobs 4 --json
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str or None, default None
        The arguments; None: those of the process.

    Returns
    -------
    code : int
        0; 2 for what is not allowed or does not work; 130 after Ctrl-C, 143 after SIGTERM.

    Examples
    --------
    >>> from skde.cli.main import main
    >>> main(["minimize", "sphere", "--dim", "0"])
    2
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments[:2] == WORKER.split():
        arguments[:2] = [WORKER]  # one command, in two words
    with Termination() as termination:
        try:
            return run(arguments)
        except (ValueError, TypeError, RuntimeError, OSError, OverflowError, MemoryError) as error:
            message = str(error).replace("vectorized=False", "--scalar")  # what the option is called here
            print(f"skde: error: {message or type(error).__name__}", file=sys.stderr)
            return BAD_INPUT
        except KeyboardInterrupt:
            print("skde: interrupted", file=sys.stderr)
            return termination.exit_code


def run(arguments: list[str]) -> int:
    """Run a command, and return its exit code."""
    if arguments and not arguments[0].startswith("-"):
        check_choice("the command", arguments[0], COMMANDS)
    options, unknown = make_parser().parse_known_args(tie_numbers(arguments))
    if unknown:
        spelled = unknown[0].replace("--random-state", "--seed")  # which the library calls so
        known = re.findall(r"--[\w-]+", options.parser.format_help())
        raise InputError(f"unknown argument {unknown[0]!r}{nearest(spelled, known)} (see {options.parser.prog} --help)")
    options.command_line = shlex.join(["skde", *arguments])
    code: int = options.command(options)
    return code


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
    add_minmax(commands)
    add_command(commands, "info", "versions, devices, and what device='auto' would choose", show_info)
    add_bench(commands)
    add_reproduce(commands)
    add_tune(commands)
    add_worker(commands)
    add_command(commands, "problems", "the problems that have a name", show_problems)
    add_command(commands, "algorithms", "the algorithms and their parameters", show_algorithms)
    return parser


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


# -- the small commands ------------------------------------------------------------------------------------------------


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


def show_problems(options: Any) -> int:
    """Print the problems' names."""
    friendly = {name: alias for alias, name in ALIASES.items()}
    found: list[dict[str, Any]] = [
        {"name": name, "alias": friendly.get(name), "kind": kind}
        for kind in NAMES
        for name in problem_names(kind)
        if name not in ALIASES
    ]
    if options.json:
        print(to_json(found))
    else:
        for entry in found:
            print(f"{entry['name']:<22}{entry['alias'] or KINDS[entry['kind']]}".rstrip())
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
