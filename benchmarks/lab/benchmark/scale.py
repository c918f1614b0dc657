"""Measurements of speed over populations, dimensions and runs: `skde bench speed --scale`."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import numpy as np

from skde import Problem, get_problem
from skde.benchmark import provenance
from skde.benchmark.generations import device_seconds, generation_us, new_batch, new_spec
from skde.benchmark.peers import CR, C, F, Run, W
from skde.benchmark.scale_peers import PEERS, ScalePeer, scale_peer_notes
from skde.benchmark.scale_sizes import (
    MOST_GENERATIONS,
    PROBLEM,
    Cell,
    ScaleSettings,
    algorithm_of_size,
    batch_bytes,
    largest_population,
    read_cell,
    trials_of,
)
from skde.benchmark.speed import driver
from skde.engines import DeviceEngine
from skde.engines.state.batch_arrays import check_batch_memory
from skde.utils.memory import check_memory, gpu_memory, host_memory

Say = Callable[[str], None]

COPY_BYTES = 2**30
COPIES = 5
LEAST_GENERATIONS = 2
LEAST_WARM, MOST_WARM = 2, 100
# A peer's time is a run's less a shorter run's.
PEER_SHORT, PEER_TIMES = 2, 5
DIGITS = 4


@dataclass
class Series:
    """The measurements of one program, ours or a peer's, at one cell."""

    name: str
    cell: Cell
    measure: Callable[[], float]  # returns microseconds a generation
    us: list[float] = field(default_factory=list)


