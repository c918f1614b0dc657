"""Completeness: tests, docstrings and documents of everything public."""

from __future__ import annotations

import ast
import doctest
import inspect
import re
from pathlib import Path

import pytest

import skde
from skde.algorithms import ALGORITHMS, FitSetting, small_population

from ..used_names import used_names

# Classes that users read or derive from, but do not instantiate.
HANDED_OUT = {"Algorithm", "History", "Progress", "RunResult", "Status"}
ROOT = Path(__file__).resolve().parents[2]
USED = used_names(ROOT / "tests")


@pytest.mark.parametrize("name", skde.__all__)
def test_public_names_are_tested_and_documented(name: str) -> None:
    thing = getattr(skde, name)
    assert name in USED, f"no test uses skde.{name}"
    assert inspect.getdoc(thing), f"skde.{name} has no docstring"


@pytest.mark.parametrize("name", skde.__all__)
def test_public_functions_have_an_example(name: str) -> None:
    """Except for objects that skde returns, and functions without parameters."""
    thing = getattr(skde, name)
    if name not in HANDED_OUT and inspect.signature(thing).parameters:
        assert "Examples\n" in (inspect.getdoc(thing) or ""), f"the docstring of skde.{name} has no example"


@pytest.mark.parametrize("name", skde.__all__)
def test_examples_print_the_stated_output(name: str) -> None:
    """Every example runs, with the printed output."""
    runner = doctest.DocTestRunner(verbose=False)
    for example in doctest.DocTestFinder().find(getattr(skde, name), name, globs={}):
        runner.run(example)
    assert runner.failures == 0


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_algorithms_are_documented(name: str) -> None:
    doc = inspect.getdoc(ALGORITHMS[name]) or ""
    for section in ("Parameters\n", "Notes\n", "Examples\n", "Source:"):
        assert section in doc, f"the docstring of {name} has no {section.strip()}"
    assert f"| `{name}` |" in (ROOT / "README.md").read_text()
    page = (ROOT / "docs" / "algorithms" / f"{name}.md").read_text()
    for heading in (f"# {name}: ", "## Recommended use\n", "## Equations\n", "## Example\n", "## Convergence\n"):
        assert f"\n{heading}" in f"\n{page}", f"docs/algorithms/{name}.md has no {heading.strip()}"


# Modules that choose algorithms, or name those of other libraries; the experiments of papers do both.
CHOOSING = {"speed.py", "scale_peers.py", "peer_options.py", "peer_optimizers.py"}


def test_no_module_lists_algorithms() -> None:
    """The facts about an algorithm are attributes of its class, so that a new one is in no other module."""
    folders = [ROOT / "skde", ROOT / "tuning", ROOT / "benchmarks" / "lab"]
    modules = {
        path.resolve()
        for folder in folders
        for path in folder.rglob("*.py")
        if not {"papers", "algorithms"} & {*path.parts}
    }
    for path in sorted(path for path in modules if path.name not in CHOOSING):
        nodes = ast.walk(ast.parse(path.read_text()))
        named = {node.value for node in nodes if isinstance(node, ast.Constant) and node.value in ALGORITHMS}
        assert len(named) < 2, f"{path.relative_to(ROOT)} names {', '.join(sorted(named))}"


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_the_parameters_that_a_class_names_are_its_own(name: str) -> None:
    kind = ALGORITHMS[name]
    assert {*kind.tuning_space, *kind.small_parameters} <= set(kind().get_params())
    assert kind.vectors_per_trial >= 2  # a trial is written and read
    small = small_population(name, 6)
    assert small.kernel_parameters(FitSetting(3, max_evals=600))["pop_size"] == 6


@pytest.mark.parametrize("page", ["README.md", "docs/algorithms/README.md"])
def test_tables_have_the_order_of_the_registry(page: str) -> None:
    rows = re.findall(r"(?m)^\| \[?`([a-z]+)`", (ROOT / page).read_text())
    assert [name for name in rows if name in ALGORITHMS] == list(ALGORITHMS)


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_algorithms_have_an_oracle(name: str) -> None:
    """A test compares the algorithm with a NumPy implementation."""
    tests = [path.read_text() for path in (ROOT / "tests" / "oracle").glob("test_*.py")]
    assert any(f'"{name}"' in test for test in tests)
