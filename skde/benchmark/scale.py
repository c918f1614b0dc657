"""Measurements of speed over populations, dimensions and runs: `skde bench speed --scale`."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cache, partial
from statistics import median
from typing import Any

import numpy as np

from skde import DE, PSO, SS, Algorithm, Problem, get_problem
from skde.algorithms import ALGORITHMS
from skde.algorithms.base import MOST_INDIVIDUALS
from skde.benchmark import provenance
from skde.benchmark.generations import constant_size, device_seconds, generation_us, new_batch, new_spec
from skde.benchmark.peers import CR, C, F, Run, W
from skde.benchmark.scale_peers import PEERS, ScalePeer, peer_notes
from skde.benchmark.speed import driver
from skde.engines import DeviceEngine
from skde.engines.batch_arrays import array_shapes, check_batch_memory, size_of
from skde.memory import check_memory, gpu_memory, host_memory, in_units
from skde.validation import DTYPES, check_choice, check_int, check_real

Say = Callable[[str], None]

PROBLEM = "rastrigin"
# Axis -> dimension, population and runs, in the order of their sizes.
AXES = {
    "population": tuple((30, 10**k, 1) for k in range(2, 7)),
    "large": ((100, 10**4, 1), (100, 10**5, 1), (1000, 10**4, 1)),
    "dimension": tuple((dim, 1000, 1) for dim in (10, 30, 100, 1000, 10**4)),
    "runs": tuple((10, 50, 10**k) for k in range(5)),
}
QUICK_COMPONENTS = 10**6  # of all individuals; --quick has no larger sizes
# Vectors of D components that a generation reads and writes for a trial, by the algorithm's equations: DE reads the
# target and three donors, and writes the survivor; CMA-ES writes a trial, and reads it for the mean. Vectors that
# all trials share, such as the best, do not count.
VECTORS = {
    **dict.fromkeys(
        (
            "de",
            "jde",
            "sade",
            "gade",
            "jade",
            "shade",
            "lshade",
            "jso",
            "lsrtde",
            "rdex",
            "arrde",
            "gode",
            "gojde",
            "soupde",
            "pso",
        ),
        5,
    ),
    "chc": 5,
    "ss": 4,
    "cmaes": 2,
}
VALUES = 2  # the old value, read, and the new one, written
MOST_POOL = 2**11 * (2**11 + 1)  # trials of SS with the most references
COPY_BYTES = 2**30
COPIES = 5
LEAST_GENERATIONS, MOST_GENERATIONS = 2, 2000
LEAST_WARM, MOST_WARM = 2, 100
# A peer's time is that of a run less that of a shorter one.
PEER_SHORT, PEER_TIMES = 2, 5
FEWEST_IN_MEMORY = 50
DIGITS = 4


@dataclass(frozen=True)
class Cell:
    """One setting of the measurement."""

    axis: str
    algorithm: str
    dtype: str
    dim: int
    pop_size: int
    n_runs: int

    @property
    def components(self) -> int:
        """Components of all individuals."""
        return self.dim * self.pop_size * self.n_runs

    @property
    def itemsize(self) -> int:
        """Bytes of a component."""
        return np.dtype(self.dtype).itemsize

    def __str__(self) -> str:
        runs = f" runs={self.n_runs}" if self.n_runs > 1 else ""
        return f"{self.algorithm} {self.dtype} D={self.dim} NP={self.pop_size}{runs}"


@dataclass(frozen=True)
class Settings:
    """The choices of the user.

    Attributes
    ----------
    algorithms, dtypes, axes : sequence of str
        Names.
    quick : bool
        Small sizes only.
    repeats : int
        Repeats of every figure.
    seconds : float
        Time of a repeat.
    limit : float
        Most seconds of one figure with all its repeats; larger sizes are left out.
    """

    algorithms: Sequence[str]
    dtypes: Sequence[str]
    axes: Sequence[str]
    quick: bool = False
    repeats: int = 5
    seconds: float = 0.2
    limit: float = 60.0

    def __post_init__(self) -> None:
        allowed = {"algorithms": ALGORITHMS, "dtypes": DTYPES, "axes": AXES}
        for name, choices in allowed.items():
            for value in getattr(self, name):
                check_choice(f"each of {name}", value, choices)
        check_int("repeats", self.repeats, 1)
        check_real("seconds", self.seconds, 0, low_open=True)
        check_real("limit", self.limit, 0, low_open=True)

    def cells(self) -> Iterator[Cell]:
        """Give the cells: for each axis, precision and algorithm from the smallest to the largest."""
        for axis in self.axes:
            for dtype in self.dtypes:
                for algorithm in self.algorithms:
                    for dim, pop_size, n_runs in AXES[axis]:
                        cell = Cell(axis, algorithm, dtype, dim, pop_size, n_runs)
                        if not self.quick or cell.components <= QUICK_COMPONENTS:
                            yield cell


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


class Scale:
    """The measurement, which has a record at any time.

    Parameters
    ----------
    engine : DeviceEngine
        The device; the CPU with one thread.
    settings : Settings
        The sizes and limits.
    say : callable
        Called with the name of the next part.
    """

    def __init__(self, engine: DeviceEngine, settings: Settings, say: Say = lambda text: None) -> None:
        self.engine, self.settings, self.say = engine, settings, say
        with engine.device_context:
            self.available = host_memory() if engine.xp is np else gpu_memory(engine.xp)
        self.copies: list[float] = []
        self.cells: list[tuple[Series, list[Series]]] = []  # ours and the peers'
        self.left_out: list[dict[str, Any]] = []
        self.complete = False
        self._forecast = Forecast()

    def run(self) -> None:
        """Measure: first every cell once, which compiles and warms up, then all cells in turn, several times."""
        with self.engine.device_context:
            self._run()

    def _run(self) -> None:
        self.say("copies")
        self.copies = copy_rates(self.engine, self.available)
        for cell in self.settings.cells():
            self.say(str(cell))
            self._prepare(cell)
        for repeat in range(self.settings.repeats):
            self.say(f"repeat {repeat + 1} of {self.settings.repeats}")
            for ours, peers in self.cells:
                ours.us.append(ours.measure())
                for peer in list(peers):
                    self._repeat(peer, peers)
        self.complete = True

    def _prepare(self, cell: Cell) -> None:
        """Add a cell with its peers, or the reason why it is left out."""
        algorithm, problem = algorithm_of_size(cell.algorithm, cell.pop_size), get_problem(PROBLEM, dim=cell.dim)
        length = algorithm.iteration_length
        try:
            spec = new_spec(algorithm, problem, 1, 2 * length, dtype=cell.dtype)
            check_batch_memory(spec, cell.n_runs, self.engine.xp)
            self._check_time("skde", cell, length * (LEAST_WARM + LEAST_GENERATIONS))
        except (MemoryError, TimeoutError) as error:
            self._leave_out("skde", cell, error)
            return
        make = partial(new_batch, self.engine, algorithm, problem, cell.n_runs, dtype=cell.dtype)
        spent = generation_us(self.engine, make, length, length) * 1e-6
        self._forecast.add("skde", cell, spent)
        generations, warm = lengths(spent, self.settings.seconds, length)
        peers: list[Series] = []
        measure = partial(generation_us, self.engine, make, generations, warm)
        self.cells.append((Series("skde", cell, measure), peers))
        if cell.n_runs == 1:
            for peer in PEERS:
                if peer.has(cell.algorithm, cell.dtype, self.engine.name) and peer.present:
                    self._prepare_peer(peer, problem, cell, peers)

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
            "settings": {**settings, "peers": peer_notes()},
            "complete": self.complete,
            "memory": {"available": self.available, "copy_bytes_per_second": [rounded(rate) for rate in self.copies]},
            "figures": [self._row(ours, peers) for ours, peers in self.cells if ours.us],
            "left_out": [*self.left_out, *self._unmeasured()],
        }

    def _unmeasured(self) -> list[dict[str, Any]]:
        """Return the cells that an interruption left without a figure."""
        done = {ours.cell for ours, _ in self.cells if ours.us}
        done |= {cell_of(entry) for entry in self.left_out if entry["program"] == "skde"}
        missing = [cell for cell in self.settings.cells() if cell not in done]
        return [{"program": "skde", **asdict(cell), "reason": "interrupted"} for cell in missing]

    def _row(self, ours: Series, peers: list[Series]) -> dict[str, Any]:
        cell = ours.cell
        trials = trials_of(cell.algorithm, cell.pop_size)
        return {
            **asdict(cell),
            "trials": trials,
            "us": [rounded(us) for us in ours.us],
            "bytes": rounded(
                batch_bytes(cell.algorithm, cell.dtype, cell.dim, trials, cell.n_runs) / cell.n_runs / trials
            ),
            "largest": largest_population(cell.algorithm, cell.dtype, cell.dim, cell.n_runs, self.available),
            "peers": {peer.name: [rounded(us) for us in peer.us] for peer in peers if peer.us},
        }


def cell_of(entry: dict[str, Any]) -> Cell:
    """Return the cell of an entry of a record."""
    return Cell(**{name.name: entry[name.name] for name in fields(Cell)})


def algorithm_of_size(name: str, pop_size: int) -> Algorithm:
    """Return an algorithm that makes about pop_size trials in every generation."""
    if name == "de":
        return DE(F=F, CR=CR, pop_size=pop_size)
    if name == "pso":
        return PSO(w=W, c1=C, c2=C, pop_size=pop_size)
    if name == "ss":  # a pool of references x (references - 1) trials, which nine steps of the local search follow
        references = max(round(0.5 + math.sqrt(0.25 + pop_size)), 2)
        return SS(n_best=references - 1, n_diverse=1, pop_size=references, n_local=9)
    return constant_size(name, pop_size)


def trials_of(name: str, pop_size: int) -> int:
    """Return the number of trials of a generation."""
    algorithm = algorithm_of_size(name, pop_size)
    return (algorithm.n_best + 1) * algorithm.n_best if isinstance(algorithm, SS) else pop_size


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


def traffic(row: dict[str, Any]) -> int:
    """Return the bytes that a generation of a row reads and writes at least, if no cache helps."""
    components = VECTORS[row["algorithm"]] * row["dim"] + VALUES
    return int(row["n_runs"] * row["trials"] * components * np.dtype(row["dtype"]).itemsize)


@cache
def batch_bytes(name: str, dtype: str, dim: int, pop_size: int, n_runs: int) -> int:
    """Return the bytes of the arrays of a batch."""
    spec = new_spec(algorithm_of_size(name, pop_size), get_problem(PROBLEM, dim=dim), 1, MOST_GENERATIONS, dtype=dtype)
    return size_of(array_shapes(spec, n_runs))


@cache
def largest_population(name: str, dtype: str, dim: int, n_runs: int, available: int | None) -> int | None:
    """Return the largest population that fits into so many bytes, 0 if none does; None where they are not known."""
    if available is None:
        return None
    fits, most = 0, MOST_POOL if name == "ss" else MOST_INDIVIDUALS
    least = FEWEST_IN_MEMORY
    while least <= most:
        middle = (least + most) // 2
        if batch_bytes(name, dtype, dim, middle, n_runs) <= available:
            fits, least = middle, middle + 1
        else:
            most = middle - 1
    return fits


def rounded(value: float) -> float:
    """Return a value in the digits of a record."""
    return float(f"{value:.{DIGITS}g}")


def derived(row: dict[str, Any], record: dict[str, Any]) -> dict[str, Any]:
    """Return the figures that follow from a row of a record.

    Returns
    -------
    figures : dict
        Medians of microseconds a generation, nanoseconds an evaluation and evaluations a second; the bytes a second
        that the traffic needs, their share of the rate of copies, and the ratio of each peer's time to ours.
    """
    us = median(row["us"])
    evaluations = row["trials"] * row["n_runs"]
    needed = traffic(row) / us * 1e6
    pairs = {name: zip(times, row["us"], strict=False) for name, times in row["peers"].items()}
    return {
        "us": us,
        "ns_per_evaluation": us * 1e3 / evaluations,
        "evaluations_per_second": evaluations / us * 1e6,
        "bandwidth": needed,
        "share": needed / median(record["memory"]["copy_bytes_per_second"]),
        "ratios": {name: median(theirs / ours for theirs, ours in both) for name, both in pairs.items()},
    }


def table(record: dict[str, Any]) -> str:
    """Return a record as text."""
    on_gpu = record["driver"] is not None
    where = record["driver"]["gpu"] if on_gpu else f"{record['machine']['cpu']}, one thread"
    memory = record["memory"]
    lines = [f"{record['device']}: {where}"]
    if memory["copy_bytes_per_second"]:
        lines.append(f"copies: {median(memory['copy_bytes_per_second']) / 1e9:.4g} GB/s, the memory's limit")
    if memory["available"] is not None:
        lines.append(f"memory: {in_units(memory['available'])}")
    heading = (
        "algorithm",
        "D",
        "NP",
        "runs",
        "us/gen",
        "ns/eval",
        "Mevals/s",
        "B/indiv",
        "GB/s",
        "limit",
        "largest NP",
    )
    shape = "{:<10}{:>7}{:>9}{:>7}{:>12}{:>10}{:>10}{:>10}{:>9}{:>7}{:>12}  {}"
    group = None
    for row in record["figures"]:
        if group != (row["axis"], row["dtype"]):
            group = row["axis"], row["dtype"]
            lines += ["", f"{row['axis']}, {row['dtype']}", shape.format(*heading, "peers, times our time").rstrip()]
        found = derived(row, record)
        figures = (
            f"{found['us']:.2f}",
            f"{found['ns_per_evaluation']:.4g}",
            f"{found['evaluations_per_second'] / 1e6:.4g}",
        )
        needed = (f"{found['bandwidth'] / 1e9:.4g}", f"{found['share']:.0%}", row["largest"] or "-")
        peers = ", ".join(f"{name} {ratio:.3g}" for name, ratio in found["ratios"].items())
        sizes = (row["algorithm"], row["dim"], row["pop_size"], row["n_runs"])
        lines.append(shape.format(*sizes, *figures, f"{row['bytes']:.4g}", *needed, peers).rstrip())
    if record["left_out"]:
        lines += ["", "left out:"]
    for entry in record["left_out"]:
        lines.append(f"  {entry['program']}: {cell_of(entry)}: {entry['reason']}")
    absent = [name for name, note in record["settings"]["peers"].items() if note == "absent"]
    if absent:
        lines += ["", f"not installed: {', '.join(absent)}"]
    return "\n".join(lines)
