"""Typed variables."""

from __future__ import annotations

from skde.variables.kinds import (
    KINDS,
    LARGEST_INTEGER,
    Categorical,
    Fixed,
    Integer,
    Log,
    Ordinal,
    Real,
    Variable,
    nameless,
)
from skde.variables.space import Variables, as_variables, check_variables

__all__ = [
    "KINDS",
    "LARGEST_INTEGER",
    "Categorical",
    "Fixed",
    "Integer",
    "Log",
    "Ordinal",
    "Real",
    "Variable",
    "Variables",
    "as_variables",
    "check_variables",
    "nameless",
]
