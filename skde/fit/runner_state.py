"""The part of a saved fit that a Runner holds: layout and checks."""

from __future__ import annotations

from typing import Any

import numpy as np

from skde.engines.state.task import NUMBER, WORD
from skde.stopping import UNLIMITED, Status
from skde.utils.serialization import HEADER, Layout, entry
from skde.utils.validation import check_real


def runner_layout(n_runs: int) -> dict[str, Layout]:
    """Return the layout of the arrays of `Runner.state`, those of its batch left out."""
    return {
        "seeds": Layout((n_runs,), np.dtype(np.uint64)),
        "limits": Layout((n_runs,), WORD),
        "marks": Layout((None, 2), NUMBER),
    }


def check_runner_state(header: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Check the values of a saved runner; shapes and dtypes are those of `runner_layout`."""
    with entry(HEADER):
        Status(header["ending"])
        check_real("seconds", header["seconds"], 0, UNLIMITED)
    with entry("limits"):
        if (arrays["limits"] < 0).any():
            raise ValueError("limits must be >= 0")
    with entry("marks"):
        marks = arrays["marks"]
        if not (np.isfinite(marks) & (marks >= 0) & (marks <= UNLIMITED)).all():
            raise ValueError("generations and seconds must be numbers >= 0")
