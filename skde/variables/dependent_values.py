"""Values of parameters that depend on each other, found in the order in which they are needed."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

# find(name, values) returns the value of a parameter, for which it may ask for others.
ValueFinder = Callable[[str, "DependentValues"], Any]


class DependentValues(dict[str, Any]):
    """The values of parameters by name: one that is asked for is found first, with those that it depends on.

    A rule, such as a condition, gets it as a dict: it has the values so far, and finds others when they are asked for.

    Parameters
    ----------
    names : collection of str
        The parameters, in the order in which `fill` finds them where none depends on a later one.
    find : callable
        find(name, values) returns the value of a parameter.
    """

    def __init__(self, names: Collection[str], find: ValueFinder) -> None:
        super().__init__()
        self.names = names
        self._find = find
        self._in_search: list[str] = []

    def fill(self) -> None:
        """Find all values."""
        for name in self.names:
            _ = self[name]

    def for_rule(self) -> DependentValues:
        """Return a copy for a rule, which may change it."""
        copy = DependentValues(self.names, lambda name, _: self[name])
        copy.update(self)
        return copy

    def __missing__(self, name: str) -> Any:
        if name not in self.names:
            raise KeyError(name)
        if name in self._in_search:
            circle = [*self._in_search[self._in_search.index(name) :], name]
            raise ValueError(f"parameters depend on each other in a circle: {' on '.join(map(repr, circle))}")
        self._in_search.append(name)
        try:
            value = self[name] = self._find(name, self)
        finally:
            self._in_search.pop()
        return value

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of a parameter; the default for a name that is none."""
        return self[name] if name in self.names else default
