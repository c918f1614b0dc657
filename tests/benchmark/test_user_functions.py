"""Functions of users as suites."""

import json
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest

from skde.benchmark import suites, trials
from skde.benchmark.optimizers import get_optimizer
from skde.benchmark.suites import find_suite
from skde.cli.main import main

MODULE = """
import numpy as np

def bowl(X):
    return (X**2).sum(axis=1) + 3.0

bowl.bounds = (-5, 5)
bowl.f_opt = 3.0

def valley(X):
    return np.abs(X[:, 0] - X[:, 1])

valley.bounds = [(-1, 1), (0, 2)]
valley.f_opt = 0.0

def raising(X):
    if raising.calls == 0:
        raise ZeroDivisionError("in the function")
    raising.calls -= 1
    return bowl(X)

raising.bounds, raising.f_opt, raising.calls = (-5, 5), 3.0, 0

def without_bounds(X):
    return X[:, 0]

def without_f_opt(X):
    return X[:, 0]

without_f_opt.bounds = (0, 1)
FUNCTIONS = {"bowl": bowl, "valley": valley}

def leave(X):
    raise SystemExit(0)

leave.bounds, leave.f_opt = (-5, 5), 0.0

def unbounded(X):
    return np.where(X[:, 0] > 2, -np.inf, 1.0)

unbounded.bounds, unbounded.f_opt = (-5, 5), 0.0
BOTH = {"leave": leave, "bowl": bowl}

def column(X):
    return bowl(X)[:, None]

def complex_values(X):
    return bowl(X) + 1j

for function in (column, complex_values):
    function.bounds, function.f_opt = (-5, 5), 3.0
NUMBERS = {1: bowl}
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """The name of a module in the current directory."""
    name = f"user_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


def test_a_function_by_its_module(module, capsys):
    arguments = ["bench", "run", "--suite", f"{module}:bowl", "--algorithms", "jde,scipy:direct", "--dims", "2,3"]
    assert main([*arguments, "--runs", "2", "--budget", "3000", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert [(cell["function"], cell["dim"], cell["algorithm"]) for cell in record["cells"]] == [
        ("bowl", dim, algorithm) for dim in (2, 3) for algorithm in ("jde", "scipy:direct")
    ]
    assert all(cell["f_opt"] == 3.0 and 0 <= max(cell["error"]) < 1e-2 for cell in record["cells"])


def test_a_mapping_is_a_suite(module):
    suite = find_suite(f"{module}:FUNCTIONS")
    assert suite.functions == ("bowl", "valley")
    assert suite.function("bowl", 4).bounds.tolist() == [[-5, 5]] * 4
    assert suite.function("valley", 2).bounds.tolist() == [[-1, 1], [0, 2]]
    assert suite.function("valley", 2).of_lists([[0.5, 2.0]]) == [1.5]
    with pytest.raises(ValueError, match=r"dims of 'valley' of .* must be 2, as its bounds say; got 3"):
        suite.function("valley", 3)


def test_functions_of_one_dimension_need_no_dims(module):
    record = trials.run_trials(trials.TrialSettings(f"{module}:valley", "200", 1), [get_optimizer("jde")], None)
    assert [cell["dim"] for cell in record["cells"]] == [2]
    with pytest.raises(ValueError, match=r"dims of '.*:bowl' must be given, such as 10,30"):
        trials.run_trials(trials.TrialSettings(f"{module}:bowl", "200", 1), [get_optimizer("jde")], None)


def test_a_suite_by_an_entry_point(module, monkeypatch):
    points = [EntryPoint("mine", f"{module}:FUNCTIONS", "skde.suites")]
    monkeypatch.setattr(suites, "entry_points", lambda group: points if group == "skde.suites" else [])
    assert find_suite("mine").functions == ("bowl", "valley")
    with pytest.raises(ValueError, match="did you mean 'mine'"):
        find_suite("mime")


def test_the_other_runs_go_on_after_a_function_that_raises(module, monkeypatch):
    optimizer, settings = get_optimizer("jde", pop_size=10), trials.TrialSettings(f"{module}:raising", "100", 3, seed=4)
    function = find_suite(settings.suite).function("raising", 2)
    function.objective.calls = 10**6
    expected = trials.run_trials(settings, [optimizer], [2])["cells"][0]
    function.objective.calls = 8  # the batch raises after these, and then the first run alone
    seen = []
    minimize = type(optimizer).minimize

    def fresh(self, *arguments):
        function.objective.calls = 3 if len(seen) == 1 else 10**6  # run 1 raises in its fourth generation
        seen.append(arguments)
        return minimize(self, *arguments)

    monkeypatch.setattr(type(optimizer), "minimize", fresh)
    kept = {}
    with pytest.raises(
        RuntimeError, match="first run 1 of jde:pop_size=10 on raising D=2: ZeroDivisionError: in the f"
    ):
        trials.run_trials(settings, [optimizer], [2], recording=trials.GrowingRecording(started=kept.update))
    (cell,) = kept["cells"]
    assert cell["failures"] == [{"run": 1, "error": "ZeroDivisionError: in the function"}]
    # Each run alone has the bits that it has in a batch.
    assert [cell["best"][run] for run in (0, 2)] == [expected["best"][run] for run in (0, 2)]
    assert cell["best"][1] is None
    assert cell["n_evals"] == [100, 30, 100]


@pytest.mark.parametrize("algorithm", ["jde", "scipy:direct"])
def test_a_function_that_exits_is_a_run_that_failed(module, algorithm, capsys):
    arguments = ["bench", "run", "--suite", f"{module}:BOTH", "--algorithms", algorithm, "--dims", "2", "--runs", "1"]
    assert main([*arguments, "--budget", "200", "--json"]) == 2
    printed = capsys.readouterr()
    left, done = json.loads(printed.out)["cells"]
    assert left["failures"] == [{"run": 0, "error": "SystemExit: 0"}]
    assert "failures" not in done
    assert f"first run 0 of {algorithm} on leave D=2: SystemExit: 0" in printed.err


@pytest.mark.parametrize("algorithm", ["jde", "scipy:direct"])
def test_a_value_of_minus_infinity_is_a_failure(module, algorithm):
    settings, kept = trials.TrialSettings(f"{module}:unbounded", "200", 1), {}
    with pytest.raises(RuntimeError, match="the function returned -inf, which has no error"):
        trials.run_trials(
            settings,
            [get_optimizer(algorithm)],
            [2],
            curves=True,
            recording=trials.GrowingRecording(started=kept.update),
        )
    (cell,) = kept["cells"]
    assert (cell["best"], cell["n_evals"], cell["solved_at"]) == ([None], [200], [None])


@pytest.mark.parametrize("algorithm", ["jde", "scipy:direct", "minionpy:LSHADE"])
def test_return_values_are_checked_alike_for_every_library(module, algorithm):
    if algorithm.startswith("minionpy"):
        pytest.importorskip("minionpy")
    optimizer = get_optimizer(algorithm)
    cells = [
        trials.run_trials(trials.TrialSettings(f"{module}:{name}", "200", 1), [optimizer], [2])["cells"][0]
        for name in ("bowl", "column")
    ]
    assert cells[0]["best"] == cells[1]["best"]
    with pytest.raises(RuntimeError, match="must hold real numbers, got dtype complex128"):
        trials.run_trials(trials.TrialSettings(f"{module}:complex_values", "200", 1), [optimizer], [2])


def test_a_record_goes_on_with_the_same_minimum_only(module, tmp_path):
    settings, recording = (
        trials.TrialSettings(f"{module}:bowl", "200", 1),
        trials.GrowingRecording(out=tmp_path / "runs.json"),
    )
    trials.run_trials(settings, [get_optimizer("jde")], [2], recording=recording)
    (tmp_path / f"{module}.py").write_text(MODULE.replace("bowl.f_opt = 3.0", "bowl.f_opt = 2.0"))
    sys.modules.pop(module)
    with pytest.raises(ValueError, match=r"runs\.json has bowl D=2 with f_opt=3\.0, and the function has 2\.0 now"):
        trials.run_trials(settings, [get_optimizer("de")], [2], recording=recording)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("without_bounds", "'without_bounds' of '.*' has no bounds; it needs f.bounds = "),
        ("without_f_opt", "'without_f_opt' of '.*' has no f_opt; it needs f.bounds = "),
        ("bwl", "has no 'bwl'; did you mean 'bowl'"),
        ("np.pi", "must be a function, or a mapping of names to functions"),
        ("NUMBERS", "names of functions in '.*' must be strings, got 1"),
    ],
)
def test_bad_functions_are_refused(module, name, told):
    with pytest.raises(ValueError, match=told):
        find_suite(f"{module}:{name}")


def test_bad_bounds_are_refused(module):
    function = find_suite(f"{module}:bowl").function("bowl", 2).objective
    for bounds in ("none", 3, [(1, 2, 3)], np.zeros((2, 2, 2))):
        function.bounds = bounds
        with pytest.raises(ValueError, match=r"(?s)'bowl' of '.*' has the bounds .*; it needs f.bounds = "):
            find_suite(f"{module}:bowl")


def test_wrong_bounds_and_minima_are_refused_before_the_first_run(module):
    function = find_suite(f"{module}:bowl").function("bowl", 2).objective
    for bounds, told in (((5, -5), "low < high"), ([(0, 1), (0, np.inf)], "must be finite")):
        function.bounds = bounds
        with pytest.raises(ValueError, match=f"'bowl' of '{module}:bowl': bounds.*{told}"):
            find_suite(f"{module}:bowl")
    function.bounds = (-5, 5)
    for f_opt, error in ((np.nan, ValueError), (np.inf, ValueError), ("0", TypeError)):
        function.f_opt = f_opt
        with pytest.raises(error, match=f"f_opt of 'bowl' of '{module}:bowl' must be a number"):
            find_suite(f"{module}:bowl")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("1 / 0\n", "importing 'unfinished' raised ZeroDivisionError: division by zero (.*unfinished.py, line 1)"),
        ("raise SystemExit\n", "importing 'unfinished' raised SystemExit:  (.*unfinished.py, line 1)"),
        ("def f(:\n", "importing 'unfinished' raised SyntaxError: invalid syntax \\(unfinished.py, line 1\\)$"),
        ("import not_there_at_all\n", "importing 'unfinished' raised ModuleNotFoundError: .*unfinished.py, line 1"),
    ],
)
def test_a_module_that_cannot_be_imported_is_one_line(module, text, told, capsys):
    Path("unfinished.py").write_text(text)
    with pytest.raises(ValueError, match=told):
        find_suite("unfinished:f")
    assert main(["bench", "run", "--suite", "unfinished:f", "--algorithms", "de"]) == 2
    assert capsys.readouterr().err.startswith("skde: error: importing 'unfinished' raised")


def test_a_suite_needs_a_module_and_a_name(module):
    for text in (":f", f"{module}:"):
        with pytest.raises(ValueError, match="must be the name of one or MODULE:NAME"):
            find_suite(text)


def test_a_module_that_is_not_there_is_named(module):
    with pytest.raises(ValueError, match=f"there is no module '{module}x' in .*did you mean '{module}'"):
        find_suite(f"{module}x:bowl")
