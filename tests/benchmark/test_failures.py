"""Failures of quality experiments: runs that raise, files that break off, disks that are full."""

import errno
import json

import numpy as np
import pytest

from skde.benchmark import functions, optimizers, trials
from skde.benchmark.growing_record import GrowingRecording
from skde.benchmark.optimizers import RunsOutcome, get_optimizer
from skde.benchmark.peer_optimizers import MinionpyOptimizer
from skde.benchmark.records import read_record, write_record
from skde.benchmark.statistics import errors
from skde.benchmark.trials import TrialSettings
from skde.cli.main import main

RUN = ["bench", "run", "--suite", "nashed2012", "--functions", "f0,f9", "--dims", "2", "--runs", "3", "--budget", "300"]


@pytest.fixture
def peer(monkeypatch):
    """An optimiser of another library, which raises in the runs with the given seeds."""
    raises = set()

    def search(self, evaluations, bounds, seed):
        evaluations.of_points([[1.0, 1.0], [0.5, 0.5], [0.75, 0.75]])
        if seed in raises:
            raise ZeroDivisionError("of the peer\nmore")

    monkeypatch.setattr(functions, "find_spec", lambda name: True)
    monkeypatch.setattr(MinionpyOptimizer, "search", search)
    return raises


def test_the_other_runs_go_on_after_one_that_raises(peer, tmp_path):
    file = tmp_path / "runs.json"
    peer.add(17)
    both = [get_optimizer("minionpy:JADE"), get_optimizer("jde")]
    settings = TrialSettings("nashed2012", "300", 30)
    with pytest.raises(
        RuntimeError, match="runs of 1 of 2 cells failed, first run 17 of minionpy:JADE on f0 D=2: Zero"
    ):
        trials.run_trials(settings, both, [2], ["f0"], recording=GrowingRecording(file))
    failed, other = read_record(file)["cells"]
    assert failed["failures"] == [{"run": 17, "error": "ZeroDivisionError: of the peer"}]
    assert [run for run, error in enumerate(failed["error"]) if error is None] == [17]
    assert np.isinf(errors(failed)).sum() == 1
    assert failed["n_evals"][16:19] == [3, 3, 3]
    assert "failures" not in other

    peer.clear()
    repeated = trials.run_trials(settings, both, [2], ["f0"], recording=GrowingRecording(file))["cells"]
    assert [cell["algorithm"] for cell in repeated] == ["minionpy:JADE", "jde"]
    assert "failures" not in repeated[0]
    assert repeated[0]["error"] == [0.5] * 30
    assert repeated[1] == other


def test_a_batch_that_raises_is_a_cell_with_failures(monkeypatch, capsys, tmp_path):
    run = optimizers.SkdeOptimizer.run

    def raising(self, function, *arguments):
        if function.name == "f0":
            raise MemoryError
        return run(self, function, *arguments)

    monkeypatch.setattr(optimizers.SkdeOptimizer, "run", raising)
    assert main([*RUN, "--algorithms", "jde", "--out", str(tmp_path / "runs.json"), "--json"]) == 2
    printed = capsys.readouterr()
    failed, done = json.loads(printed.out)["cells"]
    assert [failure["run"] for failure in failed["failures"]] == [0, 1, 2]
    assert failed["error"] == [None] * 3
    assert max(done["error"]) < 100
    assert "first run 0 of jde on f0 D=2: MemoryError: ; the other runs are done" in printed.err


def test_an_outcome_of_runs_that_failed_together():
    outcome = RunsOutcome.of_failure(2, ValueError("no"))
    assert (outcome.best, outcome.n_evals, outcome.histories) == ([np.inf] * 2, [0, 0], [None, None])
    assert outcome.failures == {0: "ValueError: no", 1: "ValueError: no"}


@pytest.mark.parametrize("lost", [3, 30])
def test_a_file_that_breaks_off_is_continued(lost, tmp_path):
    file = tmp_path / "runs.json"
    arguments = [*RUN, "--algorithms", "jde,de", "--out", str(file), "--no-curves"]
    assert main(arguments) == 0
    complete = read_record(file)
    text = file.read_text()
    file.write_text(text[: text.rindex("]") - lost])
    with pytest.warns(UserWarning, match=r"runs.json is not complete: the record has the 3 cells before"):
        torn = read_record(file)
    assert torn["cells"] == complete["cells"][:3]
    assert torn["settings"] == complete["settings"]
    with pytest.warns(UserWarning, match="not complete"):
        assert main(arguments) == 0
    assert read_record(file)["cells"][:3] == complete["cells"][:3]
    assert [cell["error"] for cell in read_record(file)["cells"]] == [cell["error"] for cell in complete["cells"]]


def test_a_file_that_breaks_off_before_its_cells_is_refused(tmp_path):
    file = tmp_path / "runs.json"
    assert main([*RUN, "--algorithms", "jde", "--out", str(file)]) == 0
    text = file.read_text()
    for end in (text.index('"settings"') + 30, text.index(' "cells"')):
        file.write_text(text[:end])
        with pytest.raises(ValueError, match=r"it is not JSON .* broke off before its cells, delete it: the command"):
            read_record(file)


def test_an_empty_file_is_begun(tmp_path):
    file = tmp_path / "runs.json"
    file.touch()
    assert main([*RUN, "--algorithms", "jde", "--out", str(file)]) == 0
    assert len(read_record(file)["cells"]) == 2


def test_a_full_disk_leaves_the_finished_cells(tmp_path):
    file = tmp_path / "runs.json"

    def full(path, record):
        if len(record["cells"]) > 1:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        write_record(path, record)

    recording = GrowingRecording(file, write=full)
    with pytest.raises(
        OSError, match=r"runs.json cannot be written .*No space left.*repeat the command: it continues from there"
    ):
        trials.run_trials(
            TrialSettings("nashed2012", "300", 2), [get_optimizer("jde")], [2], ["f0", "f9"], recording=recording
        )
    assert [cell["function"] for cell in read_record(file)["cells"]] == ["f0"]
