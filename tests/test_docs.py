"""Code, tables and links of the documents."""

from __future__ import annotations

import ast
import doctest
import importlib
import importlib.util
import inspect
import json
import pkgutil
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import skde
import skde.tuning
from skde.algorithms import ALGORITHMS, FitSetting
from skde.benchmark.records import completed, text_of
from skde.cli.arguments import join_negative_numbers
from skde.cli.main import make_parser

from .docstring_parameters import NUMBER, RANGE, parameters

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
DE = "skde/kernels/algorithms/de.cuh"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted([*DOCS.glob("*.md"), *DOCS.glob("algorithms/*.md")])]
PAGES += sorted([*DOCS.glob("benchmarks/*.md"), *ROOT.glob("benchmarks/*/*.md")])
MODULES = sorted(
    {
        module.name
        for package in (skde, skde.tuning)  # an editable install has them in two folders
        for module in pkgutil.walk_packages([str(Path(package.__file__).parent)], f"{package.__name__}.")
        if not module.name.endswith("__main__")
    }
    | {"skde.tuning"}
)

# Packages with __all__ for skde's own modules; the names that users need are names of `skde` too.
INTERNAL = {"skde.algorithms", "skde.benchmark", "skde.engines", "skde.minmax", "skde.problems", "skde.variables"}
PUBLIC_IN_INTERNAL = ["skde.benchmark.nist.Regression", "skde.benchmark.nist.load_regression"]

RECORDS = sorted(DOCS.glob("benchmarks/*.json"))
needs_records = pytest.mark.skipif(not RECORDS, reason="the source distribution has no records")


@pytest.fixture(scope="module")
def render() -> Iterator[ModuleType]:
    """Return docs/render.py as a module, with what it imports."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(DOCS)
        spec = importlib.util.spec_from_file_location("render", DOCS / "render.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module


@pytest.fixture
def reference(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return docs/pages/reference.py as a module."""
    monkeypatch.syspath_prepend(DOCS)
    return importlib.import_module("pages.reference")


def run_examples(page: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, page.name, "exec"), {})


def test_the_readmes_code_runs(capsys: pytest.CaptureFixture[str]) -> None:
    run_examples(ROOT / "README.md")
    assert capsys.readouterr().out.count("\n") >= 2


def commands_of(page: Path) -> list[str]:
    """Return the commands in the lines of code of a page."""
    return re.findall(r"^    (?:.* && )?(skde .*)$", page.read_text(), re.MULTILINE)


@pytest.mark.parametrize("page", [page for page in PAGES if commands_of(page)], ids=lambda page: page.name)
def test_commands_are_parsed(page: Path) -> None:
    for command in commands_of(page):
        arguments = shlex.split(command, comments=True)[1:]
        parser, names = make_parser(arguments)
        if " ".join(arguments[:2]) in names:
            arguments = [" ".join(arguments[:2]), *arguments[2:]]
        assert parser.parse_known_args(join_negative_numbers(arguments))[1] == [], command


def test_the_page_on_execution_models_code_runs() -> None:
    run_examples(DOCS / "execution.md")


@pytest.mark.parametrize("name", ["index", "start", "objectives", "gpu", "runs", "which", "coming", "faq"])
def test_the_code_of_pages_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # some code writes files
    run_examples(DOCS / f"{name}.md")


def test_the_page_on_constraints_code_runs(capsys: pytest.CaptureFixture[str]) -> None:
    run_examples(DOCS / "constraints.md")
    assert capsys.readouterr().out


def test_the_page_on_typed_variables_code_runs(capsys: pytest.CaptureFixture[str]) -> None:
    run_examples(DOCS / "variables.md")
    printed = capsys.readouterr().out
    assert "'plate': 0.25, 'steel': 'hot'" in printed
    assert "{'n': 3, 'rate': 0.5}" in printed
    assert "6059.714" in printed


