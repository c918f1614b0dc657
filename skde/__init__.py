"""Population-based optimisation as scikit-learn-style estimators, compiled for CPU and GPU from one source."""

try:
    from skde import _cpu as _cpu
except ImportError as error:
    raise ImportError(
        "skde's compiled core is missing. In the folder of the sources, Python may have taken those instead of the "
        "installed package: go to another folder, or set PYTHONSAFEPATH=1. Otherwise install again: pip install ."
    ) from error

from skde.algorithms import (
    DE,
    GODE,
    GOJDE,
    JADE,
    JDE,
    JSO,
    LSHADE,
    LSRTDE,
    PSO,
    SADE,
    SHADE,
    SS,
    Algorithm,
    algorithm_names,
)
from skde.callbacks import Checkpoint, Progress
from skde.constraints import ConstrainedProblem
from skde.device_objective import DeviceObjective
from skde.functions import minimize, scipy_method
from skde.islands import Migration
from skde.minimizer import Minimizer
from skde.minmax import AugmentedLagrangian, MinMaxSolver
from skde.plotting import ConvergenceDisplay
from skde.problems import MinMaxProblem, Problem, get_problem, problem_names
from skde.result import History, RunResult
from skde.stopping import Status

__version__ = "0.1.0"

__all__ = [
    "DE",
    "GODE",
    "GOJDE",
    "JADE",
    "JDE",
    "JSO",
    "LSHADE",
    "LSRTDE",
    "PSO",
    "SADE",
    "SHADE",
    "SS",
    "Algorithm",
    "AugmentedLagrangian",
    "Checkpoint",
    "ConstrainedProblem",
    "ConvergenceDisplay",
    "DeviceObjective",
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
    "get_problem",
    "minimize",
    "problem_names",
    "scipy_method",
]
