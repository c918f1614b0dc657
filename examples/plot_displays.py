"""
Displays
========

Every display draws a fitted solver, or results, into axes of matplotlib.
"""

import matplotlib.pyplot as plt

from skde import (
    ComparisonDisplay,
    ConvergenceDisplay,
    Minimizer,
    ParameterTrace,
    ParameterTrajectoryDisplay,
    PopulationDisplay,
    get_problem,
)

# %%
# The best value over evaluations: the median of the runs, and the band between their quartiles. In a notebook, a fitted
# solver shows a small curve without any of this.

minimizer = Minimizer("jde", max_evals=50_000, n_runs=15, random_state=0).fit("griewank", dim=10)
ConvergenceDisplay.from_estimator(minimizer)
minimizer

# %%
# Several solvers, as curves, as last values, or as the share of targets that their runs reach.

names = "de", "jde", "shade", "pso"
solvers = [Minimizer(name, max_evals=30_000, n_runs=15, random_state=0).fit("ackley", dim=10) for name in names]
figure, axes = plt.subplots(1, 3, figsize=(14, 4), layout="constrained")
for ax, kind in zip(axes, ("convergence", "distribution", "ecdf"), strict=True):
    ComparisonDisplay.from_estimator(solvers, kind=kind, ax=ax)

# %%
# The population, here over the function of two variables that it minimises, and in ten variables by its principal
# components.

rastrigin = get_problem("rastrigin", dim=2)
figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.5), layout="constrained")
PopulationDisplay.from_estimator(
    Minimizer("jde", max_iter=20, random_state=0).fit(rastrigin), landscape=rastrigin, ax=left
)
PopulationDisplay.from_estimator(Minimizer("jde", max_iter=60, random_state=0).fit("rosenbrock", dim=10), ax=right)
plt.show()

# %%
# F and CR of the individuals, which a callback records. It looks every five generations, and a fit without it records
# nothing.

trace = ParameterTrace(every=5)
adaptive = Minimizer("lshade", max_evals=40_000, callbacks=[trace], random_state=0).fit("rosenbrock", dim=10)
ParameterTrajectoryDisplay.from_estimator(adaptive, x_axis="n_evals")
plt.show()
