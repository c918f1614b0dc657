"""GPU work that Ctrl-C or an error meets half-way, with stand-ins for what only a GPU has."""

from __future__ import annotations

import signal
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from skde.engines import RecordingError
from skde.engines.gpu.engine import CudaEngine
from skde.engines.gpu.graphs import capture


@pytest.mark.parametrize(
    ("error", "seen"), [(KeyboardInterrupt(), KeyboardInterrupt), (ValueError("it reads back"), RecordingError)]
)
def test_a_recording_that_fails_is_ended(error: BaseException, seen: type[BaseException]) -> None:
    """So that later work of the stream is done, not recorded. Ctrl-C stays Ctrl-C."""
    calls: list[str] = []
    stream = SimpleNamespace(begin_capture=lambda: calls.append("begin"), end_capture=lambda: calls.append("end"))
    cupy = SimpleNamespace(cuda=SimpleNamespace(runtime=SimpleNamespace(CUDARuntimeError=RuntimeError)))
    islands = SimpleNamespace(every=0)
    batch: Any = SimpleNamespace(record=None, spec=SimpleNamespace(islands=islands), step=lambda *_: None)

    def values(_: Any) -> Any:
        raise error

    with pytest.raises(seen):
        capture(cupy, stream, batch, None, None, values)
    assert calls == ["begin", "end"]


def test_ctrl_c_does_not_divide_the_launches_of_tell() -> None:
    """A generation of which a part was stored would be selected twice."""
    launched: list[str] = []

    def launch(name: str, *_: Any) -> None:
        launched.append(name)
        if name == "accept":
            signal.raise_signal(signal.SIGINT)

    engine: Any = object.__new__(CudaEngine)
    engine.device = 0
    engine.xp = SimpleNamespace(cuda=SimpleNamespace(runtime=SimpleNamespace(getDevice=lambda: 0)))
    engine._steps, engine._address = lambda batch: launch, lambda *_: 0
    spec = SimpleNamespace(dtype=np.dtype(np.float64))
    batch: Any = SimpleNamespace(n_runs=1, pop_max=4, dim=2, spec=spec, stages=2, record=None)
    with pytest.raises(KeyboardInterrupt):
        engine.accept(batch, 1, None, np.zeros(4))
    assert launched == ["accept", "end_generation", "end_generation"]
