"""What all saved fits have in common: layout and checks."""

from __future__ import annotations

from typing import Any

import numpy as np

from skde.engines.state.task import NUMBER, WORD
from skde.stopping import UNLIMITED, Status
from skde.utils.serialization import HEADER, Layout, entry
from skde.utils.validation import check_int, check_real


def base_layout(n_runs: int) -> dict[str, Layout]:
    """Return the layout of the arrays of `Fit.state` that all fits have, without the populations."""
    return {
        "seeds": Layout((n_runs,), np.dtype(np.uint64)),
        "limits": Layout((n_runs,), WORD),
        "marks": Layout((None, 2), NUMBER),
    }


def check_base(header: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Check the values of these arrays, and of the header."""
    with entry(HEADER):
        Status(header["ending"])
        check_real("seconds", header["seconds"], 0, UNLIMITED)
        check_int("n_ids", header["n_ids"], 0)
    with entry("limits"):
        if (arrays["limits"] < 0).any():
            raise ValueError("limits must be >= 0")
    with entry("marks"):
        marks = arrays["marks"]
        if not (np.isfinite(marks) & (marks >= 0) & (marks <= UNLIMITED)).all():
            raise ValueError("generations and seconds must be numbers >= 0")
