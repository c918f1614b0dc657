"""Fits keep their bits: on every processor, on a GPU, and from one version to the next."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .settings import all_fits, digests

RECORDED = json.loads(Path(__file__).with_name("digests.json").read_text())
FITS = all_fits()


def test_every_fit_is_recorded() -> None:
    assert sorted(RECORDED) == sorted(FITS)


@pytest.mark.parametrize("name", FITS)
def test_same_bits_as_recorded(name: str) -> None:
    assert digests(FITS[name]("cpu")) == RECORDED[name]


@pytest.mark.gpu
@pytest.mark.parametrize("name", FITS)
def test_same_bits_on_a_gpu(name: str) -> None:
    assert digests(FITS[name]("cuda")) == RECORDED[name]
