"""Where the documents and their records are, and what pages make of these."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
RECORDS = sorted((ROOT / "benchmarks" / "records").glob("*.json"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted([*DOCS.glob("*.md"), *DOCS.glob("algorithms/*.md")])]
PAGES += sorted(ROOT.glob("benchmarks/**/*.md"))
# The directive and the argument of all that the site makes.
DIRECTIVES = [found for page in PAGES for found in re.findall(r"(?m)^```\{(tables|plot)\} (.+)$", page.read_text())]
needs_records = pytest.mark.skipif(not RECORDS, reason="the source distribution has no records")
