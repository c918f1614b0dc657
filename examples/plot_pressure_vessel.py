"""
A pressure vessel of plates that there are
==========================================

A cylinder with two round ends holds 1 296 000 cubic inches; plates, forming and welding make its cost. Plates
come in multiples of 1/16 inch, so that two of the four variables are from a list: typed variables say so, and no
rounding by hand is needed. The constraints are limits of stress, the volume, and the length.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import NonlinearConstraint

from skde import ConvergenceDisplay, Minimizer, Ordinal
from skde.typing import FloatArray

PLATES = np.arange(1, 100) / 16


def cost(X: FloatArray) -> FloatArray:
    shell, head, r, length = X.T
    return 0.6224 * shell * r * length + 1.7781 * head * r**2 + 3.1661 * shell**2 * length + 19.84 * shell**2 * r


def limits(X: FloatArray) -> FloatArray:
    shell, head, r, length = X.T
    volume = np.pi * r**2 * length + 4 / 3 * np.pi * r**3
    return np.stack([0.0193 * r - shell, 0.00954 * r - head, 1 - volume / 1_296_000, length / 240 - 1], axis=-1)


constraints = NonlinearConstraint(limits, -np.inf, 0)


def design(plate: object, n_runs: int) -> Minimizer:
    minimizer = Minimizer(
        "lshade", constraints=constraints, feasibility_tol=1e-9, max_evals=40_000, n_runs=n_runs, random_state=0
    )
    bounds = {"shell": plate, "head": plate, "radius": (10, 200), "length": (10, 200)}
    return minimizer.fit(cost, bounds=bounds)


# %%
# First without the list. The plates that are found cannot be bought, and the next thicker ones make a costlier vessel;
# the next thinner ones break the limits.

smooth = design((1 / 16, 99 / 16), 1)
thicker, thinner = smooth.x_.copy(), smooth.x_.copy()
thicker[:2] = np.ceil(smooth.x_[:2] * 16) / 16
thinner[:2] = np.floor(smooth.x_[:2] * 16) / 16
print("any plate:     ", {name: round(value, 4) for name, value in smooth.params_.items()})
print(f"               cost {smooth.fun_:.2f}, and {cost(thicker[None])[0]:.2f} with the next thicker plates;")
print(f"               the thinner ones exceed a limit by {limits(thinner).max():.3f}")

# %%
# With typed variables. The best published cost is 6059.7143.

vessel = design(Ordinal(PLATES), 15)
print("plates on sale:", {name: round(value, 4) for name, value in vessel.params_.items()})
print(f"               cost {vessel.fun_:.4f}, largest violation {vessel.max_violation_:.1e}")

# %%
# Fifteen runs, from the first feasible point on. Some end at another pair of plates, which is a local minimum.

display = ConvergenceDisplay.from_estimator(vessel, f_opt=6059.714335, spread="runs", floor=1e-4)
display.ax_.set(title="Pressure vessel", ylabel="cost above the best one published")
plt.show()
