"""Objects in modules of users, by the name MODULE:NAME."""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from pathlib import Path
from typing import Any

from skde.utils.validation import nearest


def import_name(text: str) -> Any:
    """Return MODULE:NAME, also from the current directory.

    Raises
    ------
    ValueError
        For a module or a name that is not there, and for a module that cannot be imported.
    """
    module_name, _, path = text.partition(":")
    here = os.getcwd()
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        owner = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:  # the user's module may raise anything
        if isinstance(error, ModuleNotFoundError) and f"{module_name}.".startswith(f"{error.name}."):
            files = [file.stem for file in Path(here).glob("*.py")]
            raise ValueError(
                f"there is no module {error.name!r} in {here} or among the installed packages"
                f"{nearest(error.name, files)}"
            ) from None
        raise ValueError(f"importing {module_name!r} raised {error_line(error)}") from error
    for name in path.split("."):
        if not hasattr(owner, name):
            raise ValueError(f"{module_name!r} has no {name!r}{nearest(name, dir(owner))}")
        owner = getattr(owner, name)
    return owner


def error_line(error: BaseException) -> str:
    """Return one line on an exception of the user's code, with its place."""
    if isinstance(error, SyntaxError):  # its text has the place
        return f"{type(error).__name__}: {error}"
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({place.filename}, line {place.lineno})"
