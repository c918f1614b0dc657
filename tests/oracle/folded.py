"""Sums in the order of the kernels (skde/kernels/teams/team.cuh): floating-point addition does not associate."""

from __future__ import annotations

from collections.abc import Sequence


def folded_sum(terms: Sequence[float]) -> float:
    """Term j joins partial sum j mod 128, in order of j; then the partial sums are folded in half seven times."""
    partial = [0.0] * 128
    for j, term in enumerate(terms):
        partial[j % 128] += float(term)
    while len(partial) > 1:
        half = len(partial) // 2
        partial = [a + b for a, b in zip(partial[:half], partial[half:], strict=True)]
    return partial[0]
