"""What a batch is made of, and what it runs: all that an engine has to be told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from skde.algorithms.base import StateSizes
from skde.algorithms.population_size import PopulationSchedule
from skde.islands import Archipelago
from skde.typing import FloatArray, IntArray

# The host hears from an engine about this often: time limits, callbacks and Ctrl-C wait no longer.
CHUNK_SECONDS = 0.04


class Compiled(Protocol):
    """An objective that the kernels can call: a problem of the registry or a user's DeviceObjective."""

    @property
    def cpp_type(self) -> str:
        """The functor's C++ type."""

    @property
    def scratch(self) -> int:
        """Vectors of length dim that one evaluation needs as working memory."""

    @property
    def arrays(self) -> tuple[FloatArray, ...]:
        """The data that the functor reads, in its order."""

    def cpu_address(self, single: bool) -> int:
        """Address of the function on the CPU, for float32 (`single`) or float64."""


@dataclass
class Spec:
    """What a batch of R runs is made of, all of it checked before."""

    algorithm: str
    parameters: FloatArray  # (R, number of parameters); column 0 is pop_size
    seeds: IntArray  # (R,), uint64
    lower: FloatArray  # (D,)
    upper: FloatArray  # (D,)
    limits: IntArray  # (R,) the number of the last generation
    start: FloatArray  # (n, D), the first rows of every initial population; n may be 0
    constants: tuple[str, ...] = ()  # parameters that kernels may be compiled for, where all runs agree
    needs: StateSizes = field(default_factory=StateSizes)
    schedules: tuple[PopulationSchedule, ...] = ()  # (R,)
    islands: Archipelago = field(default_factory=Archipelago)  # consecutive runs that belong together
    target: float | None = None
    tol: float | None = None
    stagnation: int | None = None
    run_seconds: float | None = None  # after which a run ends by its own clock; only of whole generations in the engine
    pause_seconds: float = 0.0  # of its clock, after which a run hands back to the host
    dtype: np.dtype[Any] = field(default_factory=lambda: np.dtype("float64"))
    recorded: bool = True  # whether the best value of generations is kept
    pop_max: int = 0  # rows of a population; 0: as many as the largest has
    last: int = 0  # the largest of all limits that there have been
    iteration: int = 1  # generations of the longest iteration

    def __post_init__(self) -> None:
        if self.run_seconds is not None and self.islands.n_islands > 1:
            raise ValueError("run_seconds must be None with islands: those of one run have to stay in step")
        sizes = [int(self.parameters[:, 0].max()), *(max(schedule.sizes) for schedule in self.schedules)]
        self.pop_max = self.pop_max or max(sizes) + self.needs.kept
        self.last = max(self.last, int(self.limits.max()))

    @property
    def n_runs(self) -> int:
        """Number of runs, each island counted."""
        return len(self.seeds)

    @property
    def size_text(self) -> str:
        """The number of runs as errors name it."""
        return f"n_runs * n_islands = {self.n_runs} populations"

    def repeated(self, times: int, seeds: IntArray, limits: IntArray) -> Spec:
        """Return the spec in which every run occurs `times` times in a row, with these seeds and limits."""
        if times == 1:
            return replace(self, seeds=seeds, limits=limits)
        return replace(
            self,
            parameters=np.repeat(self.parameters, times, 0),
            seeds=seeds,
            limits=limits,
            schedules=tuple(schedule for schedule in self.schedules for _ in range(times)),
        )

    def shared_islands(self, rows: Sequence[tuple[int, int]]) -> Archipelago:
        """Return how islands meet across parts, the runs begin ... end - 1: never, where all of a run are in one."""
        whole = all(begin % self.islands.n_islands == 0 for begin, _ in rows)
        return replace(self.islands, every=0) if whole else self.islands

    def parts(self, rows: Sequence[tuple[int, int]]) -> list[Spec]:
        """Return what parts are made of: islands meet by themselves or, where they do so across parts, not."""
        every = 0 if self.shared_islands(rows).every else self.islands.every
        return [
            replace(
                self,
                parameters=self.parameters[begin:end],
                seeds=self.seeds[begin:end],
                limits=self.limits[begin:end],
                schedules=self.schedules[begin:end],
                islands=replace(self.islands, every=every, first=begin % self.islands.n_islands),
            )
            for begin, end in rows
        ]
