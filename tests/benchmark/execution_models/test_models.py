"""The execution models: the same bits, and errors that name the model, the device and the algorithm's objective."""

from __future__ import annotations

from typing import Any

import pytest
from scipy.optimize import LinearConstraint
from sklearn.base import clone

from skde import DE, GODE, GOJDE, JADE, JDE, DeviceObjective, Migration, Minimizer
from skde.algorithms import ALGORITHMS
from skde.algorithms.de import strategies
from skde.benchmark.execution_models import EXECUTION_MODELS, ModelMinimizer
from skde.engines import CpuEngine
from skde.utils.serialization import load, save

FAST = ("naive", "kernels", "fused", "persistent")
GPU = (*FAST, "fpde")


def make(algorithm: Any = "jde", model: str | None = None, **parameters: Any) -> Minimizer:
    """Return a short fit's minimizer, that of a model or a plain one."""
    given: dict[str, Any] = {"max_iter": 60, "random_state": 3, **parameters}
    return Minimizer(algorithm, **given) if model is None else ModelMinimizer.with_model(model, algorithm, **given)


def results(m: Minimizer) -> str:
    """Return all that a fit ended with, as text."""
    runs = [
        (run.x.tolist(), run.fun, run.n_evals, run.n_iter, run.status, run.history.best.tolist()) for run in m.runs_
    ]
    return repr([runs, m.population_.tolist(), m.fitness_.tolist()])


@pytest.mark.parametrize("algorithm", ["de", "jso", "ss"])
def test_serial_and_threads_have_the_bits_of_run(algorithm: str) -> None:
    run = results(make(algorithm, n_runs=2, device="cpu").fit("rotated_rastrigin", dim=7))
    for model, n_jobs in (("serial", None), ("serial", 1), ("threads", 2)):
        assert results(make(algorithm, model, n_runs=2, n_jobs=n_jobs).fit("rotated_rastrigin", dim=7)) == run


def test_threads_evaluate_and_the_first_of_them_selects(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[str, int]] = []
    for name in ("propose", "evaluate", "accept", "run"):
        plain = getattr(CpuEngine, name)

        def noted(self: Any, *arguments: Any, name: str = name, plain: Any = plain) -> Any:
            calls.append((name, self.threads))
            return plain(self, *arguments)

        monkeypatch.setattr(CpuEngine, name, noted)
    make(max_iter=1, model="threads", n_jobs=2).fit("sphere", dim=3)
    assert calls == [(name, 2) for name in ("propose", "evaluate", "accept") * 2] + [("propose", 2)]
    calls.clear()
    make(max_iter=1, model="serial", device="auto").fit("sphere", dim=3)
    assert set(calls) == {("run", 1)}


