"""
A first minimum
===============

Thirty runs of jDE on Rastrigin's function, which has a local minimum near every point of whole numbers, and one global
minimum, 0. The function is a name here, so that whole runs stay in compiled code.
"""

import matplotlib.pyplot as plt

from skde import ConvergenceDisplay, Minimizer

minimizer = Minimizer("jde", max_evals=60_000, n_runs=30, random_state=0).fit("rastrigin", dim=10)
print(minimizer.message_)
print(f"best value {minimizer.fun_:.3g} at {minimizer.x_.round(6)}")

# %%
# The results of all runs are in ``runs_``. The display draws them.

axes = plt.figure(layout="constrained").subplots()
ConvergenceDisplay.from_estimator(minimizer, ax=axes)
axes.set_title("30 runs of jDE on Rastrigin's function")
plt.show()
