"""The command line, through main() and as a process."""

import errno
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from skde import Minimizer, __version__
from skde.cli.main import join_negative_numbers, main

MODULE = """
import numpy as np
def loss(X): return ((X - 0.25) ** 2).sum(axis=1)
def loss_of_one_point(x): return float(((x - 0.25) ** 2).sum())
def broken(X): raise ZeroDivisionError("no luck")
def loss_of_half(x): return loss_of_one_point(x) if x[0] < 0.5 else broken(x)
number = 3
class inner:
    loss = staticmethod(loss)
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module of the user's in the current directory."""
    name = f"users_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield name
    sys.modules.pop(name, None)


def found_by(capsys, *arguments):
    assert main(["minimize", *arguments, "--device", "cpu", "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def error_of(capsys, *arguments):
    """The message, after checking that nothing else is printed."""
    assert main(list(arguments)) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("skde: error: ")
    assert "Traceback" not in printed.err
    return printed.err


def test_noisy_and_failing_functions(capsys, module):
    options = ("--dim", "2", "--bounds", "0", "1", "--max-evals", "300", "--seed", "0")
    result = found_by(capsys, f"{module}:loss", *options, "--final-evals", "100")
    assert result["n_evals"] == 300
    with pytest.warns(RuntimeWarning, match="no luck"):
        found_by(capsys, f"{module}:loss_of_half", *options, "--on-error", "nan")
    assert main(["minimize", f"{module}:loss_of_half", *options, "--scalar"]) == 2
    printed = capsys.readouterr()
    assert "no luck" in printed.err
    assert "evaluations  3 in" in printed.out  # those before the error
    assert "on_error must be one of 'raise', 'nan'" in error_of(
        capsys, "minimize", f"{module}:loss", *options, "--on-error", "ignore"
    )


def test_readable_result(capsys):
    assert (
        main(["minimize", "sphere", "--dim", "5", "--algorithm", "jde", "--max-evals", "2e4", "--device", "cpu"]) == 0
    )
    lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines() if line[0] != " ")
    assert lines["objective"] == "sphere (nashed2012/f0), 5 variables"
    assert lines["evaluations"].startswith("20,000 in ")
    assert float(lines["best"].removeprefix("value")) < 1e-9
    assert lines["error"].endswith("above the known minimum 0")
    assert "runs" not in lines


def test_json_is_what_the_library_returns(capsys):
    found = found_by(
        capsys, "rastrigin", "--dim", "4", "--algorithm", "jde", "--max-iter", "30", "--runs", "3", "--seed", "7"
    )
    minimizer = Minimizer("jde", max_iter=30, n_runs=3, random_state=7, device="cpu").fit("rastrigin", dim=4)
    assert found["fun"] == minimizer.fun_
    assert found["x"] == minimizer.x_.tolist()
    assert [run["fun"] for run in found["runs"]] == [run.fun for run in minimizer.runs_]
    assert found["runs"][2]["history"]["best"] == minimizer.runs_[2].history.best.tolist()
    assert found["n_evals"] == 3 * 31 * 100
    assert found["summary"]["best"] == min(run.fun for run in minimizer.runs_) < found["summary"]["worst"]
    assert found["summary"]["best"] < found["summary"]["mean"] < found["summary"]["worst"]
    assert found["error"] == found["fun"]
    assert (found["device"], found["status"], found["skde"]) == ("cpu", "LIMIT", __version__)


def test_runs_are_summed_up(capsys):
    assert main(["minimize", "rastrigin", "--dim", "4", "--max-iter", "5", "--runs", "3", "--device", "cpu"]) == 0
    printed = capsys.readouterr().out
    assert all(word in printed for word in ("3 runs", "mean", "median", "best", "worst", "std"))


def test_settings_reach_the_algorithm(capsys):
    settings = ("F=0.3,0.9", "CR=1", "strategy=best/1/exp", "pop_size=20")
    arguments = [part for setting in settings for part in ("--set", setting)]
    found = found_by(capsys, "sphere", "--dim", "3", "--algorithm", "de", "--max-iter", "2", *arguments)
    parameters = found["algorithm"]["parameters"]
    assert parameters["F"] == [0.3, 0.9]
    assert parameters["CR"] == 1
    assert parameters["strategy"] == "best/1/exp"
    assert found["n_evals"] == 3 * 20


@pytest.mark.parametrize(("text", "value"), [("True", True), ("false", False)])
def test_settings_may_be_true_or_false(capsys, text, value):
    arguments = ["--dim", "3", "--algorithm", "cmaes", "--max-iter", "2", "--set", f"active={text}"]
    assert found_by(capsys, "sphere", *arguments)["algorithm"]["parameters"]["active"] is value


@pytest.mark.parametrize("execution", ["run", "step"])
def test_executions(capsys, execution):
    arguments = ("minimize", "rastrigin", "--dim", "4", "--algorithm", "jde", "--max-iter", "30", "--device", "cpu")
    assert main([*arguments, "--execution", execution, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    described = (found["execution"], found["device"], found["device_reason"])
    assert described == (execution, "cpu", "asked for")
    assert found["x"] == found_by(capsys, *arguments[1:])["x"]
    assert main([*arguments, "--execution", execution]) == 0
    assert re.search(rf"^device +cpu \(asked for\)\nexecution +{execution}$", capsys.readouterr().out, re.MULTILINE)


def test_limits(capsys):
    assert found_by(capsys, "sphere", "--dim", "2", "--target", "1e-3")["status"] == "TARGET"
    assert found_by(capsys, "shifted_sphere", "--dim", "2", "--tol", "1e-4")["status"] == "CONVERGED"
    assert found_by(capsys, "sphere", "--dim", "2", "--max-time", "0.05")["status"] == "TIME"
    assert found_by(capsys, "sphere", "--dim", "2", "--target", "-1e-3", "--max-evals", "300")["status"] == "LIMIT"


def test_users_function(capsys, module):
    found = found_by(capsys, f"{module}:loss", "--dim", "3", "--bounds", "-5", "5", "--max-iter", "200")
    assert found["x"] == pytest.approx([0.25] * 3, abs=1e-3)
    assert found["f_opt"] is None
    pairs = ("--bounds", "-5,5; 0.5,1e0", "--max-iter", "100")
    assert found_by(capsys, f"{module}:inner.loss", *pairs)["x"] == pytest.approx([0.25, 0.5], abs=1e-3)
    for option in ([], ["--scalar"]):
        found = found_by(capsys, f"{module}:loss_of_one_point", *option, *pairs)
        assert found["fun"] == pytest.approx(0.0625, abs=1e-4)


def test_named_variables_of_one_point(capsys, tmp_path, monkeypatch):
    (tmp_path / "named_costs.py").write_text(
        "def cost(n, kind): return len(range(n)) + (kind != 'star')\ndef of_dict(p): return cost(**p)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("cost", "of_dict"):
        options = ("--var", "n:int:1:9", "--var", "kind:cat:ring,star", "--max-iter", "30")
        assert found_by(capsys, f"named_costs:{name}", *options)["params"] == {"n": 1, "kind": "star"}


def test_typed_variables(capsys, module):
    given = ("n:int:-3:20", "kind:cat:ring,star", "t:ordinal:0.1,0.3,0.6", "r:log:1e-3:1e1", "x:real:-1:1", "z:fixed:2")
    options = [part for text in given for part in ("--var", text)]
    found = found_by(capsys, f"{module}:loss", *options, "--max-iter", "150")
    params = found["params"]
    assert (params["n"], params["kind"], params["t"], params["z"]) == (0, "ring", 0.3, 2.0)
    assert (params["r"], params["x"]) == (pytest.approx(0.25, rel=0.02), pytest.approx(0.25, abs=0.02))
    assert found["x"] == pytest.approx([0, 0, 0.3, params["r"], params["x"], 2])
    assert main(["minimize", f"{module}:loss", *options[:4], "--max-iter", "20", "--device", "cpu"]) == 0
    assert "variables    n=0, kind=ring" in capsys.readouterr().out
    assert found_by(capsys, "sphere", *options[:4], "--max-iter", "20")["params"] == {"n": 0, "kind": "ring"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["n:int:1"], "argument --var: NAME:real:LOW:HIGH, NAME:int:LOW:HIGH"),
        (["n:whole:1:2"], "NAME:fixed:NUMBER is needed, got 'n:whole:1:2'"),
        (["n:int:1.5:2"], "is needed, got 'n:int:1.5:2'"),
        (["n:int:2:1"], r"got 'n:int:2:1': Integer must have low <= high"),
        (["n:int:1:2", "--var", "n:int:1:3"], "--var: the name 'n' is given twice"),
        (["n:int:1:2", "--bounds", "0", "1"], "--bounds and --var cannot go together"),
    ],
)
def test_wrong_variables(capsys, module, options, message):
    assert message in error_of(capsys, "minimize", f"{module}:loss", "--var", *options)


def test_nan_becomes_null(capsys, module):
    Path(f"{module}.py").write_text(MODULE + "def some(X): return np.where(X[:, 0] > 0, np.inf, np.inf)\n")
    with pytest.warns(RuntimeWarning, match="no value of the objective was finite"):
        found = found_by(capsys, f"{module}:some", "--dim", "2", "--bounds", "0", "1", "--max-iter", "3")
    assert found["fun"] is None


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["minimise", "sphere"], "did you mean 'minimize'"),
        (["minimize", "rastrigni"], "did you mean 'rastrigin'"),
        (["minimize", "sphere", "--algorithm", "jd"], "did you mean 'jde'"),
        (["minimize", "sphere", "--algorithm", "jde", "--set", "popsize=9"], "did you mean 'pop_size'"),
        (["minimize", "sphere", "--set", "F"], "NAME=VALUE is needed, such as F=0.5, got 'F'"),
        (["minimize", "sphere", "--algorithm", "jde", "--set", "F=3"], "must be a number in [0, 2], got 3"),
        (["minimize", "sphere", "--device", "cdua"], "did you mean 'cuda'"),
        (["minimize", "sphere", "--device", "cuda:99"], "'cuda:99' was asked for"),
        (["minimize", "sphere", "--execution", "stepp"], "--execution must be one of 'auto', 'run'"),
        (["minimize", "sphere", "--execution", "stepp"], "did you mean 'step'"),
        (["minimize", "sphere", "--execution", "graph", "--device", "cpu"], "execution='graph'"),
        (
            ["minimize", "math:sin", "--dim", "2", "--bounds", "0", "1", "--execution", "run"],
            "execution='run' needs a compiled objective",
        ),
        (["minimize", "sphere", "--dtype", "float46"], "did you mean 'float64'"),
        (["minimize", "sphere", "--max-eval", "9"], "did you mean '--max-evals'"),
        (["minimize", "sphere", "--max-evals", "many"], "a whole number is needed, such as 20000 or 2e4, got 'many'"),
        (["minimize", "sphere", "--algorithm", "jde", "--max-evals", "5"], "at least the population size"),
        (["minimize", "sphere", "--bounds", "5", "-5"], "low < high"),
        (["minimize", "sphere", "--bounds", "0", "inf"], "must be finite"),
        (["minimize", "sphere", "--bounds", "1"], "LOW HIGH is needed"),
        (["minimize", "sphere", "--plot", "nowhere/at/all.png"], "there is no directory 'nowhere/at'"),
        (["minimize", "sphere", "--plot", "runs.xyz"], "--plot: the ending must be one of"),
        (["minimize", "sphere", "--algorithm", "DE"], "did you mean 'de'"),
        (["minimize", "sphere", "--random-state", "3"], "did you mean '--seed'"),
        (["minimize", "math:sin", "--dim", "2", "--bounds", "0", "1"], "it was given a point, an array"),
        (["minimize", "math:sin", "--dim", "2", "--bounds", "0", "1", "--scalar"], "it was given a point, an array"),
        (
            ["minimize", "math:exp", "--dim", "1e30", "--bounds", "0", "1"],
            "argument --dim: a whole number below 2**64 is needed",
        ),
        (["minimize", "sphere", "--n-jobs", "1e30"], "argument --n-jobs: a whole number below 2**64 is needed"),
        (["minmax", "minmax/rustem1", "--stagnation", "1e30"], "argument --stagnation: a whole number below 2**64"),
        (["bench", "run", "--suite", "nashed2012", "--algorithms", "de", "--dims", "1e30"], "argument --dims: a whole"),
        (["minimize", ":f"], "a problem's name or MODULE:FUNCTION"),
        (["bench", "sped"], "sped"),
        (["bench", "speed", "--device", "auto"], "--device must be 'cpu', 'cuda' or 'cuda:N', got 'auto'"),
        (["bench", "speed", "--out", "nowhere/at/all.json"], "there is no directory"),
        ([], "required: COMMAND"),
    ],
)
def test_bad_input(capsys, arguments, expected):
    assert expected in error_of(capsys, *arguments)


