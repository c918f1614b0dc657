"""Times of skde and of other libraries, from the records that the page on speed names."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import mean, median
from typing import Any

from skde.benchmark.papers.janssen2024 import MODELS, Janssen2024

from .records import read, source, table
from .svg import COLOUR, draw_svg

CPU, GPU = "speed-cpu", "speed-h200"
PEERS = ("scipy", "pygmo", "minionpy")
# The bars of the plot, and their figures in the record.
PLOTTED = "rastrigin"
BARS = {
    "skde, compiled objective": "de",
    "pygmo, compiled objective": "pygmo",
    "skde, NumPy objective": "de, NumPy objective",
    "minionpy, NumPy objective": "minionpy",
    "SciPy, NumPy objective": "scipy",
}
DTYPES = ("float64", "float32")
COUNTERS = {
    **{"GB/s": "dram_gb_per_second", "of peak, %": "dram_percent", "L2, %": "l2_percent", "issue, %": "issue_percent"},
    **{"warps, %": "warps_percent", "waits, memory": "stalled_by_memory", "waits, barriers": "stalled_by_barriers"},
}


def setting(row: dict[str, Any]) -> str:
    """Return the name of a row's setting."""
    names = [row["problem"]] if "problem" in row else []
    names += [f"D={row['dim']}", *([f"NP={row['pop_size']}"] if row["pop_size"] else [])]
    names += [f"{row[key]} {key[2:]}" for key in ("n_runs", "n_islands") if row.get(key, 1) > 1]
    names += [f"migration every {row.get('migrate_every', 50)}"] if row.get("n_islands", 1) > 1 else []
    return ", ".join(names)


def cpu() -> list[str]:
    """Return million evaluations a second of DE, next to other libraries."""
    heads = ["setting", "de", "jde", "SciPy", "pygmo", "minionpy", "de / pygmo", "2 threads / 1"]
    columns = ["de", "jde", *PEERS, "de / pygmo", "de, 2 threads / de"]
    return rates("settings", heads, columns, "peers")


def swarms() -> list[str]:
    """Return million evaluations a second of the swarms."""
    columns = ["pso", "pso, NumPy objective", *read(CPU)["settings"]["swarms"]]
    columns += ["pso / pygmo", "pso, NumPy objective / pyswarms"]
    return [*rates("swarms", ["setting", *columns], columns, "swarms"), *source(CPU)]


def rates(key: str, heads: list[str], columns: list[str], peers: str) -> list[str]:
    """Return a table of the record of a CPU, and its peers."""
    cells = []
    for row in read(CPU)["figures"][key]:
        found = {name: f"{value['median'] / 1e6:.2f}" for name, value in row["evals_per_second"].items()}
        found |= {name: f"{value:.2f}" for name, value in row["ratios"].items()}
        cells.append([setting(row), *(found.get(name, "" if "/" in name else "absent") for name in columns)])
    notes = "; ".join(f"{peer}: {note}" for peer, note in read(CPU)["settings"][peers].items())
    return [*table(heads, cells), f"Peers: {notes}.", ""]


def plot() -> bytes:
    """Return an SVG: evaluations a second of one setting, with compiled and with NumPy objectives."""
    row = next(row for row in read(CPU)["figures"]["settings"] if row["problem"] == PLOTTED)
    rows = {label: row["evals_per_second"][key]["median"] / 1e6 for label, key in BARS.items()}

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        colours = [COLOUR if label.startswith("skde") else "0.6" for label in rows]
        bars = axes.barh(list(rows), list(rows.values()), color=colours)
        axes.bar_label(bars, fmt="%.2f", padding=3)
        axes.invert_yaxis()
        axes.grid(visible=False, axis="y")
        axes.margins(x=0.1)
        axes.set(xlabel=f"million evaluations a second; {setting(row)}, one thread")

    return draw_svg((8, 2.4), draw)


def gpu() -> list[str]:
    """Return microseconds a generation on a GPU."""
    rows = ((setting(row), row["us_per_generation"]) for row in read(GPU)["figures"]["settings"])
    cells = ((name, *(f"{spent[kind]['median']:.2f}" for kind in ("de", "jde"))) for name, spent in rows)
    return table(["setting", "de", "jde"], cells)


def gpu_algorithms() -> list[str]:
    """Return microseconds a generation of every algorithm on a GPU."""
    return [*family(read(GPU)["figures"]["algorithms"]), *source(GPU)]


