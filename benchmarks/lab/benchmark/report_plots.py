"""Plots of a report, as SVG elements with the colours of `report.css`."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import numpy as np

from skde.benchmark.records import Cell, Record
from skde.benchmark.report_pages import Plot, ReportTable
from skde.benchmark.results_folder import SuiteResults
from skde.benchmark.statistics import numbers
from skde.benchmark.trial_scores import estimate_running_time
from skde.curves import HIGHEST_TARGET, TARGETS, evals_to_goals, quartiles, targets
from skde.typing import FloatArray
from skde.utils.hypothesis_tests import ALPHA, friedman_ranks, nemenyi, posthocs

# Colours that the style sheet defines, by the colours that matplotlib draws with.
INK, FAINT = "#0a0c00", "#0a0c01"
COLOURS = 8
DASHES = ("-", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (6, 1.5, 1.2, 1.5)))
COLUMNS = 3
NARROWEST = 6.7  # inches; the page makes narrower plots wider, with their text
SHOWN = 1e4  # the most evaluations, divided by the fewest that are shown
ERRORS = (10.0, 1.0, 1e-1, 1e-2, 1e-3, 1e-5, 1e-8)  # of the table of expected running times
STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "skde",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.titlesize": 9,
    "axes.grid": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "legend.frameon": False,
}


def line_style(number: int) -> dict[str, Any]:
    """Return colour and dashes of the algorithm with a number: 32 of them differ."""
    dashes = DASHES[(number + number // COLOURS) % len(DASHES)]
    return {"color": f"#0a0b{number % COLOURS:02x}", "linestyle": dashes}


@contextmanager
def open_figure(width: float, height: float) -> Iterator[Any]:
    """Give a figure of matplotlib in the report's style."""
    if find_spec("matplotlib") is None:
        raise ValueError("the plots of a report need matplotlib, which is not installed: pip install 'skde[bench]'")
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        yield Figure(figsize=(width, height), layout="constrained")


def svg_of(drawn: Any, name: str, label: str) -> str:
    """Return a figure as an SVG element; its ids begin with a name, because a page has several elements."""
    target = io.StringIO()
    drawn.savefig(target, format="svg", metadata={"Date": None, "Creator": None})
    text = target.getvalue()
    text = text[text.index("<svg") :].rstrip()
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    text = re.sub(r'(\bid="|url\(#|href="#)', lambda match: f"{match[0]}{name}-", text)
    text = re.sub(r"font: ([\d.]+px) [^;\"]*", r"font-size: \1", text)  # the style sheet has the family
    text = re.sub(r"#0a0b(\d\d)", lambda match: f"var(--s{int(match[1])})", text)
    text = text.replace(INK, "var(--ink)").replace(FAINT, "var(--faint)")
    return text.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)


def legend(drawn: Any, experiment: SuiteResults, dim: int) -> None:
    """Draw the names of the algorithms above all axes of a figure."""
    from matplotlib.lines import Line2D

    names = experiment.algorithms_of(dim)
    labels = [experiment.labels[name] for name in names]
    handles = [Line2D([], [], **line_style(experiment.number(name)), linewidth=2) for name in names]
    drawn.legend(handles, labels, loc="outside upper center", ncols=min(len(labels), 4), handlelength=2.6)


def set_few_ticks(axis: Any) -> None:
    """Give a logarithmic axis few ticks, with texts such as 1e-8."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(numticks=6, subs=(1.0,) if high / low > 100 else (1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, place: tick_text(value)))
    axis.set_minor_formatter(NullFormatter())


def tick_text(value: float) -> str:
    """Return the text of a tick: 1e-8, 0.5, 20, 1e10."""
    if 1e-3 < value < 1e4:
        return f"{value:g}"
    mantissa, exponent = f"{value:.0e}".split("e")
    return f"{mantissa}e{int(exponent)}"


# -- convergence -------------------------------------------------------------------------------------------------------


def curves_of(cell: Cell | None) -> tuple[FloatArray, FloatArray] | None:
    """Return the evaluations of a cell's curves, and the errors of its runs, infinite where there is none yet."""
    if cell is None or not cell.get("curves") or not cell["curves"]["n_evals"]:
        return None
    return numbers(cell["curves"]["n_evals"]), np.stack([numbers(errors) for errors in cell["curves"]["error"]])


