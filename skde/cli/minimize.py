"""The command `skde minimize`: finds the objective, fits, reports."""

from __future__ import annotations

import contextlib
import importlib
import json
import math
import os
import re
import sys
import traceback
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from skde import __version__
from skde.algorithms import Algorithm, describe, get_algorithm
from skde.engines import choose_engine
from skde.minimizer import Minimizer
from skde.objectives.device import DeviceObjective
from skde.plotting import ConvergenceDisplay
from skde.problems import MinMaxProblem, Problem, get_problem
from skde.problems.constraints import ConstrainedProblem
from skde.result import RunResult, best_run
from skde.typing import FloatArray
from skde.validation import check_choice, nearest

LABEL = 13  # the width of what stands before a report's lines


class InputError(ValueError):
    """What the user gave cannot be used; the message is all that is shown."""


def minimize(options: Any) -> int:
    """Minimise, and print what was found, also where it was interrupted or went wrong half-way."""
    if options.plot is not None:
        check_plot(options.plot)
    algorithm = get_algorithm(options.algorithm, **dict(options.set))
    objective = find_objective(options.objective, options.dim, options.scalar)
    if not isinstance(objective, Problem | ConstrainedProblem):
        check_box(options)
    device, reason = find_device(options.device, is_python(objective), options.n_jobs)
    minimizer = Minimizer(
        algorithm,
        max_iter=options.max_iter,
        max_evals=options.max_evals,
        max_time=options.max_time,
        target=options.target,
        tol=options.tol,
        n_runs=options.runs,
        device=device,
        dtype=options.dtype,
        vectorized=not options.scalar,
        n_jobs=options.n_jobs,
        verbose=int(sys.stderr.isatty() and not options.quiet and not options.json),
        random_state=options.seed,
    )

    def show() -> None:
        found = report(options.objective, objective, algorithm, device, reason, minimizer)
        print(to_json(found) if options.json else readable(found))
        if options.plot is not None:
            ConvergenceDisplay.from_estimator(minimizer, f_opt=f_opt_of(objective) or 0.0).figure_.savefig(options.plot)

    run_and_show(lambda: minimizer.fit(objective, dim=options.dim, bounds=options.bounds), show)
    return 0


def run_and_show(run: Callable[[], object], show: Callable[[], None]) -> None:
    """Run, and show what was found, also where that was interrupted or went wrong half-way.

    Parameters
    ----------
    run : callable
        The work.
    show : callable
        Prints what was found, then writes files; raises NotFittedError where nothing was found.
    """
    try:
        run()
    except (Exception, KeyboardInterrupt):
        with contextlib.suppress(NotFittedError):
            show()
        raise
    show()


class UserFunction:
    """The user's function; what it raises is told in one line that says where."""

    def __init__(self, name: str, function: Callable[[Any], Any], scalar: bool) -> None:
        self.name = name
        self.function = function
        self.scalar = scalar

    def __call__(self, X: Any) -> Any:
        """Return the function's values."""
        try:
            return self.function(X)
        except Exception as error:
            given = "a point, an array" if self.scalar else "an array of points; for a function of one point: --scalar"
            hint = f"; it was given {given}" if isinstance(error, TypeError | ValueError) else ""
            raise InputError(f"{self.name} raised {told(error)}{hint}") from error


def told(error: Exception) -> str:
    """Return an exception of the user's code in one line."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({place.filename}, line {place.lineno})"


def find_objective(text: str, dim: int | None, scalar: bool = False) -> Any:
    """Return the problem of that name, or import MODULE:FUNCTION, also from the current directory."""
    module_name, colon, path = text.partition(":")
    if not colon:
        problem = get_problem(text, dim=dim)
        if isinstance(problem, MinMaxProblem):
            raise InputError(
                f"{text!r} is a min-max problem: it has two sides, and only functions of one are minimised "
                f"(skde minmax {text})"
            )
        return problem
    if not (module_name and path):
        raise InputError(f"the objective must be a problem's name or MODULE:FUNCTION, got {text!r}")
    here = os.getcwd()
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found = importlib.import_module(module_name)
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and f"{module_name}.".startswith(f"{error.name}."):
            files = [file.stem for file in Path(here).glob("*.py")]
            raise InputError(
                f"there is no module {error.name!r} in {here} or among the installed packages"
                f"{nearest(error.name, files)}"
            ) from None
        raise InputError(f"importing {module_name!r} raised {told(error)}") from error
    for name in path.split("."):
        if not hasattr(found, name):
            raise InputError(f"{module_name!r} has no {name!r}{nearest(name, dir(found))}")
        found = getattr(found, name)
    if isinstance(found, Problem | ConstrainedProblem | DeviceObjective):
        return found
    if not callable(found):
        raise InputError(
            f"{text!r} must be a function, a Problem, a ConstrainedProblem or a DeviceObjective, got {found!r}"
        )
    return UserFunction(text, found, scalar)


def is_python(objective: Any) -> bool:
    """Whether an objective's functions are Python's."""
    return isinstance(objective, UserFunction) or (
        isinstance(objective, ConstrainedProblem) and objective.kernel is None
    )


def f_opt_of(objective: Any) -> float | None:
    """Return the known minimum; None where there is none."""
    return objective.f_opt if isinstance(objective, Problem | ConstrainedProblem) else None


def check_box(options: Any) -> None:
    """See to it that a function of the user's has a box, of known dimension."""
    if options.bounds is None:
        raise InputError(f'{options.objective!r} needs --bounds LOW HIGH with --dim, or --bounds "LOW,HIGH; LOW,HIGH"')
    if len(options.bounds) == 1 and options.dim is None:
        raise InputError("--bounds with one pair needs --dim, the number of variables")


