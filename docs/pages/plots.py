"""Convergence plots of the algorithms. The same sources give the same bytes."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from skde import Minimizer, get_problem
from skde.curves import FLOOR, quartiles, values_at
from skde.typing import FloatArray

PROBLEMS = ("rastrigin", "rosenbrock")
DIM = 10
RUNS = 15
MAX_EVALS = 100_000
POINTS = 100
LEAST = FLOOR  # smaller errors are drawn here
COLOUR = "#1f5fa8"


def error_quartiles(algorithm: str, problem: str, runs: int, max_evals: int) -> tuple[FloatArray, FloatArray]:
    """Return numbers of evaluations, and the three quartiles of the error that the runs had after so many."""
    m = Minimizer(algorithm, max_evals=max_evals, n_runs=runs, random_state=0, device="cpu").fit(problem, dim=DIM)
    histories = [run.history for run in m.runs_]
    grid = np.linspace(max(h.n_evals[0] for h in histories), max_evals, POINTS)
    f_opt = get_problem(problem, dim=DIM).f_opt
    errors = np.stack([values_at(h.n_evals, h.best - f_opt, grid) for h in histories])
    return grid, np.maximum(quartiles(errors), LEAST)


def drawn(size: tuple[float, float], draw: Callable[[Any], None]) -> bytes:
    """Return an SVG of a size in inches, with what `draw` adds to the figure."""
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    style: Any = {"svg.hashsalt": "skde", "svg.fonttype": "none", "font.size": 9, "axes.grid": True, "grid.alpha": 0.3}
    with matplotlib.rc_context({**matplotlib.rcParamsDefault, **style, "backend": "svg"}):
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasSVG(figure)
        draw(figure)
        out = io.BytesIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    # Two decimals of a point are enough, and some lines end with blanks.
    text = re.sub(rb"(\.\d\d)\d+", rb"\1", out.getvalue())
    return b"\n".join(line.rstrip() for line in text.splitlines()) + b"\n"


def convergence(algorithm: str, runs: int = RUNS, max_evals: int = MAX_EVALS) -> bytes:
    """Return an SVG: the median error against evaluations, between its quartiles, on every problem."""

    def draw(figure: Any) -> None:
        for axes, problem in zip(figure.subplots(1, len(PROBLEMS)), PROBLEMS, strict=True):
            evals, (low, median, high) = error_quartiles(algorithm, problem, runs, max_evals)
            axes.fill_between(evals, low, high, color=COLOUR, alpha=0.25, linewidth=0)
            axes.plot(evals, median, color=COLOUR)
            axes.set(title=f"{problem}, D={DIM}", xlabel="evaluations", yscale="log", xlim=(0, max_evals))
            axes.set_ylim(LEAST / 3, None)
            axes.minorticks_off()
        figure.axes[0].set_ylabel("error")

    return drawn((8, 3), draw)
