"""Quality experiments: their runs, records and files."""

import json
import os

import pytest

from skde import DE, JDE, Minimizer, __version__, get_problem
from skde.benchmark import trials
from skde.benchmark.functions import Function
from skde.benchmark.growing_record import GrowingRecording
from skde.benchmark.journal import Journal, Trial
from skde.benchmark.optimizers import Budget, get_optimizer
from skde.benchmark.records import read_record, write_record
from skde.benchmark.suites import find_suite
from skde.benchmark.trials import TrialSettings
from skde.cli.main import main
from skde.engines.gpu.nvrtc import compile_module

SMALL = TrialSettings("nashed2012", "200*dim", 3, seed=5)
RUN = ["bench", "run", "--suite", "nashed2012", "--functions", "f0,f9", "--dims", "2", "--runs", "3"]


def error_of(capsys, *arguments):
    """The message, after checking that nothing else is printed."""
    assert main(list(arguments)) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("skde: error: ")
    assert printed.err.count("\n") == 1
    return printed.err


@pytest.fixture
def nothing_runs(monkeypatch):
    """Fail when a cell is measured."""

    def fail(*arguments):
        raise AssertionError("a cell was run")

    monkeypatch.setattr(trials, "measure_cell", fail)


def test_cells_are_the_minimizers_runs():
    record = trials.run_trials(
        SMALL, [get_optimizer("jde"), get_optimizer("de", F=0.3, pop_size=20)], [2, 3], ["f9", "f10"]
    )
    assert [(cell["dim"], cell["function"], cell["algorithm"]) for cell in record["cells"]] == [
        (dim, function, algorithm)
        for dim in (2, 3)
        for function in ("f9", "f10")
        for algorithm in ("jde", "de:F=0.3,pop_size=20")
    ]
    options = {"max_evals": 600, "n_runs": 3, "random_state": 5, "device": "cpu"}
    for cell, algorithm in zip(record["cells"][-2:], (JDE(), DE(F=0.3, pop_size=20)), strict=True):
        minimizer = Minimizer(algorithm, **options).fit("schwefel", dim=3)
        f_opt = get_problem("schwefel", dim=3).f_opt
        assert cell["f_opt"] == f_opt
        assert cell["best"] == [run.fun for run in minimizer.runs_]
        assert cell["error"] == [run.fun - f_opt for run in minimizer.runs_]
        assert cell["n_evals"] == [run.n_evals for run in minimizer.runs_] == [600] * 3
        assert cell["seconds"] > 0
    assert set(record) == {"date", "device", "machine", "versions", "commit", "command", "settings", "cells"}
    json.dumps(record, allow_nan=False)


def test_all_functions_of_a_suite_are_the_default():
    record = trials.run_trials(TrialSettings("qin2012", "100", 1), [get_optimizer("jde")], [2])
    assert [cell["function"] for cell in record["cells"]] == ["F1", "F2", "F3", "F4"]


def test_seconds_are_a_budget():
    record = trials.run_trials(TrialSettings("nashed2012", "0.05s", 2), [get_optimizer("jde")], [5], ["f0"])
    assert all(n_evals > 1000 for n_evals in record["cells"][0]["n_evals"])
    assert 0.03 < record["cells"][0]["seconds"] < 1


@pytest.mark.gpu
def test_compiling_is_no_part_of_the_seconds(monkeypatch, tmp_path):
    monkeypatch.setenv("CUPY_CACHE_DIR", str(tmp_path))
    compile_module.cache_clear()
    record = trials.run_trials(
        TrialSettings("nashed2012", "0.2s", 2, device="cuda"), [get_optimizer("jde")], [5], ["f0"]
    )
    assert all(n_evals > 10_000 for n_evals in record["cells"][0]["n_evals"])
    assert record["machine"]["gpu"]


