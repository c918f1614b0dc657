"""Values of parameters that depend on each other, found in the order in which they are needed."""

from __future__ import annotations

from collections.abc import Callable, Collection, ItemsView, Iterator, KeysView, ValuesView
from typing import Any

# find(name, values) returns the value of a parameter, for which it may ask for others.
ValueFinder = Callable[[str, "DependentValues"], Any]


class DependentValues(dict[str, Any]):
    """The values of parameters by name: one that is asked for is found first, with those that it depends on.

    A rule, such as a condition, gets it as a dict, which finds values when they are asked for. One that goes through
    the dict gets all values that do not wait for its own.

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
        self._waiting: frozenset[str] = frozenset()

    def fill(self) -> None:
        """Find all values."""
        for name in self.names:
            _ = self[name]

    def for_rule(self) -> DependentValues:
        """Return a copy for a rule, which may change it."""
        copy = DependentValues(self.names, lambda name, _: self[name])
        copy.update(dict.items(self))
        copy._waiting = frozenset(self._in_search)
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

    def __iter__(self) -> Iterator[str]:
        for name in self.names:
            if name not in self._waiting:
                _ = self[name]
        return super().__iter__()

    def __len__(self) -> int:
        return len(self.names) - len(self._waiting)

    def keys(self) -> KeysView[str]:  # type: ignore[override]  # dict's own views do not ask for values
        """Return the names."""
        return KeysView(self)

    def values(self) -> ValuesView[Any]:  # type: ignore[override]
        """Return the values."""
        return ValuesView(self)

    def items(self) -> ItemsView[str, Any]:  # type: ignore[override]
        """Return the names with their values."""
        return ItemsView(self)
