"""Targets: algorithms of skde, estimators, programs, and the instances that each of them refuses."""

from __future__ import annotations

import math
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from scipy.sparse import csr_matrix
from sklearn.datasets import load_iris, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from skde import DE, JDE, Minimizer, get_problem
from skde.tuning import RacingTuner
from skde.tuning.targets import base as target_module
from skde.tuning.targets.base import TargetJob, TargetLimits
from skde.tuning.targets.conversion import as_target
from skde.tuning.targets.cost_targets import check_cost, seeds_of

SECOND = TargetLimits(1.0)
posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows ends the program alone")
PROGRAM = [sys.executable, str(Path(__file__).parent / "program.py")]


def target(what: Any, limits: TargetLimits = SECOND, n_jobs: int | None = 1) -> Any:
    return as_target(what, limits, n_jobs, "cpu")


def job(params: dict[str, Any], instance: Any = "i1", seed: int = 7, index: int = 0) -> TargetJob:
    return TargetJob(0, params, index, instance, seed)


# -- algorithms of skde ------------------------------------------------------------------------------------------------

SPHERE = get_problem("sphere", dim=5)


def test_a_batch_is_its_runs_alone() -> None:
    found = target("de", TargetLimits(1.0, 2000))
    params = [
        {"F": 0.5, "pop_size": 20},
        {"F": 0.7, "pop_size": 33, "strategy": "best/1/exp"},
        {"opposition": 0.2},
        {"F": 0.6},
    ]
    jobs = [job(p, instance, seed) for instance, seed in ((SPHERE, 3), ("levy", 4)) for p in params]
    together = [outcome.cost for outcome in found.run(jobs)]
    alone = [next(iter(found.run([one]))).cost for one in jobs]
    assert together == alone
    m = Minimizer(DE(F=0.7, pop_size=33, strategy="best/1/exp"), max_evals=2000, random_state=3).fit(SPHERE)
    assert together[1] == m.fun_


def test_an_outcome_has_seconds_and_evaluations() -> None:
    (outcome,) = target("jde", TargetLimits(1.0, 1050)).run([job({"pop_size": 20}, SPHERE)])
    assert outcome.n_evals == 1040
    assert 0 < outcome.seconds < 1


def test_a_limit_of_seconds_is_kept() -> None:
    outcomes = list(target("de", TargetLimits(0.1)).run([job({}, SPHERE), job({"F": 0.6}, SPHERE)]))
    assert all(0.1 <= outcome.seconds < 0.6 for outcome in outcomes)
    assert all(outcome.n_evals > 1000 for outcome in outcomes)


def test_costs_are_above_the_minimum() -> None:
    problem = get_problem("qin2012/F1", dim=5)
    (outcome,) = target("jde", TargetLimits(1.0, 20_000)).run([job({}, problem)])
    assert problem.f_opt != 0 or outcome.cost >= 0
    assert outcome.cost == pytest.approx(0, abs=1e-3)


def test_one_bad_configuration_does_not_spoil_a_batch() -> None:
    params = [{"F": 0.5}, {"F": 7.0}, {"pop_size": 5000}, {"strategy": "worst/1"}, {"nonsense": 1}, {"F": 0.5}]
    outcomes = list(target("de", TargetLimits(1.0, 2000)).run([job(p, SPHERE) for p in params]))
    assert [outcome.error is None for outcome in outcomes] == [True, False, False, False, False, True]
    assert outcomes[0].cost == outcomes[5].cost
    for outcome, message in zip(outcomes[1:5], ("DE.F", "max_evals", "strategy", "nonsense"), strict=True):
        assert outcome.cost == math.inf
        assert message in str(outcome.error)


def test_python_functions_are_instances_too() -> None:
    def bowl(X: np.ndarray) -> np.ndarray:
        return (X**2).sum(axis=1)

    def broken(X: np.ndarray) -> np.ndarray:
        raise OSError("gone")

    found = target("de", TargetLimits(1.0, 3000))
    functions = [bowl, broken, lambda X: np.full(len(X), np.nan)]
    good, bad, nan = found.run([job({}, (f, [(-1, 1)] * 3), index=i) for i, f in enumerate(functions)])
    assert good.cost < 0.1
    assert str(bad.error).startswith("OSError: gone; skde called the objective before the fit with one point")
    assert "(5, 3)" in str(bad.error)
    assert nan.error == "ValueError: the best value is nan"


