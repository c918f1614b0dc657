"""Plots: the drawn numbers, names and scales, and the curves of notebooks."""

from __future__ import annotations

import warnings
import xml.etree.ElementTree as ElementTree
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.exceptions import NotFittedError

from skde import (
    DE,
    Categorical,
    ComparisonDisplay,
    ConvergenceDisplay,
    History,
    Log,
    Minimizer,
    MinMaxDisplay,
    MinMaxSolver,
    ParameterTrace,
    ParameterTrajectoryDisplay,
    PopulationDisplay,
    SearchDisplay,
    get_problem,
    minimize,
)
from skde.algorithms import ALGORITHMS
from skde.curves import FLOOR, band_of, is_logarithmic
from skde.estimators import ModelRegressor
from skde.minmax.solution import make_array_function
from skde.notebook import curve_svg
from skde.typing import FloatArray

BOX = [(-5.0, 5.0)] * 2


def make(algorithm: Any = "jde", **parameters: Any) -> Minimizer:
    return Minimizer(algorithm, **{"max_iter": 30, "random_state": 0, **parameters})


def history(n_evals: Any, best: Any) -> History:
    return History(np.array(n_evals), np.array(n_evals) / 1000, np.array(best, float))


def game(X: FloatArray, Y: FloatArray) -> FloatArray:
    return np.asarray((X[:, :1] - 2) ** 2 - (Y[:, 0] - 2) ** 2 + X[:, :1] * Y[:, 0])


@pytest.mark.parametrize("kind", ["convergence", "distribution", "ecdf"])
def test_plots_without_a_run_are_refused(kind: str) -> None:
    for histories, message in (({}, "the comparison has no run to draw"), ({"jde": []}, "jde has no run to draw")):
        with pytest.raises(ValueError, match=message):
            ComparisonDisplay(histories, 0.0).plot(kind=kind)
    with pytest.raises(ValueError, match="there is no run to draw"):
        ConvergenceDisplay([]).plot()


def test_the_best_point_of_a_population_may_be_a_list() -> None:
    display = PopulationDisplay(np.eye(3), x=[1, 2, 3]).plot(variables=(0, 2))  # type: ignore[arg-type]
    assert np.array_equal(display.lines_[-1].get_xydata(), [[1, 3]])


# -- curves ------------------------------------------------------------------------------------------------------------


def test_quartiles_are_of_all_runs_at_common_places() -> None:
    runs = [history([10, 20], [8, 4]), history([10, 30], [6, 2]), history([20, 30], [7, 1])]
    band = band_of(runs, f_opt=1.0)
    assert band.x.tolist() == [10, 20, 30]
    # At 10 the third run has no value yet, which counts as infinite; at 30 the first one has ended with 4.
    assert band.low.tolist() == [5, 3, 0]
    assert band.middle.tolist() == [7, 5, 1]
    assert band.high.tolist() == [np.inf, 6, 3]


@pytest.mark.parametrize(
    ("values", "log"),
    [([1, 1000], True), ([0, 1], True), ([1, 5], False), ([-1, 1000], False), ([np.inf, 1, 1000], True), ([0], False)],
)
def test_which_values_are_logarithmic(values: list[float], log: bool) -> None:
    assert is_logarithmic(np.array(values)) == log


# -- convergence -------------------------------------------------------------------------------------------------------


def test_convergence_is_the_median_of_the_runs() -> None:
    m = make(n_runs=5).fit("sphere", dim=3)
    display = ConvergenceDisplay.from_estimator(m, alpha=0.5)
    (median,) = display.lines_
    assert median.get_xdata().tolist() == m.history_.n_evals.tolist()
    assert median.get_ydata()[-1] == np.median([run.fun for run in m.runs_])
    assert median.get_alpha() == 0.5
    assert display.band_ is not None
    axes = display.ax_
    assert (axes.get_yscale(), axes.get_ylabel(), axes.get_title()) == ("log", "error", "sphere, D = 3")
    assert median.get_label() == "jde"
    assert axes.get_legend().get_title().get_text() == "median and quartiles of 5 runs"


def test_runs_can_be_drawn_one_by_one_over_seconds() -> None:
    m = make(n_runs=3).fit("sphere", dim=3)
    display = ConvergenceDisplay.from_estimator(m, spread="runs", x_axis="seconds", name="mine")
    assert len(display.lines_) == 4
    assert display.band_ is None
    assert display.lines_[2].get_ydata().tolist() == m.runs_[1].history.best.tolist()
    assert (display.ax_.get_xlabel(), display.lines_[0].get_label()) == ("seconds", "mine")


