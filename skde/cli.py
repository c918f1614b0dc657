"""The command line: reads arguments, calls the library, prints."""

from __future__ import annotations

import argparse
import json
import math
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from skde import __version__
from skde.algorithms import ALGORITHMS
from skde.cli_minimize import INTERRUPTED, InputError, check_writable, minimize, plain, to_json
from skde.engines import choose_engine
from skde.problems import ALIASES, problem_names
from skde.validation import check_choice, nearest

COMMANDS = ("minimize", "info", "bench", "problems", "algorithms")
NUMBER = r"[-+]?(?:inf|nan|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
BAD_INPUT = 2  # exit code

MINIMIZE_EXAMPLES = """examples:
  skde minimize rastrigin --dim 30
  skde minimize rastrigin --dim 10 --algorithm de --set F=0.3,0.9 --set pop_size=50 --runs 30 --plot runs.png
  skde minimize mymodule:loss --bounds "-5,5; 0,1; 0,1" --max-time 10
  skde minimize mymodule:loss_of_one_point --scalar --dim 8 --bounds -5 5 --n-jobs 4 --json
"""


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