def test_constrained_problems_are_instances_too() -> None:
    """A point that violates the constraints has an infinite cost, however low its value."""
    few, many = (target("jde", TargetLimits(1.0, evals)) for evals in (60, 20_000))
    few.check(["fabris2012/p4", get_problem("fabris2012/p5")])
    (infeasible,) = few.run([job({"pop_size": 20}, "fabris2012/p5")])
    assert infeasible.cost == math.inf
    assert "No feasible point was found" in str(infeasible.error)
    (feasible,) = many.run([job({"pop_size": 20}, "fabris2012/p4")])
    assert feasible.cost == pytest.approx(0, abs=5)


def test_instances_may_be_drawn_by_the_seed() -> None:
    seeds = []

    def ball(seed: int) -> tuple[Any, Any]:
        seeds.append(seed)
        centre = np.random.default_rng(seed).uniform(-1, 1, 2)
        return (lambda X: ((X - centre) ** 2).sum(axis=1) + seed), [(-2.0, 2.0)] * 2

    found = target("de", TargetLimits(1.0, 2000))
    found.check([ball])
    assert seeds == [0]
    jobs = [job({"pop_size": size}, ball, seed) for seed in (3, 4) for size in (20, 30)]
    assert [outcome.cost for outcome in found.run(jobs)] == pytest.approx([3.0, 3.0, 4.0, 4.0], abs=1e-6)
    assert seeds == [0, 3, 4]  # the configurations of a step have the same
    # A compiled one runs in batches as if it had been given itself.
    (drawn,) = found.run([job({}, lambda seed: get_problem("sphere", dim=seed), 5)])
    (given,) = found.run([job({}, SPHERE, 5)])
    assert drawn.cost == given.cost


def test_tuning_an_algorithm() -> None:
    """Rosenbrock and others in five variables; what comes out is better than the start on shifted problems."""
    problems = [get_problem(f"nashed2012/f{i}", dim=5) for i in (0, 4, 9, 12)]
    start = DE(F=0.9, CR=0.1, pop_size=200, strategy="rand/1/bin")
    tuner = RacingTuner(None, problems, max_experiments=300, run_max_evals=2000, random_state=0).fit(start)
    best = tuner.best_estimator_
    assert isinstance(best, DE)
    assert best.get_params() == {**start.get_params(), **tuner.best_params_}
    assert tuner.study_.trials[0].params["F"] == 0.9
    for problem in (get_problem("qin2012/F1", dim=5), get_problem("ackley", dim=5)):
        found = [
            np.median([run.fun for run in Minimizer(a, max_evals=2000, n_runs=9, random_state=1).fit(problem).runs_])
            for a in (best, start)
        ]
        assert found[0] < found[1]


def test_threads_change_nothing() -> None:
    first, second = (
        RacingTuner(None, ["sphere", "levy"], max_experiments=150, run_max_evals=600, random_state=0, n_jobs=n)
        .fit("pso")
        .races_
        for n in (1, 2)
    )
    assert first == second


@pytest.mark.parametrize(
    "instances", [["sphere", 3], ["sphere", DE()], ["sphere", (1, 2, 3)], ["sphere", lambda seed: 3]]
)
def test_instances_that_are_not_objectives(instances: list[Any]) -> None:
    with pytest.raises(ValueError, match=r"instances\[1\] must be a problem"):
        RacingTuner(None, instances, max_experiments=300).fit("de")


def test_unknown_problems() -> None:
    with pytest.raises(ValueError, match="did you mean 'sphere'"):
        RacingTuner(None, ["sphere", "spere"], max_experiments=300).fit(JDE())
    with pytest.raises(
        TypeError, match=r"instances\[0\] must be .* give a list of one pair, \[\(objective, bounds\)\]"
    ):
        RacingTuner(None, (lambda X: X.sum(axis=1), [(-1, 1)] * 2), max_experiments=300).fit("de")


# -- estimators --------------------------------------------------------------------------------------------------------

DATA = [load_iris(), load_wine(return_X_y=True)]


def test_an_estimators_cost() -> None:
    found = target(SVC(kernel="rbf"))
    good, same, bad, wrong = found.run([job({"C": c}, DATA[0]) for c in (1.0, 1.0, 1e-6)] + [job({"C": -1.0}, DATA[0])])
    assert good.cost == same.cost < 0.15
    assert bad.cost > 0.5
    assert wrong.cost == math.inf
    assert "C" in str(wrong.error)


