"""The report: one file with all results."""

from __future__ import annotations

import importlib.util
import re
import xml.dom.minidom
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import create_trial
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.svm import SVC

import skde
from skde import DE
from skde.cli.main import main
from skde.tuning import RacingTuner, Space
from skde.tuning.held_out import make_held_out_step
from skde.tuning.loop import Result, TuningSetting
from skde.tuning.report import cost, elite_lines, label, page, rank_rows
from skde.tuning.report_plots import bars, distributions_of, parallel_coordinates, values_by_race
from skde.tuning.rules import find_preset

from .landscape import INSTANCES, SPACE
from .landscape import cost as landscape

VOID = {"meta"}


class Tags(HTMLParser):
    """Checks that tags are closed in their order, and keeps what could load something."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        if tag in ("script", "link", "img", "iframe"):
            self.loads.append(tag)
        self.loads += [
            str(value) for name, value in attrs if name in ("src", "href") and not str(value).startswith("#")
        ]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def checked(text: str) -> str:
    """Return a page that is whole, and needs nothing else."""
    tags = Tags()
    tags.feed(text)
    assert tags.open == []
    assert tags.loads == []
    for drawn in re.findall(r"<svg.*?</svg>", text, re.DOTALL):
        xml.dom.minidom.parseString(drawn)
    return text


@pytest.fixture(scope="module")
def fitted() -> RacingTuner:
    return RacingTuner(SPACE, INSTANCES, max_experiments=300, random_state=1).fit(landscape)


def test_everything_is_there(fitted: RacingTuner, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    assert fitted.report(path) is fitted
    text = checked(path.read_text())
    for head in (
        "best configurations",
        "Cost of the tuning",
        "Ranks",
        "Parameters by race",
        "All configurations",
        "Importance",
    ):
        assert text.count(f"<h2>{head}</h2>") + text.count(f"<h2>The {head}</h2>") == 1
    assert text.count("<svg") == 3
    assert all(name in text for name in SPACE)
    assert str(fitted.best_params_).replace("'", "&#x27;") in text
    assert all(f"<td>{race['ended']}</td>" in text for race in fitted.races_)
    assert fitted.report(path).report(path) is fitted
    assert path.read_text() == text  # the same every time


def test_numbers_of_configurations_lead_to_their_parameters(fitted: RacingTuner) -> None:
    text = page(fitted)
    for elite in fitted.elites_:
        line = str(elite.params).replace("'", "&#x27;")
        number = elite.number
        assert f'<td><span id="configuration-{number}">{number}</span></td><td><code>{line}</code></td>' in text
        assert f'<th><a href="#configuration-{number}">{number}</a></th>' in text
    assert "".join(f"<td>{race['ended']}</td>" for race in fitted.races_[:1]) in text
    assert f"<td>{', '.join(map(str, fitted.races_[-1]['elites']))}</td>" in text


@pytest.mark.parametrize(
    ("instance", "name"), [("sphere", "sphere"), ((landscape, [(0, 1)]), "cost"), ((1, 2), "(1, 2)"), (10.0, "10.0")]
)
def test_labels_of_instances(instance: Any, name: str) -> None:
    assert label(instance) == name


# -- the best against the default --------------------------------------------------------------------------------------


def first_section(fitted: RacingTuner, path: Path, **options: Any) -> str:
    fitted.report(path, **options)
    return checked(path.read_text()).split("<h2>")[1]


def test_it_begins_with_the_best_against_the_default(tmp_path: Path) -> None:
    instances = ["sphere", (lambda X: (X**2).sum(axis=1) + 1, [(-5, 5)] * 3)]
    fitted = RacingTuner(None, instances, max_experiments=120, run_max_evals=300, random_state=0).fit(DE(pop_size=90))
    begin = first_section(fitted, tmp_path / "report.html", held_out=6)
    assert begin.startswith("The best configuration and the default</h2>")
    assert "on steps with seeds that the tuning did not use" in begin
    rows = [re.findall(r"<t[dh]>(.*?)</t[dh]>", row) for row in re.findall("<tr>(.*?)</tr>", begin)]
    assert rows[0][3:] == ["default", "best is better on", "the same on"]
    assert [row[:2] for row in rows[1:]] == [["sphere", "3"], [rows[2][0], "3"], ["all", "6"]]
    assert "lambda" in rows[2][0]
    assert all(0 <= float(best) < float(default) for _, _, best, default, *_ in rows[1:3])
    assert rows[3][2:] == ["-", "-", "6", "0"]  # ranks are compared, and costs of two instances have no mean
    used = {result.seed for result in fitted.results_}
    assert not used & {make_held_out_step(fitted._loop.setting, k)[1] for k in range(6)}
    assert first_section(fitted, tmp_path / "report.html", held_out=0).startswith("The best configurations</h2>")


def test_the_default_of_a_function_is_the_first_initial_configuration(fitted: RacingTuner, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    assert "There is no default to compare with" in first_section(fitted, path)
    initial = {"x": -1.0, "kind": "bad", "n": 1}
    space = Space(SPACE, initial=[initial])
    with_default = RacingTuner(space, [10.0], max_experiments=150, random_state=1).fit(landscape)
    row = re.findall(r"<td>(.*?)</td>", first_section(with_default, path, held_out=8))
    expected = [landscape(initial, 10.0, make_held_out_step(with_default._loop.setting, k)[1]) for k in range(8)]
    assert row[3] == f"{np.mean(expected):.4g}"
    assert row[4] == "8"


def test_without_seeds_the_instances_of_the_tuning_count(tmp_path: Path) -> None:
    def truth(config: dict[str, Any], instance: float, seed: int) -> float:
        return np.inf if instance == 3 and config["x"] < 0 else instance * (config["x"] + 2)

    space = Space({"x": FloatDistribution(-1, 1)}, initial=[{"x": -0.5}])
    options = {"max_experiments": 100, "deterministic": True, "test": "t", "random_state": 0}
    begin = first_section(RacingTuner(space, [1, 2, 3, 4, 5, 6], **options).fit(truth), tmp_path / "report.html")
    assert "Mean costs on the instances of the tuning" in begin
    assert "<td>- (1 failed)</td>" in begin
    row = re.findall(r"<td>(.*?)</td>", begin)[-6:]
    assert row[:2] == ["all", "6"]
    assert row[3].endswith("(1 failed)")


def test_costs_are_counted(fitted: RacingTuner, tmp_path: Path) -> None:
    found = cost(fitted)
    assert found["experiments"] == f"{fitted.n_experiments_} of 300"
    assert found["evaluations"] == "not known"
    assert float(found["seconds"]) == pytest.approx(sum(r.seconds for r in fitted.results_ if r.seconds), abs=0.06)
    assert found["failed experiments"] == "0"
    storage = tmp_path / "tuning.log"
    RacingTuner(SPACE, INSTANCES, max_experiments=120, random_state=1, storage=storage).fit(landscape)
    again = RacingTuner(SPACE, INSTANCES, max_experiments=120, random_state=1, storage=storage).resume(landscape)
    assert cost(again)["seconds"] == f"0.0 ({again.n_experiments_} experiments from before a resumption not counted)"


def test_ranks_are_of_common_steps_by_instance() -> None:
    def of(configuration: int, step: int, instance: int, cost: float) -> Result:
        return Result(configuration, step, instance, 0, cost, None, None, None)

    results = [of(1, 0, 0, 5.0), of(2, 0, 0, 3.0), of(3, 0, 0, 1.0)]  # 3 is no elite
    results += [of(1, 1, 1, 1.0), of(2, 1, 1, 2.0), of(1, 2, 1, 1.0), of(2, 2, 1, 1.0)]
    results += [of(1, 3, 0, 1.0)]  # 2 has not done it
    rows = rank_rows(results, [1, 2], ["one", "two"])
    assert rows == [["one", 1, "2.00", "1.00"], ["two", 2, "1.25", "1.75"], ["all", 3, "1.50", "1.50"]]
    assert rank_rows(results[:1], [1, 2], ["one", "two"]) == []


def test_conditions_failures_and_strange_names() -> None:
    space = Space(
        {"<kind>": CategoricalDistribution(["a&b", "c"]), "x": FloatDistribution(1e-3, 1, log=True)},
        conditions={"x": lambda values: values["<kind>"] == "c"},
    )

    def function(config: dict[str, Any], instance: str, seed: int) -> float:
        return np.inf if config["<kind>"] == "a&b" and seed % 3 == 0 else config.get("x", 0.5)

    tuner = RacingTuner(space, ["<1>", "<2>"], max_experiments=150, random_state=0).fit(function)
    assert int(cost(tuner)["failed experiments"]) == sum(r.cost == np.inf for r in tuner.results_) > 0
    text = checked(page(tuner))
    assert "&lt;1&gt;" in text
    assert "&lt;kind&gt;" in text


@pytest.mark.parametrize(
    ("found", "whole"),
    [
        ([IntDistribution(1, 1), IntDistribution(1, 3), IntDistribution(0, 2)], IntDistribution(0, 3)),
        ([IntDistribution(1, 7, step=3), IntDistribution(2, 8, step=3)], IntDistribution(1, 8)),
        ([IntDistribution(0, 6, step=6), IntDistribution(2, 10, step=4)], IntDistribution(0, 10, step=2)),
        ([IntDistribution(1, 3, log=True), IntDistribution(2, 9, log=True)], IntDistribution(1, 9, log=True)),
        ([FloatDistribution(0, 1), FloatDistribution(-1, 0.5)], FloatDistribution(-1, 1)),
        ([FloatDistribution(0, 1, step=0.5), FloatDistribution(0, 1, step=0.5)], FloatDistribution(0, 1, step=0.5)),
        ([FloatDistribution(1, 2, log=True), FloatDistribution(0, 1)], FloatDistribution(0, 2)),
        ([CategoricalDistribution("ba"), CategoricalDistribution("cab")], CategoricalDistribution("bac")),
    ],
    ids=str,
)
def test_bounds_of_all_trials_are_joined(found: list[BaseDistribution], whole: BaseDistribution) -> None:
    trials = [
        create_trial(
            params={"x": getattr(one, "low", "b"), "fixed": 3},
            distributions={"x": one, "fixed": IntDistribution(3, 3)},
            value=0.0,
        )
        for one in found
    ]
    assert distributions_of(trials) == {"x": whole}


def test_values_with_dependent_bounds_have_their_own_places() -> None:
    space = {"split": IntDistribution(2, 20), "leaf": lambda values: IntDistribution(1, values["split"] // 2)}
    tuner = RacingTuner(Space(space), INSTANCES, max_experiments=150, random_state=0)
    trials = tuner.fit(lambda config, instance, seed: config["leaf"]).study_.get_trials()
    leaf = distributions_of(trials)["leaf"]
    assert all(leaf._contains(trial.params["leaf"]) for trial in trials)
    checked(page(tuner))


@pytest.mark.parametrize("name", ["a$b_{$", r"$\foo$", "$x$", "$", r"\$a\$"])
def test_names_are_no_formulas(name: str) -> None:
    distribution = CategoricalDistribution([name + "1", name + "2"])
    trials = [create_trial(params={name: name + "1"}, distributions={name: distribution}, value=0.0)]
    trials[0].user_attrs["race"] = 1
    for drawn, times in (
        (values_by_race(trials, {}), 3),
        (parallel_coordinates(trials, []), 3),
        (bars({name: 1.0}), 1),
    ):
        texts = re.findall(r"<text[^>]*>([^<]*)</text>", checked(drawn))
        assert sum(name in text for text in texts) == times


def test_the_python_line_makes_the_best_configuration() -> None:
    start = DE(repair="reflect", pop_size=30)
    tuner = RacingTuner(None, ["sphere", "levy"], max_experiments=150, run_max_evals=600, random_state=0).fit(start)
    first = eval(elite_lines(tuner)[0], vars(skde))
    assert first.get_params() == tuner.best_estimator_.get_params()
    assert first.repair == "reflect"
    assert cost(tuner)["evaluations"] == f"{sum(result.n_evals for result in tuner.results_):,}"
    data = [load_iris(return_X_y=True), load_wine(return_X_y=True)]
    space = {"C": FloatDistribution(1e-2, 1e2, log=True)}
    machine = RacingTuner(space, data, max_experiments=60, random_state=0).fit(SVC(kernel="linear"))
    assert eval(elite_lines(machine)[0], {"SVC": SVC}).get_params() == machine.best_estimator_.get_params()


def test_the_command_writes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "report.html"
    small = ["tune", "de", "--suite", "qin2012", "--dim", "3", "--max-experiments", "150", "--run-max-evals", "600"]
    assert main([*small, "--seed", "1", "--report", str(path)]) == 0
    line = capsys.readouterr().out.split("the best first:\n")[1].splitlines()[0]
    assert line.replace("'", "&#x27;") in checked(path.read_text())
    assert main([*small, "--report", str(tmp_path / "nowhere" / "report.html")]) == 2
    assert "--report" in capsys.readouterr().err


def test_a_report_that_cannot_be_drawn_is_refused(
    fitted: RacingTuner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(NotFittedError):
        RacingTuner(SPACE, INSTANCES).report(tmp_path / "report.html")
    with pytest.raises(FileNotFoundError):
        fitted.report(tmp_path / "nowhere" / "report.html")
    find = importlib.util.find_spec
    monkeypatch.setattr("skde.tuning.report.find_spec", lambda name: None if name == "matplotlib" else find(name))
    with pytest.raises(RuntimeError, match=r"pip install 'skde\[plot\]'"):
        fitted.report(tmp_path / "report.html")
    assert main(["tune", "de", "--suite", "qin2012", "--report", str(tmp_path / "report.html")]) == 2
    assert "a report needs matplotlib" in capsys.readouterr().err


def test_held_out_steps_have_seeds_of_their_own() -> None:
    setting = TuningSetting(Space({"x": FloatDistribution(0, 1)}), [1, 2, 3], find_preset("elitist"), 500, 7)
    steps = [make_held_out_step(setting, k) for k in range(40)]
    assert [instance for instance, _ in steps] == [k % 3 for k in range(40)]
    seeds = {seed for _, seed in steps}
    assert len(seeds) == 40
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert not seeds & {setting.step(k)[1] for k in range(2000)}
    assert [make_held_out_step(replace(setting, seed=8), k)[1] for k in range(3)] != [seed for _, seed in steps[:3]]
    assert [make_held_out_step(replace(setting, instances=[1]), k)[1] for k in range(40)] == [seed for _, seed in steps]
