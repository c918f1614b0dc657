"""Seeds of runs and islands."""

from __future__ import annotations

from typing import Any

import numpy as np

from skde.utils.validation import check_int


def first_seed(random_state: Any) -> int:
    """Return the seed of the first run: random_state itself when that is an int.

    None, and the module `numpy.random`, draw it from NumPy's global state, which `numpy.random.seed` sets.
    """
    if random_state is None or random_state is np.random:
        return int(np.random.randint(2**31 - 1))  # noqa: NPY002 (the global state, as users seed it)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        return check_int("random_state", random_state, 0, 2**64 - 1)
    raise TypeError(
        "random_state must be None, an integer >= 0, a RandomState or a Generator, "
        f"got {random_state!r} ({type(random_state).__name__})"
    )


def run_seeds(random_state: Any, n_runs: int) -> Any:
    """Return the runs' seeds, uint64 of shape (n_runs,): `first_seed`, and SplitMix64's words after it.

    Any run can be repeated alone from the seed in its result.
    """
    return after(np.array([first_seed(random_state)], np.uint64), n_runs, 0x9E3779B97F4A7C15)


def island_seeds(seeds: Any, n_islands: int) -> Any:
    """Return the seeds of all islands, run by run; the first island has the seed of its run."""
    return after(seeds, n_islands, 0xD1B54A32D192ED03)


def restart_seeds(seeds: Any, place: int) -> Any:
    """Return the seeds of the same populations in another search; at place 0, the first search, they are `seeds`."""
    return seeds.copy() if place == 0 else split_mix(seeds + np.uint64(place * 0x8CB92BA72F3D8DD7 % 2**64))


def after(first: Any, count: int, step: int) -> Any:
    """Return every seed and SplitMix64's output of the count - 1 words that follow it in these steps."""
    if count == 1:
        return first.copy()
    words = first[:, None] + np.arange(count, dtype=np.uint64) * np.uint64(step)
    words[:, 1:] = split_mix(words[:, 1:])
    return words.ravel()


def split_mix(z: Any) -> Any:
    """Return SplitMix64's finaliser of an array of 64-bit words."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
