"""Compiled games of typed variables."""

from __future__ import annotations

from dataclasses import dataclass

from skde.engines.game import Game
from skde.typing import FloatArray
from skde.variables import Variables


@dataclass(frozen=True)
class DecodedGame:
    """A compiled game of typed variables, as one of the components that two algorithms search.

    Attributes
    ----------
    game : Game
        The game of the values.
    x, y : Variables
        The variables of both sides.
    """

    game: Game
    x: Variables
    y: Variables

    @property
    def number(self) -> int:
        """The game's index in games.cuh."""
        return self.game.number

    @property
    def cpp_type(self) -> str:
        """Its C++ type."""
        return f"DecodedGame<{self.game.cpp_type}>"

    @property
    def arrays(self) -> tuple[FloatArray, ...]:
        """The arrays that the functor reads."""
        return self.game.arrays

    @property
    def scratch(self) -> int:
        """Vectors of the longer side's components, for the values of a point and the game's own vectors."""
        dim = max(len(self.x.box), len(self.y.box))
        return -(-max((1 + self.game.scratch) * len(self.x), len(self.y), dim) // dim)


def variables_of_sides(game: Game | DecodedGame) -> tuple[Variables | None, Variables | None]:
    """Return the variables that the kernels decode: both sides', or none."""
    return (game.x, game.y) if isinstance(game, DecodedGame) else (None, None)
