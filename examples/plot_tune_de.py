"""
Parameters of DE for one's own problem
======================================

When the same kind of problem is solved again and again, the parameters of the algorithm are worth a search.
`RacingTuner` lets configurations race on instances of the problem: here valleys among ripples, drawn at random, so that
the winner does not fit one of them alone. Needs ``pip install "skde[tuning]"``.
"""

from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np

from skde import DE, Minimizer
from skde.tuning import RacingTuner
from skde.typing import FloatArray

DIM, EVALS = 6, 1500


def landscape(seed: int) -> tuple[Callable[[FloatArray], FloatArray], list[tuple[float, float]]]:
    """Return an instance: an objective, with a narrow valley at a random place among ripples, and its bounds."""
    rng = np.random.default_rng(seed)
    place, turn = rng.uniform(-2, 2, DIM), np.linalg.qr(rng.normal(size=(DIM, DIM)))[0]
    weights = np.logspace(0, 2, DIM)

    def f(X: FloatArray) -> FloatArray:
        d = (X - place) @ turn
        return (weights * d**2).sum(axis=1) + (1 - np.cos(3 * d)).sum(axis=1)

    return f, [(-5.0, 5.0)] * DIM


# %%
# Ten landscapes for the race. The budget is 250 runs of 1500 evaluations.

tuner = RacingTuner(
    None,  # the space of DE: strategy, F, CR, pop_size
    [landscape(seed) for seed in range(10)],
    max_experiments=250,
    run_max_evals=EVALS,
    preset="small-budget",
    random_state=0,
).fit(DE())
print("tuned:  ", tuner.best_estimator_)
print("default:", DE())

# %%
# The tuned configuration against the default, and against jDE, which adapts its parameters in every run: on landscapes
# that the race did not see.

solvers = {"DE, default": DE(), "DE, tuned": tuner.best_estimator_, "jDE": "jde"}
costs: dict[str, list[float]] = {name: [] for name in solvers}
for seed in range(1000, 1025):
    f, bounds = landscape(seed)
    for name, algorithm in solvers.items():
        costs[name].append(Minimizer(algorithm, max_evals=EVALS, random_state=seed).fit(f, bounds=bounds).fun_)
for name, values in costs.items():
    print(f"{name:<12} median of 25 landscapes {np.median(values):.3g}")

figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.boxplot([costs[name] for name in solvers], tick_labels=list(solvers), showfliers=False)
for k, values in enumerate(costs.values(), 1):
    ax.plot(k + np.linspace(-0.2, 0.2, len(values)), values, ".", alpha=0.6)
ax.set(yscale="log", ylabel=f"best value after {EVALS} evaluations", title="25 landscapes that the race did not see")
plt.show()
