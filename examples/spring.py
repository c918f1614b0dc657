"""Design the lightest spring within its limits, by multipliers and by feasibility rules.

`fabris2012/p6`: the weight (N + 2) D d^2 of a coil spring of wire diameter d, coil diameter D and N coils, under four
constraints on its deflection, its shear stress, its frequency and its outer diameter. MinMaxSolver solves the min-max
problem of the augmented Lagrangian; Minimizer uses feasibility rules. Both have the same number of evaluations.

    python spring.py --plot spring.png
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from skde import JDE, Minimizer, MinMaxSolver, get_problem

SPRING = get_problem("fabris2012/p6")
CONSTRAINTS = ("deflection", "shear stress", "frequency", "outer diameter")


def solve(max_evals: int, n_runs: int, random_state: int) -> dict[str, Minimizer | MinMaxSolver]:
    """Return both solvers, fitted with equal populations and evaluations a run."""
    options = {"max_evals": max_evals, "n_runs": n_runs, "random_state": random_state, "device": "cpu"}
    return {
        "multipliers": MinMaxSolver(JDE(pop_size=50), **options).fit(SPRING),
        "feasibility rules": Minimizer(JDE(pop_size=50), **options).fit(SPRING),
    }


def main(
    max_evals: int = 40_000, n_runs: int = 20, random_state: int = 0, plot: str | None = None
) -> dict[str, dict[str, Any]]:
    """Return the results of both solvers."""
    solvers = solve(max_evals, n_runs, random_state)
    if plot:
        draw(solvers, plot)
    found = {}
    for name, solver in solvers.items():
        weights = [run.fun for run in solver.runs_ if run.feasible]
        found[name] = {
            "x": solver.x_,
            "weight": solver.fun_,
            "median": float(np.median(weights)),
            "feasible runs": len(weights),
            "violation": solver.max_violation_,
            "seconds": solver.time_,
        }
    found["multipliers"]["multipliers"] = solvers["multipliers"].multipliers_
    return found


def slice_at(coils: float, points: int = 300) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return wire diameters, coil diameters, and the values f, g of all pairs, of shape (points, points, 5)."""
    wires, diameters = np.linspace(0.05, 0.075, points), np.linspace(0.25, 0.9, points)
    wire, diameter = (grid.ravel() for grid in np.meshgrid(wires, diameters))
    values = SPRING.values(np.stack([wire, diameter, np.full(wire.shape, coils)], axis=1))
    return wires, diameters, values.reshape(points, points, -1)


def draw(solvers: dict[str, Minimizer | MinMaxSolver], file: str) -> None:
    """Draw the feasible region around the best spring, and the convergence of the runs."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), layout="constrained")
    region, convergence = figure.subplots(1, 2)
    best = solvers["multipliers"].x_
    wires, diameters, values = slice_at(best[2])
    region.contourf(wires, diameters, (values[..., 1:] <= 0).all(axis=2), levels=[0.5, 1.5], colors=["0.85"])
    region.contour(wires, diameters, values[..., 0], levels=12, linewidths=0.5)
    for k, name in enumerate(CONSTRAINTS, 1):
        region.contour(wires, diameters, values[..., k], levels=[0], colors=f"C{k}")
        region.plot([], [], color=f"C{k}", label=name)
    region.plot(*best[:2], "k*", markersize=10, label="the best spring")
    region.set(xlabel="wire diameter", ylabel="coil diameter", title=f"feasible with {best[2]:.2f} coils")
    region.legend(loc="upper left", fontsize="small")
    for k, (name, solver) in enumerate(solvers.items()):
        for r, run in enumerate(solver.runs_):
            # The tolerance of the constraints allows values below the minimum.
            error = np.maximum(run.history.best / SPRING.f_opt - 1, 1e-6)
            convergence.plot(run.history.n_evals, error, f"C{k}", linewidth=0.6, label=None if r else name)
    convergence.set(xlabel="evaluations", ylabel="weight above the minimum's, relative", yscale="log")
    convergence.legend()
    figure.savefig(file)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--max-evals", type=int, default=40_000, help="evaluations of a run (40000)")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plot", metavar="FILE", help="file for a plot of the feasible region and the convergence")
    arguments = parser.parse_args()
    print(f"{'':<20}{'best':>12}{'median':>12}{'feasible':>10}{'violation':>11}{'seconds':>9}")
    found = main(arguments.max_evals, arguments.runs, arguments.seed, arguments.plot)
    for name, row in found.items():
        print(
            f"{name:<20}{row['weight']:>12.8f}{row['median']:>12.8f}{row['feasible runs']:>10}{row['violation']:>11.1e}"
            f"{row['seconds']:>9.3f}"
        )
    for name, value in zip(CONSTRAINTS, found["multipliers"]["multipliers"], strict=True):
        print(f"what the {name} costs: {value:.6f}")
