"""Short scripts of benchmarks/studies/ that make records."""

import json
import runpy
from importlib.util import find_spec
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks" / "studies"
pytestmark = pytest.mark.skipif(not BENCHMARKS.is_dir(), reason="the source distribution has no benchmarks")


def names_of(script):
    """The script's functions and constants."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend((BENCHMARKS / script).parent)  # as for a command
        return runpy.run_path(str(BENCHMARKS / script))


def main_of(script):
    return names_of(script)["main"]


def test_fits_without_residuals_count_digits(tmp_path):
    file = tmp_path / "nist.json"
    arguments = ["--sets", "Misra1a", "MGH10", "--seeds", "1", "--out", str(file)]
    solved, left = main_of("models/nist_without_residuals.py")(arguments)
    assert min(solved["auto"] + left["auto"] + solved["auto, polish=False"]) > 6
    assert max(left["auto, polish=False"]) < 4
    record = json.loads(file.read_text())
    assert record["figures"] == [solved, left]
    assert record["solved"] == {"auto": 2, "auto, polish=False": 1, "jde": 1}
    assert record["by_seed"] == {"auto": [2], "auto, polish=False": [1], "jde": [1]}
    assert record["command"].startswith("python benchmarks/studies/models/nist_without_residuals.py --sets Misra1a")


def test_ranks_on_suites_that_no_choice_has_seen():
    pytest.importorskip("ioh")
    script = names_of("auto/held_out.py")
    rows = script["rows"]
    names = rows.__globals__["EXPERIMENTS"] = ((100, ("worst", "best", "middle")),)
    size = {"worst": 9.0, "best": 1e-9, "middle": 1e-9}
    given = [
        {"suite": suite, "per_variable": 100, "algorithm": name, "errors": [[size[name], 1.0, size[name]]] * 4}
        for suite in script["SUITES"]
        for name in names[0][1]
    ]
    given[-1]["errors"] = [[7.0, 7.0, 0.0]] * 4  # the median counts
    best, middle, worst = rows(given)
    assert [row["algorithm"] for row in (best, middle, worst)] == ["best", "middle", "worst"]
    assert (best["rank"], middle["rank"], worst["rank"]) == (1.33, 1.67, 3.0)
    assert (best["cec2014"], middle["cec2014"], middle["cec2022"]) == (1.5, 1.5, 2.0)
    assert best["medians"] == [0] * 12
    assert worst["p"] < 0.05 < middle["p"]


def test_a_second_reading_of_auto_among_the_runs_of_the_others():
    pytest.importorskip("ioh")
    script = names_of("auto/held_out_auto.py")
    readings = script["readings"]
    experiments = ((100, ("auto", "rdex", "arrde")),)
    readings.__globals__["EXPERIMENTS"] = script["rows"].__globals__["EXPERIMENTS"] = experiments
    size = {"auto": 9.0, "rdex": 2.0, "arrde": 4.0}

    def parts(*names):
        return [
            {"suite": suite, "per_variable": 100, "algorithm": name, "errors": [[size[name]] * 3] * 4}
            for suite in script["SUITES"]
            for name in names
        ]

    first, own = parts(*size), parts("auto")
    own[0]["errors"] = [[1.0] * 3, [1.0] * 3, [10.0] * 3, [9.0] * 3]
    own[1]["errors"] = own[2]["errors"] = [[3.0] * 3] * 4
    (row,) = readings(first, own)
    assert (row["algorithm"], row["per_variable"], row["lower"], row["higher"]) == ("auto", 100, 10, 1)
    assert row["ranks"] == {"rdex": 1.17, "auto": 2.0, "arrde": 2.83}
    assert (row["rank"], row["cec2014"], row["cec2022"]) == (2.0, 2.0, 2.0)
    assert row["medians"][:5] == [1, 1, 10, 9, 3]


def test_runs_that_the_polish_solves_or_loses():
    pytest.importorskip("ioh")
    script = names_of("auto/polish.py")
    rows, measure = script["rows"], script["measure"]
    rows.__globals__.update(DIMS=(2,), EVALS=(4000,), INSTANCES=(2,), FUNCTIONS=(1, 8))
    parts = [measure(2, 4000, polish) for polish in (False, True)]
    assert [part["polish_evals"] > 0 for part in parts] == [False, True]
    assert max(parts[1]["errors"]) < 1e-8
    parts[0]["errors"], parts[1]["errors"] = [1.0, 1.0, 1.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1e-9, 0.0, 1.0, 1.0]
    (row,) = rows(parts)
    assert [row[name] for name in ("runs", "without", "with", "lost", "won", "p")] == [6, 2, 4, 1, 3, 0.625]


def test_functions_on_which_a_choice_for_middle_budgets_is_better_or_worse():
    pytest.importorskip("ioh")
    pytest.importorskip("minionpy")
    script = names_of("auto/middle_budgets.py")
    rows, measure, parameters_of = (script[name] for name in ("rows", "measure", "parameters_of"))
    assert parameters_of("auto", 4, 2000) == {"algorithm": "auto"}
    assert parameters_of("rdex", 4, 12_000) == {"algorithm": "rdex", "polish": "quasi-Newton"}
    assert parameters_of("cmaes", 4, 2000) == {"algorithm": "cmaes", "polish": "quasi-Newton"}
    assert parameters_of("cmaes", 4, 2001) == {"algorithm": "cmaes", "polish": False}
    rows.__globals__.update(CASES=((("janssen2024", 5), 400),))
    parts = [measure("janssen2024", 5, 400, choice) for choice in script["SEEDS"]]
    assert [[len(errors) for errors in part["errors"]] for part in parts] == [[15] * 10] * 3
    for part, errors in zip(parts, (1.0, 2.0, 0.5), strict=True):
        part["errors"] = [[errors * n for n in range(20, 35)]] * 2
    found = {row["other"]: (row["better"], row["worse"]) for row in rows(parts)}
    assert found == {"rdex": (2, 0), "cmaes": (0, 2)}


def test_ranks_of_auto_with_middle_budgets_by_group():
    pytest.importorskip("minionpy")
    pytest.importorskip("ioh")
    script = names_of("auto/held_out_middle.py")
    assert [len(list(script["functions"](*place))) for place in (("cec2019", 10), ("cec2022", 20))] == [7, 12]
    places, names = (("cec2020", 15), ("cec2019", 10)), ("auto", "de", "jde")
    parts = [
        {"suite": suite, "dim": dim, "algorithm": name, "errors": [[value] * 5] * 4}
        for suite, dim in places
        for name, value in zip(names, (2.0, 1.0 if suite == "cec2020" else 3.0, 4.0), strict=True)
    ]
    (row,) = script["rows"](parts, {"some": (places, names)})
    assert (row["group"], row["functions"], row["ranks"]) == ("some", 8, {"auto": 1.5, "de": 1.5, "jde": 3.0})
    assert row["auto"] == {"cec2020, D=15": 2.0, "cec2019, D=10": 1.0}
    assert row["p"] == 1.0


def test_cec_by_suite_and_budget():
    pytest.importorskip("minionpy")
    pytest.importorskip("ioh")
    script = names_of("auto/cec.py")
    assert [len(list(script["functions"](suite))) for suite in ("cec2017", "cec2011")] == [29, 22]
    assert {function.dim for function in script["functions"]("cec2011")} >= {1, 7, 22, 240}
    names, values = ("auto", "de", "jde"), (-3.0, -2.0, 4.0)
    script["rows"].__globals__["EXPERIMENTS"] = (("cec2011", 100, names), ("cec2017", 100, names))
    parts = [
        {"suite": suite, "per_variable": 100, "algorithm": name, "errors": [[value] * 5] * 4}
        for suite in ("cec2011", "cec2017")
        for name, value in zip(names, values, strict=True)
    ]
    real, made = script["rows"](parts)
    assert real["ranks"] == {"auto": 1.0, "de": 2.0, "jde": 3.0}  # negative values count
    assert made["ranks"] == {"auto": 1.5, "de": 1.5, "jde": 3.0}
    part = script["measure"]("cec2011", 10, "auto")
    assert [len(errors) for errors in part["errors"]] == [5] * 22


def test_large_budgets_are_written_by_group(tmp_path):
    pytest.importorskip("minionpy")
    pytest.importorskip("ioh")
    script = names_of("auto/held_out_large.py")
    keys = [
        (*place, script["PER_VARIABLE"], name)
        for places, names in script["LARGE_GROUPS"].values()
        for name in names
        for place in places
    ]
    sizes = {"cec2014": 30, "cec2019": 7, "cec2020": 10, "cec2022": 12}
    names = ("suite", "dim", "per_variable", "algorithm")
    parts, out = tmp_path / "parts.jsonl", tmp_path / "record.json"
    parts.write_text(
        "".join(
            json.dumps(
                {**dict(zip(names, key, strict=True)), "errors": [[float(key[-1] != "auto")] * 5] * sizes[key[0]]}
            )
            + "\n"
            for key in keys
        )
    )
    script["main"]([str(parts), "--out", str(out)])
    record = json.loads(out.read_text())
    assert record["settings"] == {"per_variable": 10_000, "runs": 5, "zero": 1e-08}
    assert [(row["group"], row["functions"], row["ranks"]["auto"]) for row in record["rows"]] == [
        ("again", 52, 1.0),
        ("at most 15", 17, 1.0),
    ]


def test_functions_on_which_the_end_of_small_budgets_is_better_or_worse():
    pytest.importorskip("ioh")
    pytest.importorskip("minionpy")
    script = names_of("auto/small_budgets.py")
    rows, measure = script["rows"], script["measure"]
    rows.__globals__.update(DIMS=(("ioh:bbob", 2),), EVALS=(100,), FUNCTIONS=(1, 8))
    parts = [measure("ioh:bbob", 2, 100, polish) for polish in (False, True)]
    assert [len(errors) for part in parts for errors in part["errors"]] == [25] * 4
    assert [part["polish_evals"] > 0 for part in parts] == [False, True]
    (row,) = rows(parts)
    assert (row["functions"], row["higher"], row["worse"]) == (2, 0, 0)
    assert row["better"] > 0  # on the sphere
    worse, solved = [[float(n + 1) for n in range(25)] for _ in range(2)]
    solved[:13] = [1e-9] * 13  # the median counts as zero
    parts[0]["errors"], parts[1]["errors"] = [worse, solved], [[2 * n for n in worse], [0.0] * 13 + solved[13:]]
    (row,) = rows(parts)
    assert [row[name] for name in ("lower", "higher", "p", "better", "worse")] == [0, 1, 1.0, 0, 1]
    assert [len(found) for found in script["functions"]("cec2017", 10)] == [1] * 29


def test_scipys_tests_are_counted(tmp_path, capsys):
    if find_spec("scipy.optimize.tests") is None:
        pytest.skip("this installation of SciPy has no tests")
    file = tmp_path / "scipy-tests.json"
    rows = main_of("scipy/scipy_tests.py")(["--select", "test_of_scipy and test_L1", "--out", str(file)])
    assert rows == json.loads(file.read_text())["figures"] == [{"test": "test_L1", "passed": True}]
    assert "1 of 1 tests" in capsys.readouterr().out


def test_compositions_have_the_values_of_the_other_program(tmp_path):
    pytest.importorskip("minionpy")
    file = tmp_path / "compositions.json"
    rows = main_of("speed/compositions.py")(["--dim", "10", "--points", "20", "--repeats", "1", "--out", str(file)])
    assert [row["function"] for row in rows] == ["F8", "F9", "F10"]
    assert json.loads(file.read_text())["figures"] == rows


def test_every_algorithm_is_measured(tmp_path, monkeypatch):
    monkeypatch.setattr("skde.benchmark.generations.GENERATIONS", 5)
    monkeypatch.setattr("skde.benchmark.generations.WARM_GENERATIONS", 2)
    monkeypatch.setattr("skde.benchmark.generations.REPEATS", 1)
    file = tmp_path / "algorithms.json"
    rows = main_of("speed/algorithms.py")(["--out", str(file)])
    assert {"de", "arrde", "rdex"} <= {row["algorithm"] for row in rows}
    assert rows[0]["ratio to de"] == 1.0
    assert [row["algorithm"] for row in json.loads(file.read_text())["figures"]] == [row["algorithm"] for row in rows]


def test_rotated_functions_are_timed_alone_and_together(tmp_path):
    file = tmp_path / "rotations.json"
    arguments = ["--device", "cpu", "--evals", "1000", "--runs", "2", "--repeats", "1", "--functions", "F1,F8"]
    main = main_of("speed/rotations.py")
    rows = main([*arguments, "--out", str(file)])
    record = json.loads(file.read_text())
    assert record["figures"] == rows
    assert (record["device"], record["driver"]) == ("cpu", None)
    assert record["settings"] == {"evals": 1000, "runs": 2, "repeats": 1}
    assert [row["function"] for row in rows] == ["F1", "F8"]
    assert min(row[name] for row in rows for name in ("alone", "together")) > 0
    with pytest.raises(ValueError, match="each of --functions must be one of"):
        main(["--device", "cpu", "--functions", "F1,F11"])


def test_a_rotated_functions_time_is_a_median_of_turns_and_of_one_run(monkeypatch):
    measure = main_of("speed/rotations.py").__globals__["measure"]
    fits, spent = [], iter([99.0, 99.0, 3.0, 50.0, 1.0, 40.0, 2.0, 90.0])

    def seconds(problem, evals, n_runs, seed, device):
        fits.append((evals, n_runs, seed, device))
        return next(spent)

    monkeypatch.setitem(measure.__globals__, "fit_seconds", seconds)
    assert measure("F3", 7000, 10, 3, "cpu") == {"function": "F3", "alone": 2.0, "together": 5.0}
    short, turns = fits[:2], fits[2:]
    assert short == [(500, 1, 0, "cpu"), (500, 10, 0, "cpu")]
    assert turns == [(7000, n_runs, seed, "cpu") for seed in range(3) for n_runs in (1, 10)]
