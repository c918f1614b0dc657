"""Reproduction of papers: data files, experiments, records, tables and verdicts."""

import json
from dataclasses import replace

import numpy as np
import pytest

from skde import DE, PSO, Minimizer, MinMaxSolver, get_problem
from skde.algorithms import ALGORITHMS
from skde.benchmark import papers, reproduction
from skde.benchmark.comparison import Line
from skde.benchmark.minmax_trials import describe_values
from skde.benchmark.papers import REPRODUCTIONS, find_paper, find_reproduction, janssen2024, nashed2012, wang2012
from skde.benchmark.protocol import Selection
from skde.benchmark.published_tables import Note, PublishedTable
from skde.benchmark.records import read_record
from skde.benchmark.suites import find_suite
from skde.benchmark.tables import comparison_text
from skde.benchmark.verdicts import judge_seconds, judge_share, judge_values, like
from skde.cli.main import main
from skde.problems import problem_names

# A small run of each paper that gives all of its tables: that of --quick, where it takes a few seconds.
SMALL = {
    "fabris2012": ["--quick"],
    "nashed2012": ["--quick", "--functions", "f0,f7", "--budget", "300", "--runs", "2"],
    "qin2012": ["--quick"],
    "wang2012": ["--quick", "--functions", "F1,F13", "--budget", "4200", "--runs", "1"],
    "janssen2024": ["--quick", "--functions", "F1,F8", "--budget", "2000", "--runs", "2"],
}
# Tables and figures without numbers in the text, which other tables show.
SHOWN_ELSEWHERE = {"wang2012": {"Fig. 2"}}


# -- data files --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", REPRODUCTIONS)
def test_tables_have_a_figure_for_every_cell(name):
    for table in find_paper(name).tables.values():
        for quantity, rows in table.figures.items():
            for row, printed in rows.items():
                assert len(printed) == len(table.columns), (table.number, quantity, row)
                assert all(text is None or isinstance(text, str) for text in printed)
                [table.value(quantity, row, column) for column in table.columns]
        assert table.figures or table.remark


@pytest.mark.parametrize(
    ("name", "table", "quantity", "row", "column", "expected"),
    [
        ("qin2012", "1", "mean", "F2", "P100", 0.044),
        ("qin2012", "2", "seconds", "F3", "P1000", 4.282),
        ("qin2012", "3", "success", "F3", "P500", 0.96),
        ("qin2012", "3", "std", "F4", "P1000", 47.738),
        ("janssen2024", "3", "seconds", "Master Slave DE", "F7", 34.604),
        ("janssen2024", "4", "rank", "cujDE 500", "F8", 4),
        ("wang2012", "2", "mean", "F13", "GOjDE", 65.9),
        ("wang2012", "5", "mean", "F7", "GODE", np.inf),
        ("wang2012", "9", "mean", "F6", "SOUPDE", 3.42e-13),
        ("wang2012", "10", "gpu", "F13", "D=200", 14.69),
        ("wang2012", "11", "cpu", "F15", "D=1000", None),
        ("wang2012", "12", "cpu", "F3", "Np=4096", 5386.86),
        ("wang2012", "13", "mean", "F17", "Np=1024", 6.82),
        ("nashed2012", "2", "std", "f10", "de, D=10", 31.0),
        ("nashed2012", "2", "mean", "f6", "pso, D=30", 9.7e-12),
        ("nashed2012", "2", "mean", "f11", "ss, D=10", 1.2e-3),
        ("nashed2012", "2", "best", "f11", "ss, D=10", None),
        ("fabris2012", "2", "std", "p5", "C-CUDA", 37.5),
        ("fabris2012", "3", "value", "p2", "median", -14.87),
        ("fabris2012", "5", "value", "p5", "worst", 7184.93),
        ("fabris2012", "6", "mean", "p6", "C", 29210.0),
    ],
)
def test_figures_are_those_of_the_papers(name, table, quantity, row, column, expected):
    """Some figures of every table, read off the papers."""
    assert find_paper(name).tables[table].value(quantity, row, column) == expected


