"""Ranks of "auto" as it is now on the suites of held_out.py, among the runs of the others that this has measured.

The finished parts are held_out.py's, and stay as they are: "auto" alone runs again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from comparison import parse_arguments
from held_out import EXPERIMENTS, SETTINGS, SUITES, measure, measure_parts, median_errors, rows

from skde.algorithms.auto import AUTO
from skde.benchmark import provenance
from skde.benchmark.records import write_figures


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the record."""
    options, command = parse_arguments(__doc__, "held_out_auto.py", arguments)
    first = measure_parts(options.parts)
    own = [measure(suite, per_variable, AUTO) for per_variable, _ in EXPERIMENTS for suite in SUITES]
    write_figures(options.out, {**provenance(command), "settings": SETTINGS, "rows": list(readings(first, own))})


def readings(first: Sequence[dict[str, Any]], own: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the figures of "auto" and the mean ranks of all by budget.

    `lower` and `higher` are the functions on which the median error is so now.
    """
    second = [*(part for part in first if part["algorithm"] != AUTO), *own]
    ranked = list(rows(second))
    for per_variable, _ in EXPERIMENTS:
        found = [row for row in ranked if row["per_variable"] == per_variable]
        before, now = (
            np.concatenate([median_errors(parts, suite, per_variable, (AUTO,)) for suite in SUITES])
            for parts in (first, second)
        )
        yield {
            **next(row for row in found if row["algorithm"] == AUTO),
            "lower": int((now < before).sum()),
            "higher": int((now > before).sum()),
            "ranks": {row["algorithm"]: row["rank"] for row in found},
        }


if __name__ == "__main__":
    main()
