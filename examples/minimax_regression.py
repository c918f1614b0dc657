"""Fit a linear model to real data with the smallest largest residual, also with bounded errors of the features.

Least squares minimises the mean squared residual; here it is the largest residual. This is a min-max problem: x are the
coefficients of the model, y is the number of a sample and the errors of its features, within a box:

    min over w, max over i and |d| <= eps, of |t_i - w_0 - (s_i + d) w|

Both cases are linear programs too (the worst d adds eps times the sum of |w|), so there is an exact solution to compare
with. The data are scikit-learn's diabetes, of 442 patients and ten features, scaled to variance 1.

    python minimax_regression.py --eps 0.2 --plot residuals.png
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import linprog
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import StandardScaler

from skde import JDE, MinMaxSolver


def load() -> tuple[np.ndarray, np.ndarray]:
    """Return the samples, scaled, and their targets, in the order of least squares' residuals.

    The order does not change the model, but it helps the opponent: neighbours have similar residuals.
    """
    samples, targets = load_diabetes(return_X_y=True)
    samples = StandardScaler().fit_transform(samples)
    order = np.argsort(residuals(samples, targets, least_squares(samples, targets)))
    return samples[order], targets[order]


def with_ones(samples: np.ndarray) -> np.ndarray:
    """Return the samples with a leading 1, for the constant."""
    return np.column_stack([np.ones(len(samples)), samples])


def residuals(samples: np.ndarray, targets: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Return the residuals of the model with coefficients w, the constant first."""
    return targets - with_ones(samples) @ w


def worst(samples: np.ndarray, targets: np.ndarray, w: np.ndarray, eps: float) -> float:
    """Return the largest absolute residual over all samples and all errors of the features up to eps."""
    return float(np.abs(residuals(samples, targets, w)).max() + eps * np.abs(w[1:]).sum())


def least_squares(samples: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return the coefficients of ordinary least squares."""
    return np.linalg.lstsq(with_ones(samples), targets, rcond=None)[0]


def exact(samples: np.ndarray, targets: np.ndarray, eps: float) -> np.ndarray:
    """Return the best coefficients, by linear programming: over w, u >= |w| and the largest residual."""
    n, d = samples.shape
    A, one, none, eye = with_ones(samples), np.ones((n, 1)), np.zeros((d, 1)), np.eye(d)
    cost = np.full((n, d), eps)
    rows = [[-A, cost, -one], [A, cost, -one], [none, eye, -eye, none], [none, -eye, -eye, none]]
    limits = np.concatenate([-targets, targets, np.zeros(2 * d)])
    found = linprog(
        np.eye(2 * d + 2)[-1], A_ub=np.vstack([np.hstack(row) for row in rows]), b_ub=limits, bounds=(None, None)
    )
    return found.x[: d + 1]


def make_game(
    samples: np.ndarray, targets: np.ndarray, basis: np.ndarray
) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Return f(X, Y): a row of X is coefficients in a basis, of Y a sample's number and errors of its features."""

    def game(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        number = np.minimum(Y[:, 0].astype(int), len(samples) - 1)
        measured = samples[number] + (Y[:, 1:] if Y.shape[1] > 1 else 0.0)
        return np.abs(targets[number] - X @ basis.T @ with_ones(measured).T)

    return game


def minimax(samples: np.ndarray, targets: np.ndarray, eps: float, n_cycles: int, random_state: int) -> np.ndarray:
    """Return the coefficients of the best of four runs of a MinMaxSolver."""
    # With correlated features the valley of the objective is narrow; orthogonal columns make it round.
    triangle = np.linalg.qr(with_ones(samples))[1] / np.sqrt(len(samples))
    basis = np.linalg.inv(triangle)
    start = triangle @ least_squares(samples, targets)
    # A change of one coefficient by this size doubles the mean square.
    size = np.sqrt(np.mean(residuals(samples, targets, basis @ start) ** 2))
    errors = [(-eps, eps)] * samples.shape[1] if eps > 0 else []
    # At the optimum about twelve samples have the largest residual, and a solution that misses one is bad. So the
    # archive is large, half of a large population is renewed in every cycle, and all samples decide which of four runs
    # is best.
    solver = MinMaxSolver(
        JDE(pop_size=50),
        JDE(pop_size=200),
        n_cycles=n_cycles,
        gens_x=40,
        gens_y=10,
        archive_size=60,
        renewal=0.5,
        n_runs=4,
        random_state=random_state,
    )
    solver.fit(
        make_game(samples, targets, basis),
        bounds_x=[(value - size, value + size) for value in start],
        bounds_y=[(0, len(samples)), *errors],
    )
    solutions = [basis @ run.x[: len(basis)] for run in solver.runs_]
    return min(solutions, key=lambda w: worst(samples, targets, w, eps))


def main(
    eps: float = 0.2, n_cycles: int = 150, random_state: int = 0, plot: str | None = None
) -> dict[str, dict[str, float]]:
    """Return, for every fit, the worst case with and without errors of the features, and the mean squared residual."""
    samples, targets = load()
    fits = {
        "least squares": least_squares(samples, targets),
        "minimax": minimax(samples, targets, 0.0, n_cycles, random_state),
        "minimax, exact": exact(samples, targets, 0.0),
        "robust": minimax(samples, targets, eps, n_cycles, random_state),
        "robust, exact": exact(samples, targets, eps),
    }
    if plot:
        draw({name: residuals(samples, targets, w) for name, w in fits.items()}, plot)
    return {
        name: {
            "worst": worst(samples, targets, w, 0.0),
            "worst with errors": worst(samples, targets, w, eps),
            "mean square": float(np.mean(residuals(samples, targets, w) ** 2)),
        }
        for name, w in fits.items()
    }


def draw(found: dict[str, Any], file: str) -> None:
    """Draw the sorted absolute residuals of every fit."""
    from matplotlib.figure import Figure

    figure = Figure(layout="constrained")
    axes = figure.subplots()
    for name, values in found.items():
        axes.plot(np.sort(np.abs(values)), "--" if "exact" in name else "-", label=name)
    axes.set(xlabel="samples, sorted", ylabel="absolute residual")
    axes.legend()
    figure.savefig(file)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--eps", type=float, default=0.2, help="largest error of a feature (0.2)")
    parser.add_argument("--n-cycles", type=int, default=150, help="cycles of the solver (150)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plot", metavar="FILE", help="file for a plot of the residuals")
    arguments = parser.parse_args()
    print(f"{'':<16}{'worst':>10}{'with errors':>14}{'mean square':>14}")
    for name, row in main(arguments.eps, arguments.n_cycles, arguments.seed, arguments.plot).items():
        print(f"{name:<16}{row['worst']:>10.3f}{row['worst with errors']:>14.3f}{row['mean square']:>14.1f}")
