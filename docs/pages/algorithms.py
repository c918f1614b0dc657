"""The pages of algorithms, made of docs/texts/NAME.md and of the parameters in the class's docstring."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

from pages import plots
from skde.algorithms import ALGORITHMS, Algorithm

TEXTS = Path(__file__).resolve().parents[1] / "texts"
CLASSES = {algorithm.__name__: name for name, algorithm in ALGORITHMS.items()}
NUMBER = r"-?\d+(?:\.\d+)?"
# ", in [0, 1]," or " in (0, 1]" or ", >= 4": the first such words of a description are the range.
RANGE = re.compile(rf",? (?:(?:in|within) ([\[(]{NUMBER}, {NUMBER}[\])])|(>=? {NUMBER}))")


@dataclass(frozen=True)
class Parameter:
    """An entry of a docstring's Parameters, for one name or several."""

    names: tuple[str, ...]
    kind: str
    default: str
    meaning: str

    def defaults(self) -> dict[str, object]:
        """Return the default of every name."""
        value = ast.literal_eval(self.default)
        each = value if len(self.names) > 1 and isinstance(value, tuple) else (value,) * len(self.names)
        return dict(zip(self.names, each, strict=True))


def names() -> list[str]:
    """Return the algorithms in the registry's order."""
    return list(ALGORITHMS)


def section(doc: str, title: str) -> str:
    """Return the text under a numpydoc heading; empty if the docstring has no such heading."""
    match = re.search(rf"^{title}\n-+\n(.*?)(?=^\w[\w ]*\n-+\n|\Z)", doc, re.MULTILINE | re.DOTALL)
    return match[1].strip("\n") if match else ""


def parameters(algorithm: type[Algorithm]) -> list[Parameter]:
    """Read the Parameters of a class's docstring."""
    found = []
    for entry in re.split(r"\n(?=\S)", section(inspect.getdoc(algorithm) or "", "Parameters")):
        head, _, body = entry.partition("\n")
        match = re.fullmatch(r"(\w+(?:, \w+)*) : (.*), default (.*)", head)
        if match is None:
            raise ValueError(f"{algorithm.__name__} has a parameter without its type or default: {head!r}")
        found.append(Parameter(tuple(match[1].split(", ")), match[2], match[3], " ".join(body.split())))
    return found


def notes(algorithm: type[Algorithm]) -> tuple[str, str]:
    """Return the source and the differences from it, as the Notes have them."""
    text = " ".join(section(inspect.getdoc(algorithm) or "", "Notes").split())
    source, _, differences = text.removeprefix("Source:").partition("Differences:")
    return source.strip(), differences.strip()


def markdown(text: str) -> str:
    """Turn a docstring's marks into Markdown's, and the names of classes into links."""
    text = re.sub(r":math:`([^`]*)`", r"$\1$", text)
    return re.sub(
        r"`(\w+)`", lambda name: f"[{name[1]}]({CLASSES[name[1]]}.md)" if name[1] in CLASSES else name[0], text
    )


def row(parameter: Parameter) -> str:
    """Return a parameter's row of the table."""
    kind, meaning = parameter.kind, parameter.meaning
    if choices := re.fullmatch(r"\{(.*)\}", kind):
        kind = ", ".join(f"`{choice}`" for choice in choices[1].split(", "))
    elif bounds := RANGE.search(meaning):
        kind += f" in {bounds[1]}" if bounds[1] else f" {bounds[2]}"
        rest = meaning[bounds.end() :]
        # Without the range, one of the two commas around it would remain.
        meaning = meaning[: bounds.start()] + (rest.removeprefix(",") if bounds[0].startswith(",") else rest)
    listed = ", ".join(f"`{name}`" for name in parameter.names)
    cells = (listed, markdown(meaning), kind, f"`{parameter.default}`")
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"


def paragraph(text: str) -> str:
    """Return a docstring's text as a paragraph of Markdown; a first word gets a capital, a first symbol does not."""
    text = markdown(text)
    if re.match(r"[a-z]{2}", text):
        text = text[0].upper() + text[1:]
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


def page(name: str) -> str:
    """Return an algorithm's page."""
    algorithm = ALGORITHMS[name]
    source, differences = notes(algorithm)
    lines = [
        f"<!-- Made by docs/render.py from docs/texts/{name}.md and the docstring of skde.{algorithm.__name__}. -->",
        "",
        (TEXTS / f"{name}.md").read_text().strip(),
        "",
        "## Parameters",
        "",
        f"Of `skde.{algorithm.__name__}`:",
        "",
        "| name | meaning | values | default |",
        "|---|---|---|---|",
        *map(row, parameters(algorithm)),
        "",
        "## Convergence",
        "",
        f"![Error of {name} against evaluations]({name}.svg)",
        "",
        paragraph(
            f"Defaults, {plots.RUNS} runs of {plots.MAX_EVALS} evaluations: the median error, and the band between the "
            f"quartiles. Errors below {plots.LEAST:g} are drawn at {plots.LEAST:g}."
        ),
        "",
        "## Source",
        "",
        paragraph(source),
        "",
    ]
    if differences:
        lines += ["## Differences from the source", "", paragraph(differences), ""]
    return "\n".join([*lines, "[All algorithms](README.md)", ""])


def plans_with(name: str) -> str:
    """Return the limits of a fit that the algorithm has to know."""
    return "`max_evals` or `max_iter`" if ALGORITHMS[name].shrinks else ""


def index() -> str:
    """Return the page with the list of algorithms."""
    lines = [
        "<!-- Made by docs/render.py from docs/texts/README.md and the docstrings. -->",
        "",
        (TEXTS / "README.md").read_text().strip(),
        "",
        "| name | class | description | plans with |",
        "|---|---|---|---|",
    ]
    for name, algorithm in ALGORITHMS.items():
        summary = (inspect.getdoc(algorithm) or "").partition("\n")[0].rstrip(".")
        lines.append(
            f"| [`{name}`]({name}.md) | `skde.{algorithm.__name__}` | {markdown(summary)} | {plans_with(name)} |"
        )
    lines += ["", "```{toctree}", ":hidden:", "", *ALGORITHMS, "```"]
    return "\n".join([*lines, ""])


def pages() -> dict[str, str]:
    """Return all pages by their paths in docs/."""
    return {"algorithms/README.md": index(), **{f"algorithms/{name}.md": page(name) for name in ALGORITHMS}}