def test_seeds_split_and_reach_the_estimator() -> None:
    found = target(DecisionTreeClassifier(max_features=1))
    outcomes = [outcome.cost for outcome in found.run([job({}, DATA[1], seed) for seed in (1, 1, 2, 3, 4, 5)])]
    assert outcomes[0] == outcomes[1]
    assert len(set(outcomes)) > 2


def test_regressors() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    (outcome,) = target(Ridge()).run([job({"alpha": 0.1}, (X, X @ [1, 2, 3]))])
    assert outcome.cost == pytest.approx(0, abs=1e-3)


def test_tuning_an_estimator() -> None:
    space = {"C": FloatDistribution(1e-6, 1e3, log=True), "gamma": FloatDistribution(1e-5, 1e2, log=True)}
    tuner = RacingTuner(space, DATA, max_experiments=150, random_state=0).fit(SVC())
    best = tuner.best_estimator_
    assert isinstance(best, SVC)
    assert tuner.best_params_["C"] == best.C
    X, y = DATA[0].data, DATA[0].target
    assert best.fit(X, y).score(X, y) > 0.9


def test_seeds_reach_the_estimators_in_an_estimator() -> None:
    found = target(make_pipeline(StandardScaler(), RandomForestClassifier(n_estimators=5, max_features=1)))
    first, second = ([outcome.cost for outcome in found.run([job({}, DATA[1], i) for i in range(8)])] for _ in range(2))
    assert first == second


def test_every_nested_estimator_has_another_seed() -> None:
    forest = RandomForestClassifier()
    pipeline = make_pipeline(SelectFromModel(RandomForestClassifier()), forest)
    seeds = seeds_of(pipeline, 7)
    assert set(seeds) == {"selectfrommodel__estimator__random_state", "randomforestclassifier__random_state"}
    assert len(set(seeds.values())) == 2
    assert seeds == seeds_of(pipeline, 7) != seeds_of(pipeline, 8)
    assert seeds_of(forest, 7) == {"random_state": 7}


def test_sparse_data() -> None:
    X, y = DATA[1]
    found = target(DecisionTreeClassifier())
    found.check([(csr_matrix(X), y)])
    with pytest.raises(ValueError, match=r"instances\[0\] must be a data set"):
        found.check([(csr_matrix(X), y[1:])])
    (outcome,) = found.run([job({}, (csr_matrix(X), y))])
    assert outcome.cost < 0.4


def test_an_estimators_description_has_no_addresses() -> None:
    first, second = (
        target(make_pipeline(FunctionTransformer(lambda X: X), DecisionTreeClassifier(max_depth=3))).describe()
        for _ in range(2)
    )
    assert first == second
    assert "0x" not in first
    assert "max_depth=3" in first


@pytest.mark.parametrize("instance", [3, "iris", (np.zeros((3, 1)), np.zeros(4))])
def test_instances_that_are_not_data_sets(instance: Any) -> None:
    with pytest.raises(ValueError, match=r"instances\[1\] must be a data set"):
        RacingTuner({"C": FloatDistribution(0, 1)}, [DATA[0], instance], max_experiments=300).fit(SVC())


# -- programs ----------------------------------------------------------------------------------------------------------


def test_a_programs_cost() -> None:
    found = target(PROGRAM)
    (outcome,) = found.run([job({"x": 0.25, "mode": "good"})])
    assert outcome.cost == 0.0625
    (outcome,) = target(" ".join(PROGRAM)).run([job({"x": 0.25, "mode": "good"})])
    assert outcome.cost == 0.0625


@pytest.mark.parametrize(
    ("mode", "message"),
    [
        ("fail", "exit status 1 of .*program.py.*: it failed"),
        ("silent", "the last line printed must begin with the cost, got 'no number'"),
        ("hang", r"no end after 0.4 s; killed: .*program.py 1 1 7 i1 --x 0.25 --mode hang"),
    ],
)
def test_programs_that_fail(mode: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target_module, "GRACE_SECONDS", 0.1)
    (outcome,) = target(PROGRAM, TargetLimits(0.1)).run([job({"x": 0.25, "mode": mode})])
    assert outcome.cost == math.inf
    assert outcome.seconds < 10
    assert re.search(message, str(outcome.error))


