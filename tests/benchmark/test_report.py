"""Reports of results folders, from records with known numbers."""

import csv
import errno
import json
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest

from skde.benchmark import report, report_pages, report_plots
from skde.benchmark.records import write_record
from skde.benchmark.report import make_report, write_pages
from skde.benchmark.report_pages import ReportTable, format_csv, format_number, markdown_table
from skde.benchmark.report_plots import pop_size_of, tick_text
from skde.benchmark.results_folder import read_folder
from skde.benchmark.trial_logs import TRIALS
from skde.cli.main import main
from skde.curves import evals_to_goals

POINTS = [1, 10, 100, 1000]
VOID = {"meta", "link", "br", "img", "input", "hr"}


def cell(function, algorithm, level, dim=5, runs=6, curves=True):
    """A cell: run i ends at the error `level` times 1 + i / 10, which is 1000 times as large at the beginning."""
    error = [level * (1 + run / 10) for run in range(runs)]
    entries = {
        **{"function": function, "dim": dim, "algorithm": algorithm, "f_opt": 0.0, "best": error, "error": error},
        **{"n_evals": [1000] * runs, "seconds": 0.5, "cpu": "a", "commit": "b"},
    }
    if curves:
        values = [[e * 1000, e * 100, e * 10, e] for e in error]
        solved = [1000 if e <= 1e-8 else None for e in error]
        curve = {"n_evals": POINTS, "error": [[None, *row[1:]] for row in values]}
        entries |= {"solved_at": solved, "run_seconds": [0.5] * runs, "curves": curve}
    return entries


def write(folder, cells, name="runs.json", version="0.1.0", **settings):
    """Write a record of some cells."""
    settings = {"suite": "cec2017", "budget": "1000", "runs": 6, "seed": 0, "device": "cpu", **settings}
    record = {"date": "today", "versions": {"skde": version}, "command": "c", "settings": settings, "cells": cells}
    write_record(folder / name, record)


LEVELS = {"de": 3.0, "jde": 1e-9, "shade:H=50": 0.5}


def all_cells(**given):
    return [cell(f"f{n}", name, level * n, **given) for n in (1, 3, 10) for name, level in LEVELS.items()]


