"""The parameters of an algorithm, as its docstring has them."""

from __future__ import annotations

import ast
import inspect
import re
from dataclasses import dataclass

from skde.algorithms import Algorithm

NUMBER = r"-?\d+(?:\.\d+)?"
# "in [0, 1]", "within (0, 1]" or ">= 4": the first such words of a description are the range.
RANGE = re.compile(rf"(?:in|within) [\[(]{NUMBER}, {NUMBER}[\])]|>=? {NUMBER}")


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


def parameters(algorithm: type[Algorithm]) -> list[Parameter]:
    """Read the Parameters of a class's docstring."""
    section = re.search(
        r"^Parameters\n-+\n(.*?)\n\n\w+\n-+\n", inspect.getdoc(algorithm) or "", re.MULTILINE | re.DOTALL
    )
    assert section is not None, f"{algorithm.__name__} has no parameters in its docstring"
    found = []
    for entry in re.split(r"\n(?=\S)", section[1]):
        head, _, body = entry.partition("\n")
        match = re.fullmatch(r"(\w+(?:, \w+)*) : (.*), default (.*)", head)
        assert match is not None, f"{algorithm.__name__} has a parameter without its type or default: {head!r}"
        found.append(Parameter(tuple(match[1].split(", ")), match[2], match[3], " ".join(body.split())))
    return found
