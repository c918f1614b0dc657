"""The page on platforms, and the plot of solved targets on BBOB, from benchmarks/records/bbob-ecdf.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from figures.svg import draw_svg
from skde.benchmark.peer_optimizers import LIBRARIES

from .sources import RECORDS

DOCS = Path(__file__).resolve().parents[1]
NAME = "bbob-ecdf"
COLOURS = ("#1f5fa8", "#c44e52", "#55a868", "#8172b3", "#937860")
TITLES = {"all": "51 targets, 1e2 to 1e-8", "last": "last target, 1e-8"}


def read() -> dict[str, Any]:
    """Return the record."""
    record: dict[str, Any] = json.loads((RECORDS / f"{NAME}.json").read_text())
    return record


def page() -> str:
    """Return the page."""
    text = (DOCS / "texts" / "platforms.md").read_text()
    peers = "\n".join(
        f"| `{name}` | {', '.join(f'`{algorithm}`' for algorithm in library.algorithms)} |"
        for name, library in LIBRARIES.items()
    )
    made = "<!-- Made by docs/render.py from docs/texts/platforms.md and benchmarks/records/bbob-ecdf.json. -->"
    return f"{made}\n\n{text.replace('PEERS', peers)}" + "\n".join(section(read())) + "\n"


def section(record: dict[str, Any]) -> list[str]:
    """Return the lines on the measurement."""
    settings, machine = record["settings"], record["machine"]
    dims = sorted({row["dim"] for row in record["rows"]})
    names = list(dict.fromkeys(row["algorithm"] for row in record["rows"]))
    archive, budget = record["archive"], record["evaluations_per_variable"][-1]
    share = {(row["algorithm"], row["dim"], row["targets"]): row["share"][-1] for row in record["rows"]}

    def table(targets: str) -> list[str]:
        rows = [name for name in names if (name, dims[0], targets) in share]
        return [
            "| algorithm | " + " | ".join(f"D={dim}" for dim in dims) + " |",
            "|---|" + "---|" * len(dims),
            *(
                f"| `{name}` | " + " | ".join(f"{share[name, dim, targets]:.3f}" for dim in dims) + " |"
                for name in rows
            ),
        ]

    return [
        f"{settings['runs']} instances of 24 functions, {settings['budget']} evaluations. {machine['cpu']}, "
        f"{machine['isa']}; {record['date'][:10]}, commit {(record['commit'] or 'none')[:10]}, "
        f"coco-experiment {settings['platform'].split()[-1]}, cocopp {record['versions']['cocopp']}, "
        f"`{record['command']}` ([{NAME}.json](../benchmarks/records/{NAME}.json)).",
        "",
        f"![Shares of solved targets]({NAME}.svg)",
        "",
        "cocopp has read the folders; the plot has its numbers of evaluations, without its simulated restarts. "
        f"{archive} (broken) is of COCO's archive: 15 trials, three on each of five instances. Without a download "
        "cocopp has its evaluations to the last target only; so it is not in the first row, which has all 51 targets. "
        "`python -m cocopp` draws those too, where it can download the archive. `lshade` and `jso` plan with the "
        "budget, so their curves rise near its end.",
        "",
        f"Pairs of function and trial that were solved to 1e-8 in {budget:g} evaluations for each variable:",
        "",
        *table("last"),
        "",
        "Pairs of function, trial and target, for all 51 targets:",
        "",
        *table("all"),
    ]


def plot(record: dict[str, Any]) -> bytes:
    """Return an SVG: the share of solved targets against evaluations for each variable."""
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
