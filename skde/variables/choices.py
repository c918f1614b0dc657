"""Choices of variables: the objects that users give, as plain values of Python, and as data in files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

# The keys of a scalar of NumPy in a file.
TYPE, VALUE = "numpy", "value"
TUPLE = "tuple"  # the key of a tuple in a file
PLAIN = (str, int, float, bool, type(None))
FILED_KINDS = "biufU"  # of NumPy's scalars that a file keeps with their type


def as_plain(choice: Any) -> Any:
    """Return the value of Python that a scalar of NumPy has, also within a tuple; anything else as it is."""
    if type(choice) is tuple:
        return tuple(map(as_plain, choice))
    return choice.item() if isinstance(choice, np.generic) else choice


def is_choice(choice: Any) -> bool:
    """Return whether something is text, a number, a bool, None, or a tuple of these."""
    return all(map(is_choice, choice)) if type(choice) is tuple else isinstance(as_plain(choice), PLAIN)


def is_filed(choice: Any) -> bool:
    """Return whether a file gives a number or text back as it is, with its type."""
    if isinstance(choice, np.generic):
        return choice.dtype.kind in FILED_KINDS and not isinstance(choice, np.longdouble)
    return type(choice) in (bool, int, float, str)


def describe_choice(choice: Any) -> Any:
    """Return a choice as JSON can say it, a tuple, or a scalar of NumPy with its type."""
    if isinstance(choice, tuple):
        return {TUPLE: list(map(describe_choice, choice))}
    if isinstance(choice, np.generic):
        return {TYPE: type(choice).__name__, VALUE: choice.item()}
    return choice


def read_choice(described: Any) -> Any:
    """Return the choice that `describe_choice` described."""
    if not isinstance(described, Mapping):
        return described
    if described.keys() == {TUPLE} and isinstance(described[TUPLE], list):
        return tuple(map(read_choice, described[TUPLE]))
    kind = getattr(np, str(described.get(TYPE)), None)
    if described.keys() != {TYPE, VALUE} or not (isinstance(kind, type) and issubclass(kind, np.generic)):
        raise ValueError(f"a choice must be a value, a tuple, or a scalar of NumPy with its type, got {described!r}")
    return kind(described[VALUE])
