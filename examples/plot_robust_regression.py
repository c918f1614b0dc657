"""
Robust regression
=================

A fifth of these measurements of a decay is wrong. Least squares follows them; other losses do not, and some of these
have no derivative at zero, or several local minima. Here a loss is any function of the residuals, and the whole
population is evaluated at once.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from skde import Minimizer, array_namespace, find_gpus

DEVICE = "cuda" if find_gpus()[0] else "cpu"  # Python functions run on the CPU unless a GPU is named

rng = np.random.default_rng(0)
t = np.sort(rng.uniform(0, 5, 80))
truth = 4.0, 1.2, 0.5  # amplitude, rate, offset
y = truth[0] * np.exp(-truth[1] * t) + truth[2] + 0.1 * rng.normal(size=t.size)
wrong = rng.choice(t.size, t.size // 5, replace=False)
y[wrong] += rng.uniform(1.0, 4.0, wrong.size)

# %%
# The model takes one row of parameters for each individual and returns one row of predictions.


def model(theta: Any, t: Any) -> Any:
    xp = array_namespace(theta)
    amplitude, rate, offset = (column[:, None] for column in theta.T)
    return amplitude * xp.exp(-rate * t) + offset


def huber(r: Any, size: float = 0.3) -> Any:
    r = abs(r)
    return (r < size) * r**2 / 2 + (r >= size) * size * (r - size / 2)


def tukey(r: Any, size: float = 1.0) -> Any:
    """Bounded: a measurement that is far off has the same loss wherever it is. This makes local minima."""
    inside = abs(r) < size
    return 1 - inside * (1 - (r / size) ** 2) ** 3


LOSSES: dict[str, Callable[[Any], Any]] = {
    "least squares": lambda r: r**2,
    "absolute": abs,
    "Huber": huber,
    "Tukey": tukey,
}


@cache
def measurements(xp: Any) -> tuple[Any, Any]:
    """Return t and y as arrays of a library, so that they go to the GPU once."""
    return xp.asarray(t), xp.asarray(y)


def fit(loss: Callable[[Any], Any]) -> Minimizer:
    """Return the fit with the smallest mean loss of the residuals."""

    def objective(theta: Any) -> Any:
        times, measured = measurements(array_namespace(theta))
        return loss(measured - model(theta, times)).mean(axis=1)

    box = {"amplitude": (0, 10), "rate": (0, 5), "offset": (-2, 5)}
    return Minimizer("jde", max_iter=150, device=DEVICE, random_state=0).fit(objective, bounds=box)


fits = {name: fit(loss) for name, loss in LOSSES.items()}
print("true parameters:     ", dict(zip(("amplitude", "rate", "offset"), truth, strict=True)))
for name, found in fits.items():
    print(f"{name:<20}", {key: round(value, 3) for key, value in found.params_.items()})

# %%
# The bounded loss ignores the wrong measurements. Quantiles come from another loss: for the q-th quantile it weighs
# residuals above by q and those below by 1 - q.


def pinball(q: float) -> Callable[[Any], Any]:
    return lambda r: abs(r) * ((r > 0) * q + (r <= 0) * (1 - q))


quartiles = [fit(pinball(q)) for q in (0.25, 0.75)]
grid = np.linspace(0, 5, 200)
low, high = (model(found.x_[None], grid)[0] for found in quartiles)

figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
good = np.setdiff1d(np.arange(t.size), wrong)
ax.plot(t[good], y[good], ".", color="0.4", label="measurements")
ax.plot(t[wrong], y[wrong], "x", color="0.6", label="wrong measurements")
ax.fill_between(grid, low, high, alpha=0.2, label="quartiles")
for name, found in fits.items():
    ax.plot(grid, model(found.x_[None], grid)[0], label=name)
ax.plot(grid, model(np.array([truth]), grid)[0], "k:", label="truth")
ax.set(xlabel="t", ylabel="y", title="A decay with wrong measurements")
ax.legend(frameon=False)
plt.show()
