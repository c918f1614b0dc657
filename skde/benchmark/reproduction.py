"""Reproduction of a paper's table, and comparison with the paper's figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from skde.algorithms import ALGORITHMS
from skde.benchmark import trials
from skde.benchmark.optimizers import Optimizer, get_optimizer
from skde.benchmark.papers import Paper
from skde.benchmark.papers.paper import Figure
from skde.benchmark.recording import UNRECORDED, Recording
from skde.benchmark.records import Cell, Record
from skde.typing import FloatArray
from skde.validation import check_choice

AS_GOOD, NOISE, WORSE = VERDICTS = ("as good", "noise", "worse")
ALPHA = 0.05


@dataclass(frozen=True)
class Row:
    """A cell of the table: the paper's figures and ours.

    Attributes
    ----------
    function, dim, algorithm : str, int, str
        Names of the cell; the algorithm has the paper's name.
    paper, ours : (float, float)
        Mean and standard deviation of the best values.
    verdict : {"as good", "noise", "worse"}
        Result of `judge`.
    note : str
        The paper's note on a cell that is not as good.
    """

    function: str
    dim: int
    algorithm: str
    paper: Figure
    ours: Figure
    verdict: str
    note: str


def preset(paper: Paper, algorithm: str) -> Optimizer:
    """Return an algorithm with the paper's parameters; those that differ from the defaults are part of its name.

    Raises
    ------
    ValueError
        If the paper or skde has no such algorithm.
    """
    check_choice(f"algorithm of {paper.name!r}", algorithm, paper.algorithms)
    if not hasattr(ALGORITHMS.get(algorithm), paper.name):
        raise ValueError(
            f"{algorithm!r} of {paper.name!r} cannot be run: skde has no such algorithm, or no preset of it"
        )
    kind = ALGORITHMS[algorithm]
    given, default = getattr(kind, paper.name)().get_params(), kind().get_params()
    return get_optimizer(algorithm, **{name: value for name, value in given.items() if value != default[name]})


def available(paper: Paper) -> list[str]:
    """Return the paper's algorithms that can be run."""
    return [name for name in paper.algorithms if hasattr(ALGORITHMS.get(name), paper.name)]


def run(
    paper: Paper,
    settings: trials.Settings,
    algorithms: Sequence[str],
    dims: Sequence[int],
    *,
    recording: Recording = UNRECORDED,
) -> Record:
    """Run a paper's algorithms, with its parameters, on its functions.

    Parameters
    ----------
    paper : Paper
        The paper.
    settings : Settings
        Settings of `skde bench run`; the suite is the paper's.
    algorithms : sequence of str
        A subset of the paper's.
    dims : sequence of int
        A subset of the paper's.
    recording : Recording, default UNRECORDED
        The file of the record, and the progress bar.

    Returns
    -------
    record : dict
        As that of `trials.run`.

    Raises
    ------
    ValueError, TypeError, RuntimeError
        For names that the paper does not have, and for the reasons of `trials.run`.

    Examples
    --------
    >>> from skde.benchmark import papers, reproduction, trials
    >>> paper = papers.find_paper("nashed2012")
    >>> record = reproduction.run(paper, trials.Settings(paper.suite, "500", 2), ["de"], [10])
    >>> len(reproduction.rows(paper, record))
    20
    """
    optimizers = [preset(paper, algorithm) for algorithm in algorithms]
    for dim in dims:
        check_choice(f"dim of {paper.name!r}", str(dim), map(str, paper.dims))
    return trials.run(settings, optimizers, dims, exact=True, recording=recording)


def rows(paper: Paper, record: Record) -> list[Row]:
    """Return the cells of a record with the paper's figures."""
    return [row(paper, cell) for cell in record["cells"]]


def row(paper: Paper, cell: Cell) -> Row:
    """Return one cell with the paper's figures."""
    function, dim, algorithm = cell["function"], cell["dim"], cell["algorithm"].partition(":")[0]
    theirs = paper.figures[algorithm, dim][function]
    best = np.array([np.inf if value is None else value for value in cell["best"]], np.float64)
    verdict = judge(paper, theirs, best)
    note = "" if verdict == AS_GOOD else paper.note(function, dim, algorithm)
    return Row(function, dim, algorithm, theirs, mean_and_std(best), verdict, note)


def mean_and_std(best: FloatArray) -> Figure:
    """Return mean and standard deviation (with runs - 1), which is 0 for infinities and for one run."""
    finite = len(best) > 1 and np.isfinite(best).all()
    return float(best.mean()), float(best.std(ddof=1)) if finite else 0.0


def judge(paper: Paper, theirs: Figure, best: FloatArray) -> str:
    """Compare the best values of our runs with the paper's mean.

    Parameters
    ----------
    paper : Paper
        The paper, with its zero and number of runs.
    theirs : (float, float)
        The paper's mean and standard deviation.
    best : ndarray of shape (runs,)
        Ours.

    Returns
    -------
    verdict : {"as good", "noise", "worse"}
        "as good": our mean, rounded to the paper's two digits, is at most the paper's, or it is zero. "noise": it is
        higher, but not significantly by Welch's one-sided t-test at 0.05. "worse": otherwise.
    """
    mean, std = mean_and_std(best)
    if mean < paper.zero or float(f"{mean:.1e}") <= theirs[0]:
        return AS_GOOD
    if not (np.isfinite(mean) and len(best) > 1 and max(std, theirs[1]) > 0):
        return WORSE
    p = stats.ttest_ind_from_stats(
        mean, std, len(best), *theirs, paper.runs, equal_var=False, alternative="greater"
    ).pvalue
    return NOISE if p >= ALPHA else WORSE
