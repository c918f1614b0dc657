"""Choose the gains of a PI controller for the worst plant of a box.

The plant is a mass on a spring with a damper, k / (s^2 + 2 zeta w s + w^2). Gain k, frequency w and damping zeta are
uncertain, within a box. The closed loop follows a step; the cost is the integral of the squared error and, with a small
weight, of the squared change of the control. The design is a min-max problem: x are the gains, y is the plant, and one
simulation computes all pairs of both populations.

    python robust_filter.py --plot responses.png
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from skde import Minimizer, MinMaxSolver

GAINS = [(0.0, 4.0), (0.0, 4.0)]  # proportional, integral
PLANTS = [(0.6, 1.6), (0.7, 1.4), (0.3, 1.2)]  # k, w, zeta
NOMINAL = np.array([[1.0, 1.0, 0.7]])
SECONDS, STEP, EFFORT = 15.0, 0.05, 0.02


def simulate(gains: np.ndarray, plants: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the outputs over time, of shape (steps, n, m), and the costs, of shape (n, m), of gains and plants."""
    Kp, Ki = gains.T[:, :, None]
    k, w, zeta = plants.T[:, None, :]
    position, speed, integral = np.zeros((3, len(gains), len(plants)))
    control_before, cost, outputs = Kp * np.ones_like(position), 0.0, []
    for _ in range(int(SECONDS / STEP)):
        error = 1.0 - position
        integral = integral + STEP * error
        control = np.clip(Kp * error + Ki * integral, -10.0, 10.0)  # as actuators do; also prevents overflow
        speed = speed + STEP * (k * control - 2 * zeta * w * speed - w * w * position)
        position = position + STEP * speed
        cost = cost + STEP * error**2 + EFFORT * (control - control_before) ** 2 / STEP
        control_before = control
        outputs.append(position)
    return np.array(outputs), cost


def cost(gains: np.ndarray, plants: np.ndarray) -> np.ndarray:
    """Return the cost of every controller with every plant."""
    return simulate(gains, plants)[1]


def nominal_design(random_state: int) -> np.ndarray:
    """Return the best gains for the nominal plant."""
    search = Minimizer("jde", max_iter=60, random_state=random_state)
    return search.fit(lambda gains: cost(gains, NOMINAL)[:, 0], bounds=GAINS).x_


def robust_design(n_cycles: int, random_state: int) -> MinMaxSolver:
    """Return the solver that found the best gains for the worst plant."""
    # At the optimum very different plants have the largest cost, so half of the plants are renewed in every cycle.
    solver = MinMaxSolver(n_cycles=n_cycles, gens_x=5, gens_y=5, renewal=0.5, random_state=random_state)
    return solver.fit(cost, bounds_x=GAINS, bounds_y=PLANTS)


def corners_and_grid(points: int = 9) -> np.ndarray:
    """Return a grid of plants with the corners of the box, to compare designs independently of the opponents."""
    axes = np.meshgrid(*(np.linspace(low, high, points) for low, high in PLANTS), indexing="ij")
    return np.stack([axis.ravel() for axis in axes], axis=1)


def main(n_cycles: int = 12, random_state: int = 0, plot: str | None = None) -> dict[str, Any]:
    """Return both designs with their costs: with the nominal plant, and with the worst of a grid."""
    solver = robust_design(n_cycles, random_state)
    designs = {"nominal": nominal_design(random_state), "robust": solver.x_}
    plants = corners_and_grid()
    if plot:
        draw(designs, plants, plot)
    rows = {
        name: {
            "gains": gains,
            "nominal": float(cost(gains[None], NOMINAL)[0, 0]),
            "worst": float(cost(gains[None], plants).max()),
        }
        for name, gains in designs.items()
    }
    return {**rows, "claimed": solver.fun_, "plant": solver.y_, "gap": solver.saddle_gap_}


def draw(designs: dict[str, np.ndarray], plants: np.ndarray, file: str) -> None:
    """Draw every design's responses: of plants all over the box, the nominal one, and the worst."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.5), layout="constrained")
    times = STEP * np.arange(1, int(SECONDS / STEP) + 1)
    for axes, (name, gains) in zip(figure.subplots(1, 2, sharey=True), designs.items(), strict=True):
        outputs, costs = simulate(gains[None], plants)
        axes.plot(times, outputs[:, 0, ::10], color="0.85")
        axes.plot(times, simulate(gains[None], NOMINAL)[0][:, 0, 0], label="nominal plant")
        axes.plot(times, outputs[:, 0, costs[0].argmax()], label=f"worst plant, cost {costs.max():.2f}")
        axes.set(title=f"{name} design", xlabel="seconds")
        axes.legend()
    figure.savefig(file)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n-cycles", type=int, default=12, help="cycles of the solver (12)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plot", metavar="FILE", help="file for a plot of the responses")
    arguments = parser.parse_args()
    found = main(arguments.n_cycles, arguments.seed, arguments.plot)
    print(f"{'design':<10}{'Kp':>8}{'Ki':>8}{'nominal plant':>16}{'worst plant':>14}")
    for name in ("nominal", "robust"):
        (Kp, Ki), row = found[name]["gains"], found[name]
        print(f"{name:<10}{Kp:>8.3f}{Ki:>8.3f}{row['nominal']:>16.4f}{row['worst']:>14.4f}")
    k, w, zeta = found["plant"]
    print(
        f"the worst plant that it met: k = {k:.3f}, w = {w:.3f}, zeta = {zeta:.3f}, at a cost of {found['claimed']:.4f}"
    )
    print(f"gap {found['gap']:.2f}: no saddle point, the controller that knew its plant would do better")
