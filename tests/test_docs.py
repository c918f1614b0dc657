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
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import skde
import skde.tuning
from skde.algorithms import ALGORITHMS, FitSetting
from skde.benchmark.records import complete_cells, format_record
from skde.cli.arguments import join_negative_numbers
from skde.cli.main import make_parser

from .docstring_parameters import NUMBER, RANGE, parameters
from .documents import DOCS, PAGES, RECORDS, ROOT, needs_records

DE = "skde/kernels/algorithms/de.cuh"
INCLUDE = r"(?m)^```\{include\} (\S+)\n((?:.+\n)*?)```$"
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


@pytest.fixture
def reference(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return docs/extensions/reference.py as a module."""
    monkeypatch.syspath_prepend(DOCS)
    return importlib.import_module("extensions.reference")


@pytest.fixture
def convergence(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return docs/figures/convergence.py as a module."""
    monkeypatch.syspath_prepend(DOCS)
    return importlib.import_module("figures.convergence")


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


def test_the_page_on_min_max_problems_code_runs(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # it writes a file
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
    assert {"skde.minimizer.solver", "skde.algorithms.de", "skde.algorithms.jde", "skde.problems"} <= set(found)


@needs_records
def test_records_are_small_and_have_a_cell_a_line() -> None:
    assert sum(path.stat().st_size for path in (ROOT / "benchmarks" / "records").iterdir()) < 1_500_000
    for path in RECORDS:
        text = path.read_text()
        record = json.loads(text)
        assert text == format_record(record) + "\n", f"{path.name} is not in the form of skde.benchmark.records"
        for cell in complete_cells(record.get("cells", [])):
            assert {"f_opt", "source", "n_evals"} <= set(cell), path.name
            assert ("best" in cell) != ("error" in cell), path.name


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_an_algorithm_has_its_page_and_its_row(name: str, convergence: ModuleType) -> None:
    page, made = " ".join((DOCS / "algorithms" / f"{name}.md").read_text().split()), convergence
    assert (
        f"Error of {name} against evaluations ``` Defaults, {made.RUNS} runs of {made.MAX_EVALS} evaluations:" in page
    )
    assert f"below {made.LEAST:g} are drawn at {made.LEAST:g}." in page
    algorithm = ALGORITHMS[name]
    assert f"`skde.{algorithm.__name__}` has the parameters" in page
    rows = (DOCS / "algorithms" / "README.md").read_text().splitlines()
    (row,) = (row for row in rows if row.startswith(f"| [`{name}`]({name}.md) | `skde.{algorithm.__name__}` |"))
    assert row.endswith("| `max_evals` or `max_iter` |" if algorithm.shrinks else "|  |")


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


def anchors_of(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub and the site make them."""
    heads = re.findall(r"(?m)^#+ (.+)$", re.sub(r"(?ms)^```.*?^```", "", page.read_text()))
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_to_headings(page: Path) -> None:
    """Without the site too: all headings are in the pages."""
    for target, anchor in re.findall(r"\]\(([\w./-]*)#([\w-]+)\)", page.read_text()):
        linked = page.parent / target if target else page
        assert anchor in anchors_of(linked), f"{page.name} links to {target}#{anchor}, which is not there"


def test_parts_that_pages_include_are_there() -> None:
    found = [(page, *block) for page in PAGES for block in re.findall(INCLUDE, page.read_text())]
    assert len(found) > 3
    for page, target, options in found:
        text = (page.parent / target).read_text()
        marks = re.findall(r'(?m)^:(?:start-after|end-before): "(.+)"$', options)
        places = [text.index(mark) for mark in marks]
        assert places == sorted(places)


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
    others = ("skde.typing.", "skde.benchmark.")  # types are for type checkers, and the laboratory has its own names
    assert {name for name in imported if not name.startswith(others)} <= public
