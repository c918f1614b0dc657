"""Population-based optimisation as scikit-learn-style estimators, compiled for CPU and GPU from one source."""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

if find_spec("skde._cpu") is None:
    # Python looks in the folder that it runs in first: in a clone it takes the sources, also where skde is installed.
    raise ImportError(
        f"the sources of skde in {__path__[0]} have no compiled core: run pip install -e . in their folder, after "
        "which import skde works in every folder; or, where skde is installed without -e, run Python in another "
        "folder or with PYTHONSAFEPATH=1"
    )

from skde import _cpu as _cpu  # first: its own error says why it cannot be loaded

__version__ = "0.1.0"

# Public names and their modules. A module is loaded when its name is first used: a fit of a Minimizer does not wait
# for the modules of MinMaxSolver. The algorithms are named in the registry alone.
_MODULES = {
    "Algorithm": "skde.algorithms",
    "AlgorithmSequence": "skde.algorithms.sequence",
    "AugmentedLagrangian": "skde.minmax",
    "Categorical": "skde.variables",
    "Checkpoint": "skde.callbacks",
    "ConstrainedProblem": "skde.problems",
    "ComparisonDisplay": "skde.plotting",
    "ConvergenceDisplay": "skde.plotting",
    "DeviceObjective": "skde.objectives.device",
    "DifferentialEvolutionSolver": "skde.scipy.evolution_solver",
    "Fixed": "skde.variables",
    "History": "skde.result",
    "Integer": "skde.variables",
    "Log": "skde.variables",
    "Migration": "skde.islands",
    "MinMaxDisplay": "skde.plotting",
    "MinMaxProblem": "skde.problems",
    "MinMaxSolver": "skde.minmax",
    "Minimizer": "skde.minimizer",
    "Ordinal": "skde.variables",
    "ParameterTrace": "skde.callbacks",
    "ParameterTrajectoryDisplay": "skde.plotting",
    "PopulationDisplay": "skde.plotting",
    "Problem": "skde.problems",
    "Progress": "skde.callbacks",
    "Real": "skde.variables",
    "Recorder": "skde.recorder",
    "RunResult": "skde.result",
    "SearchDisplay": "skde.plotting",
    "Status": "skde.stopping",
    "Variables": "skde.variables",
    "algorithm_names": "skde.algorithms",
    "array_namespace": "skde.utils.arrays",
    "differential_evolution": "skde.scipy.evolution",
    "find_gpus": "skde.engines",
    "from_jax": "skde.objectives.array_libraries",
    "from_torch": "skde.objectives.array_libraries",
    "get_problem": "skde.problems",
    "minimize": "skde.scipy.minimize",
    "problem_names": "skde.problems",
    "scipy_method": "skde.scipy.minimize",
}

if TYPE_CHECKING:
    # The same names in the form that type checkers take as exported.
    from skde.algorithms import Algorithm as Algorithm
    from skde.algorithms import algorithm_names as algorithm_names
    from skde.algorithms.registry import *
    from skde.algorithms.sequence import AlgorithmSequence as AlgorithmSequence
    from skde.callbacks import Checkpoint as Checkpoint
    from skde.callbacks import ParameterTrace as ParameterTrace
    from skde.callbacks import Progress as Progress
    from skde.engines import find_gpus as find_gpus
    from skde.islands import Migration as Migration
    from skde.minimizer import Minimizer as Minimizer
    from skde.minmax import AugmentedLagrangian as AugmentedLagrangian
    from skde.minmax import MinMaxSolver as MinMaxSolver
    from skde.objectives.array_libraries import from_jax as from_jax
    from skde.objectives.array_libraries import from_torch as from_torch
    from skde.objectives.device import DeviceObjective as DeviceObjective
    from skde.plotting import ComparisonDisplay as ComparisonDisplay
    from skde.plotting import ConvergenceDisplay as ConvergenceDisplay
    from skde.plotting import MinMaxDisplay as MinMaxDisplay
    from skde.plotting import ParameterTrajectoryDisplay as ParameterTrajectoryDisplay
    from skde.plotting import PopulationDisplay as PopulationDisplay
    from skde.plotting import SearchDisplay as SearchDisplay
    from skde.problems import ConstrainedProblem as ConstrainedProblem
    from skde.problems import MinMaxProblem as MinMaxProblem
    from skde.problems import Problem as Problem
    from skde.problems import get_problem as get_problem
    from skde.problems import problem_names as problem_names
    from skde.recorder import Recorder as Recorder
    from skde.result import History as History
    from skde.result import RunResult as RunResult
    from skde.scipy.evolution import differential_evolution as differential_evolution
    from skde.scipy.evolution_solver import DifferentialEvolutionSolver as DifferentialEvolutionSolver
    from skde.scipy.minimize import minimize as minimize
    from skde.scipy.minimize import scipy_method as scipy_method
    from skde.stopping import Status as Status
    from skde.utils.arrays import array_namespace as array_namespace
    from skde.variables import Categorical as Categorical
    from skde.variables import Fixed as Fixed
    from skde.variables import Integer as Integer
    from skde.variables import Log as Log
    from skde.variables import Ordinal as Ordinal
    from skde.variables import Real as Real
    from skde.variables import Variables as Variables
else:

    def __getattr__(name):
        """Load a public name or a module of the package."""
        if name == "__all__":
            value = sorted(
                [*_MODULES, *(kind.__name__ for kind in import_module("skde.algorithms").ALGORITHMS.values())]
            )
        elif name in _MODULES:
            value = getattr(import_module(_MODULES[name]), name)
        elif name.startswith("_"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        elif find_spec(f"{__name__}.{name}") is not None:
            value = import_module(f"{__name__}.{name}")
        else:
            value = vars(import_module("skde.algorithms.registry")).get(name)
            if value is None:
                raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value

    def __dir__():
        """Return the public names, and those that are loaded."""
        return sorted({*globals(), *__getattr__("__all__")})
