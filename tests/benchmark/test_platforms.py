"""Suites of COCO and IOHexperimenter: logged trials, their folders, and resumed experiments."""

import errno
import json
import shutil
import subprocess
import sys

import numpy as np
import pytest

from skde import __version__
from skde.benchmark import functions, trials
from skde.benchmark.functions import LoggerFiles
from skde.benchmark.growing_record import GrowingRecording
from skde.benchmark.optimizers import get_optimizer
from skde.benchmark.platforms import coco, ioh
from skde.benchmark.records import read_record
from skde.benchmark.suites import find_suite
from skde.benchmark.trial_logs import TrialLogs, folder_name
from skde.cli.main import main

RUNS = 3


def experiment(suite, folder, algorithms=("jde",), dims=(2,), names=("f1",), runs=RUNS, budget="60*dim"):
    """Run an experiment in a folder, and return its record."""
    found = find_suite(suite)
    logs = TrialLogs(folder, suite, found.platform)
    return trials.run_trials(
        trials.TrialSettings(suite, budget, runs),
        [get_optimizer(name, pop_size=20) if ":" not in name else get_optimizer(name) for name in algorithms],
        dims,
        names,
        recording=GrowingRecording(folder / "runs.json"),
        logs=logs,
    )


def contents(folder):
    """The files in a folder, by their names."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


@pytest.fixture
def cocoex():
    return pytest.importorskip("cocoex")


@pytest.fixture
def ioh_package():
    return pytest.importorskip("ioh")


# -- COCO --------------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:settings is an additional attribute")  # which COCO itself writes
def test_cocopp_reads_the_folder(cocoex, tmp_path, monkeypatch, capsys):
    pproc = pytest.importorskip("cocopp.pproc")
    algorithm = "scipy:differential_evolution"
    record = experiment("bbob", tmp_path / "data", (algorithm,), (2, 3), runs=15)  # as cocopp expects
    monkeypatch.chdir(tmp_path / "data")
    sets = pproc.DataSetList([folder_name(algorithm)])
    assert [(one.funcId, one.dim) for one in sets] == [(1, 2), (1, 3)]
    for one, cell in zip(sets, record["cells"], strict=True):
        assert one.instancenumbers == list(range(1, 16))
        assert one.maxevals.tolist() == cell["n_evals"]
        assert one.finalfunvals.tolist() == pytest.approx(cell["error"], rel=1e-8)
    capsys.readouterr()


def test_the_folder_is_that_of_one_observer(cocoex, tmp_path):
    """One trial a folder, merged, gives the files that one observer writes for all of them."""
    experiment("bbob", tmp_path / "ours", dims=(2, 3), names=("f2",))
    before = cocoex.log_level("warning")
    text = get_optimizer("jde", pop_size=20).text
    info = f"{text}; skde {__version__}; {coco.PACKAGE.text}"
    options = f'outer_folder: "{tmp_path}" result_folder: theirs algorithm_name: "{folder_name(text)}" '
    observer = cocoex.Observer("bbob", options + f'algorithm_info: "{info}"')
    for problem in cocoex.Suite("bbob", "instances: 1-3", "dimensions: 2,3 function_indices: 2"):
        problem.observe_with(observer)
        function = coco.make_observed_function("f2", problem, None)
        seed = get_optimizer("jde").seeds(0, RUNS)[problem.id_instance - 1]
        get_optimizer("jde", pop_size=20).minimize(function, 60 * problem.dimension, seed)
        problem.free()
    cocoex.log_level(before)
    assert contents(tmp_path / "ours" / folder_name(text)) == contents(tmp_path / "theirs")


def test_only_the_algorithms_points_are_evaluated(cocoex, tmp_path):
    for suite in ("bbob", "bbob-constrained"):
        with coco.open_problem(suite, "f2", 2, 1, LoggerFiles(tmp_path / suite, "a", "b")) as function:
            history = get_optimizer("jde", pop_size=20).minimize(function, 100, 1)
        error, n_evals = coco.read_trial(tmp_path / suite)
        assert n_evals == history.n_evals[-1] == 100
        last = (tmp_path / suite / "data_f2" / "bbobexp_f2_DIM2.dat").read_text().splitlines()[-1].split()
        assert [int(number) for number in last[:2]] == [100, 100 if suite == "bbob-constrained" else 0]
        assert error > 0
    problems, copies = (
        cocoex.Suite("bbob-constrained", "instances: 1", "dimensions: 2 function_indices: 2") for _ in "ab"
    )
    problem = problems[0]
    get_optimizer("jde", pop_size=20).minimize(coco.make_observed_function("f2", problem, lambda: copies), 100, 1)
    assert (problem.evaluations, problem.evaluations_constraints) == (100, 100)


def test_constraints_are_satisfied(cocoex, tmp_path):
    record = experiment("bbob-constrained", tmp_path / "data", names=("f1", "f3"), budget="1000*dim")
    for cell in record["cells"]:
        assert all(0 <= error < 5 for error in cell["error"])
    suite = cocoex.Suite("bbob-constrained", "instances: 1", "dimensions: 2 function_indices: 1")
    problem = suite[0]
    points = np.random.default_rng(0).uniform(-5, 5, (4000, 2))
    feasible = [problem(x) for x in points if (problem.constraint(x) <= 0).all()]
    assert record["cells"][0]["best"][0] < min(feasible)
    free = [problem(x) for x in points]
    assert min(free) < record["cells"][0]["best"][0]  # without the constraints there would be lower values
    with pytest.raises(ValueError, match="scipy:direct takes no constraints, which 'bbob-constrained' has"):
        experiment("bbob-constrained", tmp_path / "other", ("scipy:direct",))


def test_integer_variables_are_rounded(cocoex, tmp_path):
    with coco.open_problem("bbob-mixint", "f1", 5, 1, LoggerFiles(tmp_path / "log", "a", "b")) as function:
        suite = cocoex.Suite("bbob-mixint", "instances: 1", "dimensions: 5 function_indices: 1")
        problem = suite[0]
        assert problem.number_of_integer_variables == 4
        high = problem.upper_bounds[:4]
        assert function.bounds[:4].tolist() == [[-0.5, top + 0.5] for top in high]
        x = np.array([[-0.5, 0.6, 2.4, high[3] + 0.5, 1.25]])
        given = x.copy()
        assert function.objective(x)[0] == problem([0.0, 1.0, 2.0, high[3], 1.25])
        assert (x == given).all()
    assert find_suite("bbob-mixint").all_dims() == [5, 10, 20, 40, 80, 160]


def test_large_dimensions(cocoex, tmp_path):
    record = experiment("bbob-largescale", tmp_path / "data", dims=(20,), runs=1, budget="100")
    assert record["cells"][0]["n_evals"] == [100]
    assert (tmp_path / "data" / folder_name("jde:pop_size=20") / "bbobexp_f1.info").exists()


def test_a_run_ends_at_the_last_target(cocoex, tmp_path):
    record = experiment("bbob", tmp_path / "data", runs=1, budget="20000")
    assert record["cells"][0]["n_evals"][0] < 10000
    assert record["cells"][0]["error"][0] <= 1e-8


# -- IOHexperimenter ---------------------------------------------------------------------------------------------------


def test_the_folder_is_that_of_one_logger(ioh_package, tmp_path):
    record = experiment("ioh:bbob", tmp_path / "ours", dims=(2, 3), names=("f3",))
    text = get_optimizer("jde", pop_size=20).text
    logger = ioh_package.logger.Analyzer(
        root=str(tmp_path), folder_name="theirs", algorithm_name=folder_name(text), algorithm_info="x"
    )
    for dim in (2, 3):
        for run in range(RUNS):
            problem = ioh_package.get_problem(3, run + 1, dim, ioh_package.ProblemClass.BBOB)
            problem.attach_logger(logger)
            seed = get_optimizer("jde").seeds(0, RUNS)[run]
            get_optimizer("jde", pop_size=20).minimize(ioh.make_logged_function("f3", problem), 60 * dim, seed)
            problem.reset()
            problem.detach_logger()
    logger.close()
    ours, theirs = contents(tmp_path / "ours" / folder_name(text)), contents(tmp_path / "theirs")
    assert set(ours) == set(theirs)
    name = "IOHprofiler_f3_Rastrigin.json"
    mine, other = json.loads(ours.pop(name)), json.loads(theirs.pop(name))
    assert mine["algorithm"].pop("info").startswith("jde:pop_size=20; skde ")
    assert other["algorithm"].pop("info") == "x"
    assert mine == other
    assert ours == theirs
    for scenario, cell in zip(mine["scenarios"], record["cells"], strict=True):
        assert [run["evals"] for run in scenario["runs"]] == cell["n_evals"]
        assert [run["best"]["y"] for run in scenario["runs"]] == pytest.approx(cell["error"], rel=1e-6)


def test_dimensions_that_follow_each_other_are_a_range(ioh_package):
    with pytest.raises(ValueError, match=r"dims of 'f1' of 'ioh:bbob' must be from 2 to 640; got 999"):
        find_suite("ioh:bbob").check("f1", 999)
    with pytest.raises(ValueError, match=r"dims of 'f1' of 'ioh:cec2022' must be of 10, 20; got 2"):
        find_suite("ioh:cec2022").check("f1", 2)


def test_suites_of_ioh(ioh_package, tmp_path):
    for suite, dim in (("ioh:sbox", 3), ("ioh:cec2022", 10)):
        record = experiment(suite, tmp_path / suite.partition(":")[2], dims=(dim,), runs=1, names=("f1", "f12"))
        assert all(cell["error"][0] > 0 for cell in record["cells"])


# -- folders -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suite", ["bbob", "ioh:bbob"])
@pytest.mark.parametrize("place", ["search", "finish", "merge", "save", "drop"])
def test_an_experiment_that_stops_anywhere_goes_on(suite, place, tmp_path, monkeypatch):
    """Stopped before each step, the same command gives the files of one that was not stopped."""
    pytest.importorskip(find_suite(suite).package.module)
    whole = experiment(suite, tmp_path / "whole", dims=(2, 3))
    owner, name = {
        "search": (trials, "run_trial"),
        "finish": (TrialLogs, "finish"),
        "merge": (TrialLogs, "merge"),
        "save": (GrowingRecording, "save"),
        "drop": (TrialLogs, "drop"),
    }[place]
    right, calls = getattr(owner, name), []

    def stopped(*arguments, **options):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return right(*arguments, **options)

    monkeypatch.setattr(owner, name, stopped)
    with pytest.raises(KeyboardInterrupt):
        experiment(suite, tmp_path / "stopped", dims=(2, 3))
    resumed = experiment(suite, tmp_path / "stopped", dims=(2, 3))
    if place == "search":
        assert len(calls) == 1 + 2 * RUNS  # the trial that was stopped, and every other one once
    for cell, other in zip(resumed["cells"], whole["cells"], strict=True):
        assert [cell[key] for key in ("best", "error", "n_evals")] == [
            other[key] for key in ("best", "error", "n_evals")
        ]
    algorithm = folder_name("jde:pop_size=20")
    assert contents(tmp_path / "stopped" / algorithm) == contents(tmp_path / "whole" / algorithm)
    assert contents(tmp_path / "stopped" / ".trials") == {}


def test_files_that_a_power_failure_took_are_made_again(cocoex, tmp_path, monkeypatch):
    calls = []
    right = trials.run_trial

    def third(*arguments):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return right(*arguments)

    monkeypatch.setattr(trials, "run_trial", third)
    with pytest.raises(KeyboardInterrupt):
        experiment("bbob", tmp_path / "data")
    (first,) = (tmp_path / "data" / ".trials").rglob("f1_d2_i1/data_f1/*.dat")
    first.write_bytes(first.read_bytes()[:-10])
    record = experiment("bbob", tmp_path / "data")
    assert len(calls) == 3 + 2
    assert record["cells"][0]["n_evals"] == [120] * 3


@pytest.mark.parametrize("kind", coco.KINDS[:2])
def test_files_of_a_full_disk_are_refused(cocoex, tmp_path, monkeypatch, kind):
    right = coco.read_trial

    def torn(folder):
        (file,) = folder.rglob(f"*.{kind}")
        file.write_bytes(file.read_bytes()[:-10])
        return right(folder)

    suite = find_suite("bbob")
    platform = functions.Platform(coco.PACKAGE, "cocopp", coco.open_problem, torn, coco.merge)
    logs = TrialLogs(tmp_path / "data", "bbob", platform)
    settings = trials.TrialSettings("bbob", "100", 1)
    assert suite.platform is not None
    with pytest.raises(OSError, match=r"f1_d2_i1.partial is not complete: is the disk full"):
        trials.run_trials(settings, [get_optimizer("jde", pop_size=20)], [2], ["f1"], logs=logs)


def test_a_disk_that_is_full_after_the_last_trial(cocoex, tmp_path, monkeypatch):
    def full(*arguments, **options):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(coco, "atomic_write", full)
        with pytest.raises(
            OSError, match=r"jde_pop_size=20 cannot be written .*No space.*repeat the command: it continues"
        ):
            experiment("bbob", tmp_path / "data")
    monkeypatch.setattr(trials, "run_trial", None)  # no trial runs again
    assert experiment("bbob", tmp_path / "data")["cells"][0]["n_evals"] == [120] * RUNS


@pytest.mark.parametrize(("suite", "size"), [("bbob", 1000), ("ioh:bbob", 100)])
def test_a_logger_that_cannot_write(suite, size, tmp_path):
    """Files that may have a few bytes only: the loggers' own code does not say that it could not write."""
    pytest.importorskip("resource")
    pytest.importorskip(find_suite(suite).package.module)
    command = ["bench", "run", "--suite", suite, "--algorithms", "jde", "--dims", "2", "--functions", "f1"]
    command += ["--runs", "2", "--budget", "3000", "--data", str(tmp_path / "data")]
    code = f"resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size})); sys.exit(main({command}))"
    limited = [sys.executable, "-c", f"import resource, sys; from skde.cli.main import main; {code}"]
    done = subprocess.run(limited, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert "f1_d2_i1.partial is not complete" in done.stderr
    assert "The same command continues" in done.stderr
    assert not (tmp_path / "data" / "runs.json").exists()
    assert main(command) == 0


@pytest.mark.parametrize("suite", ["bbob", "ioh:bbob"])
def test_a_budget_below_the_population_is_named_and_the_others_run(suite, tmp_path, capsys):
    pytest.importorskip(find_suite(suite).package.module)
    command = ["bench", "run", "--suite", suite, "--algorithms", "de:pop_size=100,de:pop_size=10", "--dims", "2"]
    command += ["--functions", "f1", "--runs", "2", "--budget", "20", "--data", str(tmp_path / "data")]
    assert main(command) == 2
    message = capsys.readouterr().err
    assert (
        "of de:pop_size=100 on f1 D=2: ValueError: max_evals must be at least the population size, 100, got" in message
    )
    assert "disk" not in message
    cells = read_record(tmp_path / "data" / "runs.json")["cells"]
    assert [cell["n_evals"] for cell in cells] == [[0, 0], [20, 20]]
    assert contents(tmp_path / "data" / "de_pop_size=10")
    assert not (tmp_path / "data" / "de_pop_size=100").exists()


@pytest.mark.parametrize("suite", ["bbob", "ioh:bbob"])
def test_a_trial_that_raises_is_in_the_record(suite, tmp_path, monkeypatch):
    pytest.importorskip(find_suite(suite).package.module)
    optimizer = type(get_optimizer("scipy:direct"))
    search = optimizer.search

    def raising(self, evaluations, bounds, seed):
        if seed == 1:
            evaluations.of_points([[1.0, 2.0], [0.5, 0.5]])
            raise ZeroDivisionError("of the peer")
        search(self, evaluations, bounds, seed)

    monkeypatch.setattr(optimizer, "search", raising)
    with pytest.raises(RuntimeError, match="first run 1 of scipy:direct on f1 D=2: ZeroDivisionError: of the peer"):
        experiment(suite, tmp_path / "data", ("scipy:direct", "jde"))
    cell, other = read_record(tmp_path / "data" / "runs.json")["cells"]
    assert cell["failures"] == [{"run": 1, "error": "ZeroDivisionError: of the peer"}]
    assert cell["error"][1] is None
    assert cell["n_evals"][1] == 2  # as the platform's files say
    assert None not in (cell["error"][0], cell["error"][2], *other["error"])


def test_folders_of_something_else_are_refused(cocoex, tmp_path, capsys):
    arguments = ["bench", "run", "--suite", "bbob", "--algorithms", "jde:pop_size=20", "--dims", "2"]
    arguments += ["--functions", "f1", "--runs", "2", "--budget", "100"]
    folder = tmp_path / "data"
    assert main([*arguments, "--data", str(folder)]) == 0
    capsys.readouterr()

    def refused(expected, *more, data=folder):
        assert main([*arguments, "--data", str(data), *more]) == 2
        assert expected in capsys.readouterr().err

    refused("runs.json has runs=2, not 3; use the same settings, or another file", "--runs", "3")
    refused("runs.json has suite='bbob', not 'bbob-largescale'", "--suite", "bbob-largescale", "--dims", "20")
    refused("--out has no effect with --data: the record is ", "--out", "runs.json")
    refused("--data is for suites of platforms", "--suite", "nashed2012", "--functions", "f1")
    refused("'bbob' needs a budget of evaluations", "--budget", "2s")
    text = (folder / "runs.json").read_text()
    (folder / "runs.json").write_text(text.replace(coco.PACKAGE.text, "coco-experiment 1.0"))
    refused("runs.json has platform='coco-experiment 1.0', not 'coco-experiment ")
    other = tmp_path / "other"
    shutil.copytree(folder, other)
    (other / "runs.json").unlink()
    shutil.rmtree(other / ".trials")
    refused("has files, but no runs.json of skde bench run: give another folder", data=other)
    file = tmp_path / "file"
    file.touch()
    refused("is a file; give a folder, which is made if there is none", data=file)
    assert main([*arguments]) == 2
    assert "--suite bbob needs --data FOLDER, for the files that cocopp reads" in capsys.readouterr().err
    new = tmp_path / "new"
    refused("dims of 'f1' of 'bbob' must be of 2, 3, 5, 10, 20, 40; got 4", "--dims", "4", data=new)
    assert not new.exists()


def test_algorithms_have_folders_of_different_names(tmp_path):
    logs = TrialLogs(tmp_path / "data", "bbob", coco.COCO)
    assert folder_name("de:strategy=rand/1/exp,F=0.5") == "de_strategy=rand_1_exp_F=0.5"
    with pytest.raises(ValueError, match="algorithms 'a:b' and 'a/b' would have one folder, 'a_b'"):
        logs.check_names(["a:b", "a", "a/b"])


def test_a_suite_of_a_platform_needs_a_folder(cocoex):
    with pytest.raises(ValueError, match="the suite 'bbob' needs a folder for the files of its platform"):
        trials.run_trials(trials.TrialSettings("bbob", "100", 1), [get_optimizer("jde")], [2], ["f1"])
    with pytest.raises(ValueError, match="the functions of 'bbob' have instances"):
        find_suite("bbob").function("f1", 2)


# -- minionpy ----------------------------------------------------------------------------------------------------------

CEC = {
    "cec2011": (22, 0.0),
    "cec2014": (30, None),
    "cec2017": (29, None),
    "cec2019": (10, 1.0),
    "cec2020": (10, None),
    "cec2022": (12, None),
    "bbob2009": (24, None),
}


@pytest.mark.parametrize("name", CEC)
def test_suites_of_minionpy(name):
    pytest.importorskip("minionpy")
    suite, (count, f_opt) = find_suite(name), CEC[name]
    assert len(suite.functions) == count
    for function_name in suite.functions:
        function = suite.function(function_name, suite.dims(function_name)[0])
        assert function.dim == suite.dims(function_name)[0]
        low, high = function.bounds.T
        points = low + (high - low) * np.random.default_rng(0).random((3, function.dim))
        values = function.objective(points)
        assert function.of_lists(points.tolist()) == values.tolist()
        assert f_opt is None or function.f_opt == f_opt
        assert name == "cec2011" or (values >= function.f_opt).all()


def test_functions_with_one_dimension_each(tmp_path):
    pytest.importorskip("minionpy")
    record = trials.run_trials(trials.TrialSettings("cec2019", "200", 1), [get_optimizer("jde")], None)
    assert sorted((cell["dim"], cell["function"]) for cell in record["cells"])[:2] == [(9, "f1"), (10, "f10")]
    assert len(record["cells"]) == 10
    with pytest.raises(ValueError, match="dims of 'f1' of 'cec2019' must be of 9; got 10"):
        trials.run_trials(trials.TrialSettings("cec2019", "200", 1), [get_optimizer("jde")], [10])
    assert find_suite("cec2011").zero == -np.inf  # its values may be negative, and have no published minima


def test_cec2017(tmp_path):
    suite = find_suite("cec2017")
    assert "f2" not in suite.functions
    pytest.importorskip("minionpy")
    with pytest.raises(ValueError, match="dims of 'f1' of 'cec2017' must be of 10, 30, 50, 100; got 20"):
        suite.function("f1", 20)
    function = suite.function("f5", 10)
    assert (function.dim, function.f_opt) == (10, 500.0)
    record = trials.run_trials(trials.TrialSettings("cec2017", "400", 2), [get_optimizer("jde")], [10], ["f5"])
    cell = record["cells"][0]  # ten digits of each number
    assert cell["error"][0] == pytest.approx(cell["best"][0] - 500, abs=1e-6)


@pytest.mark.parametrize("suite", ["nashed2012", "qin2012"])
def test_both_forms_of_a_function_agree(suite):
    for name in find_suite(suite).functions:
        function = find_suite(suite).function(name, 3)
        points = [[0.5, -1.0, 0.25], [1.0, 1.0, 1.0]]
        assert function.of_lists(points) == function.objective(np.array(points)).tolist()


def test_a_folder_with_only_the_lock_of_a_killed_command_is_continued(tmp_path):
    (tmp_path / "runs.json.lock").touch()
    assert TrialLogs(tmp_path, "bbob", find_suite("bbob").platform).has_record()
