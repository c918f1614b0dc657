"""The runs of minionpy's RDEX that end outside the box, on functions of CEC 2017: `python points_outside.py 27 30`.

Its perturbations may lead out of the box, where it evaluates them. On some compositions the values there are lower than
all inside.
"""

from __future__ import annotations

import argparse

import minionpy
import numpy as np


def ends(function: int, dim: int, runs: int) -> list[tuple[float, float]]:
    """Return the error and the largest component of the last point of each run."""
    f = minionpy.CEC2017Functions(function, dim)
    found = []
    for seed in range(1, runs + 1):
        run = minionpy.Minimizer(
            lambda X, _=None: f(X),
            [(-100, 100)] * dim,
            algo="RDEX",
            maxevals=10_000 * dim,
            seed=seed,
            options={"x_tol": -1.0, "f_tol": -1.0},
        ).optimize()
        found.append((run.fun - 100 * function, float(np.abs(run.x).max())))
    return found


def main() -> None:
    """Print a line for each function."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("functions", nargs="+", type=int)
    parser.add_argument("--dim", type=int, default=10)
    parser.add_argument("--runs", type=int, default=20)
    options = parser.parse_args()
    for function in options.functions:
        found = ends(function, options.dim, options.runs)
        outside = sorted(error for error, most in found if most > 100)
        inside = sorted(error for error, most in found if most <= 100)
        print(f"f{function}: {len(outside)} of {options.runs} end outside the box", flush=True)
        for name, errors in (("outside", outside), ("inside", inside)):
            if errors:
                print(f"  errors {name}: from {errors[0]:.6g} to {errors[-1]:.6g}")


if __name__ == "__main__":
    main()
