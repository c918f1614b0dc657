"""The launch of the persistent GPU driver for a batch; only arithmetic, so that it is tested without a GPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from skde.constants import CONSTANTS

# Kind of team (team.cuh) -> lanes, which serve one individual.
LANES = {
    "Block": CONSTANTS["PARTIALS"],
    "Warp": CONSTANTS["WARP"],
    "Tile16": 16,
    "Tile8": 8,
    "Tile4": 4,
    "Tile1": 1,
}
BLOCK = CONSTANTS["PARTIALS"]  # threads
MAX_WARPS = 8  # in a block that shares many staged bytes
FEW_WARPS = 4  # in any other block
MUCH_STAGED = 16 * 1024  # bytes
# Where there are many individuals: kind of team and warps in a block -> blocks that a multiprocessor must be able to
# hold, for which the compiler limits the registers. Measured on an H200, as all numbers of this kind below.
RESIDENT = {("Warp", FEW_WARPS): 5, ("Warp", MAX_WARPS): 2, ("Tile16", FEW_WARPS): 4}
# The same for teams of less than half a warp, and where algorithms divide the work between generations of large
# populations, for which a thread needs more registers. Where numbers have 32 bits and an individual has no vector but
# its point, a thread needs fewer. More teams then help where rows come from memory: with rows of more than LONG_ROW
# components, or with HUGE or more individuals.
RESIDENT_STAGED, RESIDENT_SMALL, RESIDENT_NARROW_LONG, RESIDENT_NARROW_HUGE = 2, 4, 6, 5
LONG_ROW, HUGE = 64, 2**18
RESIDENT_BLOCK = {8: 3, 4: 4}  # the same for a block as a team, by the bytes of a number
RESIDENT_BLOCK_STAGED = 2  # where there is work between generations
RESIDENT_LARGE = 8  # the same for blocks that have no room for their trials in shared memory
# Where there are many individuals: the largest dimension, and the team of each individual. In larger dimensions it is a
# warp. A warp with several teams does the work that each individual needs once, such as its indices, for all of them at
# a time; a team with more lanes reads longer parts of a row at a time.
MANY = ((4, "Tile1"), (16, "Tile4"), (128, "Tile8"))
MANY_WITH_STAGES = 2**15  # individuals; fewer have warps: one works for the run
LARGE_TRIAL = 3072  # bytes; with a larger one, each of many individuals has a block

# Where teams load the elements of a matrix once for several trials: the largest number of these.
MOST_TOGETHER = 4
BLOCK_SHARED = 1024  # bytes of shared memory that each block takes in addition to its own

STEP_TEAMS = 4  # warps in a block of the step kernels
STEP_THREADS = STEP_TEAMS * LANES["Warp"]
STEP_BLOCKS = 8  # a multiprocessor; more blocks take more time to start than they save

# (kind of team, threads, resident, trials in shared memory, shared bytes) -> number of such blocks that one
# multiprocessor holds.
Occupancy = Callable[[str, int, int, int, int], int]


class Device(NamedTuple):
    """The properties of a GPU that a plan depends on."""

    multiprocessors: int
    shared_per_block: int  # bytes a block may ask for


class Work(NamedTuple):
    """The sizes of a batch that a plan depends on."""

    dim: int
    pop: int
    n_runs: int
    scratch: int  # vectors of length dim
    array_sizes: tuple[int, ...]  # elements
    itemsize: int
    has_stages: bool = False  # whether there is work between generations
    divides: bool = False  # whether the algorithm has stages in which all teams divide it in a large population
    has_tiles: bool = True  # whether the teams of many individuals may be other than warps
    has_vectors: bool = False  # whether an individual has vectors in addition to its point
    repeated: int = 0  # vectors of `scratch` that every trial needs where several are evaluated together; 0: none are

    @property
    def is_narrow(self) -> bool:
        """Whether numbers have 32 bits."""
        return self.itemsize == 4

    def vectors(self, trials: int) -> int:
        """Return the number of vectors of length dim for the evaluation of `trials` points together."""
        return self.scratch + (trials - 1) * self.repeated


@dataclass(frozen=True)
class Plan:
    """A launch: the kind of team, the grid, and the contents of shared memory (Plan in plan.cuh)."""

    team: str  # of LANES
    threads: int  # of a block
    resident: int  # blocks that a multiprocessor must be able to hold
    blocks: int  # of a group, which works on one run at a time
    groups: int
    staged: int
    trials_shared: int  # trials of a team in shared memory, which it evaluates together; 0: none
    shared_bytes: int

    @property
    def grid(self) -> int:
        """Blocks of the launch."""
        return self.blocks * self.groups

    @property
    def teams(self) -> int:
        """Teams in a block."""
        return self.threads // LANES[self.team]


def is_large_trial(dim: int, itemsize: int) -> bool:
    """Return whether a trial of `dim` numbers has many bytes."""
    return dim * itemsize > LARGE_TRIAL


def resident_warps(device: Device) -> int:
    """Return how many individuals have a resident warp each."""
    return RESIDENT["Warp", FEW_WARPS] * FEW_WARPS * device.multiprocessors


def has_block_each(work: Work, many: bool) -> bool:
    """Return whether each individual has a block because its trial is large.

    Where there is work between generations, many warps do it in less time than few blocks. So that blocks are faster
    there, the individuals must have a resident warp each (not `many`), or trials must be larger still and individuals
    have no other vectors. A game has no such blocks.
    """
    is_large = is_large_trial(work.dim, work.itemsize)
    if work.has_tiles or not work.has_stages:
        return is_large and work.has_tiles
    is_larger = work.dim * work.itemsize > 2 * LARGE_TRIAL
    return is_large and (not many or (is_larger and not work.has_vectors))


def choose_team(work: Work, device: Device) -> tuple[str, int]:
    """Return the kind of team and the number of teams in a block.

    A block of 128 lanes for each individual is fastest while the machine has unused blocks. One warp for each
    individual is faster with few dimensions or many individuals: the warps of a block share the staged arrays. Where
    not all of these warps are resident at once, other teams are faster.
    """
    individuals = work.pop * work.n_runs
    if work.dim > LANES["Warp"] and individuals <= 4 * device.multiprocessors:
        return "Block", 1
    if sum(work.array_sizes) * work.itemsize >= MUCH_STAGED:
        most = MAX_WARPS
    elif has_block_each(work, individuals > resident_warps(device)):
        return "Block", 1
    elif work.has_tiles and individuals > resident_warps(device):
        team = next((team for dim, team in MANY if work.dim <= dim), "Warp")
        if team == "Tile8" and work.dim > LONG_ROW and work.has_vectors and not (work.is_narrow or work.has_stages):
            team = "Tile16"
        return team, BLOCK // LANES[team]
    else:
        most = FEW_WARPS
    teams = 1
    while teams < most and teams * device.multiprocessors < individuals:
        teams *= 2
    return "Warp", teams


def resident_blocks(work: Work, device: Device, team: str, teams: int) -> int:
    """Return how many blocks a multiprocessor must be able to hold; more than one where there are many individuals."""
    many = {"Warp": 2 * MAX_WARPS, "Block": 4}.get(team, 0) * device.multiprocessors
    if work.pop * work.n_runs <= many:
        return 1
    if team == "Block":
        resident = RESIDENT_BLOCK_STAGED if work.has_stages else RESIDENT_BLOCK[work.itemsize]
        return resident if plan_shared_memory(work, device, team, teams, resident)[1] else RESIDENT_LARGE
    if team == "Warp" and work.divides:
        return RESIDENT_STAGED
    if LANES[team] < LANES["Tile16"]:
        return resident_small_teams(work)
    return RESIDENT.get((team, teams * LANES[team] // LANES["Warp"]), 1)


def resident_small_teams(work: Work) -> int:
    """Return how many blocks of teams of less than half a warp a multiprocessor must be able to hold."""
    if work.has_stages:
        return RESIDENT_STAGED
    if work.is_narrow and not work.has_vectors:
        if work.dim > LONG_ROW:
            return RESIDENT_NARROW_LONG
        if work.pop * work.n_runs >= HUGE:
            return RESIDENT_NARROW_HUGE
    return RESIDENT_SMALL


def blocks_of_run(work: Work, teams: int, capacity: int) -> int:
    """Return the blocks that work on a run at a time, where `capacity` blocks are resident at once.

    They are as many as leave every run resident; then only as many as the passes over a population need.
    """
    most = max(1, min(-(-work.pop // teams), capacity // work.n_runs))
    passes = -(-work.pop // (most * teams))
    return -(-work.pop // (passes * teams))


def trials_together(work: Work, device: Device, team: str, teams: int, resident: int) -> int:
    """Return how many trials a team evaluates together: as many as it has, or a part of them.

    A matrix that is staged for two trials, one after the other, takes less time than one that is not.
    """
    if team != "Warp" or resident == 1 or not work.repeated:
        return 1
    blocks = blocks_of_run(work, teams, resident * device.multiprocessors)
    of_a_team = -(-work.pop // (blocks * teams))  # of one run: a group makes further runs one after another
    if (
        of_a_team <= 2
        and plan_shared_memory(work, device, team, teams, resident)[0] >> 1 == (1 << len(work.array_sizes)) - 1
    ):
        return 1
    trials = -(-of_a_team // -(-of_a_team // MOST_TOGETHER))
    while trials > 1 and not plan_shared_memory(work, device, team, teams, resident, trials)[1]:
        trials -= 1
    return trials


def plan_shared_memory(
    work: Work, device: Device, team: str, teams: int, resident: int = 1, trials: int = 1
) -> tuple[int, int, int]:
    """Return which arrays are staged (bits), how many trials of a team are in shared memory, and the bytes in all.

    The most used arrays come first: trials and scratch, bounds, then the data arrays as far as they fit. A block of
    many small teams, for one individual, or of teams with several trials leaves memory for the other resident blocks.
    """
    shares = resident if team != "Warp" or trials > 1 else 1
    most = (device.shared_per_block + BLOCK_SHARED) // shares - BLOCK_SHARED
    used = teams * CONSTANTS["BLOCK_BYTES"] if team == "Block" else 0
    staged = 0

    def fits(elements: int) -> bool:
        nonlocal used
        if used + elements * work.itemsize > most:
            return False
        used += elements * work.itemsize
        return True

    trials_shared = trials if fits(teams * (trials + work.vectors(trials)) * work.dim) else 0
    for bit, elements in enumerate((2 * work.dim, *work.array_sizes)):
        if fits(elements):
            staged |= 1 << bit
    return staged, trials_shared, used


def blocks_for(items: int, share: int, device: Device, n_runs: int = 1) -> int:
    """Return the blocks for the items of one of n_runs runs: each block has a share of them, or several shares."""
    return max(1, min(-(-items // share), STEP_BLOCKS * device.multiprocessors // n_runs))


def step_plan(individuals: int, n_runs: int, device: Device) -> Plan:
    """Return the plan of a step kernel, in which a warp has one individual after the other."""
    return Plan("Warp", STEP_THREADS, 1, blocks_for(individuals, STEP_TEAMS, device, n_runs), n_runs, 0, 0, 0)


def make_launch_plan(work: Work, device: Device, occupancy: Occupancy) -> Plan:
    """Choose a launch in which all blocks are resident at once.

    Parameters
    ----------
    work, device
        The sizes of the batch, and the machine.
    occupancy : callable
        (team, threads, resident, trials in shared memory, shared bytes) -> number of such blocks that one
        multiprocessor holds.
    """
    team, teams = choose_team(work, device)
    threads = LANES[team] * teams
    resident = resident_blocks(work, device, team, teams)
    trials = trials_together(work, device, team, teams, resident)
    staged, trials_shared, shared_bytes = plan_shared_memory(work, device, team, teams, resident, trials)
    capacity = max(1, occupancy(team, threads, resident, trials_shared, shared_bytes) * device.multiprocessors)
    blocks = blocks_of_run(work, teams, capacity)
    return Plan(
        team, threads, resident, blocks, min(work.n_runs, capacity // blocks), staged, trials_shared, shared_bytes
    )
