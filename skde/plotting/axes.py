"""Axes of plots: their scales, bands of runs, and landscapes."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np

from skde.curves import Band
from skde.typing import FloatArray

BAND = {"alpha": 0.2, "linewidth": 0}
LEVELS = 24
NOTE = "without-values"  # the group of notes among the texts of axes


def axes_of(ax: Any) -> Any:
    """Return the given axes, or new ones of pyplot.

    Raises
    ------
    ImportError
        Without matplotlib.
    """
    if find_spec("matplotlib") is None:
        raise ImportError("plots need matplotlib, which is not installed: pip install 'skde[plot]'")
    if ax is not None:
        return ax
    from matplotlib import pyplot

    new = pyplot.subplots(figsize=(6.0, 4.0), layout="constrained")[1]
    new.grid(alpha=0.3)
    new.set_axisbelow(True)
    new.spines[["top", "right"]].set_visible(False)
    return new


def write_title(ax: Any, title: str | None) -> None:
    """Write the title, where the axes have none yet."""
    if title and not ax.get_title():
        ax.set_title(title)


def show_legend(ax: Any, place: str = "best", title: str | None = None, frame: bool = False) -> None:
    """Show the legend, where something has a label; with a frame over a landscape."""
    if ax.get_legend_handles_labels()[1]:
        ax.legend(frameon=frame, framealpha=0.85, loc=place, title=title)


def note_without_values(ax: Any, name: str | None = None, text: str = "no finite value") -> None:
    """Write into the axes that there is nothing to draw, below earlier notes."""
    above = sum(one.get_gid() == NOTE for one in ax.texts)
    said = f"{name}: {text}" if name else text
    ax.text(0.5, 0.5 - 0.07 * above, said, transform=ax.transAxes, ha="center", va="center", color="0.4", gid=NOTE)


def note_values(ax: Any, values: Any, name: str | None = None) -> None:
    """Write into the axes that no value is finite, where none is."""
    if not np.isfinite(np.asarray(values, np.float64)).any():
        note_without_values(ax, name)


def draw_band(ax: Any, band: Band, *, spread: bool, **style: Any) -> list[Any]:
    """Draw the median and, with `spread`, the band between the quartiles; return the line and perhaps the band.

    Infinite values are not drawn: the runs have no feasible point yet.
    """
    finite = np.isfinite(band.middle)
    (line,) = ax.plot(band.x[finite], band.middle[finite], **style)
    drawn = [line]
    if spread:
        # A quartile that is still infinite would leave a gap: the band then begins later.
        both = np.isfinite(band.low) & np.isfinite(band.high)
        colour = {"color": line.get_color(), **BAND}
        drawn.append(ax.fill_between(band.x[both], band.low[both], band.high[both], **colour))
    return drawn


def clip_band(band: Band, floor: float) -> Band:
    """Return a band with its values at `floor` or above."""
    return Band(band.x, *(np.maximum(part, floor) for part in band[1:]))


def draw_floor(ax: Any, floor: float) -> None:
    """Let a logarithmic axis end a little below the floor, where values at the floor can be seen."""
    ax.set_yscale("log")
    low, high = ax.get_ylim()
    if low <= floor:
        ax.set_ylim(floor / 3, high)


def thin_ticks(axis: Any) -> None:
    """Give a logarithmic axis at most seven ticks."""
    from matplotlib.ticker import LogFormatterSciNotation, LogLocator, NullLocator

    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(numticks=7, subs=(1.0,) if high > 100 * low else (1.0, 2.0, 5.0)))
    axis.set_major_formatter(LogFormatterSciNotation(minor_thresholds=(np.inf, np.inf)))
    axis.set_minor_locator(NullLocator())


def draw_landscape(ax: Any, x: FloatArray, y: FloatArray, values: FloatArray, label: str) -> Any:
    """Draw the values of a function of two variables as filled contours with a colour bar; return the contours."""
    shown = np.ma.masked_invalid(values)
    # Levels by rank, so that a valley is seen next to steep slopes.
    levels = np.unique(np.quantile(shown.compressed(), np.linspace(0, 1, LEVELS))) if shown.count() else np.empty(0)
    if not len(levels):
        note_without_values(ax, label)
    if len(levels) < 2:
        return None
    from matplotlib.colors import BoundaryNorm, LinearSegmentedColormap

    greys = LinearSegmentedColormap.from_list("light", ["1.0", "0.55"])
    contours = ax.contourf(x, y, shown, levels=levels, norm=BoundaryNorm(levels, 256), cmap=greys, zorder=0)
    bar = ax.figure.colorbar(contours, ax=ax, label=label)
    bar.set_ticks(levels[:: max(1, len(levels) // 5)])
    bar.ax.set_yticklabels([f"{level:.3g}" for level in bar.get_ticks()])
    return contours