def test_speedups_in_the_data_are_the_quotients_of_the_times():
    """A check of typing: printed speedups follow from printed times; the paper has one that does not."""
    different = []
    for number in ("10", "11", "12"):
        table = find_paper("wang2012").tables[number]
        for row in table.figures["cpu"]:
            for column in table.columns:
                cpu, gpu, speedup = (table.value(quantity, row, column) for quantity in ("cpu", "gpu", "speedup"))
                if cpu is not None and abs(cpu / gpu - speedup) > 0.01:
                    different.append((number, row, column))
    assert different == [("11", "F15", "D=500")]
    table = find_paper("janssen2024").tables["3"]
    for row in table.figures["seconds"]:
        for column in table.columns:
            quotient = table.value("seconds", "Standard DE", column) / table.value("seconds", row, column)
            assert quotient == pytest.approx(table.value("speedup", row, column), rel=0.01)


@pytest.mark.parametrize("name", REPRODUCTIONS)
def test_notes_are_of_experiments(name):
    found = find_reproduction(name)
    experiments = found.experiments("cpu")
    for note in found.paper.notes:
        assert note.function in {"", *(one.function for one in experiments)}
        assert set(note.algorithms) <= {one.algorithm for one in experiments}
        assert set(note.dims) <= {one.dim for one in experiments}
        assert set(note.parts) <= {one.part for one in experiments}


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("name", REPRODUCTIONS)
def test_experiments_differ_and_give_cells_of_tables(name, device):
    found = find_reproduction(name)
    experiments = found.experiments(device)
    assert len({reproduction.identity(one.key) for one in experiments}) == len(experiments)
    tables = found.paper.tables
    for one in experiments:
        assert one.places
        assert set(one.tables) <= set(tables)
    names = {name for kind in ("plain", "minmax", "constrained") for name in problem_names(kind)}
    suite = found.paper.suite.removesuffix("-as-run")
    assert {f"{suite}/{one.function}" for one in experiments} <= names


def test_every_printed_value_has_an_experiment():
    for name in ("qin2012", "nashed2012"):
        found = find_reproduction(name)
        for device in ("cpu", "cuda"):
            places = {place[:3] for one in found.experiments(device) for place in one.places if place.kind == "value"}
            for number, table in found.paper.tables.items():
                rows = table.figures.get("mean", {})
                assert {(number, row, column) for row in rows for column in table.columns} <= places


