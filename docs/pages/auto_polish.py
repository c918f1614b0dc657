"""The section on the polish of algorithm="auto", from the record auto-polish.json."""

from __future__ import annotations

from skde.benchmark.hypothesis_tests import ALPHA

from .sources import described, read

NAME = "auto-polish"


def section() -> list[str]:
    """Return the numbers of solved runs with and without the polish, by dimension and budget."""
    record = read(NAME)
    rows, settings = record["rows"], record["settings"]
    lost = [row for row in rows if row["p"] < ALPHA and row["lost"] > row["won"]]
    finding = (
        f"In {len(lost)} of {len(rows)} cases the polish costs more runs than chance explains."
        if lost
        else "In no case does the polish cost more runs than chance explains."
    )
    lines = [
        "## Polish of `auto`",
        "",
        f"BBOB, {settings['functions']} functions, one run of `fit` on each of the instances "
        f"{', '.join(str(one) for one in settings['instances'])}, with the polish and with `polish=False`. "
        f"{described(record, NAME)}",
        "",
        f"The table has the runs that reach {settings['zero']:g}, those that only one of the two reaches, and p of the",
        f"sign test on these. {finding} The last column has the mean evaluations of the polish.",
        "",
        "| variables | evaluations for each | runs | without | with | only without | only with | p | evaluations |",
        "|" + "---|" * 9,
    ]
    for row in rows:
        cells = [row[name] for name in ("dim", "per_variable", "runs", "without", "with", "lost", "won")]
        lines.append(f"| {' | '.join(map(str, cells))} | {row['p']:.2g} | {row['polish_evals']} |")
    return [*lines, ""]
