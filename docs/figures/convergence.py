"""Convergence plots of the algorithms, from fits with their defaults."""

from __future__ import annotations

from typing import Any

import numpy as np

from skde import Minimizer, get_problem
from skde.curves import FLOOR, quartiles, values_at
from skde.typing import FloatArray

from .svg import COLOUR, draw_svg

PROBLEMS = ("rastrigin", "rosenbrock")
DIM = 10
RUNS = 15
MAX_EVALS = 100_000
POINTS = 100
LEAST = FLOOR  # smaller errors are drawn here


def error_quartiles(algorithm: str, problem: str, runs: int, max_evals: int) -> tuple[FloatArray, FloatArray]:
    """Return numbers of evaluations, and the three quartiles of the error that the runs had after so many."""
    m = Minimizer(algorithm, max_evals=max_evals, n_runs=runs, random_state=0, device="cpu").fit(problem, dim=DIM)
    histories = [run.history for run in m.runs_]
    grid = np.linspace(max(h.n_evals[0] for h in histories), max_evals, POINTS)
    f_opt = get_problem(problem, dim=DIM).f_opt
    errors = np.stack([values_at(h.n_evals, h.best - f_opt, grid) for h in histories])
    return grid, np.maximum(quartiles(errors), LEAST)


def plot(algorithm: str, runs: int | str = RUNS, max_evals: int | str = MAX_EVALS) -> bytes:
    """Return an SVG: the median error against evaluations, between its quartiles, on every problem."""
    runs, max_evals = int(runs), int(max_evals)

    def draw(figure: Any) -> None:
        for axes, problem in zip(figure.subplots(1, len(PROBLEMS)), PROBLEMS, strict=True):
            evals, (low, median, high) = error_quartiles(algorithm, problem, runs, max_evals)
            axes.fill_between(evals, low, high, color=COLOUR, alpha=0.25, linewidth=0)
            axes.plot(evals, median, color=COLOUR)
            axes.set(title=f"{problem}, D={DIM}", xlabel="evaluations", yscale="log", xlim=(0, max_evals))
            axes.set_ylim(LEAST / 3, None)
            axes.minorticks_off()
        figure.axes[0].set_ylabel("error")

    return draw_svg((8, 3), draw)
