"""One generation as a CUDA graph, which a replay launches at once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from skde.engines.gpu.graph_replay import RecordingError
from skde.engines.state.batch import Batch
from skde.islands import Step
from skde.typing import Array
from skde.utils.arrays import address


class Recording:
    """One generation as a CUDA graph, with its stream.

    Parameters
    ----------
    graph : cupy.cuda.Graph
        The recorded work.
    stream : cupy.cuda.Stream
        The stream that it runs on.
    values : ndarray of shape (R * P,)
        The values of the trials of the last generation that was replayed.
    memory : tuple
        The memory of the graph, which must stay alive.
    """

    def __init__(self, graph: Any, stream: Any, values: Array, memory: tuple[Any, ...]) -> None:
        self.graph, self.stream, self.values, self.memory = graph, stream, values, memory

    def replay(self, generations: int) -> None:
        """Run generations and wait for their end."""
        try:
            for _ in range(generations):
                self.graph.launch(self.stream)
        finally:  # after Ctrl-C, too: other streams do not wait for this one
            self.stream.synchronize()


def record_generation(cupy: Any, batch: Batch, g: int, values: Callable[[Array], Array]) -> Recording:
    """Record one generation, the objective included, as a CUDA graph of the current GPU.

    Parameters
    ----------
    cupy : module
        CuPy.
    batch : Batch
        The batch, with the trials of generation g + 1.
    g : int
        The last complete generation.
    values : callable
        X of shape (R * P, D) -> f of shape (R * P,), on CuPy arrays; called three times, to warm up and to record.

    Returns
    -------
    recording : Recording

    Raises
    ------
    RecordingError
        When the objective does something that a graph cannot record, such as a copy to the host.
    """
    cupy.cuda.get_current_stream().synchronize()
    stream = cupy.cuda.Stream(non_blocking=True)
    # The graph writes to the memory of the objective's temporaries: no other allocation may reuse it.
    pool = cupy.cuda.MemoryPool()
    with stream, cupy.cuda.using_allocator(pool.malloc):
        clock = cupy.full(1, g, np.int64)
        # In another order than in the generation: values that the graph does not compute are wrong in a replay.
        rows = batch.rows[(g + 1) & 1]
        trials = cupy.concatenate([rows[-1:], rows[:-1]])
        for _ in range(2):
            values(trials)
        for name in ("propose", "accept", "tick", "end_generation", "migrate"):
            batch.step.function(name)
        stream.synchronize()
        graph, f = capture(cupy, stream, batch, clock, trials, values)
    return Recording(graph, stream, f, (pool, clock, trials))


def capture(
    cupy: Any, stream: Any, batch: Batch, clock: Array, trials: Array, values: Callable[[Array], Array]
) -> tuple[Any, Array]:
    """Return the graph of a generation, and the memory of its values."""
    task, one = batch.record, np.int64(1)
    stream.begin_capture()
    try:
        if batch.spec.islands.every:
            for step in range(Step.JUDGE, Step.REORDER + 1):
                batch.step("migrate", task, np.int64(0), clock, np.int64(step))
        batch.step("propose", task, one, clock, trials)
        f = values(trials)
        where = np.int64(address(f, batch.spec.dtype, batch.n_runs * batch.pop_max, batch.device))
        batch.step("accept", task, one, clock, trials, where)
        for stage in range(batch.stages):
            batch.step("end_generation", task, one, clock, np.int64(stage))
        batch.step.function("tick")((1,), (1,), (clock,))
        return stream.end_capture(), f
    except BaseException as error:
        with suppress(cupy.cuda.runtime.CUDARuntimeError):
            stream.end_capture()
        if not isinstance(error, Exception):
            raise
        first_line = str(error).partition("\n")[0]
        raise RecordingError(f"{type(error).__name__}: {first_line}") from error
