"""The command `skde minmax`."""

import json

import pytest

from skde import DE, MinMaxSolver, __version__
from skde.cli.main import main


def found_by(capsys, *arguments):
    assert main(["minmax", *arguments, "--device", "cpu", "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def lines_of(capsys, *arguments):
    """The report's lines by their labels."""
    assert main(["minmax", *arguments, "--device", "cpu"]) == 0
    return {line[:13].strip(): line[13:] for line in capsys.readouterr().out.splitlines()}


def test_json_is_what_the_library_returns(capsys):
    options = ["--max-iter", "8", "--gens-x", "5", "--gens-y", "7", "--archive", "3", "--renewal", "0.1", "--seed", "4"]
    found = found_by(capsys, "minmax/rustem1", *options, "--algorithm-y", "de:F=0.7,pop_size=20", "--runs", "3")
    solver = MinMaxSolver(
        algorithm_y=DE(F=0.7, pop_size=20),
        max_iter=8,
        gens_x=5,
        gens_y=7,
        archive_size=3,
        renewal=0.1,
        n_runs=3,
        random_state=4,
        device="cpu",
    ).fit("minmax/rustem1")
    assert (found["fun"], found["saddle_gap"]) == (solver.fun_, solver.saddle_gap_)
    assert found["worst_case"] == solver.worst_case_
    assert (found["x"], found["y"]) == (solver.x_.tolist(), solver.y_.tolist())
    assert [run["x"] + run["y"] for run in found["runs"]] == [run.x.tolist() for run in solver.runs_]
    assert found["error"] == solver.fun_ - found["known"]
    assert found["n_evals"] == sum(run.n_evals for run in solver.runs_)
    assert (found["algorithm_x"]["name"], found["algorithm_y"]["parameters"]["F"]) == ("jde", 0.7)
    assert (found["device"], found["status"], found["skde"]) == ("cpu", "LIMIT", __version__)


def test_readable_result_of_a_game(capsys):
    lines = lines_of(capsys, "minmax/rustem4", "--max-iter", "40", "--runs", "2")
    assert lines["problem"] == "minmax/rustem4, 2 variables, 3 of the opponent"
    assert float(lines["value"]) == pytest.approx(float(lines["known"].split(",")[0]), abs=1e-3)
    assert lines["saddle gap"].endswith("about 0 at a saddle point")
    assert "feasible" not in lines["2 runs"]
    assert all(f"{word} " in lines["2 runs"] for word in ("best", "median", "worst"))
    assert " in " in lines["pairs"]
    assert lines["y"].count(".") == 3


def test_readable_result_of_a_constrained_problem(capsys):
    lines = lines_of(capsys, "fabris2012/p6", "--runs", "2")
    assert lines["algorithm y"] == "none: multipliers are updated once a cycle"
    assert float(lines["value"]) == pytest.approx(0.012665, abs=1e-5)
    assert float(lines["violation"].split()[0]) <= 1e-6
    assert lines["2 runs"].startswith("2 feasible, mean 0.0126")
    assert "points" in lines
    assert lines["multipliers"].count(".") == 4


def test_options_change_the_preset(capsys):
    preset = ["--preset", "fabris2012", "--strategy", "best/1/bin", "--pop-size", "20"]
    found = found_by(capsys, "fabris2012/p4", *preset, "--max-iter", "3", "--penalty", "1e5")
    solver = MinMaxSolver.fabris2012("best/1/bin", 20, max_iter=3, penalty=1e5, random_state=0, device="cpu")
    assert found["x"] == solver.fit("fabris2012/p4").x_.tolist()
    assert found["multipliers"] == solver.multipliers_.tolist()
    assert found["max_violation"] == solver.max_violation_
    assert found["algorithm_y"] == found["algorithm_x"]
    assert found["saddle_gap"] is None


def test_limits(capsys):
    assert found_by(capsys, "minmax/parabolas", "--target", "1e-2")["status"] == "TARGET"
    assert found_by(capsys, "minmax/rustem1", "--tol", "1e-3")["status"] == "CONVERGED"
    assert found_by(capsys, "minmax/rustem1", "--stagnation", "3")["status"] == "STAGNATED"
    assert found_by(capsys, "fabris2012/p1", "--max-time", "0.05")["status"] == "TIME"
    assert found_by(capsys, "minmax/rustem1", "--max-evals", "3e5")["n_evals"] <= 3e5
    assert found_by(capsys, "fabris2012/p1", "--dim", "3", "--max-iter", "2")["dim_x"] == 3


def test_a_saved_solver_resumes(capsys, tmp_path):
    file = tmp_path / "solver.npz"
    found = found_by(capsys, "fabris2012/p6", "--max-iter", "4", "--save", str(file))
    solver = MinMaxSolver.load(file)
    assert solver.fun_ == found["fun"]
    solver.set_params(max_iter=9).resume()
    whole = MinMaxSolver(max_iter=9, random_state=0, device="cpu").fit("fabris2012/p6")
    assert solver.x_.tolist() == whole.x_.tolist()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["sphere"], "'sphere' has one side and no constraints: skde minimize sphere"),
        (["minmax/rustm1"], "did you mean 'minmax/rustem1'"),
        (["minmax/rustem1", "--dim", "3"], "dim of 'minmax/rustem1' must be"),
        (["minmax/rustem1", "--algorithm-x", "jd"], "did you mean 'jde'"),
        (["minmax/rustem1", "--algorithm-x", "de:F=3"], "F must be a number in [0, 2], got 3"),
        (["minmax/rustem1", "--algorithm-x", "de:popsize=9"], "did you mean 'pop_size'"),
        (["minmax/rustem1", "--algorithm-x", "de,pso"], "one algorithm is needed, such as de:F=0.5,CR=0.9"),
        (
            ["minmax/rustem1", "--algorithm-y", "ss"],
            "algorithm_y must be any algorithm but 'ss'",
        ),
        (["minmax/rustem1", "--strategy", "rand/1/bin"], "--strategy is for --preset"),
        (["minmax/rustem1", "--preset", "fabri"], "did you mean 'fabris2012'"),
        (["minmax/rustem1", "--preset", "fabris2012", "--algorithm-x", "de"], "--algorithm-x cannot go with --preset"),
        (["minmax/rustem1", "--renewal", "1"], "renewal must be a number in [0, 1), got 1"),
        (["minmax/rustem1", "--max-evals", "9"], "max_evals must be at least 2500"),
        (["minmax/rustem1", "--device", "cdua"], "did you mean 'cuda'"),
        (["minmax/rustem1", "--save", "nowhere/at/all.npz"], "--save: there is no directory 'nowhere/at'"),
        (["minmax/rustem1", "--max-ite", "9"], "did you mean '--max-iter'"),
        (["fabris2012/p2", "--dtype", "float32"], "dtype must be 'float64' for a constrained problem"),
        (["fabris2012/p2", "--multipliers", "evolve"], "needs a penalty, as 1e7"),
    ],
)
def test_bad_input(capsys, arguments, expected):
    assert main(["minmax", *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("skde: error: ")
    assert expected in printed.err
