"""Objectives in C++: bodies that do not compile, and the cache of compiled ones."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skde import DeviceObjective, Minimizer

X = np.arange(6.0).reshape(2, 3)
BODY = "return x[0] + 10 * x[1] + 100 * x[2];"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Set the cache to a folder of the test."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("SKDE_CACHE_DIR", str(folder))
    return folder


def libraries(folder: Path) -> list[Path]:
    """Return the compiled libraries."""
    return sorted(folder.rglob("*.so"))


@pytest.mark.parametrize(
    ("body", "words"),
    [("if (x[0] > 1) return 1;", "return"), ("if (x[0] < -1) throw 1; return x[0];", "exception|throw")],
)
def test_a_body_that_has_no_value(body: str, words: str) -> None:
    with pytest.raises(RuntimeError, match=rf"does not compile with[\s\S]*({words})"):
        DeviceObjective(body)(X)


def test_a_body_that_was_compiled_is_compiled_once(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = DeviceObjective(BODY)(X)
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert np.array_equal(DeviceObjective(BODY)(X), first)
    assert np.array_equal(first, [210.0, 543.0])
    assert len(libraries(cache)) == 1


@pytest.mark.parametrize("damage", ["cut off", "empty", "changed"])
def test_a_damaged_library_is_compiled_again(damage: str, cache: Path) -> None:
    first = DeviceObjective(BODY)(X)
    (path,) = libraries(cache)
    content = path.read_bytes()
    path.unlink()  # it is loaded in this process: what is damaged is another file
    damaged = {"cut off": content[:4096], "empty": b"", "changed": content[:-100] + bytes(100)}[damage]
    path.write_bytes(damaged)
    assert np.array_equal(DeviceObjective(BODY)(X), first)
    assert libraries(cache)[0].read_bytes() != damaged


def test_damaged_sources_are_written_again(cache: Path) -> None:
    first = DeviceObjective(BODY)(X)
    (library,) = libraries(cache)
    library.unlink()
    (library.parent / "skde_user_body.inc").write_text("return 0;")
    assert np.array_equal(DeviceObjective(BODY)(X), first)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="the system has no such modes")
class TestFolder:
    """Only the user may write to the folder from which libraries are loaded."""

    def test_the_cache_belongs_to_the_user_alone(self, cache: Path) -> None:
        DeviceObjective(BODY)(X)
        folders = [cache, *(path for path in cache.rglob("*") if path.is_dir())]
        assert len(folders) == 3
        assert {path.stat().st_mode & 0o777 for path in folders} == {0o700}

    @pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
    @pytest.mark.parametrize("inner", ["", "objectives"])
    def test_a_cache_that_others_can_write_is_refused(self, mode: int, inner: str, cache: Path) -> None:
        (cache / inner).mkdir(parents=True)
        (cache / inner).chmod(mode)
        with pytest.raises(PermissionError, match=r"the cache folder '.*' can be written by other users.*chmod go-w"):
            DeviceObjective(BODY)(X)
        (cache / inner).chmod(0o755)
        assert len(DeviceObjective(BODY)(X)) == 2

    def test_a_cache_of_another_user_is_refused(self, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        me = os.geteuid()
        monkeypatch.setattr(os, "geteuid", lambda: me + 1)
        with pytest.raises(PermissionError, match=rf"belongs to the user with the number {me}.*SKDE_CACHE_DIR"):
            Minimizer("jde", max_iter=1, device="cpu").fit(DeviceObjective(BODY), bounds=[(0, 1)] * 3)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"arrays": [1.0]}, r"arrays must be a mapping"),
        ({"arrays": {"w": [1j]}}, r"arrays\['w'\] must hold numbers"),
        ({"scratch": 1e30}, "scratch must be an integer"),
        ({"name": 3}, "name must be a string"),
    ],
)
def test_parameters(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        DeviceObjective(BODY, **parameters)