def test_zeros_are_drawn_at_the_floor() -> None:
    display = ConvergenceDisplay.from_result(history([1, 2], [1.0, 0.0]), f_opt=0.0)
    assert display.lines_[0].get_ydata().tolist() == [1.0, FLOOR]
    assert 0 < display.ax_.get_ylim()[0] < FLOOR


def test_values_without_a_logarithm_have_a_linear_axis() -> None:
    display = ConvergenceDisplay.from_result(history([1, 2], [5.0, -3.0]))
    assert (display.ax_.get_yscale(), display.ax_.get_ylabel()) == ("linear", "best value")
    assert display.lines_[0].get_ydata().tolist() == [5.0, -3.0]


def test_points_before_the_first_feasible_one_are_not_drawn() -> None:
    display = ConvergenceDisplay.from_result([history([1, 2, 3], [np.inf, 2.0, 1.0])])
    assert display.lines_[0].get_xdata().tolist() == [2, 3]


def test_results_of_scipys_form_have_a_history() -> None:
    result = minimize("sphere", dim=2, max_iter=10, random_state=0)
    assert "history" in repr(result)
    assert len(repr(result.history)) < 80
    line = ConvergenceDisplay.from_result(result).lines_[0]
    assert line.get_ydata()[-1] == result.fun


def test_a_plot_goes_into_given_axes() -> None:
    m = make().fit("sphere", dim=2)
    first = ConvergenceDisplay.from_estimator(m)
    first.ax_.set_title("own title")
    second = ConvergenceDisplay.from_result(m.runs_, ax=first.ax_, name="second")
    assert second.figure_ is first.figure_
    assert len(first.ax_.lines) == 2
    assert first.ax_.get_title() == "own title"


def test_convergence_refuses_bad_input() -> None:
    with pytest.raises(TypeError, match="which has a history; got dict"):
        ConvergenceDisplay.from_result({})
    with pytest.raises(NotFittedError):
        ConvergenceDisplay.from_estimator(make())
    with pytest.raises(ValueError, match="x_axis must be one of"):
        ConvergenceDisplay.from_result(history([1], [1]), x_axis="days")
    with pytest.raises(ValueError, match=r"floor must be a number in \(0, inf\)"):
        ConvergenceDisplay.from_result(history([1], [1]), floor=0)


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skde.plotting.axes.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"plots need matplotlib.*pip install 'skde\[plot\]'"):
        ConvergenceDisplay.from_result(history([1], [1]))


# -- populations -------------------------------------------------------------------------------------------------------


def test_a_population_of_two_variables() -> None:
    m = make().fit("rastrigin", dim=2)
    display = PopulationDisplay.from_estimator(m, landscape=get_problem("rastrigin", dim=2))
    assert display.points_.get_offsets().tolist() == m.population_.tolist()
    assert display.points_.get_array().tolist() == m.fitness_.tolist()
    assert display.lines_[0].get_xydata()[0].tolist() == m.x_.tolist()
    assert display.ax_.get_xlim() == (-5.12, 5.12)


def test_principal_components_are_those_of_the_unit_box() -> None:
    rng = np.random.default_rng(0)
    weight, spread = rng.normal(size=100), 1e-3 * rng.normal(size=(100, 3))
    # In the unit box the third variable varies most, although its numbers are small.
    population = np.outer(weight, [1.0, 0.0, 0.005]) + spread * [1.0, 1.0, 1e-3]
    box = np.array([[-100, 100], [-100, 100], [-0.01, 0.01]])
    display = PopulationDisplay(population, box=box).plot()
    assert display.explained_variance_ratio_[0] > 0.99
    shown = display.points_.get_offsets()[:, 0]
    assert abs(np.corrcoef(shown, population[:, 2])[0, 1]) > 0.999
    assert np.std(shown) == pytest.approx(np.std(population[:, 2]) / 0.02, rel=0.01)


