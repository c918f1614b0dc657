"""Tables of docs/figures."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import pytest

from ..documents import DOCS, needs_records


@pytest.fixture(scope="module", autouse=True)
def figures() -> Iterator[None]:
    """Let tests import docs/figures."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(DOCS)
        yield


def scale_record() -> dict[str, Any]:
    """Return a record of `skde bench speed --scale` with two sizes, a peer, and one size that was left out."""
    cell = {"axis": "population", "algorithm": "de", "dtype": "float64", "dim": 30, "n_runs": 1}
    row = {"us": [20.0, 10.0, 30.0], "bytes": 512.0, "largest": 5000, "peers": {"pygmo": [40.0, 30.0, 30.0]}}
    return {
        **{"date": "2026-01-01T00:00:00", "commit": "0123456789ab", "command": "skde bench speed --scale"},
        **{"driver": None, "machine": {"cpu": "processor"}},
        "memory": {"available": 2**30, "copy_bytes_per_second": [1e10]},
        "settings": {"dtypes": ["float64"], "peers": {"pygmo de": "a note", "evosax de": "absent"}},
        "figures": [{**cell, **row, "pop_size": size, "trials": size} for size in (100, 1000)],
        "left_out": [{**cell, "pop_size": 10**6, "program": "skde", "reason": "it is too large"}],
    }


def test_a_record_of_sizes_makes_tables() -> None:
    scale = importlib.import_module("figures.scale")
    lines = scale.tables_of(scale_record())
    assert "| algorithm | D=30, NP=100 | D=30, NP=1000 |" in lines
    assert "| de | 200 (61%) | 20 (608%) |" in lines
    assert "| de, D=30, NP=100 | 2 |" in lines
    assert [scale.mark(ratio) for ratio in (0.536, 1.0, 12.34)] == ["**0.536**", "1", "12.3"]
    assert "| de | float64 | 512 | 5000 |" in lines
    assert "- skde: de float64 D=30 NP=1000000: it is too large" in lines
    assert "Not installed: evosax de." in lines
    assert scale.rate(scale_record()) == 10


def test_a_plot_of_sizes_has_the_limit_and_the_peers() -> None:
    scale = importlib.import_module("figures.scale")
    first, second = (scale.plot_of(scale_record()) for _ in range(2))
    assert first == second
    for label in (b"limit", b"pygmo de", b"ns an evaluation"):
        assert label in first


def test_rotated_functions_have_the_papers_times_and_the_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    speed = importlib.import_module("figures.speed")
    rows = [{"function": f"F{number}", "alone": 0.2, "together": 0.1004} for number in range(1, 11)]
    rows[9]["alone"] = 1.85
    monkeypatch.setattr(speed, "read", lambda name: {"settings": {"runs": 30}, "figures": rows})
    monkeypatch.setattr(speed, "source", lambda name: [name])
    lines = speed.rotations("rotations-card")
    assert "| function | one run | 30 together, each | paper | paper / one run |" in lines
    assert "| F1 | 0.200 | 0.100 | 0.63 | 3.15 |" in lines
    assert "| F10 | 1.850 | 0.100 | 1.85 | 1.00 |" in lines
    assert "| mean | 0.365 | 0.100 | 0.97 | 2.66 |" in lines
    assert lines[-1] == "rotations-card"


def test_processes_are_compared_by_their_runs() -> None:
    speed = importlib.import_module("figures.speed")
    row = {"dim": 30, "pop_size": 100, "n_runs": 4, "n_islands": 1, "us_per_generation": {"1": 50.0, "16": 64.0}}
    lines = speed.parallel_table("processes", [row])
    assert "| setting | 1 process | 16 processes | times the runs |" in lines
    assert "| D=30, NP=100, 4 runs | 50 | 64 | 12.50 |" in lines
    assert "| setting | 1 thread | 16 threads | 1 / 16 |" in speed.parallel_table("threads", [row])
    islands = {**row, "n_runs": 1, "n_islands": 64}
    assert speed.setting(islands) == "D=30, NP=100, 64 islands, migration every 50"


def test_a_source_has_all_processors_commits_and_the_note(monkeypatch: pytest.MonkeyPatch) -> None:
    records = importlib.import_module("figures.records")
    made = {"date": "2026-01-02T00:00:00", "command": "skde bench run", "commit": "c" * 40}
    parts = [{"cpu": "A", "commit": "a" * 40}, {"cpu": "B", "commit": "b" * 40}]
    machine = {"cpu": "B", "isa": "x86-64-v4"}
    known = {
        "cells": {**made, "machine": machine, "sources": parts, "cells": []},
        "rows": {**made, "machine": machine, "rows": [{"commit": "d" * 40}, {}]},
        "card": {**made, "driver": {"gpu": "card"}, "before": "e" * 40, "note": "busy", "figures": []},
    }
    monkeypatch.setattr(records, "read", known.get)
    assert records.source("cells") == [
        f"B, A, x86-64-v4; 2026-01-02, commit {'a' * 10}, {'b' * 10}, {'c' * 10}, `skde bench run` "
        "([cells.json](../benchmarks/records/cells.json)).",
        "",
    ]
    assert f"B, x86-64-v4; 2026-01-02, commit {'c' * 10}, {'d' * 10}, `" in records.source("rows")[0]
    card = f"card; 2026-01-02, commit {'c' * 10} after {'e' * 10}, `skde bench run`; busy ("
    assert records.source("card")[0].startswith(card)


