"""The engines, which own memory, loops and time, and the choice of one."""

from __future__ import annotations

from skde.engines.cpu import CpuEngine
from skde.engines.decoded_game import DecodedGame
from skde.engines.decoded_objective import DecodedObjective
from skde.engines.game import Game
from skde.engines.generation_parts import BegunGeneration, PartsOfGenerations
from skde.engines.gpu.graph_replay import RecordingError
from skde.engines.joblib_workers import JoblibEngine
from skde.engines.multi_device import MultiDeviceEngine, SplitCoevolution
from skde.engines.protocol import (
    DeviceEngine,
    DividingEngine,
    Engine,
    RecordingEngine,
    SharingEngine,
    divides,
    records,
    shares,
)
from skde.engines.selection import PYTHON_ON_CPU, choose_engine, engine_for
from skde.engines.single_device import check_device, choose_device, decode, evaluate, find_gpus, matrix
from skde.engines.state.batch import Batch
from skde.engines.state.coevolution import Coevolution, IncumbentRuns
from skde.engines.state.coevolution_spec import CoevolutionSpec
from skde.engines.state.runs import Runs
from skde.engines.state.spec import Compiled, CompiledDefaults, Spec

__all__ = [
    "PYTHON_ON_CPU",
    "Batch",
    "BegunGeneration",
    "Coevolution",
    "CoevolutionSpec",
    "Compiled",
    "CompiledDefaults",
    "CpuEngine",
    "DecodedGame",
    "DecodedObjective",
    "DeviceEngine",
    "DividingEngine",
    "Engine",
    "Game",
    "IncumbentRuns",
    "JoblibEngine",
    "MultiDeviceEngine",
    "PartsOfGenerations",
    "RecordingEngine",
    "RecordingError",
    "Runs",
    "SharingEngine",
    "Spec",
    "SplitCoevolution",
    "check_device",
    "choose_device",
    "choose_engine",
    "decode",
    "divides",
    "engine_for",
    "evaluate",
    "find_gpus",
    "matrix",
    "records",
    "shares",
]
