"""Journal files: after a kill, after a full disk, and files of other formats."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from skde.tuning import journal
from skde.tuning.study_storage import StudyRecord, open_storage

from .landscape import cost, decisions, tuner

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and limits of POSIX")

# A tuning in a journal of a relative name, which ends in the middle of a write.
TUNING = """
import os, resource, signal, sys
sys.path.insert(0, {folder!r})
import optuna
optuna.logging.set_verbosity(optuna.logging.ERROR)
from landscape import cost, tuner
{disaster}
tuner(storage="studies/tuning.log", max_experiments=100).fit(cost)
"""
KILLED_WITH_THE_LOCK = """
writes = []
def fsync(file):
    writes.append(file)
    if len(writes) == 70:
        os.kill(os.getpid(), signal.SIGKILL)
os.fsync = fsync
"""
FULL_DISK = "resource.setrlimit(resource.RLIMIT_FSIZE, (15_003, 15_003))"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder with another one in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "studies").mkdir()
    return tmp_path


def run(disaster: str) -> subprocess.CompletedProcess[str]:
    code = TUNING.format(folder=str(Path(__file__).parent), disaster=disaster)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


@posix
@pytest.mark.filterwarnings("ignore:The value of `grace_period`:UserWarning")
def test_a_process_that_is_killed_with_the_lock(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = run(KILLED_WITH_THE_LOCK)
    assert done.returncode == -9, done.stderr
    assert Path("studies/tuning.log.lock").is_symlink()
    monkeypatch.setattr(journal, "STALE_AFTER", 1)
    resumed = tuner(storage="studies/tuning.log", max_experiments=100).resume(cost)
    assert decisions(resumed) == decisions(tuner(max_experiments=100).fit(cost))
    assert not Path("studies/tuning.log.lock").is_symlink()


@posix
def test_a_lock_that_leads_nowhere(here: Path) -> None:
    """As the lock that Optuna makes for a relative name."""
    open_storage("studies/tuning.log")
    lock = Path("studies/tuning.log.lock")
    lock.symlink_to("studies/tuning.log")
    long_ago = time.time() - 2 * journal.STALE_AFTER
    os.utime(lock, (long_ago, long_ago), follow_symlinks=False)
    StudyRecord(open_storage("studies/tuning.log"), {}, resume=False)
    assert not lock.is_symlink()


def test_a_storage_stays_where_it_was_opened(here: Path) -> None:
    storage = open_storage("studies/tuning.log")
    os.chdir("/")
    StudyRecord(storage, {}, resume=False)
    assert (here / "studies/tuning.log").read_bytes().count(b"\n") == 2


# -- full disks and torn lines -----------------------------------------------------------------------------------------


@posix
def test_a_full_disk(here: Path) -> None:
    done = run(FULL_DISK)
    assert done.returncode == 1
    assert "OSError" in done.stderr
    assert not Path("studies/tuning.log").read_bytes().endswith(b"\n")
    with pytest.warns(UserWarning, match="was cut short, as by a full disk: its [0-9]+ bytes were removed"):
        resumed = tuner(storage="studies/tuning.log", max_experiments=100).resume(cost)
    assert decisions(resumed) == decisions(tuner(max_experiments=100).fit(cost))


@pytest.mark.parametrize("rest", [b'{"op_code":8,"wor', b'{"op_code":8,"wor\n', b"{"])
def test_a_torn_last_line(rest: bytes, tmp_path: Path) -> None:
    path = tmp_path / "tuning.log"
    StudyRecord(open_storage(path), {"a": 1}, resume=False)
    whole = path.read_bytes()
    path.write_bytes(whole + rest)
    with pytest.warns(UserWarning, match=f"its {len(rest)} bytes were removed"):
        assert StudyRecord.exists(open_storage(path))
    assert path.read_bytes() == whole


def test_a_line_that_is_torn_while_others_write(tmp_path: Path) -> None:
    path = tmp_path / "tuning.log"
    storage = open_storage(path)
    record = StudyRecord(storage, {"a": 1}, resume=False)
    with open(path, "ab") as file:
        file.write(b'{"op_code":8,"wor')
    with pytest.warns(UserWarning, match="was cut short"):
        record.store_race(1, {})
    assert all(isinstance(json.loads(line), dict) for line in path.read_bytes().splitlines())
    assert StudyRecord.exists(open_storage(path))


def test_a_first_line_that_is_torn(tmp_path: Path) -> None:
    path = tmp_path / "tuning.log"
    path.write_bytes(b'{"op_code":0,"worker_id":"a')
    with pytest.warns(UserWarning, match="was cut short"):
        StudyRecord(open_storage(path), {"a": 1}, resume=False)
    assert StudyRecord.exists(open_storage(path))


# -- files that are not journals ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        b"notes\n",
        b"notes",
        b"\n",
        b'{"a": 1}\n',
        b"[1, 2]\n",
        b"SQLite format 3\0\1\2",
        b"\xff\xfe\0",
        b'{"op_code":0}\n',
    ],
)
def test_a_foreign_file_stays_as_it_is(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"notes.txt' is no journal of Optuna: give another file's name"):
        open_storage(path)
    assert path.read_bytes() == content
    assert os.listdir(tmp_path) == ["notes.txt"]


def test_paths_that_cannot_be_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="storage must be a regular file's name or a URL"):
        open_storage(tmp_path)
    with pytest.raises(FileNotFoundError, match="storage: there is no directory"):
        open_storage(tmp_path / "nowhere" / "tuning.log")


@pytest.mark.parametrize("line", [b"notes\n", b'{"op_code":8,"wor{"op_code":8}\n'])
def test_a_damaged_line_is_named(line: bytes, tmp_path: Path) -> None:
    path = tmp_path / "tuning.log"
    StudyRecord(open_storage(path), {"a": 1}, resume=False)
    first, second = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + line + second)
    with pytest.raises(ValueError, match=r"storage: line 2 of the journal .* is damaged"):
        open_storage(path)
    assert path.read_bytes() == first + line + second


@pytest.mark.parametrize("fields", ['"op_code":99', '"op_code":0'])
def test_invalid_operations_are_refused(fields: str, tmp_path: Path) -> None:
    path = tmp_path / "tuning.log"
    path.write_text(f'{{{fields},"worker_id":"a"}}\n')
    with pytest.raises(ValueError, match=r"storage: the journal .* is damaged"):
        open_storage(path)


def test_an_interruption_waits_for_the_end_of_a_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = journal.JournalLock(str(tmp_path / "study.log"), 30)
    (tmp_path / "study.log").touch()
    unlink = os.unlink

    def interrupted(path: str) -> None:
        signal.raise_signal(signal.SIGINT)
        unlink(path)

    lock.acquire()
    monkeypatch.setattr(os, "unlink", interrupted)
    with pytest.raises(KeyboardInterrupt):
        lock.release()
    monkeypatch.undo()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["study.log"]
