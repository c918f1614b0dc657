"""Files that were damaged or made up are refused, or do no harm: a crash would be that of another process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skde import DE, PSO, SS, Migration, Minimizer, MinMaxSolver
from skde.algorithms import ALGORITHMS

from .crafted_files import __file__ as program
from .crafted_files import crafted, function, game
from .settings import examples

BOX = [(-5.0, 5.0)] * 3
AT_A_TIME = 250


def fits() -> dict[str, Any]:
    """Return short fits, by what their files are called."""
    found: dict[str, Any] = {}
    algorithms = {name: kind(**kind.get_test_params()) for name, kind in ALGORITHMS.items()}
    for name, kind in ALGORITHMS.items():
        if "opposition" in kind().get_params():
            algorithms[f"{name}_opposed"] = kind(**{**kind.get_test_params(), "opposition": 0.5})
    algorithms["pbest"] = DE(strategy="current-to-pbest/1/bin", pop_size=10)
    algorithms["random"] = PSO(topology="random", pop_size=10)
    algorithms["diverse"] = SS(pop_size=30, n_best=4, n_diverse=2, n_local=2, update="quality_and_diversity")
    for k, (name, algorithm) in enumerate(algorithms.items()):
        options: dict[str, Any] = {"max_iter": 9, "random_state": k, "device": "cpu", "n_runs": 1 + k % 3}
        if k % 4 == 1:
            options |= {"n_islands": 2, "migration": Migration(every=2)}
        if k % 5 == 2:
            options["dtype"] = "float32"
        m = Minimizer(algorithm, **options)
        found[f"Minimizer-{name}"] = m.fit("sphere", dim=3) if k % 2 else m.fit(function, bounds=BOX)
    found["Minimizer-constrained"] = Minimizer(DE(pop_size=10), max_iter=9, device="cpu").fit("fabris2012/p4")
    found["Minimizer-several"] = Minimizer([DE(pop_size=8), DE(pop_size=9)], n_runs=2, max_iter=9, device="cpu").fit(
        "rastrigin", dim=2, x0=[[0.5, 0.5]]
    )
    final = Minimizer(DE(pop_size=10), max_iter=9, n_runs=2, n_islands=2, final_evals=50, device="cpu")
    found["Minimizer-final"] = final.fit(function, bounds=BOX)
    for generations in (0, 4):
        found[f"Minimizer-partial{generations}"] = partial(generations)
    searches = {"max_evals": 9100, "random_state": 0, "device": "cpu"}
    first = Minimizer(callbacks=lambda progress: progress.n_iter == 5, **searches).fit(function, bounds=BOX)
    found["Minimizer-first"] = first.set_params(callbacks=None)
    # One of the runs ends in the first search for good.
    second = Minimizer(callbacks=lambda progress: progress.n_iter >= 135, n_runs=4, target=1.0, **searches)
    found["Minimizer-second"] = second.fit("rastrigin", dim=3).set_params(callbacks=None)
    names = list(ALGORITHMS)
    names.remove("ss")
    for k, name in enumerate(names):
        options = {"max_iter": 2, "gens_x": 3, "gens_y": 2, "archive_size": 3, "n_runs": 1 + k % 2, "device": "cpu"}
        solver = MinMaxSolver(name, names[k - 1], random_state=k, **options)
        given = ((game, BOX, BOX), ("minmax/rustem4",), ("fabris2012/p6",))[k % 3]
        found[f"MinMaxSolver-{name}"] = solver.fit(*given)
    return found


def partial(generations: int) -> Minimizer:
    """Return a Minimizer that has been told a part of the generation after so many of them."""
    m = Minimizer(DE(pop_size=10), bounds=BOX, max_iter=9, n_runs=2, random_state=0, device="cpu")
    for _ in range(generations):
        X = m.ask()
        m.tell(X, (X * X).sum(axis=-1))
    X = m.ask(6)
    return m.tell(X[1:], function(X[1:]))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Return the files of short fits."""
    path = tmp_path_factory.mktemp("whole") / "fit"
    files = {}
    for name, fitted in fits().items():
        fitted.save(path)
        files[name] = path.read_bytes()
    return files


def test_crafted_files(whole: dict[str, bytes], tmp_path: Path) -> None:
    rng, names = np.random.default_rng(20), list(whole)
    refused = resumed = 0
    for begin in range(0, examples(500), AT_A_TIME):
        files = {}
        for k in range(begin, begin + AT_A_TIME):
            name = names[k % len(names)]
            path = tmp_path / f"{name}-{k}"
            path.write_bytes(crafted(rng, whole[name]))
            files[path.name] = path
        done = subprocess.run([sys.executable, program, *files.values()], capture_output=True, text=True)
        lines = done.stdout.strip().splitlines()
        assert lines[-1] == "done", f"{lines[-1]}: ended with {done.returncode}\n{done.stderr[-4000:]}"
        for line in lines[:-1]:
            name, _, said = line.partition(" ")
            if said.startswith("refused: "):
                assert name in said, line
                assert (
                    "entry " in said
                    or "broken or not a file" in said
                    or "not a file that" in said
                    or ("saved in version" in said or "load it with" in said)
                ), line
                refused += 1
            else:
                assert said.startswith(("resumed", "not resumed")), line
                resumed += said.startswith("resumed")
            files[name].unlink()
    assert refused > resumed > 0
