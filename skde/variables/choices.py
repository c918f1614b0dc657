"""Choices of variables: the objects that users give, as plain values of Python, and as data in files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

# The keys of a scalar of NumPy in a file.
TYPE, VALUE = "numpy", "value"
FILED_KINDS = "biufU"  # of NumPy's scalars that a file keeps with their type


def as_plain(choice: Any) -> Any:
    """Return the value of Python that a scalar of NumPy has; anything else as it is."""
    return choice.item() if isinstance(choice, np.generic) else choice


def is_filed(choice: Any) -> bool:
    """Return whether a file gives a number or text back as it is, with its type."""
    if isinstance(choice, np.generic):
        return choice.dtype.kind in FILED_KINDS and not isinstance(choice, np.longdouble)
    return type(choice) in (bool, int, float, str)


def describe_choice(choice: Any) -> Any:
    """Return a choice as JSON can say it, a scalar of NumPy with its type."""
    if isinstance(choice, np.generic):
        return {TYPE: type(choice).__name__, VALUE: choice.item()}
    return choice


def read_choice(described: Any) -> Any:
    """Return the choice that `describe_choice` described."""
    if not isinstance(described, Mapping):
        return described
    kind = getattr(np, str(described.get(TYPE)), None)
    if described.keys() != {TYPE, VALUE} or not (isinstance(kind, type) and issubclass(kind, np.generic)):
        raise ValueError(f"a choice must be a value, or a scalar of NumPy with its type, got {described!r}")
    return kind(described[VALUE])
