"""The command line: reads arguments, calls the library, prints."""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import re
import shlex
import sys
import textwrap
import traceback
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from skde import __version__
from skde.algorithms import ALGORITHMS, Algorithm, describe, get_algorithm
from skde.device_objective import DeviceObjective
from skde.engines import choose_engine
from skde.minimizer import Minimizer
from skde.problems import ALIASES, Problem, get_problem, problem_names
from skde.result import RunResult
from skde.stopping import Status
from skde.validation import check_choice, nearest

DEVICES = ("auto", "cpu", "cuda")
NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
BAD_INPUT, INTERRUPTED = 2, 130  # exit codes; 130 is the shell's for Ctrl-C


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
        0; 2 for input that is not allowed; 130 after Ctrl-C.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        parser, commands = make_parser()
        options, unknown = parser.parse_known_args(tie_numbers(arguments))
        if unknown:
            known = re.findall(r"--[\w-]+", commands[options.command_name].format_help())
            raise InputError(f"unknown argument {unknown[0]!r}{nearest(unknown[0], known)}")
        options.command_line = shlex.join(["skde", *arguments])
        code: int = options.command(options)
        return code
    except (ValueError, TypeError, RuntimeError, OSError) as error:
        print(f"skde: error: {error}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("skde: interrupted", file=sys.stderr)
        return INTERRUPTED


# -- reading arguments -------------------------------------------------------------------------------------------------


def make_parser() -> tuple[Parser, dict[str, Parser]]:
    """Return the parser, and those of the subcommands by name."""
    parser = Parser(
        prog="skde",
        description="Population-based optimisation, compiled for CPU and GPU from one source.",
        epilog="example:\n  skde minimize rastrigin --dim 30",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"skde {__version__}")
    parser.add_argument("command_name", metavar="COMMAND", help="one of those below", nargs="?")
    commands = parser.add_subparsers(dest="command_name", metavar="COMMAND", required=True, parser_class=Parser)
    return parser, {}


def tie_numbers(arguments: list[str]) -> list[str]:
    """Tie negative numbers to the option before them: argparse would take some for options.

    ``--bounds -5 5`` becomes ``--bounds=-5 5`` and ``--target -1e-3`` becomes ``--target=-1e-3``.
    """
    tied: list[str] = []
    for argument in arguments:
        before = tied[-1] if tied else ""
        numeric = re.fullmatch(rf"{NUMBER}(?:[,;\s]+{NUMBER})*", argument) is not None
        if numeric and before.startswith("--bounds"):
            tied[-1] += (" " if "=" in before else "=") + argument
        elif numeric and argument.startswith("-") and before.startswith("--") and "=" not in before:
            tied[-1] += f"={argument}"
        else:
            tied.append(argument)
    return tied