# -- runs --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SMALL)
def test_a_miniature_has_every_table_without_verdicts_and_resumes(name, capsys, tmp_path):
    file = tmp_path / "record.json"
    command = ["reproduce", name, *SMALL[name], "--n-jobs", "1", "--out", str(file)]
    assert main([*command, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    found, record = find_reproduction(name), read_record(file)
    known = {table.name for table in found.paper.tables.values()} - SHOWN_ELSEWHERE.get(name, set())
    if name == "qin2012":
        known -= {"Table 3", "Fig. 4", "Fig. 5"}  # of the dimension and the functions that the miniature leaves out
    if name == "fabris2012":
        known -= {"Table 6"}  # of 100 individuals
    assert {table["name"] for table in printed["tables"]} == known
    assert all(table["cells"] for table in printed["tables"])
    # Means, shares, ranks, tests and times of less than the paper's budget are not judged.
    assert {cell["verdict"] for table in printed["tables"] for cell in table["cells"]} == {
        "not comparable",
        "no figure",
    }
    assert record["command"].startswith(f"skde reproduce {name} --quick")
    assert main(command) == 0  # nothing is run again
    text = capsys.readouterr().out
    assert read_record(file)["cells"] == record["cells"]
    assert text.startswith(found.paper.title)
    assert all(f"\n{table}. " in text for table in known)


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["qin2012", "janssen2024"])
def test_a_miniature_on_a_gpu_has_the_papers_times(name, capsys):
    assert main(["reproduce", name, "--quick", "--functions", "F1", "--runs", "1", "--device", "cuda", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert "gpu" in printed["machine"]
    number = {"qin2012": "Table 1", "janssen2024": "Table 3"}[name]
    (table,) = (table for table in printed["tables"] if table["name"] == number)
    times = [line for line in table["cells"] if "value" not in line["row"] and "success" not in line["row"]]
    assert times
    assert all(0 < float(line["ours"]) < 60 for line in times)


def test_the_miniatures_without_other_options_are_small():
    """Evaluations times dimension of each: about a minute on one core at 5e7 a second and more."""
    for name, found in REPRODUCTIONS.items():
        settings = found.settings(budget="quick")
        planned = found.plan(settings, quick=True)
        if name != "fabris2012":
            work = [
                one.dim * one.limits.get("max_evals", one.limits.get("max_iter", 0) * one.pop_size) for one in planned
            ]
            assert sum(work) * settings.runs < 4e9, name


def test_the_runs_are_those_of_the_paper():
    found = find_reproduction("nashed2012")
    settings = found.settings(budget="96", runs=2)
    record = found.run(settings, Selection(function=["f9"], algorithm=["de"], dim=[10]))
    (cell,) = record["cells"]
    assert cell["algorithm"] == "de:CR=0.879,F=0.52,pop_size=48,repair=clip,strategy=rand/1/exp"
    fitted = Minimizer(DE.nashed2012(), max_evals=96, n_runs=2, device="cpu", random_state=0).fit("rastrigin", dim=10)
    assert cell["best"] == [float(f"{run.fun:.10g}") for run in fitted.runs_]  # the minimum is 0
    (line,) = found.comparisons(record)[0].lines
    assert (line.row, line.column, line.paper) == ("f9", "de, D=10", "0.0 (0.0)")
    assert line.ours.startswith(f"{np.mean(cell['best']):.1e}")


def test_official_data_reach_the_problem():
    pytest.importorskip("optproblems")
    found = find_reproduction("nashed2012")
    given = found.problem("f7", 10, found.settings(data="official"))
    assert given.options == {"as_run": True, "index_base": 0, "data": "official"}
    assert found.problem("f8", 10, found.settings()).options == {"as_run": True, "index_base": 0}


def test_the_papers_weights_are_in_the_problems():
    suite, found = find_suite("nashed2012-as-run"), find_reproduction("nashed2012")
    X = np.linspace(-3, 3, 50).reshape(5, 10)
    for name in suite.functions:
        assert np.array_equal(suite.function(name, 10).objective(X), found.problem(name, 10, found.settings())(X))


def test_presets_are_the_papers():
    paper = find_paper("nashed2012")
    for algorithm in (DE.nashed2012(), PSO.nashed2012()):
        assert reproduction.find_preset_of(paper, algorithm.name).get_params() == algorithm.get_params()
    assert DE.nashed2012(pop_size=20).get_params() == {**DE.nashed2012().get_params(), "pop_size": 20}


def test_protocols():
    """Numbers that the papers name."""
    qin = {one.part: one for one in find_reproduction("qin2012").experiments("cpu") if one.dim == 50}
    assert qin["1e4*D"].limits == {"max_evals": 500_000}
    assert qin["1e5*D"].limits == {"max_evals": 5_000_000}
    assert find_paper("qin2012").runs == 25
    janssen = find_reproduction("janssen2024").experiments("cpu")
    assert {(one.dim, one.limits["max_evals"], one.target) for one in janssen} == {(100, 10_000_000, 1e-8)}
    wang = [one for one in find_reproduction("wang2012").experiments("cuda") if one.part == "populations"]
    assert {(one.dim, one.limits["max_iter"], one.pop_size) for one in wang} == {
        (200, 20_000, size) for size in (256, 1024, 2048, 4096)
    }
    nashed = find_reproduction("nashed2012")
    assert {tuple(one.limits.items()) for one in nashed.experiments("cuda")} == {(("max_time", 1.0),)}
    assert nashed.paper.runs == 100


def test_the_solver_with_the_inverted_test_is_the_papers_with_another_rate():
    experiments = find_reproduction("fabris2012").experiments("cpu")
    inverted, published = (
        next(one.optimizer for one in experiments if one.algorithm == name)
        for name in ("rand/1/bin inverted", "rand/1/bin")
    )
    assert inverted.algorithm_x.CR == 0.3
    assert published.algorithm_x.CR == 0.7
    assert published.get_params(deep=False).keys() == MinMaxSolver.fabris2012().get_params(deep=False).keys()


def test_the_models_of_a_device_are_compared():
    found = find_reproduction("janssen2024")
    rows = {
        device: {one.places[0].row for one in found.experiments(device) if one.part != "trials"}
        for device in ("cpu", "cuda")
    }
    assert rows["cpu"] == {"Standard DE", "Master Slave DE", "skde: auto"}
    on_gpu = {"Naive Parallel DE", "All-GPU DE", "All-GPU iDE", "skde: persistent"}
    assert rows["cuda"] == {"Standard DE", "Master Slave DE", *on_gpu}
    qin = find_reproduction("qin2012").experiments("cuda")
    timed = {f"time {model}" for model in ("serial", "kernels", "fpde", "fused", "persistent")}
    assert {one.part for one in qin} == {"1e4*D", "1e5*D", *timed}
    rows = {place.row for one in qin for place in one.places if place.table == "fig. 3"}
    assert {"sDE (serial), D=10", "cudaDE_i (fused), D=100", "skde (persistent), D=50"} <= rows


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["nashed2021"], "paper must be one of 'fabris2012', 'nashed2012', 'qin2012', 'wang2012', 'janssen2024'; got"),
        (
            ["nashed2012", "--algorithms", "jde"],
            "algorithm of 'nashed2012' must be one of 'de', 'pso', 'ss'; got 'jde'",
        ),
        (["nashed2012", "--dims", "20"], "dim of 'nashed2012' must be one of '10', '30'; got '20'"),
        (["nashed2012", "--table", "3"], "table of 'nashed2012' must be one of '2', '2 (marks)', 'fig. 2'; got '3'"),
        (["nashed2012", "--functions", ","], "functions must be one or more, got none"),
        (["nashed2012", "--device", "auto"], "--device must be 'cpu', 'cuda' or 'cuda:N', got 'auto'"),
        (["nashed2012", "--budget", "1m"], "budget must be evaluations of a run"),
        (["nashed2012", "--data", "offical"], "data must be one of 'generated', 'official'; got 'offical'"),
        (["nashed2012", "--folder", "x"], "--folder is for --data official"),
        (["qin2012", "--pop-sizes", "60"], "pop_size of 'qin2012' must be one of '50', '100', '500', '1000'; got '60'"),
        (["qin2012", "--runs", "0"], "runs must be"),
        (
            ["qin2012", "--budget", "500"],
            "budget must be at least the population of every experiment, got '500' and de:",
        ),
        (["wang2012", "--data", "official"], "data='official' needs your copy of the files"),
        (["wang2012", "--table", "8", "--dims", "500"], "no experiment of 'wang2012' has all of the given options"),
        (["fabris2012", "--budget", "1e6"], "budget must be cycles of a run, such as 200cycles, got '1e6'"),
        (["fabris2012", "--budget", "0cycles"], "budget must be an integer >= 1, got 0"),
        (["fabris2012", "--table", "1"], "table of 'fabris2012' must be one of '2'"),
        (["qin2012", "--held-out", "3"], "--held-out is for a tuning: nashed2012 --table 1"),
    ],
)
def test_bad_input(capsys, arguments, expected):
    assert main(["reproduce", *arguments]) == 2
    assert expected in capsys.readouterr().err