OUTPUTS = [
    (["minimize", "sphere"], "--plot"),
    (["minmax", "minmax/rustem1"], "--save"),
    (["bench", "speed"], "--out"),
    (["bench", "run", "--suite", "nashed2012", "--algorithms", "de", "--dims", "2"], "--out"),
    (["reproduce", "nashed2012"], "--out"),
    (["tune", "de", "--suite", "nashed2012"], "--report"),
]


@pytest.mark.parametrize(("arguments", "option"), OUTPUTS)
def test_paths_that_cannot_be_files_are_refused(capsys, tmp_path, monkeypatch, arguments, option):
    """Before anything runs."""
    assert "is a directory; give a file's name" in error_of(capsys, *arguments, option, str(tmp_path))
    assert "is no regular file" in error_of(capsys, *arguments, option, os.devnull)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert "may not be written" in error_of(capsys, *arguments, option, str(tmp_path / "file"))
    assert os.listdir(tmp_path) == []


def full(*arguments, **options):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize(
    ("writer", "arguments"),
    [
        ("matplotlib.figure.Figure.savefig", ["minimize", "sphere", "--dim", "2", "--max-iter", "3", "--plot"]),
        ("skde.MinMaxSolver.save", ["minmax", "minmax/rustem1", "--max-iter", "2", "--save"]),
        ("skde.benchmark.records.replace_text", [*OUTPUTS[3][0], "--functions", "f0", "--budget", "300", "--out"]),
        (
            "skde.tuning.report.atomic_write",
            [
                "tune",
                "de",
                "--suite",
                "qin2012",
                "--dim",
                "3",
                "--run-max-evals",
                "60",
                "--max-experiments=150",
                "--report",
            ],
        ),
    ],
)
def test_the_result_is_printed_before_it_is_written(capsys, tmp_path, monkeypatch, writer, arguments):
    monkeypatch.setattr(writer, full)
    assert main([*arguments, str(tmp_path / "file.png"), "--device", "cpu", "--json"]) == 2
    printed = capsys.readouterr()
    assert json.loads(printed.out)
    assert re.fullmatch(r"skde: error: .*\[Errno 28\] No space left on device.*\n", printed.err)


