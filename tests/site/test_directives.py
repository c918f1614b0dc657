"""Tables and plots that the site makes: the functions that pages name, and the directives that call them."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from pkgutil import resolve_name
from types import ModuleType
from xml.etree import ElementTree

import numpy as np
import pytest

from skde.algorithms import ALGORITHMS

from ..documents import DIRECTIVES, DOCS, PAGES, RECORDS, needs_records

CONVERGENCE = "convergence.plot"
TABLES = sorted({what for kind, what in DIRECTIVES if kind == "tables"})
PLOTS = sorted({what for kind, what in DIRECTIVES if kind == "plot" and not what.startswith(CONVERGENCE)})


@pytest.fixture(scope="module", autouse=True)
def figures() -> Iterator[None]:
    """Let tests import docs/figures."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(DOCS)
        yield


@pytest.fixture
def svg() -> ModuleType:
    """Return docs/figures/svg.py as a module."""
    return importlib.import_module("figures.svg")


@cache
def make(what: str) -> list[str] | bytes:
    """Return what a directive makes."""
    name, *given = what.split()
    made: list[str] | bytes = resolve_name(f"figures.{name}")(*given)
    return made


@needs_records
@pytest.mark.parametrize("what", TABLES)
def test_a_page_names_tables_that_are_made(what: str) -> None:
    lines = make(what)
    assert isinstance(lines, list)
    assert not [line for line in lines if "\n" in line]
    tables = [block.split("\n") for block in "\n".join(lines).strip().split("\n\n") if block.startswith("|")]
    assert tables
    for heads, marks, *rows in tables:
        assert rows
        assert set(marks) <= set("|-: ")
        assert {row.count("|") for row in (marks, *rows)} == {heads.count("|")}


@needs_records
@pytest.mark.parametrize("what", PLOTS)
def test_a_page_names_plots_that_are_made_and_small(what: str) -> None:
    image = make(what)
    assert isinstance(image, bytes)
    assert ElementTree.fromstring(image).tag.endswith("svg")
    assert len(image) < 40_000
    assert image == make.__wrapped__(what)


def test_every_algorithm_has_its_plot() -> None:
    plots = [what.split()[1:] for kind, what in DIRECTIVES if what.startswith(CONVERGENCE)]
    assert sorted(plots) == sorted([name] for name in ALGORITHMS)
    for name in ALGORITHMS:
        assert f"```{{plot}} {CONVERGENCE} {name}\n" in (DOCS / "algorithms" / f"{name}.md").read_text()


@needs_records
def test_every_record_is_named_on_the_site() -> None:
    text = "\n".join([*(page.read_text() for page in PAGES), *(line for what in TABLES for line in make(what))])
    assert [path.name for path in RECORDS if f"records/{path.name})" not in text] == []


def test_nothing_made_is_in_the_documents() -> None:
    folders = {"auto_examples", "generated"}  # where Sphinx writes
    files = [path for path in DOCS.rglob("*") if path.is_file() and not folders & set(path.relative_to(DOCS).parts)]
    assert {path.suffix for path in files if path.parts[-2] != "__pycache__"} <= {".md", ".rst", ".py", ".txt", ".css"}


def test_a_plot_is_the_same_whenever_it_is_made_and_small() -> None:
    plot = resolve_name("figures.convergence.plot")
    first, second = (plot("lshade", runs=3, max_evals=3000) for _ in range(2))
    assert first == second
    assert len(first) < 20_000
    texts = [element.text for element in ElementTree.fromstring(first).iter("{http://www.w3.org/2000/svg}text")]
    assert {"rastrigin, D=10", "rosenbrock, D=10", "evaluations", "error"} <= set(texts)


def test_a_thin_line_is_nowhere_further_than_can_be_seen(svg: ModuleType) -> None:
    x = np.linspace(0, 300, 1001)
    line = np.column_stack([x, 50 * np.sin(x / 20)])
    thin = svg.thin(line)
    assert len(thin) < 120
    np.testing.assert_array_equal(thin[[0, -1]], line[[0, -1]])
    assert np.abs(np.interp(x, *thin.T) - line[:, 1]).max() < svg.VISIBLE * 3  # across the line it is less
    assert {tuple(point) for point in thin} <= {tuple(point) for point in line}
    ring = np.array([[0, 0], [5, 0], [10, 0], [10, 10], [0, 10], [0, 0]], float)
    np.testing.assert_array_equal(svg.thin(ring), ring[[0, 2, 3, 4, 5]])


def test_a_short_image_keeps_curves_and_closed_paths(svg: ModuleType) -> None:
    text = (
        '<svg><style>*{}</style><g id="a"><path d="M 0 0\nL 5 0.01\nL 10 0\nM 0 9\nL 9 9\nz\n" style="fill: red"/>'
        '<path d="M 0 0\nC 1 1 2 2 3.12345 3\n" style="fill: red"/></g></svg>'
    )
    assert svg.shorten(text).replace("\n", "") == (
        '<svg><style>*{}.s0{fill: red}</style><g><path d="M0.0 0.0L10.0 0.0M0.0 9.0L9.0 9.0z" class="s0"/>'
        '<path d="M 0 0C 1 1 2 2 3.12 3" class="s0"/></g></svg>'
    )


PAGE = """# Title

```{tables} objectives.costs
A text for readers of the repository.
```

```{plot} convergence.plot jde 2 500
The alternative text
```
"""


def build(folder: Path, page: str) -> subprocess.CompletedProcess[str]:
    """Build a site of one page with the directives."""
    (folder / "index.md").write_text(page)
    settings = ["-C", "-D", "extensions=myst_parser,extensions.figures", "-D", "suppress_warnings=myst.xref_missing"]
    command = [sys.executable, "-m", "sphinx", "-W", "-q", *settings, str(folder), str(folder / "site")]
    return subprocess.run(command, env={**os.environ, "PYTHONPATH": str(DOCS)}, capture_output=True, text=True)


@needs_records
def test_sphinx_makes_tables_and_plots(tmp_path: Path) -> None:
    assert build(tmp_path, PAGE).stderr == ""
    page = (tmp_path / "site" / "index.html").read_text()
    assert re.search(r"<td[^>]*><p>.*>f\(x\)<.* of one point</p></td>", page)
    assert "A text for readers" not in page
    (image,) = re.findall(r'<img alt="The alternative text" src="([^"]+\.svg)"', page)
    assert (tmp_path / "site" / image).read_bytes().endswith(b"</svg>\n")
    assert not list(tmp_path.glob("*.svg"))


@pytest.mark.parametrize(
    ("page", "message"),
    [
        (PAGE.replace("objectives.costs", "objectives.cost"), "cost"),
        (PAGE.replace("A text for readers of the repository.\n", ""), "Content block expected"),
    ],
)
def test_sphinx_names_what_cannot_be_made(tmp_path: Path, page: str, message: str) -> None:
    built = build(tmp_path, page)
    assert built.returncode != 0
    assert message in built.stderr + built.stdout
