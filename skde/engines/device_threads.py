"""Threads that work on the parts of a batch: one for each device, or one that starts the work of all."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from typing import Any, Protocol

from skde.functions.point_workers import OutOfTime
from skde.utils.interrupts import interrupts


class PartEngine(Protocol):
    """The engine of one part."""

    @property
    def device_context(self) -> AbstractContextManager[Any]:
        """A context in which the array library works on the device."""

    def synchronize(self) -> None:
        """Wait for all work that was started."""


class IslandBarrier:
    """The barriers of a migration between parts, which pass marks of their devices' work to each other.

    A thread that fails breaks the barrier `arrive`, so that the others do not wait for it. After `arrive` all threads
    pass `leave`: a migration happens on all islands, or on none.

    Parameters
    ----------
    n : int
        Number of parts.

    Attributes
    ----------
    sent, copied : dict
        For each part a mark of its device's work up to the last time that it passed each barrier.
    """

    def __init__(self, n: int) -> None:
        self.arrive, self.leave = threading.Barrier(n), threading.Barrier(n)
        self.sent: dict[int, Any] = {}
        self.copied: dict[int, Any] = {}


# The work on one part, given its number and the barriers: it yields each barrier that it has to pass.
PartWork = Callable[[int, IslandBarrier], Iterator[threading.Barrier]]


class DeviceThreads:
    """Threads for some devices.

    Parameters
    ----------
    devices : sequence of PartEngine
        The devices.
    """

    def __init__(self, devices: Sequence[PartEngine]) -> None:
        self.devices = list(devices)
        self.pool: ThreadPoolExecutor | None = None
        self.process = 0  # of the pool
        self.interrupted = False  # by Ctrl-C while the threads work

    def _open_pool(self) -> ThreadPoolExecutor:
        """Return the pool of this process: threads do not survive a fork."""
        if self.pool is None or self.process != os.getpid():
            self.pool, self.process = ThreadPoolExecutor(len(self.devices) + 1, "skde"), os.getpid()
        return self.pool

    def close(self) -> None:
        """End the threads, which later work starts again.

        Python ignores Ctrl-C for a moment when it deletes a pool with running threads.
        """
        with interrupts.deferred:
            if self.pool is not None and self.process == os.getpid():
                self.pool.shutdown()
            self.pool = None

    def seconds_until(self, seconds_left: Callable[[], float]) -> Callable[[], float]:
        """Return a function that returns the seconds until a limit, or 0 after Ctrl-C."""
        return lambda: 0.0 if self.interrupted else seconds_left()

    def run(self, work: PartWork, one_thread: bool) -> None:
        """Do the work on all parts and wait for its end.

        Parameters
        ----------
        work : callable
            The work on one part.
        one_thread : bool
            Whether one thread does it, part by part up to each barrier. That takes less time where the work only starts
            work on GPUs. Else every device has a thread. When a thread fails, the others do not wait for it, and its
            exception is raised.
        """
        for device in self.devices:  # the threads have other streams than the caller, which may have started copies
            device.synchronize()
        pool = self._open_pool()
        barrier, parts = IslandBarrier(len(self.devices)), range(len(self.devices))

        def run_one(k: int) -> None:
            try:
                with self.devices[k].device_context:
                    for place in work(k, barrier):
                        place.wait()
                    self.devices[k].synchronize()
            except BaseException:
                barrier.arrive.abort()
                raise

        def run_all() -> None:
            futures = [pool.submit(run_one, k) for k in parts]
            errors = [error for future in futures if (error := future.exception()) is not None]
            for error in sorted(errors, key=consequence):
                raise error

        def run_by_one() -> None:
            try:
                for _ in zip(*(work(k, barrier) for k in parts), strict=True):
                    pass
            finally:
                for device in self.devices:
                    device.synchronize()

        # Ctrl-C reaches the thread that waits here: it starts the others by a single call, and waits for all of them.
        started: list[Future[None]] = []
        self.interrupted = False
        try:
            with interrupts.deferred:
                started.append(pool.submit(run_by_one if one_thread else run_all))
            wait(started)
        except BaseException:
            self.interrupted = True
            raise
        finally:
            wait(started)
        started[0].result()


def consequence(error: BaseException) -> int:
    """Return the rank of an exception in one of several threads: those that follow from others come last."""
    return 2 if isinstance(error, threading.BrokenBarrierError) else int(isinstance(error, OutOfTime))