def test_a_record_of_other_settings_is_refused(capsys, tmp_path):
    file = tmp_path / "record.json"
    command = ["reproduce", "qin2012", "--functions", "F1", "--dims", "10", "--pop-sizes", "50", "--budget", "100"]
    assert main([*command, "--runs", "1", "--out", str(file)]) == 0
    assert main([*command, "--runs", "2", "--out", str(file)]) == 2
    assert "has runs=1, not 2; use the same settings, or another file" in capsys.readouterr().err


@pytest.fixture
def without_pso():
    known = dict(ALGORITHMS)
    del ALGORITHMS["pso"]
    yield
    ALGORITHMS.clear()
    ALGORITHMS.update(known)  # in their order


@pytest.mark.usefixtures("without_pso")
def test_an_error_names_the_algorithms_that_there_are(capsys):
    assert main(["reproduce", "nashed2012", "--algorithms", "pso"]) == 2
    assert "algorithm of 'nashed2012' must be one of 'de', 'ss'; got 'pso'" in capsys.readouterr().err
    with pytest.raises(ValueError, match="'pso' of 'nashed2012' cannot be run: skde has no such algorithm"):
        reproduction.find_preset_of(find_paper("nashed2012"), "pso")


# -- verdicts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("printed", "std", "values", "expected"),
    [
        ("0.0", 0.0, [0, 9e-13], "as good"),
        ("0.0", 0.0, [0, 1e-11], "noise"),
        ("0.0", 0.0, [1e-9, 1.1e-9, 0.9e-9], "worse"),
        ("5.0e-1", 0.0, [0.5, 0.5], "as good"),
        ("5.0e-1", 0.0, [0.54, 0.5401], "worse"),
        ("5.0e-1", 0.0, [0.5049, 0.5049], "as good"),
        ("5.0e-1", 0.0, [0.6, 0.6], "worse"),
        ("5.9e+0", 31.0, [0, 0, 0, 118.0], "noise"),
        ("5.9e+0", 31.0, [118.0] * 30, "worse"),
        ("5.9e+0", 31.0, [7.0], "worse"),
        ("5.9e+0", 31.0, [1.0, np.inf], "worse"),
        ("INF", 0.0, [1e300, np.inf], "as good"),
        (None, 0.0, [0.0], "no figure"),
    ],
)
def test_judgement_of_values(printed, std, values, expected):
    assert judge_values(printed, std, 100, np.array(values, float), zero=1e-12) == expected


