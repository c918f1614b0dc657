"""Compiled games, and the task in which points are opponents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import skde._cpu as _cpu
from skde.constants import CONSTANTS
from skde.engines.state.task import MAX_ARRAYS, Task
from skde.typing import Array, FloatArray
from skde.utils.arrays import contiguous, device_of


@dataclass(repr=False, eq=False)
class Game:
    """A compiled game: its name in games.cuh, its arrays, and the numbers of constraints of a Lagrangian.

    Attributes
    ----------
    kernel : str
        The name.
    arrays : tuple of ndarray
        The arrays that the functor reads.
    inequalities, equalities : int
        Numbers of constraints; 0, 0 for a function of x and y.
    """

    kernel: str
    arrays: tuple[FloatArray, ...] = ()
    inequalities: int = 0
    equalities: int = 0

    def __post_init__(self) -> None:
        # Opponents take some of a functor's arrays, and the penalty factors of a Lagrangian take one.
        most = MAX_ARRAYS - CONSTANTS["OPPONENT_ARRAYS"] - (self.scratch > 0)
        if len(self.arrays) > most:
            raise ValueError(f"the game {self.kernel!r} reads {len(self.arrays)} arrays, at most {most} have room")

    @property
    def number(self) -> int:
        """Its index in games.cuh."""
        return int(_cpu.games()[self.kernel][0])

    @property
    def cpp_type(self) -> str:
        """Its C++ type."""
        return str(_cpu.games()[self.kernel][1])

    @property
    def scratch(self) -> int:
        """Vectors of working memory for the features of x."""
        constraints = self.inequalities + self.equalities
        return 1 + constraints if constraints else 0


def opponent_task(game: Game, X: Array, Y: Array, xp: Any) -> tuple[Task, tuple[Array, ...]]:
    """Return a task with the rows of Y as opponents of the rows of X, and the arrays that must stay alive."""
    columns = contiguous(Y.T, X.dtype)
    own = tuple(xp.asarray(contiguous(np.asarray(array), X.dtype)) for array in game.arrays)
    task = Task()
    task.fill_data((columns, columns, columns, *own), X.dtype, device_of(X))
    for k, size in enumerate((len(Y), len(Y), Y.shape[1])):
        task.record[f"size{k}"] = size
    return task, (columns, *own)
