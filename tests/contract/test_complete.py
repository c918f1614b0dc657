"""Completeness: tests, docstrings and documents of everything public."""

from __future__ import annotations

import doctest
import inspect
from pathlib import Path

import pytest

import skde
from skde.algorithms import ALGORITHMS

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


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_algorithms_have_an_oracle(name: str) -> None:
    """A test compares the algorithm with a NumPy implementation."""
    tests = [path.read_text() for path in (ROOT / "tests" / "oracle").glob("test_*.py")]
    assert any(f'"{name}"' in test for test in tests)
