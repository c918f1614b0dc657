"""The searches of a fit without limits: independent restarts with budgets that grow, and then one long search."""

from __future__ import annotations

from skde.algorithms import Algorithm, get_algorithm
from skde.algorithms.auto import LEAST_INDIVIDUALS
from skde.algorithms.base import FitSetting

# Unlike searches: differential evolution with restarts, one that learns from successes, and a model of covariances.
IN_TURN = ("arrde", "jso", "cmaes")
FIRST_EVALS = 50  # of the first searches, for every variable
GROWTH = 2  # of the evaluations from one turn to the next
N_TURNS = 4
# The local search after a search has at most this part of its evaluations, and so many for every variable.
LOCAL_SHARE, MOST_LOCAL = 0.5, 400
# Searches agree whose ends are one point, measured in widths of the box, and whose values differ by at most this part
# of what the fit has gained.
CLOSE, EQUAL = 0.02, 1e-7
LEAST_AGREEING, LEAST_KINDS, LEAST_SHARE = 4, 2, 0.5


def list_restarts(dim: int) -> list[tuple[Algorithm, int]]:
    """Return the algorithms of the restarts, with the evaluations of a run for which each plans."""
    found = []
    for turn in range(N_TURNS):
        evals = FIRST_EVALS * GROWTH**turn * max(dim, 2)
        for name in IN_TURN:
            size = int(get_algorithm(name).kernel_parameters(FitSetting(dim, evals, None))["pop_size"])
            found.append((get_algorithm(name, pop_size=max(min(size, evals // LEAST_INDIVIDUALS), 4)), evals))
    return found


def local_evals(evals: int, dim: int) -> int:
    """Return the evaluations of the local search after a search with so many, at most."""
    return int(min(LOCAL_SHARE * evals, MOST_LOCAL * (dim + 1)))
