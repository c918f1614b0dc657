"""The papers of `skde reproduce`. A new one adds its data file, its class, and its place in REPRODUCTIONS."""

from __future__ import annotations

from skde.benchmark.papers.fabris2012 import Fabris2012
from skde.benchmark.papers.janssen2024 import Janssen2024
from skde.benchmark.papers.nashed2012 import Nashed2012
from skde.benchmark.papers.qin2012 import Qin2012
from skde.benchmark.papers.wang2012 import Wang2012
from skde.benchmark.published_tables import Note, Paper, PublishedTable, Tuning
from skde.benchmark.reproduction import Reproduction
from skde.utils.validation import check_choice

__all__ = ["REPRODUCTIONS", "Note", "Paper", "PublishedTable", "Tuning", "find_paper", "find_reproduction"]

REPRODUCTIONS: dict[str, Reproduction] = {
    made.paper.name: made for made in (Fabris2012(), Nashed2012(), Qin2012(), Wang2012(), Janssen2024())
}


def find_reproduction(name: str) -> Reproduction:
    """Return the reproduction of the paper of that name; the nearest is suggested."""
    return REPRODUCTIONS[check_choice("paper", name, REPRODUCTIONS)]


def find_paper(name: str) -> Paper:
    """Return the paper of that name; the nearest is suggested."""
    return find_reproduction(name).paper