def test_typed_variables_have_their_names_and_scales() -> None:
    def f(X: FloatArray) -> FloatArray:
        return np.asarray(np.log10(X[:, 0]) ** 2 + X[:, 1])

    m = make().fit(f, bounds={"rate": Log(1e-4, 1.0), "kind": Categorical(["a", "b"]), "other": (0, 1)})
    ax = PopulationDisplay.from_estimator(m, variables=("rate", "kind")).ax_
    assert (ax.get_xlabel(), ax.get_xscale()) == ("rate", "log")
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b"]
    with pytest.raises(ValueError, match="'shape' must be one of rate, kind, other"):
        PopulationDisplay.from_estimator(m, variables=("rate", "shape"))


def test_points_without_a_value_are_crosses() -> None:
    values = np.array([1.0, np.inf, 2.0])
    display = PopulationDisplay(np.array([[0.0, 0], [1, 1], [2, 2]]), values).plot()
    assert len(display.points_.get_offsets()) == 2
    assert display.lines_[0].get_xydata().tolist() == [[1, 1]]


def test_populations_of_results() -> None:
    result = minimize("sphere", dim=2, max_iter=5, random_state=0)
    display = PopulationDisplay.from_result(result, bounds=BOX, name="jde")
    assert display.points_.get_offsets().tolist() == result.population.tolist()
    with pytest.raises(TypeError, match="it has no population, population_energies"):
        PopulationDisplay.from_result(make().fit("sphere", dim=2).runs_[0])


@pytest.mark.parametrize(
    ("variables", "landscape", "message"),
    [
        ((0, 3), None, r"variables must be an integer in \[0, 2\], got 3"),
        ((0, 1, 2), None, "variables must be two indices or names, or 'pca'"),
        (3, None, "variables must be two indices or names, or 'pca', got 3"),
        ("pca", abs, "landscape needs two variables"),
    ],
)
def test_populations_refuse_bad_input(variables: Any, landscape: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PopulationDisplay(np.zeros((5, 3))).plot(variables=variables, landscape=landscape)
    with pytest.raises(ValueError, match="landscape must return 14400 values, one a row, got shape"):
        PopulationDisplay(np.zeros((5, 3))).plot(variables=(0, 1), landscape=lambda X: X[:2, 0])
    with pytest.raises(ValueError, match="two individuals or more, got 1"):
        PopulationDisplay([[1, 2, 3]]).plot()  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="this one has dim=1"):
        PopulationDisplay(np.zeros((5, 1))).plot()


@pytest.mark.parametrize("display", [ConvergenceDisplay, PopulationDisplay, ParameterTrajectoryDisplay])
def test_models_have_no_runs_to_draw(display: Any) -> None:
    x = np.linspace(0, 1, 20)
    fitted = ModelRegressor(bounds=(-2, 2)).fit(x[:, None], x)
    with pytest.raises(TypeError, match=r"estimator must be a fitted Minimizer or MinMaxSolver, .* got ModelRegressor"):
        display.from_estimator(fitted)


# -- parameters --------------------------------------------------------------------------------------------------------


def test_a_trace_records_every_so_many_generations() -> None:
    trace = ParameterTrace(every=5)
    m = make("shade", max_iter=60, n_runs=2, callbacks=[trace]).fit("sphere", dim=4)
    assert trace.n_iter.tolist() == list(range(5, 60, 5))
    pop_size = len(m.population_)
    assert trace.n_evals.tolist() == [[pop_size * (g + 1)] * 2 for g in trace.n_iter.tolist()]
    assert np.array_equal(m.x_, make("shade", max_iter=60, n_runs=2).fit("sphere", dim=4).x_)


@pytest.mark.parametrize("algorithm", ["jde", "jade", "lshade", "jso", "gade", "gojde"])
def test_recorded_parameters_are_those_of_the_individuals(algorithm: str) -> None:
    found = []

    def look(progress: Any) -> None:
        if progress.n_iter:
            found.append(progress.parameters)

    m = make(algorithm, n_islands=2, max_iter=20, callbacks=look)
    m.fit(lambda X: (X**2).sum(axis=1), bounds=BOX * 2)
    batch = m._fit.batch
    for parameters in found:
        assert list(parameters) == ["F", "CR"]
        F, CR = parameters["F"][0], parameters["CR"][0]
        assert F.shape == CR.shape
        assert len(F) <= 2 * batch.pop_max
        assert ((F > 0) & (F <= 2)).all()
        assert ((CR >= 0) & (CR <= 1)).all()
    assert len({len(parameters["F"][0]) for parameters in found}) > 1 or not batch.varies


