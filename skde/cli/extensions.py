"""Commands, reproductions and suites that skde.benchmark, skde.tuning and other packages add by entry points."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from skde.cli.arguments import InputError

COMMANDS = "skde.commands"  # functions of the subparsers that add commands to them
REPRODUCTIONS = "skde.reproductions"  # functions of the options and the paper that return an exit code
SUITE_FINDERS = "skde.suite_finders"  # functions of a name that return the suite


def load_extension(extension: EntryPoint) -> Any:
    """Return the function of an extension.

    Raises
    ------
    InputError
        When the package that it needs is not installed.
    """
    try:
        return extension.load()
    except ImportError as error:
        raise InputError(str(error)) from None


def add_extensions(commands: Any, arguments: Sequence[str]) -> None:
    """Add the command that the arguments name or, where they name none, all extensions'.

    The help of a command that cannot be loaded is the reason.

    Raises
    ------
    InputError
        When the arguments name a command that cannot be loaded.
    """
    found = entry_points(group=COMMANDS)
    named = [extension for extension in found if extension.name in arguments[:1]]
    for extension in named or found:
        try:
            load_extension(extension)(commands)
        except InputError as error:
            if arguments and arguments[0] == extension.name:
                raise
            commands.add_parser(extension.name, help=str(error).replace("%", "%%"))


def find_reproduction(name: str) -> Any:
    """Return the function for a kind of table of a paper.

    Raises
    ------
    InputError
        When the package that does it is not installed.
    """
    for extension in entry_points(group=REPRODUCTIONS, name=name):
        return load_extension(extension)
    raise InputError(f"the reproduction of a paper's {name} needs skde.{name}: pip install 'skde[{name}]'")


def find_suite(name: str) -> Any:
    """Return the suite of a name.

    Raises
    ------
    InputError
        When the package that has suites is not installed.
    """
    for extension in entry_points(group=SUITE_FINDERS):
        return load_extension(extension)(name)
    raise InputError("suites need skde.benchmark: pip install 'skde[bench]'")
