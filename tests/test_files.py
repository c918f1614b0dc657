"""Atomic writing of files."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from skde.benchmark.records import replace_text
from skde.utils.files import atomic_write
from skde.utils.serialization import save as save_checkpoint

from .short_fits import fit


def save_fit(path: Path) -> None:
    fit().save(path)


def save_empty(path: Path) -> None:
    save_checkpoint(path, {}, {})


def save_text(path: Path) -> None:
    replace_text(path, "text")


WRITERS = [save_fit, save_empty, save_text]


@pytest.fixture(params=[0o022, 0o077])
def umask(request: Any) -> Any:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


@pytest.mark.parametrize("write", WRITERS)
def test_permissions(write: Any, umask: int, tmp_path: Path) -> None:
    path = tmp_path / "file"
    write(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask
    path.chmod(0o640)
    write(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("there", [True, False])
def test_the_target_of_a_link_is_replaced(write: Any, there: bool, tmp_path: Path) -> None:
    target, link = tmp_path / "elsewhere" / "file", tmp_path / "link"
    target.parent.mkdir()
    if there:
        target.write_bytes(b"")
    link.symlink_to(target)
    write(link)
    assert link.is_symlink()
    assert target.stat().st_size > 0
    assert not list(tmp_path.rglob("*.tmp"))


@pytest.mark.parametrize("write", WRITERS)
def test_special_files_stay_unchanged(write: Any, tmp_path: Path) -> None:
    fifo, listening, folder, link = (tmp_path / name for name in ("fifo", "socket", "folder", "link"))
    os.mkfifo(fifo)
    folder.mkdir()
    link.symlink_to("/dev/null")
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind(os.path.relpath(listening))  # its name may have a hundred bytes
        for path, kind in ((fifo, "a FIFO"), (folder, "a folder"), (listening, "a socket"), (link, "a device")):
            before = path.lstat()
            with pytest.raises(OSError, match=f"{path.name}' is {kind}: give the name of a regular file"):
                write(path)
            assert (path.lstat().st_ino, path.lstat().st_mode) == (before.st_ino, before.st_mode)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["fifo", "folder", "link", "socket"]


def test_an_exception_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")

    def break_off() -> None:
        with atomic_write(path, text=True) as file:
            file.write("new")
            raise RuntimeError("half-way")

    with pytest.raises(RuntimeError, match="half-way"):
        break_off()
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="missing/file'"):
        fit().save(tmp_path / "missing" / "file")


def test_files_of_a_killed_process_are_removed(tmp_path: Path) -> None:
    """But not those of a process that is still writing, and not other files."""
    path, program = tmp_path / "file", "import sys, time; from skde.utils.files import atomic_write\n"
    program += "with atomic_write(sys.argv[1]): print('writing', flush=True), time.sleep(60)"
    others = [tmp_path / name for name in (".file.tmp", ".other.12.0123abcd.tmp", "file.12.tmp")]
    for other in others:
        other.touch()
    with subprocess.Popen([sys.executable, "-c", program, path], stdout=subprocess.PIPE) as writing:
        assert writing.stdout is not None
        assert writing.stdout.readline() == b"writing\n"
        save_text(path)
        assert len(list(tmp_path.glob(f".file.{writing.pid}.*.tmp"))) == 1
        os.kill(writing.pid, signal.SIGKILL)
    assert len(list(tmp_path.glob(f".file.{writing.pid}.*.tmp"))) == 1
    save_text(path)
    assert sorted(tmp_path.iterdir()) == sorted([path, *others])


def test_a_long_name(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 255)
    save_text(path)
    assert path.read_text() == "text"
