"""The names of functions: no participles, where a verb or a noun says it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import skde

ROOT = Path(skde.__file__).parent
ROOMS = [
    *(
        "cli",
        "engines",
        "fit",
        "functions",
        "minimizer",
        "minmax",
        "model_selection",
        "objectives",
        "optuna",
        "plotting",
    ),
    *("problems", "variables"),
]
# Without the ending -ed.
IRREGULAR = {"shown", "made", "chosen", "drawn", "found", "given", "grown", "kept", "left", "shrunk", "taken", "told"}
# SciPy's name, and the speeds of a function that needs no time limit.
ALLOWED = {"converged", "unlimited"}


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    """Yield the functions and methods in a file, without properties: these are nouns and adjectives."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and not any("property" in ast.unparse(d) for d in node.decorator_list):
            yield node


def is_participle(name: str) -> bool:
    """Whether a name begins with a participle."""
    first = name.strip("_").partition("_")[0]
    return first in IRREGULAR or (first.endswith("ed") and first not in ("seed", "reseed", "need", "read", "speed"))


def test_participles_are_known() -> None:
    assert all(map(is_participle, ["checked_bounds", "_sized", "shown", "told_rows"]))
    assert not any(map(is_participle, ["read_bounds", "check", "__call__", "seed", "make_read_only"]))
    code = "class A:\n    @property\n    def fixed(self): ...\n    def allowed(self):\n        def kept(): ..."
    tree = ast.parse(code)
    assert [one.name for one in functions(tree)] == ["allowed", "kept"]


def test_no_function_is_a_participle() -> None:
    found = {
        f"{path.relative_to(ROOT)}: {function.name}"
        for room in ROOMS
        for path in (ROOT / room).rglob("*.py")
        for function in functions(ast.parse(path.read_text()))
        if is_participle(function.name) and function.name not in ALLOWED
    }
    assert not found
