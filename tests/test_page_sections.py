"""Sections of pages that are made from records."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from .documents import needs_records


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


def test_a_record_of_sizes_makes_a_section(render: ModuleType) -> None:
    lines = render.scale.part(scale_record(), "scale-cpu")
    assert "| algorithm | D=30, NP=100 | D=30, NP=1000 |" in lines
    assert "| de | 200 (61%) | 20 (608%) |" in lines
    assert "| de, D=30, NP=100 | 2 |" in lines
    assert [render.scale.marked(ratio) for ratio in (0.536, 1.0, 12.34)] == ["**0.536**", "1", "12.3"]
    assert "| de | float64 | 512 | 5000 |" in lines
    assert "- skde: de float64 D=30 NP=1000000: it is too large" in lines
    assert "Not installed: evosax de." in lines


def rotations_record(alone: float, together: float) -> dict[str, Any]:
    """Return a record of rotated functions with the same times on each."""
    rows = [{"function": f"F{number}", "alone": alone, "together": together} for number in range(1, 11)]
    return {
        **{"date": "2026-01-01T00:00:00", "commit": "0123456789ab", "device": "cuda", "driver": {"gpu": "card"}},
        **{"settings": {"evals": 10_000_000, "runs": 30, "repeats": 3}, "figures": rows},
    }


def test_rotated_functions_have_a_section_if_there_is_a_record(
    render: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = importlib.import_module("pages.rotations")
    monkeypatch.setattr(page, "RECORDS", tmp_path)
    assert page.section() == []
    record = rotations_record(alone=0.2, together=0.1004)
    record["figures"][9]["alone"] = 1.85
    (tmp_path / "rotations-card.json").write_text(json.dumps(record))
    lines = page.section()
    assert lines[0].startswith("## Rotated functions on a GPU")
    assert "| function | one run | 30 together, each | paper | paper / one run |" in lines
    assert "| F1 | 0.200 | 0.100 | 0.63 | 3.15 |" in lines
    assert "| F10 | 1.850 | 0.100 | 1.85 | 1.00 |" in lines
    assert "| mean | 0.365 | 0.100 | 0.97 | 2.66 |" in lines
    found = lines[-2]
    assert "less than 0.11 s (F1, F2), 0.22 s (F3, F4), 0.35 s (F5, F6, F7) and 0.9 s (F8, F9, F10);" in found
    assert "One run reaches it on F3, F4, F5, F6, F7, F8 and F9. One run takes longer on " in found
    assert "F1 (1.82 times the aim), F2 (1.82 times the aim) and F10 (2.06 times the aim)." in found
    assert found.endswith("With 30 together the mean is 0.100 s, 1.00 times the aim.")


def test_rotated_functions_that_reach_or_miss_every_aim(render: ModuleType) -> None:
    page = importlib.import_module("pages.rotations")
    fast, slow = (page.finding(rotations_record(alone, 0.1)["figures"], 30) for alone in (0.1, 0.9))
    assert "One run reaches it on every function. With 30 together the mean is 0.100 s, within the aim." in fast
    assert "reaches" not in slow
    assert "F10 (1.00 times the aim). With 30" in slow


def test_processes_are_compared_by_their_runs(render: ModuleType) -> None:
    page = importlib.import_module("pages.parallel")
    row = {"dim": 30, "pop_size": 100, "n_runs": 4, "n_islands": 1, "us_per_generation": {"1": 50.0, "16": 64.0}}
    record = {"machine": {"cpu": "A", "cores": 16}, "date": "2026-11-26", "commit": "0" * 40}
    lines = page.table(record, "parallel-a.json", "processes", [row])
    assert "| setting | 1 process | 16 processes | times the runs |" in lines
    assert "| D=30, NP=100, 4 runs | 50 | 64 | 12.50 |" in lines


def test_a_plot_of_sizes_has_the_limit_and_the_peers(render: ModuleType) -> None:
    first, second = (render.scale.plot(scale_record()) for _ in range(2))
    assert first == second
    for label in (b"limit", b"pygmo de", b"ns an evaluation"):
        assert label in first


@needs_records
def test_algorithms_with_equal_ranks_share_their_places(render: ModuleType) -> None:
    bbob = importlib.import_module("pages.bbob")
    group = [{"rank": rank} for rank in (1.5, 1.5, 3.0, 4.5, 4.5)]
    assert [bbob.place_text(row["rank"], group) for row in group[1:4]] == ["places 1 to 2", "place 3", "places 4 to 5"]
    assert bbob.lowest({"a": 2.0, "b": 1.0, "c": 2.0}, 2) == "`b` 1.0, `a` 2.0 and 1 equal"
    section = "\n".join(bbob.section())
    assert "places 2 to 3 of 33" in section
    assert "| 1000 | 4 / 16 / 4, p=1 |" in section  # cmaes against pycma


@needs_records
def test_suites_that_no_choice_has_seen(render: ModuleType) -> None:
    page = importlib.import_module("pages.held_out")
    assert [page.marked({"rank": 9.14, "p": p}) for p in (1.0, 0.049)] == ["**9.1**", "9.1"]
    section = page.section()
    (last,) = (line for line in section if line.startswith("| 10000 |"))
    assert "places 1 to" in last or "place 1 of 31" in last
    assert "| `cma:bipop` | **9.5** | 14.5 |  |" in section  # not run with the largest budget


@needs_records
def test_the_second_reading_of_auto(render: ModuleType) -> None:
    page = importlib.import_module("pages.held_out")
    first, again = (page.read(name)["rows"] for name in (page.NAME, page.SECOND))
    for row in again:  # one algorithm of the ranking has changed, by which a rank changes by at most one
        before = {one["algorithm"]: one["rank"] for one in first if one["per_variable"] == row["per_variable"]}
        assert before.keys() == row["ranks"].keys()
        assert all(abs(row["ranks"][name] - rank) <= 1 for name, rank in before.items() if name != "auto")
    rows = [
        {"per_variable": n, "rank": 2.0, "p": p, "ranks": {"de": 1.0, "auto": 2.0}} for n, p in ((5, 1.0), (7, 0.01))
    ]
    assert page.finding(rows[:1]).startswith("Another algorithm has the lowest mean rank with 5 (`de`) evaluations")
    assert "With none is `auto` worse than this beyond chance" in page.finding(rows[:1])
    assert "with 5 (`de`) and 7 (`de`) evaluations" in page.finding(rows)
    assert "With 7 `auto` is worse than this beyond chance" in page.finding(rows)
    assert "has the lowest mean rank with each" in page.finding([rows[0] | {"ranks": {"auto": 2.0, "de": 3.0}}])
    section = "\n".join(page.second_section())
    assert "0 / 52 / 0, p=1 |" in section  # no polish with 1000 evaluations


@needs_records
def test_the_third_reading_of_auto(render: ModuleType) -> None:
    page = importlib.import_module("pages.held_out")
    rows = [line for line in page.third_section() if line.startswith(("| 52: ", "| 17: "))]
    assert [row.split(":")[0] for row in rows] == ["| 52", "| 17", "| 52"]
    assert all("cec20" in row and " place" in row for row in rows)
    assert "| `auto` 4.3, `minionpy:RDEX` 6.3, " in rows[1]
    assert "| 4.3, place 1 of 31 | cec2019, D=10 4.9, cec2020, D=15 3.9 | 1 |" in rows[1]


@needs_records
def test_the_fourth_reading_of_auto(render: ModuleType) -> None:
    page = importlib.import_module("pages.held_out")
    rows = [line for line in page.fourth_section() if line.startswith(("| 52: ", "| 17: "))]
    assert [row.split(":")[0] for row in rows] == ["| 52", "| 17", "| 52"]
    assert all(" lowest " not in row and "| `auto` " in row and "place 1 of 3" in row for row in rows)


@needs_records
def test_the_fifth_reading_of_auto(render: ModuleType) -> None:
    page = importlib.import_module("pages.held_out")
    rows = [line for line in page.fifth_section() if line.startswith(("| 52: ", "| 17: "))]
    assert [row.split(":")[0] for row in rows] == ["| 52", "| 17"]
    assert "| `minionpy:ARRDE` 9.1, `arrde` 9.9, " in rows[0]
    assert "| 10.1, place 3 of 31 | cec2014, D=10 9.9, cec2020, D=10 8.1, " in rows[0]
    assert "| 9.3, place 8 of 31 | " in rows[1]


@needs_records
def test_all_algorithms_on_cec(render: ModuleType) -> None:
    page = importlib.import_module("pages.cec_comparison")
    section = page.section()
    budgets = [line.split(" | ")[:2] for line in section if line.startswith("| CEC ")]
    assert budgets == [
        *(["| CEC 2017", budget] for budget in ("100", "1000", "10000")),
        *(["| CEC 2011", budget] for budget in ("100", "1000", "10000")),
    ]
    assert all(
        f"| {page.link(name)} | " in "\n".join(section) for name in ("auto", "rdex", "scipy:differential_evolution")
    )
    (slow,) = (line for line in section if line.startswith("| `cma:bipop` | "))
    assert slow.endswith(" |  |  |  |")  # not on CEC 2011


@needs_records
def test_middle_budgets_of_auto(render: ModuleType) -> None:
    page = importlib.import_module("pages.middle_budgets")
    others = {name: {"better": k, "worse": 1} for k, name in enumerate(page.OTHERS)}
    assert page.total({("cec2017", 10, 400): others, ("cec2017", 10, 1000): others}) == (
        "In all `auto` is 0 times better and 2 times worse than `rdex` with its own parameters and 2 times better and "
        "2 times worse than `cmaes`."
    )
    section = page.section()
    assert sum(line.startswith("| BBOB | ") for line in section) == 20
    assert sum(line.startswith("| CEC 2017 | ") for line in section) == 8
    assert sum(line.startswith("| `janssen2024` | ") for line in section) == 11


@needs_records
def test_small_budgets_of_auto(render: ModuleType) -> None:
    page = importlib.import_module("pages.small_budgets")
    rows = [{"functions": n, "better": 2, "worse": n // 10} for n in (20, 40)]
    assert page.by_chance(rows) == "0.5 to 1.0"
    assert page.by_chance(rows[:1]) == "0.5"
    assert page.finding(rows) == "In 1 of 2 cases more functions are worse than better."
    assert page.finding(rows[:1]).startswith("In no case")
    section = page.section()
    assert sum(line.startswith("| BBOB | ") for line in section) == 18
    assert sum(line.startswith("| CEC 2017 | 10 | ") for line in section) == 6


@needs_records
def test_the_two_searches_of_auto(render: ModuleType) -> None:
    page = importlib.import_module("pages.two_searches")
    assert page.behind({"share": [0.1, 0.5]}, {"share": [0.3, 0.4]}) == pytest.approx(0.2)
    assert page.behind({"share": [0.1, 0.5]}, {"share": [0.1, 0.4]}) == 0
    section = page.section()
    (auto,) = (line for line in section if line.startswith("| `auto` | 0."))
    assert auto.endswith("|  |  |  |  |")
    assert sum(line.startswith("| `minionpy:") for line in section) > 4
