"""
Islands
=======

A run may have several populations, islands, which exchange individuals after a number of generations. Small islands
converge fast, and differ from each other; migrants bring together their findings. Here one population of 240 is
compared with 16 islands of 15, at equal numbers of evaluations, on functions of 30 variables.
"""

import matplotlib.pyplot as plt
import numpy as np

from skde import DE, ComparisonDisplay, Migration, Minimizer

SETTINGS = {
    "one population of 240": Minimizer(DE(pop_size=240)),
    "16 islands of 15, ring": Minimizer(DE(pop_size=15), n_islands=16, migration=Migration("ring", every=50)),
    "16 islands of 15, full": Minimizer(DE(pop_size=15), n_islands=16, migration=Migration("full", every=50)),
}
PROBLEMS = "rastrigin", "zakharov"

fits = {
    problem: {
        name: Minimizer(**{**solver.get_params(deep=False), "max_evals": 120_000, "n_runs": 7, "random_state": 0}).fit(
            problem, dim=30
        )
        for name, solver in SETTINGS.items()
    }
    for problem in PROBLEMS
}

# %%
# The limit counts the evaluations of all islands of a run together.

medians = {problem: {} for problem in PROBLEMS}
for problem, solvers in fits.items():
    for name, solver in solvers.items():
        medians[problem][name] = float(np.median([run.fun for run in solver.runs_]))
        print(f"{problem:<10} {name:<24} median error {medians[problem][name]:.3g}")

# %%
# Which is better depends on the function; the result does not depend on the devices that share the islands:
# ``device=["cuda:0", "cuda:1"]`` gives the same bits.

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for ax, solvers in zip(axes, fits.values(), strict=True):
    ComparisonDisplay.from_estimator(solvers, ax=ax)
plt.show()
