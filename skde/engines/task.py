"""The record that passes the arrays of a batch, and of its objective, to the kernels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import skde._cpu as _cpu
from skde.arrays import address
from skde.constants import CONSTANTS
from skde.typing import Array

MAX_ARRAYS = CONSTANTS["MAX_ARRAYS"]
WORD, NUMBER = np.dtype(np.int64), np.dtype(np.float64)

# Every field has eight bytes. The extension reports names and order, so that task.cuh alone defines the layout.
KINDS = dict(_cpu.task_fields())
TASK = np.dtype([(name, "f8" if kind == "number" else "i8") for name, kind in KINDS.items()])
DATA_OFFSET = TASK.fields["array0"][1] if TASK.fields else 0


def field_dtypes(dtype: np.dtype[Any]) -> dict[str, np.dtype[Any]]:
    """Return the dtypes of the arrays that kernels of a precision read, by the kinds of KINDS."""
    return {"reals": dtype, "words": WORD, "numbers": NUMBER}


class Decoding(NamedTuple):
    """The table and the number of typed variables and, of an objective on the CPU, the address of its function."""

    table: Array
    n: int
    function: int = 0


def fill_data(
    task: Any, arrays: tuple[Array, ...], dtype: Any, device: int | None, decoding: Decoding | None = None
) -> None:
    """Write the addresses and sizes of the objective's arrays into a task, and its typed variables."""
    if decoding is not None:
        task["variables"] = address(decoding.table, dtype, device=device)
        task["n_variables"], task["function"] = decoding.n, decoding.function
    for k in range(MAX_ARRAYS):
        task[f"array{k}"] = address(arrays[k], dtype, device=device) if k < len(arrays) else 0
        task[f"size{k}"] = arrays[k].size if k < len(arrays) else 0
