"""The record that passes the arrays of a batch, and of its objective, to the kernels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import skde._cpu as _cpu
from skde.constants import CONSTANTS
from skde.typing import Array
from skde.utils.arrays import address

MAX_ARRAYS = CONSTANTS["MAX_ARRAYS"]
WORD, NUMBER = np.dtype(np.int64), np.dtype(np.float64)

# Every field has eight bytes. The extension reports names and order, so that task.cuh alone defines the layout.
KINDS = dict(_cpu.task_fields())
TASK = np.dtype([(name, "f8" if kind == "number" else "i8") for name, kind in KINDS.items()])
PLACES = {name: place for place, name in enumerate(KINDS)}  # the numbers of the fields


def field_dtypes(dtype: np.dtype[Any]) -> dict[str, np.dtype[Any]]:
    """Return the dtypes of the arrays that kernels of a precision read, by the kinds of KINDS."""
    return {"reals": dtype, "words": WORD, "numbers": NUMBER}


class Decoding(NamedTuple):
    """The table and the number of typed variables and, of an objective on the CPU, the address of its function."""

    table: Array
    n: int
    function: int = 0


class Task:
    """The record, zeroed.

    Attributes
    ----------
    words, numbers : ndarray of int64, ndarray of float64
        Its fields in their order, as integers and as numbers. An entry is written several times as fast as a field.
    record : numpy.void
        The same memory with the fields by their names.
    address, data_address : int
        The addresses of the record, and of its part on the objective's data.
    """

    def __init__(self) -> None:
        self.words = np.zeros(len(PLACES), WORD)
        self.numbers = self.words.view(NUMBER)
        self.record: Any = self.words.view(TASK)[0]
        self.address = address(self.words, WORD, len(PLACES))
        self.data_address = self.address + PLACES["array0"] * WORD.itemsize

    def fill_data(
        self, arrays: tuple[Array, ...], dtype: Any, device: int | None, decoding: Decoding | None = None
    ) -> None:
        """Write the addresses and sizes of the objective's arrays, and its typed variables."""
        words, begins, sizes = self.words, PLACES["array0"], PLACES["size0"]
        if decoding is not None:
            words[PLACES["variables"]] = address(decoding.table, dtype, device=device)
            words[PLACES["n_variables"]], words[PLACES["function"]] = decoding.n, decoding.function
        words[begins : begins + MAX_ARRAYS] = 0
        words[sizes : sizes + MAX_ARRAYS] = 0
        for k, array in enumerate(arrays):
            words[begins + k], words[sizes + k] = address(array, dtype, device=device), array.size
