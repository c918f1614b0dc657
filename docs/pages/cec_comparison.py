"""The section on all algorithms on CEC 2017 and CEC 2011, from the record cec-comparison.json."""

from __future__ import annotations

from skde.algorithms.auto import AUTO

from . import bbob
from .sources import described, link, read

NAME = "cec-comparison"
TITLES = {"cec2017": "CEC 2017", "cec2011": "CEC 2011"}


def section() -> list[str]:
    """Return the lowest mean ranks, the place of `auto`, and the ranks of all, by suite and budget."""
    record = read(NAME)
    rows, settings = record["rows"], record["settings"]
    lines = [
        "## All algorithms on CEC 2017 and CEC 2011",
        "",
        f"CEC 2017 has {settings['dim']} variables here, and the problems of CEC 2011 have 1 to 240. Each algorithm",
        f"has {settings['runs']} runs on each function, and ranks are those of the medians. {described(record, NAME)}",
        "p is that of `auto` against the lowest mean rank, by Friedman's test with Holm's correction. The rule of",
        "`auto` was chosen on these suites, too, so that its places here say less about other functions than",
        "[those above](#suites-that-no-choice-has-seen).",
        "",
        "| suite | evaluations for each variable | lowest mean ranks | lowest of skde | `auto` | p |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        ranks = row["ranks"]
        own = {name: rank for name, rank in ranks.items() if ":" not in name}
        place = bbob.place_text(ranks[AUTO], [{"rank": rank} for rank in ranks.values()])
        auto = f"{ranks[AUTO]:.1f}, {place} of {len(ranks)}"
        cells = (TITLES[row["suite"]], row["per_variable"], bbob.lowest(ranks, 3), bbob.lowest(own, 3), auto, row["p"])
        lines.append(f"| {' | '.join(map(str, cells))} |")
    heads = [f"{TITLES[row['suite']]}, {row['per_variable']}" for row in rows]
    lines += ["", "The mean ranks of all. An empty place was not run.", ""]
    lines += [f"| algorithm | {' | '.join(heads)} |", "|---" * (len(rows) + 1) + "|"]
    for name in rows[0]["ranks"]:
        cells = [f"{row['ranks'][name]:.1f}" if name in row["ranks"] else "" for row in rows]
        lines.append(f"| {link(name)} | {' | '.join(cells)} |")
    return [*lines, ""]
