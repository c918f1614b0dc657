"""
A controller for the worst plant
================================

The plant is a mass on a spring with a damper, :math:`k / (s^2 + 2 \\zeta w s + w^2)`. Gain k, frequency w and damping
:math:`\\zeta` are uncertain, within a box. The closed loop with a PI controller follows a step; its cost is the
integral of the squared error and, with a small weight, of the squared change of the control. The design is a min-max
problem: x are the gains, y is the plant, and one simulation computes all pairs of both populations.
"""

import matplotlib.pyplot as plt
import numpy as np

from skde import JDE, Minimizer, MinMaxDisplay, MinMaxSolver, array_namespace, find_gpus
from skde.typing import Array

GAINS = [(0.0, 4.0), (0.0, 4.0)]  # proportional, integral
PLANTS = [(0.6, 1.6), (0.7, 1.4), (0.3, 1.2)]  # k, w, zeta
NOMINAL = np.array([[1.0, 1.0, 0.7]])
SECONDS, STEP, EFFORT = 15.0, 0.1, 0.02
DEVICE = "cuda" if find_gpus()[0] else "cpu"  # Python functions run on the CPU unless a GPU is named


def simulate(gains: Array, plants: Array) -> tuple[Array, Array]:
    """Return the outputs over time, of shape (steps, n, m), and the costs, of shape (n, m), of gains and plants."""
    xp = array_namespace(gains)
    Kp, Ki = gains.T[:, :, None]
    k, w, zeta = plants.T[:, None, :]
    position, speed, integral = xp.zeros((3, len(gains), len(plants)))
    control_before, cost, outputs = Kp * xp.ones_like(position), 0.0, []
    for _ in range(int(SECONDS / STEP)):
        error = 1.0 - position
        integral = integral + STEP * error
        control = xp.clip(Kp * error + Ki * integral, -10.0, 10.0)  # as actuators do; also prevents overflow
        speed = speed + STEP * (k * control - 2 * zeta * w * speed - w * w * position)
        position = position + STEP * speed
        cost = cost + STEP * error**2 + EFFORT * (control - control_before) ** 2 / STEP
        control_before = control
        outputs.append(position)
    return xp.stack(outputs), cost


def cost(gains: Array, plants: Array) -> Array:
    """Return the cost of every controller with every plant."""
    return simulate(gains, plants)[1]


# %%
# The best gains for the nominal plant, and those for the worst plant. At the optimum very different plants have the
# largest cost, so half of the plants are renewed in every cycle.

nominal = Minimizer("jde", max_iter=40, device=DEVICE, random_state=0)
nominal.fit(lambda gains: cost(gains, array_namespace(gains).asarray(NOMINAL))[:, 0], bounds=GAINS)
solver = MinMaxSolver(JDE(pop_size=30), max_iter=8, gens_x=5, gens_y=5, renewal=0.5, device=DEVICE, random_state=0)
solver.fit(cost, bounds_x=GAINS, bounds_y=PLANTS)

# %%
# A grid of plants compares the designs independently of the opponents that the solver found. These few populations had
# not met the worst plant yet. `worst_case_` is the result of a separate search for it.

axes_of_plants = np.meshgrid(*(np.linspace(low, high, 9) for low, high in PLANTS), indexing="ij")
plants = np.stack([axis.ravel() for axis in axes_of_plants], axis=1)
designs = {"nominal": nominal.x_, "robust": solver.x_}
table = {
    name: {"nominal": float(cost(gains[None], NOMINAL)[0, 0]), "worst": float(cost(gains[None], plants).max())}
    for name, gains in designs.items()
}
for name, (Kp, Ki) in designs.items():
    row = table[name]
    print(f"{name:<8} Kp {Kp:.3f}  Ki {Ki:.3f}  nominal plant {row['nominal']:.3f}  worst plant {row['worst']:.3f}")
k, w, zeta = solver.y_
print(f"the strongest opponent: k {k:.2f}, w {w:.2f}, zeta {zeta:.2f}, at a cost of {solver.fun_:.3f}")
print(f"the worst plant of the robust design, by a search: a cost of {solver.worst_case_:.3f}")

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5), sharey=True, layout="constrained")
times = STEP * np.arange(1, int(SECONDS / STEP) + 1)
for ax, (name, gains) in zip((left, right), designs.items(), strict=True):
    outputs, costs = simulate(gains[None], plants)
    ax.plot(times, outputs[:, 0, ::10], color="0.85")
    ax.plot(times, simulate(gains[None], NOMINAL)[0][:, 0, 0], label="nominal plant")
    ax.plot(times, outputs[:, 0, costs[0].argmax()], label=f"worst plant, cost {costs.max():.2f}")
    ax.set(title=f"{name} design", xlabel="seconds", ylim=(-0.2, 2.4))
    ax.legend(frameon=False)
left.set_ylabel("output")
plt.show()

# %%
# The integral gain against the frequency of the plant, with the other variables as at the solution. The curves of best
# responses do not cross there: there is no saddle point, and a controller that knew its plant would do better.

display = MinMaxDisplay.from_estimator(solver, variables=(1, 1))
display.ax_.set(xlabel="integral gain", ylabel="frequency of the plant", title="Cost around the solution")
plt.show()
