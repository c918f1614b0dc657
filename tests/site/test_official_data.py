"""Reasons of cells with generated data that a record of official data gives or disproves."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

import pytest

from skde.benchmark.comparison import Comparison, Line
from skde.benchmark.published_tables import Note, Paper

from ..documents import DOCS

PAPER = Paper("p", "A paper", "a machine", "s", 30, notes=(Note("the data", of_data=True), Note("the budget")))


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return the module of the figures."""
    monkeypatch.syspath_prepend(DOCS)
    return importlib.import_module("figures.official_data")


def made(*lines: tuple[str, str, str]) -> Comparison:
    """Return a table from columns, verdicts and notes."""
    return Comparison("Table 4", "Ranks", tuple(Line("de", column, "1", "2", *rest) for column, *rest in lines))


def record(**settings: Any) -> dict[str, Any]:
    """Return a record without cells."""
    return {"settings": {"runs": 30, "budget": "protocol", "folder": None, **settings}, "cells": []}


def test_official_data_give_and_disprove_reasons(figures: ModuleType) -> None:
    own = made(
        *(("F1", "differs", "the data"), ("F2", "differs", "the data"), ("F3", "worse", "the budget")),
        *(("F4", "agrees", ""), ("F5", "worse", "the budget"), ("F6", "noise", "the data")),
    )
    official = made(
        *(("F1", "agrees", ""), ("F2", "differs", "chance"), ("F3", "as good", ""), ("F4", "differs", "chance")),
        ("F5", "worse", "chance"),
    )
    lines = figures.explain(own, official, "other", PAPER).lines
    assert [line.verdict for line in lines] == [line.verdict for line in own.lines]
    assert [line.note for line in lines] == [
        "agrees with the official data ([other](#other))",
        "differs with the official data too ([other](#other)): chance",
        "as good with the official data ([other](#other))",
        *("", "the budget", "the data"),
    ]


def test_agreeing_ranks_are_counted_with_both_data(figures: ModuleType) -> None:
    own = made(("F1", "differs", ""), ("F2", "agrees", ""), ("F3", "differs", ""), ("all", "no figure", ""))
    official = made(("F1", "agrees", ""), ("F2", "differs", ""), ("F3", "agrees", ""))
    assert figures.agreement(own, official, "other")[2:-1] == [
        "| data | F1 | F2 | F3 | together |",
        "| --- | --- | --- | --- | --- |",
        "| generated | 0 | 1 | 0 | 1 of 3 |",
        "| [official](#other) | 1 | 0 | 1 | 2 of 3 |",
    ]
    assert figures.agreement(own, made(("F1", "agrees", "")), "other") == []
    assert figures.agreement(made(("F1", "worse", "")), official, "other") == []


def test_the_counterpart_has_the_same_conditions(figures: ModuleType) -> None:
    own, other = record(), record(data="official", paper="p", folder="folder")
    assert figures.counterpart(own, [("own", own), ("other", other)]) == ("other", other)
    assert figures.counterpart(other, [("own", own), ("other", other)]) is None
    assert figures.counterpart(own, [("own", own), ("few", record(data="official", runs=5))]) is None
