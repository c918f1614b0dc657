"""Output of the commands: reports of fits, aligned lines and JSON."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from skde.base import BaseSolver
from skde.result import RunResult
from skde.typing import FloatArray
from skde.utils.serialization import json_view

LABEL_WIDTH = 13


def run_and_show(run: Callable[[], object], show: Callable[[], None], found: Callable[[], bool] = lambda: True) -> None:
    """Run and show the result; after an interruption or an error, show the result so far, where there is one.

    Parameters
    ----------
    run : callable
        The work.
    show : callable
        Prints the result, then writes files.
    found : callable
        Whether there is a result after an error; raises NotFittedError, or `show` does, where nothing was evaluated.
    """
    try:
        run()
    except (Exception, KeyboardInterrupt):
        with contextlib.suppress(NotFittedError):
            if found():
                show()
        raise
    show()


def has_value(solver: BaseSolver) -> bool:
    """Return whether a fit has found a point with a finite value, or with a finite violation of the constraints."""
    return any(np.isfinite(run.fun if run.feasible else run.violation) for run in solver.runs_)


def outcome(runs: list[RunResult], best: RunResult) -> dict[str, Any]:
    """Return the part of a report that minimize and minmax have in common."""
    funs = np.array([run.fun for run in runs if run.feasible])
    seconds = max(run.time for run in runs)
    n_evals = sum(run.n_evals for run in runs)
    return {
        "fun": best.fun,
        "max_violation": best.max_violation,
        "n_evals": n_evals,
        "n_iter": best.n_iter,
        "seconds": seconds,
        "evals_per_second": n_evals / seconds if seconds > 0 else None,
        "status": best.status.name,
        "message": best.message,
        "success": best.success,
        "feasible": len(funs),
        "summary": summarize_runs(funs),
        "runs": [
            {
                "fun": run.fun,
                "max_violation": run.max_violation,
                "x": run.x,
                "n_evals": run.n_evals,
                "n_iter": run.n_iter,
                "seconds": run.time,
                "status": run.status.name,
                "message": run.message,
                "seed": run.seed,
                "history": {
                    "n_evals": run.history.n_evals,
                    "seconds": run.history.seconds,
                    "best": run.history.best,
                },
            }
            for run in runs
        ],
    }


def summarize_runs(funs: FloatArray) -> dict[str, Any]:
    """Return statistics of the values of the feasible runs."""
    if len(funs) == 0:
        return {}
    return {
        "mean": funs.mean(),
        "median": np.median(funs),
        "best": funs.min(),
        "worst": funs.max(),
        "std": funs.std(ddof=1) if len(funs) > 1 else 0.0,
    }


def ending(result: dict[str, Any], constrained: bool, evaluations: str = "evaluations") -> list[tuple[str, str]]:
    """Return the lines on all runs, on the evaluations, and on the reason of the end."""
    lines = []
    if len(result["runs"]) > 1:
        values = [f"{name} {value:.6g}" for name, value in result["summary"].items()]
        feasible = [f"{result['feasible']} feasible"] if constrained else []
        lines.append((f"{len(result['runs'])} runs", ", ".join(feasible + values)))
    rate = result["evals_per_second"]
    speed = f", {rate:,.0f} a second" if rate else ""
    lines.append((evaluations, f"{result['n_evals']:,} in {result['seconds']:.3g} s{speed}"))
    lines.append(("ended", result["message"]))
    return lines


def vector(x: FloatArray) -> str:
    """Return the components of a point; of a long one the first and last."""
    return np.array2string(x, precision=6, threshold=12, prefix=" " * LABEL_WIDTH)


def align_lines(lines: list[tuple[str, str]]) -> str:
    """Return lines of labels and texts, aligned."""
    return "\n".join(f"{label:<{LABEL_WIDTH}}{text}" for label, text in lines)


def format_json(value: Any) -> str:
    """Return JSON; numbers that are not finite become null."""
    return json.dumps(json_view(value, finite=True), allow_nan=False)