def test_a_file_grows_and_is_resumed(tmp_path, monkeypatch):
    file = tmp_path / "runs.json"
    first = trials.run_trials(SMALL, [get_optimizer("jde")], [2], ["f0", "f9"], recording=GrowingRecording(file))
    assert read_record(file) == first
    assert [path.name for path in tmp_path.iterdir()] == ["runs.json"]
    run, measure_cell = [], trials.measure_cell

    def interrupted(measurement):
        run.append((measurement.part.function, measurement.part.optimizer.text))
        if measurement.part.function == "f9":
            raise KeyboardInterrupt
        return measure_cell(measurement)

    monkeypatch.setattr(trials, "measure_cell", interrupted)
    both = [get_optimizer("jde"), get_optimizer("de")]
    with pytest.raises(KeyboardInterrupt):
        trials.run_trials(SMALL, both, [2], ["f0", "f9"], recording=GrowingRecording(file))
    assert run == [("f0", "de"), ("f9", "de")]
    monkeypatch.setattr(trials, "measure_cell", measure_cell)
    last = trials.run_trials(SMALL, both, [2], ["f0", "f9"], recording=GrowingRecording(file))
    assert last["cells"][:2] == first["cells"]
    assert [(cell["function"], cell["algorithm"]) for cell in last["cells"][2:]] == [("f0", "de"), ("f9", "de")]
    assert read_record(file) == last


def test_a_budget_may_be_written_in_another_way(tmp_path, nothing_runs):
    file = tmp_path / "runs.json"
    write_record(file, {"settings": vars(TrialSettings("nashed2012", "2000", 3)), "cells": []})
    Journal(file, vars(TrialSettings("nashed2012", "2000", 3))).add(("f1", 2, "de"), 0, Trial(0.1, 0.1, 7, 1.5))
    with pytest.raises(AssertionError, match="a cell was run"):
        trials.run_trials(
            TrialSettings("nashed2012", "2e3", 3), [get_optimizer("de")], [2], recording=GrowingRecording(file)
        )
    with pytest.raises(ValueError, match=r"runs.json.* has budget='2e3', not '2001'"):
        trials.run_trials(
            TrialSettings("nashed2012", "2001", 3), [get_optimizer("de")], [2], recording=GrowingRecording(file)
        )


def test_a_file_of_an_earlier_version_grows(tmp_path, nothing_runs):
    cell = {"function": "f0", "dim": 2, "algorithm": "jde", "best": [1 / 3, 2.0, None], "error": [1 / 3, 2.0, None]}
    cell |= {"n_evals": [400, 400, 399], "seconds": 0.1, "date": "2026-11-21", "cpu": "a", "commit": "b"}
    file = tmp_path / "runs.json"
    file.write_text(json.dumps({"settings": vars(SMALL), "cells": [cell]}, indent=1))
    assert read_record(file)["cells"] == [cell]
    record = trials.run_trials(SMALL, [get_optimizer("jde")], [2], ["f0"], recording=GrowingRecording(file))
    assert record["cells"] == [cell]
    write_record(file, record)
    assert read_record(file) == record


def test_a_file_of_another_version_grows_with_a_warning(tmp_path):
    file = tmp_path / "runs.json"
    first = trials.run_trials(SMALL, [get_optimizer("jde")], [2], ["f0"], recording=GrowingRecording(file))
    first["versions"]["skde"] = first["cells"][0]["skde"] = "0.0.9"
    write_record(file, first)
    told = rf"runs.json is of skde 0.0.9, and this is skde {__version__}: .* To have all .* give another file"
    with pytest.warns(UserWarning, match=told):
        trials.run_trials(SMALL, [get_optimizer("jde")], [2], ["f0", "f9"], recording=GrowingRecording(file))
    assert [cell["skde"] for cell in read_record(file)["cells"]] == ["0.0.9", __version__]


def test_a_cell_is_one_line_and_repeats_no_value(tmp_path):
    file = tmp_path / "runs.json"
    key = {"function": "f0", "dim": 2, "algorithm": "jde", "f_opt": 100.0}
    solved = {"best": [100.0] * 3, "error": [0.0] * 3, "n_evals": [400] * 3, "seconds": 0.5, "cpu": "a", "commit": "b"}
    # The first error has lost the last digits of the best value, so only errors follow from best values.
    exact = {**solved, "best": [0.1, 102.0, None], "error": [0.1 - 100.0, 2.0, None], "violation": [0.0, 1e-9, None]}
    record = {"date": "today", "settings": vars(SMALL), "cells": [{**key, **solved}, {**key, **exact, "cpu": "c"}]}
    write_record(file, record)
    lines = file.read_text().splitlines()
    key_text = '{"function":"f0","dim":2,"algorithm":"jde","f_opt":100.0,'
    assert lines[-5:] == [
        ' "cells": [',
        f'  {key_text}"error":0,"n_evals":400,"seconds":0.5,"source":0}},',
        '  {"best":[0.1,102,null],"seconds":0.5,"violation":[0,1e-09,null],"source":1}',
        " ]",
        "}",
    ]
    assert ' "date": "today",' in lines
    assert '  {"cpu":"a","commit":"b"},' in lines
    assert read_record(file) == record