def test_a_printed_zero_with_fixed_decimals_is_rounded():
    assert judge_values("0.000", 0.0, 25, np.full(3, 4e-4), fixed=True) == "as good"
    assert judge_values("0.000", 0.0, 25, np.full(3, 4e-4)) == "worse"
    assert judge_values("0.000", 0.0, 25, np.full(3, 6e-4), fixed=True) == "worse"


@pytest.mark.parametrize(
    ("printed", "successes", "runs", "expected"),
    [("1.00", 25, 25, "as good"), ("1.00", 24, 25, "noise"), ("1.00", 15, 25, "worse"), ("0.04", 0, 25, "noise")],
)
def test_judgement_of_shares(printed, successes, runs, expected):
    assert judge_share(printed, 25, successes, runs) == expected


def test_judgement_of_times():
    assert [judge_seconds("0.5", spent) for spent in (0.4, 0.6)] == ["faster", "slower"]
    assert judge_seconds(None, 0.4) == "no figure"


@pytest.mark.parametrize(
    ("printed", "value", "fixed", "expected"),
    [
        ("0.000", 0.25, True, "0.250"),
        ("0.000", 2e-5, True, "2.0e-05"),
        ("0.000", 0.0, True, "0.000"),
        ("1.99E-11", 3.0, False, "3.00e+00"),
        ("0.0", 0.3, False, "3.0e-01"),
        ("0.0", 0.0, False, "0"),
        (None, 1234.5, True, "1.23e+03"),
        ("0.0", None, True, "-"),
        ("1.0", np.inf, True, "inf"),
    ],
)
def test_numbers_have_the_papers_form(printed, value, fixed, expected):
    assert like(printed, value, fixed=fixed) == expected


def cell(function="f0", algorithm="de", values=(1.0, 1.2, 1.1), dim=10):
    """A cell of nashed2012, in the form of earlier versions, without a part."""
    text = next(one.text for one in find_reproduction("nashed2012").experiments("cpu") if one.algorithm == algorithm)
    numbers = list(map(float, values))
    return {
        "function": function,
        "dim": dim,
        "algorithm": text,
        "best": numbers,
        "error": numbers,
        "n_evals": [5] * len(numbers),
    }


def record_of(*cells, **settings):
    """A record with these cells."""
    return {"settings": {"budget": "protocol", **settings}, "cells": list(cells)}


