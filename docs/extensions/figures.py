"""The directives `tables` and `plot`, which make what a function of docs/figures returns when the site is built.

Their content is for readers of the repository, where there is nothing made; of a plot it is the alternative text, too.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from pkgutil import resolve_name

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from figures.records import RECORDS

FIGURES = Path(__file__).resolve().parents[1] / "figures"


class Figures(SphinxDirective):
    """Its argument is a function of docs/figures, such as `scale.tables`, and what the function is called with."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def make(self) -> Iterable[str] | bytes:
        """Return what the function returns; the page depends on all records and functions."""
        self.assert_has_content()
        for path in (*RECORDS.glob("*.json"), *FIGURES.glob("*.py")):
            self.env.note_dependency(str(path))
        name, *given = self.arguments[0].split()
        return resolve_name(f"figures.{name}")(*given)


class Tables(Figures):
    """Lines of Markdown."""

    def run(self) -> list[nodes.Node]:
        """Return the nodes of the lines."""
        return self.parse_text_to_nodes("\n".join(self.make()))


class Plot(Figures):
    """An SVG, which is written into the folder of the build."""

    def run(self) -> list[nodes.Node]:
        """Return the image."""
        file = Path(self.env.doctreedir, "plots", f"{'-'.join(self.arguments[0].split())}.svg")
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(self.make())
        return [nodes.image(uri=f"/{os.path.relpath(file, self.env.srcdir)}", alt=" ".join(self.content))]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directives."""
    app.add_directive("tables", Tables)
    app.add_directive("plot", Plot)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
