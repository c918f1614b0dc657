"""The progress bar of fits, searches, tunings and experiments."""

from __future__ import annotations

import ast
import time
from pathlib import Path

import pytest

from skde.utils.progress_bar import ProgressBar

from .documents import ROOT


def test_it_draws_at_most_ten_times_a_second_and_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[int] = []

    def describe() -> tuple[int, str]:
        asked.append(len(asked))
        return 10 * len(asked), f"drawing {len(asked)}"

    bar = ProgressBar(describe, 1000, "fit")
    begin = time.monotonic()
    for _ in range(10_000):
        bar.move()
    assert len(asked) <= 1 + (time.monotonic() - begin) / 0.1
    before = len(asked)
    bar.move(now=True)
    bar.move(now=True)
    bar.close()
    assert len(asked) == before + 3
    assert capsys.readouterr().err.endswith(f"drawing {len(asked)}]\n")


def test_an_empty_text_is_left_out_and_a_line_goes_above(capsys: pytest.CaptureFixture[str]) -> None:
    bar = ProgressBar(lambda: (2, ""), None, "eval", scaled=True)
    bar.write("a line")
    bar.close()
    out, err = capsys.readouterr()
    assert out == "a line\n"
    assert "2.00eval [" in err
    assert "eval/s]" in err


def test_it_is_closed_where_the_state_fails(capsys: pytest.CaptureFixture[str]) -> None:
    def describe() -> tuple[int, str]:
        raise KeyboardInterrupt

    bar = ProgressBar(describe, 5, "cell")
    with pytest.raises(KeyboardInterrupt):
        bar.close()
    assert bar.bar.disable
    assert capsys.readouterr().err.endswith("\n")


def imports_tqdm(file: Path) -> bool:
    """Whether a module imports tqdm."""
    nodes = ast.walk(ast.parse(file.read_text()))
    return any(isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tqdm") for node in nodes)


def test_all_bars_are_this_one() -> None:
    folders = [ROOT / name for name in ("skde", "tuning", "benchmarks/lab")]
    files = {file for folder in folders for file in folder.rglob("*.py")}
    assert [file.name for file in files if imports_tqdm(file)] == ["progress_bar.py"]