def test_an_entry_that_the_cell_before_has_may_be_missing(tmp_path):
    file = tmp_path / "runs.json"
    cell = {"function": "f0", "dim": 2, "algorithm": "jde", "best": [1.0] * 3, "error": [1.0] * 3, "n_evals": [4] * 3}
    cell |= {"seconds": 0.5}
    cells = [{**cell, "part": "a", "cpu": "c"}, cell, {**cell, "part": "b"}, {**cell, "part": "b", "dim": 5}]
    write_record(file, {"settings": vars(SMALL), "cells": cells})
    assert '"part":null,"source":null}' in file.read_text()
    assert read_record(file)["cells"] == cells


@pytest.mark.parametrize("calls", [0, 3])
def test_an_interrupted_fit_is_no_cell(calls):
    left = [calls]

    def objective(X):
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return X[:, 0]

    function = Function("f", objective, list, get_problem("sphere", dim=2).bounds, 0.0)
    with pytest.raises(KeyboardInterrupt):
        get_optimizer("jde").run(function, Budget.read("1000"), 2, 0, "cpu", None)


def test_values_that_are_not_finite_become_null():
    function = Function("f", lambda X: abs(X[:, 0]) + float("inf"), list, get_problem("sphere", dim=2).bounds, 0.0)
    part = trials.TrialPart("f", 2, get_optimizer("jde"), function)
    suite = find_suite("nashed2012")
    cell = trials.measure_cell(trials.Measurement(SMALL, Budget.read("200"), part, Journal(None, {}), suite))
    assert cell["best"] == cell["error"] == [None] * 3
    assert "failures" not in cell


def test_other_settings_are_refused(tmp_path, capsys, nothing_runs):
    file = tmp_path / "runs.json"
    file.write_text(json.dumps({"settings": {**vars(SMALL)}, "cells": []}))
    arguments = [*RUN, "--algorithms", "jde", "--budget", "200*dim", "--out", str(file)]
    assert "runs.json has seed=5, not 0; use the same settings, or another file" in error_of(capsys, *arguments)
    told = error_of(capsys, *arguments, "--seed", "5", "--runs", "4")
    assert "runs.json has runs=3, not 4" in told


