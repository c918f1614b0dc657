"""The threads that work on the parts of a batch, one for each device."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from skde.engines.cpu import CpuEngine
from skde.engines.device_threads import DeviceThreads, IslandBarrier


def test_a_part_that_fails_in_one_thread_ends_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the work that was started."""
    threads = DeviceThreads([CpuEngine(1)] * 3)
    begun: list[int] = []
    waits: list[object] = []
    monkeypatch.setattr(CpuEngine, "synchronize", lambda engine: waits.append(engine))

    def work(k: int, barrier: IslandBarrier) -> Iterator[threading.Barrier]:
        begun.append(k)
        yield barrier.arrive
        raise ZeroDivisionError(k)

    with pytest.raises(ZeroDivisionError, match="0"):
        threads.run(work, one_thread=True)
    threads.close()
    assert (begun, len(waits)) == ([0, 1, 2], 2 * 3)


def test_devices_wait_for_the_work_of_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    """The threads have other streams than the caller, who starts copies to the batch."""
    told: list[str] = []
    monkeypatch.setattr(CpuEngine, "synchronize", lambda engine: told.append(threading.current_thread().name))

    def work(k: int, barrier: IslandBarrier) -> Iterator[threading.Barrier]:
        told.append("work")
        return iter(())

    threads = DeviceThreads([CpuEngine(1)] * 2)
    threads.run(work, one_thread=True)
    threads.close()
    assert told[:2] == [threading.current_thread().name] * 2
    assert told[2:4] == ["work"] * 2
