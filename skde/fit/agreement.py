"""Whether independent searches have ended at the same point."""

from __future__ import annotations

from typing import Any

import numpy as np

from skde.algorithms.restarts import CLOSE, EQUAL, LEAST_AGREEING, LEAST_KINDS, LEAST_SHARE
from skde.typing import FloatArray


def count_agreeing(u: FloatArray, values: FloatArray, gains: FloatArray, kinds: list[str], n_restarts: int) -> Any:
    """Return how many searches of every run have ended at its best point; 0 where these are too few.

    They are enough where there are four, and not of one algorithm alone. Of restarts they must also be half of all,
    and a search after these must be one of them.

    Parameters
    ----------
    u : ndarray of shape (n_searches, n_runs, dim)
        The ends of all searches, in widths of the box.
    values : ndarray of shape (n_searches, n_runs)
        Their values.
    gains : ndarray of shape (n_runs,)
        By how much every run has improved its first best value.
    kinds : list of str
        The algorithms of the searches.
    n_restarts : int
        The first searches with small budgets.
    """
    n_searches, n_runs = values.shape
    counts = np.zeros(n_runs, np.int64)
    for run in range(n_runs):
        own = values[:, run]
        if not (np.isfinite(own).any() and 0 < gains[run] < np.inf):
            continue
        best = int(np.nanargmin(own))
        equal = own - own[best] <= EQUAL * gains[run]
        near = equal & (np.abs(u[:, run] - u[best, run]).max(axis=1) <= CLOSE)
        long = n_searches > n_restarts
        enough = near[-1] if long else near.sum() >= LEAST_SHARE * n_searches
        if enough and near.sum() >= LEAST_AGREEING and len({kinds[k] for k in np.flatnonzero(near)}) >= LEAST_KINDS:
            counts[run] = near.sum()
    return counts
