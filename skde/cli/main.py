"""The command line `skde`."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import sys
from collections.abc import Sequence
from typing import Any

from skde import __version__
from skde.cli.arguments import InputError, Parser, join_negative_numbers
from skde.cli.extensions import add_extensions
from skde.cli.info import add_algorithms, add_info, add_problems
from skde.cli.minimize import add_minimize
from skde.cli.minmax import add_minmax
from skde.cli.signals import Termination
from skde.utils.validation import check_choice, nearest

BAD_INPUT, PIPE_CLOSED = 2, 141  # exit codes; the second is for SIGPIPE
OWN_COMMANDS = ("minimize", "minmax", "info", "problems", "algorithms")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str or None, default None
        The arguments; None: the process's.

    Returns
    -------
    code : int
        0; 2 for what is not allowed or does not work; 130 after Ctrl-C, 143 after SIGTERM, 141 where the reader of the
        output is gone.

    Examples
    --------
    >>> from skde.cli.main import main
    >>> main(["minimize", "sphere", "--dim", "0"])
    2
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    with Termination() as termination:
        try:
            code = run_command(arguments)
            sys.stdout.flush()
            return code
        except BrokenPipeError:  # the reader of a pipe, such as head, has closed it
            discard_unwritten()
            return PIPE_CLOSED
        except (ValueError, TypeError, RuntimeError, OSError, OverflowError, MemoryError) as error:
            message = str(error).replace("vectorized=False", "--scalar")  # what the option is called here
            print(f"skde: error: {message or type(error).__name__}", file=sys.stderr)
            discard_unwritten()
            return BAD_INPUT
        except KeyboardInterrupt:
            print("skde: interrupted", file=sys.stderr)
            return termination.exit_code


def discard_unwritten() -> None:
    """Leave out what cannot be written, for the flush at the exit would fail again."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def run_command(arguments: list[str]) -> int:
    """Run a command, and return its exit code."""
    parser, commands = make_parser(arguments)
    if arguments and not arguments[0].startswith("-"):
        check_choice("the command", arguments[0], commands)
    if " ".join(arguments[:2]) in commands:  # "tune worker" is one command
        arguments = [" ".join(arguments[:2]), *arguments[2:]]
    options, unknown = parser.parse_known_args(join_negative_numbers(arguments))
    if unknown:
        spelled = unknown[0].replace("--random-state", "--seed")  # the name in the library
        known = re.findall(r"--[\w-]+", options.parser.format_help())
        raise InputError(f"unknown argument {unknown[0]!r}{nearest(spelled, known)} (see {options.parser.prog} --help)")
    options.command_line = shlex.join(["skde", *arguments])
    code: int = options.command(options)
    return code


def make_parser(arguments: Sequence[str]) -> tuple[Parser, list[str]]:
    """Return the parser for some arguments, and the names of all commands.

    Extensions take time to load, so they are left out where the arguments name another command.
    """
    parser = Parser(
        prog="skde",
        description="Population-based optimisation, compiled for CPU and GPU from one source.",
        epilog="example:\n  skde minimize rastrigin --dim 30",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"skde {__version__}")
    commands: Any = parser.add_subparsers(metavar="COMMAND", required=True)
    add_minimize(commands)
    add_minmax(commands)
    add_info(commands)
    if not arguments or arguments[0] not in (*OWN_COMMANDS, "--version"):
        add_extensions(commands, arguments)
    add_problems(commands)
    add_algorithms(commands)
    return parser, list(commands.choices)


if __name__ == "__main__":
    sys.exit(main())
