"""
Regression with the smallest largest residual
=============================================

Least squares minimises the mean squared residual; here it is the largest residual, also where the features have bounded
errors. This is a min-max problem: x are the coefficients of the model, y is the number of a sample and the errors of
its features, within a box:

.. math::

    \\min_w \\; \\max_{i, \\; |d| \\le \\varepsilon} \\; |t_i - w_0 - (s_i + d)^T w|

Both cases are linear programs too (the worst d adds :math:`\\varepsilon \\sum |w|`), so that there is an exact solution
to compare with. The data are scikit-learn's diabetes, of 442 patients and ten features, scaled to variance 1.
"""

from collections.abc import Callable
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linprog
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import StandardScaler

from skde import JDE, MinMaxSolver, array_namespace, find_gpus
from skde.typing import Array, FloatArray

EPS = 0.2  # largest error of a feature
DEVICE = "cuda" if find_gpus()[0] else "cpu"  # Python functions run on the CPU unless a GPU is named

samples, targets = load_diabetes(return_X_y=True)
samples = StandardScaler().fit_transform(samples)


def with_ones(samples: Array) -> Array:
    """Return the samples with a leading 1, for the constant."""
    xp = array_namespace(samples)
    return xp.concatenate([xp.ones((len(samples), 1)), samples], axis=1)


def residuals(w: FloatArray) -> FloatArray:
    """Return the residuals of the model with coefficients w, the constant first."""
    return targets - with_ones(samples) @ w


def worst(w: FloatArray, eps: float) -> float:
    """Return the largest absolute residual over all samples and all errors of the features up to eps."""
    return float(np.abs(residuals(w)).max() + eps * np.abs(w[1:]).sum())


def exact(eps: float) -> FloatArray:
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


least_squares = np.linalg.lstsq(with_ones(samples), targets, rcond=None)[0]

# %%
# Sorted by the residuals of least squares, neighbours have similar residuals, which helps the opponent. With correlated
# features the valley of the objective is narrow; coefficients of orthogonal columns make it round.

order = np.argsort(residuals(least_squares))
samples, targets = samples[order], targets[order]
triangle = np.linalg.qr(with_ones(samples))[1] / np.sqrt(len(samples))
basis = np.linalg.inv(triangle)


def make_game(samples: FloatArray, targets: FloatArray, basis: FloatArray) -> Callable[[Array, Array], Array]:
    """Return f(X, Y): a row of X is coefficients in a basis, of Y a sample's number and errors of its features."""

    data: dict[Any, Any] = {}  # by library, so that the data go to the GPU once

    def game(X: Array, Y: Array) -> Array:
        xp = array_namespace(X)
        if xp not in data:
            data[xp] = [xp.asarray(one) for one in (samples, targets, basis)]
        features, values, columns = data[xp]
        number = xp.minimum(Y[:, 0].astype(int), len(values) - 1)
        measured = features[number] + (Y[:, 1:] if Y.shape[1] > 1 else 0.0)
        return xp.abs(values[number] - X @ columns.T @ with_ones(measured).T)

    return game


# %%
# At the optimum about twelve samples have the largest residual, and a solution that misses one is bad. So the archive
# of opponents is large, half of their population is renewed in every cycle, and all samples decide which of two runs is
# better.


def minimax(eps: float) -> FloatArray:
    start = triangle @ least_squares
    # A change of one coefficient by this size doubles the mean square.
    size = np.sqrt(np.mean(residuals(least_squares) ** 2))
    solver = MinMaxSolver(
        JDE(pop_size=50),
        JDE(pop_size=150),
        max_iter=45,
        gens_x=40,
        gens_y=10,
        archive_size=60,
        renewal=0.5,
        n_runs=2,
        device=DEVICE,
        random_state=0,
    )
    errors = [(-eps, eps)] * samples.shape[1] if eps > 0 else []
    solver.fit(
        make_game(samples, targets, basis),
        bounds_x=[(value - size, value + size) for value in start],
        bounds_y=[(0, len(samples)), *errors],
    )
    solutions = [basis @ run.x[: len(basis)] for run in solver.runs_]
    return min(solutions, key=lambda w: worst(w, eps))


fits = {
    "least squares": least_squares,
    "minimax": minimax(0.0),
    "minimax, exact": exact(0.0),
    "robust": minimax(EPS),
    "robust, exact": exact(EPS),
}
table = {
    name: {"worst": worst(w, 0.0), "worst with errors": worst(w, EPS), "mean square": float(np.mean(residuals(w) ** 2))}
    for name, w in fits.items()
}
print(f"{'':<16}{'worst':>10}{'with errors':>14}{'mean square':>14}")
for name, row in table.items():
    print(f"{name:<16}{row['worst']:>10.2f}{row['worst with errors']:>14.2f}{row['mean square']:>14.1f}")

# %%
# The largest residual is smaller, at the cost of many small ones.

figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
for name, w in fits.items():
    colour = f"C{list(fits).index(name.removesuffix(', exact'))}"
    ax.plot(np.sort(np.abs(residuals(w))), "--" if "exact" in name else "-", color=colour, label=name)
ax.set(xlabel="samples, sorted", ylabel="absolute residual", title="Residuals of the diabetes data")
ax.legend(frameon=False)
plt.show()
