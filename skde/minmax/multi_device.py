"""Co-evolutions on several devices of one host: each has a part of the runs, and a thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from skde.engines import Coevolution, CoevolutionSpec, IncumbentRuns, MultiDeviceEngine
from skde.engines.batch import ranges
from skde.engines.coevolution import check_rounds
from skde.engines.device_threads import DeviceThreads, IslandBarrier
from skde.engines.multi_device import SplitBatch
from skde.minmax.engine import CoevolutionEngine


class SplitCoevolution(IncumbentRuns, SplitBatch):
    """A co-evolution in consecutive parts, one a device: the answers, with the two sides.

    Parameters
    ----------
    rounds : CoevolutionSpec
        What to run.
    arenas : sequence of CoevolutionEngine
        Where.
    """

    parts: list[Coevolution]

    def __init__(self, rounds: CoevolutionSpec, arenas: Sequence[CoevolutionEngine]) -> None:
        rows = ranges(len(rounds.answers.seeds), len(arenas))
        pairs = [arena.batch(part) for arena, part in zip(arenas, rounds.parts(rows), strict=True)]
        super().__init__(rounds.answers, pairs)
        self.rounds, self.constraints = rounds, pairs[0].constraints
        self.x = SplitBatch(rounds.x, [pair.x for pair in pairs])
        self.y = SplitBatch(rounds.y, [pair.y for pair in pairs])


class MultiDeviceCoevolution:
    """The engine of co-evolutions on several devices, to the bit as on one of them.

    Parameters
    ----------
    fleet : MultiDeviceEngine
        Where.
    """

    def __init__(self, fleet: MultiDeviceEngine) -> None:
        self.arenas = [CoevolutionEngine(engine) for engine in fleet.engines]
        self.name, self.xp, self.chunk_seconds = fleet.name, fleet.xp, fleet.chunk_seconds
        self.crew = DeviceThreads(self.arenas)

    @property
    def here(self) -> Any:
        """What is looked at lies on the first device."""
        return self.arenas[0].here

    def apply(self, work: Callable[[Any], None]) -> None:
        """Call work(xp) on the first device."""
        self.arenas[0].apply(work)

    def batch(self, rounds: CoevolutionSpec) -> SplitCoevolution:
        """Allocate a co-evolution.

        Raises
        ------
        ValueError
            For fewer runs than devices.
        """
        n_runs = len(rounds.answers.seeds)
        if n_runs < len(self.arenas):
            raise ValueError(f"device has {len(self.arenas)} entries, more than n_runs={n_runs}")
        if self.xp is np:  # all parts are in the same memory
            check_rounds(rounds)
        return SplitCoevolution(rounds, self.arenas)

    @contextmanager
    def share(self, pair: SplitCoevolution, objective: Any, execution: str) -> Iterator[None]:
        """Within this context, cycles are those of a compiled game, or of an objective's `pairs`."""
        with ExitStack() as stack:
            for arena, part in zip(self.arenas, pair.parts, strict=True):
                stack.enter_context(arena.share(part, objective, execution))
            yield

    def run(self, pair: SplitCoevolution, begin: int, until: int) -> None:
        """Run whole cycles up to number `until`, from `begin`, that of the runs furthest behind."""

        def work(k: int, meeting: IslandBarrier) -> None:
            self.arenas[k].run(pair.parts[k], begin, until)

        self.crew.together(work)

    def synchronize(self) -> None:
        """Nothing to wait for: calls return when the work is done."""
