"""Iterated racing: configuration of optimisers, and of anything else, within a number of experiments."""

from importlib.util import find_spec

if find_spec("optuna") is None:
    raise ImportError("skde.tuning needs Optuna, which is missing: pip install 'skde[tuning]'")
if find_spec("filelock") is None:
    raise ImportError("skde.tuning needs filelock, which is missing: pip install 'skde[tuning]'")

from skde.tuning.default_spaces import space_of
from skde.tuning.optuna_pruner import FriedmanPruner
from skde.tuning.optuna_sampler import IteratedRacingSampler
from skde.tuning.rules import PRESETS, Rules
from skde.tuning.space import Space
from skde.tuning.tuner import RacingTuner

__all__ = ["PRESETS", "FriedmanPruner", "IteratedRacingSampler", "RacingTuner", "Rules", "Space", "space_of"]
