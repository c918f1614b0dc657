"""Parts of the site for Sphinx: links of public names and of examples, and equations in MathML."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

from extensions import reference

LOGGER = logging.getLogger(__name__)
# A fitted attribute in a docstring, such as x_, outside of code: reStructuredText takes it as the name of a link.
FITTED = re.compile(r"(?<![`*\\.:\w])([A-Za-z]\w*_)(?![`*{\\\w])")
EXAMPLE = re.compile(r"(?:\.\./)+examples/(plot_\w+)\.py")
# Commands of LaTeX that docutils does not have, and those that it has.
SYNONYMS = {r"\dots": r"\ldots", r"\Big": r"\Bigl"}
PATH = re.compile(r"skde(\.[A-Za-z]\w*)+")
EXAMPLES = ".. rubric:: Examples"


def mark_fitted_attributes(app: Sphinx, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Make code of the fitted attributes that a docstring names, as numpydoc left it, before its examples."""
    end = lines.index(EXAMPLES) if EXAMPLES in lines else len(lines)
    for i, line in enumerate(lines[:end]):
        names, mark, text = line.rpartition("**")  # **names** : types, of attributes and parameters
        lines[i] = names + mark + FITTED.sub(r"``\1``", text)


class LinksOfNames(SphinxTransform):
    """Code in a text that is a public name, such as Minimizer or DE.nashed2012(), becomes a link to its page.

    A name of skde that does not exist is a warning.
    """

    default_priority = 200

    def apply(self, **_: Any) -> None:
        """Replace the codes."""
        paths = reference.list_linked_names()
        for code in list(self.document.findall(nodes.literal)):
            text = code.astext().removesuffix("()")
            if text in paths and not within(code, nodes.reference, nodes.title, addnodes.pending_xref):
                target = {"refdomain": "py", "reftype": "obj", "reftarget": paths[text], "refdoc": self.env.docname}
                link = addnodes.pending_xref("", refexplicit=True, refwarn=True, **target)
                code.replace_self(link)
                link += code
            elif PATH.fullmatch(text) and not reference.exists(text):
                LOGGER.warning("skde has no name %s", text, location=code)


class LinksOfExamples(SphinxTransform):
    """A link of a page to the file of an example becomes a link to its page in the gallery."""

    default_priority = 200

    def apply(self, **_: Any) -> None:
        """Replace the links."""
        for link in list(self.document.findall(addnodes.download_reference)):
            if found := EXAMPLE.fullmatch(link["reftarget"]):
                page = f"/auto_examples/{found[1]}"
                target = {"refdomain": "std", "reftype": "doc", "reftarget": page, "refdoc": self.env.docname}
                new = addnodes.pending_xref("", refexplicit=True, refwarn=True, **target)
                new += nodes.inline("", link.astext())
                link.replace_self(new)


def within(node: nodes.Node, *kinds: type[nodes.Node]) -> bool:
    """Whether a node is inside of one of some kinds."""
    parent = node.parent
    while parent is not None and not isinstance(parent, kinds):
        parent = parent.parent
    return parent is not None


def mathml(node: nodes.Element, as_block: bool) -> str:
    """Return an equation in MathML; one that cannot be read is a warning."""
    text = re.sub(r"\\[A-Za-z]+", lambda found: SYNONYMS.get(found[0], found[0]), node.astext())
    try:
        written: str = tex2mathml(text, as_block=as_block).replace("<mo>'</mo>", "<mo>\N{PRIME}</mo>")
    except MathError as error:
        LOGGER.warning("%s: %s", error, node.astext(), location=node)
        return ""
    return written


def visit_inline(self: Any, node: nodes.math) -> None:
    """Write an equation in a line."""
    self.body.append(mathml(node, as_block=False))
    raise nodes.SkipNode


def visit_block(self: Any, node: nodes.math_block) -> None:
    """Write an equation on separate lines."""
    self.body.append(f'<div class="equation">{mathml(node, as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the parts."""
    app.add_transform(LinksOfNames)
    app.add_transform(LinksOfExamples)
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    app.connect("autodoc-process-docstring", mark_fitted_attributes, priority=600)  # after numpydoc
    return {"parallel_read_safe": True, "parallel_write_safe": True}
