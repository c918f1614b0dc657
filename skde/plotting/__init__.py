"""Plots in the form of scikit-learn's displays; matplotlib is imported when one is drawn."""

from skde.plotting.comparison import ComparisonDisplay
from skde.plotting.convergence import ConvergenceDisplay
from skde.plotting.minmax import MinMaxDisplay
from skde.plotting.population import PopulationDisplay
from skde.plotting.search import SearchDisplay
from skde.plotting.trajectory import ParameterTrajectoryDisplay

__all__ = [
    "ComparisonDisplay",
    "ConvergenceDisplay",
    "MinMaxDisplay",
    "ParameterTrajectoryDisplay",
    "PopulationDisplay",
    "SearchDisplay",
]
