"""Reproduction of tables of co-evolution: figures, runs and output."""

import json

import numpy as np
import pytest

from skde import MinMaxSolver
from skde.benchmark import minmax_trials
from skde.benchmark.papers import find_paper
from skde.benchmark.papers.paper import Values
from skde.benchmark.records import read_record
from skde.benchmark.tables import coevolution_lines
from skde.cli.main import main
from skde.problems import NAMES

PAPER = find_paper("fabris2012")
SMALL = ["reproduce", "fabris2012", "--functions", "p1,p6", "--pop-sizes", "50", "--budget", "2cycles", "--runs", "3"]


def test_tables_are_whole():
    functions = [f"p{number}" for number in range(1, 7)]
    assert PAPER.functions == functions
    assert {f"fabris2012/{name}" for name in functions} <= {*NAMES["minmax"], *NAMES["constrained"]}
    keys = {(strategy, n) for strategy in PAPER.strategies for n in PAPER.pop_sizes}
    assert set(PAPER.values) == {(strategy, 50) for strategy in PAPER.strategies}
    assert set(PAPER.milliseconds) == keys - {("best/1/bin", 100)}
    for tables in (PAPER.values, PAPER.milliseconds):
        assert all(list(table) == functions for table in tables.values())
    assert {note.function for note in PAPER.notes} <= set(functions)


def test_figures_are_those_of_the_paper():
    """One figure of every table, read off the paper."""
    assert PAPER.milliseconds["rand/1/bin", 50]["p5"] == ((683.3, 37.5), (2955.0, 55.1))
    assert PAPER.values["rand/1/bin", 50]["p2"] == (-15.0, -14.87, -15.0, 0.56, -12.45)
    assert PAPER.milliseconds["best/1/bin", 50]["p3"] == ((1376.8, 2.4), (8145.0, 241.0))
    assert PAPER.values["best/1/bin", 50]["p5"] == (7047.87, 7066.34, 7052.44, 32.74, 7184.93)
    assert PAPER.milliseconds["rand/1/bin", 100]["p6"] == ((486.5, 3.1), (29210.0, 629.4))


def test_the_command_runs_all_cells_and_resumes(capsys, tmp_path):
    file = tmp_path / "record.json"
    assert main([*SMALL, "--out", str(file), "--algorithms", "best/1/bin"]) == 0
    capsys.readouterr()
    first = read_record(file)["cells"]
    assert main([*SMALL, "--out", str(file), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    record = read_record(file)
    assert record["cells"][:2] == first  # not run again
    assert record["settings"]["budget"] == "2cycles"
    keys = [(row["function"], row["algorithm"]) for row in found["rows"]]
    assert keys == [(name, one) for name in ("p1", "p6") for one in ("rand/1/bin", "best/1/bin", "default")]
    solvers = {
        "default": MinMaxSolver(n_cycles=2, n_runs=3, random_state=0, device="cpu"),
        "best/1/bin": MinMaxSolver.fabris2012("best/1/bin", n_cycles=2, n_runs=3, random_state=0, device="cpu"),
    }
    cells = {(cell["function"], cell["algorithm"]): cell for cell in record["cells"]}
    for algorithm, solver in solvers.items():
        for function in ("p1", "p6"):
            runs = solver.fit(f"fabris2012/{function}").runs_
            cell = cells[function, f"{algorithm}:pop_size=50"]
            assert cell["best"] == [run.fun for run in runs]
            assert cell["feasible"] == [run.feasible for run in runs]
            assert cell["n_evals"] == [run.n_evals for run in runs]
            assert 0 < min(cell["alone"]) < cell["seconds"] * 10
    assert found["rows"][1]["paper"] == [0.0, 0.0, 0.0, 0.02, -0.09]
    assert found["rows"][2]["paper"] is None


def test_a_row_is_of_the_feasible_runs():
    cell = {
        "function": "p5",
        "algorithm": "rand/1/bin:pop_size=50",
        "best": [7047.0, 7060.0, 7050.0, None],
        "feasible": [False, True, True, False],
        "violation": [2e-4, 0.0, 1e-7, None],
        "alone": [0.3, 0.1, 0.2],
        "seconds": 2.0,
    }
    row = minmax_trials.row(PAPER, cell)
    assert row.ours == Values(7050.0, 7055.0, 7055.0, pytest.approx(np.sqrt(50)), 7060.0)
    assert (row.feasible, row.runs, row.violation) == (2, 4, np.inf)
    assert (row.alone_ms, row.together_ms) == (200.0, 2000.0)
    head, paper, ours = coevolution_lines([row])
    assert len(head) == len(paper) == len(ours)
    assert paper[:2] == ["rand/1/bin, n=50: paper", "7047.83"]
    assert paper[8] == "2955 (GPU: 683)"
    assert ours == [
        *("rand/1/bin, n=50: skde", "7050", "7055", "7055", "7.1e+00", "7060"),
        *("inf", "2 of 4", "200", "2000"),
    ]
    nothing = minmax_trials.row(PAPER, {**cell, "feasible": [False] * 4})
    assert nothing.ours is None
    assert coevolution_lines([nothing])[2][1:6] == ["-"] * 5


def test_the_table_has_the_papers_lines_and_notes(capsys):
    small = [*SMALL[:-4], "--budget", "1cycles", "--runs", "1", "--algorithms", "rand/1/bin"]
    assert main(small) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == PAPER.title
    assert [line.split(",")[0] for line in lines if line[:1] == "p"] == ["p1", "p6"]
    assert sum(": paper " in line for line in lines) == sum(": skde " in line for line in lines) == 2
    assert lines[-1].startswith("the paper prints 0.5 as the lower bound of x1")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--algorithms", "rand/2/bin"], "algorithm of 'fabris2012' must be one of 'rand/1/bin', 'best/1/bin', 'def"),
        (["--pop-sizes", "60"], "pop_size of 'fabris2012' must be one of '50', '100'; got '60'"),
        (["--functions", "p7"], "function of 'fabris2012' must be one of 'p1'"),
        (["--functions", ","], "functions must be one or more, got none"),
        (["--budget", "1e6"], "budget must be cycles of a run, such as 200cycles, got '1e6'"),
        (["--budget", "0cycles"], "budget must be an integer >= 1, got 0"),
        (["--runs", "0"], "runs must be"),
        (["--dims", "10"], "--dims is not for fabris2012"),
        (["--table", "1"], "--table is not for fabris2012"),
        (["--device", "auto"], "--device must be one of "),
    ],
)
def test_bad_input(capsys, arguments, expected):
    assert main(["reproduce", "fabris2012", *arguments]) == 2
    assert expected in capsys.readouterr().err


def test_options_of_other_papers_are_refused(capsys):
    assert main(["reproduce", "nashed2012", "--functions", "f1"]) == 2
    assert "--functions is not for nashed2012" in capsys.readouterr().err