def script(path: Path) -> tuple[list[str], Path]:
    """Return a program that only waits for another one, and the file in which it notes that one's process."""
    noted = path / "child"
    return ["sh", "-c", f"sleep 41 & echo $! >{noted}.new; mv {noted}.new {noted}; wait; echo 1"], noted


def ended(process: int) -> bool:
    """Whether a process ends soon; an orphan may stay a zombie where no process waits for it."""
    for _ in range(1000):
        try:
            os.kill(process, 0)
            stat = Path(f"/proc/{process}/stat")
            if stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.01)
    os.kill(process, signal.SIGKILL)
    return False


@posix
def test_a_program_that_hangs_takes_its_own_programs_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target_module, "GRACE_SECONDS", 1.0)
    program, noted = script(tmp_path)
    (outcome,) = target(program, TargetLimits(0.1)).run([job({})])
    assert "no end after 1.3 s; killed: sh -c" in str(outcome.error)
    assert outcome.seconds < 10
    assert ended(int(noted.read_text()))


@posix
def test_an_interrupted_program_takes_its_own_programs_with_it(tmp_path: Path) -> None:
    program, noted = script(tmp_path)

    def interrupt() -> None:
        while not noted.exists():
            time.sleep(0.01)
        time.sleep(0.2)  # until the main thread waits for the program that it has just started
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    thread = threading.Thread(target=interrupt, daemon=True)
    begin = time.monotonic()
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        list(target(program).run([job({})]))
    thread.join()
    assert time.monotonic() - begin < 10
    assert ended(int(noted.read_text()))


@posix
@pytest.mark.parametrize("group", [False, True])
def test_an_interruption_ends_workers_with_their_programs(group: bool, tmp_path: Path) -> None:
    """Whether the signal reaches the tuner alone, or as Ctrl-C all processes of the terminal."""
    program = tmp_path / "program.sh"
    program.write_text(f"echo $$ > {tmp_path}/sh-$$; sleep 60 & echo $! > {tmp_path}/sleep-$$; wait\n")
    code = (
        "from optuna.distributions import FloatDistribution\nfrom skde.tuning import RacingTuner\n"
        "tuner = RacingTuner({'x': FloatDistribution(0, 1)}, [1, 2], max_experiments=100, n_jobs=2)\n"
        f"try: tuner.fit(['sh', {str(program)!r}])\nexcept KeyboardInterrupt: print('interrupted')\n"
    )
    command = [sys.executable, "-c", code]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    begin = time.monotonic()
    while len(list(tmp_path.glob("sleep-*"))) < 2 and time.monotonic() - begin < 60:
        time.sleep(0.05)
    time.sleep(0.1)
    (os.killpg if group else os.kill)(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (out, process.returncode) == ("interrupted\n", 0), err
    found = [int(path.read_text()) for path in tmp_path.glob("s*-*")]
    assert len(found) == 4
    assert all(ended(pid) for pid in found)


def test_a_program_that_is_not_there() -> None:
    (outcome,) = target("nowhere/to/be/found --quick").run([job({})])
    assert "cannot run nowhere/to/be/found --quick" in str(outcome.error)
    (outcome,) = target("shde").run([job({})])
    assert "did you mean 'shade'" in str(outcome.error)


def test_tuning_a_program() -> None:
    space = {
        "x": FloatDistribution(0, 1),
        "mode": CategoricalDistribution(["good", "fail", "silent"]),
        "unused": IntDistribution(1, 2),
    }
    tuner = RacingTuner(space, ["i1", "i2"], max_experiments=100, random_state=0, n_jobs=2).fit(PROGRAM)
    assert tuner.best_params_["mode"] == "good"
    assert abs(tuner.best_params_["x"] - 0.5) < 0.2


# -- costs that are no numbers -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cost", "error"),
    [
        (math.inf, "the cost is inf"),
        (-math.inf, "ValueError: the cost is -inf; take the logarithm of max(error, 1e-12), say"),
        (math.nan, "ValueError: the cost is NaN"),
    ],
)
def test_costs_that_are_not_finite(cost: float, error: str) -> None:
    program = [sys.executable, "-c", f"print('{cost}')"]
    for what in (lambda config, instance, seed: cost, program):
        (outcome,) = target(what).run([job({})])
        assert (outcome.cost, outcome.error) == (math.inf, error)