def test_notes_are_of_cells_that_are_not_as_good(monkeypatch):
    found = nashed2012.Nashed2012()
    notes = (Note("other dimension", dims=(30,)), Note("of the swarm", "f0", ("pso",)), Note("ours", "f0"))
    monkeypatch.setattr(nashed2012.Nashed2012, "paper", replace(found.paper, notes=notes))
    (worse,) = found.comparisons(record_of(cell()))
    assert [(line.verdict, line.note) for line in worse.lines] == [("worse", "ours")]
    lines = comparison_text(worse).splitlines()
    assert lines[-1] == "f0: de, D=10: ours"
    assert "1.1e+00 (1.0e-01)!" in "\n".join(lines)
    (good,) = found.comparisons(record_of(cell(values=[0.0, 0.0])))
    assert [(line.verdict, line.note) for line in good.lines] == [("as good", "")]


def test_notes_on_generated_data_are_not_of_official_data():
    found = find_reproduction("nashed2012")
    drawn, official = (
        found.comparisons(record_of(cell("f7", values=[5, 5.1]), data=data))[0].lines[0].note
        for data in ("generated", "official")
    )
    assert "drawn here" in drawn
    assert "drawn here" not in official


def test_kruskal_wallis_marks_the_best():
    pytest.importorskip("scikit_posthocs")
    found = find_reproduction("nashed2012")
    low, high = np.arange(20.0), np.arange(100.0, 120.0)
    cells = [cell("f9", "de", low), cell("f9", "pso", low + 0.5), cell("f9", "ss", high)]
    table, marks = found.comparisons(record_of(*cells))
    marked = {line.column: line.ours.endswith("*") for line in table.lines}
    assert marked == {"de, D=10": True, "pso, D=10": True, "ss, D=10": False}
    counts = {line.column: line[2:5] for line in marks.lines}
    assert counts["pso"] == ("20 of 40", "1 of 1", "no figure")
    assert counts["ss"] == ("12 of 40", "0 of 1", "no figure")


def test_ranks_are_those_of_the_scores():
    table = find_paper("janssen2024").tables["4"]
    experiments = [one for one in find_reproduction("janssen2024").experiments("cpu") if one.function == "F2"]
    order = {row: int(table.value("rank", row, "F2")) for row in table.figures["rank"]}
    trials = [
        (one, {"error": [float(order[one.places[0].row]) + shift for shift in (0.0, 0.1)], "run_seconds": [1.0, 1.0]})
        for one in experiments
        if one.part == "trials"
    ]
    part = janssen2024.rank_lines(table, trials[:2])
    assert [(line.column, line.ours, line.verdict) for line in part] == [("F2", "-", "no figure")] * 2
    lines = janssen2024.rank_lines(table, trials)
    assert {(line.paper, line.ours, line.verdict) for line in lines if line.column == "F2"} == {
        (str(rank), str(rank), "agrees") for rank in range(1, 9)
    }
    assert {line.verdict for line in lines if line.column == "all"} == {"no figure"}  # of one function only


def test_ranks_and_tests_of_the_papers_own_values_are_its_own():
    """Where our errors are the paper's, Tables 6 and 7 follow from Tables 2 to 5, but for one cell."""
    found = find_reproduction("wang2012")
    pairs = []
    for one in found.experiments("cpu"):
        place = one.places[0]
        if one.part == "values":
            printed = found.paper.tables[place.table].value("mean", place.row, place.column)
            pairs.append((one, {"error": [printed if np.isfinite(printed) else None]}))
    lines = {number: found.lines_of(found.paper.tables[number], pairs, {"budget": "protocol"}) for number in ("6", "7")}
    assert {line.verdict for line in (*lines["6"], *lines["7"])} == {"agrees"}
    differing = [(line.row, line.column) for line in lines["7"] if abs(float(line.ours) / float(line.paper) - 1) > 0.01]
    assert differing == [("G-CMA-ES", "D=500")]
    assert len(lines["6"]) == 19
    assert max(abs(float(line.ours) - float(line.paper)) for line in lines["6"]) < 0.0151


