"""Experiments of papers: their settings, the parts of a protocol, and the measurement of one of them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from skde.algorithms import Algorithm
from skde.benchmark.execution_models import CPU_MODELS, EXECUTION_MODELS, ModelMinimizer
from skde.benchmark.optimizers import option_text
from skde.benchmark.records import Cell, best_values, errors_of, or_null, round_values
from skde.minimizer import Minimizer
from skde.utils.validation import check_choice

SOLVED = 1e-8
PROTOCOL, QUICK = "protocol", "quick"  # as budgets of a record
CURVE = 10  # points of a curve


@dataclass(frozen=True)
class ProtocolSettings:
    """Settings that all cells of a record share.

    Attributes
    ----------
    paper, suite : str
        Names of the paper, and of the suite with its functions.
    budget : str
        "protocol", the paper's budgets; "quick", a part of them; or evaluations or seconds as for `Budget`.
    runs : int
        Runs of a cell; fewer where an experiment says so.
    seed : int
        The first of the runs' seeds.
    device : str
        "cpu", "cuda" or "cuda:N".
    n_jobs : int or None
        Threads on the CPU; None: OpenMP's number.
    data : {"generated", "official"}
        Data of the functions.
    folder : str or None
        The folder with official data; None: an installed package.
    """

    paper: str
    suite: str
    budget: str
    runs: int
    seed: int = 0
    device: str = "cpu"
    n_jobs: int | None = None
    data: str = "generated"
    folder: str | None = None


class Place(NamedTuple):
    """A cell of a paper's table that an experiment gives.

    Attributes
    ----------
    table, row, column : str
        The cell.
    kind : {"value", "seconds", "success"}
        The errors of the runs, the seconds of a run, or the share of runs that reach 1e-8.
    quantity : str
        The table's name of the figures.
    label : str
        The printed name of the row, if several experiments are of one row of the paper's.
    """

    table: str
    row: str
    column: str
    kind: str = "value"
    quantity: str = "mean"
    label: str = ""


@dataclass(frozen=True)
class PaperExperiment:
    """The runs of one algorithm on one function, a cell of a record.

    Attributes
    ----------
    part : str
        The part of the paper; experiments of one part share their protocol.
    function, dim : str, int
        The function.
    algorithm : str
        The name by which options select it.
    optimizer : Algorithm
        The algorithm with its parameters.
    limits : mapping
        max_evals, max_iter or max_time of every run.
    places : tuple of Place
        The cells of the paper's tables.
    target : float or None
        A run ends at this error.
    model : str
        The execution model; "auto": the execution of `Minimizer`.
    alone : bool
        Whether the runs are made and timed one after another; else they are one batch.
    curve : bool
        Whether the cell has the mean of the best values at ten times of the run.
    """

    part: str
    function: str
    dim: int
    algorithm: str
    optimizer: Any
    limits: Mapping[str, Any]
    places: tuple[Place, ...] = ()
    target: float | None = None
    model: str = "auto"
    alone: bool = False
    curve: bool = False

    @property
    def pop_size(self) -> int:
        """Number of individuals."""
        return int(self.optimizer.pop_size)

    @property
    def tables(self) -> tuple[str, ...]:
        """Numbers of the tables."""
        return tuple(dict.fromkeys(place.table for place in self.places))

    @property
    def text(self) -> str:
        """Name and parameters of the algorithm, as in records."""
        return name_algorithm(self.optimizer)

    @property
    def key(self) -> dict[str, Any]:
        """The entries that identify the cell."""
        return {"part": self.part, "function": self.function, "dim": self.dim, "algorithm": self.text}


@dataclass(frozen=True)
class Miniature:
    """The part of a protocol that `--quick` runs.

    Attributes
    ----------
    runs : int
        Runs of a cell.
    share : float
        Share of the budgets.
    functions, dims, pop_sizes : tuple
        The values that remain; empty: all.
    """

    runs: int
    share: float
    functions: tuple[str, ...] = ()
    dims: tuple[int, ...] = ()
    pop_sizes: tuple[int, ...] = ()

    def has(self, experiment: PaperExperiment) -> bool:
        """Return whether an experiment remains."""
        return (
            experiment.function in (self.functions or (experiment.function,))
            and experiment.dim in (self.dims or (experiment.dim,))
            and experiment.pop_size in (self.pop_sizes or (experiment.pop_size,))
        )

    def limits(self, experiment: PaperExperiment) -> dict[str, Any]:
        """Return smaller limits; at least four generations."""
        least = {"max_evals": 4 * experiment.pop_size, "max_iter": 4, "max_time": 0.01}
        shares = {name: type(value)(value * self.share) for name, value in experiment.limits.items()}
        return {name: max(least[name], value) for name, value in shares.items()}


@dataclass(frozen=True)
class Selection:
    """The experiments that options select; None: all."""

    table: Sequence[str] | None = None
    function: Sequence[str] | None = None
    dim: Sequence[int] | None = None
    algorithm: Sequence[str] | None = None
    pop_size: Sequence[int] | None = None

    def of(self, paper: str, experiments: Sequence[PaperExperiment]) -> list[PaperExperiment]:
        """Return the selected experiments.

        Raises
        ------
        ValueError
            For values that no experiment of the paper has, and for an empty list.
        """
        chosen = list(experiments)
        for what, wanted in vars(self).items():
            if wanted is None:
                continue
            values = {id(one): set(map(str, values_of(one, what))) for one in experiments}
            allowed = dict.fromkeys(str(value) for one in experiments for value in values_of(one, what))
            if not wanted:
                raise ValueError(f"{what}s must be one or more, got none")
            texts = {check_choice(f"{what} of {paper!r}", str(value), allowed) for value in wanted}
            chosen = [one for one in chosen if values[id(one)] & texts]
        if not chosen:
            raise ValueError(f"no experiment of {paper!r} has all of the given options; leave one out")
        return chosen


ALL = Selection()


def values_of(experiment: PaperExperiment, what: str) -> Iterable[Any]:
    """Return the values of an experiment by which options select it."""
    return experiment.tables if what == "table" else (getattr(experiment, what),)


def measure_paper_cell(problem: Any, experiment: PaperExperiment, settings: ProtocolSettings) -> Cell:
    """Measure one experiment; compilation for a GPU comes before."""
    device = "cpu" if experiment.model in CPU_MODELS else settings.device
    make = Minimizer if experiment.model == "auto" else partial(ModelMinimizer.with_model, experiment.model)
    minimizer = make(
        experiment.optimizer,
        n_runs=1 if experiment.alone else settings.runs,
        target=None if experiment.target is None else problem.f_opt + experiment.target,
        device=device,
        n_jobs=1 if experiment.model == "serial" else settings.n_jobs,
        random_state=settings.seed,
        **experiment.limits,
    )
    if device != "cpu" or experiment.alone or "max_time" in experiment.limits:
        # A target that no run reaches: what judges it is compiled, too.
        short = {**dict.fromkeys(experiment.limits), "max_iter": 1}
        short["target"] = None if experiment.target is None else -np.inf
        clone(minimizer).set_params(**short).fit(problem)
    runs, begin = [], time.perf_counter()
    if experiment.alone:
        spent = []
        for number in range(settings.runs):
            at = time.perf_counter()
            runs += clone(minimizer).set_params(random_state=settings.seed + number).fit(problem).runs_
            spent.append(time.perf_counter() - at)
    else:
        runs = minimizer.fit(problem).runs_
        spent = [run.time for run in runs] if experiment.target is not None else []
    seconds = time.perf_counter() - begin
    error = round_values(errors_of(or_null([run.fun for run in runs]), problem.f_opt))
    return {
        "f_opt": problem.f_opt,
        "best": best_values(error, problem.f_opt),
        "error": error,
        "n_evals": [run.n_evals for run in runs],
        "seconds": round(seconds, 6),
        **({"run_seconds": [round(value, 6) for value in spent]} if spent else {}),
        **({"curve": mean_curve([run.history for run in runs])} if experiment.curve else {}),
    }


def mean_curve(histories: Sequence[Any]) -> list[float | None]:
    """Return the mean of the best values of runs at each tenth of their evaluations."""
    values = []
    for history in histories:
        at = np.arange(1, CURVE + 1) / CURVE * history.n_evals[-1]
        values.append(history.best[np.searchsorted(history.n_evals, at, side="right") - 1])
    return [float(f"{value:.4g}") if np.isfinite(value) else None for value in np.mean(values, axis=0)]


def find_timed_models(names: Iterable[str], device: str) -> list[str]:
    """Return the execution models that run on a device; on a GPU also the CPU's."""
    on_cpu = (*CPU_MODELS, "auto")
    found = [name for name in names if name in on_cpu or (device != "cpu" and name in EXECUTION_MODELS)]
    return [name for name in found if name != "auto" or "persistent" not in found]


def name_algorithm(algorithm: Algorithm) -> str:
    """Return an algorithm's name with the parameters that differ from its defaults, as in records."""
    given, default = algorithm.get_params(), type(algorithm)().get_params()
    text = ",".join(f"{name}={option_text(value)}" for name, value in given.items() if value != default[name])
    return f"{algorithm.name}:{text}" if text else algorithm.name


def data_options(settings: ProtocolSettings) -> dict[str, Any]:
    """Return the options of a suite's data that differ from the defaults."""
    data = {} if settings.data == "generated" else {"data": settings.data}
    return data if settings.folder is None else {**data, "folder": settings.folder}
