"""Write digests.json: `python -m tests.digests.record` adds new fits; --all replaces those that are there too.

Replacing breaks the promise that a seed keeps its bits, so the changelog has to say why.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from .settings import all_fits, digests


def main() -> None:
    """Run the fits and write their digests, one fit a line."""
    path = Path(__file__).with_name("digests.json")
    kept = {} if "--all" in sys.argv or not path.exists() else json.loads(path.read_text())
    found = {name: kept.get(name) or digests(fit("cpu")) for name, fit in sorted(all_fits().items())}
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in found.items())
    path.write_text("{\n" + lines + "\n}\n")


if __name__ == "__main__":
    main()
