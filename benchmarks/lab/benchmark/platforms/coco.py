"""Suites of COCO (package coco-experiment), logged by its observer for its post-processing, cocopp."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from skde.benchmark.functions import Function, LoggerFiles, Package, Platform, Suite
from skde.typing import FloatArray
from skde.utils.files import atomic_write

DIMS = (2, 3, 5, 10, 20, 40)
# Functions and dimensions of the suites with one objective and without noise.
SUITES: dict[str, tuple[int, tuple[int, ...]]] = {
    "bbob": (24, DIMS),
    "bbob-constrained": (54, DIMS),
    "bbob-mixint": (24, (5, 10, 20, 40, 80, 160)),
    "bbob-largescale": (24, (20, 40, 80, 160, 320, 640)),
}
# The kinds of files in data_fN/, one each for a dimension.
KINDS = ("dat", "tdat", "rdat", "mdat")


@contextmanager
def open_problem(suite: str, function: str, dim: int, instance: int, log: LoggerFiles) -> Iterator[Function]:
    """Open a problem with an observer that writes to a folder.

    Parameters
    ----------
    suite, function : str
        Names, such as "bbob" and "f1".
    dim, instance : int
        The dimension and the number of the instance, from 1 on.
    log : LoggerFiles
        The observer's folder and the algorithm.

    Yields
    ------
    function : Function
        The files are complete when the context ends.
    """
    import cocoex

    before = cocoex.log_level("warning")
    problems = one_problem(suite, function, dim, instance)
    options = {
        "outer_folder": log.folder.parent.absolute(),
        "result_folder": log.folder.name,
        "algorithm_name": log.algorithm,
        "algorithm_info": log.info,
    }
    observer = cocoex.Observer("bbob", " ".join(f'{name}: "{value}"' for name, value in options.items()))
    problem = problems[0]
    try:
        problem.observe_with(observer)
        yield make_observed_function(function, problem, lambda: one_problem(suite, function, dim, instance))
    finally:
        problem.free()  # writes the last lines; a second problem that is observed before would end the process
        cocoex.log_level(before)


def one_problem(suite: str, function: str, dim: int, instance: int) -> Any:
    """Return cocoex's suite of one problem."""
    import cocoex

    number = function.removeprefix("f")
    return cocoex.Suite(suite, f"instances: {instance}", f"dimensions: {dim} function_indices: {number}")


def make_observed_function(name: str, problem: Any, copies: Callable[[], Any]) -> Function:
    """Return a problem as a function; it is called once for each point, since COCO has no call for several."""
    box = np.column_stack([problem.lower_bounds, problem.upper_bounds]).astype(float)
    n_integer = problem.number_of_integer_variables
    if n_integer:
        # COCO's first variables are the integers; each gets the same share of the box.
        box[:n_integer] += [-0.5, 0.5]

    def points(X: FloatArray) -> FloatArray:
        if not n_integer:
            return X
        rounded = X.copy()
        whole = rounded[:, :n_integer]
        np.rint(whole, out=whole)
        np.clip(whole, problem.lower_bounds[:n_integer], problem.upper_bounds[:n_integer], out=whole)
        return rounded

    if problem.number_of_constraints:
        constrained = Constrained(problem, copies())
        return Function(
            name,
            constrained.values,
            by_lists(constrained.values),
            box,
            0.0,
            constrained.constraints(),
            make_solved_test(problem),
        )

    def of_arrays(X: FloatArray) -> FloatArray:
        return np.fromiter(map(problem, points(X)), float, len(X))

    return Function(name, of_arrays, by_lists(of_arrays), box, 0.0, None, make_solved_test(problem))


def by_lists(of_arrays: Any) -> Any:
    """Return the function for lists of points."""
    return lambda rows: of_arrays(np.asarray(rows, float)).tolist()


def make_solved_test(problem: Any) -> Any:
    """Return a function that says whether a problem's last target has been hit."""
    return lambda: bool(problem.final_target_hit)


