"""The papers of `skde reproduce`. A new one adds its import and its place in PAPERS."""

from __future__ import annotations

from skde.benchmark.papers import fabris2012, nashed2012
from skde.benchmark.papers.paper import MinMaxPaper, Note, Paper, Tuning
from skde.validation import check_choice

__all__ = ["PAPERS", "MinMaxPaper", "Note", "Paper", "Tuning", "find_paper"]

PAPERS: dict[str, Paper | MinMaxPaper] = {paper.name: paper for paper in (nashed2012.PAPER, fabris2012.PAPER)}


def find_paper(name: str) -> Paper | MinMaxPaper:
    """Return the paper of that name; the nearest is suggested."""
    return PAPERS[check_choice("paper", name, PAPERS)]