@needs_records
def test_algorithms_with_equal_ranks_share_their_places() -> None:
    ranks = importlib.import_module("figures.ranks")
    group = {"a": 1.5, "b": 1.5, "lib:c": 3.0, "d": 4.5, "e": 4.5}
    places = ["1.5, places 1 to 2 of 5", "3.0, place 3 of 5", "4.5, places 4 to 5 of 5"]
    assert [ranks.place(name, group) for name in ("b", "lib:c", "d")] == places
    assert ranks.lowest({"a": 2.0, "b": 1.0, "c": 2.0}, 2) == "`b` 1.0, `a` 2.0 and 1 equal"
    assert list(ranks.own(group)) == ["a", "b", "d", "e"]
    bbob = importlib.import_module("figures.bbob")
    assert any("places 2 to 3 of 33" in line for line in bbob.lowest_ranks())
    assert "| 1000 | 4 / 16 / 4, p=1 |" in "\n".join(bbob.pycma())  # cmaes against pycma


@needs_records
def test_suites_that_no_choice_has_seen() -> None:
    figures = importlib.import_module("figures.held_out")
    assert [figures.mark({"rank": 9.14, "p": p}) for p in (1.0, 0.049)] == ["**9.1**", "9.1"]
    (last,) = (line for line in figures.lowest_ranks() if line.startswith("| 10000 |"))
    assert "places 1 to" in last or "place 1 of 31" in last
    assert "| `cma:bipop` | **9.5** | 14.5 |  |" in figures.all_ranks()  # not run with the largest budget


@needs_records
def test_the_second_reading_of_auto() -> None:
    figures = importlib.import_module("figures.held_out")
    first, again = (figures.read(name)["rows"] for name in (figures.NAME, figures.SECOND))
    for row in again:  # one algorithm of the ranking has changed, by which a rank changes by at most one
        before = {one["algorithm"]: one["rank"] for one in first if one["per_variable"] == row["per_variable"]}
        assert before.keys() == row["ranks"].keys()
        assert all(abs(row["ranks"][name] - rank) <= 1 for name, rank in before.items() if name != "auto")
    assert "0 / 52 / 0, p=1 |" in "\n".join(figures.second())  # no polish with 1000 evaluations


def rows_of_reading(name: str) -> list[str]:
    """Return the rows of a later reading of `auto`."""
    figures = importlib.import_module("figures.held_out")
    return [line for line in figures.reading(name) if line.startswith(("| 52: ", "| 17: "))]


@needs_records
def test_the_third_reading_of_auto() -> None:
    rows = rows_of_reading("held-out-middle")
    assert [row.split(":")[0] for row in rows] == ["| 52", "| 17", "| 52"]
    assert all("cec20" in row and " place" in row for row in rows)
    assert "| `auto` 4.3, `minionpy:RDEX` 6.3, " in rows[1]
    assert "| 4.3, place 1 of 31 | cec2019, D=10 4.9, cec2020, D=15 3.9 | 1 |" in rows[1]


@needs_records
def test_the_fourth_reading_of_auto() -> None:
    rows = rows_of_reading("held-out-sizes")
    assert [row.split(":")[0] for row in rows] == ["| 52", "| 17", "| 52"]
    assert all(" lowest " not in row and "| `auto` " in row and "place 1 of 3" in row for row in rows)


@needs_records
def test_the_fifth_reading_of_auto() -> None:
    rows = rows_of_reading("held-out-large")
    assert [row.split(":")[0] for row in rows] == ["| 52", "| 17"]
    assert "| `minionpy:ARRDE` 9.1, `arrde` 9.9, " in rows[0]
    assert "| 10.1, place 3 of 31 | cec2014, D=10 9.9, cec2020, D=10 8.1, " in rows[0]
    assert "| 9.3, place 8 of 31 | " in rows[1]


@needs_records
def test_all_algorithms_on_cec() -> None:
    figures = importlib.import_module("figures.cec")
    budgets = [line.split(" | ")[:2] for line in figures.lowest_ranks() if line.startswith("| CEC ")]
    assert budgets == [
        *(["| CEC 2017", budget] for budget in ("100", "1000", "10000")),
        *(["| CEC 2011", budget] for budget in ("100", "1000", "10000")),
    ]
    lines = figures.all_ranks()
    for name in ("auto", "rdex", "scipy:differential_evolution"):
        assert f"| {figures.link(name)} | " in "\n".join(lines)
    (slow,) = (line for line in lines if line.startswith("| `cma:bipop` | "))
    assert slow.endswith(" |  |  |  |")  # not on CEC 2011


@needs_records
def test_middle_budgets_of_auto() -> None:
    rows = importlib.import_module("figures.auto").middle_budgets()
    assert sum(line.startswith("| BBOB | ") for line in rows) == 20
    assert sum(line.startswith("| CEC 2017 | ") for line in rows) == 8
    assert sum(line.startswith("| `janssen2024` | ") for line in rows) == 11


@needs_records
def test_small_budgets_of_auto() -> None:
    rows = importlib.import_module("figures.auto").small_budgets()
    assert sum(line.startswith("| BBOB | ") for line in rows) == 18
    assert sum(line.startswith("| CEC 2017 | 10 | ") for line in rows) == 6


@needs_records
def test_the_two_searches_of_auto() -> None:
    figures = importlib.import_module("figures.auto")
    assert figures.behind({"share": [0.1, 0.5]}, {"share": [0.3, 0.4]}) == pytest.approx(0.2)
    assert figures.behind({"share": [0.1, 0.5]}, {"share": [0.1, 0.4]}) == 0
    (auto,) = (line for line in figures.areas() if line.startswith("| `auto` | 0."))
    assert auto.endswith("|  |  |  |  |")
    assert sum(line.startswith("| `minionpy:") for line in importlib.import_module("figures.cec").cec2017()) > 4
