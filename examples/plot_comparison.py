"""
Comparison of algorithms
========================

One run can be lucky, so a comparison needs many. Here every algorithm has 25 runs of 20000 evaluations on Rosenbrock's
function in ten variables, a curved valley. The boxes have the middle half of the errors.
"""

import matplotlib.pyplot as plt
import numpy as np

from skde import Minimizer

NAMES = ["de", "jde", "sade", "shade", "lshade", "jso", "pso"]

errors = {}
for name in NAMES:
    minimizer = Minimizer(name, max_evals=20_000, n_runs=25, random_state=0).fit("rosenbrock", dim=10)
    errors[name] = [run.fun for run in minimizer.runs_]  # the minimum is 0
    print(f"{name:<8}median error {np.median(errors[name]):.3g}")

# %%
# Errors below 1e-12 are drawn at 1e-12.

axes = plt.figure(layout="constrained").subplots()
axes.boxplot([np.maximum(errors[name], 1e-12) for name in NAMES], tick_labels=NAMES)
axes.set(yscale="log", ylabel="error", title="Rosenbrock's function, 10 variables, 20000 evaluations")
plt.show()