def test_speed_is_printed_before_it_is_written(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("skde.benchmark.speed.measure_speed", lambda *arguments, **options: {"figures": []})
    monkeypatch.setattr("skde.benchmark.records.replace_text", full)
    assert main(["bench", "speed", "--out", str(tmp_path / "speed.json"), "--json"]) == 2
    assert json.loads(capsys.readouterr().out) == {"figures": []}


def test_a_link_to_a_record_stays(tmp_path):
    (tmp_path / "records").mkdir()
    (tmp_path / "link.json").symlink_to("records/runs.json")
    assert main([*OUTPUTS[3][0], "--functions", "f0", "--budget", "300", "--out", str(tmp_path / "link.json")]) == 0
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "records" / "runs.json").stat().st_size


def test_bad_functions(capsys, module):
    box = ("--dim", "2", "--bounds", "0", "1")
    assert "no module" in error_of(capsys, "minimize", "no_such_module:f", *box)
    assert f"did you mean {module!r}" in error_of(capsys, "minimize", f"{module}x:loss", *box)
    assert "did you mean 'loss'" in error_of(capsys, "minimize", f"{module}:los", *box)
    assert "got 3" in error_of(capsys, "minimize", f"{module}:number", *box)
    assert "needs --bounds" in error_of(capsys, "minimize", f"{module}:loss", "--dim", "2")
    assert "needs --dim" in error_of(capsys, "minimize", f"{module}:loss", "--bounds", "0", "1")
    told = error_of(capsys, "minimize", f"{module}:broken", *box)
    assert f"{module}:broken raised ZeroDivisionError: no luck" in told
    assert f"{module}.py, line 5" in told
    Path("unfinished_module.py").write_text("1 / 0\n")
    assert "importing 'unfinished_module' raised ZeroDivisionError" in error_of(
        capsys, "minimize", "unfinished_module:f", *box
    )