def limits(curves: Sequence[tuple[FloatArray, FloatArray]]) -> tuple[float, float]:
    """Return the first and the last evaluations to draw, at most four decades apart, and at least one."""
    most = max(n_evals[-1] for n_evals, _ in curves)
    first = min(n_evals[np.isfinite(errors).any(axis=0)].min(initial=most) for n_evals, errors in curves)
    return min(max(first, most / SHOWN), most / 10), most


def convergence_plot(experiment: SuiteResults, dim: int, prefix: str) -> tuple[Plot, ReportTable] | None:
    """Return the convergence curves of all functions in one dimension, and their numbers; None without curves."""
    found = [
        (function, number, curves)
        for function in experiment.functions(dim)
        for number, name in enumerate(experiment.algorithms)
        if (curves := curves_of(experiment.cell(function, dim, name))) is not None
    ]
    if not found:
        return None
    functions = list(dict.fromkeys(function for function, _, _ in found))
    columns, rows = min(COLUMNS, len(functions)), -(-len(functions) // COLUMNS)
    name = f"{prefix}convergence-d{dim}"
    table: list[list[Any]] = []
    with open_figure(10.5 if columns == COLUMNS else 4.2 * columns, 2.3 * rows + 0.7) as drawn:
        axes = drawn.subplots(rows, columns, squeeze=False).ravel()
        finite: set[str] = set()
        for function, number, (n_evals, errors) in found:
            ax = axes[functions.index(function)]
            low, middle, high = np.maximum(quartiles(errors), experiment.floor)
            shown = np.isfinite(middle)
            if shown.any():
                finite.add(function)
            style = line_style(number)
            ax.plot(n_evals[shown], middle[shown], linewidth=1.6, **style)
            band = np.isfinite(low) & np.isfinite(high)
            ax.fill_between(n_evals[band], low[band], high[band], color=style["color"], alpha=0.18, linewidth=0)
            label = experiment.algorithms[number]
            values = zip(n_evals, *quartiles(errors), strict=True)
            table += [[function, dim, label, *(v if np.isfinite(v) else None for v in row)] for row in values]
        first, most = limits([curves for _, _, curves in found])
        for function, ax in zip(functions, axes, strict=False):
            ax.set(title=function, xscale="log", xlim=(first, most))
            set_few_ticks(ax.xaxis)
            if function in finite:
                ax.set_yscale("log")
                set_few_ticks(ax.yaxis)
            else:
                ax.set_yticks([])
                ax.text(0.5, 0.5, "no finite error", transform=ax.transAxes, ha="center", va="center", color=FAINT)
        for ax in axes[len(functions) :]:
            ax.remove()
        drawn.supxlabel("evaluations", fontsize=9)
        drawn.supylabel("error", fontsize=9)
        legend(drawn, experiment, dim)
        svg = svg_of(drawn, name, f"Convergence curves, D = {dim}")
    note = f"Median error and quartiles of the runs. Errors below {experiment.floor:g} are drawn there."
    header = ["function", "dim", "algorithm", "n_evals", "lower quartile", "median", "upper quartile"]
    return Plot(name, f"Convergence, D = {dim}", note, svg), ReportTable(name, "", "", header, table, n_labels=3)


# -- solved targets ----------------------------------------------------------------------------------------------------


def ecdf_plot(experiment: SuiteResults, dim: int, prefix: str) -> tuple[Plot, ReportTable] | None:
    """Return the share of solved targets over evaluations in one dimension, and its numbers; None without curves.

    The pairs of run and target of all functions that every algorithm has with curves count alike, as in COCO.
    """
    cells = {
        function: [curves_of(experiment.cell(function, dim, name)) for name in experiment.algorithms_of(dim)]
        for function in experiment.functions(dim)
    }
    complete = [curves for curves in cells.values() if all(curve is not None for curve in curves)]
    if not complete:
        return None
    goals = targets(experiment.floor)
    name = f"{prefix}ecdf-d{dim}"
    table: list[list[Any]] = []
    first, most = (place / dim for place in limits([one for curves in complete for one in curves if one is not None]))
    with open_figure(8.5, 4.4) as drawn:
        ax = drawn.subplots()
        for column, label in enumerate(experiment.algorithms_of(dim)):
            found = [curves[column] for curves in complete]
            reached = (
                np.concatenate([evals_to_goals(*curve, goals).ravel() for curve in found if curve is not None]) / dim
            )
            places = np.unique(reached[np.isfinite(reached)])
            share = np.searchsorted(np.sort(reached), places, side="right") / len(reached)
            end = [share[-1] if len(share) else 0.0]
            x, y = np.concatenate([places, [most]]), np.concatenate([share, end])
            ax.step(x, y, where="post", linewidth=1.8, **line_style(experiment.number(label)))
            table += [[dim, label, float(a), float(b)] for a, b in zip(x, y, strict=True)]
        ax.set(
            xscale="log",
            xlim=(first, most),
            ylim=(0, 1.02),
            xlabel="evaluations / D",
            ylabel="share of solved targets",
        )
        set_few_ticks(ax.xaxis)
        legend(drawn, experiment, dim)
        svg = svg_of(drawn, name, f"Solved targets, D = {dim}")
    note = (
        f"{TARGETS} targets from {HIGHEST_TARGET:g} to {experiment.floor:g} on a logarithmic scale, of {len(complete)} "
        "functions, for every run. Evaluations are the curves', twenty a decade."
    )
    header = ["dim", "algorithm", "evaluations / D", "share"]
    return Plot(name, f"Solved targets, D = {dim}", note, svg), ReportTable(name, "", "", header, table, n_labels=2)


def running_times_table(experiment: SuiteResults, dim: int, prefix: str) -> ReportTable | None:
    """Return the expected running times to several errors in one dimension, from the curves; None without curves."""
    goals = np.array([goal for goal in ERRORS if goal >= experiment.floor])
    rows: list[list[Any]] = []
    for function in experiment.functions(dim):
        for name in experiment.algorithms_of(dim):
            cell = experiment.cell(function, dim, name)
            curves = curves_of(cell)
            if cell is not None and curves is not None:
                reached, n_evals = evals_to_goals(*curves, goals), numbers(cell["n_evals"])
                times_to = [estimate_running_time(column, n_evals) for column in reached.T]
                rows.append([function, experiment.labels[name], *times_to])
    if not rows:
        return None
    title = f"Expected running times, D = {dim}"
    note = (
        "Evaluations until an error is reached, if runs are repeated until one reaches it: the evaluations of all runs "
        "until they do, divided by the number of runs that do. From the curves, with points 12 % apart."
    )
    header = ["function", "algorithm", *(tick_text(goal) for goal in goals)]
    return ReportTable(f"{prefix}running-times-d{dim}", title, note, header, rows, n_labels=2, folded=True)


# -- critical differences ----------------------------------------------------------------------------------------------


def difference_plot(experiment: SuiteResults, dim: int, prefix: str) -> Plot:
    """Return the critical-difference diagram of the algorithms in one dimension."""
    import pandas

    values = experiment.medians(dim)
    labels = [experiment.labels[algorithm] for algorithm in experiment.algorithms_of(dim)]
    ranks = pandas.Series(friedman_ranks(values), labels)
    pairs = pandas.DataFrame(nemenyi(values), labels, labels)
    name = f"{prefix}differences-d{dim}"
    with open_figure(9.5, 1.0 + 0.26 * len(labels)) as drawn:
        ax = drawn.subplots()
        ax.grid(False)
        posthocs().critical_difference_diagram(
            ranks,
            pairs,
            ax=ax,
            alpha=ALPHA,
            label_fmt_left="{label} ({rank:.2f})",
            label_fmt_right="({rank:.2f}) {label}",
            color_palette=dict.fromkeys(labels, INK),
            elbow_props={"linewidth": 0.8},
            crossbar_props={"color": "#0a0b01", "linewidth": 3},
        )
        svg = svg_of(drawn, name, f"Critical differences, D = {dim}")
    note = f"Mean ranks of median errors, 1 is best. Nemenyi's test at {ALPHA:g} finds no difference below a bar."
    return Plot(name, f"Critical differences, D = {dim}", note, svg)


# -- times -------------------------------------------------------------------------------------------------------------


def pop_size_of(algorithm: str) -> tuple[str, int] | None:
    """Return the name of an algorithm without its population, and the population; None where it has the default."""
    match = re.search(r"(?<![\w])(pop_size|population_size)=(\d+)", algorithm)
    if match is None:
        return None
    rest = (algorithm[: match.start()] + algorithm[match.end() :]).replace(",,", ",").rstrip(",:").replace(":,", ":")
    return rest, int(match[2])


def times(experiment: SuiteResults) -> list[tuple[str, int, float]]:
    """Return algorithm, dimension and microseconds an evaluation, the median over the functions."""
    found: dict[tuple[str, int], list[float]] = {}
    for cell in experiment.record["cells"]:
        evaluations = sum(cell["n_evals"])
        if evaluations and not cell.get("failures"):
            found.setdefault((cell["algorithm"], cell["dim"]), []).append(cell["seconds"] / evaluations * 1e6)
    return [(algorithm, dim, float(np.median(values))) for (algorithm, dim), values in found.items()]


def times_plot(experiment: SuiteResults, prefix: str) -> tuple[Plot, ReportTable] | None:
    """Return the time of an evaluation over dimensions and populations, and its numbers; None if all cells failed."""
    rows = times(experiment)
    if not rows:
        return None
    by_dim: dict[str, list[tuple[float, float]]] = {}
    by_size: dict[str, list[tuple[float, float]]] = {}
    table: list[list[Any]] = []
    for algorithm, dim, spent in rows:
        by_dim.setdefault(experiment.labels[algorithm], []).append((dim, spent))
        sized = pop_size_of(algorithm)
        if sized is not None:
            by_size.setdefault(f"{sized[0]}, D = {dim}", []).append((sized[1], spent))
        table.append([algorithm, dim, None if sized is None else sized[1], spent])
    by_size = {name: points for name, points in by_size.items() if len(points) > 1}
    panels = [("D", by_dim), *([("population", by_size)] if by_size else [])]
    name = f"{prefix}times"
    svg = panels_svg(panels, "microseconds an evaluation", name)
    note = (
        "Seconds of all runs of a cell, divided by their evaluations; the median over the functions. The runs of skde "
        "are done together, other libraries' one after the other."
    )
    header = ["algorithm", "dim", "population", "microseconds an evaluation"]
    return Plot(name, "Time over dimensions and populations", note, svg), ReportTable(name, "", "", header, table)


def panels_svg(panels: Sequence[tuple[str, dict[str, list[tuple[float, float]]]]], ylabel: str, name: str) -> str:
    """Return lines through points on logarithmic axes, one panel for each quantity, each with its legend."""
    longest = max(len(lines) for _, lines in panels)
    with open_figure(max(5.2 * len(panels), NARROWEST), 3.4 + 0.2 * longest) as drawn:
        axes = drawn.subplots(1, len(panels), squeeze=False)[0]
        for ax, (xlabel, lines) in zip(axes, panels, strict=True):
            for number, (label, points) in enumerate(lines.items()):
                x, y = zip(*sorted(points), strict=True)
                ax.plot(x, y, marker="o", markersize=4, linewidth=1.6, label=label, **line_style(number))
            ax.set(xscale="log", yscale="log", xlabel=xlabel, ylabel=ylabel)
            ticks = sorted({x for points in lines.values() for x, _ in points})
            ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
            ax.xaxis.set_minor_locator(null_locator())
            set_few_ticks(ax.yaxis)
            ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), handlelength=2.6)
        return svg_of(drawn, name, ylabel)


def null_locator() -> Any:
    """Return a locator without ticks."""
    from matplotlib.ticker import NullLocator

    return NullLocator()


def scale_plots(record: Record, prefix: str) -> list[Plot]:
    """Return the time of a generation over populations, dimensions and runs of `skde bench speed --scale`."""
    quantities = {"population": "pop_size", "large": "pop_size", "dimension": "dim", "runs": "n_runs"}
    plots = []
    for dtype in dict.fromkeys(row["dtype"] for row in record["figures"]):
        panels = []
        for axis in ("population", "dimension", "runs"):
            lines: dict[str, list[tuple[float, float]]] = {}
            for row in record["figures"]:
                if (row["axis"], row["dtype"]) == (axis, dtype):
                    lines.setdefault(row["algorithm"], []).append((row[quantities[axis]], float(np.median(row["us"]))))
            if lines:
                panels.append((axis, lines))
        if panels:
            name = f"{prefix}{dtype}"
            svg = panels_svg(panels, "microseconds a generation", name)
            plots.append(Plot(name, f"Time of a generation, {dtype}", "", svg))
    return plots
