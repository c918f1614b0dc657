"""Finished trials of cells that are not complete: a file of JSON lines, to which each trial is added when it ends.

A record of `skde bench run` has whole cells. Between two of them, this file has the trials of the next, so that a
process that is killed loses only the trial that it was in. When the record has a cell, its trials leave the file.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from skde.benchmark.records import check_settings, or_null
from skde.result import History
from skde.utils.files import atomic_write

ADVICE = "the trials before this one are in it: make room, and repeat the command, which continues"

# Function, dimension and algorithm.
CellKey = tuple[str, int, str]


@dataclass(frozen=True)
class Trial:
    """One run of an algorithm on a function.

    Attributes
    ----------
    best, error : float or None
        The best value, and its difference to the minimum; None where there is no finite one.
    n_evals : int
        Evaluations.
    seconds : float
        Time.
    history : History or None, default None
        The best value over time; None where the run failed.
    failure : str, default ""
        The exception that ended it.
    """

    best: float | None
    error: float | None
    n_evals: int
    seconds: float
    history: History | None = None
    failure: str = ""

    def entries(self) -> dict[str, Any]:
        """Return the trial as entries of JSON."""
        values = {"best": self.best, "error": self.error, "n_evals": self.n_evals, "seconds": self.seconds}
        if self.history is None:
            return {**values, "failure": self.failure}
        history = self.history
        curve = [history.n_evals.tolist(), history.seconds.tolist(), or_null(history.best.tolist())]
        return {**values, "history": curve}

    @classmethod
    def of_entries(cls, entries: dict[str, Any]) -> Trial:
        """Return the trial of such entries."""
        curve = entries.pop("history", None)
        if curve is None:
            return cls(**entries)
        best = [np.inf if value is None else value for value in curve[2]]
        history = History(np.array(curve[0], np.int64), np.array(curve[1], np.float64), np.array(best, np.float64))
        return cls(**entries, history=history)


class Journal:
    """The trials of incomplete cells.

    Parameters
    ----------
    record : path or None
        The record's file; the journal is next to it, FILE.trials. None: trials are in memory only.
    settings : mapping
        The settings of the record. A file of other settings is refused.

    Raises
    ------
    ValueError
        For a file that is not a journal of these settings. A last line that was not written to its end is dropped.
    """

    def __init__(self, record: str | os.PathLike[str] | None, settings: Mapping[str, Any]) -> None:
        self.path = None if record is None else Path(f"{os.fspath(record)}.trials")
        self.settings = dict(settings)
        self.trials: dict[CellKey, dict[int, Trial]] = {}
        if self.path is not None and self.path.exists():
            self._read(self.path)
            self._rewrite()  # without a torn line, so that the next one begins a line

    def of(self, cell: CellKey) -> dict[int, Trial]:
        """Return the finished trials of a cell by their runs."""
        return self.trials.get(cell, {})

    def add(self, cell: CellKey, run: int, trial: Trial) -> None:
        """Add a finished trial, and write it to the disk.

        Raises
        ------
        OSError
            If it cannot be written; the file then ends with the trial before it.
        """
        if self.path is not None:
            if not self.path.exists():
                self._rewrite(header=True)
            append(self.path, self._line(cell, run, trial))
        self.trials.setdefault(cell, {})[run] = trial

    def drop(self, cell: CellKey) -> None:
        """Forget the trials of a cell, which the record has."""
        if self.trials.pop(cell, None) is not None:
            self._rewrite()

    def _rewrite(self, header: bool = False) -> None:
        """Write the file again; without trials there is none, unless its first line is wanted."""
        if self.path is None:
            return
        if not (self.trials or header):
            self.path.unlink(missing_ok=True)
            return
        try:
            with atomic_write(self.path, text=True) as file:
                file.write(json.dumps({"settings": self.settings}) + "\n")
                for cell, trials in self.trials.items():
                    file.writelines(self._line(cell, run, trial) for run, trial in trials.items())
        except OSError as error:
            raise OSError(error.errno, f"{error.strerror}; {ADVICE}", os.fspath(self.path)) from error

    @staticmethod
    def _line(cell: CellKey, run: int, trial: Trial) -> str:
        function, dim, algorithm = cell
        key = {"function": function, "dim": dim, "algorithm": algorithm, "run": run}
        return json.dumps({**key, **trial.entries()}, allow_nan=False) + "\n"

    def _read(self, path: Path) -> None:
        """Read the file, and check that it is of the same settings."""
        lines = path.read_bytes().split(b"\n")
        lines.pop()  # empty, or a line that was not written to its end
        for number, line in enumerate(lines, 1):
            try:
                entry = json.loads(line)
                if number == 1:
                    found = entry["settings"]
                else:
                    cell = entry.pop("function"), entry.pop("dim"), entry.pop("algorithm")
                    run = entry.pop("run")
                    self.trials.setdefault(cell, {})[run] = Trial.of_entries(entry)
            except (ValueError, LookupError, TypeError, AttributeError) as error:
                raise ValueError(
                    f"line {number} of {path} is no trial of skde bench run ({error}); remove the line or the file"
                ) from None
            if number == 1:
                check_settings(path, found, self.settings)


def append(path: Path, line: str) -> None:
    """Add a line to a file and to the disk; a part of a line is taken back."""
    with open(path, "ab", buffering=0) as file:
        before, data = file.tell(), line.encode()
        try:
            if file.write(data) < len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(file.fileno())
        except OSError as error:
            with suppress(OSError):
                file.truncate(before)
            raise OSError(error.errno, f"{error.strerror}; {ADVICE}", os.fspath(path)) from None
