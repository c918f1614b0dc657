"""Population-based optimisation as scikit-learn-style estimators, compiled for CPU and GPU from one source."""

from importlib.util import find_spec

if find_spec("skde._cpu") is None:
    # Python looks in the folder that it runs in first: in a clone it takes the sources, also where skde is installed.
    raise ImportError(
        f"the sources of skde in {__path__[0]} have no compiled core: run pip install -e . in their folder, after "
        "which import skde works in every folder; or, where skde is installed without -e, run Python in another "
        "folder or with PYTHONSAFEPATH=1"
    )

from skde import _cpu as _cpu  # first: its own error says why it cannot be loaded
from skde.algorithms import ALGORITHMS as _ALGORITHMS
from skde.algorithms import Algorithm, algorithm_names
from skde.algorithms.registry import *
from skde.callbacks import Checkpoint, Progress
from skde.islands import Migration
from skde.minimizer import Minimizer
from skde.minmax import AugmentedLagrangian, MinMaxSolver
from skde.objectives.array_libraries import from_jax, from_torch
from skde.objectives.device import DeviceObjective
from skde.plotting import ConvergenceDisplay
from skde.problems import MinMaxProblem, Problem, get_problem, problem_names
from skde.problems.constraints import ConstrainedProblem
from skde.result import History, RunResult
from skde.scipy_api import minimize, scipy_method
from skde.scipy_evolution import DifferentialEvolutionSolver, differential_evolution
from skde.stopping import Status

__version__ = "0.1.0"

__all__ = [
    "Algorithm",
    "AugmentedLagrangian",
    "Checkpoint",
    "ConstrainedProblem",
    "ConvergenceDisplay",
    "DeviceObjective",
    "DifferentialEvolutionSolver",
    "History",
    "Migration",
    "MinMaxProblem",
    "MinMaxSolver",
    "Minimizer",
    "Problem",
    "Progress",
    "RunResult",
    "Status",
    "algorithm_names",
    "differential_evolution",
    "from_jax",
    "from_torch",
    "get_problem",
    "minimize",
    "problem_names",
    "scipy_method",
    *(kind.__name__ for kind in _ALGORITHMS.values()),
]
