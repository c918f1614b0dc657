"""The section of the page on speed on populations, dimensions and runs, from benchmarks/records/scale-*.json."""

from __future__ import annotations

import json
from collections.abc import Iterator
from statistics import median
from typing import Any

from figures.svg import draw_svg
from skde.benchmark.scale_sizes import cell_of
from skde.benchmark.scale_table import derived

from .sources import RECORDS, noted

HEAD = """## Populations, dimensions and runs

    skde bench speed --scale --device cuda --out benchmarks/records/scale-NAME.json

measures every algorithm on Rastrigin's function with 10^2 to 10^6 individuals, 10 to 10^4 dimensions and 1 to 10^4
runs, in both precisions. A figure is the time of a generation inside a fit that is warm, without the fit's fixed
cost; the median of repeats in which all sizes take turns. A peer runs right after ours in the same process; a ratio
is the median over the repeats, and bold where the peer is faster. With D=10^4, NP=1000 in float64 each individual has
a block, and all blocks make their trials at one time and evaluate them at another, so that memory and arithmetic are
used in turn.

The limit is the time that memory needs for the bytes of a generation, at the rate of a copy measured in the same run.
DE reads a target and three donors and writes a survivor: five vectors for each trial. PSO reads position, velocity and
personal best, and writes the first two. Caches hold small populations, so their shares can be above 100 %.
"""
# Axis -> the size that it changes, and the name of the size.
SIZES = {"population": ("pop_size", "NP"), "dimension": ("dim", "D"), "runs": ("n_runs", "runs")}
PEER_LINES = {"evosax": "--^", "evox": "-.v", "pygmo": ":s", "fcmaes": ":x"}
Rows = list[dict[str, Any]]


def records() -> dict[str, dict[str, Any]]:
    """Return the records by the names of their files."""
    return {path.stem: json.loads(path.read_text()) for path in sorted(RECORDS.glob("scale-*.json"))}


def section() -> list[str]:
    """Return the lines of the section."""
    lines = [HEAD]
    for name, record in records().items():
        lines += part(record, name)
    return lines


def part(record: dict[str, Any], name: str) -> list[str]:
    """Return the lines on one record."""
    driver, machine = record["driver"], record["machine"]
    where = f"{driver['gpu']}, CUDA {driver['runtime'] // 1000}" if driver else f"{machine['cpu']}, one thread"
    link = f"[{name}.json](../benchmarks/records/{name}.json)"
    source = f"{record['date'][:10]}, commit {record['commit'][:10]}, `{record['command']}` ({link})"
    rate = median(record["memory"]["copy_bytes_per_second"]) / 1e9
    dtypes, axes = " and ".join(record["settings"]["dtypes"]), dict.fromkeys(row["axis"] for row in record["figures"])
    lines = [
        f"### {where}, {dtypes}: {' and '.join(axes)}",
        "",
        f"{source}; copies: {rate:.4g} GB/s{noted(record)}.",
        "",
        f"![Time of an evaluation]({name}.svg)",
        "",
    ]
    for axis in axes:
        for dtype in record["settings"]["dtypes"]:
            rows = [row for row in record["figures"] if (row["axis"], row["dtype"]) == (axis, dtype)]
            lines += times(record, rows, axis, dtype) + ratios(record, rows)
    return lines + memory(record) + left_out(record)


def times(record: dict[str, Any], rows: Rows, axis: str, dtype: str) -> list[str]:
    """Return the table of nanoseconds an evaluation, with the share of the memory's limit."""
    sizes = list(dict.fromkeys(size_name(row) for row in rows))
    found = {(row["algorithm"], size_name(row)): derived(row, record) for row in rows}
    lines = [f"{axis.capitalize()}, {dtype}: nanoseconds an evaluation (share of the limit)", ""]
    lines += [f"| algorithm | {' | '.join(sizes)} |", "|---" * (len(sizes) + 1) + "|"]
    for algorithm in dict.fromkeys(row["algorithm"] for row in rows):
        figures = [found.get((algorithm, size)) for size in sizes]
        columns = [f"{f['ns_per_evaluation']:.4g} ({f['share']:.0%})" if f else "" for f in figures]
        lines.append(f"| {algorithm} | {' | '.join(columns)} |")
    return [*lines, ""]


def ratios(record: dict[str, Any], rows: Rows) -> list[str]:
    """Return the table of the peers' times as multiples of ours."""
    rows = [row for row in rows if row["peers"]]
    peers = list(dict.fromkeys(name for row in rows for name in row["peers"]))
    if not peers:
        return []
    lines = ["Peers, times our time:", "", f"| setting | {' | '.join(peers)} |", "|---" * (len(peers) + 1) + "|"]
    for row in rows:
        found = derived(row, record)["ratios"]
        columns = [marked(found[name]) if name in found else "" for name in peers]
        lines.append(f"| {row['algorithm']}, {size_name(row)} | {' | '.join(columns)} |")
    return [*lines, ""]