def test_a_part_of_the_functions_has_ranks_without_verdicts():
    found = find_reproduction("wang2012")
    cells = [
        (one, {"error": [0.0]})
        for one in found.experiments("cpu")
        if (one.part, one.algorithm, one.dim) == ("values", "gojde", 100)
    ]
    assert len(cells) == 19
    for many in (1, 18, 19):
        lines = found.lines_of(found.paper.tables["6"], cells[:many], {"budget": "protocol"})
        assert ({line.verdict for line in lines} == {"no figure"}) == (many < 19)
        assert {line.column for line in lines} == {"D=100"}


def test_values_of_a_solver_are_of_the_feasible_runs():
    found = find_reproduction("fabris2012")
    experiment = next(one for one in found.experiments("cpu") if (one.function, one.algorithm) == ("p5", "rand/1/bin"))
    measured = {
        "best": [7047.0, 7060.0, 7050.0, None],
        "feasible": [False, True, True, False],
        "alone": [0.3, 0.1, 0.2],
    }
    lines = {line.column: line for line in found.value_lines(found.paper.tables["3"], experiment, measured)}
    values = describe_values([7060.0, 7050.0])
    assert lines["mean"].ours == f"{values.mean:.2f}" == "7055.00"
    assert lines["best"].ours == "7050.00"
    assert lines["mean"].verdict == "noise"
    assert "below the optimum" in lines["mean"].note
    nothing = {**measured, "feasible": [False] * 4}
    lines = {line.column: line for line in found.value_lines(found.paper.tables["3"], experiment, nothing)}
    assert (lines["mean"].ours, lines["mean"].verdict) == ("-", "worse")
    table = found.paper.tables["2"]
    assert found.time_line(table, experiment, measured)[2:5] == ("2955.00", "200", "faster")
    for budget, verdict in (("protocol", "faster"), ("200cycles", "faster"), ("400cycles", "not comparable")):
        assert found.lines_of(table, [(experiment, measured)], {"budget": budget})[0].verdict == verdict
    for budget, verdict in (("400cycles", "noise"), ("quick", "not comparable")):
        lines = found.lines_of(found.paper.tables["3"], [(experiment, measured)], {"budget": budget})
        assert [line.verdict for line in lines if line.column == "mean"] == [verdict]


def test_a_target_is_judged_before_the_time_is_taken(monkeypatch):
    """The kernels that judge a target are compiled before the time is taken."""
    targets, fit = [], Minimizer.fit

    def noted(minimizer, problem):
        targets.append(minimizer.target)
        return fit(minimizer, problem)

    monkeypatch.setattr(Minimizer, "fit", noted)
    found, problem = find_reproduction("janssen2024"), get_problem("janssen2024/F1", dim=100)
    experiment = next(one for one in found.experiments("cpu") if one.alone and one.function == "F1")
    small = replace(experiment, limits={"max_evals": 1000})
    found.measure(small, problem, found.settings(runs=1))
    assert targets == [-np.inf, problem.f_opt + 1e-8]


def test_ranks_that_differ_have_reasons():
    found = find_reproduction("janssen2024")
    trials = [one for one in found.experiments("cpu") if one.part == "trials" and one.function in ("F2", "F3")]
    cells = [{**cell(values=[20 - k] * 2), "run_seconds": [1.0, 1.0]} for k in range(len(trials))]
    lines = janssen2024.rank_lines(found.paper.tables["4"], list(zip(trials, cells, strict=True)))
    own = {(line.column, line.verdict, line.note) for line in lines if line.column in ("F2", "F3")}
    (converged,) = (note.text for note in janssen2024.NOTES if "generated" in note.data)
    assert own == {(name, *rest) for name in ("F2", "F3") for rest in (("differs", converged), ("agrees", ""))}
    alike = [{**one, "error": [240.0, 240.0] if k < 5 else one["error"]} for k, one in enumerate(cells)]
    lines = janssen2024.rank_lines(found.paper.tables["4"], list(zip(trials, alike, strict=True)))
    notes = {name: {line.note for line in lines if line.column == name and line.note} for name in ("F2", "F3")}
    ends = (
        "10 of the 16 trials end at one local minimum, 240 above the least value; the other trials and rounding decide"
    )
    assert notes == {"F2": {ends}, "F3": {converged}}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.0, 1e-9, 1e-8, 5.0], "3 of the 4 trials are solved; their times decide, and those are of this machine"),
        ([0.0, 1e-9, 4.0, 5.0], ""),
        ([7.0, 7.0, 4.0, 5.0], ""),
    ],
)
def test_trials_that_end_alike_are_most(values, expected):
    assert janssen2024.common_end(np.array(values)) == expected


