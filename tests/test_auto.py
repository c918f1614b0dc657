"""algorithm="auto": the rule, what ran, and the promises of every algorithm."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.optimize

from skde import ARRDE, CMAES, JDE, JSO, LSHADE, RDEX, SHADE, Integer, Minimizer, minimize, scipy_method
from skde.algorithms import Algorithm
from skde.algorithms.auto import BY_BUDGET, DefaultPolish, FitProperties, rule
from skde.algorithms.sequence import AlgorithmSequence
from skde.benchmark.optimizers import get_optimizer
from skde.cli.main import main

from .short_fits import BOX, f


def fit(objective: Any = f, **parameters: Any) -> Minimizer:
    given = {"max_evals": 600, "random_state": 0, "device": "cpu", **parameters}
    fitted = {"bounds": given.pop("bounds", BOX), "x0": given.pop("x0", None)}
    return Minimizer("auto", **given).fit(objective, **fitted)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (FitProperties(2, 200), JSO.published(pop_size=10)),
        (FitProperties(5, 500), CMAES(pop_size=8)),
        (FitProperties(10, 3000), CMAES(pop_size=10)),
        (FitProperties(1, 301), RDEX(pop_size=36, pop_min=5, perturbation_rate=0.2)),
        (FitProperties(2, 601), RDEX(pop_size=36, pop_min=10, perturbation_rate=0.2)),
        (FitProperties(10, 3001), RDEX(pop_size=120, pop_min=25, perturbation_rate=0.2)),
        (FitProperties(10, 15_001), RDEX(pop_size=180, pop_min=25, perturbation_rate=0.2)),
        (FitProperties(15, 22_500), RDEX(pop_size=180, pop_min=25, perturbation_rate=0.2)),
        (FitProperties(16, 4801), RDEX(pop_size=128, pop_min=32, perturbation_rate=0.2)),
        (FitProperties(30, 90_000), RDEX(pop_size=540, pop_min=25, perturbation_rate=0.2)),
        (FitProperties(31, 9300), CMAES(pop_size=14)),
        (FitProperties(31, 9301), ARRDE(pop_size=116)),
        (FitProperties(31, 46_500), ARRDE(pop_size=293)),
        (FitProperties(31, 46_501), CMAES(pop_size=14)),
        (FitProperties(31, 93_000), CMAES(pop_size=14)),
        (FitProperties(240, 240_000), ARRDE(pop_size=1861)),
        (FitProperties(5000, 7_500_000), ARRDE(pop_size=2000)),
        (FitProperties(10**7, 10**9), CMAES(pop_size=8)),
        (FitProperties(7, 21_001, one_search=True), ARRDE(pop_size=89)),
        (FitProperties(8, 24_001, 50), ARRDE(pop_size=102)),
        (FitProperties(9, 90_000, n_start=3601), ARRDE(pop_size=3601)),
        (FitProperties(15, 150_000, n_start=6001), RDEX(pop_size=6001, pop_min=25, perturbation_rate=0.2)),
        (FitProperties(16, 160_000, one_search=True), RDEX(pop_size=288)),
        (FitProperties(10, None, 50), RDEX(pop_size=200)),
        (FitProperties(2, None, 50), RDEX(pop_size=200)),
        (FitProperties(10, 3000, 50), CMAES(pop_size=10)),
        (FitProperties(10), SHADE(pop_size=50)),
        (FitProperties(10, 30), CMAES(pop_size=8)),
        (FitProperties(10, 5), CMAES(pop_size=5)),
        (FitProperties(10, 3000, n_start=33), CMAES(pop_size=33)),
    ],
)
def test_the_rule(given: FitProperties, expected: Any) -> None:
    assert repr(rule(given)[0]) == repr(expected)


@pytest.mark.parametrize(
    ("given", "first", "second", "evals"),
    [
        (FitProperties(2, 20_000), 6, ARRDE(pop_size=37), (2000, 18_000)),
        (FitProperties(9, 90_000), 10, ARRDE(pop_size=170), (9000, 81_000)),
        (FitProperties(10, 30_001), 10, RDEX(pop_size=250, pop_min=25, perturbation_rate=0.2), (3000, 27_001)),
        (FitProperties(15, 150_000), 12, RDEX(pop_size=375, pop_min=25, perturbation_rate=0.2), (15_000, 135_000)),
        (FitProperties(16, 160_000, n_islands=3), 12, RDEX(pop_size=288), (48_000, 432_000)),
        (FitProperties(20, 200_000), 12, RDEX(pop_size=360), (20_000, 180_000)),
        (FitProperties(30, 300_000), 14, RDEX(pop_size=540), (45_000, 255_000)),
        (FitProperties(50, 500_000), 15, RDEX(pop_size=900), (100_000, 400_000)),
        (FitProperties(1000, 10**7), 24, RDEX(pop_size=10_000), (2_000_000, 8_000_000)),
        (FitProperties(9, 90_000, n_start=200), 200, ARRDE(pop_size=200), (9000, 81_000)),
    ],
)
def test_large_budgets_have_two_searches(given: FitProperties, first: int, second: Any, evals: tuple[int, int]) -> None:
    sequence = rule(given).algorithm
    assert isinstance(sequence, AlgorithmSequence)
    assert repr(sequence.algorithms[0]) == repr(CMAES(pop_size=first, tol_fun=0.0))
    assert repr(sequence.algorithms[1]) == repr(second)
    assert (sequence.evals, sequence.spent) == (evals, ())


@pytest.mark.parametrize("special", ["constrained", "discrete"])
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (FitProperties(5, 500), JSO.published(pop_size=20)),
        (FitProperties(10, 3000), LSHADE.published(pop_size=20)),
        (FitProperties(2, 2000), JSO.published(pop_size=20)),
        (FitProperties(10, 3001), LSHADE.published(pop_size=50)),
        (FitProperties(20, 6001), LSHADE.published(pop_size=100)),
        (FitProperties(20, 200_000), JSO.published()),
        (FitProperties(10, None, 50), JSO.published(pop_size=200)),
    ],
)
def test_constraints_and_discrete_variables_have_a_table(given: FitProperties, expected: Any, special: str) -> None:
    algorithm, polish_evals, reason = rule(given._replace(**{special: True}, polish=DefaultPolish(60, 60)))
    assert polish_evals == 0
    assert isinstance(algorithm, Algorithm)
    size = expected.pop_size or algorithm.pop_size
    assert repr(algorithm) == repr(expected.__class__(**{**expected.get_params(), "pop_size": size}))
    assert ("variables" if special == "discrete" else "constraints") in reason


def test_every_fit_has_a_row() -> None:
    for dim in (1, 2, 3, 4, 7, 8, 30, 1000, 10**5):
        for max_evals in (4, 10, 100, 300 * dim, 3000 * dim, 10**9):
            if max_evals < 10**9 or dim < 1000:
                algorithm, _, reason = rule(FitProperties(dim, max_evals))
                for one in sequence_parts(algorithm):
                    assert 4 <= one.pop_size <= max(max_evals, 4)
                assert reason
    assert BY_BUDGET[-1].evals_per_dim == BY_BUDGET[-1].most_dim == float("inf")


def sequence_parts(chosen: Algorithm | AlgorithmSequence) -> list[Algorithm]:
    return [*chosen.algorithms] if isinstance(chosen, AlgorithmSequence) else [chosen]


def test_what_ran_is_an_attribute() -> None:
    m = fit(max_evals=600)
    assert repr(m.algorithm_) == repr(JSO.published(pop_size=10))
    assert m.algorithm == "auto"
    named = Minimizer(m.algorithm_, polish="quasi-Newton", max_evals=600, random_state=0, device="cpu")
    assert np.array_equal(m.x_, named.fit(f, bounds=BOX).x_)
    assert repr(Minimizer("jde", max_iter=1).fit("sphere", dim=2).algorithm_) == repr(JDE())
    several = [JDE(), JDE(F=0.5)]
    assert Minimizer(several, n_runs=2, max_iter=1).fit("sphere", dim=2).algorithm_ == several


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"max_evals": 30_000}, "cmaes, arrde"),
        ({"max_evals": None, "max_time": 0.05, "n_islands": 2}, "shade"),
        ({"max_evals": None, "polish": False}, "cmaes, arrde"),
    ],
)
def test_budgets(given: dict[str, Any], name: str) -> None:
    assert fit(**given).algorithm_.name == name


def test_the_polish_leaves_less_to_the_rule() -> None:
    assert fit(max_evals=990, polish=True).algorithm_.pop_size == 10
    assert fit(max_evals=990).algorithm_.pop_size == 36


def test_the_budget_of_islands_is_that_of_one() -> None:
    assert fit(max_evals=1200, n_islands=2).algorithm_.pop_size == 10


def test_first_points_have_room() -> None:
    x0 = np.random.default_rng(0).uniform(-5, 5, (40, 3))
    m = Minimizer("auto", max_evals=600, random_state=0, device="cpu").fit(f, bounds=BOX, x0=x0)
    assert m.algorithm_.pop_size == 40
    with pytest.raises(ValueError, match="x0"):
        Minimizer("auto", max_evals=600).fit(f, bounds=BOX, x0=[1.0, [2.0]])


def test_the_reason_names_the_budget_of_an_island(capsys: pytest.CaptureFixture[str]) -> None:
    fit(max_evals=20_000, n_islands=2, verbose=1, bounds=[(-5.0, 5.0)] * 4)
    assert "2500 evaluations of an island for each of 4 variables" in capsys.readouterr().out


def test_verbose_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    fit(verbose=1)
    said = capsys.readouterr().out
    assert (
        "skde: algorithm='auto' chose JSO(pop_size=10, repair='midpoint'), then quasi-Newton for at most 90: " in said
    )
    assert ": 200 evaluations for each of 3 variables" in said


def test_a_run_in_a_batch_is_the_run_alone() -> None:
    batch = fit(n_runs=3)
    for run in batch.runs_:
        assert np.array_equal(fit(random_state=run.seed).x_, run.x)


def test_ask_and_tell_equal_fit() -> None:
    m = Minimizer("auto", bounds=BOX, max_evals=600, random_state=0, device="cpu")
    while not m.stopped_:
        X = m.ask()
        m.tell(X, f(X))
    assert np.array_equal(m.x_, fit().x_)


def test_files_pickles_and_resume(tmp_path: Path) -> None:
    whole = fit(max_evals=None, max_iter=30)
    m = fit(max_evals=None, max_iter=30, callbacks=lambda progress: progress.n_iter == 10)
    assert m.n_iter_ == 10
    m.set_params(callbacks=None).save(tmp_path / "fit.skde")
    loaded = Minimizer.load(tmp_path / "fit.skde")
    pickled = pickle.loads(pickle.dumps(m))
    for other in (m, loaded, pickled):
        assert other.algorithm == "auto"
        assert repr(other.algorithm_) == repr(whole.algorithm_)
        assert np.array_equal(other.resume(f).x_, whole.x_)
    loaded.save(tmp_path / "again.skde")
    assert Minimizer.load(tmp_path / "again.skde").algorithm == "auto"


def test_resume_to_a_larger_budget_keeps_the_choice() -> None:
    m = fit()
    before = repr(m.algorithm_)
    m.set_params(max_evals=60_000).resume()
    assert repr(m.algorithm_) == before
    assert m.n_evals_ > 59_000


def test_typed_variables() -> None:
    m = fit(lambda X: (X[:, 0] - 4) ** 2 + X[:, 1] ** 2, bounds={"n": Integer(1, 9), "x": (-1.0, 2.0)})
    assert m.params_["n"] == 4


def test_its_parameters_are_those_of_what_ran() -> None:
    with pytest.raises(ValueError, match="algorithm__F needs a parameter object"):
        Minimizer("auto").set_params(algorithm__F=0.3)
    with pytest.raises(ValueError, match=r"algorithm must be one of 'auto', 'de', .*; got 'aut'; did you mean 'auto'"):
        Minimizer("aut").fit("sphere", dim=2)


def test_minimize() -> None:
    assert minimize(f, BOX, method="auto", max_evals=600, random_state=0, device="cpu").fun == fit().fun_


def test_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["minimize", "sphere", "--dim", "2", "--max-evals", "200", "--algorithm", "auto"]
    assert main([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["automatic"]
    assert (found["algorithm"]["name"], found["algorithm"]["parameters"]["pop_size"]) == ("jso", 10)
    assert main(command) == 0
    assert "JSO(pop_size=10, repair='midpoint'), chosen by dimension and budget" in capsys.readouterr().out
    assert main([*command, "--set", "F=0.3"]) == 2
    assert "--set F needs the algorithm's name" in capsys.readouterr().err


def test_benchmarks() -> None:
    assert get_optimizer("auto").text == "auto"
    with pytest.raises(ValueError, match="algorithm='auto' has no parameters, got 'F'"):
        get_optimizer("auto", F=0.3)


@pytest.mark.gpu
def test_a_gpu_has_the_same_bits() -> None:
    host, device = (Minimizer("auto", max_evals=3000, random_state=0, device=one) for one in ("cpu", "cuda"))
    assert np.array_equal(host.fit("rastrigin", dim=5).x_, device.fit("rastrigin", dim=5).x_)


def test_it_is_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    expected = fit().x_
    given: dict[str, Any] = {"max_evals": 600, "random_state": 0, "device": "cpu"}
    assert np.array_equal(Minimizer(**given).fit(f, bounds=BOX).x_, expected)
    assert np.array_equal(minimize(f, BOX, **given).x, expected)
    assert main(["minimize", "sphere", "--dim", "2", "--max-evals", "200", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["automatic"]
    by_scipy = scipy.optimize.minimize(
        lambda x: float(f(x[None])[0]), [1.0] * 3, method=scipy_method(**given), bounds=BOX
    )
    assert by_scipy.fun == fit(x0=[1.0] * 3).fun_