def test_parameters_on_several_devices_are_those_on_one() -> None:
    traces = []
    for device in ("cpu", ["cpu", "cpu"]):
        trace = ParameterTrace(every=3)
        make(n_runs=3, device=device, callbacks=trace).fit("sphere", dim=3)
        traces.append(trace)
    one, several = traces
    assert one.n_iter.tolist() == several.n_iter.tolist()
    assert np.array_equal(one.quartiles["CR"], several.quartiles["CR"])


def test_the_trajectory_of_the_best_run() -> None:
    trace = ParameterTrace(every=2)
    m = make(n_runs=3, callbacks=[trace]).fit("sphere", dim=3)
    best = [run.fun for run in m.runs_].index(m.fun_)
    display = ParameterTrajectoryDisplay.from_estimator(m, x_axis="n_evals")
    F, CR = display.lines_
    assert F.get_ydata().tolist() == trace.quartiles["F"][:, best, 1].tolist()
    assert CR.get_xdata().tolist() == trace.n_evals[:, best].tolist()
    assert display.ax_.get_title() == "jde on sphere, D = 3"
    assert len(ParameterTrajectoryDisplay.from_result(trace, run=2, name="third").bands_) == 2


def test_a_second_fit_clears_the_trace() -> None:
    trace = ParameterTrace(every=2)
    m = make(callbacks=[trace]).fit("sphere", dim=3)
    before = len(trace.n_iter)
    assert len(m.fit("sphere", dim=3).callbacks[0].n_iter) == before
    m.set_params(max_iter=60).resume()
    assert len(trace.n_iter) > before
    assert (np.diff(trace.n_iter) > 0).all()


def test_trajectories_refuse_bad_input() -> None:
    with pytest.raises(ValueError, match=r"callbacks=\[ParameterTrace\(\)\]"):
        ParameterTrajectoryDisplay.from_estimator(make().fit("sphere", dim=2))
    with pytest.raises(ValueError, match="more than every=10 generations"):
        ParameterTrajectoryDisplay.from_result(ParameterTrace())
    with pytest.raises(TypeError, match=r"callbacks=\[trace\].*from_result\(trace\); got OptimizeResult"):
        ParameterTrajectoryDisplay.from_result(make().fit("sphere", dim=2).result_)


@pytest.mark.parametrize("algorithm", ["de", "pso", "cmaes"])
def test_a_trace_of_nothing_is_refused_before_the_first_generation(algorithm: str) -> None:
    calls: list[int] = []

    def sphere(X: np.ndarray) -> Any:
        calls.append(len(X))
        return (X**2).sum(axis=1)

    m = make(algorithm, max_evals=5000, callbacks=[ParameterTrace()])
    with pytest.raises(ValueError, match=f"F and CR of the individuals, which '{algorithm}' does not have: leave it"):
        m.fit(sphere, bounds=BOX[:2])
    assert sum(calls) < 10  # those that check the function
    assert not m.__sklearn_is_fitted__()


def test_a_trace_needs_a_fit_of_more_generations_than_it_skips() -> None:
    trace = ParameterTrace(every=10)
    with pytest.raises(
        ValueError, match=r"ParameterTrace.every must be less than the generations of the fit, 10, got 10"
    ):
        make("jde", max_iter=10, callbacks=trace).fit("sphere", dim=2)
    make("jde", max_iter=11, callbacks=trace).fit("sphere", dim=2)
    assert trace.n_iter.tolist() == [10]


def test_a_min_max_solver_has_no_trace() -> None:
    solver = MinMaxSolver(max_iter=3, random_state=0, callbacks=[ParameterTrace(every=1)])
    with pytest.raises(ValueError, match="which MinMaxSolver does not have"):
        solver.fit(game, BOX[:1], BOX[:1])


@pytest.mark.gpu
def test_parameters_on_a_gpu_are_those_on_the_cpu() -> None:
    traces = []
    for device in ("cpu", "cuda"):
        trace = ParameterTrace(every=3)
        make("lshade", device=device, callbacks=trace).fit("sphere", dim=3)
        traces.append(trace)
    assert np.array_equal(traces[0].quartiles["F"], traces[1].quartiles["F"])


# -- min-max problems --------------------------------------------------------------------------------------------------


