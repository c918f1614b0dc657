"""Numbers in the prose of pages: those of the records."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterator
from statistics import mean, median
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from skde import get_problem
from skde.algorithms.auto import first_share
from skde.utils.hypothesis_tests import holm

from ..documents import DOCS, ROOT, needs_records

pytestmark = needs_records


@pytest.fixture(scope="module", autouse=True)
def figures() -> Iterator[None]:
    """Let tests import docs/figures."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(DOCS)
        yield


def read(name: str) -> dict[str, Any]:
    """Return a record."""
    record: dict[str, Any] = json.loads((ROOT / "benchmarks" / "records" / f"{name}.json").read_text())
    return record


def text_of(page: str) -> str:
    """Return a page in one line."""
    return " ".join((DOCS / f"{page}.md").read_text().split())


def module(name: str) -> ModuleType:
    """Return a module of docs/figures."""
    return importlib.import_module(f"figures.{name}")


def cells_of(lines: list[str]) -> list[list[str]]:
    """Return the cells of a table, without its heads."""
    rows = [line for line in lines if line.startswith("|")][2:]
    return [[cell.strip() for cell in row.split("|")[1:-1]] for row in rows]


def test_scipys_tests() -> None:
    record = read("scipy-tests")
    passed = [row["passed"] for row in record["figures"]]
    version = record["versions"]["scipy"]
    assert f"{sum(passed)} of the {len(passed)} tests in SciPy {version}'s own file" in text_of("scipy")


def test_costs_of_objectives() -> None:
    spent = {row["form"]: median(row["us"]) for row in read("objectives")["figures"]}
    numbers = (spent[form] for form in ("name", "f(X)", "f(x)", "SciPy, vectorized", "SciPy"))
    compiled, arrays, points, *scipy = numbers
    page = text_of("objectives")
    assert f"{compiled:.1f} of a compiled function, {arrays:.1f} of f(X) of NumPy arrays, {points:.0f} of f(x)" in page
    assert "14 with arrays and 49 with points" in page
    assert [f"{time:.0f}" for time in scipy] == ["14", "49"]


def test_searches() -> None:
    record, page = read("searches"), text_of("hyperparameters")
    tasks = {row["task"] for row in record["figures"]}
    fits = record["settings"]["n_iter"] * record["settings"]["inner"]
    assert f"{len(tasks)} tasks, each a data set and an estimator, {fits} fits for every search" in page
    assert f"and {record['summary'][0]['n']} pairs of a task and an outer split" in page
    ranks = {(row["measure"], row["search"]): f"{row['mean_rank']:.2f}" for row in record["summary"]}
    assert f"{ranks['score', 'racing']} of racing, {ranks['score', 'random']} of random search" in page
    inner = {name: ranks["inner", name] for name in ("racing", "pso", "TPE", "random")}
    assert "{racing} of racing, {pso} of PSO, {TPE} of TPE, {random} of random search".format(**inner) in page


def test_no_tuner_has_a_lower_median_than_racing() -> None:
    tuners = module("tuners")
    rows = tuners.rows_of(name for name in tuners.ONCE if not name.startswith(tuners.EARLIER))
    assert len(rows) == 5
    for found in rows.values():
        assert min(row["median"] for row in found.values()) == found["racing, means"]["median"]


def test_certified_regressions() -> None:
    rows, page = read("nist")["figures"], text_of("models")
    given, free = ([min(row["digits"]) >= 6 for row in rows if row["signs"] == signs] for signs in (True, False))
    assert f"given, {sum(given)} of {len(given)} sets have at least 6 digits in all parameters" in page
    assert f"from boxes of -10 to 10 times, {sum(free)} of {len(free)}." in page
    record = read("nist-auto")
    solved = record["solved"]
    assert (
        f"4 digits with each of 3 seeds on {solved['auto']} of the {len(record['figures'])} sets, "
        f"{solved['auto, polish=False']} with `polish=False`, and {solved['jde']} with `jde`; with one seed after the "
        "other on 25, 24 and 26. It misses Gauss2, Gauss3 and Thurber"
    ) in page
    assert record["by_seed"]["auto"] == [25, 24, 26]
    missed = [row["set"] for row in record["figures"] if min(row["auto"]) < record["settings"]["digits"]]
    assert missed == ["Gauss2", "Gauss3", "Thurber"]


def test_the_polish_costs_no_runs() -> None:
    assert "In no case does the polish cost more runs than chance explains." in text_of("which")
    assert not [row for row in read("auto-polish")["rows"] if row["p"] < 0.05 and row["lost"] > row["won"]]


def test_small_budgets() -> None:
    rows, page = read("auto-small-budgets")["rows"], text_of("which")
    by_chance = sorted({row["functions"] * 0.05 / 2 for row in rows})
    assert f"Chance alone gives {by_chance[0]:.1f} to {by_chance[-1]:.1f} in each direction." in page
    assert "In no case are more functions worse than better." in page
    assert not [row for row in rows if row["worse"] > row["better"]]


