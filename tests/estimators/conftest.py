"""Fixtures of the tests of searches."""

from __future__ import annotations

from typing import Any

import pytest

import skde.model_selection.searches
from skde.tuning.split_race import race_splits

from .counted import Counted


@pytest.fixture(autouse=True)
def counted() -> None:
    Counted.FITS.clear()
    Counted.CALLS.clear()


@pytest.fixture(autouse=True)
def racing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Find the race without its entry point, which an installation may lack that is older than these sources."""

    class EntryPoint:
        def load(self) -> Any:
            return race_splits

    def entry_points(group: str, name: str) -> list[EntryPoint]:
        return [EntryPoint()] if (group, name) == ("skde.searches", "racing") else []

    monkeypatch.setattr(skde.model_selection.searches, "entry_points", entry_points)
