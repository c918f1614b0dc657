"""The best of a large population on a GPU, which the teams share in one of three ways (best.cuh)."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from skde import DE, JADE, PSO, SADE, DeviceObjective, Migration, Minimizer
from skde.benchmark.generations import new_spec
from skde.constants import CONSTANTS
from skde.engines import choose_device
from skde.engines.gpu.engine import CudaEngine
from skde.problems import get_problem

LARGE = CONSTANTS["COUNTED_BY_GPU"] + 1
BEST = "best/1/bin"
NAN = "return x[0] < {} ? not_a_number() : x[0] * x[0] + x[1] * x[1];"


def new_batch(algorithm: Any) -> Any:
    return choose_device("cpu")[0].batch(new_spec(algorithm, get_problem("sphere", dim=2), 2, 9))


def same(cpu: Minimizer, gpu: Minimizer) -> bool:
    return (
        np.array_equal(cpu.population_, gpu.population_)
        and np.array_equal(cpu.fitness_, gpu.fitness_, equal_nan=True)
        and np.array_equal(cpu.history_.best, gpu.history_.best)
        and [(run.n_iter, run.message) for run in cpu.runs_] == [(run.n_iter, run.message) for run in gpu.runs_]
    )


def fitted(device: str, algorithm: Any, function: Any = "rastrigin", **given: Any) -> Minimizer:
    parameters = {"max_iter": 12, "random_state": 5, "device": device} | given
    fit = {"dim": 2} if isinstance(function, str) else {}
    return Minimizer(algorithm, **parameters).fit(function, **fit)


def test_only_large_populations_have_words() -> None:
    assert new_batch(DE(pop_size=LARGE)).host("best_words").shape == (2, CONSTANTS["BEST_WORDS"])
    assert new_batch(DE(pop_size=LARGE - 1)).host("best_words").shape == (2, 0)


def test_ranked_populations_have_no_stage_for_their_best() -> None:
    assert new_batch(DE(pop_size=LARGE)).stages == 1
    assert new_batch(JADE(pop_size=LARGE)).stages == 6  # of sorting


def test_launches_begin_without_words() -> None:
    """Words of an earlier launch are those of other generations, also on both sides of a game."""
    cleared: list[tuple[str, str]] = []

    def batch_of(name: str, **more: Any) -> Any:
        block = SimpleNamespace(clear=lambda array: cleared.append((name, array)))
        return SimpleNamespace(started=True, block=block, record=None, **more)

    engine: Any = SimpleNamespace(device_context=nullcontext())
    engine._prepare_launch = lambda batch: CudaEngine._prepare_launch(engine, batch)
    engine._prepare_launch(batch_of("batch"))
    assert cleared == [("batch", "arrivals"), ("batch", "best_words")]
    game = batch_of("game", x=batch_of("x"), y=batch_of("y"), fields=[None], program=lambda *_: None)
    CudaEngine.cycles(engine, game, 5)
    assert {("x", "best_words"), ("y", "best_words"), ("game", "arrivals")} <= set(cleared)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("size", [LARGE, 3 * LARGE, 40_000])
@pytest.mark.parametrize("algorithm", [DE(), DE(strategy=BEST), PSO(), SADE(), JADE()], ids=str)
def test_history_and_points_are_those_of_the_cpu(algorithm: Any, size: int, dtype: str) -> None:
    algorithm.pop_size = size
    cpu, gpu = (fitted(device, algorithm, dtype=dtype, n_runs=2) for device in ("cpu", "cuda"))
    assert same(cpu, gpu)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("algorithm", [DE(pop_size=LARGE), PSO(pop_size=LARGE)], ids=str)
def test_rules_end_runs_as_on_the_cpu(algorithm: Any, dtype: str) -> None:
    for rule in ({"target": 0.1}, {"stagnation": 2}):
        cpu, gpu = (fitted(d, algorithm, dtype=dtype, n_runs=3, **{"max_iter": 60, **rule}) for d in ("cpu", "cuda"))
        assert cpu.n_iter_ < 60
        assert same(cpu, gpu)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("least", [0.5, 0.999])
def test_values_that_are_not_numbers(least: float, dtype: str) -> None:
    function = DeviceObjective(NAN.format(least))
    box = {"bounds": [(-1.0, 1.0)] * 2}
    for algorithm in (DE(pop_size=LARGE, strategy=BEST), PSO(pop_size=LARGE), DE(pop_size=LARGE)):
        cpu, gpu = (fitted(device, algorithm, function, dtype=dtype, **box) for device in ("cpu", "cuda"))
        assert same(cpu, gpu)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("algorithm", [DE(pop_size=LARGE, strategy=BEST), PSO(pop_size=LARGE)], ids=str)
def test_the_next_launch_finds_the_best(algorithm: Any, dtype: str) -> None:
    """Words are those of one launch, and migrants come between generations."""
    whole = fitted("cpu", algorithm, dtype=dtype)
    parts = fitted("cuda", algorithm, dtype=dtype, max_iter=4)
    for last in (5, 8, 12):
        parts.set_params(max_iter=last).resume()
    assert same(whole, parts)
    islands = {"dtype": dtype, "n_islands": 2, "migration": Migration(every=3)}
    cpu, gpu = (fitted(device, algorithm, **islands) for device in ("cpu", "cuda"))
    assert same(cpu, gpu)
