"""How long the fuzzers run."""

from __future__ import annotations

import os


def examples(default: int) -> int:
    """Return how many examples to try: the default, times what SKDE_FUZZ says."""
    return default * int(os.environ.get("SKDE_FUZZ", "1"))