def find_device(device: str, is_python: bool, n_jobs: int | None) -> tuple[str, str]:
    """Return the device's full name and why it was chosen."""
    if not re.fullmatch(r"cuda:\d+", device):
        check_choice("--device", device, ("auto", "cpu", "cuda", "cuda:0"))
    if device == "auto" and is_python:
        return "cpu", "a Python function may only know NumPy"
    engine, reason = choose_engine(device, n_jobs)
    return engine.name, reason


def check_plot(path: Path) -> None:
    """Say at once, not after the work, that a plot cannot be drawn or written."""
    if find_spec("matplotlib") is None:
        raise InputError("--plot needs matplotlib: pip install 'skde[plot]'")
    from matplotlib.backend_bases import FigureCanvasBase

    check_writable("--plot", path)
    if path.suffix:
        check_choice("--plot: the ending", path.suffix[1:].lower(), FigureCanvasBase.filetypes)


def check_writable(option: str, path: Path) -> None:
    """Say at once, not after the work, that a file cannot be written."""
    folder, target = path.absolute().parent, Path(os.path.realpath(path))
    if not folder.is_dir():
        raise InputError(f"{option}: there is no directory {str(path.parent)!r}")
    if target.is_dir():
        raise InputError(f"{option}: {str(path)!r} is a directory; give a file's name")
    if target.exists() and not target.is_file():
        raise InputError(f"{option}: {str(path)!r} is no regular file")
    if not (os.access(target.parent, os.W_OK) and (os.access(target, os.W_OK) or not target.exists())):
        raise InputError(f"{option}: {str(path)!r} may not be written")


def report(
    name: str, objective: Any, algorithm: Algorithm, device: str, reason: str, minimizer: Minimizer
) -> dict[str, Any]:
    """Return all that is known of a fit."""
    runs = minimizer.runs_
    best = runs[best_run(runs)]
    f_opt = f_opt_of(objective)
    return {
        "skde": __version__,
        "objective": name,
        "problem": objective.name if isinstance(objective, Problem | ConstrainedProblem) else None,
        "dim": len(best.x),
        "algorithm": describe(algorithm),
        "device": device,
        "device_reason": reason,
        "dtype": minimizer.dtype,
        "seed": minimizer.random_state,
        "x": best.x,
        "f_opt": f_opt,
        "error": None if f_opt is None else best.fun - f_opt,
        "constrained": isinstance(objective, ConstrainedProblem),
        **outcome(runs, best),
    }


def outcome(runs: list[RunResult], best: RunResult) -> dict[str, Any]:
    """Return what is known of runs whatever they solved: the best one's values, and every one's."""
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
        "summary": summary(funs),
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


def summary(funs: FloatArray) -> dict[str, Any]:
    """Return statistics of the values of those runs that found a feasible point."""
    if len(funs) == 0:
        return {}
    return {
        "mean": funs.mean(),
        "median": np.median(funs),
        "best": funs.min(),
        "worst": funs.max(),
        "std": funs.std(ddof=1) if len(funs) > 1 else 0.0,
    }


def readable(found: dict[str, Any]) -> str:
    """Return a fit's report for people."""
    other_name = f" ({found['problem']})" if found["problem"] not in (None, found["objective"]) else ""
    lines = [
        ("objective", f"{found['objective']}{other_name}, {found['dim']} variables"),
        ("algorithm", str(get_algorithm(found["algorithm"]["name"], **found["algorithm"]["parameters"]))),
        ("device", f"{found['device']} ({found['device_reason']})"),
        ("best value", f"{found['fun']:.10g}"),
    ]
    if found["error"] is not None:
        lines.append(("error", f"{found['error']:.3g} above the known minimum {found['f_opt']:g}"))
    if found["constrained"]:
        lines.append(("violation", f"{found['max_violation']:.3g} at most, of one constraint"))
    lines += ending(found, found["constrained"])
    lines.append(("x", vector(found["x"])))
    return aligned(lines)


def ending(found: dict[str, Any], constrained: bool, evaluations: str = "evaluations") -> list[tuple[str, str]]:
    """Return what is said of all runs, of the work done, and of why it ended."""
    lines = []
    if len(found["runs"]) > 1:
        values = [f"{name} {value:.6g}" for name, value in found["summary"].items()]
        feasible = [f"{found['feasible']} feasible"] if constrained else []
        lines.append((f"{len(found['runs'])} runs", ", ".join(feasible + values)))
    rate = found["evals_per_second"]
    speed = f", {rate:,.0f} a second" if rate else ""
    lines.append((evaluations, f"{found['n_evals']:,} in {found['seconds']:.3g} s{speed}"))
    lines.append(("ended", found["message"]))
    return lines


def vector(x: FloatArray) -> str:
    """Return a point's components, of many the first and last."""
    return np.array2string(x, precision=6, threshold=12, prefix=" " * LABEL)


def aligned(lines: list[tuple[str, str]]) -> str:
    """Return labels and what stands beside them."""
    return "\n".join(f"{label:<{LABEL}}{text}" for label, text in lines)


def to_json(value: Any) -> str:
    """Return JSON; what is not finite is null, as JSON has no word for it."""
    return json.dumps(plain(value), allow_nan=False)


def plain(value: Any) -> Any:
    """Return the value in JSON's types."""
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


# -- the other commands ------------------------------------------------------------------------------------------------
