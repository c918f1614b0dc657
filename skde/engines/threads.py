"""The number of threads of a call of the CPU's core."""

from __future__ import annotations

import os
import threading

import skde._cpu as _cpu

# With fewer components, the engine's share of a generation takes less than half a millisecond. Threads would gain
# little, and OpenMP's threads spin while they wait, which takes cores away from other processes.
COMPONENTS_WORTH_THREADS = 100_000

largest = 1  # size of the largest OpenMP team of this process, or of its parent before a fork
forked = False  # whether this process was forked after the start of such a team


def team_size(threads: int, n_runs: int, individuals: int, dim: int) -> int:
    """Return the number of threads that work on populations, as many as OpenMP may start.

    Parameters
    ----------
    threads : int
        The largest number of threads.
    n_runs, individuals, dim : int
        Numbers of populations, of rows of each, and of components of a row.
    """
    return limit_team(_cpu.team_size(threads, n_runs, individuals, dim))


def limit_team(threads: int) -> int:
    """Return the size of the OpenMP team that a call may start.

    OpenMP's threads do not survive a fork, and a call in the forked process would wait for them forever: it uses one
    thread. Results do not depend on it.

    Raises
    ------
    RuntimeError
        For more threads than the system allows; OpenMP would end the process.
    """
    global largest
    if threads <= 1 or forked:
        return 1
    if threads > largest:
        check_startable(threads)
        largest = threads
    return threads


def check_startable(threads: int) -> None:
    """Start the threads, and end them."""
    end = threading.Event()
    started: list[threading.Thread] = []
    try:
        for _ in range(threads - 1):
            thread = threading.Thread(target=end.wait, daemon=True)
            thread.start()
            started.append(thread)
    except RuntimeError as error:
        raise RuntimeError(
            f"{threads} threads were asked for, by n_jobs or OMP_NUM_THREADS, but the system gives this process only "
            f"{len(started) + 1} ({error}); set a smaller n_jobs"
        ) from error
    finally:
        end.set()
        for thread in started:
            thread.join()


def note_fork() -> None:
    """Record, in a forked process, whether OpenMP's threads were lost."""
    global forked
    forked = forked or largest > 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=note_fork)