def marked(ratio: float) -> str:
    """Return a ratio, bold where the peer is faster."""
    return f"{ratio:.3g}" if ratio >= 1 else f"**{ratio:.3g}**"


def memory(record: dict[str, Any]) -> list[str]:
    """Return the table of the memory of an individual, and of the largest population that fits."""
    rows = [row for row in record["figures"] if row["axis"] == "population"]
    last = {(row["algorithm"], row["dtype"]): row for row in rows}
    if not last:
        return []
    available = record["memory"]["available"]
    room = "" if available is None else f" into the {available / 2**30:.4g} GiB that were free"
    lines = [
        f"Memory of an individual at D={rows[0]['dim']}, and the largest population that fits{room}, up to the most"
    ]
    lines += ["that the algorithm takes:", ""]
    lines += ["| algorithm | precision | bytes | largest population |", "|---|---|---|---|"]
    for (algorithm, dtype), row in last.items():
        lines.append(f"| {algorithm} | {dtype} | {row['bytes']:.4g} | {row['largest'] or 'unknown'} |")
    return [*lines, ""]


def left_out(record: dict[str, Any]) -> list[str]:
    """Return the list of sizes that were not measured."""
    entries = [f"- {entry['program']}: {cell_of(entry)}: {entry['reason']}" for entry in record["left_out"]]
    absent = [name for name, note in record["settings"]["peers"].items() if note == "absent"]
    lines = ["Left out:", "", *entries, ""] if entries else []
    return lines + ([f"Not installed: {', '.join(absent)}.", ""] if absent else [])


def size_name(row: dict[str, Any]) -> str:
    """Return the sizes of a row."""
    return f"D={row['dim']}, NP={row['pop_size']}" + (f", {row['n_runs']} runs" if row["axis"] == "runs" else "")


def plot(record: dict[str, Any]) -> bytes:
    """Return an SVG: nanoseconds an evaluation against each size, with peers (broken) and the limit of DE (grey)."""
    import matplotlib

    figures = record["figures"]
    axes_names = [axis for axis in SIZES if any(row["axis"] == axis for row in figures)]
    names = list(dict.fromkeys(row["algorithm"] for row in figures))
    colours = dict(zip(names, matplotlib.colormaps["tab20"].colors, strict=False))
    dtypes = record["settings"]["dtypes"]

    def draw(figure: Any) -> None:
        panels = figure.subplots(len(dtypes), len(axes_names), squeeze=False)
        labels: dict[str, Any] = {}
        for dtype, line_of_panels in zip(dtypes, panels, strict=True):
            for axis, axes in zip(axes_names, line_of_panels, strict=True):
                rows = [row for row in figures if (row["axis"], row["dtype"]) == (axis, dtype)]
                size, label = SIZES[axis]
                for name, points, style in curves(record, rows, size):
                    colour = colours.get(name.rpartition(" ")[2], "grey")
                    (labels[name],) = axes.plot(*zip(*points, strict=True), style, color=colour, lw=1, ms=3)
                axes.set(title=f"{axis}, {dtype}", xlabel=label, xscale="log", yscale="log")
                axes.minorticks_off()
            line_of_panels[0].set_ylabel("ns an evaluation")
        figure.legend(labels.values(), labels.keys(), loc="outside right center", fontsize=7)

    height = max(3.2 * len(dtypes), 0.17 * (len(names) + 6))  # all names fit next to one panel
    return draw_svg((3.2 * len(axes_names) + 1.6, height), draw)


def curves(record: dict[str, Any], rows: Rows, size: str) -> Iterator[tuple[str, list[tuple[int, float]], str]]:
    """Give name, points and line style of every curve of a panel: an algorithm, "PEER ALGORITHM", and the limit."""
    found = [(row, derived(row, record)) for row in rows]
    for name in dict.fromkeys(row["algorithm"] for row in rows):
        own = [(row[size], figures) for row, figures in found if row["algorithm"] == name]
        yield name, [(x, figures["ns_per_evaluation"]) for x, figures in own], "-o"
        for peer in dict.fromkeys(peer for _, figures in own for peer in figures["ratios"]):
            theirs = [(x, figures) for x, figures in own if peer in figures["ratios"]]
            points = [(x, figures["ns_per_evaluation"] * figures["ratios"][peer]) for x, figures in theirs]
            yield f"{peer} {name}", points, PEER_LINES[peer]
    limits = [(row[size], figures) for row, figures in found if row["algorithm"] == "de"]
    if limits:
        yield "limit", [(x, figures["ns_per_evaluation"] * figures["share"]) for x, figures in limits], "-"
