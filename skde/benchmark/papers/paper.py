"""Tables of papers, and their conditions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

# The mean of the best values, and their standard deviation.
Figure = tuple[float, float]


@dataclass(frozen=True)
class Note:
    """The reason why some cells of a table may differ from ours.

    Attributes
    ----------
    text : str
        One sentence.
    function : str
        Name of the function.
    algorithms, dims : tuple
        The paper's algorithms and dimensions; empty: all.
    """

    text: str
    function: str
    algorithms: tuple[str, ...] = ()
    dims: tuple[int, ...] = ()

    def is_of(self, function: str, dim: int, algorithm: str) -> bool:
        """Return whether the note is about a cell."""
        here = not self.algorithms or algorithm in self.algorithms
        return function == self.function and here and (not self.dims or dim in self.dims)


@dataclass(frozen=True)
class Tuning:
    """A paper's tuning of its algorithms by iterated racing on its functions.

    Attributes
    ----------
    table : int
        Number of the table with the parameters.
    dim : int
        Number of variables of the functions.
    max_experiments : int
        Experiments of every algorithm.
    budget : str
        Budget of an experiment.
    parameters : mapping of str to tuple of str
        The tuned parameters by algorithm; the others are those of the algorithm's preset of the paper.
    preset, test : str
        Rules and test of the races, as for `RacingTuner`.
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
    """A table of a paper.

    Attributes
    ----------
    name : str
        Name of the paper in the command and in the algorithms' presets.
    title : str
        Authors, title, place, and the table.
    table : int
        Number of the table.
    suite : str
        The suite of `skde bench run` with the functions in the paper's form.
    runs : int
        Number of runs of a mean.
    zero : float
        Means below this limit are zero.
    figures : mapping of (str, int) to mapping of str to (float, float)
        For an algorithm in a dimension: function -> mean and standard deviation.
    notes : tuple of Note
        Explanations of cells; the first note on a cell counts.
    tuning : Tuning or None
        The paper's tuning of the parameters.
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
        """The paper's algorithms, by their registry names."""
        return list(dict.fromkeys(algorithm for algorithm, _ in self.figures))

    @property
    def dims(self) -> list[int]:
        """The paper's dimensions."""
        return list(dict.fromkeys(dim for _, dim in self.figures))

    def note(self, function: str, dim: int, algorithm: str) -> str:
        """Return the note on a cell, or an empty string."""
        return next((note.text for note in self.notes if note.is_of(function, dim, algorithm)), "")


class Values(NamedTuple):
    """Statistics of the best values of runs."""

    best: float
    median: float
    mean: float
    std: float
    worst: float


class Milliseconds(NamedTuple):
    """Mean and standard deviation of the time of one run, on a GPU and on a CPU."""

    gpu: Figure
    cpu: Figure


@dataclass(frozen=True)
class MinMaxPaper:
    """Tables of co-evolution: values and times of one algorithm, with some strategies and sizes of population.

    Attributes
    ----------
    name : str
        Name of the paper in the command and in the preset of `MinMaxSolver`.
    title : str
        Authors, title, place, and the tables.
    suite : str
        The problems.
    runs : int
        Number of runs of a mean.
    budget : str
        Budget of a run, such as "200cycles".
    strategies : tuple of str
        Strategies of the algorithm.
    pop_sizes : tuple of int
        Individuals on each side.
    values : mapping of (str, int) to mapping of str to Values
        For a strategy with a size of population: function -> values.
    milliseconds : mapping of (str, int) to mapping of str to Milliseconds
        For a strategy with a size of population: function -> times.
    notes : tuple of Note
        Remarks on functions.
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
        """The paper's functions."""
        return list(dict.fromkeys(name for table in self.milliseconds.values() for name in table))
