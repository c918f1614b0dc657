"""The recorder of all evaluations: in memory, in files, of fits, of ask and tell, and of the command line."""

from __future__ import annotations

import copy
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import NonlinearConstraint

from skde import DE, Categorical, Fixed, Integer, Log, Minimizer, Ordinal, Recorder, minimize
from skde.cli.main import main

BOX = [(-5.0, 5.0)] * 2
TYPED = {
    "n": Integer(0, 30),
    "kind": Categorical(["ring", 'a "star", or\tso', None]),
    "size": Ordinal([2, 4, 8]),
    "rate": Log(1e-3, 1.0),
    "same": Fixed(3),
}
COLUMNS = ["id", "run", "generation", "phase", "seconds", "fun", "violation"]


def sphere(X: Any) -> Any:
    return ((X - 0.5) ** 2).sum(axis=-1)


def make(**parameters: Any) -> Minimizer:
    defaults: dict[str, Any] = {"bounds": BOX, "max_iter": 4, "random_state": 3, "device": "cpu"}
    return Minimizer(DE(pop_size=20), **{**defaults, **parameters})


def results(m: Minimizer) -> list[Any]:
    return [(run.x.tolist(), run.fun, run.n_evals, run.status, run.history.best.tolist()) for run in m.runs_]


def points(table: dict[str, Any]) -> Any:
    return np.stack([table[name] for name in ("x0", "x1")], axis=1)


FITS: dict[str, dict[str, Any]] = {
    "array": {},
    "point": {"vectorized": False},
    "runs": {"n_runs": 3, "target": 0.1, "max_iter": 9},
    "islands": {"n_islands": 2},
    "float32": {"dtype": "float32"},
    "workers": {"vectorized": False, "n_jobs": 2},
}


@pytest.mark.parametrize("name", FITS)
def test_every_evaluation_is_recorded_once(name: str, tmp_path: Path) -> None:
    whole = make(**FITS[name]).fit(sphere)
    for recorder in (Recorder(), Recorder(tmp_path / "log.jsonl"), Recorder(tmp_path / "log.csv")):
        m = make(recorder=recorder, **FITS[name]).fit(sphere)
        assert results(m) == results(whole)
        table = recorder.table
        assert list(table) == [*COLUMNS, "x0", "x1"]
        assert len(recorder) == len(np.unique(table["id"])) == sum(run.n_evals for run in m.runs_)
        assert np.bincount(table["run"]).tolist() == [run.n_evals for run in m.runs_]
        assert np.array_equal(sphere(points(table).astype(m.x_.dtype)).astype(np.float64), table["fun"])
        for number, run in enumerate(m.runs_):
            assert table["fun"][table["run"] == number].min() == run.fun
            assert table["generation"][table["run"] == number].max() == run.n_iter
        assert (table["violation"] == 0).all()
        assert set(table["phase"]) == {"search"}
        assert (np.diff(table["seconds"]) >= 0).all()
        assert table["seconds"][0] > 0


@pytest.mark.parametrize("algorithm", ["de", "lshade", "ss", "cmaes"])
def test_compiled_objectives_have_the_same_bits(algorithm: str) -> None:
    recorder = Recorder()
    options: dict[str, Any] = {"max_evals": 600, "random_state": 1, "device": "cpu"}
    m = Minimizer(algorithm, recorder=recorder, **options).fit("rastrigin", dim=2)
    assert results(m) == results(Minimizer(algorithm, **options).fit("rastrigin", dim=2))
    assert len(recorder) == len(np.unique(recorder.table["id"])) == m.n_evals_
    assert recorder.table["fun"].min() == m.fun_


@pytest.mark.parametrize("ending", ["", ".jsonl", ".csv", "memory"])
def test_typed_variables_have_their_values(ending: str, tmp_path: Path) -> None:
    recorder = Recorder() if ending == "memory" else Recorder(tmp_path / f"log{ending}")
    m = make(bounds=TYPED, recorder=recorder).fit(lambda X: X[:, 0] + X[:, 3])
    table = recorder.table
    assert list(table) == [*COLUMNS, *TYPED]
    assert table["n"].dtype == np.int64
    assert set(table["size"].tolist()) == {2, 4, 8}
    kinds = {"ring", 'a "star", or\tso', "" if ending == ".csv" else None}
    assert set(table["kind"]) == kinds
    assert set(table["same"].tolist()) == {3}
    assert np.array_equal(table["n"] + table["rate"], table["fun"])
    best = int(table["fun"].argmin())
    assert m.params_["n"] == table["n"][best]
    assert m.params_["rate"] == table["rate"][best]


