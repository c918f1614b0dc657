"""Times by population, dimension and runs, from the records of `skde bench speed --scale`."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from typing import Any

from skde.benchmark.scale_sizes import read_cell
from skde.benchmark.scale_table import derive_figures

from .records import read, source, table
from .svg import draw_svg

# Axis -> the size that it changes, and the name of the size.
SIZES = {"population": ("pop_size", "NP"), "dimension": ("dim", "D"), "runs": ("n_runs", "runs")}
PEER_LINES = {"evosax": "--^", "evox": "-.v", "pygmo": ":s", "fcmaes": ":x"}
Rows = list[dict[str, Any]]


def tables(name: str) -> list[str]:
    """Return the tables of a record: times and ratios by axis and precision, memory, and what was left out."""
    record = read(name)
    return [*tables_of(record), f"Copies: {rate(record):.4g} GB/s. {source(name)[0]}", ""]


def rate(record: dict[str, Any]) -> float:
    """Return the rate of copies in GB/s."""
    return float(median(record["memory"]["copy_bytes_per_second"])) / 1e9


def tables_of(record: dict[str, Any]) -> list[str]:
    """Return the tables."""
    lines = []
    for axis in dict.fromkeys(row["axis"] for row in record["figures"]):
        for dtype in record["settings"]["dtypes"]:
            rows = [row for row in record["figures"] if (row["axis"], row["dtype"]) == (axis, dtype)]
            lines += [f"{axis.capitalize()}, {dtype}: nanoseconds an evaluation (share of the limit)", ""]
            lines += times(record, rows) + ratios(record, rows)
    return lines + memory(record) + list_left_out(record)


def times(record: dict[str, Any], rows: Rows) -> list[str]:
    """Return the table of nanoseconds an evaluation, with the share of the memory's limit."""
    found: dict[str, dict[str, str]] = {}
    for row in rows:
        figures = derive_figures(row, record)
        text = f"{figures['ns_per_evaluation']:.4g} ({figures['share']:.0%})"
        found.setdefault(row["algorithm"], {})[size_name(row)] = text
    sizes = list(dict.fromkeys(map(size_name, rows)))
    return table(["algorithm", *sizes], ([name, *(own.get(size, "") for size in sizes)] for name, own in found.items()))


def ratios(record: dict[str, Any], rows: Rows) -> list[str]:
    """Return the table of the peers' times as multiples of ours."""
    rows = [row for row in rows if row["peers"]]
    peers = list(dict.fromkeys(name for row in rows for name in row["peers"]))
    cells = []
    for row in rows:
        found = derive_figures(row, record)["ratios"]
        setting = f"{row['algorithm']}, {size_name(row)}"
        cells.append([setting, *(mark(found[name]) if name in found else "" for name in peers)])
    return ["Peers, times our time:", "", *table(["setting", *peers], cells)] if peers else []


def mark(ratio: float) -> str:
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
    about = f"Memory of an individual at D={rows[0]['dim']}, and the largest population that fits{room}, up to the most"
    cells = ((*key, f"{row['bytes']:.4g}", row["largest"] or "unknown") for key, row in last.items())
    heads = ["algorithm", "precision", "bytes", "largest population"]
    return [f"{about} that the algorithm takes:", "", *table(heads, cells)]


def list_left_out(record: dict[str, Any]) -> list[str]:
    """Return the list of sizes that were not measured."""
    entries = [f"- {entry['program']}: {read_cell(entry)}: {entry['reason']}" for entry in record["left_out"]]
    absent = [name for name, note in record["settings"]["peers"].items() if note == "absent"]
    lines = ["Left out:", "", *entries, ""] if entries else []
    return lines + ([f"Not installed: {', '.join(absent)}.", ""] if absent else [])


def size_name(row: dict[str, Any]) -> str:
    """Return the sizes of a row."""
    return f"D={row['dim']}, NP={row['pop_size']}" + (f", {row['n_runs']} runs" if row["axis"] == "runs" else "")


def plot(name: str) -> bytes:
    """Return an SVG: nanoseconds an evaluation against each size, with peers (broken) and the limit of DE (grey)."""
    return plot_of(read(name))


def plot_of(record: dict[str, Any]) -> bytes:
    """Return the plot of a record."""
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
    found = [(row, derive_figures(row, record)) for row in rows]
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
