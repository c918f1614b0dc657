"""Who looks on while a solver runs: callbacks and the progress bar."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from skde.callbacks import Callback, Progress, ProgressBar
from skde.runner import Runner, budget

Look = Callable[[], bool]


@contextmanager
def observed(solver: Any, runner: Runner) -> Any:
    """Within this context a progress bar stands where `verbose` asks for one; gives what a Runner is to call.

    None where nobody looks. What it gives returns whether a callback asked to stop.
    """
    callbacks = checked(solver.callbacks)
    bar = ProgressBar(budget(runner.batch.spec), solver.max_time) if solver.verbose else None

    def look() -> bool:
        progress = Progress(runner, solver)
        if bar is not None:
            bar(progress)
        try:
            return any([is_true(callback(progress)) for callback in callbacks])
        except StopIteration:
            return True

    try:
        yield look if callbacks or bar is not None else None
    finally:
        if bar is not None:
            try:
                bar(Progress(runner, solver), last=True)
            finally:
                bar.close()


def checked(callbacks: Callback | Sequence[Callback] | None) -> Sequence[Callback]:
    """Return what a user gave as a sequence of callables."""
    if callbacks is None:
        return []
    given = callbacks if isinstance(callbacks, Sequence) else [callbacks]
    for callback in given:
        if not callable(callback):
            raise TypeError(f"callbacks must be callables, got {callback!r}")
    return given


def is_true(answer: Any) -> bool:
    """Whether a callback asked to stop: True, NumPy's too, and nothing that merely counts as true."""
    return isinstance(answer, bool | np.bool_) and bool(answer)
