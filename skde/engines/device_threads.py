"""Threads that work on the parts of one thing, one a device."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from typing import Any, Protocol

from skde.interrupts import interrupts


class Device(Protocol):
    """What has a part."""

    @property
    def here(self) -> AbstractContextManager[Any]:
        """In which the array library works on it."""

    def synchronize(self) -> None:
        """Wait for what was started."""


class IslandBarrier:
    """Where threads wait for each other.

    A thread that fails comes no more, and lets those down that wait for it to arrive. Once all have arrived all leave:
    either every island has been at a meeting, or none.
    """

    def __init__(self, n: int) -> None:
        self.arrive, self.leave = threading.Barrier(n), threading.Barrier(n)


# What one thread does: it is given its number, and where it waits for the others.
Work = Callable[[int, IslandBarrier], None]


class DeviceThreads:
    """A thread for every device.

    Parameters
    ----------
    devices : sequence of Device
        Which.
    """

    def __init__(self, devices: Sequence[Device]) -> None:
        self.devices = list(devices)
        self._start()

    def _start(self) -> None:
        self.pool, self.process = ThreadPoolExecutor(len(self.devices) + 1, "skde"), os.getpid()

    def together(self, work: Work) -> None:
        """Let every thread do its work; when one fails the others don't wait for it, and its exception is raised."""
        if self.process != os.getpid():
            self._start()  # a forked process has none of the threads
        meeting = IslandBarrier(len(self.devices))

        def guarded(k: int) -> None:
            try:
                with self.devices[k].here:
                    work(k, meeting)
                    self.devices[k].synchronize()
            except BaseException:
                meeting.arrive.abort()
                raise

        def everyone() -> None:
            futures = [self.pool.submit(guarded, k) for k in range(len(self.devices))]
            errors = [error for future in futures if (error := future.exception()) is not None]
            for error in sorted(errors, key=lambda error: isinstance(error, threading.BrokenBarrierError)):
                raise error

        # Ctrl-C reaches the thread that waits here: it starts the others by a single call, and hears them out.
        begun: list[Future[None]] = []
        try:
            with interrupts.held:
                begun.append(self.pool.submit(everyone))
            wait(begun)
        finally:
            wait(begun)
        begun[0].result()
