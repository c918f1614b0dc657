"""Fits without limits, beside SciPy's differential_evolution: what they find, what they know, and what they cost."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from functions import Function, list_functions
from scipy.optimize import differential_evolution

from skde import minimize

CLOSE = 1e-4  # of the least value, absolute or relative: it counts as found


def fit_skde(function: Function, seed: int) -> dict[str, Any]:
    """Return the outcome of a fit with all defaults."""
    result = minimize(function.values, function.bounds, vectorized=True, n_jobs=1, random_state=seed, device="cpu")
    return {"fun": result.fun, "success": bool(result.success), "evals": int(result.nfev)}


def fit_scipy(function: Function, seed: int) -> dict[str, Any]:
    """Return the outcome of SciPy's differential evolution with its defaults; its calls have many points."""
    count = 0

    def values(X: Any) -> Any:
        nonlocal count
        count += X.shape[1] if X.ndim == 2 else 1
        return function.values(X.T)

    result = differential_evolution(values, function.bounds, rng=seed, vectorized=True, updating="deferred")
    return {"fun": float(result.fun), "success": bool(result.success), "evals": count}


SOLVERS = {"skde": fit_skde, "scipy": fit_scipy}


def main() -> None:
    """Print a line for every function, and write all outcomes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    outcomes: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for name, function in list_functions().items():
        outcomes[name] = {solver: [fit(function, k) for k in range(given.seeds)] for solver, fit in SOLVERS.items()}
        for runs in outcomes[name].values():
            for run in runs:
                run["found"] = bool(run["fun"] <= function.least + CLOSE * max(1.0, abs(function.least)))
        parts = (f"{solver}: {summary(runs)}" for solver, runs in outcomes[name].items())
        print(f"{name:20s} {'   '.join(parts)}", flush=True)
    for solver in SOLVERS:
        runs = [run for found in outcomes.values() for run in found[solver]]
        middle = np.median([np.median([run["evals"] for run in found[solver]]) for found in outcomes.values()])
        print(f"{solver}: {summary(runs)}, {middle:.0f} in the median over functions")
    if given.out is not None:
        given.out.write_text(json.dumps(outcomes, indent=1))


def summary(runs: list[dict[str, Any]]) -> str:
    """Return how many runs found the least value, said so, and said so wrongly, with the median of evaluations."""
    found, said = sum(run["found"] for run in runs), sum(run["success"] for run in runs)
    wrong = sum(run["success"] and not run["found"] for run in runs)
    return f"{found} of {len(runs)} found, {said} success, {wrong} wrong, {np.median([r['evals'] for r in runs]):.0f}"


if __name__ == "__main__":
    main()
