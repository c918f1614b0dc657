"""Mean ranks of algorithms in a sentence."""

from __future__ import annotations

from collections.abc import Mapping

Ranks = Mapping[str, float]


def lowest(ranks: Ranks, count: int) -> str:
    """Return the names with the lowest ranks, and these; those that share the last rank are counted."""
    names = sorted(ranks, key=lambda name: ranks[name])
    last = ranks[names[count - 1]]
    more = sum(ranks[name] == last for name in names[count:])
    text = ", ".join(f"`{name}` {ranks[name]:.1f}" for name in names[:count])
    return f"{text} and {more} equal" if more else text


def own(ranks: Ranks) -> Ranks:
    """Return the ranks of skde's algorithms."""
    return {name: rank for name, rank in ranks.items() if ":" not in name}


def place(name: str, ranks: Ranks) -> str:
    """Return the rank of an algorithm and its place; algorithms with the same mean rank share their places."""
    before, last = (sum(test(rank) for rank in ranks.values()) for test in (ranks[name].__gt__, ranks[name].__ge__))
    where = f"place {last}" if last == before + 1 else f"places {before + 1} to {last}"
    return f"{ranks[name]:.1f}, {where} of {len(ranks)}"
