"""Experiments of a command, whose record grows while they run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from skde.benchmark.file_lock import lock
from skde.benchmark.growing_record import GrowingRecording
from skde.cli.arguments import shows_progress
from skde.cli.output import run_and_show


def record_and_show(options: Any, run: Callable[..., Any], show: Callable[[Any], None]) -> int:
    """Run an experiment, write its record and show it; after an interruption or an error, show the finished part.

    A second command with the same file is refused while the first one runs.
    """
    records: list[Any] = []

    def show_finished() -> None:
        if any(record.get("cells") or record.get("tuned") for record in records):
            show(records[0])

    recording = GrowingRecording(options.out, options.command_line, shows_progress(options), records.append)
    with lock(options.out):
        run_and_show(lambda: run(recording=recording), show_finished)
    return 0