def test_the_result_before_an_error_is_shown(capsys, module):
    late = (
        "calls = 0\ndef late(X):\n    global calls\n    calls += 1\n    return loss(X) if calls < 7 else loss(X)[1:]\n"
    )
    Path(f"{module}.py").write_text(MODULE + late)
    arguments = ["--dim", "2", "--bounds", "0", "1", "--algorithm", "jde", "--json"]
    assert main(["minimize", f"{module}:late", *arguments]) == 2
    printed = capsys.readouterr()
    assert json.loads(printed.out)["n_evals"] == 400
    assert "must have shape (100,)" in printed.err


@pytest.mark.parametrize(
    ("given", "joined"),
    [
        (["--bounds", "-5", "5", "--dim", "2"], ["--bounds=-5 5", "--dim", "2"]),
        (["--bounds", "0,1; -1e-3,.5", "x"], ["--bounds=0,1; -1e-3,.5", "x"]),
        (["--target", "-1e-3", "--json"], ["--target=-1e-3", "--json"]),
        (["rastrigin", "--dim", "3"], ["rastrigin", "--dim", "3"]),
    ],
)
def test_negative_numbers_are_joined_with_their_options(given, joined):
    assert join_negative_numbers(given) == joined


def test_plot(capsys, tmp_path):
    file = tmp_path / "runs.png"
    assert main(["minimize", "sphere", "--dim", "3", "--max-iter", "9", "--device", "cpu", "--plot", str(file)]) == 0
    assert file.read_bytes().startswith(b"\x89PNG")


