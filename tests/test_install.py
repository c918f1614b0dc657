"""Messages about a missing compiled core."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import skde


def test_sources_without_the_core_say_how_to_install(tmp_path: Path) -> None:
    """As in a clone, from which Python takes skde without what was compiled for it."""
    (tmp_path / "skde").mkdir()
    shutil.copy(Path(skde.__file__), tmp_path / "skde")
    # -E and -S: neither PYTHONPATH nor an editable install is looked at.
    command = [sys.executable, "-E", "-S", "-c", "import skde"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    told = done.stderr.splitlines()[-1]
    assert told.startswith("ImportError: the sources of skde in ")
    assert str(tmp_path / "skde") in told
    assert "pip install -e ." in told
    assert "PYTHONSAFEPATH=1" in told


def test_a_core_that_cannot_be_loaded_is_told_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "skde").mkdir()
    shutil.copy(Path(skde.__file__), tmp_path / "skde")
    (tmp_path / "skde" / "_cpu.py").write_text("raise ImportError('libgomp.so.1: cannot open shared object file')")
    command = [sys.executable, "-E", "-S", "-c", "import skde"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1] == "ImportError: libgomp.so.1: cannot open shared object file"