@pytest.mark.parametrize("model", GPU)
def test_models_of_a_gpu_say_that_there_is_none(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skde.benchmark.execution_models.minimizer.find_gpus", lambda: (0, "CuPy is not installed"))
    with pytest.raises(RuntimeError, match=rf"model='{model}' needs a GPU, but CuPy is not installed"):
        make(model=model).fit("sphere", dim=3)
    with pytest.raises(ValueError, match=rf"model='{model}' runs on a GPU, got device='cpu'; set device='cuda'"):
        make(model=model, device="cpu").fit("sphere", dim=3)


@pytest.mark.parametrize("model", ["serial", "threads"])
def test_models_of_a_cpu_refuse_a_gpu(model: str) -> None:
    with pytest.raises(ValueError, match=rf"model='{model}' runs on the CPU, got device='cuda:1'"):
        make(model=model, device="cuda:1").fit("sphere", dim=3)


@pytest.mark.parametrize("model", EXECUTION_MODELS)
def test_models_need_one_device_and_a_compiled_objective(model: str) -> None:
    with pytest.raises(ValueError, match=rf"model='{model}' needs one device, got device=\['cpu', 'cpu'\]"):
        make(model=model, device=["cpu", "cpu"], n_runs=2).fit("sphere", dim=3)
    with pytest.raises(ValueError, match=rf"model='{model}' needs a compiled objective"):
        make(model=model).fit(lambda X: (X * X).sum(axis=1), bounds=[(-1.0, 1.0)] * 3)
    with pytest.raises(ValueError, match=rf"model='{model}' needs .* without constraints in Python"):
        make(model=model, constraints=LinearConstraint([1, 1, 1], 0, 1)).fit("sphere", dim=3)


def test_serial_has_one_thread() -> None:
    with pytest.raises(ValueError, match=r"model='serial' has one thread: n_jobs must be None or 1, got 2"):
        make(model="serial", n_jobs=2).fit("sphere", dim=3)


def test_an_unknown_model_is_refused() -> None:
    with pytest.raises(ValueError, match=r"model must be one of 'serial'.*did you mean 'fused'"):
        ModelMinimizer.with_model("fusd")


def test_a_clone_has_the_model() -> None:
    cloned = clone(make(model="threads"))
    assert cloned.model == "threads"
    assert results(cloned.fit("sphere", dim=3)) == results(make(device="cpu").fit("sphere", dim=3))


def test_a_saved_fit_continues_by_another_model(tmp_path: Any) -> None:
    make(model="threads").fit("sphere", dim=3).save(tmp_path / "fit.skde")
    whole = results(make(max_iter=70, device="cpu").fit("sphere", dim=3))
    header, arrays = load(tmp_path / "fit.skde")
    save(tmp_path / "plain.skde", {**header, "solver": "Minimizer"}, arrays)
    assert results(Minimizer.load(tmp_path / "plain.skde").set_params(max_iter=70).resume()) == whole


# -- on a GPU ----------------------------------------------------------------------------------------------------------


def check_models(
    algorithm: Any, problem: Any, fit: dict[str, Any], *, models: tuple[str, ...] = FAST, **parameters: Any
) -> None:
    """Compare models with whole generations on the CPU."""
    expected = results(make(algorithm, device="cpu", **parameters).fit(problem, **fit))
    for model in models:
        found = make(algorithm, model, device="cuda", **parameters).fit(problem, **fit)
        assert results(found) == expected, model


@pytest.mark.gpu
@pytest.mark.parametrize("strategy", strategies())
def test_every_strategy_has_the_same_bits_by_every_model(strategy: str) -> None:
    check_models(DE(strategy, pop_size=37), "rotated_rastrigin", {"dim": 10}, n_runs=2, max_iter=150)
    check_models(JDE(strategy, pop_size=40), "rastrigin", {"dim": 100}, max_iter=150)


@pytest.mark.gpu
@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_every_algorithm_has_the_same_bits_by_every_model(name: str) -> None:
    algorithm = ALGORITHMS[name](**ALGORITHMS[name].get_test_params())
    check_models(algorithm, "ackley", {"dim": 12}, n_runs=3, max_iter=150)


@pytest.mark.gpu
@pytest.mark.parametrize("algorithm", ["de", JDE("current-to-best/1/exp", pop_size=23), "shade"], ids=str)
def test_fpde_has_the_same_bits(algorithm: Any) -> None:
    check_models(algorithm, "rotated_rastrigin", {"dim": 21}, models=("fpde",), n_runs=2, max_iter=150)


@pytest.mark.gpu
@pytest.mark.parametrize(
    "algorithm",
    [GODE(pop_size=10), GODE(pop_size=40), DE("best/1/bin", pop_size=2049), JADE(pop_size=2049)],
    ids=str,
)
def test_fpde_divides_stages_among_parts_of_warps(algorithm: Any) -> None:
    check_models(algorithm, "rastrigin", {"dim": 4}, models=("fpde",), n_runs=2, max_iter=20)


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("algorithm", "problem", "dim", "parameters"),
    [
        (DE(pop_size=50), "rastrigin", 30, {"target": 200.0, "n_runs": 5, "max_iter": 3000}),
        (JDE(pop_size=30), "sphere", 10, {"stagnation": 5, "n_runs": 3, "max_iter": 3000}),
        (GODE(pop_size=30, opposition=0.3), "rastrigin", 10, {"n_runs": 2, "tol": 1e-3, "max_iter": 2000}),
        (GOJDE(pop_size=20), "griewank", 6, {"n_islands": 3, "migration": Migration(every=9), "max_iter": 200}),
        (JDE("best/1/exp", pop_size=5000), "janssen2024/F8", 20, {"max_iter": 12}),
        (DE(pop_size=700), "janssen2024/F5", 50, {"max_iter": 80, "dtype": "float32"}),
        (DE(pop_size=9), "shifted_rosenbrock", 20_011, {"max_iter": 5}),
        ("jso", "rotated_rastrigin", 30, {"max_evals": 30_000, "max_iter": None, "n_runs": 2}),
    ],
    ids=str,
)
def test_rules_islands_and_sizes(algorithm: Any, problem: str, dim: int, parameters: dict[str, Any]) -> None:
    check_models(algorithm, problem, {"dim": dim}, **parameters)


@pytest.mark.gpu
def test_a_device_objective_with_working_memory(objective_with_scratch: DeviceObjective) -> None:
    check_models("de", objective_with_scratch, {"bounds": [(-5.0, 5.0)] * 30}, max_iter=100)
