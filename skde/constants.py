"""Enumerations and constants of the kernels, which C++ defines."""

from __future__ import annotations

import skde._cpu as _cpu

# Enumerations, as {name: {member: number}}, and whole numbers by their names in C++.
ENUMERATIONS = _cpu.enumerations()
CONSTANTS = _cpu.constants()


def choices(enumeration: str) -> dict[str, int]:
    """Return the numbers of an enumeration's members by the names that users write: C++'s in lower case."""
    return {member.lower(): number for member, number in ENUMERATIONS[enumeration].items()}
