"""Journal files: after a kill, after a full disk, and files of other formats."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Timer
from types import CodeType
from typing import Any

import optuna
import optuna.storages.journal._file as optuna_file
import pytest

from skde.cli.signals import Termination
from skde.tuning import journal
from skde.tuning.study_storage import StudyRecord, open_storage

from ..interrupted_lines import Moment
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


# -- locks that were left ----------------------------------------------------------------------------------------------


@posix
def test_a_process_that_is_killed_with_the_lock(here: Path, caplog: pytest.LogCaptureFixture) -> None:
    done = run(KILLED_WITH_THE_LOCK)
    assert done.returncode == -9, done.stderr
    assert Path("studies/tuning.log.lock").is_symlink()
    begin = time.monotonic()
    open_storage("studies/tuning.log")
    assert time.monotonic() - begin < 1
    resumed = tuner(storage="studies/tuning.log", max_experiments=100).resume(cost)
    assert "tuning.log.lock' was removed: its process has ended" in caplog.text
    assert decisions(resumed) == decisions(tuner(max_experiments=100).fit(cost))
    assert not Path("studies/tuning.log.lock").is_symlink()


@posix
def test_a_lock_of_another_host_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "STALE_AFTER", 0.3)
    storage, lock = open_storage(tmp_path / "tuning.log"), tmp_path / "tuning.log.lock"
    lock.symlink_to("skde:another-host")
    begin = time.monotonic()
    begin_study(storage)
    assert time.monotonic() - begin > 0.3
    assert not lock.is_symlink()


HOLDER = """
import sys, time
from skde.tuning.journal import JournalLock
lock = JournalLock(sys.argv[1])
lock.acquire()
print("held", flush=True)
time.sleep(60)
"""


@posix
def test_the_lock_of_a_process_that_lives_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long its write takes; when it is killed, the next write goes on at once."""
    monkeypatch.setattr(journal, "STALE_AFTER", 0.1)
    path = tmp_path / "tuning.log"
    storage = open_storage(path)
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        begin = time.monotonic()
        Timer(1.0, holder.kill).start()
        begin_study(storage)
        assert 1.0 <= time.monotonic() - begin < 10.0
    assert os.listdir(tmp_path) == ["tuning.log"]


@posix
def test_a_file_system_without_locks_has_the_link_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unsupported(*_: Any, **__: Any) -> None:
        raise OSError("no locks available")

    monkeypatch.setattr(journal, "lock_descriptor", unsupported)
    monkeypatch.setattr(journal, "STALE_AFTER", 0.3)
    storage, lock = open_storage(tmp_path / "tuning.log"), tmp_path / "tuning.log.lock"
    lock.symlink_to(journal.JournalLock(str(tmp_path / "tuning.log")).owner)
    begin = time.monotonic()
    begin_study(storage)
    assert time.monotonic() - begin > 0.3


@posix
def test_a_link_of_another_process_stays_where_the_lock_cannot_be_taken(tmp_path: Path) -> None:
    lock = tmp_path / "tuning.log.lock"
    open_storage(tmp_path / "tuning.log")
    lock.symlink_to(tmp_path / "tuning.log")
    with pytest.raises(FileExistsError):
        journal.JournalLock(str(tmp_path / "tuning.log")).acquire()
    assert lock.is_symlink()