def test_plot_without_matplotlib(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("skde.cli.minimize.find_spec", lambda name: None)
    assert "pip install 'skde[plot]'" in error_of(capsys, "minimize", "sphere", "--plot", str(tmp_path / "runs.png"))


def test_constrained_problem(capsys):
    found = found_by(capsys, "fabris2012/p4", "--max-evals", "2e4", "--runs", "2")
    assert found["error"] == pytest.approx(0, abs=0.5)
    assert found["max_violation"] <= 1e-6
    assert found["feasible"] == 2
    assert [run["max_violation"] <= 1e-6 for run in found["runs"]] == [True, True]
    assert main(["minimize", "fabris2012/p4", "--max-evals", "2e4", "--runs", "2", "--device", "cpu"]) == 0
    printed = capsys.readouterr().out
    assert "violation    " in printed
    assert "2 runs       2 feasible, mean 680." in printed


def test_nothing_feasible(capsys):
    found = found_by(capsys, "fabris2012/p5", "--algorithm", "jde", "--max-evals", "1000", "--runs", "2")
    assert (found["feasible"], found["summary"], found["success"]) == (0, {}, False)
    assert found["max_violation"] in [run["max_violation"] for run in found["runs"]]
    assert found["max_violation"] > 1e-6
    assert found["runs"][0]["history"]["best"][-1] is None
    assert found["message"].startswith("No feasible point was found")
    command = ["minimize", "fabris2012/p5", "--algorithm", "jde", "--max-evals", "1000", "--runs", "2"]
    assert main([*command, "--device", "cpu"]) == 0
    assert "2 runs       0 feasible\n" in capsys.readouterr().out


def test_a_module_with_a_constrained_problem(capsys, module, tmp_path):
    (tmp_path / f"{module}.py").write_text(
        "from scipy.optimize import LinearConstraint\nfrom skde import ConstrainedProblem\n"
        "edge = ConstrainedProblem(lambda X: (X**2).sum(axis=1), [(-2, 2)] * 2, LinearConstraint([[1, 1]], 1, 9))\n"
    )
    found = found_by(capsys, f"{module}:edge", "--max-evals", "1e4")
    assert found["fun"] == pytest.approx(0.5, abs=1e-4)
    assert (found["f_opt"], found["error"], found["problem"]) == (None, None, "user")


def test_min_max_problems_are_refused(capsys):
    told = error_of(capsys, "minimize", "minmax/rustem1")
    assert "'minmax/rustem1' is a min-max problem" in told
    assert "(skde minmax minmax/rustem1)" in told


def test_info(capsys):
    assert main(["info", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["versions"]["skde"] == __version__
    assert found["machine"]["isa"] in found["machine"]["isas"]
    assert bool(found["gpus"]) == (found["auto"]["device"] == "cuda:0") == (found["no_gpu_because"] is None)
    assert main(["info"]) == 0
    printed = capsys.readouterr().out
    (column,) = {len(line) - len(line.partition("  ")[2].lstrip()) for line in printed.splitlines() if line}
    assert all(len(name) < column for name in found["versions"])
    assert found["machine"]["isa"] in printed
    assert found["auto"]["reason"] in printed


def test_lists(capsys):
    assert main(["problems", "--json"]) == 0
    problems = json.loads(capsys.readouterr().out)
    assert {"name": "nashed2012/f9", "alias": "rastrigin", "kind": "plain"} in problems
    assert {"name": "fabris2012/p3", "alias": None, "kind": "constrained"} in problems
    assert main(["problems"]) == 0
    printed = capsys.readouterr().out
    assert "nashed2012/f9         rastrigin\n" in printed
    assert "minmax/rustem1        min over x, max over y\n" in printed
    assert main(["algorithms", "--json"]) == 0
    assert [entry["class"] for entry in json.loads(capsys.readouterr().out)][:2] == ["DE", "JDE"]
    assert main(["algorithms"]) == 0
    assert "strategy='rand/1/bin'" in capsys.readouterr().out


@pytest.mark.parametrize(
    "command",
    [
        [],
        ["minimize"],
        ["minmax"],
        ["info"],
        ["bench"],
        ["bench", "speed"],
        ["bench", "run"],
        ["bench", "compare"],
        ["bench", "report"],
        ["reproduce"],
        ["problems"],
        ["algorithms"],
    ],
)
def test_help_has_an_example(capsys, command):
    with pytest.raises(SystemExit) as ended:
        main([*command, "--help"])
    assert ended.value.code == 0
    examples = capsys.readouterr().out.partition("example")[2]
    assert " ".join(["skde", *command]) in examples
    assert ("mkdir results" in examples) == ("--out results/" in examples)


def test_as_a_module():
    arguments = ["minimize", "sphere", "--dim", "2", "--max-iter", "5", "--device", "cpu", "--json"]
    texts = []
    for module in ("skde", "skde.cli.main"):
        done = subprocess.run([sys.executable, "-m", module, *arguments], capture_output=True, text=True, check=True)
        assert done.stderr == ""
        texts.append(json.loads(done.stdout)["fun"])
    assert texts[0] == texts[1]
