"""What a paper's table says, and under which conditions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

# The mean of the best values, and their standard deviation.
Figure = tuple[float, float]


@dataclass(frozen=True)
class Note:
    """Why some cells of a table may differ from ours.

    Attributes
    ----------
    text : str
        One sentence.
    function : str
        Of which function.
    algorithms, dims : tuple
        Of which of the paper's; empty: all.
    """

    text: str
    function: str
    algorithms: tuple[str, ...] = ()
    dims: tuple[int, ...] = ()

    def is_of(self, function: str, dim: int, algorithm: str) -> bool:
        """Return whether it is about that cell."""
        here = not self.algorithms or algorithm in self.algorithms
        return function == self.function and here and (not self.dims or dim in self.dims)


@dataclass(frozen=True)
class Tuning:
    """How a paper found the parameters of its algorithms, by iterated racing on its functions.

    Attributes
    ----------
    table : int
        The number of the table that has them.
    dim : int
        Variables of the functions.
    max_experiments : int
        Of every algorithm.
    budget : str
        Of an experiment.
    parameters : mapping of str to tuple of str
        By algorithm, what was tuned; the rest is as in the algorithm's preset of the paper.
    preset, test : str
        The kind of race, and what eliminates, as `RacingTuner` has them.
    """

    table: int
    dim: int
    max_experiments: int
    budget: str
    parameters: Mapping[str, tuple[str, ...]]
    preset: str = "irace-2011"
    test: str = "friedman"


@dataclass(frozen=True)
class Paper:
    """One table.

    Attributes
    ----------
    name : str
        What the command and the algorithms' presets call it.
    title : str
        Authors, title, place, which table.
    table : int
        Its number.
    suite : str
        The functions, in the form that the paper ran, as `skde bench run` knows them.
    runs : int
        What a mean is taken over.
    zero : float
        Means below are zero.
    figures : mapping of (str, int) to mapping of str to (float, float)
        For an algorithm in a dimension: function -> mean and standard deviation.
    notes : tuple of Note
        What explains cells; the first that fits counts.
    tuning : Tuning or None
        How the algorithms' parameters were found.
    """

    name: str
    title: str
    table: int
    suite: str
    runs: int
    zero: float
    figures: Mapping[tuple[str, int], Mapping[str, Figure]]
    notes: tuple[Note, ...] = ()
    tuning: Tuning | None = None

    @property
    def algorithms(self) -> list[str]:
        """The algorithms that it has, by their registry names."""
        return list(dict.fromkeys(algorithm for algorithm, _ in self.figures))

    @property
    def dims(self) -> list[int]:
        """The dimensions that it has."""
        return list(dict.fromkeys(dim for _, dim in self.figures))

    def note(self, function: str, dim: int, algorithm: str) -> str:
        """Return what explains a cell, or nothing."""
        return next((note.text for note in self.notes if note.is_of(function, dim, algorithm)), "")


class Values(NamedTuple):
    """What a table says of the values that runs found."""

    best: float
    median: float
    mean: float
    std: float
    worst: float


class Milliseconds(NamedTuple):
    """What a table says of the time of one run: mean and standard deviation, on a GPU and on a CPU."""

    gpu: Figure
    cpu: Figure


@dataclass(frozen=True)
class MinMaxPaper:
    """Tables of co-evolution: values and times of one algorithm, with some strategies and sizes of population.

    Attributes
    ----------
    name : str
        What the command and the preset of `MinMaxSolver` call it.
    title : str
        Authors, title, place, which tables.
    suite : str
        The problems.
    runs : int
        What a mean is taken over.
    budget : str
        Of a run, such as "200cycles".
    strategies : tuple of str
        Of the algorithm.
    pop_sizes : tuple of int
        Individuals on each side.
    values : mapping of (str, int) to mapping of str to Values
        For a strategy with a size of population: function -> what was found.
    milliseconds : mapping of (str, int) to mapping of str to Milliseconds
        Likewise: function -> how long it took.
    notes : tuple of Note
        What is to be known of functions.
    """

    name: str
    title: str
    suite: str
    runs: int
    budget: str
    strategies: tuple[str, ...]
    pop_sizes: tuple[int, ...]
    values: Mapping[tuple[str, int], Mapping[str, Values]]
    milliseconds: Mapping[tuple[str, int], Mapping[str, Milliseconds]]
    notes: tuple[Note, ...] = ()

    @property
    def functions(self) -> list[str]:
        """The functions that it has."""
        return list(dict.fromkeys(name for table in self.milliseconds.values() for name in table))
