"""Random123's known answers, and the stream that the oracle reads."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import skde._cpu as _cpu

from ..oracle.philox import philox

FULL = 0xFFFFFFFF


@pytest.mark.parametrize(
    ("counter", "key", "answer"),
    [
        ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ((FULL, FULL, FULL, FULL), (FULL, FULL), (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
def test_known_answers(counter: tuple[int, int, int, int], key: tuple[int, int], answer: tuple[int, ...]) -> None:
    assert _cpu.philox(counter, key) == answer


WORDS = st.integers(0, FULL)


@given(counter=st.tuples(WORDS, WORDS, WORDS, WORDS), key=st.tuples(WORDS, WORDS))
def test_equals_the_oracles(counter: tuple[int, int, int, int], key: tuple[int, int]) -> None:
    assert _cpu.philox(counter, key) == philox(counter, key)
