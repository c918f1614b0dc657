"""Threads that work on the parts of a batch, one for each device."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from typing import Any, Protocol

from skde.interrupts import interrupts


class PartEngine(Protocol):
    """The engine of one part."""

    @property
    def device_context(self) -> AbstractContextManager[Any]:
        """A context in which the array library works on the device."""

    def synchronize(self) -> None:
        """Wait for all work that was started."""


class IslandBarrier:
    """The barriers of a migration between threads.

    A thread that fails breaks the barrier `arrive`, so that the others do not wait for it. After `arrive` all threads
    pass `leave`: a migration happens on all islands, or on none.

    Parameters
    ----------
    n : int
        Number of threads.
    """

    def __init__(self, n: int) -> None:
        self.arrive, self.leave = threading.Barrier(n), threading.Barrier(n)


# The work of one thread, given its number and the barriers.
PartWork = Callable[[int, IslandBarrier], None]


class DeviceThreads:
    """A thread for every device.

    Parameters
    ----------
    devices : sequence of PartEngine
        The devices.
    """

    def __init__(self, devices: Sequence[PartEngine]) -> None:
        self.devices = list(devices)
        self._start()

    def _start(self) -> None:
        self.pool, self.process = ThreadPoolExecutor(len(self.devices) + 1, "skde"), os.getpid()

    def run(self, work: PartWork) -> None:
        """Run the work in every thread and wait for its end.

        When a thread fails, the others do not wait for it, and its exception is raised.
        """
        if self.process != os.getpid():
            self._start()  # threads do not survive a fork
        barrier = IslandBarrier(len(self.devices))

        def run_one(k: int) -> None:
            try:
                with self.devices[k].device_context:
                    work(k, barrier)
                    self.devices[k].synchronize()
            except BaseException:
                barrier.arrive.abort()
                raise

        def run_all() -> None:
            futures = [self.pool.submit(run_one, k) for k in range(len(self.devices))]
            errors = [error for future in futures if (error := future.exception()) is not None]
            for error in sorted(errors, key=lambda error: isinstance(error, threading.BrokenBarrierError)):
                raise error

        # Ctrl-C reaches the thread that waits here: it starts the others by a single call, and waits for all of them.
        started: list[Future[None]] = []
        try:
            with interrupts.deferred:
                started.append(self.pool.submit(run_all))
            wait(started)
        finally:
            wait(started)
        started[0].result()
