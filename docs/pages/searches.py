"""The tables of searches in docs/hyperparameters.md, from the record benchmarks/records/searches.json."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .sources import RECORDS

DOCS = Path(__file__).resolve().parents[1]
RECORD = RECORDS / "searches.json"
BEGIN = "<!-- Made by docs/render.py from benchmarks/records/searches.json, up to the next mark. -->"
END = "<!-- The end of what is made. -->"
MEASURES = {"score": "score on the outer test rows", "inner": "best mean score of the inner splits"}


def page() -> str:
    """Return the page with new tables."""
    before, rest = (DOCS / "hyperparameters.md").read_text().split(BEGIN)
    text = "\n".join(tables(json.loads(RECORD.read_text())))
    return f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.split(END)[1]}"


def tables(record: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of the tables."""
    settings, summary, rows = record["settings"], record["summary"], record["figures"]
    fits = settings["n_iter"] * settings["inner"]
    tasks = list(dict.fromkeys(row["task"] for row in rows))
    n = summary[0]["n"]
    yield (
        f"{len(tasks)} tasks, each a data set and an estimator; {fits} fits for every search; {n} pairs of a task and "
        "an outer split. A rank of 1 is the best. Tasks are won and lost by racing in means over outer splits; p is "
        "that of Wilcoxon's test over the tasks."
    )
    for measure, name in MEASURES.items():
        yield ""
        yield f"| search | mean rank, {name} | racing won, lost | p |"
        yield "|---|---:|---:|---:|"
        for entry in (entry for entry in summary if entry["measure"] == measure):
            against = f"{entry['won']}, {entry['lost']}" if "won" in entry else "-"
            yield f"| {entry['search']} | {entry['mean_rank']:.2f} | {against} | {entry.get('p', '-')} |"
    yield ""
    searches = list(dict.fromkeys(row["search"] for row in rows))
    yield f"| task, mean {MEASURES['score']} | {' | '.join(searches)} |"
    yield f"|---|{'---:|' * len(searches)}"
    for task in tasks:
        found = [[row["score"] for row in rows if (row["task"], row["search"]) == (task, one)] for one in searches]
        yield f"| {task} | {' | '.join(f'{np.mean(scores):.4f}' if scores else '-' for scores in found)} |"
    yield ""
    yield f"From [searches.json](../benchmarks/records/searches.json), on {record['machine']['cpu']}:"
    yield ""
    for made in [*record.get("earlier", []), record]:
        yield f"- {made['date'][:10]}, commit {made['commit'][:10]}: `{made['command']}`"
