"""Every public name of tuning has a test, a docstring and, where users call it, an example; the page's code runs."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

from skde import tuning

from ..used_names import used_names

ROOT = Path(__file__).resolve().parents[2]
USED = used_names(Path(__file__).parent)


@pytest.mark.parametrize("name", tuning.__all__)
def test_public_names(name: str) -> None:
    assert name in USED, f"no test uses skde.tuning.{name}"
    thing = getattr(tuning, name)
    if callable(thing) and name != "Rules":
        assert "Examples\n" in (inspect.getdoc(thing) or "")


def test_the_pages_code_runs(capsys: pytest.CaptureFixture[str]) -> None:
    scope: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "tuning.md").read_text(), re.DOTALL):
        exec(compile(block, "tuning.md", "exec"), scope)
    assert "pop_size" in capsys.readouterr().out
    tuning.Space(scope["svm"])


def test_without_optuna_the_error_says_what_to_install() -> None:
    code = "import sys; sys.modules['optuna'] = None; import skde.tuning"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "pip install 'skde[tuning]'" in done.stderr
