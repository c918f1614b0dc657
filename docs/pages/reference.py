"""The pages of the API reference, made of the public names and their docstrings while the site is built."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import Any

import scipy.optimize

import skde
from skde.algorithms import ALGORITHMS, Algorithm


@dataclass(frozen=True)
class Group:
    """A page of the reference: the public names that some modules define."""

    file: str
    title: str
    text: str
    modules: tuple[str, ...]


# A name belongs to the group that has its module, or a package around it.
GROUPS = (
    Group(
        "solvers",
        "Solver, islands and devices",
        "One solver for all algorithms.",
        ("skde.minimizer", "skde.islands", "skde.engines.single_device"),
    ),
    Group("algorithms", "Algorithms", "Parameter objects; their names go to the solver too.", ("skde.algorithms",)),
    Group(
        "objectives",
        "Objectives",
        "Objectives in other forms, and the library of an array.",
        ("skde.objectives", "skde.arrays"),
    ),
    Group("problems", "Problems", "Test problems by name, and problems with constraints.", ("skde.problems",)),
    Group("variables", "Typed variables", "Integers, logarithms, choices and names.", ("skde.variables",)),
    Group("minmax", "Min-max problems", "Two populations, one against the other.", ("skde.minmax",)),
    Group(
        "results",
        "Results and callbacks",
        "Results of runs, and calls during a fit.",
        ("skde.result", "skde.stopping", "skde.callbacks"),
    ),
    Group("plots", "Plots", "Displays in the style of scikit-learn; they need matplotlib.", ("skde.plotting",)),
    Group(
        "scipy",
        "SciPy's interface",
        "Functions in SciPy's form.",
        ("skde.scipy.minimize", "skde.scipy.evolution", "skde.scipy.evolution_solver"),
    ),
    Group(
        "estimators",
        "Estimators",
        "Estimators of scikit-learn, and data to fit.",
        ("skde.estimators", "skde.benchmark.nist"),
    ),
    Group("optuna", "Optuna", "A sampler for Optuna's studies.", ("skde.optuna",)),
    Group("tuning", "Tuning", 'Iterated racing; it needs `pip install "skde[tuning]"`.', ("skde.tuning",)),
    Group(
        "testing", "Tests of algorithms", "Tests that every algorithm has to pass; they need pytest.", ("skde.testing",)
    ),
)

# Packages with __all__ for skde's own modules; the names that users need are names of `skde` too.
INTERNAL = {"skde.algorithms", "skde.benchmark", "skde.engines", "skde.minmax", "skde.problems", "skde.variables"}
# Public modules of an internal package, and their names.
FURTHER = (("skde.benchmark.nist", ("Regression", "load_regression")),)


@dataclass(frozen=True)
class Name:
    """A public name: the module that users import it from, and its value."""

    module: str
    name: str
    value: Any

    @property
    def path(self) -> str:
        """The name with its module."""
        return f"{self.module}.{self.name}"

    @property
    def source(self) -> str:
        """The module that defines the name; for data, the one that it is imported from."""
        source: str = getattr(self.value, "__module__", self.module) if callable(self.value) else self.module
        return source

    @property
    def summary(self) -> str:
        """The first paragraph of the docstring, in one line; of data, nothing."""
        doc = inspect.getdoc(self.value) or "" if callable(self.value) else ""
        return " ".join(doc.partition("\n\n")[0].split())


def public_modules() -> list[str]:
    """Return `skde`, and its modules with __all__ that are not internal."""
    found = [f"skde.{module.name}" for module in iter_modules(skde.__path__) if not module.name.startswith("_")]
    return ["skde", *(name for name in found if name not in INTERNAL and hasattr(import_module(name), "__all__"))]


def listed_names() -> list[Name]:
    """Return the public names of all modules."""
    listed = [(module, sorted(import_module(module).__all__)) for module in public_modules()]
    return [
        Name(module, name, getattr(import_module(module), name))
        for module, names in [*listed, *FURTHER]
        for name in names
    ]


def public_names() -> list[Name]:
    """Return all public names; one that several modules have is that of the first."""
    found: dict[int, Name] = {}
    for name in listed_names():
        found.setdefault(id(name.value), name)
    return list(found.values())


def groups() -> dict[Group, list[Name]]:
    """Return the names of every group.

    Raises
    ------
    ValueError
        For a public name without a group, and for a group without names.
    """
    found: dict[Group, list[Name]] = {group: [] for group in GROUPS}
    for name in public_names():
        fitting = [
            group for group in GROUPS if any(f"{name.source}.".startswith(f"{module}.") for module in group.modules)
        ]
        if len(fitting) != 1:
            raise ValueError(
                f"{name.path} is public and defined in {name.source}, which has to be in exactly one group of "
                f"docs/pages/reference.py, and is in {len(fitting)}: add the module to GROUPS"
            )
        found[fitting[0]].append(name)
    for group, names in found.items():
        if not names:
            raise ValueError(f"no public name is in the group {group.title!r} of docs/pages/reference.py: remove it")
    return found


def members(kind: type) -> list[str]:
    """Return the public methods and properties of a class that skde defines; of an algorithm, its presets."""
    found = set()
    for base in kind.__mro__:
        if base.__module__.partition(".")[0] == "skde":
            found |= {name for name, value in vars(base).items() if is_member(value) and not name.startswith("_")}
    if issubclass(kind, Algorithm) and kind is not Algorithm:
        found = {name for name in found - set(dir(Algorithm)) if inspect.ismethod(getattr(kind, name))}
    return sorted(name for name in found if getattr(getattr(kind, name), "__module__", "skde").startswith("skde"))


def is_member(value: Any) -> bool:
    """Whether a value in a class is a method or a property."""
    return isinstance(value, classmethod | staticmethod | property) or inspect.isfunction(value)


def undocumented() -> list[str]:
    """Return the public names, methods and properties that have no docstring."""
    missing = []
    for name in public_names():
        if not callable(name.value):
            continue  # data: the reference shows its value
        if not name.summary:
            missing.append(name.path)
        if inspect.isclass(name.value):
            missing += [f"{name.path}.{m}" for m in members(name.value) if not inspect.getdoc(getattr(name.value, m))]
    return missing


def heading(title: str) -> list[str]:
    """Return a title and its line."""
    return [title, "=" * len(title), ""]


def name_page(name: Name) -> str:
    """Return the page of a name."""
    lines = [*heading(name.path), f".. currentmodule:: {name.module}", ""]
    if name.value in ALGORITHMS.values():
        lines += [f"Equations, parameters and convergence: :doc:`/algorithms/{name.value.name}`.", ""]
    if inspect.isclass(name.value):
        lines += [f".. autoclass:: {name.name}"]
        listed = members(name.value)
        lines += [f"   :members: {', '.join(listed)}"] if listed else []
    elif callable(name.value):
        lines += [f".. autofunction:: {name.name}"]
    else:
        lines += [f".. autodata:: {name.name}"]
    lines += ["", f".. minigallery:: {name.path}", "   :add-heading: Examples with this name"]
    return "\n".join([*lines, ""])


def group_page(group: Group, names: list[Name]) -> str:
    """Return the page of a group: a table of its names, and the tree of their pages."""
    lines = [*heading(group.title), group.text, "", ".. list-table::", "   :widths: 30 70", ""]
    for name in names:
        lines += [f"   * - :py:obj:`{name.path}`", f"     - {name.summary or 'Data.'}"]
    lines += ["", ".. toctree::", "   :hidden:", "", *(f"   {name.path}" for name in names), ""]
    return "\n".join(lines)


def index(found: dict[Group, list[Name]]) -> str:
    """Return the page of all groups."""
    lines = [*heading("API reference"), "All public names, made from their docstrings.", ""]
    for group, names in found.items():
        listed = ", ".join(f":py:obj:`~{name.path}`" for name in names)
        lines += [f":doc:`{group.title} <{group.file}>`", f"   {group.text} {listed}", ""]
    lines += [".. toctree::", "   :hidden:", "", *(f"   {group.file}" for group in found), ""]
    return "\n".join(lines)


def pages() -> dict[str, str]:
    """Return the text of every page by its file name.

    Raises
    ------
    ValueError
        For public names without a docstring or without a group.
    """
    if missing := undocumented():
        raise ValueError(f"public names without a docstring: {', '.join(missing)}")
    found = groups()
    made = {"index.rst": index(found)}
    for group, names in found.items():
        made[f"{group.file}.rst"] = group_page(group, names)
        made |= {f"{name.path}.rst": name_page(name) for name in names}
    return made


# Words of docstrings' types that are names of other libraries.
OTHER_NAMES = {
    "Bounds": "scipy.optimize.Bounds",
    "Generator": "numpy.random.Generator",
    "LinearConstraint": "scipy.optimize.LinearConstraint",
    "NonlinearConstraint": "scipy.optimize.NonlinearConstraint",
    "RandomState": "numpy.random.RandomState",
    "scipy.optimize.Bounds": ":py:obj:`scipy.optimize.Bounds`",
    "scipy.optimize.OptimizeResult": ":py:obj:`scipy.optimize.OptimizeResult`",
    "bool": "bool",
    "dict": "dict",
    "float": "float",
    "int": "int",
    "list": "list",
    "ndarray": "numpy.ndarray",
    "str": "str",
    "tuple": "tuple",
}


def aliases() -> dict[str, str]:
    """Return the words in the types of docstrings that are links, with their full names."""
    return {**OTHER_NAMES, **{name.name: name.path for name in public_names()}}


@cache
def linked_names() -> dict[str, str]:
    """Return the codes that are links in docstrings and pages, with their full names."""
    linked = {}
    paths = {id(name.value): name.path for name in public_names()}
    for name in listed_names():
        path = paths[id(name.value)]
        linked[name.path] = path
        if not hasattr(scipy.optimize, name.name):  # a page may speak of SciPy's function
            linked[name.name] = path
        if inspect.isclass(name.value):
            linked |= {f"{name.name}.{member}": f"{path}.{member}" for member in members(name.value)}
    return linked


def exists(path: str) -> bool:
    """Whether a path, such as skde.tuning.Space or skde.benchmark.records, is a name or a module."""
    value: Any = skde
    for name in path.split(".")[1:]:
        if hasattr(value, name):
            value = getattr(value, name)
        elif hasattr(value, "__path__") and find_spec(f"{value.__name__}.{name}") is not None:
            value = import_module(f"{value.__name__}.{name}")
        else:
            return False
    return True
