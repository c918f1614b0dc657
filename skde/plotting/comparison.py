"""The plot of several solvers, results, or algorithms of a record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from skde.curves import FLOOR, HIGHEST_TARGET, evals_to_goals, is_logarithmic, targets, values_at
from skde.plotting.axes import axes_of, draw_floor, note_values, show_legend, thin_ticks, write_title
from skde.plotting.convergence import ConvergenceDisplay
from skde.plotting.solvers import histories_of, minimum_of, name_objective, name_of
from skde.result import History
from skde.typing import FloatArray
from skde.utils.validation import check_choice, check_real, quote

KINDS = ("convergence", "distribution", "ecdf")


class ComparisonDisplay:
    """Several algorithms in one plot: their convergence, their last values, or the share of targets that they reach.

    Parameters
    ----------
    histories : mapping of str to list of History
        The runs of every algorithm, by its name in the legend.
    f_opt : float or None, default None
        The known minimum, which is subtracted; None: values.
    title : str or None, default None
        The title of the axes, where they have none.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        The plot's.
    lines_ : list of matplotlib lines
        One line for each algorithm; in a distribution its runs.

    Examples
    --------
    >>> from skde import ComparisonDisplay, Minimizer
    >>> settings = {"max_evals": 5000, "n_runs": 15, "random_state": 0}
    >>> solvers = [Minimizer(name, **settings).fit("rastrigin", dim=5) for name in ("de", "jde", "shade")]
    >>> display = ComparisonDisplay.from_estimator(solvers)
    >>> [line.get_label() for line in display.lines_]
    ['de', 'jde', 'shade']
    >>> runs = {"de": solvers[0].runs_, "jde": solvers[1].runs_}
    >>> ComparisonDisplay.from_result(runs, kind="distribution").ax_.get_ylabel()
    'best value'
    """

    def __init__(
        self, histories: Mapping[str, Sequence[History]], f_opt: float | None = None, *, title: str | None = None
    ) -> None:
        self.histories = {name: list(runs) for name, runs in histories.items()}
        self.f_opt = f_opt
        self.title = title

    @classmethod
    def from_estimator(
        cls,
        estimators: Any,
        *,
        kind: str = "convergence",
        f_opt: float | None = None,
        x_axis: str = "n_evals",
        floor: float = FLOOR,
        ax: Any = None,
        **kwargs: Any,
    ) -> ComparisonDisplay:
        """Draw fitted solvers.

        Parameters
        ----------
        estimators : mapping of str to solver, or sequence of solvers
            Fitted solvers of one objective. In a sequence they have the names of their algorithms.
        f_opt : float or None, default None
            The known minimum; None: the minimum of the problem of all solvers, where they have one.
        kind, x_axis, floor, ax, **kwargs
            As in `plot`.

        Returns
        -------
        display : ComparisonDisplay
        """
        named = by_name(estimators)
        minima, titles = {minimum_of(one) for one in named.values()}, {name_objective(one) for one in named.values()}
        known = minima.pop() if f_opt is None and len(minima) == 1 else f_opt
        histories = {name: [run.history for run in one.runs_] for name, one in named.items()}
        display = cls(histories, known, title=titles.pop() if len(titles) == 1 else None)
        return display.plot(ax, kind=kind, x_axis=x_axis, floor=floor, **kwargs)

    @classmethod
    def from_result(
        cls,
        results: Mapping[str, Any],
        *,
        kind: str = "convergence",
        f_opt: float | None = None,
        x_axis: str = "n_evals",
        floor: float = FLOOR,
        ax: Any = None,
        **kwargs: Any,
    ) -> ComparisonDisplay:
        """Draw results.

        Parameters
        ----------
        results : mapping of str to result
            By name: a RunResult, an OptimizeResult of skde, or a list of these such as ``runs_``.
        f_opt : float or None, default None
            The known minimum.
        kind, x_axis, floor, ax, **kwargs
            As in `plot`.

        Returns
        -------
        display : ComparisonDisplay
        """
        if not isinstance(results, Mapping):
            raise TypeError(f"results must be a mapping of names to results, got {quote(results)}")
        display = cls({name: histories_of(result) for name, result in results.items()}, f_opt)
        return display.plot(ax, kind=kind, x_axis=x_axis, floor=floor, **kwargs)

    @classmethod
    def from_record(
        cls,
        record: Mapping[str, Any],
        *,
        function: str | None = None,
        dim: int | None = None,
        kind: str = "convergence",
        floor: float = FLOOR,
        ax: Any = None,
        **kwargs: Any,
    ) -> ComparisonDisplay:
        """Draw a record of ``skde bench run``, as `skde.benchmark.records.read_record` returns it.

        Parameters
        ----------
        record : mapping
            The record; its cells need convergence curves.
        function : str or None, default None
            The function; None: all of them, which only kind="ecdf" can draw together.
        dim : int or None, default None
            The number of variables; None: all cells', where there is one.
        kind, floor, ax, **kwargs
            As in `plot`.

        Returns
        -------
        display : ComparisonDisplay

        Raises
        ------
        ValueError
            For a function or dimension that the record does not have, and without curves.
        """
        cells = [cell for cell in record["cells"] if (cell.get("curves") or {}).get("n_evals")]
        if not cells:
            raise ValueError("the record has no convergence curves: skde bench run writes them")
        for name, value in (("function", function), ("dim", dim)):
            if value is not None:
                check_choice(name, value, tuple(dict.fromkeys(cell[name] for cell in cells)))
        cells = [cell for cell in cells if function in (None, cell["function"]) and dim in (None, cell["dim"])]
        dims, functions = ({cell[name] for cell in cells} for name in ("dim", "function"))
        if len(dims) > 1:
            raise ValueError(f"the record has several dimensions: give dim, one of {', '.join(map(str, sorted(dims)))}")
        if len(functions) > 1 and kind != "ecdf":
            raise ValueError(f"kind={kind!r} draws one function: give function, one of {', '.join(sorted(functions))}")
        histories: dict[str, list[History]] = {}
        for cell in cells:
            histories.setdefault(cell["algorithm"], []).extend(histories_of_cell(cell))
        of = next(iter(functions)) if len(functions) == 1 else f"{len(functions)} functions"
        display = cls(histories, 0.0, title=f"{of}, D = {dims.pop()}")
        display.plot(ax, kind=kind, floor=floor, **kwargs)
        if kind == "convergence":  # the curves of a record are on a logarithmic grid
            display.ax_.set_xscale("log")
        return display

    def plot(
        self,
        ax: Any = None,
        *,
        kind: str = "convergence",
        x_axis: str = "n_evals",
        floor: float = FLOOR,
        **kwargs: Any,
    ) -> ComparisonDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes or None, default None
            Axes of the plot; None: a new figure's.
        kind : {"convergence", "distribution", "ecdf"}, default "convergence"
            "convergence": medians and quartiles over evaluations, as `ConvergenceDisplay`. "distribution": the last
            value of every run, with box plots. "ecdf": the share of the pairs of run and target that are reached,
            over evaluations; the targets are 51 errors from 100 to `floor`, and the known minimum is needed.
        x_axis : {"n_evals", "seconds"}, default "n_evals"
            The horizontal axis of a convergence.
        floor : float, default 1e-12
            Smaller errors are drawn here on a logarithmic axis, > 0; the smallest target of "ecdf".
        **kwargs
            Arguments of matplotlib's plot for the lines.

        Returns
        -------
        self : ComparisonDisplay
        """
        for name, runs in self.histories.items() or [("the comparison", [])]:
            if not runs:
                raise ValueError(f"{name} has no run to draw")
        check_choice("kind", kind, KINDS)
        floor = check_real("floor", floor, 0, low_open=True, high_open=True)
        if kind == "ecdf" and self.f_opt is None:
            raise ValueError("kind='ecdf' needs the known minimum: f_opt=...")
        ax = axes_of(ax)
        if kind == "convergence":
            self._draw_convergence(ax, x_axis, floor, kwargs)
        elif kind == "distribution":
            self._draw_distribution(ax, floor, kwargs)
        else:
            self._draw_ecdf(ax, floor, kwargs)
        write_title(ax, self.title)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_convergence(self, ax: Any, x_axis: str, floor: float, style: dict[str, Any]) -> None:
        displays = [ConvergenceDisplay(runs, self.f_opt, name=name) for name, runs in self.histories.items()]
        # One axis is logarithmic for all or for none.
        values = np.concatenate([history.best for runs in self.histories.values() for history in runs])
        log = self.f_opt is not None or is_logarithmic(values)
        self.lines_ = [display.plot(ax, x_axis=x_axis, floor=floor, log=log, **style).lines_[0] for display in displays]

    def _draw_distribution(self, ax: Any, floor: float, style: dict[str, Any]) -> None:
        last = [np.array([run.best[-1] for run in runs]) - (self.f_opt or 0.0) for runs in self.histories.values()]
        log = self.f_opt is not None or is_logarithmic(np.concatenate(last))
        shown_values = [np.maximum(values, floor) if log else values for values in last]
        finite = [values[np.isfinite(values)] for values in shown_values]
        ax.boxplot(finite, widths=0.5, showfliers=False, medianprops={"color": "0.2"}, boxprops={"color": "0.5"})
        self.lines_ = []
        for k, (name, values) in enumerate(zip(self.histories, finite, strict=True)):
            # Runs one after the other in the box, so that equal values do not hide each other.
            places = k + 1 + 0.4 * ((np.arange(len(values)) + 0.5) / max(len(values), 1) - 0.5)
            marks = {"marker": "o", "markersize": 4, "linestyle": "none", "alpha": 0.7, "color": f"C{k % 10}"}
            self.lines_ += ax.plot(places, values, **{**marks, "label": name, **style})
            note_values(ax, values, name)
        ax.set_xticks(range(1, len(last) + 1), list(self.histories))
        if log:
            draw_floor(ax, floor)
            thin_ticks(ax.yaxis)
        ax.set_ylabel("best value" if self.f_opt is None else "error")

    def _draw_ecdf(self, ax: Any, floor: float, style: dict[str, Any]) -> None:
        assert self.f_opt is not None
        goals = targets(floor)
        most = max(int(run.n_evals[-1]) for runs in self.histories.values() for run in runs)
        self.lines_ = []
        for name, runs in self.histories.items():
            reached = np.sort(np.concatenate([evals_of_run_to_goals(run, self.f_opt, goals) for run in runs]))
            share = np.arange(1, len(reached) + 1) / len(reached)
            seen = np.isfinite(reached)
            # The line continues to the end of the longest run.
            x = np.append(reached[seen], most)
            y = np.append(share[seen], seen.mean())
            self.lines_ += ax.step(x, y, where="post", **{"label": name, **style})
            note_values(ax, np.concatenate([run.best for run in runs]), name)
        ax.set(xscale="log", xlabel="evaluations", ylabel="share of reached targets", ylim=(-0.02, 1.02))
        thin_ticks(ax.xaxis)
        show_legend(ax, "upper left", f"{len(goals)} errors from {HIGHEST_TARGET:g} to {floor:g}")


