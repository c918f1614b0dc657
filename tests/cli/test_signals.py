"""Ctrl-C and SIGTERM in commands: results so far are printed, child processes end, and nothing is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from skde import Minimizer, MinMaxSolver
from skde.benchmark import reproduction as papers
from skde.benchmark import trials
from skde.benchmark import tuning_reproduction as reproduction
from skde.benchmark.papers import fabris2012
from skde.benchmark.records import key_of, read_record
from skde.cli.main import main

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
SIGNALS = pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])

SLOW = """
import os, pathlib, time
def f(X):
    pathlib.Path("called").touch()
    time.sleep(0.01)
    return X.sum(axis=1)
def g(x):
    pathlib.Path(f"pid-{os.getpid()}").touch()
    time.sleep(0.05)
    return x.sum()
"""


@contextmanager
def skde(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Begin a command."""
    (folder / "slow.py").write_text(SLOW)
    command = [sys.executable, "-m", "skde", *arguments]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_for(process: subprocess.Popen[str], condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not condition() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)


def ended(pid: int) -> bool:
    """Whether a process ends within seconds."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            stat = Path(f"/proc/{pid}/stat")
            if stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z":
                return True
            os.kill(pid, 0)
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.02)
    return False


# -- with signals ------------------------------------------------------------------------------------------------------


@SIGNALS
def test_minimize(sent: signal.Signals, code: int, tmp_path: Path) -> None:
    box = ["--dim", "2", "--bounds", "0", "1", "--max-time", "60", "--json"]
    with skde(tmp_path, "minimize", "slow:f", *box) as process:
        # Two calls are the probe's; when a second generation is being evaluated, the first is there to be shown.
        for _ in range(4):
            wait_for(process, (tmp_path / "called").exists)
            (tmp_path / "called").unlink()
        process.send_signal(sent)
        out, err = process.communicate(timeout=30)
    assert process.returncode == code, err
    assert json.loads(out)["status"] == "INTERRUPTED"
    assert err == "skde: interrupted\n"


def test_children_of_minimize_end(tmp_path: Path) -> None:
    box = ["--dim", "2", "--bounds", "0", "1", "--max-time", "60", "--scalar", "--n-jobs", "2"]
    with skde(tmp_path, "minimize", "slow:g", *box) as process:
        wait_for(process, lambda: len(list(tmp_path.glob("pid-*"))) == 2)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 143, err
    assert "Traceback" not in err
    workers = [int(path.name.removeprefix("pid-")) for path in tmp_path.glob("pid-*")]
    assert len(workers) == 2
    assert all(ended(worker) for worker in workers)


@SIGNALS
def test_tune(sent: signal.Signals, code: int, tmp_path: Path) -> None:
    """A run that ends in the slice of the signal is as interrupted as others are: the first signal ends it."""
    tuning = ["tune", "pso", "--suite", "qin2012", "--dim", "3", "--max-experiments", "600", "--seed", "1"]
    storage = tmp_path / "tuning.log"
    with skde(tmp_path, *tuning, "--run-max-time", "0.02", "--storage", "tuning.log", "--json") as process:
        wait_for(process, lambda: storage.exists() and storage.read_bytes().count(b'"intermediate_value":') > 60)
        process.send_signal(sent)
        out, err = process.communicate(timeout=30)
    assert process.returncode == code, err
    assert err == "skde: interrupted\n"
    found = json.loads(out)
    assert not found["finished"]
    assert found["elites"]
    assert not (tmp_path / "tuning.log.lock").is_symlink()


@SIGNALS
def test_a_worker_that_waits(sent: signal.Signals, code: int, tmp_path: Path) -> None:
    with skde(tmp_path, "tune", "worker", "--storage", "tuning.log") as process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("waiting for skde tune")
        process.send_signal(sent)
        _, err = process.communicate(timeout=30)
    assert process.returncode == code, err
    assert err == "skde: interrupted\n"


# -- output of interrupted commands ------------------------------------------------------------------------------------


def interrupted(function: Callable[..., Any], after: int = 1) -> Callable[..., Any]:
    """Return a function that is interrupted when it has been called so often."""
    calls: list[int] = []

    def interrupting(*arguments: Any, **options: Any) -> Any:
        if len(calls) == after:
            raise KeyboardInterrupt
        calls.append(1)
        return function(*arguments, **options)

    return interrupting


@pytest.mark.parametrize(
    ("solver", "arguments"),
    [
        (Minimizer, ["minimize", "sphere", "--dim", "2", "--max-iter", "3", "--plot", "FILE.png"]),
        (MinMaxSolver, ["minmax", "minmax/rustem1", "--max-iter", "2", "--save", "FILE"]),
    ],
)
def test_solvers(
    solver: Any, arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: Any, tmp_path: Path
) -> None:
    """Results are stored, then the interruption goes on to the caller."""
    fit = solver.fit

    def interrupting(self: Any, *given: Any, **options: Any) -> None:
        monkeypatch.undo()  # others of its kind
        fit(self, *given, **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(solver, "fit", interrupting)
    arguments = [argument.replace("FILE", str(tmp_path / "file")) for argument in arguments]
    assert main([*arguments, "--device", "cpu", "--json"]) == 130
    printed = capsys.readouterr()
    assert json.loads(printed.out)["n_evals"] > 0
    assert printed.err == "skde: interrupted\n"
    assert any(path.stat().st_size for path in tmp_path.iterdir())


def test_nothing_to_print(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr(Minimizer, "fit", interrupted(Minimizer.fit, 0))
    assert main(["minimize", "sphere"]) == 130
    assert capsys.readouterr() == ("", "skde: interrupted\n")


RUN = ["bench", "run", "--suite", "nashed2012", "--algorithms", "de", "--dims", "2", "--functions", "f0,f9"]
EXPERIMENTS = pytest.mark.parametrize(
    ("module", "arguments"),
    [
        (trials, [*RUN, "--runs", "2", "--budget", "400"]),
        (papers, ["reproduce", "nashed2012", "--algorithms", "de", "--dims", "10", "--runs", "2", "--budget", "500"]),
        (fabris2012, ["reproduce", "fabris2012", "--pop-sizes", "50", "--functions", "p2,p6", "--budget", "2cycles"]),
    ],
)


@EXPERIMENTS
@pytest.mark.parametrize("json_too", [True, False])
def test_experiments(
    module: Any, arguments: list[str], json_too: bool, monkeypatch: pytest.MonkeyPatch, capsys: Any, tmp_path: Path
) -> None:
    measure = {trials: "measure_cell", papers: "measure_paper_cell", fabris2012: "measure_solver"}[module]
    monkeypatch.setattr(module, measure, interrupted(getattr(module, measure)))
    arguments = [*arguments, "--out", str(tmp_path / "record.json")]
    assert main([*arguments, *["--json"] * json_too]) == 130
    printed = capsys.readouterr()
    assert printed.err == "skde: interrupted\n"
    kept = read_record(tmp_path / "record.json")
    assert len(kept["cells"]) == 1
    if json_too:
        (shown,) = json.loads(printed.out)["cells"]
        assert key_of(shown) == key_of(kept["cells"][0])
        assert shown["n_evals"] == kept["cells"][0]["n_evals"]
    else:
        assert kept["cells"][0]["function"] in printed.out


def test_experiments_that_have_not_begun(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr(trials, "measure_cell", interrupted(trials.measure_cell, 0))
    assert main(RUN) == 130
    assert capsys.readouterr() == ("", "skde: interrupted\n")


def test_a_papers_tuning(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr(reproduction, "run_both", interrupted(reproduction.run_both, 2))
    options = ["--max-experiments", "600", "--dims", "2", "--budget", "200", "--held-out", "1", "--runs", "2"]
    assert main(["reproduce", "nashed2012", "--table", "1", "--algorithms", "de", *options, "--json"]) == 130
    found = json.loads(capsys.readouterr().out)
    assert found["tuned"]["de"]["finished"]
    assert len(found["compared"]) == 2


# -- the handler -------------------------------------------------------------------------------------------------------


def test_the_handler_is_there_for_a_command_alone(capsys: Any) -> None:
    for handler in (signal.SIG_DFL, signal.SIG_IGN, lambda number, frame: None):
        before = signal.signal(signal.SIGTERM, handler)
        try:
            assert main(["problems"]) == 0
            assert signal.getsignal(signal.SIGTERM) is handler
        finally:
            signal.signal(signal.SIGTERM, before)


def test_commands_in_other_threads(capsys: Any) -> None:
    codes: list[int] = []
    thread = threading.Thread(target=lambda: codes.append(main(["problems"])))
    thread.start()
    thread.join()
    assert codes == [0]


def test_a_second_sigterm_does_not_stop_the_printing(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    def terminated(self: Any, *given: Any, **options: Any) -> None:
        monkeypatch.undo()
        self.fit(*given, **options)
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(1)
        finally:
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(Minimizer, "fit", terminated)
    command = ["minimize", "sphere", "--dim", "2", "--algorithm", "jde", "--max-iter", "3"]
    assert main([*command, "--device", "cpu", "--json"]) == 143
    assert json.loads(capsys.readouterr().out)["n_evals"] == 400


def test_a_reader_that_has_enough() -> None:
    """As in `skde problems | head -1`: no message, and the exit code of SIGPIPE."""
    command = [
        sys.executable,
        "-P",
        "-c",
        "from skde.cli.main import main; raise SystemExit(main(['problems', '--json']))",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["minimize", "--help"], ["algorithms"]], ids=" ".join)
def test_a_full_disk(arguments: list[str]) -> None:
    code = f"from skde.cli.main import main; raise SystemExit(main({arguments}))"
    command, environment = [sys.executable, "-P", "-c", code], {**os.environ, "PYTHONUNBUFFERED": ""}
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, env=environment, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert "No space left on device" in done.stderr
