"""Min-max problems: two populations that evolve against each other."""

from skde.minmax.lagrangian import AugmentedLagrangian
from skde.minmax.solver import MinMaxSolver

__all__ = ["AugmentedLagrangian", "MinMaxSolver"]