def test_a_min_max_solution_is_where_the_best_responses_cross() -> None:
    solver = MinMaxSolver(max_iter=20, random_state=0).fit(game, BOX[:1], BOX[:1])
    display = MinMaxDisplay.from_estimator(solver)
    solution, _, _, of_x, of_y = display.lines_
    assert solution.get_xydata()[0].tolist() == [*solver.x_, *solver.y_]
    # The largest value over y is at y = 2 + x / 2, the smallest over x at x = 2 - y / 2.
    step = 10 / 59
    assert np.abs(of_x.get_ydata() - (2 + of_x.get_xdata() / 2)).max() < step
    inside = of_y.get_xdata() < 4.9
    assert np.abs(of_y.get_xdata() - (2 - of_y.get_ydata() / 2))[inside].max() < step
    assert display.contours_ is not None


def test_a_min_max_solution_without_its_function() -> None:
    solver = MinMaxSolver(max_iter=5, random_state=0).fit("minmax/rustem4")
    display = MinMaxDisplay.from_estimator(solver, variables=(1, 2), landscape=False)
    assert len(display.lines_) == 3
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("x1", "y2")
    assert display.ax_.get_title() == "minmax/rustem4, D = 2"
    again = MinMaxDisplay.from_result(solver.result_, variables=(1, 2), name="rustem4")
    assert again.lines_[0].get_label() == "rustem4"
    assert again.lines_[1].get_xdata().tolist() == display.lines_[1].get_xdata().tolist()


def test_a_solver_without_a_function_has_none_to_draw() -> None:
    solver = MinMaxSolver(bounds_x=BOX[:1], bounds_y=BOX[:1], max_iter=1, random_state=0)
    while not solver.stopped_:
        X, Y = solver.ask()
        solver.tell(X, Y, game(X, Y))
    assert make_array_function(solver) is None
    assert MinMaxDisplay.from_estimator(solver).contours_ is None
    x, y = np.array([[1.0]]), np.array([[2.0], [0.5]])
    solver.resume(game)
    function = make_array_function(solver)
    assert function is not None
    assert np.array_equal(function(x, y), game(x, y))


def test_min_max_plots_refuse_bad_input() -> None:
    solver = MinMaxSolver(max_iter=2, random_state=0).fit("fabris2012/p6")
    with pytest.raises(ValueError, match="this is a constrained problem"):
        MinMaxDisplay.from_estimator(solver)
    assert ConvergenceDisplay.from_estimator(solver).ax_.get_title() == "fabris2012/p6, D = 3"
    with pytest.raises(TypeError, match="estimator must be a MinMaxSolver, got Minimizer"):
        MinMaxDisplay.from_estimator(make().fit("sphere", dim=2))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="it has no y, population_x, population_y"):
        MinMaxDisplay.from_result(make().fit("sphere", dim=2).result_)


# -- comparisons -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def solvers() -> list[Minimizer]:
    return [make(name, n_runs=5).fit("sphere", dim=3) for name in ("de", "jde")]


def test_solvers_are_compared_by_name(solvers: list[Minimizer]) -> None:
    display = ComparisonDisplay.from_estimator(solvers)
    assert [line.get_label() for line in display.lines_] == ["de", "jde"]
    for line, solver in zip(display.lines_, solvers, strict=True):
        assert line.get_ydata()[-1] == np.median([run.fun for run in solver.runs_])
    assert display.ax_.get_title() == "sphere, D = 3"
    named = ComparisonDisplay.from_estimator({"first": solvers[0], "second": solvers[0]})
    assert [line.get_label() for line in named.lines_] == ["first", "second"]


def test_a_distribution_has_every_run(solvers: list[Minimizer]) -> None:
    display = ComparisonDisplay.from_estimator(solvers, kind="distribution")
    for line, solver in zip(display.lines_, solvers, strict=True):
        assert line.get_ydata().tolist() == [run.fun for run in solver.runs_]
    assert [label.get_text() for label in display.ax_.get_xticklabels()] == ["de", "jde"]


def test_an_ecdf_is_the_share_of_reached_targets() -> None:
    runs = {"one": history([1, 10, 100], [1e3, 9e-3, 1e-9]), "two": history([1, 1000], [1e3, 1e-9])}
    display = ComparisonDisplay.from_result(runs, kind="ecdf", f_opt=0.0, floor=1e-8)
    one, two = display.lines_
    reached = one.get_ydata()[one.get_xdata() < 100]
    assert reached[-1] == pytest.approx(21 / 51)  # 100 ... 1e-2
    assert one.get_ydata()[-1] == two.get_ydata()[-1] == 1.0
    assert one.get_xdata()[-1] == 1000
    assert two.get_xdata().min() == 1000


