"""Reproduction of papers' tables: figures, runs and verdicts."""

import json

import numpy as np
import pytest

from skde import DE, PSO, Minimizer, get_problem
from skde.algorithms import ALGORITHMS
from skde.benchmark import reproduction
from skde.benchmark.papers import PAPERS, Note, Paper, find_paper
from skde.benchmark.records import read_record
from skde.benchmark.suites import find_suite
from skde.benchmark.tables import reproduction_table
from skde.cli.main import main

NASHED = find_paper("nashed2012")
SMALL = ["reproduce", "nashed2012", "--algorithms", "de", "--dims", "10", "--runs", "2", "--budget", "96"]


def paper(mean, std=0.0, runs=100, notes=()):
    """A table of one cell."""
    return Paper(
        "nashed2012", "Somebody, Something", 2, "nashed2012", runs, 1e-12, {("de", 10): {"f0": (mean, std)}}, notes
    )


@pytest.mark.parametrize("name", [name for name, found in PAPERS.items() if isinstance(found, Paper)])
def test_tables_are_whole(name):
    found = PAPERS[name]
    functions = find_suite(found.suite).functions
    assert set(found.figures) == {(algorithm, dim) for algorithm in found.algorithms for dim in found.dims}
    for cells in found.figures.values():
        assert tuple(cells) == functions
        assert all(mean >= 0 and std >= 0 for mean, std in cells.values())
    for note in found.notes:
        assert note.function in functions
        assert set(note.algorithms) <= set(found.algorithms)
        assert set(note.dims) <= set(found.dims)


def test_figures_are_those_of_the_paper():
    """One figure of every column, read off the paper."""
    figures = NASHED.figures
    assert figures["de", 10]["f10"] == (5.9, 31.0)
    assert figures["pso", 10]["f17"] == (1.3, 5.1)
    assert figures["ss", 10]["f11"] == (1.2e-3, 2.4e-18)
    assert figures["de", 30]["f16"] == (0.32, 0.03)
    assert figures["pso", 30]["f6"] == (9.7e-12, 9.9e-12)
    assert figures["ss", 30]["f19"] == (2.3e-2, 0.1)


def test_presets_are_the_papers_and_part_of_the_name():
    assert reproduction.preset(NASHED, "de").text == "de:CR=0.879,F=0.52,pop_size=48,repair=clip,strategy=rand/1/exp"
    for algorithm in (DE.nashed2012(), PSO.nashed2012()):
        assert reproduction.preset(NASHED, algorithm.name).algorithm.get_params() == algorithm.get_params()
    assert DE.nashed2012(pop_size=20).get_params() == {**DE.nashed2012().get_params(), "pop_size": 20}


def test_the_suite_has_the_papers_own_weights():
    suite = find_suite(NASHED.suite)
    X = np.linspace(-3, 3, 50).reshape(5, 10)
    for name in suite.functions:
        theirs = get_problem(f"nashed2012/{name}", dim=10, as_run=True)
        assert np.array_equal(suite.function(name, 10).objective(X), theirs(X))


@pytest.mark.parametrize(
    ("mean", "std", "best", "expected"),
    [
        (0.0, 0.0, [0, 9e-13], "as good"),
        (0.0, 0.0, [0, 1e-11], "noise"),
        (0.0, 0.0, [1e-9, 1.1e-9, 0.9e-9], "worse"),
        (0.5, 0.0, [0.5, 0.5], "as good"),
        (0.5, 0.0, [0.54, 0.5401], "worse"),
        (0.5, 0.0, [0.5049, 0.5049], "as good"),
        (0.5, 0.0, [0.6, 0.6], "worse"),
        (5.9, 31.0, [0, 0, 0, 118.0], "noise"),
        (5.9, 31.0, [118.0] * 30, "worse"),
        (5.9, 31.0, [7.0], "worse"),
        (5.9, 31.0, [1.0, np.inf], "worse"),
    ],
)
def test_judgement(mean, std, best, expected):
    assert reproduction.judge(paper(mean, std), (mean, std), np.array(best, float)) == expected


def test_notes_are_of_cells_that_are_not_as_good():
    notes = (Note("other dimension", "f0", dims=(30,)), Note("of the swarm", "f0", ("pso",)), Note("ours", "f0"))
    cell = {"function": "f0", "dim": 10, "algorithm": "de:F=0.5", "best": [1.0, 1.2, 1.1]}
    worse, good = paper(0.1, notes=notes), paper(3.0, notes=notes)
    assert reproduction.row(worse, cell).note == "ours"
    assert reproduction.row(good, cell).note == ""
    lines = reproduction_table(worse, [reproduction.row(worse, cell)]).splitlines()
    assert lines[-1] == "f0 D=10 de: ours"
    assert "1.1e+00!" in "\n".join(lines)


def test_the_command_runs_the_presets_and_prints_both(capsys, tmp_path):
    file = tmp_path / "record.json"
    assert main([*SMALL, "--out", str(file), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    record = read_record(file)
    assert record["settings"]["suite"] == "nashed2012-as-run"
    assert record["command"].startswith("skde reproduce nashed2012 --algorithms de")
    assert len(record["cells"]) == len(found["rows"]) == 20
    fitted = Minimizer(DE.nashed2012(), max_evals=96, n_runs=2, device="cpu", random_state=0).fit("rastrigin", dim=10)
    row = found["rows"][9]
    assert (row["function"], row["paper"]) == ("f9", [0.0, 0.0])
    assert row["ours"][0] == np.mean([run.fun for run in fitted.runs_])
    assert main([*SMALL, "--out", str(file)]) == 0  # nothing is run again
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == NASHED.title
    assert sum(line.startswith("f") and "D=" not in line for line in lines) == 20
    assert read_record(file)["cells"] == record["cells"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            ["nashed2021"],
            "paper must be one of 'nashed2012', 'fabris2012'; got 'nashed2021'; did you mean 'nashed2012'?",
        ),
        (
            ["nashed2012", "--algorithms", "jde"],
            "algorithm of 'nashed2012' must be one of 'de', 'pso', 'ss'; got 'jde'",
        ),
        (["nashed2012", "--dims", "20"], "dim of 'nashed2012' must be one of '10', '30'; got '20'"),
        (["nashed2012", "--device", "auto"], "--device must be one of "),
        (["nashed2012", "--budget", "1m"], "budget must be evaluations of a run"),
    ],
)
def test_bad_input(capsys, arguments, expected):
    assert main(["reproduce", *arguments]) == 2
    assert expected in capsys.readouterr().err


@pytest.fixture
def without_pso():
    known = dict(ALGORITHMS)
    del ALGORITHMS["pso"]
    yield
    ALGORITHMS.clear()
    ALGORITHMS.update(known)  # in their order


@pytest.mark.usefixtures("without_pso")
def test_an_error_names_the_missing_algorithm(capsys):
    assert "pso" not in reproduction.available(NASHED)
    assert main(["reproduce", "nashed2012", "--algorithms", "pso"]) == 2
    assert "'pso' of 'nashed2012' cannot be run: skde has no such algorithm" in capsys.readouterr().err
