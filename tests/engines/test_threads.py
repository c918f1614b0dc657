"""OpenMP's threads: which calls start them, how many, and forked processes, which have lost them."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from skde import DE, Minimizer, MinMaxSolver
from skde.engines import cpu, threads
from skde.testing.base import same

pytestmark = pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="processes are not forked here"
)
ROOT = Path(__file__).resolve().parent.parent

FITS = {
    "runs": 'Minimizer("jde", max_iter=20, n_runs=4, random_state=0, device="cpu").fit("sphere", dim=5)',
    "one run": ('Minimizer("jde", max_iter=3, random_state=0, device="cpu").fit("sphere", dim=200)'),
    "steps": (
        "Minimizer(DE(pop_size=1000), max_iter=3, n_runs=4, random_state=0, device='cpu')"
        ".fit(lambda X: (X * X).sum(axis=1), bounds=[(-5, 5)] * 30)"
    ),
    "devices": ('Minimizer("jde", max_iter=20, n_runs=4, random_state=0, device=["cpu", "cpu"]).fit("sphere", dim=5)'),
    "games": 'MinMaxSolver(max_iter=2, n_runs=3, random_state=0, device="cpu").fit("fabris2012/p1")',
}
FORKED = """
import multiprocessing
from skde import DE, Minimizer, MinMaxSolver
def fit():
    return float({fit}.fun_)
def child(queue):
    queue.put(fit())
if __name__ == "__main__":
    known = fit()
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=child, args=(queue,), daemon=True)
    process.start()
    assert queue.get(timeout=20) == known
    process.join(20)
    print("equal")
"""
RESUMED = """
import multiprocessing
from skde import Minimizer
m = Minimizer("jde", max_iter=20, n_runs=4, random_state=0, device=["cpu", "cpu"]).fit("sphere", dim=5)
def child(queue):
    queue.put(float(m.set_params(max_iter=40).resume().fun_))
context = multiprocessing.get_context("fork")
queue = context.Queue()
process = context.Process(target=child, args=(queue,), daemon=True)
process.start()
assert queue.get(timeout=20) == float(m.set_params(max_iter=40).resume().fun_)
process.join(20)
print("equal")
"""
WORKERS = """
import joblib
from skde import Minimizer
def fit(seed):
    m = Minimizer("jde", max_iter=20, n_runs=4, random_state=seed, device="cpu")
    return float(m.fit("sphere", dim=5).fun_)
if __name__ == "__main__":
    known = [fit(seed) for seed in range(3)]
    parallel = joblib.Parallel(n_jobs=2, backend="{backend}", timeout=30)
    assert parallel(joblib.delayed(fit)(seed) for seed in range(3)) == known
    print("equal")
"""
BEFORE = """
import multiprocessing
from skde import Minimizer
from skde.engines import threads
def child(queue):
    Minimizer("jde", max_iter=20, n_runs=4, random_state=0, device="cpu").fit("sphere", dim=5)
    queue.put((threads.forked, threads.largest))
Minimizer("jde", max_iter=20, n_runs=4, n_jobs=1, random_state=0, device="cpu").fit("sphere", dim=5)
context = multiprocessing.get_context("fork")
queue = context.Queue()
process = context.Process(target=child, args=(queue,), daemon=True)
process.start()
assert queue.get(timeout=20) == (False, 2)
process.join(20)
print("equal")
"""
QUIET = """
import os
from skde import Minimizer
def fit(n_jobs):
    m = Minimizer("jde", max_iter=20, n_runs=5, n_jobs=n_jobs, random_state=0, device="cpu")
    m.fit(lambda X: (X * X).sum(axis=1), bounds=[(-5, 5)] * 3)
    return len(os.listdir("/proc/self/task"))
assert fit(1) == fit(4)
print("equal")
"""


def run_script(text: str, tmp_path: Path) -> str:
    """Run a program in a new process, with the name of its file for joblib."""
    script = tmp_path / "script.py"
    script.write_text(text)
    environment = {**os.environ, "OMP_NUM_THREADS": "2", "PYTHONPATH": os.pathsep.join([*sys.path, str(ROOT)])}
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=60, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", FITS)
def test_a_process_that_is_forked_after_a_fit(name: str, tmp_path: Path) -> None:
    assert run_script(FORKED.format(fit=FITS[name]), tmp_path) == "equal\n"


def test_a_fit_on_several_devices_resumes_in_a_forked_process(tmp_path: Path) -> None:
    assert run_script(RESUMED, tmp_path) == "equal\n"


@pytest.mark.parametrize("backend", ["loky", "multiprocessing"])
def test_joblib_after_a_fit(backend: str, tmp_path: Path) -> None:
    assert run_script(WORKERS.format(backend=backend), tmp_path) == "equal\n"


def test_a_process_that_is_forked_before_has_threads(tmp_path: Path) -> None:
    """One thread alone does no harm."""
    assert run_script(BEFORE, tmp_path) == "equal\n"


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="the system does not list threads")
def test_short_python_functions_start_no_threads(tmp_path: Path) -> None:
    assert run_script(QUIET, tmp_path) == "equal\n"


@pytest.mark.parametrize("algorithm", ["de", "shade", "ss"])
def test_threads_of_a_step_do_not_matter(algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fit(n_jobs: int) -> Minimizer:
        m = Minimizer(algorithm, max_iter=8, n_runs=3, n_jobs=n_jobs, random_state=0, device="cpu", execution="step")
        return m.fit("griewank", dim=40)

    one = fit(1)
    monkeypatch.setattr(cpu, "COMPONENTS_WORTH_THREADS", 0)
    assert same(one, fit(2))


@pytest.mark.parametrize(
    ("allowed", "n_runs", "individuals", "dim", "expected"),
    [
        (4, 1, 100, 10, 1),
        (4, 3, 100, 10, 3),
        (4, 9, 100, 10, 4),
        (4, 1, 100, 100, 4),
        (4, 2, 3, 10**4, 3),
        (1, 9, 9, 9, 1),
    ],
)
def test_teams(
    allowed: int, n_runs: int, individuals: int, dim: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threads, "largest", 4)
    assert threads.team_size(allowed, n_runs, individuals, dim) == expected
    monkeypatch.setattr(threads, "forked", True)
    assert threads.team_size(allowed, n_runs, individuals, dim) == 1


def test_more_threads_than_the_system_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    start = threading.Thread.start

    def refuse(thread: Any) -> None:
        if threading.active_count() > before + 5:
            raise RuntimeError("can't start new thread")
        start(thread)

    before = threading.active_count()
    monkeypatch.setattr(threading.Thread, "start", refuse)
    m = Minimizer(DE(pop_size=20), n_runs=900, max_iter=2, n_jobs=900, device="cpu")
    with pytest.raises(RuntimeError, match="900 threads were asked for, by n_jobs or OMP_NUM_THREADS, but the system"):
        m.fit("sphere", dim=3)
    monkeypatch.undo()
    assert threading.active_count() == before
    assert m.set_params(n_jobs=2).fit("sphere", dim=3).n_iter_ == 2


@pytest.mark.parametrize("solver", [Minimizer("jde"), MinMaxSolver()])
def test_more_jobs_than_any_machine_gives(solver: Any) -> None:
    with pytest.raises(ValueError, match=r"n_jobs must be at most [0-9]+, got 100000"):
        solver.set_params(n_jobs=100_000, device="cpu").fit(
            "sphere" if isinstance(solver, Minimizer) else "fabris2012/p1"
        )
