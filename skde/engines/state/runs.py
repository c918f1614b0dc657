"""The interface of a batch for a Runner."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np

from skde.engines.state.algorithm_kernels import state_names
from skde.engines.state.spec import Spec
from skde.typing import FloatArray, IntArray

# Arrays of individuals that are parameters of differential evolution.
ADAPTED = ("F", "CR")


class Runs(ABC):
    """The interface of a batch for a Runner: its sizes, and access to its arrays.

    Parameters
    ----------
    spec : Spec
        The spec of the batch.
    xp : module
        NumPy or CuPy.
    """

    monotone = True  # whether the best value of a run never rises

    def __init__(self, spec: Spec, xp: Any) -> None:
        self.spec = spec
        self.xp = xp
        self.n_runs, self.dim = len(spec.seeds), len(spec.lower)
        self.n_islands = spec.islands.n_islands
        self.varies = any(schedule.varies for schedule in spec.schedules)  # whether population sizes change
        self.pop_max = spec.pop_max

    @cached_property
    def pop_sizes(self) -> IntArray:
        """The size of every run's initial population, of shape (R,)."""
        return self.spec.parameters[:, 0].astype(np.int64)

    @abstractmethod
    def refresh(self) -> None:
        """Pass the current spec to the kernels."""

    @abstractmethod
    def put(self, name: str, values: Any) -> None:
        """Write one of the arrays, from the host."""

    @abstractmethod
    def host(self, name: str) -> Any:
        """Return one of the arrays as a NumPy array."""

    def find_bests(self) -> None:  # noqa: B027
        """Find again the values that the stopping rules read, where the kernels may not have stored them."""

    def progress(self) -> dict[str, Any]:
        """Return status, generation and seconds (`spent`) of all runs as NumPy arrays."""
        return {name: self.host(name) for name in ("status", "generation", "spent")}

    @abstractmethod
    def population(self, run: int) -> tuple[FloatArray, FloatArray]:
        """Return a run's population (P, D) and its values (P,), on the host."""

    @abstractmethod
    def points(self, generation: IntArray, runs: IntArray, individuals: IntArray) -> FloatArray:
        """Return positions (n, D), on the host: one of an individual of each of these runs, which are in order.

        All runs are in `generation`.
        """

    @abstractmethod
    def best(self, generation: IntArray | None = None) -> tuple[IntArray, FloatArray]:
        """Return the row of every run's best individual and its value (NaN where all values are NaN).

        All runs are in `generation`, where it has been read.
        """

    @abstractmethod
    def parameter_values(self, name: str, generation: IntArray) -> FloatArray:
        """Return one of the `adapted` parameters of all rows, of shape (R, P), on the host.

        All runs are in `generation`.
        """

    @property
    def adapted(self) -> list[str]:
        """Which of F and CR every individual has for itself."""
        return [name for name in state_names(self.spec)[0] if name in ADAPTED]

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Return the state for a checkpoint, as NumPy arrays: the current halves and the progress."""

    @abstractmethod
    def restore(self, saved: dict[str, Any]) -> None:
        """Continue from what `state` returned."""

    def set_limits(self, limits: IntArray) -> None:
        """Set new limits; stopped runs below them run on."""
        before = self.spec.limits, self.spec.last
        self.spec.limits, self.spec.last = limits, max(self.spec.last, int(limits.max()))
        try:
            self.refresh()
        except BaseException:  # there is no memory for the history
            self.spec.limits, self.spec.last = before
            raise

    def sizes(self, g: Any) -> IntArray:
        """Return the size of every run's generation g, of shape (R,)."""
        generations = np.broadcast_to(g, self.n_runs)
        return np.array([schedule.size(int(g)) for schedule, g in zip(self.spec.schedules, generations, strict=True)])

    def evals(self, g: Any) -> IntArray:
        """Return every run's evaluations up to the end of generation g, of shape (R,)."""
        generations = np.broadcast_to(g, self.n_runs)
        return np.array([schedule.evals(int(g)) for schedule, g in zip(self.spec.schedules, generations, strict=True)])