@pytest.mark.parametrize("vectorized", [True, False])
def test_violations_are_recorded(vectorized: bool) -> None:
    recorder = Recorder()
    constraint = NonlinearConstraint(lambda x: x[..., 0] + x[..., 1], 1.0, np.inf)
    m = make(constraints=constraint, recorder=recorder, vectorized=vectorized).fit(sphere)
    table = recorder.table
    missing = 1.0 - points(table).sum(axis=1)
    infeasible = missing > 1e-6
    assert 0 < infeasible.sum() < len(recorder) == m.n_evals_
    np.testing.assert_allclose(table["violation"], np.where(infeasible, missing, 0.0), rtol=1e-12)
    assert np.isnan(table["fun"][infeasible]).all()
    assert np.nanmin(table["fun"]) == m.fun_


def test_other_phases_are_recorded() -> None:
    recorder = Recorder()
    m = make(recorder=recorder, final_evals=50, n_runs=2).fit(sphere)
    table = recorder.table
    final = table["phase"] == "final"
    assert np.bincount(table["run"][final]).tolist() == [50, 50]
    assert np.array_equal(sphere(points(table)), table["fun"])
    assert len(recorder) == sum(run.n_evals for run in m.runs_)
    assert (table["id"][final] == -1).all()


@pytest.mark.parametrize("polish", ["L-BFGS-B", "Nelder-Mead", "quasi-Newton", "trust-constr", "SLSQP"])
@pytest.mark.parametrize("vectorized", [True, False])
def test_a_polish_is_recorded(polish: str, vectorized: bool) -> None:
    recorder = Recorder()
    constraint = (
        NonlinearConstraint(lambda x: x[..., 0] + x[..., 1], 1.5, np.inf)
        if polish in ("trust-constr", "SLSQP")
        else None
    )
    options = {"polish": polish, "n_runs": 2, "vectorized": vectorized, "constraints": constraint}
    m = make(recorder=recorder, **options).fit(sphere)
    table = recorder.table
    polished = table["phase"] == "polish"
    assert np.bincount(table["run"][polished]).tolist() == [run.polish_evals for run in m.runs_]
    assert np.nanmin(table["fun"]) == m.fun_
    assert len(recorder) == sum(run.n_evals for run in m.runs_)


@pytest.mark.parametrize("parts", [False, True])
@pytest.mark.parametrize("final_evals", [0, 20])
def test_ask_and_tell_record_what_is_told(parts: bool, final_evals: int) -> None:
    fitted, told = Recorder(), Recorder()
    options = {"n_runs": 2, "final_evals": final_evals}
    make(recorder=fitted, **options).fit(sphere)
    m = make(recorder=told, **options)
    while not m.stopped_:
        if parts:
            X, ids = m.ask(7, return_ids=True)
            m.tell(X[::-1], sphere(X[::-1]), ids=ids[::-1])
        else:
            X = m.ask()
            m.tell(X, sphere(X))
    assert len(told) == len(fitted) == sum(run.n_evals for run in m.runs_)
    order = [np.lexsort([table["x1"], table["x0"], table["id"]]) for table in (told.table, fitted.table)]
    for name in set(told.table) - {"seconds"}:
        assert np.array_equal(told.table[name][order[0]], fitted.table[name][order[1]])


def test_resume_continues_the_record(tmp_path: Path) -> None:
    calls = []

    def breaks(x: Any) -> float:
        calls.append(x)
        if len(calls) in (30, 31, 60):
            raise ZeroDivisionError
        return float(sphere(x))

    path = tmp_path / "log.csv"
    m = make(vectorized=False, recorder=path)
    with pytest.raises(ZeroDivisionError):
        m.fit(breaks)
    for again in (m, pickle.loads(pickle.dumps(m))):
        assert len(Recorder(path)) == again.n_evals_
        with pytest.raises(ZeroDivisionError):
            again.resume(breaks)
    again.save(tmp_path / "fit")
    loaded = Minimizer.load(tmp_path / "fit")
    assert loaded.recorder is None
    loaded.set_params(recorder=str(path)).resume(breaks)
    table = Recorder.read(path)
    assert np.unique(table["id"]).tolist() == list(range(100))
    assert np.array_equal(sphere(points(table)), table["fun"])


