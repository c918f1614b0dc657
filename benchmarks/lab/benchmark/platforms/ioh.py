"""Suites of IOHexperimenter (package ioh), logged by its Analyzer for IOHanalyzer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from skde.benchmark.functions import Function, LoggerFiles, Package, Platform, Suite
from skde.typing import FloatArray
from skde.utils.files import atomic_write

DIMS = tuple(range(2, 641))
# The classes of real functions with a box: their numbers, and the dimensions. CEC 2013's niching functions have several
# minima of one value, and are maximised.
SUITES: dict[str, tuple[str, range, tuple[int, ...]]] = {
    "ioh:bbob": ("BBOB", range(1, 25), DIMS),
    "ioh:sbox": ("SBOX", range(1, 25), DIMS),
    "ioh:cec2022": ("CEC2022", range(1001, 1013), (10, 20)),
}
LAST_TARGET = 1e-8


@contextmanager
def open_problem(suite: str, function: str, dim: int, instance: int, log: LoggerFiles) -> Iterator[Function]:
    """Open a problem with a logger that writes to a folder.

    Parameters
    ----------
    suite, function : str
        Names, such as "ioh:bbob" and "f1".
    dim, instance : int
        The dimension and the number of the instance, from 1 on.
    log : LoggerFiles
        The logger's folder and the algorithm.

    Yields
    ------
    function : Function
        The files are complete when the context ends.
    """
    import ioh

    class_name, numbers, _ = SUITES[suite]
    number = numbers[int(function.removeprefix("f")) - 1]
    problem = ioh.get_problem(number, instance, dim, ioh.ProblemClass[class_name])
    logger = ioh.logger.Analyzer(
        root=str(log.folder.parent.absolute()),
        folder_name=log.folder.name,
        algorithm_name=log.algorithm,
        algorithm_info=log.info,
    )
    problem.attach_logger(logger)
    try:
        yield make_logged_function(function, problem)
    finally:
        problem.reset()
        problem.detach_logger()
        logger.close()


def make_logged_function(name: str, problem: Any) -> Function:
    """Return a problem as a function; one call takes a whole population, as lists, which ioh reads fastest."""
    f_opt = float(problem.optimum.y)
    box = np.column_stack([problem.bounds.lb, problem.bounds.ub]).astype(float)

    def of_arrays(X: FloatArray) -> FloatArray:
        return np.array(problem(X.tolist()))

    def of_lists(rows: list[list[float]]) -> list[float]:
        values: list[float] = problem(rows)
        return values

    def is_solved() -> bool:
        return bool(problem.state.current_best.y <= f_opt + LAST_TARGET)

    return Function(name, of_arrays, of_lists, box, f_opt, None, is_solved)


# -- files -------------------------------------------------------------------------------------------------------------


def read_trial(folder: Path) -> tuple[float | None, int]:
    """Return no error, because the minimum is published, and a trial's evaluations from the logger's files.

    Parameters
    ----------
    folder : Path
        The logger's folder of one trial.

    Raises
    ------
    OSError
        If the files are not complete.
    """
    try:
        (file,) = folder.glob("IOHprofiler_*.json")  # ValueError where there is none
        (scenario,) = json.loads(file.read_text())["scenarios"]
        (run,) = scenario["runs"]
        data = (folder / scenario["path"]).read_text()
    except (ValueError, KeyError) as error:
        raise OSError(
            f"{folder} is not complete ({error}): is the disk full? The same command continues with this trial"
        ) from None
    if not data.endswith("\n"):
        raise OSError(f"{folder} is not complete: is the disk full? The same command continues with this trial")
    return None, int(run["evals"])


def merge(trials: list[Path], folder: Path) -> None:
    """Add the trials of one function in one dimension to a folder, as one logger would have written them."""
    files = [next(trial.glob("IOHprofiler_*.json")) for trial in trials]
    described = [json.loads(file.read_text()) for file in files]
    scenario = described[0]["scenarios"][0]
    data = scenario["path"]
    (folder / data).parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(folder / data) as file:
        for trial in trials:
            file.write((trial / data).read_bytes())
    scenario["runs"] = [run for one in described for run in one["scenarios"][0]["runs"]]
    target = folder / files[0].name
    scenarios = json.loads(target.read_text())["scenarios"] if target.exists() else []
    others = [other for other in scenarios if other["dimension"] != scenario["dimension"]]
    whole = {**described[0], "scenarios": sorted([*others, scenario], key=lambda one: int(one["dimension"]))}
    with atomic_write(target, text=True) as opened:
        opened.write(json.dumps(whole, indent=1) + "\n")


PACKAGE = Package("ioh", "ioh")
IOH = Platform(PACKAGE, "IOHanalyzer", open_problem, read_trial, merge)


def suites() -> list[Suite]:
    """Return all suites, whether ioh is installed or not."""

    def suite(name: str, count: int, dims: tuple[int, ...]) -> Suite:
        functions = tuple(f"f{number}" for number in range(1, count + 1))
        return Suite(name, functions, None, False, 1e-8, lambda _: dims, PACKAGE, IOH)

    return [suite(name, len(numbers), dims) for name, (_, numbers, dims) in SUITES.items()]