def test_middle_budgets() -> None:
    said = []
    for other, name in module("auto").OTHERS.items():
        rows = [row for row in read("auto-middle-budgets")["rows"] if row["other"] == other]
        better, worse = (sum(row[verdict] for row in rows) for verdict in ("better", "worse"))
        said.append(f"{better} times better and {worse} times worse than {name}")
    assert f"In all `auto` is {' and '.join(said)}." in text_of("which")


def test_instances_and_shares() -> None:
    page = text_of("which")
    assert read("bbob-comparison")["settings"]["instances"] == [2, 3, 4]
    for name, first, last in (("auto-polish", 2, 6), ("auto-small-budgets", 21, 25), ("auto-middle-budgets", 61, 65)):
        assert read(name)["settings"]["instances"] == list(range(first, last + 1))
        assert f"the instances {first} to {last}" in page
    dims = sorted({row["dim"] for row in read("bbob-auto")["rows"]})
    assert [first_share(dims[0]), first_share(dims[-1]), dims[-1]] == [0.1, 0.2, 40]
    assert "`auto` gives a tenth of the evaluations to CMA-ES, and a fifth with 40 variables." in page


def test_the_second_reading() -> None:
    rows, page = read("held-out-auto")["rows"], text_of("which")
    best = {row["per_variable"]: min(row["ranks"], key=row["ranks"].get) for row in rows}
    *first, last = (f"{share} (`{name}`)" for share, name in best.items())
    assert f"Another algorithm has the lowest mean rank with {', '.join(first)} and {last} evaluations for each" in page
    assert "With none is `auto` worse than this beyond chance" in page
    assert all(row["rank"] > min(row["ranks"].values()) and row["p"] >= 0.05 for row in rows)


def test_cec2011() -> None:
    rows, page = cells_of(module("cec").cec2011()), text_of("which")
    p, shares = (np.array([float(row[column]) for row in rows]) for column in (-2, -1))
    better = int(((p < 0.05) & (shares > 0.5)).sum())
    assert not ((p < 0.05) & (shares < 0.5)).any()
    assert f"on the {len(rows)} problems, most of them from practice" in page
    assert f"better on {better}, equal on {len(rows) - better}, worse on none," in page
    assert f"With Holm's correction {int((holm(p) < 0.05).sum())} differences remain." in page


def test_candidates_on_other_suites() -> None:
    counts = [len(row["ranks"]) for row in read("auto")["rows"] if row["suite"] in module("auto").CHOSEN_ON]
    assert f"among {min(counts)} to {max(counts)} candidates of `auto`" in text_of("which")


def test_the_suite_of_nashed2012() -> None:
    rows, page = cells_of(module("cec").ranks("quality-nashed2012")), text_of("which")
    by_dim = {dim: sorted((float(row[column]), row[0], row[-1]) for row in rows) for dim, column in ((10, 1), (30, 4))}
    (low, best, _), *_ = by_dim[10]
    assert best.startswith("[`lshade:repair=midpoint`]")
    assert f"[`lshade`](algorithms/lshade.md) with the midpoint rule has the lowest mean rank ({low:.2f})" in page
    low, best = next((rank, name) for rank, name, needs in by_dim[10] if not needs)
    assert f"of those that need no budget {best} ({low:.2f})" in page
    (low, best, _), *_ = by_dim[30]
    assert f"in 30 variables {best} ({low:.2f}) has the lowest of all" in page
    names = {cell["function"] for cell in module("records").read_cells("quality-nashed2012")["cells"]}
    problems = [get_problem(f"nashed2012/{name}", dim=10) for name in names]
    middle = sum(np.allclose(problem.x_opt, problem.bounds.mean(axis=1)) for problem in problems)
    assert f"in the middle of the box in {middle} of the {len(problems)} functions" in page


def test_speed() -> None:
    page = text_of("speed")
    cpu, gpu = read("speed-cpu")["figures"], read("speed-h200")["figures"]
    for figures in (cpu, gpu):
        spent = figures["python_objective"]["overhead_us_per_generation"]
        fit, ask = (f"{spent[key]['median']:.0f}" for key in ("fit", "ask/tell"))
        assert f"has an overhead of {fit} microseconds a generation in `fit`, and of {ask} with" in page
    speeds = [row["evals_per_second"]["de"]["median"] / 1e6 for row in cpu["settings"]]
    ratios = [row["ratios"]["de / pygmo"] for row in cpu["settings"]]
    assert f"{min(speeds):.1f} to {max(speeds):.1f} million evaluations a second with compiled functions" in page
    assert f"functions, {min(ratios):.1f} to {max(ratios):.1f} times as many as pygmo" in page
    cold, cached = (gpu["first_fit_seconds"][key]["first fit"]["median"] for key in ("cold", "disk cache"))
    assert f"takes {cold:.2f} s with an empty cache, {cached:.2f} s with CuPy's cache filled" in page
    ratio = {row["algorithm"]: row["ratio to de"] for row in read("algorithms-cpu")["figures"]}
    assert f"`arrde` takes {ratio['arrde']:.2f} times, `rdex` {ratio['rdex']:.2f} times" in page
    compositions = [row["minionpy / skde"] for row in read("compositions-cpu")["figures"]]
    assert f"minionpy takes {min(compositions):.1f} to {max(compositions):.1f} times the time of skde" in page


