"""
A spring within its limits
==========================

The weight :math:`(N + 2) D d^2` of a coil spring of wire diameter d, coil diameter D and N coils, under four
constraints on its deflection, its shear stress, its frequency and its outer diameter: problem 6 of Fabris and Krohling
(2012). `MinMaxSolver` solves the min-max problem of the augmented Lagrangian; `Minimizer` uses feasibility rules. Both
have the same number of evaluations.
"""

import matplotlib.pyplot as plt
import numpy as np

from skde import JDE, ComparisonDisplay, Minimizer, MinMaxSolver, get_problem

SPRING = get_problem("fabris2012/p6")
CONSTRAINTS = "deflection", "shear stress", "frequency", "outer diameter"

limits = {"max_evals": 30_000, "n_runs": 15, "random_state": 0}
solvers = {
    "multipliers": MinMaxSolver(JDE(pop_size=50), **limits).fit(SPRING),
    "feasibility rules": Minimizer(JDE(pop_size=50), **limits).fit(SPRING),
}
for name, solver in solvers.items():
    weights = [run.fun for run in solver.runs_ if run.feasible]
    print(
        f"{name:<18} best {solver.fun_:.8f}  median {np.median(weights):.8f}  feasible runs {len(weights)}  "
        f"largest violation {solver.max_violation_:.0e}"
    )

# %%
# A multiplier is the weight that a constraint costs: how fast the optimum falls when its limit is relaxed. Two are
# active.

for name, value in zip(CONSTRAINTS, solvers["multipliers"].multipliers_, strict=True):
    print(f"multiplier of the {name:<15} {value:.6f}")

# %%
# The feasible region at the best number of coils, and the convergence of the runs.

figure, (region, convergence) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
best = solvers["multipliers"].x_
wires, diameters = np.linspace(0.05, 0.075, 200), np.linspace(0.25, 0.9, 200)
grid = np.stack(np.meshgrid(wires, diameters), axis=-1).reshape(-1, 2)
values = SPRING.values(np.column_stack([grid, np.full(len(grid), best[2])])).reshape(200, 200, -1)
region.contourf(wires, diameters, (values[..., 1:] <= 0).all(axis=2), levels=[0.5, 1.5], colors=["0.85"])
region.contour(wires, diameters, values[..., 0], levels=12, linewidths=0.5)
for k, name in enumerate(CONSTRAINTS, 1):
    region.contour(wires, diameters, values[..., k], levels=[0], colors=f"C{k}")
    region.plot([], [], color=f"C{k}", label=name)
region.plot(*best[:2], "k*", markersize=10, label="the best spring")
region.set(xlabel="wire diameter", ylabel="coil diameter", title=f"feasible with {best[2]:.2f} coils")
region.legend(loc="upper left", fontsize="small")
ComparisonDisplay.from_estimator(solvers, floor=1e-9, ax=convergence)
convergence.set(title="weight above the minimum")
plt.show()
