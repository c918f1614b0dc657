"""The parser of the command line, and the checks of its options' values."""

from __future__ import annotations

import argparse
import math
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NoReturn

from skde.algorithms import ALGORITHMS
from skde.engines import check_device, choose_engine
from skde.variables import KINDS, Categorical, Fixed, Integer, Log, Ordinal, Real, Variable

NUMBER = r"[-+]?(?:inf|nan|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"


class InputError(ValueError):
    """A mistake of the user; the command prints only its message."""


class Parser(argparse.ArgumentParser):
    """A parser of argparse that raises InputError, so that all errors look alike."""

    def error(self, message: str) -> NoReturn:
        """Raise the message that argparse would print."""
        raise InputError(f"{message} (see {self.prog} --help)")

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print a help text or the version; argparse says nothing where this fails, as on a full disk."""
        print(message, end="", file=file or sys.stderr, flush=True)


def add_command(
    commands: Any, name: str, what: str, command: Callable[[Any], int] | None, example: str | None = None
) -> Parser:
    """Add a command, with --json if it has a function, and return its parser."""
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


def add_fit_options(add: Callable[..., Any], dtypes: str, n_jobs: str) -> None:
    """Add the options that every command with a fit has; the texts are the help of --dtype and --n-jobs."""
    add("--max-time", type=read_number, metavar="SECONDS", help="time limit in seconds")
    add("--target", type=read_number, help="a run ends at this value")
    add("--runs", type=integer, default=1, help="independent runs (default: 1)")
    add("--seed", type=integer, default=0, help="the same seed gives the same result (default: 0)")
    add_device(add)
    add("--dtype", default="float64", help=f"{dtypes} (default: float64)")
    add("--n-jobs", type=integer, help=n_jobs)
    add_quiet(add)


def add_evaluation_options(add: Callable[..., Any], what: str) -> None:
    """Add the options on single evaluations, of a point or a pair."""
    late = f"with --n-jobs: seconds for one evaluation of a function of one {what}, or its value is NaN"
    add("--max-eval-time", type=read_number, metavar="SECONDS", help=late)
    record = f"append all {what}s with their values: lines of JSON, or of CSV (FILE.csv)"
    add("--record", metavar="FILE", help=record)


def add_device(add: Callable[..., Any]) -> None:
    """Add the option of a device that skde may choose."""
    add("--device", default="auto", help="auto, cpu, cuda or cuda:N (default: auto)")


def add_quiet(add: Callable[..., Any]) -> None:
    """Add the option of a command with a progress bar."""
    add("--quiet", action="store_true", help="no progress bar")


def read_parameters(options: Any, names: Sequence[str], spelling: Mapping[str, str]) -> dict[str, Any]:
    """Return the parameters that are given as options."""
    values = {name: getattr(options, spelling.get(name, name)) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def shows_progress(options: Any) -> bool:
    """Whether a progress bar is drawn: on a terminal, unless --quiet or --json is given."""
    return sys.stderr.isatty() and not options.json and not getattr(options, "quiet", False)


def refuse_options(options: Any, names: Sequence[str], why: str) -> None:
    """Refuse options that have no effect here."""
    for name in names:
        if getattr(options, name) is not None:
            raise InputError(f"--{name.replace('_', '-')} {why}")


def join_negative_numbers(arguments: list[str]) -> list[str]:
    """Join negative numbers with the option before them, because argparse would take some for options.

    ``--bounds -5 5`` becomes ``--bounds=-5 5``, and ``--target -1e-3`` becomes ``--target=-1e-3``.
    """
    joined: list[str] = []
    for argument in arguments:
        before = joined[-1] if joined else ""
        numeric = re.fullmatch(rf"{NUMBER}(?:[,;\s]+{NUMBER})*", argument.strip()) is not None
        if numeric and before.startswith("--bounds"):
            joined[-1] += (" " if "=" in before else "=") + argument
        elif numeric and argument.startswith("-") and before.startswith("--") and "=" not in before:
            joined[-1] += f"={argument}"
        else:
            joined.append(argument)
    return joined


def integer(text: str) -> int:
    """Read a whole number; 2e4 is one."""
    try:
        value: float = int(text)
    except ValueError:
        value = float(text) if re.fullmatch(NUMBER, text) else math.nan
    if not (abs(value) >= 2**64 or float(value).is_integer()):
        raise argparse.ArgumentTypeError(f"a whole number is needed, such as 20000 or 2e4, got {text!r}")
    if abs(value) >= 2**64:
        raise argparse.ArgumentTypeError(f"a whole number below 2**64 is needed, got {text!r}")
    return int(value)


def read_number(text: str) -> float:
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
            f'LOW HIGH is needed, or a pair for each variable, "LOW,HIGH; LOW,HIGH; ...", got {text!r}'
        ) from None


VARIABLE_FORMS = (
    "NAME:real:LOW:HIGH, NAME:int:LOW:HIGH, NAME:log:LOW:HIGH, NAME:ordinal:NUMBER,NUMBER,..., NAME:cat:TEXT,TEXT,... "
    "or NAME:fixed:NUMBER"
)


def parse_variable(text: str) -> tuple[str, Variable]:
    """Read NAME:KIND:..., a typed variable."""
    name, _, rest = text.partition(":")
    kind, _, given = rest.partition(":")
    try:
        return name.strip(), VARIABLES[kind.strip()](given)
    except (KeyError, TypeError, ValueError, argparse.ArgumentTypeError) as error:
        why = f": {error}" if str(error).startswith(tuple(kind.__name__ for kind in KINDS.values())) else ""
        raise argparse.ArgumentTypeError(f"{VARIABLE_FORMS} is needed, got {text!r}{why}") from None


def bounds_of(text: str) -> tuple[float, float]:
    """Read LOW:HIGH."""
    low, high = map(float, text.split(":"))
    return low, high


def integer_range(text: str) -> tuple[int, int]:
    """Read LOW:HIGH, whole numbers."""
    low, high = map(integer, text.split(":"))
    return low, high


def whole_or_real(text: str) -> int | float:
    """Read a number, one without a point or an exponent as a whole number."""
    return int(text) if re.fullmatch(r"\s*[-+]?\d+\s*", text) else float(text)


# The kinds of a typed variable, and how its bounds, values or choices are read.
VARIABLES: dict[str, Callable[[str], Variable]] = {
    "real": lambda text: Real(*bounds_of(text)),
    "int": lambda text: Integer(*integer_range(text)),
    "log": lambda text: Log(*bounds_of(text)),
    "ordinal": lambda text: Ordinal(tuple(map(whole_or_real, names(text)))),
    "cat": lambda text: Categorical(names(text)),
    "fixed": lambda text: Fixed(whole_or_real(text)),
}


def read_setting(text: str) -> tuple[str, Any]:
    """Read NAME=VALUE: a whole number, a number, a pair of numbers LOW,HIGH, True or False, or else text."""
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
    return name, {"true": True, "false": False}.get(value.lower(), value)


def names(text: str) -> list[str]:
    """Read NAME,NAME,..."""
    return [name.strip() for name in text.split(",") if name.strip()]


def integer_list(text: str) -> list[int]:
    """Read whole numbers, NUMBER,NUMBER,..."""
    return [integer(name) for name in names(text)]


def algorithms(text: str) -> list[tuple[str, dict[str, Any]]]:
    """Read NAME:PARAMETER=VALUE,PARAMETER=VALUE,NAME,...: names with their parameters.

    A comma ends an algorithm unless a parameter, or the second number of a pair, follows it. A name may have a colon.
    """
    given = []
    for part in re.split(rf",(?!\s*(?:\w+\s*=|{NUMBER}\s*(?:,|$)))", text):
        name, colon, rest = part.strip().rpartition(":")
        if (name in ALGORITHMS or ":" in name) and "=" not in rest:
            raise argparse.ArgumentTypeError(f"parameters of {name!r} are NAME=VALUE, such as F=0.5, got {rest!r}")
        if not colon or "=" not in rest:
            name, rest = part.strip(), ""
        parameters = [read_setting(parameter) for parameter in re.split(r",(?=\s*\w+\s*=)", rest)] if rest else []
        repeated = [key for number, (key, _) in enumerate(parameters) if key in dict(parameters[:number])]
        if repeated:
            raise argparse.ArgumentTypeError(f"{repeated[0]} of {name!r} is given twice in {text!r}")
        given.append((name, dict(parameters)))
    return given


def find_device(device: str, cpu_reason: str | None, n_jobs: int | None) -> tuple[str, str]:
    """Return the device's full name and why it was chosen; `cpu_reason` is why "auto" is the CPU, if it is."""
    check_device(device, "--device", several=False)
    if device == "auto" and cpu_reason is not None:
        return "cpu", cpu_reason
    engine, reason = choose_engine(device, n_jobs)
    return engine.name, reason


def check_record_options(options: Any) -> None:
    """Refuse a device or a file of a record that cannot be used, before the work begins."""
    check_device(options.device, "--device", auto=False, several=False)
    if options.out is not None:
        check_writable("--out", options.out)


def check_writable(option: str, path: Path) -> None:
    """Refuse a file that cannot be written, before the work begins."""
    folder, target = path.absolute().parent, Path(os.path.realpath(path))
    if not folder.is_dir():
        raise InputError(f"{option}: there is no directory {str(path.parent)!r}")
    if target.is_dir():
        raise InputError(f"{option}: {str(path)!r} is a directory; give a file's name")
    if target.exists() and not target.is_file():
        raise InputError(f"{option}: {str(path)!r} is no regular file")
    if not (os.access(target.parent, os.W_OK) and (os.access(target, os.W_OK) or not target.exists())):
        raise InputError(f"{option}: {str(path)!r} may not be written")
    try:  # the permissions do not tell: root has all of them, and cannot write to /proc
        with TemporaryFile(dir=target.parent):
            pass
    except OSError as error:
        raise InputError(f"{option}: {str(path)!r} may not be written ({error.strerror})") from None