def test_rotated_functions() -> None:
    rows, page = read("rotations-h200")["figures"], text_of("speed")
    alone, together = (mean(row[key] for row in rows) for key in ("alone", "together"))
    assert f"in the mean {alone:.3f} for one run, {together:.3f} for each of 30" in page
    aims = re.findall(r"([\d.]+) s \(([F\d, ]+)\)", page)
    limits = {name: float(limit) for limit, names in aims for name in names.split(", ")}
    assert list(limits) == [row["function"] for row in rows]
    missed = {row["function"]: row["alone"] / limits[row["function"]] for row in rows}
    assert {name for name, times in missed.items() if times >= 1} == {"F1", "F2"}
    assert f"on F1 it takes {missed['F1']:.2f} and on F2 {missed['F2']:.2f} times the aim" in page
    assert together <= 0.1
    assert "With 30 together the mean is within the aim." in page


def test_targets_on_bbob() -> None:
    page = text_of("platforms")
    tables = (cells_of(module("platforms").shares(targets)) for targets in ("last", "all"))
    last, every = ({name: shares for name, *shares in rows} for rows in tables)
    lshade, jde, archive = "`lshade:repair=midpoint`", "`jde`", "`BIPOP-CMA-ES`"
    first, end = ([last[name][place] for name in (lshade, archive, jde)] for place in (0, -1))
    text = "In 2 variables {} of lshade, {} of BIPOP-CMA-ES and {} of jde; in 20 variables {}, {} and {}."
    assert text.format(*first, *end) in page
    first, end = ([every[name][place] for name in (lshade, jde)] for place in (0, -1))
    assert "In 2 variables {} of lshade and {} of jde; in 20 variables {} and {}.".format(*first, *end) in page


def test_verdicts_of_papers() -> None:
    reproduce = module("reproduce")
    page = (DOCS / "reproduce.md").read_text()
    told = re.findall(r"### (\S+)\n\n```\{tables\} reproduce\.tables (\S+)\n(.+)\n```", page)
    titles = [title for paper in reproduce.REPRODUCTIONS for title in reproduce.titles(paper)]
    assert [title for title, *_ in told] == titles
    for title, argument, text in told:
        assert title == argument
        found = reproduce.verdicts(title)
        unjudged = (reproduce.INCOMPARABLE, reproduce.NONE)
        counts = [f"{found[one]} {one}" for one in reproduce.VERDICTS if found[one] and one not in unjudged]
        assert text == f"{', '.join(reproduce.comparisons(title))}: {', '.join(counts)}."
    for reproduction in reproduce.REPRODUCTIONS.values():
        paper = reproduction.paper
        assert f"{paper.title}. The paper's machine: {paper.machine}." in " ".join(page.split())


def places_of(rows: list[list[str]], column: int) -> list[str]:
    """Return the places of `auto` in a column of a table, each as "3" or "2 to 3", by row."""
    return [re.sub(r".*places? (.*) of \d+", r"\1", row[column]) for row in rows]


def test_places_of_auto() -> None:
    page, held_out = text_of("which"), module("held_out")
    ten = places_of([row for row in cells_of(module("bbob").lowest_ranks()) if row[1] == "10"], 4)
    assert "In 10 variables auto has places {}, {} and {} of 33 algorithms".format(*ten) in page
    held = places_of(cells_of(held_out.lowest_ranks()), 3)
    assert "auto has places {}, {} and {} among 33, 33 and 31 algorithms".format(*held) in page
    cec = places_of(cells_of(module("cec").lowest_ranks()), 4)
    assert "auto has places {}, {} and {} on CEC 2017, {}, {} and {} on CEC 2011.".format(*cec) in page
    readings = (cells_of(held_out.reading(f"held-out-{name}")) for name in ("middle", "sizes", "large"))
    middle, sizes, large = (places_of(rows, 2) for rows in readings)
    assert "auto has places {}, {} and {} on the three groups of functions.".format(*middle) in page
    assert sizes == ["1", "1", "1"]
    assert "auto has place 1 on all three groups of functions." in page
    assert "auto has places {} and {} of 31 algorithms.".format(*large) in page


def test_areas_and_last_targets_of_auto() -> None:
    page = text_of("which")
    rows = {(row["algorithm"], row["dim"]): row for row in read("bbob-auto")["rows"]}
    ten = [rows[name, 10] for name in ("auto", "cmaes", "arrde")]
    areas = "the area of auto is {:.3f}, of cmaes {:.3f}, of arrde {:.3f};".format(*(row["area"] for row in ten))
    assert f"{areas} they solve {ten[0]['solved']}, {ten[1]['solved']} and {ten[2]['solved']} of 72 runs." in page
    auto, archive = (shares for _, *shares in cells_of(module("auto").last_target())[:2])
    few, some, many = ((auto[place], archive[place]) for place in (0, 3, 5))
    text = "auto has {}, BIPOP-CMA-ES {} in 2 variables; {} and {} in 10; {} and {} in 40."
    assert text.format(*few, *some, *many) in page
