"""The time of a generation in earlier fits, from which the first engine call of a fit takes its length."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from skde.engines import Batch, DeviceEngine


@dataclass
class Pace:
    """The time of a generation.

    Attributes
    ----------
    seconds : float
        As it was last measured, with the host's part of the engine call; infinite before.
    """

    seconds: float = math.inf


def pace_of(engine: DeviceEngine, batch: Batch, source: dict[str, Any]) -> Pace:
    """Return the pace of batches like this one; that of a user's objective is not kept.

    A user's objective may take any time, by its arrays or by its points. The time of a problem of the registry follows
    from its description.

    Parameters
    ----------
    engine, batch
        The engine and its batch.
    source : dict
        The description of the objective in a file.
    """
    if "problem" not in source:
        return Pace()
    spec = batch.spec
    sizes = batch.n_runs, batch.pop_max, batch.dim, engine.threads
    return find_pace(engine.name, repr(source), spec.algorithm, spec.parameters[0].tobytes(), spec.dtype, sizes)


@lru_cache(maxsize=256)
def find_pace(*key: Any) -> Pace:
    """Return the pace for a key, the same object each time."""
    return Pace()
