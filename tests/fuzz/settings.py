"""How many examples the fuzzers try."""

from __future__ import annotations

import os


def examples(default: int) -> int:
    """Return how many examples to try: `default`, or SKDE_FUZZ times as many where that is set."""
    return default * int(os.environ.get("SKDE_FUZZ", "1"))
