"""Programs of the same algorithms in skde and in other libraries."""

from __future__ import annotations

from functools import cache

from skde.benchmark.statistics import compare

from .records import read_cells, source, table

NAMES = {10: "peers-cec2017", 30: "peers-cec2017-d30", 50: "peers-cec2017-d50"}
# Without its population size reduction, which JADE does not have.
JADE = "minionpy:JADE:population_size=100,minimum_population_size=100"
# Our algorithm, theirs, and how their defaults differ.
PAIRS = (
    ("jade", JADE, "F that is not positive: drawn again, as in the paper; 0.01. Bounds: midpoint, random"),
    ("jade:repair=random", JADE, "F that is not positive"),
    ("lshade", "minionpy:LSHADE", "bounds: random in both"),
    ("lshade:repair=midpoint", "minionpy:LSHADE", "bounds: midpoint, as in the paper; random"),
    ("jso", "minionpy:jSO", "bounds: random in both"),
    ("jso:repair=midpoint", "minionpy:jSO", "bounds: midpoint, as in the paper; random"),
    ("lsrtde", "minionpy:LSRTDE", "trials of a generation are made at once in both; sizes: rounded, cut"),
    ("rdex", "minionpy:RDEX", "as lsrtde; components that perturbations lead out of the box: repaired, evaluated"),
    (
        "arrde",
        "minionpy:ARRDE",
        "bounds: random; between bound and mirrored component. First population: random; Latin",
    ),
    ("sade", "pygmo:sade", "pygmo's is self-adaptive in another way"),
)


def pairs() -> list[str]:
    """Return how often an algorithm is better, equal and worse than another library's, by dimension."""
    cells = (
        (f"`{own}`", f"`{peer}`", *(verdicts(name, own, peer) for name in NAMES.values()), differs)
        for own, peer, differs in PAIRS
    )
    lines = table(["ours", "theirs", *(f"D={dim}" for dim in NAMES), "difference"], cells)
    return lines + [line for name in NAMES.values() for line in source(name)]


def verdicts(name: str, own: str, peer: str) -> str:
    """Return how often an algorithm was better, equal and worse; a dash where one of them has not been run."""
    return " / ".join(map(str, against(name, peer).get(own, {}).values())) or "-"


@cache
def against(name: str, peer: str) -> dict[str, dict[str, int]]:
    """Return how often each algorithm of a record was better, equal and worse than one; nothing if it has not run."""
    record = read_cells(name)
    known = any(cell["algorithm"] == peer for cell in record["cells"])
    return compare(record, peer)["dims"][0]["against"] if known else {}
