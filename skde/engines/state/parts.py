"""The division of runs, and of their state, into consecutive parts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from skde.engines.state.batch_arrays import SAVED, axes_in_file


def ranges(n: int, parts: int) -> list[tuple[int, int]]:
    """Return the begin and end of consecutive parts of n runs; their sizes differ by one at most."""
    ends = [n * k // parts for k in range(parts + 1)]
    return list(pairwise(ends))


def cut(state: dict[str, Any], begin: int, end: int) -> dict[str, Any]:
    """Return the part of a batch's state for the runs begin ... end - 1."""
    return {name: array[(slice(None),) * run_axis(name) + (slice(begin, end),)] for name, array in state.items()}


def join(states: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the state of a batch from its parts'."""
    return {name: np.concatenate([state[name] for state in states], run_axis(name)) for name in states[0]}


def run_axis(name: str) -> int:
    """Return the axis of the runs in an array of a checkpoint; its name may have a prefix, as "x.extra"."""
    own = name.rpartition(".")[2]
    return axes_in_file(own).index("R") if own in SAVED else 0
