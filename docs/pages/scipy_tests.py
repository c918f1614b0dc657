"""The number of SciPy's tests that pass, between two marks of docs/scipy.md, from the record scipy-tests.json."""

from __future__ import annotations

from typing import Any

from .sources import DOCS, read

BEGIN = "<!-- Made by docs/render.py from benchmarks/records/scipy-tests.json, up to the next mark. -->"
END = "<!-- The end of what is made. -->"


def page() -> str:
    """Return the page with a new sentence."""
    before, rest = (DOCS / "scipy.md").read_text().split(BEGIN)
    return f"{before}{BEGIN}\n\n{sentence(read('scipy-tests'))}\n\n{END}{rest.split(END)[1]}"


def sentence(record: dict[str, Any]) -> str:
    """Return how many tests pass, and the source."""
    rows = record["figures"]
    failed = ", ".join(f"`{row['test']}`" for row in rows if not row["passed"])
    without = f" These do not: {failed}." if failed else ""
    n_passed, version = sum(row["passed"] for row in rows), record["versions"]["scipy"]
    return (
        f"{n_passed} of the {len(rows)} tests in SciPy {version}'s own file that call the public function pass with "
        f"nothing changed but the import.{without} From [scipy-tests.json](../benchmarks/records/scipy-tests.json), "
        f"{record['date'][:10]}, commit {record['commit'][:10]}: `{record['command']}`"
    )
