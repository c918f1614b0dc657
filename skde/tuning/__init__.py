"""Iterated racing: configuration of optimisers, and of anything else, within a number of experiments."""

from skde.tuning.sampler import IteratedRacingSampler
from skde.tuning.space import Space
from skde.tuning.spaces import space_of

__all__ = ["IteratedRacingSampler", "Space", "space_of"]