def by_name(estimators: Any) -> dict[str, Any]:
    """Return estimators by their names; in a sequence by the names of their algorithms, which must differ."""
    if isinstance(estimators, Mapping):
        return dict(estimators)
    if not isinstance(estimators, Iterable):
        raise TypeError(
            f"estimators must be a mapping of names to solvers, or a list of solvers, got {quote(estimators)}"
        )
    given = list(estimators)
    names = [name_of(one) or "several" for one in given]
    if len(set(names)) < len(names):
        raise ValueError(
            f"estimators: the algorithms are {', '.join(names)}, which are not all different: give a mapping of names"
        )
    return dict(zip(names, given, strict=True))


def histories_of_cell(cell: Mapping[str, Any]) -> list[History]:
    """Return the curves of a cell of a record as histories of errors; None becomes infinite."""
    n_evals = np.array(cell["curves"]["n_evals"], np.int64)
    unknown = np.full(len(n_evals), np.nan)
    errors = [np.array([np.inf if error is None else error for error in run]) for run in cell["curves"]["error"]]
    return [History(n_evals, unknown, run) for run in errors]


def evals_of_run_to_goals(run: History, f_opt: float, goals: FloatArray) -> FloatArray:
    """Return the evaluations at which a run reaches each error, infinite where it does not."""
    errors = np.minimum.accumulate(values_at(run.n_evals, run.best - f_opt, run.n_evals))
    reached: FloatArray = evals_to_goals(run.n_evals.astype(np.float64), errors[None], goals)[0]
    return reached
