"""The rule of tol in large populations on a GPU, where all teams divide the sums of the values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from skde import DE, GODE, JADE, LSHADE, PSO, SS, Migration, Minimizer
from skde.benchmark.generations import new_spec
from skde.constants import CONSTANTS
from skde.engines import choose_device
from skde.engines.gpu.nvrtc import kernel_switches
from skde.problems import get_problem

LARGE = CONSTANTS["COUNTED_BY_GPU"] + 1
TOL = 0.02
FUNCTION = "wang2012/F4"  # its minimum is not 0


def squares(X: Any) -> Any:
    return (X * X).sum(axis=1) + 1.0


def ended(device: str, algorithm: Any, **given: Any) -> Minimizer:
    parameters = {"tol": TOL, "max_iter": 60, "n_runs": 2, "random_state": 3, "device": device} | given
    return Minimizer(algorithm, **parameters).fit(FUNCTION, dim=2)


def ends(m: Minimizer) -> list[tuple[int, str]]:
    return [(run.n_iter, run.message) for run in m.runs_]


@pytest.mark.parametrize("size", [LARGE - 1, LARGE])
def test_large_populations_with_a_tol_have_sums(size: int) -> None:
    """Their kernels have the code, and a generation the stage."""
    batch = choose_device("cpu")[0].batch(new_spec(DE(pop_size=size), get_problem("sphere", dim=2), 1, 9))
    stages, batch.step = batch.stages, "the launcher"
    assert "SKDE_TOL" not in kernel_switches(batch.spec)
    batch.refresh()
    assert batch.step == "the launcher"
    batch.spec.tol = TOL
    batch.refresh()
    assert batch.step is None
    assert ("SKDE_TOL" in kernel_switches(batch.spec)) == (size == LARGE)
    assert batch.stages == stages + (size == LARGE)


def test_restored_values_have_no_sums() -> None:
    batch = choose_device("cpu")[0].batch(new_spec(DE(pop_size=LARGE), get_problem("sphere", dim=2), 2, 9))
    batch.put("value_sums", np.ones((2, CONSTANTS["VALUE_SUMS"])))
    batch.find_bests()
    assert not batch.host("value_sums").any()


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("size", [LARGE, 3 * LARGE, 40_000])
@pytest.mark.parametrize("kind", [DE, JADE, PSO])
def test_runs_end_where_they_end_on_the_cpu(kind: Any, size: int, dtype: str) -> None:
    cpu, gpu = (ended(device, kind(pop_size=size), dtype=dtype) for device in ("cpu", "cuda"))
    assert all(0 < run.n_iter < cpu.max_iter for run in cpu.runs_)
    assert ends(cpu) == ends(gpu)
    assert np.array_equal(cpu.fitness_, gpu.fitness_)


@pytest.mark.gpu
def test_other_populations_end_where_they_end_on_the_cpu() -> None:
    """They shrink to small ones, have opposites, are islands, or are a large pool and its reference set."""
    shrinking = LSHADE(pop_size=2 * LARGE, pop_min=100)
    for algorithm, given in (
        (shrinking, {"max_evals": 40_000}),
        (GODE(pop_size=LARGE, opposition=0.5), {}),
        (DE(pop_size=LARGE), {"migration": Migration(every=3), "n_islands": 2}),
        (SS(pop_size=50, n_best=49, n_local=1), {"max_iter": 200}),
    ):
        cpu, gpu = (ended(device, algorithm, **given) for device in ("cpu", "cuda"))
        assert ends(cpu) == ends(gpu)
        assert np.array_equal(cpu.fitness_, gpu.fitness_)


@pytest.mark.gpu
def test_halves_of_generations_end_too() -> None:
    given = {"tol": 1e-3, "max_iter": 60, "random_state": 1}
    cpu = Minimizer(DE(pop_size=LARGE), bounds=[(-1.0, 1.0)] * 2, device="cpu", **given).fit(squares)
    for execution in ("step", "graph"):
        gpu = Minimizer(DE(pop_size=LARGE), bounds=[(-1.0, 1.0)] * 2, device="cuda", execution=execution, **given)
        gpu.fit(squares)
        assert cpu.converged_
        assert gpu.converged_
        assert gpu.n_iter_ == cpu.n_iter_


@pytest.mark.gpu
def test_a_rule_that_is_changed_judges_the_values_of_now() -> None:
    """The sums of a generation are not taken for those of another one."""
    m = ended("cuda", DE(pop_size=LARGE), max_iter=2, tol=1e-9)
    m.set_params(tol=None, max_iter=4).resume()
    m.set_params(tol=1e9, max_iter=60).resume()
    assert m.n_iter_ == 4
    m.set_params(tol=TOL).resume()
    assert ends(m) == ends(ended("cpu", DE(pop_size=LARGE)))
