"""The folder of a platform's files: of finished trials, and of whole cells, which the platform reads.

    FOLDER/runs.json             the record
    FOLDER/runs.json.trials      the finished trials of the cells that it does not have yet
    FOLDER/ALGORITHM/            the platform's files, as its logger writes them for one experiment
    FOLDER/.trials/ALGORITHM/    the files of the finished trials of incomplete cells, a folder each

A trial's files are written to a folder with another name, which is renamed when they are complete. So a process may be
killed at any time, and loses the trial that it is in.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from skde import __version__
from skde.benchmark.file_lock import ENDING
from skde.benchmark.functions import Function, LoggerFiles, Platform

RECORD = "runs.json"
TRIALS = ".trials"


class TrialLogs:
    """The files of a platform's logger.

    Parameters
    ----------
    folder : Path
        The folder; it is made.
    suite : str
        Name of the suite.
    platform : Platform
        The platform.

    Raises
    ------
    ValueError
        For a folder with files of something else.
    """

    def __init__(self, folder: Path, suite: str, platform: Platform) -> None:
        self.folder, self.suite, self.platform = folder, suite, platform
        if folder.exists() and not folder.is_dir():
            raise ValueError(f"{folder} is a file; give a folder, which is made if there is none")
        if folder.is_dir() and any(folder.iterdir()) and not self.has_record():
            raise ValueError(f"{folder} has files, but no {RECORD} of skde bench run: give another folder")
        folder.mkdir(parents=True, exist_ok=True)

    def has_record(self) -> bool:
        """Return whether the folder has a record, or what a command writes before it."""
        return any((self.folder / name).exists() for name in (RECORD, f"{RECORD}.trials", TRIALS, f"{RECORD}{ENDING}"))

    def check_names(self, algorithms: Sequence[str]) -> None:
        """Refuse algorithms that would have one folder."""
        by_name: dict[str, str] = {}
        for text in algorithms:
            other = by_name.setdefault(folder_name(text), text)
            if other != text:
                raise ValueError(f"algorithms {other!r} and {text!r} would have one folder, {folder_name(text)!r}")

    @contextmanager
    def open(self, function: str, dim: int, algorithm: str, run: int) -> Iterator[Function]:
        """Open the function of a trial with a logger; the files are complete when the context ends."""
        partial = self._trial(function, dim, algorithm, run, ".partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.parent.mkdir(parents=True, exist_ok=True)
        info = f"{algorithm}; skde {__version__}; {self.platform.package.text}".replace('"', "'")
        log = LoggerFiles(partial, folder_name(algorithm), info)
        with self.platform.open(self.suite, function, dim, run + 1, log) as opened:
            yield opened

    def finish(self, function: str, dim: int, algorithm: str, run: int) -> tuple[float | None, int]:
        """Check the files of a trial, and give the folder its name; return the error and the evaluations in them.

        Raises
        ------
        OSError
            If the files are not complete, as on a full disk.
        """
        partial = self._trial(function, dim, algorithm, run, ".partial")
        final = self._trial(function, dim, algorithm, run)
        result = self.platform.read(partial)
        shutil.rmtree(final, ignore_errors=True)
        os.replace(partial, final)
        return result

    def has(self, function: str, dim: int, algorithm: str, run: int) -> bool:
        """Return whether the files of a finished trial are there; a power failure may have taken their last lines."""
        try:
            self.platform.read(self._trial(function, dim, algorithm, run))
        except OSError:
            return False
        return True

    def merge(self, function: str, dim: int, algorithm: str, runs: int) -> None:
        """Add the files of a cell to those that the platform reads; a trial that raised at once has none.

        Raises
        ------
        OSError
            If they cannot be written; the trials' are untouched.
        """
        trials = [self._trial(function, dim, algorithm, run) for run in range(runs)]
        written = [trial for trial in trials if trial.is_dir()]
        if written:
            target = self.folder / folder_name(algorithm)
            try:
                target.mkdir(exist_ok=True)
                self.platform.merge(written, target)
            except OSError as error:
                raise OSError(
                    f"{target} cannot be written ({error}); the finished trials are in {self.folder / TRIALS}. Make "
                    "room, for example on a full disk, and repeat the command: it continues from there"
                ) from error

    def drop(self, function: str, dim: int, algorithm: str) -> None:
        """Remove the files of the trials of a cell that the record has."""
        parent = self._trial(function, dim, algorithm, 0).parent
        for folder in parent.glob(f"{function}_d{dim}_i*"):
            shutil.rmtree(folder)

    def _trial(self, function: str, dim: int, algorithm: str, run: int, ending: str = "") -> Path:
        return self.folder / TRIALS / folder_name(algorithm) / f"{function}_d{dim}_i{run + 1}{ending}"


def folder_name(text: str) -> str:
    """Return an algorithm with its parameters as the name of a folder, which platforms show."""
    return re.sub(r"[^\w.+=-]+", "_", text)
