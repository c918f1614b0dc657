"""Iterated racing: configuration of optimisers, and of anything else, within a number of experiments."""

from skde.tuning.rules import PRESETS, Rules
from skde.tuning.sampler import IteratedRacingSampler
from skde.tuning.space import Space
from skde.tuning.spaces import space_of
from skde.tuning.tuner import RacingTuner

__all__ = ["PRESETS", "IteratedRacingSampler", "RacingTuner", "Rules", "Space", "space_of"]
