"""The pages and plots of docs/ made from records: `python docs/render.py` writes them."""

from __future__ import annotations

from pathlib import Path

import scikit_posthocs  # noqa: F401 - without it, tests would be left out of the pages
from pages import peers, platforms, reproduce, scale, speed, which

DOCS = Path(__file__).resolve().parent


def texts() -> dict[str, str]:
    """Return the text of every generated page by its path in docs/."""
    pages = {
        "speed": speed,
        "which": which,
        "peers": peers,
        "platforms": platforms,
        "reproduce": reproduce,
    }
    return {f"{name}.md": made.page() for name, made in pages.items()}


def write() -> None:
    """Write all pages, then all plots."""
    for path, text in texts().items():
        (DOCS / path).write_text(text)
    (DOCS / f"{platforms.NAME}.svg").write_bytes(platforms.plot(platforms.read()))
    (DOCS / "speed-cpu.svg").write_bytes(speed.plot())
    for name, record in scale.records().items():
        (DOCS / f"{name}.svg").write_bytes(scale.plot(record))


if __name__ == "__main__":
    write()
