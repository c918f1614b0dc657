"""Statistics of quality experiments, on numbers with known results."""

import json

import numpy as np
import pytest

from skde.benchmark.statistics import compare, errors, merge_records, summary
from skde.cli.main import main

LOW, HIGH = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [11.0, 12.0, 13.0, 14.0, 15.0, 16.0]


def cell(function, dim, algorithm, error):
    values = {name: list(error) for name in ("best", "error")}
    return {
        "function": function,
        "dim": dim,
        "algorithm": algorithm,
        **values,
        "n_evals": [9] * len(error),
        "seconds": 1,
    }


def record(*cells, suite="cec2017", budget="9"):
    return {"settings": {"suite": suite, "budget": budget}, "cells": [cell(*entries) for entries in cells]}


def test_small_errors_are_zero():
    found = cell("f1", 10, "a", [1e-9, -1e-9, 1e-8, 2.0, -1.0, None])
    assert errors(found).tolist() == [0, 0, 1e-8, 2, -1, np.inf]
    assert errors(found, zero=0.0)[:3].tolist() == [1e-9, -1e-9, 1e-8]


def test_the_last_bits_of_a_value_do_not_count():
    at_a_local_minimum = record(("f1", 10, "a", [300.0] * 30), ("f1", 10, "b", [300.00000000000045] * 30))
    assert compare(at_a_local_minimum, "a")["dims"][0]["against"]["b"] == {"better": 0, "equal": 1, "worse": 0}
    apart = record(("f1", 10, "a", [300.0] * 30), ("f1", 10, "b", [300.000001] * 30))
    assert compare(apart, "a")["dims"][0]["against"]["b"] == {"better": 0, "equal": 0, "worse": 1}


def test_summary():
    rows = summary(record(("f1", 10, "a", [1.0, 3.0, 8.0, 1e-9]), ("f1", 10, "b", [2.0]), ("f3", 10, "a", [None, 1.0])))
    assert rows[0] == {
        **{"function": "f1", "dim": 10, "algorithm": "a", "best": 0.0},
        **{"median": 2.0, "mean": 3.0, "std": pytest.approx(np.std([0, 1, 3, 8], ddof=1))},
    }
    assert (rows[1]["median"], rows[1]["std"]) == (2.0, 0.0)
    assert (rows[2]["median"], rows[2]["mean"], rows[2]["std"], rows[2]["best"]) == (np.inf, np.inf, None, 1.0)


def test_the_suite_defines_zero():
    given = ("f0", 10, "a", [1e-9, 1e-13, 1e-9])
    assert summary(record(given, suite="nashed2012"))[0]["median"] == 1e-9
    assert summary(record(given, suite="cec2017"))[0]["median"] == 0
    assert summary(record(given, suite="of my own"))[0]["median"] == 0
    assert summary(record(given), zero=0.0)[0]["best"] == 1e-13


def test_compare():
    found = compare(
        record(
            ("f10", 10, "a", LOW),
            ("f10", 10, "b", HIGH),
            ("f10", 10, "c", LOW),
            ("f2", 10, "a", HIGH),
            ("f2", 10, "b", LOW),
            ("f2", 10, "c", HIGH),
            ("f3", 10, "a", LOW),
            ("f3", 10, "b", HIGH),
            ("f2", 30, "b", LOW),
        ),
        "a",
    )
    assert (found["algorithms"], found["baseline"], found["zero"]) == (["a", "b", "c"], "a", 1e-8)
    ten, thirty = found["dims"]
    assert list(ten["medians"]) == ["f2", "f3", "f10"]
    assert ten["medians"]["f3"] == {"a": 3.5, "b": 13.5}
    assert ten["ranked_functions"] == 2  # c has no f3
    assert ten["ranks"] == {"a": 2.0, "b": 2.0, "c": 2.0}
    assert ten["against"] == {
        "b": {"better": 1, "equal": 0, "worse": 2},
        "c": {"better": 0, "equal": 2, "worse": 0},
    }
    assert (thirty["ranked_functions"], thirty["ranks"]) == (0, None)
    assert thirty["against"]["b"] == {"better": 0, "equal": 0, "worse": 0}


def test_compare_refuses():
    with pytest.raises(ValueError, match="baseline must be one of 'jde'; got 'jd'; did you mean 'jde'"):
        compare(record(("f1", 10, "jde", LOW)), "jd")
    with pytest.raises(ValueError, match=r"zero must be a number in \[0, inf\), got -1"):
        compare(record(("f1", 10, "jde", LOW)), "jde", zero=-1)


def test_merged():
    one, two = record(("f1", 10, "a", LOW)), record(("f1", 10, "b", HIGH), ("f1", 30, "a", HIGH))
    assert merge_records({"1.json": one, "2.json": two})["cells"] == one["cells"] + two["cells"]
    with pytest.raises(ValueError, match=r"3.json has f1 D=10 b, which 2.json has too"):
        merge_records({"1.json": one, "2.json": two, "3.json": two})
    with pytest.raises(ValueError, match=r"2.json has suite='qin2012', but 1.json has 'cec2017'"):
        merge_records({"1.json": one, "2.json": record(suite="qin2012")})
    with pytest.raises(ValueError, match=r"2.json has budget='8', but 1.json has '9'"):
        merge_records({"1.json": one, "2.json": record(budget="8")})


def test_the_command_compares_files(capsys, tmp_path):
    files = [tmp_path / "1.json", tmp_path / "2.json"]
    files[0].write_text(json.dumps(record(("f1", 10, "jde", LOW), ("f3", 10, "jde", LOW))))
    files[1].write_text(json.dumps(record(("f1", 10, "de:strategy=rand/1/exp,F=0.3,0.9", HIGH))))
    arguments = ["bench", "compare", *map(str, files), "--baseline", "jde"]
    assert main([*arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["dims"][0]["medians"]["f1"] == {"jde": 3.5, "de:strategy=rand/1/exp,F=0.3,0.9": 13.5}
    assert main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "cec2017, 9, errors below 1e-08 are zero"
    assert lines[1] == "[2]  de:strategy=rand/1/exp,F=0.3,0.9"
    assert lines[4].split() == ["jde", "[2]"]
    assert lines[5].split() == ["f1", "3.50e+00", "1.35e+01"]
    assert lines[6].split() == ["f3", "3.50e+00", "-"]
    assert lines[7].split() == ["mean", "rank", "1.00", "2.00", "of", "1", "functions"]
    assert lines[9].split() == ["[2]", "0", "0", "1"]
    assert main([*arguments[:-1], "jade"]) == 2
    assert "baseline must be one of 'jde', " in capsys.readouterr().err
    assert main([*arguments, "--zero", "100"]) == 0
    assert "errors below 100 are zero" in capsys.readouterr().out


def test_an_empty_record_has_nothing_to_compare(capsys, tmp_path):
    file = tmp_path / "runs.json"
    file.write_text(json.dumps(record()))
    assert main(["bench", "compare", str(file), "--baseline", "jde"]) == 2
    assert "has no cells yet" in capsys.readouterr().err
