"""Files of fits: broken, foreign, of another version, and whole ones."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skde import Minimizer, Status

from .short import f, fit


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """Return the file of a short fit."""
    path = tmp_path / "fit.skde"
    fit("sphere", fit_options={"dim": 3}).save(path)
    return path


def test_files_that_are_none(saved: Path, tmp_path: Path) -> None:
    whole = saved.read_bytes()
    other = tmp_path / "other"
    for content in (b"", b"hello", whole[: len(whole) // 2], whole[:-30], os.urandom(1000)):
        other.write_bytes(content)
        with pytest.raises(ValueError, match=r"other' is broken or not a file that skde saved"):
            Minimizer.load(other)
    for size in range(0, len(whole), 97):
        other.write_bytes(whole[:size])
        with pytest.raises(ValueError, match=r"other' is broken or not a file that skde saved"):
            Minimizer.load(other)
    np.savez(tmp_path / "foreign.npz", a=np.zeros(3))
    with pytest.raises(ValueError, match="not a file that skde saved"):
        Minimizer.load(tmp_path / "foreign.npz")
    with pytest.raises(FileNotFoundError):
        Minimizer.load(tmp_path / "missing")


def loaded(path: Path) -> Any:
    """Return the best value in a file, or the error's words."""
    try:
        return Minimizer.load(path).fun_
    except ValueError as error:
        return str(error)


def test_files_with_a_flipped_bit(saved: Path) -> None:
    """Every one is refused, but for bits that say nothing, such as the dates inside."""
    whole, fun = saved.read_bytes(), loaded(saved)
    rng = np.random.default_rng(0)
    refused = 0
    # The list of contents at the end is what a reader takes on trust: many of its bytes, and some of the others.
    for byte in [*rng.integers(len(whole), size=100).tolist(), *range(len(whole) - 1200, len(whole), 5)]:
        spoilt = bytearray(whole)
        spoilt[byte] ^= 1 << int(rng.integers(8))
        saved.write_bytes(spoilt)
        found = loaded(saved)
        if found != fun:
            assert re.search(r"fit.skde' is (broken|incomplete|not a file)", str(found)), found
            refused += 1
    assert refused > 100


def rewrite(path: Path, **changes: Any) -> None:
    """Change a file's header."""
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    header = json.loads(arrays.pop("header").tobytes()) | changes
    with path.open("wb") as stream:
        np.savez(stream, header=np.frombuffer(json.dumps(header).encode(), np.uint8), **arrays)


def test_files_of_another_version_or_incomplete(saved: Path) -> None:
    rewrite(saved, version=99)
    with pytest.raises(ValueError, match="saved in version 99 of the format; this skde reads 1"):
        Minimizer.load(saved)
    rewrite(saved, version=1, algorithms=[])
    with pytest.raises(ValueError, match="is incomplete"):
        Minimizer.load(saved)


def test_a_wrong_device_is_not_taken_for_a_broken_file(saved: Path) -> None:
    with pytest.raises(
        ValueError, match="device must be 'auto', 'cpu', 'cuda', 'cuda:N' or a list of devices, got 'gpu'"
    ):
        Minimizer.load(saved, device="gpu")


def test_a_function_must_be_given_again(tmp_path: Path) -> None:
    fit().save(tmp_path / "fit")
    with pytest.raises(ValueError, match=r"resume needs the objective again \(it was .*:f\)"):
        Minimizer.load(tmp_path / "fit").resume()
    resumed = Minimizer.load(tmp_path / "fit").set_params(max_iter=20).resume(f)
    assert np.array_equal(resumed.x_, fit(max_iter=20).x_)


def test_numpys_true_stops_and_a_dtype_object_is_saved(tmp_path: Path) -> None:
    m = fit(callbacks=lambda progress: np.bool_(True), dtype=np.float32)
    assert m.runs_[0].status == Status.CALLBACK
    m.save(tmp_path / "fit")
    assert Minimizer.load(tmp_path / "fit").population_.dtype == np.float32