@pytest.mark.parametrize("best", [math.inf, -math.inf])
def test_a_best_value_that_is_not_finite(best: float) -> None:
    objective = (lambda x: np.full(len(x), best), [(-1.0, 1.0)] * 2)
    (outcome,) = as_target("de", TargetLimits(None, 200), 1, "cpu").run([job({"pop_size": 10}, objective)])
    assert outcome.cost == math.inf
    assert outcome.error == f"ValueError: the best value is {best}"


def test_why_all_configurations_failed() -> None:
    tuner = RacingTuner({"x": FloatDistribution(0, 1)}, ["i1", "i2"], max_experiments=100, random_state=0)
    with pytest.raises(RuntimeError, match=r"in all: the cost is inf$"):
        tuner.fit(lambda config, instance, seed: math.inf)


# -- refusals ----------------------------------------------------------------------------------------------------------


def test_a_command_line_with_an_open_quote() -> None:
    with pytest.raises(ValueError, match=r"a command line of whole words, got .program 'x.: No closing quotation"):
        as_target("program 'x", TargetLimits(1.0), 1, "cpu")


@pytest.mark.parametrize("what", [3, None, [], ["a", 3], ""])
def test_values_that_are_not_targets(what: Any) -> None:
    with pytest.raises(TypeError, match="the target must be an algorithm of skde"):
        target(what)


def test_functions_that_cannot_take_an_experiment() -> None:
    for function in (lambda config: 1.0, lambda config, instance: 1.0, lambda: 1.0):
        with pytest.raises(TypeError, match=r"three arguments, f\(config, instance, seed\), .* with \("):
            target(function)
    assert target(lambda config, *rest: 1.0)
    assert target(max)


@pytest.mark.parametrize("cost", [None, "fast", 1j, np.array(None)])
def test_costs_that_are_no_numbers(cost: Any) -> None:
    with pytest.raises(TypeError, match=r"the target must return one number as the cost, got .* \(\w+\)$"):
        check_cost(cost)


def test_errors_that_only_rounding_tells_apart_are_equal() -> None:
    def costs(evals: int) -> list[float]:
        jobs = [
            TargetJob(number, {"pop_size": size}, 0, get_problem("sphere", dim=5), 3)
            for number, size in ((0, 20), (1, 30))
        ]
        return [outcome.cost for outcome in as_target("jde", TargetLimits(None, evals), 1, "cpu").run(jobs)]

    assert costs(40_000) == [0.0, 0.0]
    assert min(costs(600)) > 0


# -- costs -------------------------------------------------------------------------------------------------------------


ONE_NUMBER: list[Any] = [
    lambda cost: np.array([cost]),
    np.array,
    lambda cost: np.array([[cost]]),
    np.float32,
    lambda cost: [cost],
    lambda cost: (np.array([cost]),),
    lambda cost: int(1000 * cost),
    lambda cost: pd.Series([cost]),
    lambda cost: pd.DataFrame({"cost": [cost]}),
]


@pytest.mark.parametrize("form", ONE_NUMBER)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_cost_may_be_an_array_of_one(form: Any, n_jobs: int) -> None:
    found = target(lambda config, instance, seed: form(config["x"] ** 2), n_jobs=n_jobs)
    outcomes = list(found.run([job({"x": x}) for x in (0.5, 2.0)]))
    assert all(outcome.error is None for outcome in outcomes)
    assert [outcome.cost for outcome in outcomes] in ([0.25, 4.0], [250.0, 4000.0])


def test_a_tuning_with_arrays_of_one() -> None:
    tuner = RacingTuner({"x": FloatDistribution(-1, 1)}, [1.0, 2.0], max_experiments=200, random_state=0)
    tuner.fit(lambda config, instance, seed: np.array([instance * abs(config["x"] - 0.5)]))
    assert not any(race["rejected"] for race in tuner.races_)
    assert abs(tuner.best_params_["x"] - 0.5) < 0.2


@pytest.mark.parametrize(
    ("cost", "shape"),
    [(np.zeros(2), r"\(2,\)"), ([], r"\(0,\)"), ([1.0, 2.0], r"\(2,\)"), (np.zeros((1, 3)), r"\(1, 3\)")],
)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_several_costs_end_a_tuning(cost: Any, shape: str, n_jobs: int) -> None:
    tuner = RacingTuner({"x": FloatDistribution(-1, 1)}, [1.0, 2.0], max_experiments=200, n_jobs=n_jobs)
    with pytest.raises(TypeError, match=f"must return one number as the cost, .* got shape {shape}"):
        tuner.fit(lambda config, instance, seed: cost)
