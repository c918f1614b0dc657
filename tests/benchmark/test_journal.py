"""The file of finished trials of cells that are not complete."""

import errno
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from skde.benchmark import journal as module
from skde.benchmark import trials
from skde.benchmark.file_lock import lock
from skde.benchmark.growing_record import GrowingRecording
from skde.benchmark.journal import Journal, Trial
from skde.benchmark.optimizers import get_optimizer
from skde.benchmark.records import read_record
from skde.cli.main import main
from skde.result import History

SETTINGS = {"suite": "nashed2012", "budget": "300"}
CELL = ("f0", 2, "scipy:direct")
HISTORY = History(np.array([1, 7]), np.array([0.5, 1.5]), np.array([np.inf, 0.1]))


def entries(trial):
    """The values of a trial as JSON has them: its history has arrays, which do not compare."""
    return trial.entries()


@pytest.fixture
def file(tmp_path):
    return tmp_path / "runs.json"


def test_trials_come_back(file):
    journal = Journal(file, SETTINGS)
    given = {0: Trial(0.1, 0.1, 7, 1.5, HISTORY), 17: Trial(None, None, 0, 0.5, failure="ValueError: no")}
    for run, trial in given.items():
        journal.add(CELL, run, trial)
    found = Journal(file, SETTINGS).of(CELL)
    assert {run: entries(trial) for run, trial in found.items()} == {run: entries(one) for run, one in given.items()}
    assert found[0].history.best.tolist() == [np.inf, 0.1]
    assert Journal(file, SETTINGS).of(("f1", 2, "scipy:direct")) == {}


def test_a_cell_that_the_record_has_leaves_the_journal(file):
    journal = Journal(file, SETTINGS)
    for function in ("f0", "f1"):
        journal.add((function, 2, "a"), 0, Trial(0.1, 0.1, 7, 1.5, HISTORY))
    journal.drop(("f0", 2, "a"))
    assert list(Journal(file, SETTINGS).trials) == [("f1", 2, "a")]
    journal.drop(("f1", 2, "a"))
    assert list(file.parent.iterdir()) == []


@pytest.mark.parametrize("lost", [1, 2, 30])
def test_a_torn_last_line_is_dropped(file, lost):
    journal = Journal(file, SETTINGS)
    for run in range(3):
        journal.add(CELL, run, Trial(0.1, 0.1, 7, 1.5, HISTORY))
    journal.path.write_bytes(journal.path.read_bytes()[:-lost])
    resumed = Journal(file, SETTINGS)
    assert list(resumed.of(CELL)) == [0, 1]
    resumed.add(CELL, 2, Trial(0.1, 0.1, 7, 1.5, HISTORY))
    assert list(Journal(file, SETTINGS).of(CELL)) == [0, 1, 2]


def test_other_files_and_settings_are_refused(file):
    journal = Journal(file, SETTINGS)
    journal.add(CELL, 0, Trial(0.1, 0.1, 7, 1.5, HISTORY))
    with pytest.raises(ValueError, match=r"runs.json.trials has budget='300', not '400'; use the same settings"):
        Journal(file, {**SETTINGS, "budget": "400"})
    lines = journal.path.read_text().splitlines()
    journal.path.write_text("\n".join([lines[0], '{"function": "f0"}', lines[1]]) + "\n")
    with pytest.raises(ValueError, match=r"line 2 of .*runs.json.trials is no trial .*; remove the line or the file"):
        Journal(file, SETTINGS)
    short = {**json.loads(lines[1]), "history": [[1]]}
    journal.path.write_text("\n".join([lines[0], json.dumps(short)]) + "\n")
    with pytest.raises(ValueError, match=r"line 2 of .*runs.json.trials is no trial .*; remove the line or the file"):
        Journal(file, SETTINGS)


