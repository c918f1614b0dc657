"""Reproduction of a paper's tuning: instances, rules, resumption, and judgement of its result."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import skde
from skde.algorithms import ALGORITHMS
from skde.benchmark import tuning_comparison as comparison
from skde.benchmark import tuning_reproduction as reproduction
from skde.benchmark.growing_record import GrowingRecording
from skde.benchmark.papers import REPRODUCTIONS, find_paper
from skde.benchmark.reproduction import available
from skde.benchmark.suites import find_suite
from skde.benchmark.tuning_reproduction import TuningSettings
from skde.cli.main import main
from skde.tuning.rules import PRESETS

PAPER = find_paper("nashed2012")
SMALL = ["reproduce", "nashed2012", "--table", "1", "--algorithms", "de", "--dims", "3", "--max-experiments", "600"]
SMALL += ["--budget", "300", "--held-out", "2", "--runs", "4"]


@pytest.mark.parametrize("name", [name for name, found in REPRODUCTIONS.items() if found.paper.tuning])
def test_the_papers_parameters_can_be_tuned(name: str) -> None:
    paper = find_paper(name)
    assert paper.tuning is not None
    assert set(paper.tuning.parameters) == set(available(paper))
    for algorithm, parameters in paper.tuning.parameters.items():
        assert set(parameters) <= set(ALGORITHMS[algorithm].tuning_space)
        theirs = getattr(ALGORITHMS[algorithm], name)().get_params()
        found = reproduction.space(paper, algorithm)
        found.read({parameter: theirs[parameter] for parameter in parameters})  # lies inside
        assert found.initial == []


@pytest.mark.parametrize("function", find_suite("nashed2012").functions)
def test_boxes_hold_the_minimiser_elsewhere(function: str) -> None:
    problem = find_suite(PAPER.suite).function(function, 30).objective
    places = []
    for number in range(3):
        moved = reproduction.move_problem(problem, number)
        low, high = moved.bounds.T
        assert (problem.bounds[:, 0] <= low).all()
        assert (high <= problem.bounds[:, 1]).all()
        assert (low <= moved.x_opt).all()
        assert (moved.x_opt <= high).all()
        assert np.array_equal(moved(moved.x_opt[None]), problem(problem.x_opt[None]))
        width = (high - low) / np.diff(problem.bounds)[:, 0]
        assert ((width > 0.5) & (width <= 1)).all()
        assert np.array_equal(moved.bounds, reproduction.move_problem(problem, number).bounds)
        places.append((moved.x_opt - low) / (high - low))
    assert (places[0] != places[1]).any()
    assert (places[1] != places[2]).any()


def test_tuning_has_other_boxes_than_the_comparison_and_others_on_every_step() -> None:
    found = reproduction.training_instances(PAPER, TuningSettings("nashed2012", 5, 300, "300"))
    assert len(found) == 20
    for number, instance in enumerate(found):
        held_out = [reproduction.move_problem(instance.problem, box).bounds for box in range(5)]
        boxes = [instance(seed).bounds for seed in (0, 1, 2, 3, 4)]
        assert instance.problem.name == f"nashed2012/f{number}"
        assert np.array_equal(boxes[3], instance(3).bounds)
        assert all((one != other).any() for one, other in itertools.combinations([*boxes, *held_out], 2))
    assert reproduction.rules(PAPER, TuningSettings("nashed2012", 5, 300, "300")) == reproduction.RULES
    published = TuningSettings("nashed2012", 5, 300, "300", as_published=True)
    assert [problem.name for problem in reproduction.training_instances(PAPER, published)] == [
        f"nashed2012/f{k}" for k in range(20)
    ]
    assert reproduction.rules(PAPER, published) == PRESETS["irace-2011"]


def cell(function: str, box: int, tuned: list[float | None], paper: list[float | None]) -> dict[str, Any]:
    both = {"tuned": tuned, "paper": paper}
    evals = {who: [300] * len(values) for who, values in both.items()}
    return {"algorithm": "de", "function": function, "box": box, **comparison.rank_runs(both, evals, 1e-12)}


def test_judgement() -> None:
    low, high = [1.0, 2.0, 3.0, 4.0, 5.0], [10.0, 20.0, 30.0, 40.0, None]
    tiny = [1e-13, 0.0, 1e-20, 0.0, 0.0]
    cells = [cell("f0", 0, low, high), cell("f0", 1, low, high), cell("f1", 0, tiny, [0.0] * 5)]
    cells += [cell("f2", 0, high, low), cell("f2", 1, [1e9], [1e8])]
    (row,) = comparison.summarize_tuning({"tuned": {"de": {"python": "DE()"}}, "compared": cells[:3]})
    assert (row["better"], row["equal"], row["worse"]) == (1, 1, 0)
    assert row["share"] == 0.75
    (row,) = comparison.summarize_tuning({"tuned": {"de": {"python": "DE()"}}, "compared": cells[3:4]})
    assert (row["better"], row["equal"], row["worse"], row["share"], row["p"]) == (0, 0, 1, 0.0, 1.0)
    # A value that rounding puts below the minimum is as good as the minimum.
    (row,) = comparison.summarize_tuning(
        {"tuned": {"de": {"python": "DE()"}}, "compared": [cell("f0", 0, [-3.6e-12] * 5, [0.0] * 5)]}
    )
    assert (row["equal"], row["share"]) == (1, 0.5)
    # Twenty functions of which each is better.
    all_better = [cell(f"f{k}", 0, low, high) for k in range(20)]
    (row,) = comparison.summarize_tuning({"tuned": {"de": {"python": "DE()"}}, "compared": all_better})
    assert row["p"] < 1e-4
    assert row["p_boxes"] is None  # of one box nothing is known of others
    record = {"tuned": {"de": {"python": "DE()"}}, "compared": all_better}
    assert "over functions, unknown over boxes" in comparison.format_comparison(PAPER, record)
    # Better on two functions of three: that says little of other functions, but boxes of these differ little.
    ours, theirs = [1.0, 2.0, 3.0, 4.0, 50.0], [6.0, 7.0, 8.0, 9.0, 5.0]
    two_of_three = [cell(f"f{k}", box, low, high) for k in range(2) for box in range(3)]
    two_of_three += [cell("f2", 0, high, low), cell("f2", 1, high, low), cell("f2", 2, theirs, ours)]
    (row,) = comparison.summarize_tuning({"tuned": {"de": {"python": "DE()"}}, "compared": two_of_three})
    assert (row["better"], row["equal"], row["worse"]) == (2, 0, 1)
    assert row["p"] > 0.1
    assert row["p_boxes"] < 0.05
    assert row["share"] == pytest.approx((1 + 1 + 0.2 / 3) / 3)


def decisions(record: dict[str, Any]) -> Any:
    tuned = record["tuned"]["de"]
    return tuned["races"], tuned["best"], record["compared"]


def test_the_command_resumes_after_a_kill(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SMALL, "--json"]) == 0
    printed = capsys.readouterr()
    whole = json.loads(printed.out)
    assert printed.err.count("de: race") == len(whole["tuned"]["de"]["races"])
    assert whole["tuned"]["de"]["finished"]
    assert len(whole["compared"]) == 20 * 2
    assert all(len(c["ranks"]["tuned"]) == len(c["ranks"]["paper"]) == 4 for c in whole["compared"])
    assert all(sum(c["ranks"]["tuned"]) + sum(c["ranks"]["paper"]) == 8 * 9 / 2 for c in whole["compared"])
    assert all(0 < c["mean_evals"][who] <= 300 for c in whole["compared"] for who in ("tuned", "paper"))
    best = eval(whole["tuned"]["de"]["python"], vars(skde))
    assert best.get_params() == {**skde.DE.nashed2012().get_params(), **whole["tuned"]["de"]["best"]}

    out = tmp_path / "table.json"
    process = subprocess.Popen([sys.executable, "-m", "skde", *SMALL, "--out", str(out)], stderr=subprocess.PIPE)
    end = time.monotonic() + 60
    while not out.exists():  # after the first race
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.001)
    process.kill()
    process.communicate()
    races = json.loads(out.read_bytes())["tuned"]["de"]["races"]
    assert len(races) >= 1
    assert races == whole["tuned"]["de"]["races"][: len(races)]
    assert main([*SMALL, "--out", str(out)]) == 0
    assert "functions better" in capsys.readouterr().out
    assert decisions(comparison.read_tuning(out)) == decisions(whole)
    assert main([*SMALL, "--out", str(out)]) == 0
    assert capsys.readouterr().err == ""  # nothing is done again


def test_the_papers_own_tuning(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SMALL, "--as-published", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["settings"]["as_published"]
    # Without elites' results a race's first steps are for all of its configurations.
    assert all(race["n_steps"] >= 5 for race in record["tuned"]["de"]["races"])
    assert record["tuned"]["de"]["races"][0]["n_configurations"] == 600 // 4 // 6


def test_seconds_are_those_of_every_run(capsys: pytest.CaptureFixture[str]) -> None:
    budget = ["--budget", "0.01s", "--held-out", "1", "--runs", "2", "--n-jobs", "1"]
    assert main([*SMALL, *budget, "--json"]) == 0
    tuned = json.loads(capsys.readouterr().out)["tuned"]["de"]
    assert tuned["timed_experiments"] == tuned["n_experiments"]
    assert 0.01 * tuned["n_experiments"] <= tuned["seconds"] <= tuned["elapsed"]
    assert tuned["seconds"] < 0.1 * tuned["n_experiments"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--table", "3"], "table of 'nashed2012' must be one of '2', '2 (marks)', 'fig. 2'; got '3'"),
        (["--table", "2", "--held-out", "3"], "--held-out is for a tuning: nashed2012 --table 1"),
        (["--max-experiments", "300"], "--max-experiments is for a tuning: nashed2012 --table 1"),
        (["--as-published"], "--as-published is for a tuning: nashed2012 --table 1"),
        (["--table", "1", "--algorithms", "jde"], "algorithm of 'nashed2012' must be one of 'de', 'pso', 'ss'"),
        (["--table", "1", "--dims", "10,30"], "--dims must be one number for a tuning, got [10, 30]"),
        (["--table", "1", "--max-experiments", "10"], "max_experiments must be at least"),
        (["--table", "1", "--budget", "1m"], "budget must be evaluations of a run"),
        (["--table", "1", "--runs", "0"], "runs must be"),
        (["--table", "1", "--held-out", "0"], "held_out must be"),
    ],
)
def test_bad_input(capsys: pytest.CaptureFixture[str], arguments: list[str], expected: str) -> None:
    assert main(["reproduce", "nashed2012", *arguments]) == 2
    assert expected in capsys.readouterr().err


def test_files_of_something_else_are_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "table.json"
    out.write_text("[]")
    assert main([*SMALL, "--out", str(out)]) == 2
    assert "is no record of a paper's tuning" in capsys.readouterr().err
    settings = {"paper": "nashed2012", "dim": 30}
    out.write_text(json.dumps({"settings": settings, "tuned": {}, "compared": []}))
    assert main([*SMALL, "--out", str(out)]) == 2
    assert "use the same settings, or another file" in capsys.readouterr().err


def test_files_of_an_earlier_version_are_read(tmp_path: Path) -> None:
    errors = {"tuned": [0.5, 1e-13, None], "paper": [0.25, 0.0, 0.5]}
    old = {"algorithm": "de", "function": "f0", "box": 1, **errors, "n_evals": {who: [300, 300, 297] for who in errors}}
    settings = vars(TuningSettings("nashed2012", 3, 600, "300", runs=3))
    file = tmp_path / "table.json"
    file.write_text(json.dumps({"settings": settings, "tuned": {}, "compared": [old]}))
    record = comparison.read_tuning(file)
    (found,) = record["compared"]
    assert found["ranks"] == {"tuned": [4.5, 1.5, 6], "paper": [3, 1.5, 4.5]}
    assert found["median"] == {"tuned": 0.5, "paper": 0.25}
    assert found["mean_evals"] == {"tuned": 299, "paper": 299}
    comparison.write_tuning(file, record)
    assert comparison.read_tuning(file) == record
    recording = GrowingRecording(file, read=comparison.read_tuning)
    assert recording.begin(TuningSettings(**settings), {"compared": []})["compared"] == record["compared"]