class Forecast:
    """Times of a generation at larger sizes, from those at smaller ones."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, ...], list[tuple[int, float]]] = {}

    def add(self, name: str, cell: Cell, seconds: float) -> None:
        """Note the seconds of a generation."""
        self._seen.setdefault(self._key(name, cell), []).append((cell.components, seconds))

    def seconds(self, name: str, cell: Cell) -> float:
        """Return the seconds of a generation to expect: 0 for the first size, then at least proportional to it."""
        seen = self._seen.get(self._key(name, cell), [])
        if not seen:
            return 0.0
        exponent = 1.0
        if len(seen) > 1 and seen[-1][0] > seen[-2][0]:
            (small, before), (large, after) = seen[-2:]
            exponent = min(max(math.log(after / before) / math.log(large / small), 1.0), 2.0)
        size, spent = seen[-1]
        return spent * math.pow(cell.components / size, exponent)

    @staticmethod
    def _key(name: str, cell: Cell) -> tuple[str, ...]:
        return name, cell.axis, cell.algorithm, cell.dtype


class ScaleMeasurement:
    """The measurement, which has a record at any time.

    Parameters
    ----------
    engine : DeviceEngine
        The device; the CPU with one thread.
    settings : ScaleSettings
        The sizes and limits.
    say : callable
        Called with the name of the next part.
    """

    def __init__(self, engine: DeviceEngine, settings: ScaleSettings, say: Say = lambda text: None) -> None:
        self.engine, self.settings, self.say = engine, settings, say
        with engine.device_context:
            self.available = host_memory() if engine.xp is np else gpu_memory(engine.xp)
        self.copies: list[float] = []
        self.cells: list[tuple[Series, list[Series]]] = []  # ours and the peers'
        self.left_out: list[dict[str, Any]] = []
        self.complete = False
        self._forecast = Forecast()

    def run(self) -> None:
        """Measure all cells in turn, several times; in the first turn each is prepared, which compiles and warms up.

        So an interruption leaves a figure of every cell that was measured.
        """
        with self.engine.device_context:
            self._run()

    def _run(self) -> None:
        self.say("copies")
        self.copies = copy_rates(self.engine, self.available)
        for cell in self.settings.cells():
            self.say(str(cell))
            prepared = self._prepare(cell)
            if prepared:
                self._measure(*prepared)
        for repeat in range(1, self.settings.repeats):
            self.say(f"repeat {repeat + 1} of {self.settings.repeats}")
            for ours, peers in self.cells:
                self._measure(ours, peers)
        self.complete = True

    def _measure(self, ours: Series, peers: list[Series]) -> None:
        """Measure a cell once."""
        ours.us.append(ours.measure())
        for peer in list(peers):
            self._repeat(peer, peers)

    def _prepare(self, cell: Cell) -> tuple[Series, list[Series]] | None:
        """Add and return a cell with its peers, or add the reason why it is left out."""
        algorithm, problem = algorithm_of_size(cell.algorithm, cell.pop_size), get_problem(PROBLEM, dim=cell.dim)
        length = algorithm.iteration_length
        try:
            spec = new_spec(algorithm, problem, 1, 2 * length, dtype=cell.dtype)
            check_batch_memory(spec, cell.n_runs, self.engine.xp)
            self._check_time("skde", cell, length * (LEAST_WARM + LEAST_GENERATIONS))
        except (MemoryError, TimeoutError) as error:
            self._leave_out("skde", cell, error)
            return None
        make = partial(new_batch, self.engine, algorithm, problem, cell.n_runs, dtype=cell.dtype)
        spent = generation_us(self.engine, make, length, length) * 1e-6
        self._forecast.add("skde", cell, spent)
        generations, warm = lengths(spent, self.settings.seconds, length)
        peers: list[Series] = []
        measure = partial(generation_us, self.engine, make, generations, warm)
        ours = Series("skde", cell, measure)
        self.cells.append((ours, peers))
        if cell.n_runs == 1:
            for peer in PEERS:
                if peer.has(cell.algorithm, cell.dtype, self.engine.name) and peer.present:
                    self._prepare_peer(peer, problem, cell, peers)
        return ours, peers

    def _prepare_peer(self, peer: ScalePeer, problem: Problem, cell: Cell, peers: list[Series]) -> None:
        """Add a peer to a cell, or the reason why it is left out."""
        try:
            pairs = peer.square_arrays * cell.pop_size**2 * cell.itemsize
            check_memory(f"{peer.name} with {cell.pop_size} individuals", pairs, "take fewer", self.engine.xp)
            self._check_time(peer.name, cell, PEER_SHORT * (PEER_TIMES + 1))
            run = peer.make(problem, cell.pop_size, cell.dtype, self.engine.name)
            for _ in range(2):  # torch.compile may compile the third generation again
                run(PEER_SHORT)
            spent = seconds_of(run, PEER_SHORT) / PEER_SHORT
            self._forecast.add(peer.name, cell, spent)
            self._check_time(peer.name, cell, PEER_SHORT * (PEER_TIMES + 1))
            short = min(
                max(int(self.settings.seconds / spent / PEER_TIMES), PEER_SHORT), MOST_GENERATIONS // PEER_TIMES
            )
            for generations in (short, PEER_TIMES * short):
                run(generations)
        except (MemoryError, TimeoutError, RuntimeError) as error:
            self._leave_out(peer.name, cell, error)
            return
        peers.append(Series(peer.name, cell, partial(peer_us, run, short, PEER_TIMES * short)))

    def _repeat(self, peer: Series, peers: list[Series]) -> None:
        """Measure a peer once; one that fails is left out from then on."""
        try:
            peer.us.append(peer.measure())
        except (MemoryError, RuntimeError) as error:
            peers.remove(peer)
            self._leave_out(peer.name, peer.cell, error)

    def _check_time(self, name: str, cell: Cell, generations: int) -> None:
        """Refuse a figure that would take too long in its shortest form.

        Raises
        ------
        TimeoutError
            With the time of a generation.
        """
        expected, limit = self._forecast.seconds(name, cell), self.settings.limit
        if expected * generations * (self.settings.repeats + 1) > limit:
            raise TimeoutError(
                f"a generation would take about {expected:.2g} s; {self.settings.repeats} repeats of "
                f"{generations} generations take more than the limit of {limit:g} s"
            )

    def _leave_out(self, name: str, cell: Cell, error: Exception) -> None:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        self.left_out.append({"program": name, **asdict(cell), "reason": reason})

    def record(self, command: str = "") -> dict[str, Any]:
        """Return the record of all that has been measured, ready for JSON."""
        engine = self.engine
        settings = {"problem": PROBLEM, "F": F, "CR": CR, "w": W, "c1": C, "c2": C, **asdict(self.settings)}
        return {
            **provenance(command),
            "device": engine.name,
            "driver": None if engine.xp is np else driver(engine),
            "settings": {**settings, "peers": scale_peer_notes()},
            "complete": self.complete,
            "memory": {
                "available": self.available,
                "copy_bytes_per_second": [round_figure(rate) for rate in self.copies],
            },
            "figures": [self._row(ours, peers) for ours, peers in self.cells if ours.us],
            "left_out": [*self.left_out, *self._find_unmeasured()],
        }

    def _find_unmeasured(self) -> list[dict[str, Any]]:
        """Return the cells that an interruption left without a figure."""
        done = {ours.cell for ours, _ in self.cells if ours.us}
        done |= {read_cell(entry) for entry in self.left_out if entry["program"] == "skde"}
        missing = [cell for cell in self.settings.cells() if cell not in done]
        return [{"program": "skde", **asdict(cell), "reason": "interrupted"} for cell in missing]

    def _row(self, ours: Series, peers: list[Series]) -> dict[str, Any]:
        cell = ours.cell
        trials = trials_of(cell.algorithm, cell.pop_size)
        return {
            **asdict(cell),
            "trials": trials,
            "us": [round_figure(us) for us in ours.us],
            "bytes": round_figure(
                batch_bytes(cell.algorithm, cell.dtype, cell.dim, trials, cell.n_runs) / cell.n_runs / trials
            ),
            "largest": largest_population(cell.algorithm, cell.dtype, cell.dim, cell.n_runs, self.available),
            "peers": {peer.name: [round_figure(us) for us in peer.us] for peer in peers if peer.us},
        }


def lengths(spent: float, seconds: float, iteration: int) -> tuple[int, int]:
    """Return the generations to measure in a number of seconds, and those before them, in whole iterations."""
    fit = int(min(max(seconds / spent, LEAST_GENERATIONS), MOST_GENERATIONS))
    warm = min(max(fit // 4, LEAST_WARM), MOST_WARM)
    return -(-fit // iteration) * iteration, -(-warm // iteration) * iteration


def seconds_of(run: Run, generations: int) -> float:
    """Return the seconds of a peer's run."""
    begin = time.perf_counter()
    run(generations)
    return time.perf_counter() - begin


def peer_us(run: Run, short: int, long: int) -> float:
    """Return a peer's microseconds a generation, without the fixed cost of a run.

    Raises
    ------
    RuntimeError
        If the longer run took no longer than the shorter one.
    """
    spent = -seconds_of(run, short) + seconds_of(run, long)
    if spent <= 0:
        raise RuntimeError(f"{long} generations took no longer than {short}")
    return spent * 1e6 / (long - short)


def copy_rates(engine: DeviceEngine, available: int | None) -> list[float]:
    """Return the bytes a second, read and written, of copies in the device's memory: the limit of its bandwidth."""
    size = min(COPY_BYTES, (available or COPY_BYTES) // 8) // 8
    source, target = engine.xp.ones(size), engine.xp.zeros(size)
    work = partial(engine.copy_array, target, source)
    return [2 * source.nbytes / device_seconds(engine, work) for _ in range(COPIES + 1)][1:]


def round_figure(value: float) -> float:
    """Return a value in the digits of a record."""
    return float(f"{value:.{DIGITS}g}")