@posix
def test_a_lock_that_leads_nowhere(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the lock that Optuna makes for a relative name."""
    monkeypatch.setattr(journal, "STALE_AFTER", 0.1)
    open_storage("studies/tuning.log")
    lock = Path("studies/tuning.log.lock")
    lock.symlink_to("studies/tuning.log")
    StudyRecord(open_storage("studies/tuning.log"), {}, resume=False)
    assert not lock.is_symlink()


@posix
def test_two_processes_that_remove_one_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second does not remove the lock that a third has taken since the first removed the old one."""
    path, lock = tmp_path / "tuning.log", tmp_path / "tuning.log.lock"
    open_storage(path)

    def taken_meanwhile(*_: Any, blocking: bool = True) -> bool:
        if blocking:  # to remove the link
            lock.unlink()
            lock.symlink_to(path)
            os.utime(lock, (7, 7), follow_symlinks=False)
        return True

    lock.symlink_to(path)
    monkeypatch.setattr(journal, "STALE_AFTER", 0.0)
    monkeypatch.setattr(journal, "lock_descriptor", taken_meanwhile)
    second = journal.JournalLock(str(path))
    for _ in range(2):  # the first attempt only sees the lock
        with pytest.raises(FileExistsError):
            second.acquire()
    assert os.lstat(lock).st_mtime == 7


@posix
def test_locks_of_other_writes_are_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Together they take longer than one write may."""
    storage, lock = open_storage(tmp_path / "tuning.log"), tmp_path / "tuning.log.lock"
    now = 0.0

    def sleep(seconds: float) -> None:
        nonlocal now
        now += 0.6 * journal.STALE_AFTER
        lock.unlink()
        if now < 9 * journal.STALE_AFTER:
            lock.symlink_to(tmp_path / "tuning.log")
            os.utime(lock, (now, now), follow_symlinks=False)

    lock.symlink_to(tmp_path / "tuning.log")
    monkeypatch.setattr(time, "monotonic", lambda: now)
    monkeypatch.setattr(time, "sleep", sleep)
    storage.create_new_study([optuna.study.StudyDirection.MINIMIZE], "a")
    assert now >= 9 * journal.STALE_AFTER
    assert not caplog.text


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


# -- Ctrl-C ------------------------------------------------------------------------------------------------------------


def begin_study(storage: optuna.storages.BaseStorage) -> None:
    storage.create_new_study([optuna.study.StudyDirection.MINIMIZE], "study")


@posix
@pytest.mark.parametrize("function", ["symlink", "fsync", "rename", "unlink"])
@pytest.mark.parametrize(
    ("sent", "handler"),
    [
        (signal.SIGINT, signal.default_int_handler),
        (signal.SIGTERM, signal.default_int_handler),
        (signal.SIGTERM, signal.SIG_IGN),  # as in the jobs of a shell
    ],
)
def test_an_interruption_waits_for_the_end_of_a_write(
    sent: signal.Signals, handler: Any, function: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage, original = open_storage(tmp_path / "tuning.log"), getattr(os, function)

    def pressed(*given: Any) -> None:
        original(*given)
        os.kill(os.getpid(), sent)

    monkeypatch.setattr(os, function, pressed)
    before = signal.signal(signal.SIGINT, handler)
    try:
        with Termination(), pytest.raises(KeyboardInterrupt):
            begin_study(storage)
        assert signal.getsignal(signal.SIGINT) == handler
    finally:
        signal.signal(signal.SIGINT, before)
    monkeypatch.undo()
    assert os.listdir(tmp_path) == ["tuning.log"]
    assert [study.study_name for study in open_storage(tmp_path / "tuning.log").get_all_studies()] == ["study"]


@posix
@pytest.mark.parametrize("write", [begin_study, lambda storage: open_storage(storage._backend._file_path)])
def test_an_interruption_ends_a_wait(write: Callable[..., object], ctrl_c: None, tmp_path: Path) -> None:
    storage, lock = open_storage(tmp_path / "tuning.log"), tmp_path / "tuning.log.lock"
    lock.symlink_to(tmp_path / "tuning.log")
    Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        write(storage)
    assert time.monotonic() - begin < 1.5
    assert lock.is_symlink()


def ctrl_c_at(k: int) -> Moment:
    """Return Ctrl-C at the k-th line of a write."""

    def of_write(code: CodeType) -> bool:
        here = code.co_filename in (journal.__file__, optuna_file.__file__)
        return here and code.co_name != "read_logs"  # a read takes no lock

    return Moment(k, of_write, "with open(")  # the file would stay open


@posix
def test_ctrl_c_at_any_line_of_a_write(ctrl_c: None, tmp_path: Path) -> None:
    whole = ctrl_c_at(0)
    whole.during(lambda: begin_study(open_storage(tmp_path / "tuning.log")))
    for k in range(1, whole.lines + 1):
        path = tmp_path / str(k) / "tuning.log"
        path.parent.mkdir()
        with pytest.raises(KeyboardInterrupt):
            ctrl_c_at(k).during(partial(lambda path: begin_study(open_storage(path)), path))
        assert set(os.listdir(path.parent)) <= {"tuning.log"}
        assert not path.exists() or path.read_bytes()[-1:] in (b"", b"\n")
