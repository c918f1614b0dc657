"""Other libraries' algorithms, and the targets on BBOB that algorithms solve."""

from __future__ import annotations

from typing import Any

from skde.benchmark.peer_optimizers import LIBRARIES

from .records import read, source, table
from .svg import draw_svg

NAME = "bbob-ecdf"
COLOURS = ("#1f5fa8", "#c44e52", "#55a868", "#8172b3", "#937860")
TITLES = {"all": "51 targets, 1e2 to 1e-8", "last": "last target, 1e-8"}


def libraries() -> list[str]:
    """Return the names of other libraries' algorithms."""
    names = ((name, ", ".join(f"`{one}`" for one in library.algorithms)) for name, library in LIBRARIES.items())
    return table(["library", "algorithms"], ((f"`{name}`", algorithms) for name, algorithms in names))


def shares(targets: str) -> list[str]:
    """Return the shares of solved targets at the end."""
    found: dict[str, dict[int, str]] = {}
    for row in read(NAME)["rows"]:
        if row["targets"] == targets:
            found.setdefault(row["algorithm"], {})[row["dim"]] = f"{row['share'][-1]:.3f}"
    dims = sorted(next(iter(found.values())))
    cells = ([f"`{name}`", *(by_dim[dim] for dim in dims)] for name, by_dim in found.items())
    return [*table(["algorithm", *(f"D={dim}" for dim in dims)], cells), *source(NAME)]


def plot() -> bytes:
    """Return an SVG: the share of solved targets against evaluations for each variable."""
    record = read(NAME)
    dims = sorted({row["dim"] for row in record["rows"]})
    names = list(dict.fromkeys(row["algorithm"] for row in record["rows"]))
    colours = dict(zip(names, COLOURS, strict=True))
    grid = record["evaluations_per_variable"]

    def draw(figure: Any) -> None:
        panels = figure.subplots(len(TITLES), len(dims), sharex=True, sharey=True)
        labels: dict[str, Any] = {}
        for (targets, title), line_of_panels in zip(TITLES.items(), panels, strict=True):
            for dim, axes in zip(dims, line_of_panels, strict=True):
                for row in record["rows"]:
                    if (row["targets"], row["dim"]) == (targets, dim):
                        name = row["algorithm"]
                        style = "--" if name == record["archive"] else "-"
                        (labels[name],) = axes.plot(grid, row["share"], style, color=colours[name], lw=1.2)
                axes.set(xscale="log", xlim=(1, grid[-1]), ylim=(0, 1), yticks=(0, 0.5, 1))
                axes.minorticks_off()
                if targets == "all":
                    axes.set_title(f"D={dim}")
                else:
                    axes.set_xlabel("evaluations / D")
            line_of_panels[0].set_ylabel(title)
        figure.legend(labels.values(), labels.keys(), loc="outside right center", fontsize=8)

    return draw_svg((2.1 * len(dims) + 1.5, 4.4), draw)
