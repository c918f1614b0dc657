"""The decision to replay a recorded generation, and the comparison of a replay with a plain generation."""

from __future__ import annotations

from collections.abc import Container
from typing import Any, NamedTuple

import numpy as np

from skde.engines.protocol import DeviceEngine
from skde.engines.state.batch import Batch
from skde.typing import Array, FloatArray
from skde.utils.arrays import to_numpy
from skde.utils.interrupts import interrupts

# A recording costs about eight calls of the objective: four calls, and as much again for the graph, the copies of the
# state and the comparison. That is at most a tenth of the time of this many generations, also if a replay saves none.
LEAST_GENERATIONS = 100
# The first generations are timed, and the least times count.
TIMED_GENERATIONS = 3
# A replay saves the host's work: at most as much as the host's share of a generation's time.
LEAST_SHARE = 0.5
# Libraries that launch work on their own streams when they receive an array. The capture of these streams would fail,
# and the library would wait for work that never runs.
NEVER_RECORDED = {"jax": "JAX"}


class RecordingError(RuntimeError):
    """An objective that cannot be recorded, or for which a replay is not equal to a plain call.

    Parameters
    ----------
    reason : str
        The reason, as a sentence without a capital and a full stop.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"execution='graph': the objective cannot be recorded as a CUDA graph ({reason}); use execution='step'"
        )
        self.reason = reason


class StepTime(NamedTuple):
    """The time of one generation by steps.

    Attributes
    ----------
    host : float
        Seconds until the host had started all work.
    total : float
        Seconds until the device had done it.
    """

    host: float
    total: float


def sizes_vary(batch: Batch) -> bool:
    """Whether the generations of the runs have different sizes. A recorded one has the same size every time."""
    return bool(batch.varies or (batch.pop_sizes != batch.pop_max).any())


def reason_to_step(batch: Batch, host_work: str | None, generations: int, loaded: Container[str]) -> str | None:
    """Return why a generation is not worth a recording, or must not be recorded; None where it can be tried.

    Parameters
    ----------
    batch : Batch
        The batch.
    host_work : str or None
        The work of the host in every evaluation, as a sentence, where there is any.
    generations : int
        Generations that are left.
    loaded : container of str
        Names of the loaded modules.
    """
    if host_work:
        return host_work
    if sizes_vary(batch):
        return "a recording needs the same pop_size in all runs and generations"
    if generations < LEAST_GENERATIONS:
        return f"{generations} generations are left, and a recording pays from {LEAST_GENERATIONS} on"
    for module, name in NEVER_RECORDED.items():
        if module in loaded:
            return f"{name} is loaded, and its work cannot be recorded"
    return None


def reason_by_pace(pace: StepTime, seconds_left: float) -> str | None:
    """Return why a recording does not pay by the time of a generation; None where it does."""
    if pace.host < LEAST_SHARE * pace.total:
        return (
            f"the device needs {1e6 * pace.total:.0f} us for a generation; the host takes "
            f"{1e6 * pace.host:.0f} us, and a replay saves only these"
        )
    if seconds_left < LEAST_GENERATIONS * pace.total:
        return f"max_time leaves {seconds_left:.3g} s, and a generation takes {pace.total:.3g} s"
    return None


class Generation(NamedTuple):
    """The result of one generation.

    Attributes
    ----------
    values : ndarray of shape (R, P)
        The values of the trials; arbitrary ones for runs that had ended.
    state : dict
        The state of the batch at the end.
    """

    values: FloatArray
    state: dict[str, Any]


def replay_once(engine: DeviceEngine, batch: Batch, recording: Any, before: dict[str, Any]) -> Generation:
    """Replay one generation, and return to the state before it, without trials."""
    with interrupts.deferred:
        recording.replay(1)
        values = to_numpy(recording.values).reshape(batch.n_runs, batch.pop_max)
        replayed = Generation(values, batch.state())
        batch.restore(before)
        engine.synchronize()
    return replayed


def check_replay(replayed: Generation, plain: Generation, running: Array) -> None:
    """Compare a replayed generation with the same one, made after it by a step.

    In the other order, memory that the function writes to in every call would hold the right values.

    Parameters
    ----------
    replayed, plain : Generation
        The generation, made in both ways.
    running : ndarray of shape (R,)
        Whether a run was running.

    Raises
    ------
    RecordingError
        When values or states differ, or where all values are equal: then old values look like new ones.
    """
    values = plain.values[running]
    if len(np.unique(values)) < 2:
        raise RecordingError("all values of the compared generation are equal, so old values look like new ones")
    if replayed.values[running].tobytes() != values.tobytes():
        raise RecordingError("a replayed generation has other values than a plain call")
    if any(array.tobytes() != plain.state[name].tobytes() for name, array in replayed.state.items()):
        raise RecordingError("a replayed generation ends with another population than a plain one")
