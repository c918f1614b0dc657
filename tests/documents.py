"""Where the documents and their records are."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
RECORDS = sorted((ROOT / "benchmarks" / "records").glob("*.json"))
needs_records = pytest.mark.skipif(not RECORDS, reason="the source distribution has no records")
