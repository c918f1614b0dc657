"""A worker, or the tuner, as a process: worker.py ROLE STORAGE [TIME_LIMIT] [MODE]."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import optuna

from skde.tuning import RacingTuner
from skde.tuning.targets import base as target_module

sys.path.insert(0, str(Path(__file__).parent))
from landscape import INSTANCES, SPACE, cost

role, storage, limit, mode = [*sys.argv[1:], "1.0", ""][:4]
optuna.logging.set_verbosity(optuna.logging.ERROR)
target_module.GRACE_SECONDS = 1.0


def slow(config: dict[str, Any], instance: float, seed: int) -> float:
    if mode == "hang":
        time.sleep(600)
    if mode.startswith("sleep"):
        time.sleep(float(mode.removeprefix("sleep")))
    return cost(config, instance, seed)


slow.__qualname__ = cost.__qualname__
tuner = RacingTuner(
    SPACE, INSTANCES, max_experiments=120, random_state=1, storage=storage, use_workers=True, run_max_time=float(limit)
)
print(getattr(tuner, role)(slow), flush=True)
