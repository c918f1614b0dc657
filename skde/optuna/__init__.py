"""Studies of Optuna driven by the algorithms of skde."""

from importlib.util import find_spec

if find_spec("optuna") is None:
    raise ImportError("skde.optuna needs Optuna, which is missing: pip install 'skde[tuning]'")

from skde.optuna.sampler import EvolutionSampler

__all__ = ["EvolutionSampler"]
