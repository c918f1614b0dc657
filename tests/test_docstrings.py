"""The length of what docstrings say of one parameter; the guide has the rest."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from .documents import ROOT

SECTIONS = ("Parameters", "Other Parameters", "Attributes", "Returns", "Yields", "Raises")
MOST_LINES = 3
FOLDERS = ("skde", "tuning", "benchmarks/lab")


def entries(docstring: str) -> Iterator[tuple[str, int]]:
    """Yield the head and the number of lines of every entry in the sections of a docstring."""
    for section in re.finditer(r"(?m)^(\w[\w ]*)\n-{3,}\n((?:.*\n?)*?)(?=^\w[\w ]*\n-{3,}$|\Z)", docstring):
        if section[1] in SECTIONS:
            for entry in re.finditer(r"(?m)^(\S.*)\n((?:(?: .*)?(?:\n|\Z))*)", section[2] + "\n"):
                yield entry[1], sum(map(bool, entry[2].split("\n")))


def long_entries(code: str) -> Iterator[str]:
    """Yield the entries of the docstrings in a file that have more lines than are allowed."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            for head, lines in entries(ast.get_docstring(node) or ""):
                if lines > MOST_LINES:
                    yield f"{node.name}: {head} has {lines} lines"


def test_lines_are_counted() -> None:
    docstring = (
        "Sum.\n\nParameters\n----------\na, b : int\n    One.\n\n    Three.\nc : str\n    1\n    2\n    3\n    4\n"
    )
    docstring += "\nNotes\n-----\nx\n    1\n    2\n    3\n    4\n\nReturns\n-------\ny : int\n    1"
    assert [*entries(docstring)] == [("a, b : int", 2), ("c : str", 4), ("y : int", 1)]
    assert [*long_entries(f"def f():\n    '''{docstring}'''")] == ["f: c : str has 4 lines"]


def test_parameters_take_at_most_three_lines() -> None:
    paths = [path for folder in FOLDERS for path in sorted(Path(ROOT / folder).rglob("*.py"))]
    assert len(paths) > 100
    found = [f"{path.relative_to(ROOT)}: {line}" for path in paths for line in long_entries(path.read_text())]
    assert found == []