def test_a_record_is_drawn_by_function() -> None:
    curves = {"n_evals": [1, 10], "error": [[None, 2.0], [5.0, 0.0], [7.0, 1.0]]}
    keys = [(name, function, 10) for name in ("de", "pso") for function in ("f1", "f2")]
    cells = [{"algorithm": name, "function": function, "dim": dim, "curves": curves} for name, function, dim in keys]
    record = {"cells": [*cells, {"algorithm": "de", "function": "f3", "dim": 10, "curves": None}]}
    display = ComparisonDisplay.from_record(record, function="f2")
    assert [line.get_label() for line in display.lines_] == ["de", "pso"]
    assert display.lines_[0].get_ydata().tolist() == [7.0, 1.0]
    assert display.ax_.get_title() == "f2, D = 10"
    assert ComparisonDisplay.from_record(record, kind="ecdf").ax_.get_title() == "2 functions, D = 10"
    with pytest.raises(ValueError, match="give function, one of f1, f2"):
        ComparisonDisplay.from_record(record)
    with pytest.raises(ValueError, match="function must be one of"):
        ComparisonDisplay.from_record(record, function="f3")
    with pytest.raises(ValueError, match="the record has no convergence curves"):
        ComparisonDisplay.from_record({"cells": []})


def test_comparisons_refuse_bad_input(solvers: list[Minimizer]) -> None:
    with pytest.raises(ValueError, match="not all different: give a mapping of names"):
        ComparisonDisplay.from_estimator([solvers[0], make(DE()).fit("sphere", dim=3)])
    with pytest.raises(TypeError, match="results must be a mapping"):
        ComparisonDisplay.from_result([solvers[0].runs_])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="needs the known minimum"):
        ComparisonDisplay.from_result({"de": solvers[0].runs_}, kind="ecdf")
    with pytest.raises(ValueError, match="kind must be one of"):
        ComparisonDisplay.from_estimator(solvers, kind="bars")


# -- notebooks ---------------------------------------------------------------------------------------------------------


def test_fitted_solvers_show_a_curve_in_notebooks() -> None:
    m = make(n_runs=4)
    assert "<svg" not in m._repr_html_()
    m.fit("sphere", dim=3)
    for html in (m._repr_html_(), m._repr_mimebundle_(include=None, exclude=None)["text/html"]):
        assert "sk-top-container" in html
        svg = ElementTree.fromstring(html[html.index("<svg") : html.index("</svg>") + 6])
        texts = [element.text or "" for element in svg.iter() if element.tag.endswith("text")]
        assert texts[0] == f"best value {m.fun_:.6g}, 4 runs"
        assert texts[-1] == f"{m.n_evals_:,} evaluations"
        assert svg[0].text == m.message_
    with sklearn.config_context(display="text"):
        assert not hasattr(m, "_repr_html_")
        assert list(m._repr_mimebundle_()) == ["text/plain"]


def test_a_curve_in_a_notebook_is_escaped_and_short() -> None:
    x = np.arange(5000)
    svg = curve_svg(x, [x, x + 1, x + 2], "a < b & c", "fits", "<p>")
    assert len(svg) < 10_000
    elements = ElementTree.fromstring(svg)
    assert (elements[0].text, elements[4].text) == ("<p>", "a < b & c")
    assert curve_svg([1], [[np.inf]] * 3, "nothing", "fits", "") == ""


def test_min_max_solvers_show_a_curve() -> None:
    solver = MinMaxSolver(max_iter=3, random_state=0).fit(game, BOX[:1], BOX[:1])
    assert solver._repr_html_().count("<svg") == 1


# -- runs without a finite value ---------------------------------------------------------------------------------------

NOTHING = {"n_runs": 2, "max_evals": 200, "random_state": 0}


def notes(display: Any) -> list[str]:
    return [text.get_text() for text in display.ax_.texts]


@pytest.fixture(scope="module")
def hopeless() -> Minimizer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Minimizer("de", **NOTHING).fit(lambda X: np.full(len(X), np.nan), bounds=[(-1, 1)] * 2)