class Constrained:
    """A problem with constraints, in which each of a solver's points is evaluated once.

    A solver asks for values and constraints one after the other, and COCO counts both. So the constraints are evaluated
    with the values and stored; points without values, by which a solver finds out how many constraints there are, are
    evaluated on a second problem that is not observed.

    Parameters
    ----------
    problem : cocoex.Problem
        The observed problem.
    copies : cocoex.Suite
        A suite of the same problem; it has to live as long as its problem.
    """

    def __init__(self, problem: Any, copies: Any) -> None:
        self.problem = problem
        self.copies = copies
        self.copy = copies[0]
        self.last_points: FloatArray = np.empty((0, problem.dimension))
        self.last_values: FloatArray = np.empty((0, problem.number_of_constraints))

    def values(self, X: FloatArray) -> FloatArray:
        """Return the values of the rows of X, and store their constraints."""
        # The constraints first: COCO's example experiments do so, and its logger counts them up to each value.
        rows = [(self.problem.constraint(x), self.problem(x)) for x in X]
        self.last_points = X.copy()
        self.last_values = np.array([constraint for constraint, _ in rows])
        return np.array([value for _, value in rows])

    def of_rows(self, X: FloatArray) -> FloatArray:
        """Return the constraints g(x) <= 0 of the rows of X, of shape (n, m)."""
        if not np.array_equal(X, self.last_points):
            return np.array([self.copy.constraint(row) for row in X])
        return self.last_values

    def constraints(self) -> Any:
        """Return the constraints in SciPy's form."""
        from scipy.optimize import NonlinearConstraint

        return NonlinearConstraint(self.of_rows, -np.inf, 0.0)


# -- files -------------------------------------------------------------------------------------------------------------


def read_trial(folder: Path) -> tuple[float | None, int]:
    """Return the error of a trial and its evaluations from the last line of the observer's file.

    Parameters
    ----------
    folder : Path
        The observer's folder of one trial.

    Returns
    -------
    error, n_evals : float, int
        The best value minus the minimum; with constraints at the best point, by value plus violations.

    Raises
    ------
    OSError
        If the files are not complete.
    """
    info = "".join(file.read_text() for file in folder.glob("*.info"))
    described = re.search(r"\n(\S+\.dat), \d+:(\d+)\|\S+$", info)
    files = [(folder / described[1]).with_suffix(f".{kind}") for kind in KINDS] if described else []
    last = [file.read_text().rpartition("\n")[0].rpartition("\n")[2] for file in files if file.exists()]
    # The first two kinds end with the last evaluation; the files of the others may have a header only.
    if described is None or len(last) < len(KINDS) or any(one.split(" ")[0] != described[2] for one in last[:2]):
        raise OSError(f"{folder} is not complete: is the disk full? The same command continues with this trial")
    return float(last[0].split()[2]), int(described[2])


def merge(trials: list[Path], folder: Path) -> None:
    """Add the trials of one function in one dimension to a folder, as one observer would have written them."""
    infos = [next(trial.glob("*.info")) for trial in trials]
    # Three lines a dimension: its settings, a comment, and the file with the result of each instance.
    head, comment, first = infos[0].read_text().splitlines()
    data, _, _ = first.partition(", ")
    results = [info.read_text().splitlines()[-1].partition(", ")[2] for info in infos]
    for kind in KINDS:
        name = Path(data).with_suffix(f".{kind}")
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(folder / name) as file:
            for trial in trials:
                file.write((trial / name).read_bytes())
    target = folder / infos[0].name
    blocks = info_blocks(target)
    blocks[dim_of(head)] = "\n".join([head, comment, ", ".join([data, *results])])
    with atomic_write(target, text=True) as file:
        file.write("\n".join(block for _, block in sorted(blocks.items())))


def info_blocks(file: Path) -> dict[int, str]:
    """Return the three lines of each dimension of an .info file."""
    lines = file.read_text().splitlines() if file.exists() else []
    return {dim_of(lines[row]): "\n".join(lines[row : row + 3]) for row in range(0, len(lines), 3)}


def dim_of(head: str) -> int:
    """Return the dimension in the first of three lines."""
    found = re.search(r"DIM = (\d+)", head)
    if found is None:
        raise ValueError(f"a line of COCO's .info file has no dimension: {head!r}")
    return int(found[1])


PACKAGE = Package("coco-experiment", "cocoex")
COCO = Platform(PACKAGE, "cocopp", open_problem, read_trial, merge)


def suites() -> list[Suite]:
    """Return all suites, whether coco-experiment is installed or not."""

    def suite(name: str, count: int, dims: tuple[int, ...]) -> Suite:
        functions = tuple(f"f{number}" for number in range(1, count + 1))
        constrained = name == "bbob-constrained"
        return Suite(name, functions, None, False, 1e-8, lambda _: dims, PACKAGE, COCO, constrained)

    return [suite(name, *sizes) for name, sizes in SUITES.items()]