def rows_of(path):
    return list(csv.DictReader(path.read_text().splitlines()))


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The files of one report."""
    folder = tmp_path_factory.mktemp("results")
    write(folder, all_cells())
    made = make_report(folder)
    write_pages(made, folder / "report")
    return folder / "report"


class Tags(HTMLParser):
    """Check that tags are closed in order, and collect ids and addresses."""

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.addresses, self.tags = [], [], [], set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.ids += [value for name, value in attrs if name == "id"]
        self.addresses += [value for name, value in attrs if name in ("href", "src", "xlink:href")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_complete_and_loads_nothing(written):
    text = (written / "report.html").read_text()
    page = Tags()
    page.feed(text)
    assert page.open == []
    assert "script" not in page.tags
    assert len(set(page.ids)) == len(page.ids)
    assert all(address.startswith("#") and address[1:] in page.ids for address in page.addresses)
    assert not re.search(r"@import|url\((?!#)", text)
    assert text.count("<svg") == 4
    for title in ("Median errors, D = 5", "Ranks and tests, D = 5, 3 functions", "All statistics, D = 5"):
        assert title in text


def test_the_plots_have_the_colours_of_the_page_and_are_files_of_their_own(written):
    names = ["convergence-d5.svg", "differences-d5.svg", "ecdf-d5.svg", "times.svg"]
    assert sorted(path.name for path in written.glob("*.svg")) == names
    for name in names:
        text = (written / name).read_text()
        ElementTree.fromstring(text)
        used = set(re.findall(r"var\(--(\w+)\)", text))
        assert {"ink"} < used <= set(re.findall(r"--(\w+):", text))
        assert not re.search(r"#0a0[bc]", text)
        assert "prefers-color-scheme: dark" in text


def test_the_medians_and_the_best_group(written):
    rows = rows_of(written / "medians-d5.csv")
    assert [row["function"] for row in rows] == ["f1", "f3", "f10"]
    assert [float(row["de"]) for row in rows] == pytest.approx([3.75, 11.25, 37.5])
    assert [float(row["jde"]) for row in rows] == [0, 0, pytest.approx(1.25e-8)]
    # The runs of de, jde and shade do not overlap: six runs are too few to tell shade from either at 0.01.
    assert {row["marked"] for row in rows} == {"jde;shade:H=50"}


def test_the_ranks_and_tests(written):
    rows = {row["algorithm"]: row for row in rows_of(written / "ranks-d5.csv")}
    assert list(rows) == ["jde", "shade:H=50", "de"]
    assert [float(row["mean rank"]) for row in rows.values()] == [1, 2, 3]
    assert rows["jde"]["p, Holm"] == rows["jde"]["better"] == ""
    assert [rows["de"][name] for name in ("better", "equal", "worse")] == ["0", "0", "3"]
    assert float(rows["de"]["rank-biserial"]) == -1
    # z = 2 / sqrt(3 * 4 / (6 * 3))
    assert float(rows["de"]["p, Holm"]) == pytest.approx(2 * 0.01431, abs=1e-4)
    assert [float(row["rank score"]) for row in rows.values()] == [3 * 72, 3 * 36, 0]
    # f1 and f3 are solved by all runs, f10 by the first.
    assert float(rows["jde"]["success rate"]) == pytest.approx(13 / 18)


def test_all_statistics(written):
    rows = {(row["function"], row["algorithm"]): row for row in rows_of(written / "cells-d5.csv")}
    assert len(rows) == 9
    found = rows["f1", "jde"]
    assert (float(found["success rate"]), float(found["expected running time"])) == (1, 1000)
    assert float(rows["f1", "de"]["expected running time"]) == np.inf
    assert float(rows["f1", "de"]["A12 against the baseline"]) == 0
    assert float(rows["f1", "de"]["std"]) == pytest.approx(np.std([3, 3.3, 3.6, 3.9, 4.2, 4.5], ddof=1))


def test_the_curves(written):
    rows = [
        row for row in rows_of(written / "convergence-d5.csv") if (row["function"], row["algorithm"]) == ("f1", "de")
    ]
    assert [int(float(row["n_evals"])) for row in rows] == POINTS
    assert rows[0]["median"] == ""
    found = [float(rows[-1][name]) for name in ("lower quartile", "median", "upper quartile")]
    assert found == pytest.approx([3.3, 3.6, 4.2])


def test_the_solved_targets(written):
    rows = [row for row in rows_of(written / "ecdf-d5.csv") if row["algorithm"] == "jde"]
    shares = [float(row["share"]) for row in rows]
    assert shares == sorted(shares)
    assert [float(row["evaluations / D"]) for row in rows] == [2, 20, 200, 200]
    goals = np.geomspace(1e2, 1e-8, 51)
    errors = [1e-9 * n * (1 + run / 10) for n in (1, 3, 10) for run in range(6)]
    assert shares[-1] == pytest.approx(np.mean([[error <= goal for goal in goals] for error in errors]))


def test_the_expected_running_times(written):
    rows = {(row["function"], row["algorithm"]): row for row in rows_of(written / "running-times-d5.csv")}
    # The runs of shade on f10 end at 5 to 7.5, those of de on f3 at 9 to 13.5: two of six reach 10.
    assert float(rows["f10", "shade:H=50"]["10"]) == 1000
    assert float(rows["f3", "de"]["10"]) == 6 * 1000 / 2
    assert float(rows["f3", "de"]["1"]) == np.inf
    assert float(rows["f1", "jde"]["1e-5"]) == 10


def test_the_times_are_those_until_the_error_of_zero(tmp_path):
    write(tmp_path, all_cells())
    made = {part.name: part for part in make_report(tmp_path, zero=5.0).parts()}
    details = made["cells-d5"]
    times = {(row[0], row[1]): row[details.header.index("expected running time")] for row in details.rows}
    # The curves have their first errors at 10 evaluations; one of the six runs of shade on f10 ends at 5.
    assert times["f1", "jde"] == 10
    assert times["f10", "shade:H=50"] == 6 * 1000
    assert times["f3", "de"] == np.inf
    assert "divided by the number of solved runs, from the curves, with points 12 % apart" in details.note
    assert "rank score" not in made["ranks-d5"].header
    assert "No rank score: the records do not have the seconds until errors of 5." in made["ranks-d5"].note
    write(tmp_path, all_cells(curves=False))
    (details,) = (part for part in make_report(tmp_path, zero=5.0).parts() if part.name == "cells-d5")
    assert {row[details.header.index("expected running time")] for row in details.rows} == {None}


def test_evaluations_to_goals():
    errors = np.array([[np.inf, 5.0, 0.5], [4.0, 4.0, 4.0]])
    found = evals_to_goals(np.array([1.0, 2.0, 3.0]), errors, np.array([6.0, 1.0, 0.1]))
    assert found.tolist() == [[2, 3, np.inf], [1, np.inf, np.inf]]


def test_the_markdown_page_has_the_tables_and_links_the_plots(written):
    text = (written / "report.md").read_text()
    assert "| function | de | jde | shade:H=50 |" in text
    assert "| f1 | 3.75 | **0** | **0.625** |" in text
    linked = re.findall(r"\]\((\S+\.svg)\)", text)
    assert sorted(linked) == sorted(path.name for path in written.glob("*.svg"))


def test_a_report_is_the_same_whenever_it_is_made(written):
    again = make_report(written.parent)
    assert report_pages.html_page(again) == (written / "report.html").read_text()


# -- parts that are left out -------------------------------------------------------------------------------------------


def test_without_curves_there_are_no_curves(tmp_path):
    write(tmp_path, all_cells(curves=False))
    made = make_report(tmp_path)
    assert [part.name for part in made.parts()] == [
        *("algorithms", "medians-d5", "ranks-d5", "differences-d5", "pairs-d5", "cells-d5", "times")
    ]
    assert "rank score" not in next(part for part in made.parts() if part.name == "ranks-d5").header


@pytest.mark.parametrize(("algorithms", "names"), [(1, []), (2, ["ranks-d5"])])
def test_few_algorithms(algorithms, names, tmp_path):
    kept = list(LEVELS)[:algorithms]
    write(tmp_path, [c for c in all_cells(curves=False) if c["algorithm"] in kept])
    made = [part.name for part in make_report(tmp_path).parts()]
    assert made == ["algorithms", "medians-d5", *names, "cells-d5", "times"]


def test_only_common_functions_are_ranked(tmp_path):
    write(tmp_path, [*all_cells(curves=False)[:-1], cell("f1", "pso", 1.0, dim=9)])
    made = {part.name: part for part in make_report(tmp_path).parts()}
    assert made["ranks-d5"].title == "Ranks and tests, D = 5, 2 functions"
    assert made["medians-d5"].rows[-1][-1] is None
    assert made["medians-d9"].header == ["function", "pso"]
    assert [row[0] for row in made["cells-d9"].rows] == ["f1"]


def test_suites_and_budgets_have_their_own_sections(tmp_path):
    write(tmp_path, all_cells(curves=False)[:3])
    write(tmp_path, all_cells(curves=False)[:3], "other.json", suite="mine", budget="10*dim")
    made = make_report(tmp_path)
    assert [section.title for section in made.sections][::3] == [
        "mine, 10*dim: Algorithms",
        "cec2017, 1000: Algorithms",
    ]
    names = [part.name for part in made.parts()]
    assert len(set(names)) == len(names)
    assert "mine-10-dim-medians-d5" in names


def test_equal_budgets_are_one_experiment(tmp_path):
    cells = all_cells(curves=False)
    for number, budget in enumerate(("20000*dim", "2e4 * dim")):
        write(tmp_path, cells[number::2], f"{number}.json", budget=budget)
    (experiment,) = read_folder(tmp_path).experiments
    assert len(experiment.record["cells"]) == len(cells)


def test_the_baseline_can_be_chosen(tmp_path):
    write(tmp_path, all_cells(curves=False))
    made = {part.name: part for part in make_report(tmp_path, baseline="de").parts()}
    assert [row[5] for row in made["ranks-d5"].rows] == [3, 3, None]
    allowed = "'de', 'jde', 'shade:H=50'"
    with pytest.raises(ValueError, match=rf"baseline must be one of {allowed}; got 'jd'; did you mean 'jde'"):
        make_report(tmp_path, baseline="jd")


SIZES = [
    {"axis": axis, "algorithm": "de", "dtype": "float64", "dim": 30, "pop_size": size, "n_runs": 1, "us": [us, us]}
    for axis, size, us in (("population", 100, 5.0), ("population", 1000, 60.0))
]


def test_the_name_of_a_record_of_sizes_may_have_any_characters(tmp_path):
    (tmp_path / 'my "scale" & more.json').write_text(json.dumps({"settings": {}, "figures": SIZES}))
    made = make_report(tmp_path)
    (part,) = made.parts()
    assert part.name == "my-scale-more-float64"
    files = write_pages(made, tmp_path / "page")
    ElementTree.fromstring((tmp_path / "page" / f"{part.name}.svg").read_text())
    assert f"({part.name}.svg)" in (tmp_path / "page" / "report.md").read_text()
    assert tmp_path / "page" / f"{part.name}.svg" in files


@pytest.mark.parametrize("name", SIZES[0])
def test_records_of_sizes_with_missing_values_are_named(tmp_path, name):
    write(tmp_path, all_cells(curves=False))
    rows = [*SIZES, {key: value for key, value in SIZES[0].items() if key != name}]
    (tmp_path / "scale.json").write_text(json.dumps({"settings": {}, "figures": rows}))
    assert "scale.json" in make_report(tmp_path).notes[0]


def test_a_record_of_sizes(tmp_path):
    (tmp_path / "scale.json").write_text(json.dumps({"settings": {}, "figures": SIZES}))
    (part,) = make_report(tmp_path).parts()
    assert (part.name, part.title) == ("scale-float64", "Time of a generation, float64")
    assert part.svg.count("<svg") == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("de", None),
        ("de:pop_size=50", ("de", 50)),
        ("de:F=0.5,pop_size=50,CR=0.9", ("de:F=0.5,CR=0.9", 50)),
        ("de:pop_size=50,CR=0.9", ("de:CR=0.9", 50)),
        ("minionpy:JADE:population_size=7", ("minionpy:JADE", 7)),
        ("minionpy:JADE:minimum_population_size=7", None),
    ],
)
def test_the_population_of_an_algorithm(text, expected):
    assert pop_size_of(text) == expected


# -- bad input ---------------------------------------------------------------------------------------------------------


def test_runs_that_failed_are_named_and_count_as_the_worst(tmp_path):
    cells = all_cells()
    cells[0] |= {"error": [None, *cells[0]["error"][1:]], "best": [None, *cells[0]["best"][1:]]}
    cells[0] |= {"failures": [{"run": 0, "error": "ValueError: no <b>"}]}
    cells[0]["curves"]["error"][0] = [None] * 4
    cells[0]["run_seconds"][0] = None
    write(tmp_path, cells)
    made = make_report(tmp_path)
    assert made.notes == [
        "cec2017, 1000: 1 of 6 runs of de on f1 D=5 failed, first run 0: ValueError: no <b>. They count as the worst; "
        "the command that wrote the record repeats this cell."
    ]
    assert "no &lt;b&gt;" in report_pages.html_page(made)
    details = next(part for part in made.parts() if part.name == "cells-d5")
    assert details.rows[0][3] == 1
    assert details.rows[0][8] == np.inf


def test_minima_that_are_too_high_are_named(tmp_path):
    cells = [cell("f1", "de", -2.0), cell("f3", "de", -1e-9), cell("f10", "de", 3.0)]
    write(tmp_path, cells)
    told = "cec2017, 1000: the lowest error on f1 D=5 is -3: f_opt = 0 is above the minimum, and runs below it count"
    assert [note[: len(told)] for note in make_report(tmp_path).notes] == [told]


def test_minima_that_are_too_low_are_named(tmp_path):
    cells = [cell("f1", "de", 1e-3), cell("f3", "de", 3.0)]
    for one, f_opt in zip(cells, (-1e9, -450.0), strict=True):
        one |= {"f_opt": f_opt, "error": [best - f_opt for best in one["best"]]}
    write(tmp_path, cells)
    told = "cec2017, 1000: f_opt = -1e+09 is so far below the values of f1 D=5 that different ones have equal errors"
    assert [note[: len(told)] for note in make_report(tmp_path).notes] == [told]


def test_different_minima_are_refused(tmp_path):
    write(tmp_path, [cell("f1", "de", 1.0), {**cell("f1", "jde", 1.0), "f_opt": -100.0}])
    with pytest.raises(ValueError, match=r"runs\.json has f1 D=5 jde with f_opt=-100\.0, but runs\.json has 0\.0"):
        make_report(tmp_path)


def test_a_function_without_a_finite_error(tmp_path):
    cells = [cell(name, "de", 1.0) for name in ("f1", "f2")]
    cells[1] |= {"best": [None] * 6, "error": [None] * 6, "solved_at": [None] * 6}
    cells[1] |= {"curves": {"n_evals": POINTS, "error": [[None] * len(POINTS)] * 6}}
    write(tmp_path, cells)
    (plot,) = (part for part in make_report(tmp_path).parts() if part.name == "convergence-d5" and hasattr(part, "svg"))
    assert plot.svg.count("no finite error") == 1


@pytest.mark.parametrize(("level", "runs"), [(0.0, 3), (np.inf, 3), (-2.0, 1)])
def test_extreme_errors(level, runs, tmp_path):
    cells = [cell(f"f{n}", name, 0.0 if np.isinf(level) else level, runs=runs) for n in (1, 2) for name in LEVELS]
    if np.isinf(level):
        for one in cells:
            failures = [{"run": run, "error": "E"} for run in range(runs)]
            one |= {"best": [None] * runs, "error": [None] * runs, "n_evals": [0] * runs, "failures": failures}
            one |= {"solved_at": [None] * runs, "run_seconds": [None] * runs}
            one |= {"curves": {"n_evals": [], "error": [[] for _ in range(runs)]}}
    write(tmp_path, cells, runs=runs)
    made = make_report(tmp_path, zero=-np.inf if level < 0 else 0.0)
    assert {part.name for part in made.parts()} >= {"medians-d5", "ranks-d5", "differences-d5"}
    for part in made.parts():
        if isinstance(part, report_pages.Plot):
            ElementTree.fromstring(part.svg)


def test_a_file_that_breaks_off_is_read_to_there(tmp_path):
    write(tmp_path, all_cells(curves=False))
    text = (tmp_path / "runs.json").read_text()
    (tmp_path / "runs.json").write_text(text[:-40])
    made = make_report(tmp_path)
    assert "runs.json is not complete: the record has the 8 cells before" in made.notes[0]
    assert sum(row[2] for row in made.sections[0].parts[0].rows) == 8


def test_files_that_are_no_records_are_named(tmp_path):
    write(tmp_path, all_cells(curves=False))
    (tmp_path / "a.json").write_text("{}")
    (tmp_path / "b.json").write_text("[]")
    (tmp_path / "c.json").write_text("{")
    (tmp_path / "notes.txt").write_text("-")
    write(tmp_path, [], "empty.json")
    found = read_folder(tmp_path)
    assert found.notes[0] == "empty.json has no cells yet."
    assert "a.json, b.json (it has no settings); c.json (it is not JSON" in found.notes[1]
    assert "notes.txt" not in str(found.notes)


def test_a_record_of_a_paper_is_named(tmp_path, capsys):
    write(tmp_path, all_cells(curves=False))
    write(tmp_path, [{"part": part, **cell("f1", "de", 1.0)} for part in ("a", "b")], "paper.json", paper="qin2012")
    assert "paper.json (skde reproduce wrote it, and shows its tables)" in make_report(tmp_path).notes[0]
    assert main(["bench", "compare", *map(str, tmp_path.glob("*.json")), "--baseline", "de"]) == 2
    assert "paper.json is no record of skde bench run: skde reproduce wrote it" in capsys.readouterr().err


def test_records_of_different_versions_and_machines_are_named(tmp_path):
    cells = all_cells(curves=False)
    write(tmp_path, cells[:5], "a.json")
    write(tmp_path, [{**c, "cpu": "other"} for c in cells[5:]], "b.json", version="0.2.0", seed=3)
    notes = "\n".join(read_folder(tmp_path).notes)
    assert "the records are of different versions of skde: 0.1.0 in a.json, 0.2.0 in b.json" in notes
    assert "different processors, a, other: their times cannot be compared" in notes
    assert "the records differ in seed: 0 in a.json, 3 in b.json" in notes
    assert "runs" not in notes


def test_the_folder_of_a_platforms_trials_is_no_incomplete_cell(tmp_path):
    write(tmp_path, all_cells(curves=False))
    (tmp_path / TRIALS).mkdir()
    assert read_folder(tmp_path).notes == []


def test_runs_of_incomplete_cells_are_named(tmp_path):
    write(tmp_path, all_cells(curves=False))
    (tmp_path / "runs.json.trials").write_text("{}")
    assert "runs.json.trials has finished runs of cells that are not complete" in read_folder(tmp_path).notes[0]


def test_a_cell_in_two_files_is_refused(tmp_path):
    for name in ("a.json", "b.json"):
        write(tmp_path, all_cells(curves=False), name)
    with pytest.raises(ValueError, match=r"b.json has f1 D=5 de, which a.json has too; leave one of them out"):
        make_report(tmp_path)


def error_of(capsys, *arguments):
    assert main(["bench", "report", *map(str, arguments)]) == 2
    return capsys.readouterr().err


def test_folders_without_records(tmp_path, capsys):
    told = error_of(capsys, tmp_path)
    assert "has no record with cells; skde bench run --suite NAME ... --out" in told
    (tmp_path / "a.json").write_text("{}")
    assert "a.json (it has no settings)" in error_of(capsys, tmp_path)
    assert "is no folder: give the folder of the records" in error_of(capsys, tmp_path / "a.json")
    assert "is no folder" in error_of(capsys, tmp_path / "none")
    for zero in ("-1", "inf"):
        assert f"--zero must be a number in [0, inf), got {zero}" in error_of(capsys, tmp_path, "--zero", zero)
    with pytest.raises(ValueError, match=r"zero must be a number in \[-inf, inf\), got inf"):
        make_report(tmp_path, zero=np.inf)


def test_a_full_disk_leaves_records_and_the_earlier_report(tmp_path, monkeypatch, capsys):
    write(tmp_path, all_cells(curves=False))
    assert main(["bench", "report", str(tmp_path)]) == 0
    capsys.readouterr()
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*") if path.is_file()}

    def full(path, text):
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(report, "replace_text", full)
    told = error_of(capsys, tmp_path, "--baseline", "de")
    assert "No space left on device" in told
    assert "the records are as they were: make room or give another folder with --out" in told
    assert {path: path.read_bytes() for path in before} == before


def test_a_missing_library_is_named(tmp_path, monkeypatch, capsys):
    write(tmp_path, all_cells(curves=False))
    monkeypatch.setattr(report_plots, "find_spec", lambda name: None)
    assert "need matplotlib, which is not installed: pip install 'skde[bench]'" in error_of(capsys, tmp_path)
    assert not (tmp_path / "report").exists()


def test_the_command(tmp_path, capsys):
    write(tmp_path, all_cells(curves=False))
    assert main(["bench", "report", str(tmp_path), "--out", str(tmp_path / "out"), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["notes"] == []
    assert sorted(printed["files"]) == sorted(map(str, (tmp_path / "out").iterdir()))
    assert main(["bench", "report", str(tmp_path), "--zero", "5"]) == 0
    assert f"wrote {tmp_path / 'report' / 'report.html'} and" in capsys.readouterr().out
    assert rows_of(tmp_path / "report" / "medians-d5.csv")[0]["de"] == "0.0"


# -- texts -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *((None, "-"), ("a", "a"), (12345, "12,345"), (0.0, "0"), (np.inf, "inf"), (1.23456, "1.23"), (2.0, "2.00")),
        *((237.4, "237"), (1109.2, "1,109"), (123456.0, "1.23e+05"), (0.0146, "0.0146"), (0.00177, "1.77e-03")),
    ],
)
def test_numbers(value, text):
    assert format_number(value) == text


def test_ticks():
    assert [tick_text(value) for value in (1e-8, 0.5, 20.0, 1e10)] == ["1e-8", "0.5", "20", "1e10"]


def test_texts_with_special_characters():
    table = ReportTable("t", "", "", ["a|b", "c"], [["x_y*", 1.5]], frozenset({(0, 1)}))
    assert markdown_table(table)[0] == "| a\\|b | c |"
    assert markdown_table(table)[2] == "| x\\_y\\* | **1.50** |"
    assert format_csv(table) == "a|b,c,marked\nx_y*,1.5,c\n"
    assert '<th scope="row">&lt;i&gt;</th>' in report_pages.html_row(table, 0, ["<i>", 1.0])
