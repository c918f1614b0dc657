"""The spec of a batch, and the interface of a compiled objective."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from skde.algorithms.base import StateSizes
from skde.algorithms.population_size import PopulationSchedule
from skde.islands import Archipelago
from skde.typing import FloatArray, IntArray
from skde.variables import Variables

# Length of one engine call: time limits, callbacks and Ctrl-C wait for its end.
CHUNK_SECONDS = 0.04


class CompiledDefaults:
    """The facts of a compiled objective that most kinds share; a kind derives from this class and changes its own."""

    @property
    def cpu_only(self) -> str | None:
        """The reason why it cannot run on a GPU, nor in another process; None where it can."""
        return None

    @property
    def cuda_options(self) -> tuple[str, ...]:
        """Options of NVRTC."""
        return ()

    @property
    def repeated(self) -> int:
        """Number of the vectors that every point needs where several are evaluated together; 0: none are."""
        return 0

    @property
    def decoded_variables(self) -> Variables | None:
        """The typed variables that it decodes; None where it gets the points themselves."""
        return None

    def value_address(self, single: bool) -> int:
        """Return the address of the function of the decoded values on the CPU."""
        return 0


class Compiled(Protocol):
    """A compiled objective, which kernels call: a problem of the registry or a user's DeviceObjective.

    It states its forms: a CPU asks for an address, a GPU for a C++ type. Its class derives from `CompiledDefaults`.
    """

    @property
    def cpp_type(self) -> str:
        """The functor's C++ type."""

    @property
    def scratch(self) -> int:
        """Number of vectors of length dim that one evaluation needs as working memory."""

    @property
    def arrays(self) -> tuple[FloatArray, ...]:
        """The arrays that the functor reads, in its order; where it has `cpu_only`, also some of int64."""

    def cpu_address(self, single: bool) -> int:
        """Return the address of the function on the CPU, for float32 (`single`) or float64."""

    @property
    def cpu_only(self) -> str | None:
        """As in `CompiledDefaults`, like those below."""

    @property
    def cuda_options(self) -> tuple[str, ...]:
        """Options of NVRTC."""

    @property
    def repeated(self) -> int:
        """Number of vectors for every further point."""

    @property
    def decoded_variables(self) -> Variables | None:
        """The typed variables that it decodes."""

    def value_address(self, single: bool) -> int:
        """Return the address of the function of the decoded values."""


@dataclass(repr=False, eq=False)
class Spec:
    """The spec of a batch of R runs, checked."""

    algorithm: str
    parameters: FloatArray  # (R, number of parameters); column 0 is pop_size
    seeds: IntArray  # (R,), uint64
    lower: FloatArray  # (D,)
    upper: FloatArray  # (D,)
    limits: IntArray  # (R,) the number of the last generation
    start: FloatArray  # (n, D), the first rows of every initial population; n may be 0
    constants: tuple[str, ...] = ()  # parameters that kernels may be compiled for, where they are equal in all runs
    needs: StateSizes = field(default_factory=StateSizes)
    schedules: tuple[PopulationSchedule, ...] = ()  # (R,)
    islands: Archipelago = field(default_factory=Archipelago)  # consecutive runs that exchange individuals
    target: float | None = None
    tol: float | None = None
    atol: float = 0.0
    converging: float = float("inf")  # tol and atol end runs with a value below; with constraints the feasible ones
    stagnation: int | None = None
    run_seconds: float | None = None  # time limit of each run by its own clock; only for execution "run"
    pause_seconds: float = 0.0  # by a run's own clock, after which it returns to the host
    dtype: np.dtype[Any] = field(default_factory=lambda: np.dtype("float64"))
    recorded: bool = True  # whether there is a history of best values
    variables: Variables | None = None  # with the box lower and upper; None: real ones
    pop_max: int = 0  # rows of a population; 0: as in the largest one
    last: int = 0  # the largest limit so far
    iteration: int = 1  # generations of the longest iteration

    def __post_init__(self) -> None:
        if self.run_seconds is not None and self.islands.n_islands > 1:
            raise ValueError(
                "run_seconds must be None with islands: the islands of one run must be at the same generation"
            )
        sizes = [max(schedule.sizes) for schedule in self.schedules] or self.parameters[:, 0].tolist()
        self.pop_max = self.pop_max or int(max(sizes)) + self.needs.references
        self.last = max(self.last, int(self.limits.max()))
        self._check_archive()

    def _check_archive(self) -> None:
        """Refuse an archive with more points than numbers of the dtype, which are the trials' rows, tell apart."""
        most = 2 ** (np.finfo(self.dtype).nmant + 1)
        if self.needs.archive > most:
            raise ValueError(
                f"an archive of {self.needs.archive} points needs dtype='float64', because {self.dtype} allows {most}; "
                "or take a smaller archive_rate or pop_size"
            )

    @property
    def n_runs(self) -> int:
        """Number of runs, each island counted."""
        return len(self.seeds)

    @property
    def size_text(self) -> str:
        """The number of runs as errors name it."""
        return f"n_runs * n_islands = {self.n_runs} populations"

    def repeat(self, times: int, seeds: IntArray, limits: IntArray) -> Spec:
        """Return the spec in which every run occurs `times` times in a row, with these seeds and limits."""
        spec = copy(self)
        spec.seeds, spec.limits = seeds, limits
        spec.last = max(spec.last, int(limits.max()))
        if times > 1:
            spec.parameters = np.repeat(self.parameters, times, 0)
            spec.schedules = tuple(schedule for schedule in self.schedules for _ in range(times))
        return spec

    def share_islands(self, rows: Sequence[tuple[int, int]]) -> Archipelago:
        """Return the migration between parts: none, where every run has all its islands in one part."""
        whole = all(begin % self.islands.n_islands == 0 for begin, _ in rows)
        return replace(self.islands, every=0) if whole else self.islands

    def parts(self, rows: Sequence[tuple[int, int]]) -> list[Spec]:
        """Return the specs of parts; the kernels migrate only where no migration crosses parts."""
        every = 0 if self.share_islands(rows).every else self.islands.every
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