@pytest.mark.parametrize("spread", ["quartiles", "runs", "none"])
def test_a_convergence_without_a_value_says_so(hopeless: Minimizer, spread: str) -> None:
    assert notes(ConvergenceDisplay.from_estimator(hopeless, spread=spread)) == ["de: no finite value"]
    assert notes(ConvergenceDisplay.from_result(hopeless.runs_)) == ["no finite value"]


def test_a_convergence_of_few_runs_with_values_says_so() -> None:
    runs = [history([10, 20], [np.inf, 1.0]), *[history([10, 20], [np.inf, np.inf])] * 2]
    assert notes(ConvergenceDisplay(runs).plot()) == ["no finite median: half of the runs or more have no finite value"]
    assert notes(ConvergenceDisplay(runs[:1]).plot()) == []


@pytest.mark.parametrize("kind", ["convergence", "distribution", "ecdf"])
def test_a_comparison_names_those_without_a_value(hopeless: Minimizer, kind: str) -> None:
    fine = Minimizer("jde", max_evals=200, random_state=0).fit(lambda X: (X**2).sum(axis=1), bounds=[(-1, 1)] * 2)
    nothing = history([10, 20], [np.nan, np.inf])
    display = ComparisonDisplay.from_estimator([hopeless, fine], kind=kind, f_opt=0.0)
    assert notes(display) == ["de: no finite value"]
    two = ComparisonDisplay({"a": [nothing], "b": [nothing]}, 0.0).plot(kind=kind)
    assert notes(two) == ["a: no finite value", "b: no finite value"]
    assert len({text.get_position() for text in two.ax_.texts}) == 2


def test_populations_without_a_value_say_so(hopeless: Minimizer) -> None:
    assert notes(PopulationDisplay.from_estimator(hopeless)) == ["de: no finite value"]
    unknown = PopulationDisplay(np.eye(2), np.full(2, np.inf)).plot(landscape=lambda X: np.full(len(X), np.nan))
    assert notes(unknown) == ["f: no finite value", "no finite value"]


def test_searches_without_a_score_say_so() -> None:
    assert notes(SearchDisplay([5, 10], [np.nan, np.nan], name="search").plot()) == ["search: no finite value"]
    assert notes(SearchDisplay([5, 10], [np.nan, 1.0]).plot()) == []


def test_min_max_solutions_without_a_value_say_so() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solver = MinMaxSolver(max_iter=2, gens_x=2, gens_y=2, random_state=0, device="cpu")
        solver.fit(lambda X, Y: np.full((len(X), len(Y)), np.nan), [(-1, 1)], [(-1, 1)])
    assert notes(MinMaxDisplay.from_estimator(solver)) == ["f(x, y): no finite value", "no finite value"]
    assert notes(MinMaxDisplay.from_result(solver.result_)) == ["no finite value"]


# -- auto --------------------------------------------------------------------------------------------------------------


def test_auto_has_its_own_name_in_comparisons() -> None:
    settings = {"max_evals": 3000, "random_state": 0}
    solvers = [Minimizer(name, **settings).fit("sphere", dim=5) for name in ("auto", "rdex")]
    display = ComparisonDisplay.from_estimator(solvers)
    assert [line.get_label() for line in display.lines_] == ["auto", "rdex"]
    assert (
        ComparisonDisplay.from_estimator([Minimizer(**settings).fit("sphere", dim=5)]).lines_[0].get_label() == "auto"
    )
    with pytest.raises(ValueError, match="auto, auto, which are not all different"):
        ComparisonDisplay.from_estimator([solvers[0]] * 2)


def test_a_refused_trace_names_the_algorithms_that_have_one() -> None:
    with pytest.raises(ValueError, match="Minimizer has them with ") as refused:
        make("pso", callbacks=[ParameterTrace()], max_iter=60).fit("sphere", dim=3)
    named = str(refused.value).partition("Minimizer has them with ")[2].split(", ")
    for name, kind in ALGORITHMS.items():
        trace = ParameterTrace(every=2)
        m = make(kind(**kind.get_test_params()), callbacks=[trace], max_iter=9)
        if name in named:
            assert {"F", "CR"} & {*m.fit("sphere", dim=3).callbacks[0].quartiles}
        else:
            with pytest.raises(ValueError, match=f"which {name!r} does not have"):
                m.fit("sphere", dim=3)
