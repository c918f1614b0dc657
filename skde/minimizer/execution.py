"""The engine of a fit, and the execution of its generations."""

from __future__ import annotations

import numpy as np

from skde.engines import (
    Engine,
    JoblibEngine,
    check_device,
    engine_for,
    records,
    shares,
)
from skde.minimizer.parameters import MinimizerParameters
from skde.objectives.caller_library import CallerLibrary
from skde.objectives.objective import Objective
from skde.variables import Variables


def make_engine(given: MinimizerParameters, objective: Objective | None, variables: Variables | None) -> Engine:
    """Return the engine of a fit; an objective of None is evaluated by the user, with ask and tell.

    A fit with nothing free evaluates one point, on one device: there is nothing to divide.
    """
    if objective is not None:
        refuse_other_places(given, objective)
    device = given.device
    reason = None if objective is None else objective.cpu_reason
    if variables is not None and not variables.free:
        first = device if isinstance(device, str) or not device else device[0]
        return engine_for("cpu" if reason and first == "auto" else first, given.n_jobs, reason, given.verbose)
    if given.execution == "joblib":
        if not isinstance(device, str):
            raise ValueError(f"execution='joblib' needs one device, that of every worker, got device={device!r}")
        check_device(device)
        return JoblibEngine("cpu" if reason and device == "auto" else device, given.n_jobs)
    return engine_for(device, given.n_jobs, reason, given.verbose)


def refuse_other_places(given: MinimizerParameters, objective: Objective) -> None:
    """Refuse GPUs and the workers of joblib for an objective that this process's CPU alone can call."""
    if objective.cpu_only is None:
        return
    if given.execution == "joblib":
        raise ValueError(
            f"execution='joblib' needs an objective that other processes can call: {objective.cpu_only}; the threads "
            "of n_jobs share the runs with the other values of execution"
        )
    devices = given.device if isinstance(given.device, list | tuple) else [given.device]
    if any(str(device).startswith("cuda") for device in devices):
        raise ValueError(f"device must be 'cpu' or 'auto', got {given.device!r}: {objective.cpu_only}")


def check_device_of_library(library: CallerLibrary | None, engine: Engine) -> None:
    """Refuse arrays of a caller's library on another kind of device than that of the fit."""
    if library is not None and library.on_gpu == (engine.xp is np):
        raise ValueError(
            f"bounds and x0 are arrays of {library}, and device is {engine.name!r}: with array_api_dispatch both must "
            "be the CPU or a GPU, such as device='cuda'"
        )


def choose_execution(execution: str, objective: Objective, engine: Engine) -> str:
    """Return the execution of a fit on its engine.

    It is "run", "step", "graph" or, for one of "step" and "graph", "auto".
    """
    compiled = objective.compiled is not None
    if execution == "run" and not compiled:
        raise ValueError(
            f"execution={execution!r} needs a compiled objective: a name, a Problem or a DeviceObjective, without "
            "constraints in Python; Python functions run with execution='step'"
        )
    if objective.variables is not None and not objective.variables.free:
        return "step"
    if isinstance(engine, JoblibEngine) != (execution == "joblib"):
        raise ValueError(
            f"execution={execution!r}: this fit began on {engine.name!r}; a fit cannot change to or from 'joblib' "
            "after its beginning"
        )
    if execution == "auto" and not compiled and records(engine):
        return "auto"
    if execution in ("auto", "joblib"):
        return "run" if compiled else "step"
    if execution == "graph" and compiled:
        raise ValueError("execution='graph' is for CuPy functions; a compiled objective runs with execution='run'")
    return execution


def choose_recorded_execution(execution: str, engine: Engine) -> str:
    """Return the execution of a fit with a recorder: single generations, with values that this process receives."""
    if execution not in ("auto", "step"):
        raise ValueError(
            f"recorder needs execution='auto' or 'step', got {execution!r}, by which this process sees no values; "
            "n_jobs divides a function of one point among processes"
        )
    name = engine.name
    if shares(engine):
        raise ValueError(f"recorder needs one device, got {name!r}")
    return "step"
