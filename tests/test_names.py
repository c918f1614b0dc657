"""The names of functions and classes: no participles for functions, and one meaning for each name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from .documents import PAGES, ROOT

FOLDERS = ("skde", "tuning", "benchmarks/lab", "benchmarks/studies", "docs")
# Without the ending -ed.
IRREGULAR = {"shown", "made", "chosen", "drawn", "found", "given", "grown", "kept", "left", "shrunk", "taken", "told"}
# SciPy's name, the speeds of a function that needs no time limit, a preset, and names of tests.
ALLOWED = {"converged", "unlimited", "published", "stratified_t", "paired_t"}
# One meaning in several modules: a platform or a suite has its own, and commands find what a laboratory gives them.
SEVERAL = {"Definition", "build", "dim_range", "find_reproduction", "find_suite", "is_number", "merge", "open_problem"}
SEVERAL |= {"rank_lines", "read_trial", "suites", "values_and_violations"}
# Names that other rooms share with skde.fit, engines or the public contract tests.
SEVERAL |= {"load", "outcomes_of", "find_rows", "same"}


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


def sources() -> list[Path]:
    paths = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    assert len(paths) > 300
    return paths


def test_no_function_is_a_participle() -> None:
    found = {
        f"{path.relative_to(ROOT)}: {function.name}"
        for path in sources()
        for function in functions(ast.parse(path.read_text()))
        if is_participle(function.name) and function.name not in ALLOWED
    }
    assert not found


def test_a_name_has_one_meaning_in_all_modules() -> None:
    places: dict[str, list[str]] = {}
    for path in sources():
        if not {"studies", "docs"} & {*path.relative_to(ROOT).parts}:  # scripts, each of which runs alone
            for node in ast.parse(path.read_text()).body:
                if isinstance(node, ast.FunctionDef | ast.ClassDef):
                    places.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    assert {name: found for name, found in places.items() if len(found) > 1 and name not in SEVERAL} == {}


# Words that stand for a noun further up; a reader has to look for it.
POINTING = re.compile(r"\b(?:[Tt]hat|[Tt]hose|[Tt]hese)\s+(?:# *)?of\b|\bof\s+(?:# *)?(?:which|whom)\b")
# Rooms of which not all comments have been read.
UNREAD = ("skde/fit", "skde/minimizer", "skde/kernels")


def test_words_that_point_at_nouns_are_found() -> None:
    assert POINTING.findall("Bounds are those of x; arrays,\n# of which one is left. That\n# of y.")
    assert not POINTING.search("that offers; those often")


def test_texts_name_what_they_mean() -> None:
    code = [path for path in sources() if not str(path.relative_to(ROOT)).startswith(UNREAD)]
    pages = [page for page in PAGES if not str(page.relative_to(ROOT)).startswith(UNREAD)]
    found = [
        f"{path.relative_to(ROOT)}: {match[0]!r} after {text[max(0, match.start() - 40) : match.start()]!r}"
        for path in (*code, *pages)
        for text in [path.read_text()]
        for match in POINTING.finditer(text)
    ]
    assert found == []


MOST_ARGUMENTS = 8
# Public classes, whose parameters are their settings, and functions with an interface of others.
OWN_SETTINGS = {"MinimizerParameters", "MinMaxSolver", "ModelClassifier", "ModelRegressor", "EvolutionSearchCV"}
OWN_SETTINGS |= {"MinMaxDisplay", "MinMaxProblem", "RacingTuner", "DifferentialEvolutionSolver"}
OF_SCIPY = {"differential_evolution"}


def count_arguments(function: ast.FunctionDef) -> int:
    given = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return len([one for one in given if one.arg not in ("self", "cls")])


def test_functions_with_many_arguments_take_an_object() -> None:
    found = []
    for path in sources():
        if str(path.relative_to(ROOT)).startswith(UNREAD[:2]):
            continue
        tree = ast.parse(path.read_text())
        settings = {
            id(member)
            for node in ast.walk(tree)
            if isinstance(node, ast.ClassDef) and node.name in OWN_SETTINGS
            for member in node.body
        }
        found += [
            f"{path.relative_to(ROOT)}: {function.name}"
            for function in functions(tree)
            if count_arguments(function) > MOST_ARGUMENTS
            and id(function) not in settings
            and function.name not in OF_SCIPY
        ]
    assert found == []