def test_a_full_disk_leaves_whole_lines(file, monkeypatch):
    journal = Journal(file, SETTINGS)
    journal.add(CELL, 0, Trial(0.1, 0.1, 7, 1.5, HISTORY))

    def full(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(module.os, "fsync", full)
        with pytest.raises(
            OSError, match=r"No space left .*; .* repeat the command, which continues: '.*runs.json.trials'"
        ):
            journal.add(CELL, 1, Trial(0.1, 0.1, 7, 1.5, HISTORY))
    assert list(journal.of(CELL)) == [0]
    with monkeypatch.context() as patched:
        patched.setattr("skde.utils.files.os.fsync", full)
        with pytest.raises(
            OSError, match=r"No space left .*; .* repeat the command, which continues: '.*other.trials'"
        ):
            Journal(file.with_name("other"), SETTINGS).add(CELL, 0, Trial(0.1, 0.1, 7, 1.5, HISTORY))
    journal.add(CELL, 1, Trial(0.2, 0.2, 7, 1.5, HISTORY))
    assert [trial.best for trial in Journal(file, SETTINGS).of(CELL).values()] == [0.1, 0.2]


def test_finished_trials_are_not_run_again(file, monkeypatch):
    optimizer, settings = get_optimizer("scipy:differential_evolution"), trials.TrialSettings("nashed2012", "300", 4)
    whole = trials.run_trials(settings, [optimizer], [2], ["f0"], curves=True)
    seen, search = [], type(optimizer).search

    def interrupted(self, evaluations, bounds, seed):
        seen.append(seed)
        if seed == 2 and seen.count(2) == 1:
            raise KeyboardInterrupt
        search(self, evaluations, bounds, seed)

    monkeypatch.setattr(type(optimizer), "search", interrupted)
    with pytest.raises(KeyboardInterrupt):
        trials.run_trials(settings, [optimizer], [2], ["f0"], recording=GrowingRecording(file))
    with pytest.raises(ValueError, match=r"runs.json.trials has seed=0, not 1"):
        trials.run_trials(
            trials.TrialSettings("nashed2012", "300", 4, 1), [optimizer], [2], ["f0"], recording=GrowingRecording(file)
        )
    resumed = trials.run_trials(settings, [optimizer], [2], ["f0"], curves=True, recording=GrowingRecording(file))
    assert seen == [0, 1, 2, 2, 3]
    for name in ("best", "error", "n_evals", "solved_at"):
        assert resumed["cells"][0][name] == whole["cells"][0][name]
    assert resumed["cells"][0]["curves"] == whole["cells"][0]["curves"]
    assert [path.name for path in file.parent.iterdir()] == ["runs.json"]


@pytest.fixture
def waiting(file):
    """A command, and its process that waits in the third run of its function."""
    (file.parent / "waiting.py").write_text(
        "import os, time\n"
        "runs = 0\n"
        "def f(X):\n"
        "    global runs\n"
        "    if len(X) > 1 and os.path.exists('wait'):\n"
        "        runs += 1\n"
        "        if runs == 3:\n"
        "            open('waits', 'w').close()\n"
        "            time.sleep(60)\n"
        "    return (X**2).sum(axis=1)\n"
        "f.bounds, f.f_opt = (-5, 5), 0.0\n"
    )
    (file.parent / "wait").touch()
    command = [sys.executable, "-m", "skde", "bench", "run", "--suite", "waiting:f", "--dims", "2", "--runs", "4"]
    command += ["--algorithms", "scipy:differential_evolution:popsize=10", "--budget", "20", "--out", str(file)]
    process = subprocess.Popen(command, cwd=file.parent, stdout=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 60
        while not (file.parent / "waits").exists() and time.monotonic() < end:
            time.sleep(0.02)
        yield command, process
    finally:
        process.kill()
        process.wait()


def test_a_killed_process_goes_on(file, waiting):
    command, process = waiting
    process.kill()
    process.wait()
    assert not file.exists()
    before = (file.parent / "runs.json.trials").read_text().splitlines()
    assert len(before) == 1 + 2
    os.remove(file.parent / "wait")
    assert subprocess.run(command, cwd=file.parent, stdout=subprocess.DEVNULL, check=False).returncode == 0
    (cell,) = read_record(file)["cells"]
    assert len(cell["best"]) == 4
    assert sorted(path.name for path in file.parent.glob("runs.json*")) == ["runs.json"]


@pytest.mark.usefixtures("waiting")
def test_a_second_command_with_the_same_file_is_refused(file, capsys):
    before = (file.parent / "runs.json.trials").read_text()
    link = file.with_name("link.json")
    link.symlink_to(file)
    for name in (file, link):
        assert (
            main(["bench", "run", "--suite", "qin2012", "--algorithms", "de", "--dims", "2", "--out", str(name)]) == 2
        )
        told = capsys.readouterr().err
        assert f"another command is writing '{name}': wait until it ends and repeat this one, which continues" in told
    assert (file.parent / "runs.json.trials").read_text() == before


def test_a_second_command_of_one_process_is_refused(file):
    with lock(file), pytest.raises(ValueError, match="another command is writing"), lock(file):
        pass
    with lock(file):
        assert [path.name for path in file.parent.iterdir()] == ["runs.json.lock"]
    assert not list(file.parent.iterdir())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes that are forked")
def test_the_lock_of_a_killed_process_is_not_kept_by_its_children(file):
    program = (
        "import os, signal, sys, time\n"
        "from skde.benchmark.file_lock import lock\n"
        "with lock(sys.argv[1]):\n"
        "    child = os.fork()\n"
        "    if not child:\n"
        "        os.close(1)\n"
        "        time.sleep(60)\n"
        "        os._exit(0)\n"
        "    print(child, flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(file)], stdout=subprocess.PIPE, check=False)
    try:
        assert done.returncode == -signal.SIGKILL
        assert file.with_name("runs.json.lock").exists()
        with lock(file):
            pass
    finally:
        os.kill(int(done.stdout), signal.SIGKILL)


def test_a_folder_that_does_not_exist_is_refused_and_not_made(tmp_path):
    with (
        pytest.raises(OSError, match=r"runs.json' cannot be written: there is no folder"),
        lock(tmp_path / "a/runs.json"),
    ):
        pass
    assert not list(tmp_path.iterdir())
