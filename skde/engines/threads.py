"""How many threads a call of the CPU's core starts, and whether it may."""

from __future__ import annotations

import os
import threading

# In cpu_isa.cpp: from so many components on, threads share the individuals of one population.
COMPONENTS_WORTH_SHARING = 10_000
# A generation around a Python function takes less than half a millisecond below this. Threads would gain little there,
# and OpenMP's wait for their next turn without sleeping, so they take the cores away from other processes.
COMPONENTS_WORTH_THREADS = 100_000

largest = 1  # threads of the largest OpenMP team of this process, or of the one that it was forked from
forked = False  # whether this process was forked after there was such a team


def team_size(threads: int, n_runs: int, individuals: int, dim: int) -> int:
    """Return how many threads work on populations, as `for_each_run` in cpu_isa.cpp has it.

    Parameters
    ----------
    threads : int
        Threads that are allowed.
    n_runs, individuals, dim : int
        Populations, rows of each, components of a row.
    """
    shared = threads > n_runs and individuals * dim >= COMPONENTS_WORTH_SHARING
    return allowed_team(min(threads, individuals if shared else n_runs))


def allowed_team(threads: int) -> int:
    """Return the size of the OpenMP team that a call may start.

    OpenMP's threads do not live on in a forked process, where a call would wait for them for ever: one thread then has
    to do. Results do not depend on it.

    Raises
    ------
    RuntimeError
        For more threads than the system gives; OpenMP would end the process.
    """
    global largest
    if threads <= 1 or forked:
        return 1
    if threads > largest:
        check_startable(threads)
        largest = threads
    return threads


def check_startable(threads: int) -> None:
    """Start so many threads, and let them end."""
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
    """Remember, in a forked process, whether OpenMP's threads were lost."""
    global forked
    forked = forked or largest > 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=note_fork)