def test_times_of_other_budgets_are_not_compared():
    found = find_reproduction("qin2012")
    experiment = next(one for one in found.experiments("cuda") if one.alone and "1" in one.tables)
    timed = {**experiment.key, "run_seconds": [0.01, 0.02], "error": [0.0, 0.0]}
    for budget, verdict in (("protocol", "faster"), ("quick", "not comparable")):
        record = {"settings": {"budget": budget, "device": "cuda"}, "cells": [timed]}
        table = found.comparisons(record, ["1"])[0]
        assert [line.verdict for line in table.lines] == [verdict]
        assert table.lines[0].ours == "0.015"


def test_budgets_are_compared_for_every_experiment():
    found = find_reproduction("qin2012")
    experiments = {one.part: one for one in found.experiments("cpu") if (one.dim, one.pop_size) == (10, 50)}
    record = {"settings": {"budget": "2e5"}, "cells": []}
    for part in ("1e4*D", "1e5*D"):
        record["cells"].append({**experiments[part].key, "error": [9.0, 9.1]})
    found_lines = found.comparisons(record, ["1"])[0].lines
    assert {line.row.split(", ")[1].split()[0]: line.verdict for line in found_lines} == {
        "1e4*D": "worse",
        "1e5*D": "not comparable",
    }
    assert "2 not comparable (not the paper's budget)" in comparison_text(found.comparisons(record, ["1"])[0])


@pytest.mark.parametrize(
    ("budget", "expected"), [("1s", "worse"), ("3e6", "worse"), ("0.5s", "not comparable"), ("9e5", "not comparable")]
)
def test_a_second_and_its_evaluations_are_the_budget_of_nashed2012(budget, expected):
    (table,) = find_reproduction("nashed2012").comparisons(record_of(cell(), budget=budget))
    assert [line.verdict for line in table.lines] == [expected]


def test_the_figure_of_times_has_the_numbers_of_the_table():
    found = find_reproduction("janssen2024")
    cells = [
        {**one.key, "run_seconds": [20.0], "error": [1.0]} for one in found.experiments("cpu") if one.part != "trials"
    ]
    table, figure = found.comparisons(record_of(*cells), ["3", "fig. 6"])
    assert (figure.name, figure.lines) == ("Fig. 6", table.lines)
    assert figure.lines[0] == ("Standard DE", "F1", "80.81", "20", "faster", "")


def test_a_wide_table_is_printed_in_parts():
    lines = tuple(Line(f"F{row}", f"column {column}", "1.0", "2.0", "worse") for row in (1, 2) for column in range(12))
    text = comparison_text(reproduction.Comparison("Table 9", "Something", lines))
    assert max(map(len, text.splitlines()[:-1])) <= 150
    assert text.count("F1 ") >= 2
    assert "24 worse" in text


def test_a_table_reads_its_columns_and_quantities():
    entry = {"title": "T", "dim": 3, "columns": ["a", "b"], "mean": {"F1": ["1.50", None]}, "remark": "lost"}
    table = PublishedTable.read("7", entry)
    assert (table.name, table.remark) == ("Table 7", "lost")
    assert table.text("mean", "F1", "a") == "1.50"
    assert table.value("mean", "F1", "b") is None
    assert table.value("mean", "F2", "a") is None
    assert PublishedTable.read("fig. 2", {"title": "T"}).name == "Fig. 2"


def test_the_papers_are_all_of_the_folder():
    assert set(papers.__all__) >= {"REPRODUCTIONS", "find_paper"}
    assert find_suite("wang2012").functions == wang2012.FUNCTIONS
    assert get_problem("wang2012/F1", dim=100).dim == 100