def test_a_torn_last_line_is_cut_off(tmp_path: Path) -> None:
    for ending in ("csv", "jsonl"):
        path = tmp_path / f"log.{ending}"
        make(recorder=path).fit(sphere)
        text = path.read_text()
        path.write_text(text[:-9])
        assert len(Recorder.read(path)["id"]) == 99
        make(recorder=path).fit(sphere)
        assert len(Recorder.read(path)["id"]) == 199
        path.write_text(text.replace("search", '"', 1))
        with pytest.raises(ValueError, match="has no point of a Recorder in line"):
            Recorder.read(path)
        path.write_text("")
        assert len(Recorder.read(path)["id"]) == 0
        path.write_text(text[:7])  # the first line is incomplete, too
        assert len(make(recorder=Recorder(path)).fit(sphere).recorder) == 100


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_a_file_that_cannot_grow_loses_no_values(ending: str, tmp_path: Path) -> None:
    """As on a full disk: the first bytes of a piece are written, and then there is an error."""
    resource = pytest.importorskip("resource")
    path = tmp_path / f"log.{ending}"
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    seen = []

    def f(X: Any) -> Any:
        seen.append(len(X))
        if len(seen) == 5:
            resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 100, limits[1]))
        return sphere(X)

    m = make(recorder=path)
    try:
        with pytest.raises(OSError, match="File too large") as raised:
            m.fit(f)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert raised.value.filename == str(path)
    assert m.n_evals_ == 60
    assert len(Recorder.read(path)["id"]) == 40
    assert results(m.resume(f)) == results(make().fit(sphere))
    assert Recorder.read(path)["id"].tolist() == list(range(100))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_a_full_device_loses_no_values() -> None:
    recorder = Recorder("/dev/full")
    m = Minimizer("jde", max_evals=300, recorder=recorder, random_state=0)
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        m.fit("sphere", dim=2)
    m.set_params(recorder=None).resume()
    assert m.n_evals_ == 300
    assert m.fun_ == Minimizer("jde", max_evals=300, random_state=0).fit("sphere", dim=2).fun_


KILLED = """
import sys, time
from skde import Minimizer
def slow(x):
    time.sleep(0.002)
    return float((x * x).sum())
Minimizer("jde", max_iter=10000, random_state=0, device="cpu", vectorized=False, recorder=sys.argv[1]).fit(
    slow, bounds=[(-1, 1)] * 3)
"""


def test_the_record_survives_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    with subprocess.Popen([sys.executable, "-c", KILLED, str(path)]) as process:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and (not path.exists() or path.stat().st_size < 20_000):
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    table = Recorder.read(path)
    assert len(table["id"]) > 50
    assert table["id"].tolist() == list(range(len(table["id"])))


def test_what_a_recorder_refuses(tmp_path: Path) -> None:
    for parameters, kind, message in (
        ({"recorder": 3}, TypeError, "recorder must be a Recorder, the name of a file or None, got 3"),
        ({"bounds": {"run": (0, 1)}}, ValueError, "a variable must not be named 'run'"),
        ({"execution": "joblib"}, ValueError, "recorder needs execution='auto' or 'step', got 'joblib'"),
        ({"device": ["cpu", "cpu"], "n_runs": 2}, ValueError, "recorder needs one device, got 'cpu, cpu'"),
        ({"recorder": tmp_path / "missing" / "log"}, FileNotFoundError, "missing"),
    ):
        with pytest.raises(kind, match=message):
            make(**{"recorder": Recorder(), **parameters}).fit(sphere)
    with pytest.raises(ValueError, match="recorder needs execution='auto' or 'step', got 'run'"):
        make(recorder=Recorder(), execution="run").fit("sphere", dim=2, bounds=BOX)
    recorder, path = Recorder(), tmp_path / "log"
    make(recorder=recorder).fit(sphere)
    make(recorder=path).fit(sphere)
    with pytest.raises(ValueError, match=r"recorder has the variables \('x0', 'x1'\), and the fit has"):
        make(recorder=recorder, bounds=[(-1, 1)] * 3).fit(sphere)
    with pytest.raises(ValueError, match=r"log', has the columns .* take another file"):
        make(recorder=path, bounds=[(-1, 1)] * 3).fit(sphere)


def test_pandas_takes_the_table_and_a_history(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    m = make(recorder=Recorder(), bounds=TYPED).fit(lambda X: X[:, 0])
    frame = pandas.DataFrame(m.recorder.table)
    assert list(frame.columns) == [*COLUMNS, *TYPED]
    assert frame["fun"].min() == m.fun_
    history = pandas.DataFrame(m.history_)
    assert list(history.columns) == ["n_evals", "seconds", "best"]
    assert history["best"].tolist() == m.history_.best.tolist()
    assert history["n_evals"].tolist() == m.history_.n_evals.tolist()


def test_copies_and_minimize() -> None:
    recorder = Recorder()
    assert repr(recorder) == "Recorder()"
    assert repr(Recorder("a.csv")) == "Recorder('a.csv')"
    assert len(recorder) == 0
    r = minimize(sphere, BOX, recorder=recorder, max_evals=400, polish=False, method="de", random_state=0)
    assert len(recorder) == r.nfev
    other = copy.deepcopy(recorder)
    assert len(other) == len(recorder)
    assert len(pickle.loads(pickle.dumps(recorder))) == len(recorder)


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = os.fspath(tmp_path / "log.csv")
    arguments = ["minimize", "sphere", "--dim", "2", "--max-evals", "300", "--device", "cpu", "--algorithm", "de"]
    assert main([*arguments, "--record", path]) == 0
    assert len(Recorder.read(path)["id"]) == 300
    capsys.readouterr()
