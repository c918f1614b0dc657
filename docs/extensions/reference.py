"""Public names for the site: those that docs/reference/*.rst lists, with their members."""

from __future__ import annotations

import inspect
import re
from functools import cache
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import scipy.optimize

from skde.algorithms import Algorithm

FOLDER = Path(__file__).resolve().parents[1] / "reference"


def paths() -> list[str]:
    """Return the names that the tables of docs/reference/*.rst list, with their modules."""
    return [
        path for file in sorted(FOLDER.glob("*.rst")) for path in re.findall(r"(?m)^ +(skde\.\S+)$", file.read_text())
    ]


def members(kind: type) -> list[str]:
    """Return the public methods and properties of a class that skde defines; of an algorithm, its presets."""
    found = set()
    for base in kind.__mro__:
        if base.__module__.partition(".")[0] == "skde":
            found |= {name for name, value in vars(base).items() if is_member(value) and not name.startswith("_")}
    if issubclass(kind, Algorithm) and kind is not Algorithm:
        found = {name for name in found - set(dir(Algorithm)) if inspect.ismethod(getattr(kind, name))}
    return sorted(name for name in found if getattr(getattr(kind, name), "__module__", "skde").startswith("skde"))


def is_member(value: Any) -> bool:
    """Whether a value in a class is a method or a property."""
    return isinstance(value, classmethod | staticmethod | property) or inspect.isfunction(value)


@cache
def members_of_classes() -> dict[str, list[str]]:
    """Return the members of every public class, by its name with its module."""
    return {path: members(value) for path in paths() if inspect.isclass(value := resolve_name(path))}


@cache
def list_linked_names() -> dict[str, str]:
    """Return the codes that are links in docstrings and pages, with their full names."""
    linked = {path: path for path in paths()}
    # A page may speak of SciPy's function.
    linked |= {name: path for path in paths() if not hasattr(scipy.optimize, name := path.rpartition(".")[2])}
    for path, names in members_of_classes().items():
        linked |= {f"{path.rpartition('.')[2]}.{name}": f"{path}.{name}" for name in names}
    return linked


def exists(path: str) -> bool:
    """Whether a path, such as skde.tuning.Space or skde.benchmark.records, is a name or a module."""
    try:
        resolve_name(path)
    except (AttributeError, ImportError):
        return False
    return True
