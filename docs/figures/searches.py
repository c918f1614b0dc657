"""The comparison of searches for hyperparameters."""

from __future__ import annotations

from statistics import mean

from .records import read, source, table

NAME = "searches"
MEASURES = {"score": "score on the outer test rows", "inner": "best mean score of the inner splits"}


def ranks(measure: str) -> list[str]:
    """Return the mean ranks of the searches by a measure, and their comparisons with racing."""
    rows = [row for row in read(NAME)["summary"] if row["measure"] == measure]
    heads = ["search", f"mean rank, {MEASURES[measure]}", "racing won, lost", "p"]
    cells = []
    for row in rows:
        won = f"{row['won']}, {row['lost']}" if "won" in row else "-"
        cells.append((row["search"], f"{row['mean_rank']:.2f}", won, row.get("p", "-")))
    return table(heads, cells, right=True)


def scores() -> list[str]:
    """Return the mean scores on the outer test rows by task and search."""
    rows = read(NAME)["figures"]
    found: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        found.setdefault(row["task"], {}).setdefault(row["search"], []).append(row["score"])
    searches = list(dict.fromkeys(row["search"] for row in rows))
    cells = [
        (task, *(f"{mean(by_search[one]):.4f}" if one in by_search else "-" for one in searches))
        for task, by_search in found.items()
    ]
    return [*table([f"task, mean {MEASURES['score']}", *searches], cells, right=True), *source(NAME)]