def cell_text(**given):
    """A record with one cell."""
    cell = {"function": "f", "dim": 2, "algorithm": "jde", "seconds": 1, **given}
    return json.dumps({"settings": {"suite": "a", "budget": "1", "runs": 3}, "cells": [cell]})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{", "it is not JSON"),
        ("\ufeff\x00", "it is not JSON"),
        ("[]", "it has no settings"),
        ('{"settings": {"suite": "a"}}', "its settings have no budget"),
        ('{"settings": {"suite": "a", "budget": "1"}}', "it has no cells"),
        ('{"settings": {"suite": "a", "budget": "1"}, "cells": [1]}', "cell 0 is no object"),
        ('{"settings": {"suite": "a", "budget": "1"}, "cells": [{"function": "f"}]}', "cell 0 has no dim"),
        ('{"settings": {"suite": "a", "budget": "1"}, "cells": [], "sources": 1}', "its sources are no list"),
        (cell_text(n_evals=5), "cell 0 has no numbers best"),
        (cell_text(error="a", n_evals=5), "cell 0 has no numbers best"),
        (cell_text(f_opt=0, error="a", n_evals=5), "cell 0 has no numbers best"),
        (cell_text(f_opt="0", error=1, n_evals=5), "cell 0 has no numbers best"),
        (cell_text(f_opt=0, error=[1, 2]), "cell 0 has no numbers n_evals"),
        (cell_text(f_opt=0, error=[1, 2, 3], n_evals=[4, 5]), "cell 0 has not one n_evals a run"),
        (cell_text(f_opt=0, error=1, n_evals=5, source=0), "cell 0 has the source 0, which the record does not have"),
    ],
)
def test_broken_files_are_refused(tmp_path, capsys, nothing_runs, text, expected):
    file = tmp_path / "runs.json"
    file.write_text(text)
    for arguments in (
        [*RUN, "--algorithms", "jde", "--out", str(file)],
        ["bench", "compare", str(file), "--baseline", "jde"],
    ):
        told = error_of(capsys, *arguments)
        assert "runs.json is no record of skde bench run: " in told
        assert expected in told
    assert file.read_text() == text


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            ["--suite", "nashed2021"],
            "suite must be one of 'nashed2012', 'qin2012', 'janssen2024', 'wang2012', 'nashed2012-as-run', 'cec2011', ",
        ),
        (
            ["--suite", "bob"],
            "'bbob-largescale', 'ioh:bbob', 'ioh:sbox', 'ioh:cec2022'; got 'bob'; did you mean 'bbob'?",
        ),
        (
            ["--suite", "nashed2021"],
            "; got 'nashed2021'; did you mean 'nashed2012'",
        ),
        (["--functions", "f99"], "function of 'nashed2012' must be one of 'f0', "),
        (["--functions", "f0,f0"], "functions must differ from one another, got f0, f0"),
        (["--functions", ""], "functions must be one or more, got none"),
        (["--algorithms", "jd"], "did you mean 'jde'?"),
        (["--algorithms", "de,jde,de"], "algorithms must differ"),
        (["--algorithms", "de:f=0.5"], "parameter of 'de' must be one of "),
        (["--algorithms", "de:F=5"], "DE.F must be a number in [0, 2], got 5"),
        (["--algorithms", "de:F="], "NAME=VALUE is needed"),
        (["--algorithms", "jde,de:F"], "parameters of 'de' are NAME=VALUE, such as F=0.5, got 'F'"),
        (["--algorithms", "minionpy:JADE:H"], "parameters of 'minionpy:JADE' are NAME=VALUE, such as F=0.5, got 'H'"),
        (["--algorithms", "de:F=0.5,CR=1,F=0.6"], "F of 'de' is given twice in 'de:F=0.5,CR=1,F=0.6'"),
        (["--algorithms", "minionpy:LSHDE"], "algorithm of 'minionpy' must be one of 'JADE', "),
        (["--algorithms", "minionpy:LSHDE"], "got 'LSHDE'; did you mean 'LSHADE'?"),
        (["--algorithms", "minonpy:LSHADE"], "library of an algorithm must be one of 'scipy', "),
        (["--algorithms", "minonpy:LSHADE"], "got 'minonpy'; did you mean 'minionpy'?"),
        (["--dims", "0"], "dims must be an integer >= 1, got 0"),
        (["--dims", "two"], "a whole number is needed"),
        (["--functions", "f13", "--dims", "1"], "dim of 'nashed2012/f13' must be an integer in [2, "),
        (["--runs", "0"], "runs must be an integer >= 1, got 0"),
        (["--n-jobs", "0"], "n_jobs must be None or an integer other than 0, got 0"),
        (["--seed", "-1"], "seed must be an integer >= 0, got -1"),
        (["--budget", "1000*D"], "budget must be evaluations of a run"),
        (["--device", "auto"], "--device must be 'cpu', 'cuda' or 'cuda:N', got 'auto'"),
        (["--out", "no_such_directory/runs.json"], "--out: there is no directory"),
    ],
)
def test_bad_input(capsys, nothing_runs, arguments, expected):
    given = [*RUN, "--algorithms", "jde", *arguments]
    assert expected in error_of(capsys, *given)


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="a folder that nobody can write to")
def test_a_file_that_cannot_be_written_is_refused_first(capsys, nothing_runs):
    told = error_of(capsys, *RUN, "--algorithms", "jde", "--out", "/proc/runs.json")
    assert "--out: '/proc/runs.json' may not be written (No such file or directory)" in told


def test_the_command_prints_and_writes(capsys, tmp_path):
    file = tmp_path / "runs.json"
    arguments = [*RUN, "--algorithms", "de:pop_size=20,jde", "--budget", "2e3", "--out", str(file)]
    assert main([*arguments, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert read_record(file) == record
    assert record["command"].startswith("skde bench run --suite nashed2012")
    assert record["settings"] == vars(TrialSettings("nashed2012", "2e3", 3))
    assert main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5
    assert lines[1].split()[0] == "f0"
    assert lines[1].endswith("de:pop_size=20")
