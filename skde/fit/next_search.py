"""The step from a search of all runs to the next one."""

from __future__ import annotations

import numpy as np

from skde.engines import Spec
from skde.fit.earlier_search import EarlierSearch
from skde.fit.ledger import Ledger
from skde.fit.runner import Runner
from skde.stopping import LIMIT, Status
from skde.typing import IntArray


def evals_at_limit(runner: Runner) -> int | None:
    """Return the trials of a run that has used those of its search; None where there is no such run.

    There is none, either, where the host ended the search: by time, by a callback or by Ctrl-C.
    """
    if runner.ending != Status.RUNNING or not runner.done:
        return None
    trials = n_trials(runner)
    return max((int(trials[k]) for k, run in enumerate(runner.results()) if run.status == LIMIT), default=None)


def n_trials(runner: Runner) -> IntArray:
    """Return the trials of every run: evaluations, and points of a discrete space that had been evaluated before."""
    trials: IntArray = np.array([run.n_evals for run in runner.results()])
    return trials if runner.known is None else trials + runner.known.repeated


def limits_after(earlier_n_iter: IntArray, limits: IntArray, max_iter: int | None) -> IntArray:
    """Return the last generations of a search: max_iter counts those of the earlier one, of every run, too."""
    if max_iter is None:
        return limits
    left = np.maximum(max_iter - earlier_n_iter - 1, 0)
    fewer: IntArray = np.minimum(limits, np.repeat(left, len(limits) // len(left)))
    return fewer


def next_search(runner: Runner, spec: Spec) -> Runner:
    """Return a runner on the same engine, of which the runs continue those that have used their evaluations.

    Parameters
    ----------
    runner : Runner
        The search that has ended.
    spec : Spec
        The next one, with the same seeds.
    """
    earlier = results_of(runner)
    following = Runner(runner.engine, spec, Ledger(len(earlier.status), runner.ledger.timer.following(), earlier))
    following.rules = runner.rules
    following.leave_ended(earlier)
    following.known, following.remembers = runner.known, runner.remembers
    if following.known is not None:
        following.known.follow()
    return following


def results_of(runner: Runner) -> EarlierSearch:
    """Return the results of all runs so far, with the populations of those that ended for good."""
    results = runner.results()
    points, codes = runner.best_points()
    status = np.array([int(run.status) for run in results])
    ended = np.flatnonzero(status != LIMIT).tolist()
    x, f = zip(*(runner.population(run) for run in ended or [0]), strict=True)
    return EarlierSearch(
        points=points.astype(np.float64),
        codes=codes,
        n_evals=np.array([run.n_evals for run in results]),
        n_trials=n_trials(runner),
        n_iter=np.array([run.n_iter for run in results]),
        seconds=np.array([run.time for run in results]),
        status=status,
        histories=[run.history for run in results],
        x=np.stack(x)[: len(ended)],
        f=np.stack(f)[: len(ended)],
    )
