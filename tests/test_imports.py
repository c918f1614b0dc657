"""The order of imports: a module imports from lower floors only, without circles."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

import skde
import skde.benchmark
import skde.tuning
from skde.algorithms import ALGORITHMS

# From the ground up: a module or package may import from the floors below it, and within its own package.
FLOORS = [
    {"skde._cpu", "skde.typing"},
    {"skde.constants"},
    {"skde.utils"},
    {"skde.islands", "skde.variables"},
    {"skde.functions"},
    {"skde.algorithms"},
    {"skde.stopping"},
    {"skde.engines"},
    {"skde.problems"},
    {"skde.objectives"},
    {"skde.result", "skde.recorder"},
    {"skde.curves"},
    {"skde.notebook"},
    {"skde.fit"},
    {"skde.callbacks"},
    {"skde.base"},
    {"skde.minimizer"},
    {"skde.minmax"},
    {"skde.plotting"},
    {"skde.scipy", "skde.testing", "skde.model_selection", "skde.model_fitting", "skde.optuna"},
    {"skde.estimators"},
    {"skde"},
    {"skde.cli"},
    {"skde.__main__"},
    {"skde.tuning"},
    {"skde.benchmark"},
]
# CUDA is loaded where a GPU is asked for.
LAZY = {"skde.engines.single_device"}


class Import(NamedTuple):
    """An import: in which module, of which, and whether a function hides it."""

    module: str
    target: str
    hidden: bool


def sources() -> dict[str, Path]:
    """Return every module of the package and its file."""
    found = {}
    for package in (skde, skde.benchmark, skde.tuning):
        root = Path(package.__file__).parent  # an editable install has several entries in __path__
        for file in root.rglob("*.py"):
            parts = file.relative_to(root).with_suffix("").parts
            if package is skde and parts[0] in ("benchmark", "tuning"):
                continue
            found[".".join([package.__name__, *(part for part in parts if part != "__init__")])] = file
    return found


SOURCES = sources()


def targets(node: ast.AST) -> Iterator[str]:
    """Return the modules of the package that a statement imports."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name.partition(".")[0] == "skde")
    if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == "skde":
        for alias in node.names:
            whole = f"{node.module}.{alias.name}"
            yield whole if whole in SOURCES or whole == "skde._cpu" else node.module


def imports() -> Iterator[Import]:
    """Return all imports of the package's own modules."""
    for module, file in SOURCES.items():
        tree = ast.parse(file.read_text())
        hidden = {
            id(node)
            for function in ast.walk(tree)
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
            for node in ast.walk(function)
        }
        for node in ast.walk(tree):
            for target in targets(node):
                yield Import(module, target, id(node) in hidden)


IMPORTS = list(imports())


def room(module: str) -> str:
    """Return the entry of FLOORS that a module belongs to."""
    rooms = {room for floor in FLOORS for room in floor}
    while module not in rooms:
        module = module.rpartition(".")[0]
        assert module, "not under skde"
    return module


def floor(module: str) -> int:
    """Return the number of a module's floor."""
    name = room(module) if "." in module and room(module) != "skde" else module
    return next(number for number, rooms in enumerate(FLOORS) if name in rooms)


def test_every_module_has_a_floor() -> None:
    homeless = [module for module in SOURCES if "." in module and room(module) == "skde"]
    assert not homeless, f"add to FLOORS: {homeless}"


@pytest.mark.parametrize("one", IMPORTS, ids=lambda one: f"{one.module}-{one.target}")
def test_imports_go_down(one: Import) -> None:
    assert room(one.module) == room(one.target) or floor(one.target) < floor(one.module)


@pytest.mark.parametrize("one", [one for one in IMPORTS if one.hidden], ids=lambda one: f"{one.module}-{one.target}")
def test_no_function_hides_an_import(one: Import) -> None:
    assert room(one.module) in LAZY or one.module in LAZY


def test_no_circle() -> None:
    graph: dict[str, set[str]] = {module: set() for module in SOURCES}
    for one in IMPORTS:
        if not one.hidden and one.target in SOURCES and one.target != one.module:
            graph[one.module].add(one.target)
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(f"modules import each other: {' -> '.join(error.args[1])}")


def test_type_checkers_see_the_public_names() -> None:
    """The table of names that are loaded when they are used has the modules of the imports for type checkers."""
    (block,) = (
        node for node in ast.parse(SOURCES["skde"].read_text()).body if "TYPE_CHECKING" in ast.unparse(node)[:20]
    )
    assert isinstance(block, ast.If)
    seen = {
        alias.asname: node.module
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name != "*"
    }
    assert vars(skde)["_MODULES"] == seen
    assert set(skde.__all__) == {*seen, *(kind.__name__ for kind in ALGORITHMS.values())}


@pytest.mark.parametrize(
    ("statement", "not_loaded"),
    [
        ("import skde", "numpy"),
        ("from skde import DE", "skde.engines"),
        ("from skde import Minimizer", "skde.minmax"),
        ("from skde import get_problem; get_problem('rastrigin')", "skde.problems.janssen2024"),
    ],
)
def test_modules_are_loaded_when_they_are_needed(statement: str, not_loaded: str) -> None:
    program = f"import sys; {statement}; sys.exit({not_loaded!r} in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("name", ["Minimiser", "_private"])
def test_names_that_do_not_exist(name: str) -> None:
    with pytest.raises(AttributeError, match=f"'skde' has no attribute '{name}'"):
        getattr(skde, name)


def test_names_that_are_not_loaded() -> None:
    assert {"Minimizer", "DE", "__version__"} <= set(dir(skde))
    assert skde.problems.get_problem is skde.get_problem  # a module that nothing has imported before
