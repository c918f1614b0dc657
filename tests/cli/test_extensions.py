"""Commands and reproductions of other packages: found by entry points, loaded when they are needed."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import pytest

from skde.cli.main import main

MISSING = "skde.tuning needs Optuna, which is missing: pip install 'skde[tuning]'"


@pytest.mark.parametrize("command", ["import skde.cli.main", "from skde.cli.main import main; main(['algorithms'])"])
def test_other_commands_load_no_extension(command: str) -> None:
    check = f"{command}; import sys; assert not {{'optuna', 'skde.tuning', 'skde.benchmark'}} & set(sys.modules)"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_measurements_do_not_load_optuna() -> None:
    program = "import sys; from skde.cli.main import main; main(['bench', 'run']); sys.exit('optuna' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)


def test_the_core_works_without_the_laboratory_and_the_tuner() -> None:
    program = """
import sys
sys.modules.update({"skde.benchmark": None, "skde.tuning": None})
from skde.cli.main import main
assert main(["minimize", "sphere", "--dim", "2", "--max-evals", "500"]) == 0
assert main(["info"]) == main(["problems"]) == main(["algorithms"]) == 0
assert main(["bench", "speed"]) == main(["reproduce", "qin2012"]) == 2
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_help_lists_tune(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    assert "tune" in capsys.readouterr().out.split()


@pytest.mark.parametrize(("given", "meant"), [("tunne", "tune"), ("tune-worker", "tune worker")])
def test_a_misspelt_command_suggests_tune(given: str, meant: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([given]) == 2
    assert f"did you mean '{meant}'?" in capsys.readouterr().err


@pytest.fixture
def without_optuna(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the extensions of skde.tuning fail to load, as they do without Optuna."""
    load_found = EntryPoint.load

    def load(self: EntryPoint) -> Any:
        if self.name in ("tune", "tuning"):
            raise ImportError(MISSING)
        return load_found(self)

    monkeypatch.setattr(EntryPoint, "load", load)


@pytest.mark.usefixtures("without_optuna")
@pytest.mark.parametrize(
    "arguments",
    [
        ["tune", "de", "--suite", "nashed2012"],
        ["tune", "worker", "--storage", "tuning.log"],
        ["tune", "--help"],
        ["reproduce", "nashed2012", "--table", "1"],
    ],
)
def test_a_command_without_its_extra_says_what_to_install(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr() == ("", f"skde: error: {MISSING}\n")


@pytest.mark.parametrize(
    ("arguments", "extra"), [(["bench", "run"], "bench"), (["reproduce", "qin2012"], "bench"), (["tune"], "tuning")]
)
def test_a_command_without_filelock_says_what_to_install(arguments: list[str], extra: str) -> None:
    program = f"""
import sys
sys.modules["filelock"] = None
from skde.cli.main import main
sys.exit(main({arguments}))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "filelock, which is" in done.stderr
    assert done.stderr.endswith(f"pip install 'skde[{extra}]'\n")


@pytest.mark.usefixtures("without_optuna")
def test_help_without_the_extra(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    assert MISSING in " ".join(capsys.readouterr().out.split())


def test_suites_need_the_laboratory(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(
        "skde.cli.extensions.entry_points",
        lambda **wanted: [] if wanted["group"] == "skde.suite_finders" else entry_points(**wanted),
    )
    assert main(["tune", "de", "--suite", "nashed2012"]) == 2
    assert "suites need skde.benchmark: pip install 'skde[bench]'" in capsys.readouterr().err


def test_tune_works_without_the_laboratory() -> None:
    program = """
import sys
sys.modules["skde.benchmark"] = None
from skde.cli.main import main
sys.exit(main(["tune", "de", "sphere", "--dim", "2", "--max-experiments", "120", "--run-max-evals", "200"]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "the best first:" in done.stdout


def test_without_the_package_of_a_reproduction(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        "skde.cli.extensions.entry_points",
        lambda **wanted: [] if wanted["group"] == "skde.reproductions" else entry_points(**wanted),
    )
    assert main(["reproduce", "nashed2012", "--table", "1"]) == 2
    assert "pip install 'skde[tuning]'" in capsys.readouterr().err