def algorithms() -> list[str]:
    """Return microseconds a generation of every algorithm on a CPU."""
    return [*family(read("algorithms-cpu")["figures"]), *source("algorithms-cpu")]


def family(rows: Iterable[dict[str, Any]]) -> list[str]:
    """Return microseconds a generation of algorithms."""
    cells = ((row["algorithm"], setting(row), f"{row['median']:.2f}", f"{row['ratio to de']:.2f}") for row in rows)
    return table(["algorithm", "setting", "us a generation", "times de's"], cells)


def compositions() -> list[str]:
    """Return microseconds a point of composition functions."""
    cells = []
    for row in read("compositions-cpu")["figures"]:
        spent = (f"{row[key]:.1f}" for key in ("skde", "minionpy"))
        cells.append((f"{row['function']}, CEC 2017's f{row['cec2017']}", *spent, f"{row['minionpy / skde']:.2f}"))
    return [*table(["function", "skde", "minionpy", "minionpy / skde"], cells), *source("compositions-cpu")]


def large(name: str) -> list[str]:
    """Return microseconds a generation of large populations in both precisions."""
    found: dict[tuple[Any, ...], dict[str, str]] = {}
    for row in read(name)["figures"]:
        key = (row["algorithm"], row["dim"], row["pop_size"])
        found.setdefault(key, {})[row["dtype"]] = f"{row['us_per_generation']:.4g}"
    cells = ((*key, *(times.get(dtype, "") for dtype in DTYPES)) for key, times in found.items())
    return [*table(["algorithm", "D", "NP", *DTYPES], cells), *source(name)]


def counters(name: str) -> list[str]:
    """Return hardware counters of two generations of large populations."""
    cells = []
    for row in read(name)["counters"]:
        values = ("" if row[key] is None else row[key] for key in COUNTERS.values())
        cells.append((f"{row['algorithm']}, {setting(row)}, {row['dtype']}", *values))
    return table(["setting", *COUNTERS], cells)


def rotations(name: str) -> list[str]:
    """Return seconds of a run on rotated functions, and the paper's."""
    record, paper = read(name), Janssen2024.paper.tables["3"]
    names = [row["function"] for row in record["figures"]]
    alone, together = ([row[key] for row in record["figures"]] for key in ("alone", "together"))
    printed = [paper.value("seconds", MODELS["fused"], function) for function in names]
    cells = [
        (function, f"{one:.3f}", f"{each:.3f}", f"{theirs:.2f}", f"{theirs / one:.2f}")
        for function, one, each, theirs in zip(
            [*names, "mean"], *([*times, mean(times)] for times in (alone, together, printed)), strict=True
        )
    ]
    heads = ["function", "one run", f"{record['settings']['runs']} together, each", "paper", "paper / one run"]
    return [*table(heads, cells), *source(name)]


def parallel(name: str) -> list[str]:
    """Return microseconds a generation of threads, processes or GPUs."""
    lines = []
    for part in dict.fromkeys(row["part"] for row in read(name)["figures"]):
        lines += parallel_table(part, [row for row in read(name)["figures"] if row["part"] == part])
    return [*lines, *source(name)]


def parallel_table(part: str, rows: list[dict[str, Any]]) -> list[str]:
    """Return the table of one part, with the ratio of the first to the last number; of processes, in runs a second."""
    first, *_, last = numbers = list(rows[0]["us_per_generation"])
    one = {"processes": "process"}.get(part, part.removesuffix("s"))
    ratio, work = ("times the runs", int(last)) if part == "processes" else (f"{first} / {last}", 1)
    cells = []
    for row in rows:
        times = row["us_per_generation"]
        gain = f"{work * times[first] / times[last]:.2f}"
        cells.append((setting(row), *(f"{times[number]:.4g}" for number in numbers), gain))
    return table(["setting", *(f"{number} {part if number != '1' else one}" for number in numbers), ratio], cells)


def change(name: str) -> list[str]:
    """Return microseconds a generation before and after a change of the kernels."""
    record = read(name)
    cells = []
    for row in record["figures"]:
        where = ", ".join([setting(row), *(row[key] for key in ("dtype", "with") if row.get(key))])
        cells.append((row["algorithm"], where, *(f"{median(row[when]):.2f}" for when in ("before", "after"))))
    statistic = f"Microseconds a generation; {record['settings']['statistic']}. {source(name)[0]}"
    return [*table(["algorithm", "setting", "before", "after"], cells), statistic, ""]
