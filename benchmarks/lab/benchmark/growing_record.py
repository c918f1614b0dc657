"""Records that grow while their experiments run: written after every cell, and resumed from a file."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from skde.benchmark import gpu_descriptions, provenance
from skde.benchmark.records import Cell, Record, check_settings, read_record, write_record
from skde.engines import choose_engine
from skde.utils.progress_bar import ProgressBar


def do_nothing() -> None:
    """Do nothing."""


class CellJob(NamedTuple):
    """A cell to measure.

    Attributes
    ----------
    key : dict
        The entries that identify the cell.
    text : str
        The text of the progress bar.
    measure : callable
        Returns the other entries of the cell.
    saved : callable, default nothing
        Called when the file has the cell.
    """

    key: dict[str, Any]
    text: str
    measure: Callable[[], Cell]
    saved: Callable[[], object] = do_nothing


@dataclass(frozen=True)
class GrowingRecording:
    """The file of a record, and the reports on its way.

    Attributes
    ----------
    out : path or None
        A file that is written after every cell. The cells of an existing file are not measured again.
    command : str
        The command to store in the record.
    verbose : bool
        Whether to draw a progress bar.
    started : callable or None
        Called with the record before the first cell. The record then grows, and has the finished cells if the rest is
        interrupted or fails.
    read, write : callable
        The functions that read and write the file.
    """

    out: str | os.PathLike[str] | None = None
    command: str = ""
    verbose: bool = False
    started: Callable[[Record], None] | None = None
    read: Callable[[Any], Record] = read_record
    write: Callable[[Any, Record], None] = write_record

    def begin(self, settings: Any, empty: Record) -> Record:
        """Return the record to continue: an existing file's with the same settings, or a new one.

        An empty file counts as none.

        Parameters
        ----------
        settings : dataclass
            The settings of the experiment, among them its device.
        empty : dict
            The entries that grow, as they are in a new record.

        Raises
        ------
        ValueError
            For a file with other settings.

        Warns
        -----
        UserWarning
            For a file that another version of skde has written.
        """
        wanted, entries = asdict(settings), empty
        here = provenance(self.command)
        if self.out is not None and os.path.exists(self.out) and os.path.getsize(self.out):
            found = self.read(self.out)
            check_settings(self.out, found["settings"], wanted)
            entries = {name: found[name] for name in empty}
            warn_of_version(self.out, found, here["versions"]["skde"])
        here["machine"] |= gpu_of(settings.device)
        record = {**here, "device": settings.device, "settings": wanted, **entries}
        if self.started is not None:
            self.started(record)
        return record

    def save(self, record: Record) -> None:
        """Write the file, if there is one.

        Raises
        ------
        OSError
            If it cannot be written; the old file is then untouched.
        """
        if self.out is not None:
            try:
                self.write(self.out, record)
            except OSError as error:
                raise OSError(
                    f"{self.out} cannot be written ({error}); the parts that it has stay in it. Make room, for example "
                    "on a full disk, and repeat the command: it continues from there"
                ) from error

    def run(self, record: Record, jobs: Sequence[CellJob], entry: str = "cells") -> Record:
        """Measure the cells that a record does not have yet or that have failures, and write the record after each."""
        cells: list[Cell] = record[entry]
        places = {tuple(cell[name] for name in jobs[0].key): n for n, cell in enumerate(cells)} if jobs else {}
        done = 0

        def describe() -> tuple[int, str]:
            return done, jobs[done].text if done < len(jobs) else ""

        bar = ProgressBar(describe, len(jobs), "cell") if self.verbose else None
        try:
            for job in jobs:
                if bar is not None:
                    bar.move(now=True)
                place = places.get(tuple(job.key.values()), len(cells))
                # A cell with failures is repeated, and stays until its new one is complete.
                if place == len(cells) or cells[place].get("failures"):
                    cells[place : place + 1] = [{**job.key, **job.measure()}]
                    self.save(record)
                job.saved()
                done += 1
        finally:
            if bar is not None:
                bar.close()
        return record


# A record in memory only, without a progress bar.
UNRECORDED = GrowingRecording()


def warn_of_version(path: str | os.PathLike[str], found: Record, running: str) -> None:
    """Warn where another version of skde has written a record."""
    version = found.get("versions", {}).get("skde", running)
    if version != running:
        warnings.warn(
            f"{os.fspath(path)} is of skde {version}, and this is skde {running}: the results in it stay, and only the "
            "others are measured. To have all of them of this version, give another file",
            stacklevel=3,
        )


def describe_origin(record: Record) -> Cell:
    """Return version, processor and commit of the cells that are measured now; others may have grown elsewhere."""
    return {"skde": record["versions"]["skde"], "cpu": record["machine"]["cpu"], "commit": record["commit"]}


def gpu_of(device: str) -> dict[str, str]:
    """Return the name of a device's GPU, or an empty dict for the CPU."""
    name = choose_engine(device)[0].name
    return {} if name == "cpu" else {"gpu": next(gpu["name"] for gpu in gpu_descriptions()[0] if gpu["device"] == name)}