def test_the_page_on_models_code_runs(capsys: pytest.CaptureFixture[str]) -> None:
    run_examples(DOCS / "models.md")
    assert "'rate': 1." in capsys.readouterr().out


def test_the_page_on_min_max_problems_code_runs(capsys: pytest.CaptureFixture[str]) -> None:
    run_examples(DOCS / "minmax.md")
    assert capsys.readouterr().out


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_the_algorithms_code_runs(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    run_examples(DOCS / "algorithms" / f"{name}.md")
    assert capsys.readouterr().out


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_some_modules_have_examples() -> None:
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = [name for name in MODULES if any(t.examples for t in finder.find(importlib.import_module(name)))]
    assert {"skde.minimizer", "skde.algorithms.de", "skde.algorithms.jde", "skde.problems"} <= set(found)


@needs_records
def test_made_pages_are_those_that_would_be_made(render: ModuleType) -> None:
    for path, text in render.texts().items():
        assert (DOCS / path).read_text() == text, f"docs/{path} is old: python docs/render.py"


@needs_records
def test_records_are_small_and_have_a_cell_a_line() -> None:
    assert sum(path.stat().st_size for path in DOCS.glob("benchmarks/*")) < 1_500_000
    for path in RECORDS:
        text = path.read_text()
        record = json.loads(text)
        assert text == text_of(record) + "\n", f"{path.name} is not in the form of skde.benchmark.records"
        for cell in completed(record.get("cells", [])):
            assert {"f_opt", "source", "n_evals"} <= set(cell), path.name
            assert ("best" in cell) != ("error" in cell), path.name


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_an_algorithm_has_its_page_and_its_row(name: str, render: ModuleType) -> None:
    page, made = " ".join((DOCS / "algorithms" / f"{name}.md").read_text().split()), render.plots
    assert f"]({name}.svg) Defaults, {made.RUNS} runs of {made.MAX_EVALS} evaluations:" in page
    assert f"below {made.LEAST:g} are drawn at {made.LEAST:g}." in page
    algorithm = ALGORITHMS[name]
    assert f"`skde.{algorithm.__name__}` has the parameters" in page
    rows = (DOCS / "algorithms" / "README.md").read_text().splitlines()
    (row,) = (row for row in rows if row.startswith(f"| [`{name}`]({name}.md) | `skde.{algorithm.__name__}` |"))
    assert row.endswith("| `max_evals` or `max_iter` |" if algorithm.shrinks else "|  |")


def test_every_algorithm_has_its_plot() -> None:
    plots = {path.stem: path.read_text() for path in DOCS.glob("algorithms/*.svg")}
    assert set(plots) == set(ALGORITHMS) == {path.stem for path in DOCS.glob("algorithms/*.md")} - {"README"}
    for plot in plots.values():
        assert "</svg>" in plot
        assert "<dc:date>" not in plot
        assert len(plot) < 60_000


def scale_record() -> dict[str, Any]:
    """Return a record of `skde bench speed --scale` with two sizes, a peer, and one size that was left out."""
    cell = {"axis": "population", "algorithm": "de", "dtype": "float64", "dim": 30, "n_runs": 1}
    row = {"us": [20.0, 10.0, 30.0], "bytes": 512.0, "largest": 5000, "peers": {"pygmo": [40.0, 30.0, 30.0]}}
    return {
        **{"date": "2026-01-01T00:00:00", "commit": "0123456789ab", "command": "skde bench speed --scale"},
        **{"driver": None, "machine": {"cpu": "processor"}},
        "memory": {"available": 2**30, "copy_bytes_per_second": [1e10]},
        "settings": {"dtypes": ["float64"], "peers": {"pygmo de": "a note", "evosax de": "absent"}},
        "figures": [{**cell, **row, "pop_size": size, "trials": size} for size in (100, 1000)],
        "left_out": [{**cell, "pop_size": 10**6, "program": "skde", "reason": "it is too large"}],
    }


def test_a_record_of_sizes_makes_a_section(render: ModuleType) -> None:
    lines = render.scale.part(scale_record(), "scale-cpu")
    assert "| algorithm | D=30, NP=100 | D=30, NP=1000 |" in lines
    assert "| de | 200 (61%) | 20 (608%) |" in lines
    assert "| de, D=30, NP=100 | 2 |" in lines
    assert [render.scale.marked(ratio) for ratio in (0.536, 1.0, 12.34)] == ["**0.536**", "1", "12.3"]
    assert "| de | float64 | 512 | 5000 |" in lines
    assert "- skde: de float64 D=30 NP=1000000: it is too large" in lines
    assert "Not installed: evosax de." in lines


def rotations_record(alone: float, together: float) -> dict[str, Any]:
    """Return a record of rotated functions with the same times on each."""
    rows = [{"function": f"F{number}", "alone": alone, "together": together} for number in range(1, 11)]
    return {
        **{"date": "2026-01-01T00:00:00", "commit": "0123456789ab", "device": "cuda", "driver": {"gpu": "card"}},
        **{"settings": {"evals": 10_000_000, "runs": 30, "repeats": 3}, "figures": rows},
    }


def test_rotated_functions_have_a_section_if_there_is_a_record(
    render: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = importlib.import_module("pages.rotations")
    monkeypatch.setattr(page, "DOCS", tmp_path)
    assert page.section() == []
    (tmp_path / "benchmarks").mkdir()
    record = rotations_record(alone=0.2, together=0.1004)
    record["figures"][9]["alone"] = 1.85
    (tmp_path / "benchmarks" / "rotations-card.json").write_text(json.dumps(record))
    lines = page.section()
    assert lines[0].startswith("## Rotated functions on a GPU")
    assert "| function | one run | 30 together, each | paper | paper / one run |" in lines
    assert "| F1 | 0.200 | 0.100 | 0.63 | 3.15 |" in lines
    assert "| F10 | 1.850 | 0.100 | 1.85 | 1.00 |" in lines
    assert "| mean | 0.365 | 0.100 | 0.97 | 2.66 |" in lines
    found = lines[-2]
    assert "less than 0.11 s (F1, F2), 0.22 s (F3, F4), 0.35 s (F5, F6, F7) and 0.9 s (F8, F9, F10);" in found
    assert "One run reaches it on F3, F4, F5, F6, F7, F8 and F9. One run takes longer on " in found
    assert "F1 (1.82 times the aim), F2 (1.82 times the aim) and F10 (2.06 times the aim)." in found
    assert found.endswith("With 30 together the mean is 0.100 s, 1.00 times the aim.")


def test_rotated_functions_that_reach_or_miss_every_aim(render: ModuleType) -> None:
    page = importlib.import_module("pages.rotations")
    fast, slow = (page.finding(rotations_record(alone, 0.1)["figures"], 30) for alone in (0.1, 0.9))
    assert "One run reaches it on every function. With 30 together the mean is 0.100 s, within the aim." in fast
    assert "reaches" not in slow
    assert "F10 (1.00 times the aim). With 30" in slow


def test_processes_are_compared_by_their_runs(render: ModuleType) -> None:
    page = importlib.import_module("pages.parallel")
    row = {"dim": 30, "pop_size": 100, "n_runs": 4, "n_islands": 1, "us_per_generation": {"1": 50.0, "16": 64.0}}
    record = {"machine": {"cpu": "A", "cores": 16}, "date": "2026-11-26", "commit": "0" * 40}
    lines = page.table(record, "parallel-a.json", "processes", [row])
    assert "| setting | 1 process | 16 processes | times the runs |" in lines
    assert "| D=30, NP=100, 4 runs | 50 | 64 | 12.50 |" in lines


def test_a_plot_of_sizes_has_the_limit_and_the_peers(render: ModuleType) -> None:
    first, second = (render.scale.plot(scale_record()) for _ in range(2))
    assert first == second
    for label in (b"limit", b"pygmo de", b"ns an evaluation"):
        assert label in first


@needs_records
def test_algorithms_with_equal_ranks_share_their_places(render: ModuleType) -> None:
    bbob = importlib.import_module("pages.bbob")
    group = [{"rank": rank} for rank in (1.5, 1.5, 3.0, 4.5, 4.5)]
    assert [bbob.place_text(row["rank"], group) for row in group[1:4]] == ["places 1 to 2", "place 3", "places 4 to 5"]
    assert bbob.lowest({"a": 2.0, "b": 1.0, "c": 2.0}, 2) == "`b` 1.0, `a` 2.0 and 1 equal"
    section = "\n".join(bbob.section())
    assert "places 2 to 3 of 33" in section
    assert "| 1000 | 4 / 16 / 4, p=1 |" in section  # cmaes against pycma


@needs_records
def test_an_earlier_choice_of_auto_is_left_out(render: ModuleType) -> None:
    bbob = importlib.import_module("pages.bbob")
    assert [bbob.has_changed(share, 10) for share in (100, 1000, 10_000)] == [False, True, True]
    rows = [line for line in bbob.section() if line.startswith("| `auto` |")]
    assert len(rows) == 2  # with 100 and with 1000 evaluations for each variable


@needs_records
def test_suites_that_no_choice_has_seen(render: ModuleType) -> None:
    page = importlib.import_module("pages.held_out")
    assert [page.marked({"rank": 9.14, "p": p}) for p in (1.0, 0.049)] == ["**9.1**", "9.1"]
    section = page.section()
    (last,) = (line for line in section if line.startswith("| 10000 |"))
    assert "places 1 to" in last or "place 1 of 31" in last
    assert "| `cma:bipop` | **9.5** | 14.5 |  |" in section  # not run with the largest budget


@needs_records
def test_the_second_reading_of_auto(render: ModuleType) -> None:
    page = importlib.import_module("pages.held_out")
    first, again = (page.read(name)["rows"] for name in (page.NAME, page.SECOND))
    for row in again:  # one algorithm of the ranking has changed, by which a rank changes by at most one
        before = {one["algorithm"]: one["rank"] for one in first if one["per_variable"] == row["per_variable"]}
        assert before.keys() == row["ranks"].keys()
        assert all(abs(row["ranks"][name] - rank) <= 1 for name, rank in before.items() if name != "auto")
    rows = [
        {"per_variable": n, "rank": 2.0, "p": p, "ranks": {"de": 1.0, "auto": 2.0}} for n, p in ((5, 1.0), (7, 0.01))
    ]
    assert page.finding(rows[:1]).startswith("Another algorithm has the lowest mean rank with 5 (`de`) evaluations")
    assert "With none is `auto` worse than this beyond chance" in page.finding(rows[:1])
    assert "with 5 (`de`) and 7 (`de`) evaluations" in page.finding(rows)
    assert "With 7 `auto` is worse than this beyond chance" in page.finding(rows)
    assert "has the lowest mean rank with each" in page.finding([rows[0] | {"ranks": {"auto": 2.0, "de": 3.0}}])
    section = "\n".join(page.second_section())
    assert "0 / 52 / 0, p=1 |" in section  # no polish with 1000 evaluations


@needs_records
def test_the_third_reading_of_auto(render: ModuleType) -> None:
    page = importlib.import_module("pages.held_out")
    rows = [line for line in page.third_section() if line.startswith(("| 52: ", "| 17: "))]
    assert [row.split(":")[0] for row in rows] == ["| 52", "| 17", "| 52"]
    assert all("cec20" in row and " place" in row for row in rows)


@needs_records
def test_middle_budgets_of_auto(render: ModuleType) -> None:
    page = importlib.import_module("pages.middle_budgets")
    others = {name: {"better": k, "worse": 1} for k, name in enumerate(page.OTHERS)}
    assert page.total({("cec2017", 10, 400): others, ("cec2017", 10, 1000): others}) == (
        "In all `auto` is 0 times better and 2 times worse than `rdex` alone, 2 times better and 2 times worse than "
        "its earlier choice, and 4 times better and 2 times worse than `cmaes`."
    )
    section = page.section()
    assert sum(line.startswith("| BBOB | ") for line in section) == 15
    assert sum(line.startswith("| CEC 2017 | 10 | ") for line in section) == 3
    assert sum(line.startswith("| `janssen2024` | ") for line in section) == 6


@needs_records
def test_small_budgets_of_auto(render: ModuleType) -> None:
    page = importlib.import_module("pages.small_budgets")
    rows = [{"functions": n, "better": 2, "worse": n // 10} for n in (20, 40)]
    assert page.by_chance(rows) == "0.5 to 1.0"
    assert page.by_chance(rows[:1]) == "0.5"
    assert page.finding(rows) == "In 1 of 2 cases more functions are worse than better."
    assert page.finding(rows[:1]).startswith("In no case")
    section = page.section()
    assert sum(line.startswith("| BBOB | ") for line in section) == 18
    assert sum(line.startswith("| CEC 2017 | 10 | ") for line in section) == 6


@needs_records
def test_the_two_searches_of_auto(render: ModuleType) -> None:
    page = importlib.import_module("pages.two_searches")
    assert page.behind({"share": [0.1, 0.5]}, {"share": [0.3, 0.4]}) == pytest.approx(0.2)
    assert page.behind({"share": [0.1, 0.5]}, {"share": [0.1, 0.4]}) == 0
    section = page.section()
    (auto,) = (line for line in section if line.startswith("| `auto` | 0."))
    assert auto.endswith("|  |  |  |  |")
    assert sum(line.startswith("| `minionpy:") for line in section) > 4


def test_a_plot_is_the_same_whenever_it_is_made(render: ModuleType) -> None:
    first, second = (render.plots.convergence("lshade", runs=3, max_evals=3000) for _ in range(2))
    assert first == second


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_docstrings_name_all_parameters_with_their_defaults(name: str) -> None:
    told: dict[str, object] = {}
    for parameter in parameters(ALGORITHMS[name]):
        told |= parameter.defaults()
    signature = inspect.signature(ALGORITHMS[name]).parameters
    assert told == {parameter: found.default for parameter, found in signature.items()}


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_docstrings_have_the_ranges_that_are_checked(name: str) -> None:
    def allowed(parameter: str, kind: str, value: float) -> bool:
        given: Any = round(value) if kind.startswith("int") else (value, value) if kind.startswith("(") else value
        algorithm = ALGORITHMS[name](**{"pop_size": 2**20, parameter: given})
        try:
            algorithm.kernel_parameters(FitSetting(10, max_evals=10**9))
        except ValueError:
            return False
        return True

    for parameter in parameters(ALGORITHMS[name]):
        if found := RANGE.search(parameter.meaning):
            low, *high = (float(number) for number in re.findall(NUMBER, found[0]))
            step = 1 if parameter.kind.startswith("int") else 1e-6
            inside, outside = [low + step, *(end - step for end in high or [20_000])], [low - step]
            outside += [end + step for end in high]
            (outside if "(" in found[0] or "> " in found[0] else inside).append(low)
            (outside if ")" in found[0] else inside).extend(high)
            for each in parameter.names:
                assert all(allowed(each, parameter.kind, value) for value in inside), (each, found[0])
                assert not any(allowed(each, parameter.kind, value) for value in outside), (each, found[0])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links(page: Path) -> None:
    for target in re.findall(r"\]\(([\w./-]+)\)", page.read_text()):
        if RECORDS or "benchmarks" not in (page.parent / target).parts:
            assert (page.parent / target).exists(), f"{page.name} links to {target}, which is not there"


def test_contributing_names_paths_that_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    paths = re.findall(r"`((?:skde|tuning|tests|docs|examples|benchmarks)/[\w./]*)`", text)
    assert len(paths) > 20
    for path in paths:
        if "NAME" not in path and "SUITE" not in path and (RECORDS or "benchmarks" not in path):
            assert (ROOT / path).exists(), f"CONTRIBUTING.md names {path}, which does not exist"


def test_contributing_answers_three_questions() -> None:
    text = " ".join((ROOT / "CONTRIBUTING.md").read_text().split())
    answers = text.partition("## Three questions")[2].partition("## ")[0]
    places = re.findall(r"((?:`[\w.]+`(?:, | and )?)+)[\w ]* (?:in|of) `((?:skde|tests)/[\w./]+)`", answers)
    found = {(name.rpartition(".")[2], file) for names, file in places for name in re.findall(r"`([\w.]+)`", names)}
    assert found >= {
        ("repair", "skde/kernels/core/bounds.cuh"),
        ("ends", "skde/fit/execution.py"),
        ("conclude", "skde/kernels/core/stopping.cuh"),
        *((name, DE) for name in ("Mutation", "indices_of", "uses_best", "mutant")),
        ("mutant", "tests/oracle/reference.py"),
    }
    for name, file in found:
        assert re.search(rf"\b{name}\b", (ROOT / file).read_text()), f"{file} has no {name}"


def test_every_function_of_a_mutation_is_named_where_strategies_are_added() -> None:
    code = (ROOT / DE).read_text()
    functions = re.findall(r"^SKDE_FN \w+ (\w+)\(Mutation ", code, re.MULTILINE)
    assert len(functions) > 1
    answer = (ROOT / "CONTRIBUTING.md").read_text().partition("Where do I add a strategy?")[2].partition("## ")[0]
    assert [name for name in functions if f"`{name}`" not in answer] == []


def public_names() -> list[str]:
    """Return the names in __all__ of skde and of its modules that users import from, with the modules."""
    found = [name for name in MODULES if name.count(".") == 1]
    modules = {name: importlib.import_module(name) for name in ("skde", *found) if name not in INTERNAL}
    names = [f"{path}.{name}" for path, module in modules.items() for name in getattr(module, "__all__", ())]
    return [*names, *PUBLIC_IN_INTERNAL]


def test_the_reference_lists_every_public_name_once(reference: ModuleType) -> None:
    public = {path: pkgutil.resolve_name(path) for path in public_names()}
    listed = {id(pkgutil.resolve_name(path)) for path in reference.paths()}
    assert [path for path, value in public.items() if id(value) not in listed] == []
    assert [path for path in reference.paths() if path not in public] == []
    assert len(reference.paths()) == len(listed)


def test_members_in_the_reference(reference: ModuleType) -> None:
    members = reference.members_of_classes()
    assert members["skde.DE"] == ["nashed2012"]  # the methods of Algorithm are on its page
    assert {"fit", "set_params", "x_"} <= set(members["skde.Minimizer"])
    assert "get_metadata_routing" not in members["skde.estimators.EvolutionSearchCV"]  # of scikit-learn


def imported_names(code: str) -> set[str]:
    """Return the names that code imports from skde, with their modules."""
    imports = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.ImportFrom)]
    return {
        f"{node.module}.{alias.name}" for node in imports for alias in node.names if (node.module or "")[:4] == "skde"
    }


def test_names_that_documents_import_are_public() -> None:
    public = set(public_names())
    codes = [code for page in PAGES for code in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)]
    codes += [example.read_text() for example in ROOT.glob("examples/plot_*.py")]
    imported = set().union(*map(imported_names, codes))
    assert len(imported) > 30
    assert {name for name in imported if not name.startswith("skde.typing.")} <= public  # types are for type checkers
