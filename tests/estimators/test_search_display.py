"""Plots, notebooks, progress bars and loggers of searches."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy.stats import uniform
from sklearn.model_selection import RandomizedSearchCV

from skde.estimators import MLflowLogger, SearchDisplay, TensorBoardLogger

from .counted import Counted, X, search, y


def test_the_plot_of_a_search() -> None:
    found = search(search="de").fit(X, y)
    display = SearchDisplay.from_estimator(found)
    assert display.ax_.get_ylabel() == "best mean score"
    assert display.line_.get_ydata()[-1] == pytest.approx(found.best_score_)
    again = SearchDisplay(found.history_["n_fits"], found.history_["best_score"]).plot(ax=display.ax_)
    assert again.figure_ is display.figure_


def test_the_plot_of_a_table_of_results() -> None:
    found = search(search="de").fit(X, y)
    display = SearchDisplay.from_result(found.cv_results_)
    best, points = display.lines_
    assert points.get_ydata() == pytest.approx(found.cv_results_["mean_test_score"])
    assert (best.get_ydata()[-1], points.get_xdata()[-1]) == (pytest.approx(found.best_score_), found.n_fits_)
    with pytest.raises(ValueError, match="metric must be one of score, got 'auc'"):
        SearchDisplay.from_result(found.cv_results_, metric="auc")


def test_a_configuration_with_fewer_fits_is_not_the_best() -> None:
    results = {"mean_test_score": np.array([0.5, 0.9, 0.6]), "n_fits": np.array([4, 1, 4])}
    best, points = SearchDisplay.from_result(results).lines_
    assert best.get_ydata().tolist() == [0.5, 0.5, 0.6]
    assert points.get_xdata().tolist() == [4, 5, 9]
    del results["n_fits"]  # of tables of earlier versions
    splits = np.array([[0.5, 0.5], [0.9, np.nan], [0.6, 0.6]])
    best, points = SearchDisplay.from_result(
        {**results, **{f"split{s}_test_score": splits[:, s] for s in (0, 1)}}
    ).lines_
    assert best.get_ydata().tolist() == [0.5, 0.5, 0.6]
    assert points.get_xdata().tolist() == [2, 3, 5]


def test_a_race_gives_the_fits_of_its_table() -> None:
    found = search(n_iter=20, cv=8).fit(X, y)
    _, points = SearchDisplay.from_result(found.cv_results_).lines_
    assert points.get_xdata().tolist() == np.cumsum(found.candidate_fits_).tolist()


def test_other_searches_have_the_same_plot() -> None:
    found = RandomizedSearchCV(Counted(), {"a": uniform(0, 1)}, n_iter=5, random_state=0, cv=3).fit(X, y)
    display = SearchDisplay.from_estimator(found)
    assert display.lines_[0].get_xdata().tolist() == [3, 6, 9, 12, 15]
    assert display.ax_.get_title() == "Counted"


def test_notebooks_show_a_curve() -> None:
    found = search(search="de")
    assert "<svg" not in found._repr_html_()
    shown = found.fit(X, y)._repr_mimebundle_()["text/html"]
    assert shown.count("<svg") == 1
    assert "fits</text>" in shown
    assert "sk-top-container" in shown


def test_a_progress_bar(capsys: pytest.CaptureFixture[str]) -> None:
    search(search="de", verbose=1).fit(X, y)
    assert "69/72" in capsys.readouterr().err


def test_a_progress_bar_has_no_score_before_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr("tqdm.auto.tqdm.set_postfix_str", lambda bar, text, refresh: shown.append(text))
    found = search(verbose=1, cv=5).fit(X, y)
    assert np.isnan(found.history_["best_score"][0])
    assert shown[-1] == f"best score {found.history_['best_score'][-1]:.6g}"
    assert not [text for text in shown if "nan" in text]


class Recorder:
    """The part of MLflow's module, and of a SummaryWriter, that the loggers use."""

    def __init__(self) -> None:
        self.scalars: list[tuple[str, float, int]] = []
        self.tags: dict[str, str] = {}

    def add_scalar(self, name: str, value: float, step: int) -> None:
        self.scalars.append((name, value, step))

    def log_metric(self, name: str, value: float, step: int) -> None:
        self.scalars.append((name, value, step))

    def set_tags(self, tags: dict[str, str]) -> None:
        self.tags |= tags


def test_loggers(monkeypatch: pytest.MonkeyPatch) -> None:
    writer, mlflow = Recorder(), Recorder()
    monkeypatch.setitem(sys.modules, "mlflow", mlflow)  # type: ignore[arg-type]
    found = search(search="de", callbacks=[TensorBoardLogger(writer), MLflowLogger()]).fit(X, y)
    assert writer.scalars[-1] == ("search/best_score", found.history_["best_score"][-1], found.n_fits_)
    assert [(f"search/{name}", value, step) for name, value, step in mlflow.scalars] == writer.scalars
    assert mlflow.tags == {f"best.{name}": str(value) for name, value in found.best_params_.items()}
    with pytest.raises(TypeError, match="writer must be a SummaryWriter"):
        TensorBoardLogger("runs")
