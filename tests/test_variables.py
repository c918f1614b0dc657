"""Typed variables: their values, in every solver and on every way to evaluate them."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import Bounds, NonlinearConstraint
from sklearn.base import clone

from skde import (
    Categorical,
    ConstrainedProblem,
    DeviceObjective,
    Fixed,
    Integer,
    Log,
    Minimizer,
    Ordinal,
    Real,
    Variables,
    algorithm_names,
    get_problem,
    minimize,
)
from skde.engines import decode
from skde.utils import serialization
from skde.variables import as_variables

SPACE = {
    "n": Integer(1, 20),
    "rate": Log(1e-4, 1.0),
    "t": Ordinal([0.25, 0.5, 0.75, 1.5]),
    "kind": Categorical(["a", "b", None]),
    "z": Fixed(3.0),
    "x": (-1, 1),
}
COSTS = np.array([2.0, 0.0, 1.0])
BODY = """
  const real cost[3] = {2, 0, 1};
  const real n = x[0] - 7, rate = 10 * (x[1] - real(0.25)), t = x[2] - real(0.7), y = x[5] - real(0.25);
  return n * n + rate * rate + t * t + cost[int(x[3])] + y * y + x[4] - 3;
"""


def f(X: Any) -> Any:
    """The function of BODY, which has its minimum 0.0025 at n = 7, rate = 0.25, t = 0.75, kind = b and x = 0.25."""
    n, rate, t, y = X[:, 0] - 7, 10 * (X[:, 1] - 0.25), X[:, 2] - 0.7, X[:, 5] - 0.25
    return n * n + rate * rate + t * t + COSTS[X[:, 3].astype(int)] + y * y + X[:, 4] - 3


def solved(m: Any) -> None:
    assert m.fun_ == pytest.approx(0.0025, abs=0.01)
    p = m.params_
    assert (p["n"], p["t"], p["kind"], p["z"]) == (7, 0.75, "b", 3.0)
    assert type(p["n"]) is int


# -- values ------------------------------------------------------------------------------------------------------------


def test_every_value_of_a_variable_has_an_equal_part() -> None:
    space = Variables([Integer(-2, 2), Ordinal([1, 10, 100]), Categorical(["a", "b", "c"])])
    rng = np.random.default_rng(0)
    low, high = space.box.T
    values = decode(space, low + (high - low) * rng.random((30_000, len(low))))
    for j, allowed in enumerate(([-2, -1, 0, 1, 2], [1, 10, 100], [0, 1, 2])):
        found, counts = np.unique(values[:, j], return_counts=True)
        assert found.tolist() == allowed
        assert counts / len(values) == pytest.approx(1 / len(allowed), abs=0.015)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_bounds_decode_to_values(dtype: str) -> None:
    """Also where the precision rounds a bound of the box."""
    space = Variables([Integer(-3, 4), Integer(2**20 - 1, 2**20), Log(1e-4, 0.3), Ordinal([0.1, 0.2])])
    corners = decode(space, space.box.T.astype(dtype))
    assert corners.dtype == dtype
    limits = space.limits.T.astype(dtype)
    assert (corners[:, [0, 1, 3]] == limits[:, [0, 1, 3]]).all()
    assert np.allclose(corners[:, 2], limits[:, 2], rtol=4 * np.finfo(dtype).eps)
    assert limits[0, 2] <= corners[0, 2]
    assert corners[1, 2] <= limits[1, 2]


def test_halves_are_rounded_to_even_as_by_scipy() -> None:
    x = np.array([[0.5], [1.5], [2.5], [-0.5], [2.4999], [-1.5]])
    assert (decode(Variables([Integer(-5, 5)]), x) == np.round(x)).all()


def test_the_choice_with_the_largest_number_is_taken() -> None:
    space = Variables([Categorical(["a", "b", "c"])])
    assert decode(space, np.array([[0.1, 0.3, 0.2], [0.9, 0.3, 0.2], [0, 0, 1.0]])).ravel().tolist() == [1, 0, 2]


def test_components_of_values_decode_to_them() -> None:
    space = Variables(SPACE)
    params = {"n": 20, "rate": 1e-4, "t": 1.5, "kind": None, "z": 3.0, "x": -1.0}
    x = space.points(params)
    assert x.tolist() == [[20, 1e-4, 1.5, 2, 3, -1]]
    assert np.allclose(decode(space, space.encode(x)), x, rtol=1e-14)
    assert space.params(x[0]) == params


def test_the_integrality_of_scipy() -> None:
    space = Variables.from_integrality([(0.5, 3.7), (0, 1), (1.2, 2.9)], [True, False, True])
    assert space.members == (Integer(1, 3), Real(0, 1), Fixed(2))
    with pytest.raises(ValueError, match=r"bounds\[0\] must have a whole number between its bounds"):
        Variables.from_integrality([(0.2, 0.8)], True)


def test_bounds_that_are_variables() -> None:
    assert as_variables([(0, 1), (2, 3)]) is None
    fixed = as_variables([(0, 1), (2, 2)])
    assert fixed is not None
    assert fixed.members == (Real(0, 1), Fixed(2))
    assert fixed.names == ("x0", "x1")
    assert as_variables(Bounds([0, 2], [1, 2])) == fixed
    named = as_variables([Integer(1, 2, name="n"), (0, 1)])
    assert named is not None
    assert named.names == ("n", "x1")
    assert Variables.from_description(Variables(SPACE).describe()) == Variables(SPACE)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Integer(3, 2), r"Integer must have low <= high, both finite, got \(3.0, 2.0\)"),
        (lambda: Integer(0.5, 3), "Integer.low must be an integer in"),
        (lambda: Integer(0, 2**60), "Integer.high must be an integer in"),
        (lambda: Log(0, 1), "Log.low must be at least 2.23e-308, got 0.0"),
        (lambda: Real(0, np.inf), "Real must have low <= high, both finite"),
        (lambda: Ordinal([1, 1]), r"Ordinal.values must be one or more increasing numbers, got \[1, 1\]"),
        (lambda: Ordinal([]), "Ordinal.values must be one or more"),
        (lambda: Categorical([]), "Categorical.choices must be one or more different ones"),
        (lambda: Categorical(["a", "a"]), "Categorical.choices must be one or more different ones"),
        (lambda: Categorical("ab"), "Categorical.choices must be a list, got 'ab'"),
        (lambda: Categorical([f, "a"]), "Categorical.choices must be text, numbers, bools, None or tuples"),
        (lambda: Categorical([[1, 2], "a"]), r"or tuples of these, got \[1, 2\]; for other objects give their names"),
        (lambda: Categorical([(1, np.int64(2)), (np.int64(1), 2)]), "one or more different ones"),
        (lambda: Fixed("u"), r"Fixed.value must be a number, got 'u'; for other values write Categorical\(\['u'\]\)"),
        (lambda: Fixed(None), r"Fixed.value must be a number, got None; .* Categorical\(\[None\]\)"),
        (lambda: Variables({"a": ["u", "v"]}), r"got \['u', 'v'\]; for one of several values write Categorical\("),
        (lambda: Variables({"a": [True, False]}), r"for one of several values write Categorical\(\[True, False\]\)"),
        (lambda: Variables({"a": [1, 2, 3]}), r"for one of several values write Categorical\(\[1, 2, 3\]\)"),
        (lambda: Variables({"a": [(1,), (1, 2)]}), r"for one of several values write Categorical\(\[\(1,\), \(1, 2"),
        (lambda: Variables({"a": 3}), r"for a value that is fixed write Fixed\(3\)"),
        (lambda: Variables({"a": "u"}), r"for a value that is fixed write Categorical\(\['u'\]\)"),
        (lambda: Variables({"a": {"low": 0, "high": 1}}), r"must be a pair \(low, high\).*got \{"),
        (lambda: Variables({"a": 3}), r"bounds\['a'\] must be a pair \(low, high\), Real, Integer"),
        (lambda: Variables({"a": (2, 1)}), r"Real must have low <= high"),
        (lambda: Variables([Real(0, 1, "a"), Real(0, 1, "a")]), "names must be different"),
        (
            lambda: Minimizer("jde", bounds=SPACE, dtype="float32").fit(f, dim=3),
            "bounds has 6 variables, but the objective",
        ),
        (lambda: Minimizer().fit("sphere", dim=3, bounds=SPACE), "bounds has 6 variables"),
        (lambda: Minimizer("jde", dtype="float32").fit(f, bounds=[Integer(0, 2**30)]), "needs dtype='float64'"),
        (lambda: Minimizer("jde", bounds=SPACE).fit(f, x0=[7.5, 0.1, 1.5, 0, 3, 0]), "x0: 7.5 is no value of 'n'"),
        (
            lambda: Minimizer("jde", bounds=SPACE).fit(f, x0={"n": 1}),
            "x0 must have the variables n, rate, t, kind, z, x, got .*: missing rate, t, kind, x$",
        ),
        (lambda: Variables({"n": (0, 1)}).points({"n": 0, "m": 1}), "got .*: unknown m$"),
        (lambda: Variables({"n": (0, 1), "k": Categorical(["ab"])}).points([0, "a"]), "variables n, k by name"),
        (lambda: Variables(SPACE).points([1.0, 2.0]), r"x0 must have shape \(6,\)"),
        (lambda: Variables({"kind": Categorical(["a", None])}).points({"kind": "zz"}), r"x0\['kind'\] must be one of"),
    ],
)
def test_wrong_variables_are_refused(make: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        make()


# -- solvers -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", algorithm_names())
def test_every_algorithm_minimises_over_typed_variables(algorithm: str) -> None:
    m = Minimizer(algorithm, bounds=SPACE, max_evals=6000, random_state=1, device="cpu").fit(f)
    solved(m)
    assert f(m.x_[None])[0] == m.fun_
    assert (f(m.population_) == m.fitness_).all()


@pytest.mark.parametrize("algorithm", ["jde", "pso", "ss"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_compiled_objective_gets_the_values(algorithm: str, dtype: str) -> None:
    objective = DeviceObjective(BODY)
    given = {"bounds": SPACE, "max_evals": 6000, "random_state": 1, "device": "cpu", "dtype": dtype}
    whole = Minimizer(algorithm, **given).fit(objective)
    solved(whole)
    assert objective(whole.x_.astype(dtype)[None])[0] == whole.fun_
    steps = Minimizer(algorithm, execution="step", **given).fit(objective)
    assert (steps.population_ == whole.population_).all()


@pytest.mark.parametrize("more", [{"device": ["cpu", "cpu"]}, {"device": "cpu", "execution": "joblib", "n_jobs": 1}])
def test_a_compiled_objective_gets_the_values_on_several_devices(more: dict[str, Any]) -> None:
    given = {"bounds": SPACE, "max_iter": 15, "random_state": 1, "n_runs": 2, "n_islands": 2}
    one, several = Minimizer("jde", device="cpu", **given), Minimizer("jde", **given, **more)
    assert (one.fit(DeviceObjective(BODY)).population_ == several.fit(DeviceObjective(BODY)).population_).all()


def test_a_compiled_constrained_problem_gets_the_values() -> None:
    bounds = [(-10, 10)] * 6 + [Integer(-10, 10)]
    m = Minimizer("lshade", max_evals=30_000, random_state=0, device="cpu").fit("fabris2012/p4", bounds=bounds)
    assert m.x_[6] == 2
    assert m.max_violation_ <= 1e-6
    assert m.fun_ == get_problem("fabris2012/p4").f(m.x_[None])[0] < 690


def test_a_compiled_objective_with_scratch_gets_the_values() -> None:
    """In a space with more variables than components, so that the values need more than one vector."""
    body = "team.each(d, [&](int j) { team.scratch[d + j] = x[j]; }); return team.sum(d, [&](int j) {"
    body += " const real v = team.scratch[d + j] - target[j]; return v * v; });"
    objective = DeviceObjective(body, arrays={"target": [1, 2, 3, 4, 5]}, scratch=2)
    space = [Fixed(1), Fixed(2), Integer(0, 9), Fixed(4), Fixed(5)]
    m = Minimizer("jde", bounds=space, max_iter=20, random_state=0, device="cpu").fit(objective)
    assert m.x_.tolist() == [1, 2, 3, 4, 5]
    assert m.fun_ == 0


def test_a_problem_gets_the_values() -> None:
    space = [Integer(-5, 5), Log(0.5, 5.0), Fixed(2)]
    m = Minimizer("jde", bounds=space, max_iter=60, random_state=0, device="cpu").fit("sphere", dim=3)
    assert m.x_[[0, 2]].tolist() == [0, 2]
    assert m.fun_ == pytest.approx(4.25, abs=0.05)
    assert len(Minimizer("jde", bounds=space, max_iter=1, random_state=0, device="cpu").fit("sphere").x_) == 3
    with pytest.raises(ValueError, match=r"bounds has 3 variables, but the objective has dim=4 .* dim=3"):
        Minimizer("jde", bounds=space).fit("sphere", dim=4)


def test_the_same_values_by_ask_and_tell_and_in_one_process_and_workers() -> None:
    given = {"bounds": SPACE, "max_iter": 12, "random_state": 3, "device": "cpu", "n_runs": 2, "n_islands": 2}
    m = Minimizer("jde", **given).fit(f)
    asked = Minimizer("jde", **given)
    while not asked.stopped_:
        X = asked.ask()
        assert X.shape[-1] == 6
        asked.tell(X, f(X.reshape(-1, 6)).reshape(X.shape[:-1]))
    assert asked.params_ == m.params_
    assert (asked.population_ == m.population_).all()
    workers = Minimizer("jde", execution="joblib", n_jobs=1, **given).fit(f)
    several = Minimizer("jde", **{**given, "device": ["cpu", "cpu"]}).fit(f)
    assert (workers.population_ == m.population_).all()
    assert (several.population_ == m.population_).all()


def test_other_points_may_be_told() -> None:
    m = Minimizer("jde", bounds=SPACE, random_state=0, max_iter=5, device="cpu")
    X = m.ask().copy()
    X[0] = Variables(SPACE).points({"n": 7, "rate": 0.25, "t": 0.75, "kind": "b", "z": 3.0, "x": 0.25})
    m.tell(X, f(X))
    assert m.fun_ == f(X)[0]
    assert np.allclose(m.population_[0], X[0], rtol=1e-14)
    assert (m.population_[1:] == X[1:]).all()
    X = m.ask().copy()
    X[3, 0] = 2.5
    with pytest.raises(ValueError, match=r"X: 2.5 in row 3 is no value of 'n', which is Integer"):
        m.tell(X, f(X))


def test_a_first_point_by_names() -> None:
    params = {"n": 7, "rate": 0.25, "t": 0.75, "kind": "b", "z": 3, "x": 0.25}
    m = Minimizer("jde", bounds=SPACE, random_state=0, max_iter=0, device="cpu").fit(f, x0=[params])
    assert m.fun_ == pytest.approx(0.0025)
    assert m.params_["kind"] == "b"


def test_files_continue_with_the_variables(tmp_path: Path) -> None:
    given = {"bounds": SPACE, "random_state": 3, "device": "cpu"}
    whole = Minimizer("jde", max_iter=20, **given).fit(f)
    m = Minimizer("jde", max_iter=20, **given)
    m.callbacks = [lambda progress: progress.n_iter >= 10]
    m.fit(f).save(tmp_path / "m.skde")
    loaded = Minimizer.load(tmp_path / "m.skde")
    assert loaded.bounds == Variables(SPACE)
    assert loaded.params_ == m.params_
    assert (loaded.resume(f).population_ == whole.population_).all()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"high": 21}, "entry 'box'.*it must be the box of the variables"),
        ({"kind": "REALS"}, "the kind of a variable must be one of .* 'INTEGER'"),
        ({"values": [1, 2]}, "the variable 'n': .*unexpected keyword argument 'values'"),
        ({"low": "one"}, "the variable 'n': Integer.low must be an integer"),
        ({"name": None}, "a variable must be described by name, kind and parameters"),
    ],
)
def test_files_with_wrong_variables_are_refused(tmp_path: Path, wrong: dict[str, Any], message: str) -> None:
    path = tmp_path / "m.skde"
    Minimizer("jde", bounds=SPACE, max_iter=2, random_state=0, device="cpu").fit(f).save(path)
    header, arrays = serialization.load(path)
    header["variables"][0] |= wrong
    serialization.save(path, header, arrays)
    with pytest.raises(ValueError, match=message):
        Minimizer.load(path)


def test_files_of_problems_continue_without_the_objective(tmp_path: Path) -> None:
    given = {"bounds": [Integer(-5, 5), Log(0.5, 5.0), Fixed(2)], "random_state": 0, "device": "cpu"}
    Minimizer("jde", max_iter=5, **given).fit("sphere", dim=3).save(tmp_path / "m.skde")
    loaded = Minimizer.load(tmp_path / "m.skde").set_params(max_iter=9).resume()
    assert (loaded.population_ == Minimizer("jde", max_iter=9, **given).fit("sphere", dim=3).population_).all()


def test_a_second_fit_needs_the_variables_of_the_first() -> None:
    m = Minimizer("jde", bounds={"n": Integer(0, 9)}, max_iter=3, random_state=0, device="cpu", warm_start=True)
    m.fit(f_of_n).fit(f_of_n)
    m.bounds = {"n": Ordinal(range(10))}
    with pytest.raises(ValueError, match="the objective differs from that of the first fit"):
        m.fit(f_of_n)


def f_of_n(X: Any) -> Any:
    """Squares."""
    return X[:, 0] ** 2


def test_a_changed_dict_is_noticed() -> None:
    m = Minimizer("jde", bounds=dict(SPACE), max_iter=3, random_state=0, device="cpu").fit(f)
    assert clone(m).bounds == SPACE
    m.bounds["n"] = Integer(1, 9)
    with pytest.raises(ValueError, match="bounds was"):
        m.resume()


def test_a_fit_is_pickled_with_its_variables() -> None:
    m = Minimizer("jde", bounds=Variables(SPACE), max_iter=3, random_state=0, device="cpu").fit(f)
    copied = pickle.loads(pickle.dumps(m))
    assert copied.params_ == m.params_
    assert clone(m).bounds == copied.bounds == Variables(SPACE)


def test_functions_of_one_point_and_results_in_the_form_of_scipy() -> None:
    result = minimize(
        lambda x: abs(x["n"] - 3), {"n": Integer(0, 9)}, vectorized=False, max_iter=20, random_state=0, device="cpu"
    )
    assert result.params == {"n": 3}
    assert result.x.tolist() == [3.0]
    assert set(result.population.ravel().tolist()) <= set(range(10))


def test_params_need_a_point_of_all_variables() -> None:
    with pytest.raises(ValueError, match=r"x must have shape \(2,\), got \(1,\)"):
        Variables({"n": Integer(0, 3), "kind": Categorical(["a", "b"])}).params([1])
    for point, wrong in (([2.5, 0], "2.5 is no value of 'n'"), ([1, 7], "7.0 is no value of 'kind'")):
        with pytest.raises(ValueError, match=f"x: {wrong}"):
            Variables({"n": Integer(0, 3), "kind": Categorical(["a", "b"])}).params(point)


def test_params_need_typed_variables() -> None:
    m = Minimizer("jde", max_iter=1, random_state=0, device="cpu").fit("sphere", dim=2)
    with pytest.raises(AttributeError, match="params_ needs typed variables"):
        _ = m.params_


# -- constraints -------------------------------------------------------------------------------------------------------


def vessel(X: Any) -> Any:
    """Cost of a pressure vessel: thickness of shell and head, radius, length."""
    s, h, r, length = X.T
    return 0.6224 * s * r * length + 1.7781 * h * r**2 + 3.1661 * s**2 * length + 19.84 * s**2 * r


def vessel_constraints(x: Any) -> Any:
    s, h, r, length = x.T
    volume = np.pi * r**2 * length + 4 / 3 * np.pi * r**3
    return np.stack([0.0193 * r - s, 0.00954 * r - h, 1 - volume / 1_296_000, length / 240 - 1], axis=-1)


def test_the_pressure_vessel_is_solved_without_rounding_by_hand() -> None:
    plates = Ordinal(np.arange(1, 100) * 0.0625)
    bounds = {"shell": plates, "head": plates, "radius": (10, 200), "length": (10, 200)}
    constraints = NonlinearConstraint(vessel_constraints, -np.inf, 0)
    m = Minimizer("lshade", constraints=constraints, feasibility_tol=1e-9, max_evals=60_000, random_state=0)
    m.set_params(device="cpu", n_runs=3).fit(vessel, bounds=bounds)
    assert m.fun_ == pytest.approx(6059.714335, abs=1e-2)
    assert (m.params_["shell"], m.params_["head"]) == (0.8125, 0.4375)
    assert m.max_violation_ <= 1e-9


def reducer(X: Any) -> Any:
    """Weight of a speed reducer."""
    b, m, z, l1, l2, d1, d2 = X.T
    body = 0.7854 * b * m**2 * (3.3333 * z**2 + 14.9334 * z - 43.0934)
    return body - 1.508 * b * (d1**2 + d2**2) + 7.4777 * (d1**3 + d2**3) + 0.7854 * (l1 * d1**2 + l2 * d2**2)


def reducer_constraints(x: Any) -> Any:
    b, m, z, l1, l2, d1, d2 = x.T
    return np.stack(
        [
            27 / (b * m**2 * z) - 1,
            397.5 / (b * m**2 * z**2) - 1,
            1.93 * l1**3 / (m * z * d1**4) - 1,
            1.93 * l2**3 / (m * z * d2**4) - 1,
            np.sqrt((745 * l1 / (m * z)) ** 2 + 16.9e6) / (110 * d1**3) - 1,
            np.sqrt((745 * l2 / (m * z)) ** 2 + 157.5e6) / (85 * d2**3) - 1,
            m * z / 40 - 1,
            5 * m / b - 1,
            b / (12 * m) - 1,
            (1.5 * d1 + 1.9) / l1 - 1,
            (1.1 * d2 + 1.9) / l2 - 1,
        ],
        axis=-1,
    )


REDUCER = [(2.6, 3.6), (0.7, 0.8), Integer(17, 28, name="teeth"), (7.3, 8.3), (7.3, 8.3), (2.9, 3.9), (5.0, 5.5)]


def test_the_speed_reducer_is_solved_without_rounding_by_hand() -> None:
    problem = ConstrainedProblem(reducer, REDUCER, NonlinearConstraint(reducer_constraints, -np.inf, 0))
    assert problem.n_inequalities == 11
    m = Minimizer("lshade", feasibility_tol=1e-9, max_evals=40_000, random_state=0, device="cpu").fit(problem)
    assert m.fun_ == pytest.approx(2994.471066, abs=1e-3)
    assert m.params_["teeth"] == 17


def test_constraints_with_ask_and_tell_get_the_values() -> None:
    constraints = NonlinearConstraint(lambda x: x[..., 0] % 1, 0, 0)  # an equality that only whole numbers satisfy
    m = Minimizer(
        "jde", bounds={"n": Integer(0, 9)}, constraints=constraints, max_iter=15, random_state=0, device="cpu"
    )
    while not m.stopped_:
        X = m.ask()
        m.tell(X, (X[:, 0] - 4) ** 2)
    assert (m.x_.tolist(), m.fun_, m.max_violation_) == ([4.0], 0.0, 0.0)


def test_bounds_among_the_constraints_are_refused() -> None:
    with pytest.raises(ValueError, match=r"constraints\[0\] must not be Bounds where variables are typed"):
        Minimizer("jde", bounds=SPACE, constraints=Bounds(0, 1)).fit(f)


# -- GPU ---------------------------------------------------------------------------------------------------------------


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_gpu_decodes_to_the_bits_of_the_cpu(dtype: str) -> None:
    import cupy

    space = Variables(SPACE)
    low, high = space.box.T
    x = (low + (high - low) * np.random.default_rng(0).random((1000, len(low)))).astype(dtype)
    assert (cupy.asnumpy(decode(space, cupy.asarray(x))) == decode(space, x)).all()


@pytest.mark.gpu
@pytest.mark.parametrize("algorithm", ["jde", "pso", "ss"])
def test_compiled_objectives_have_the_same_bits_on_a_gpu(algorithm: str) -> None:
    given = {"bounds": SPACE, "max_iter": 40, "random_state": 1}
    runs = [Minimizer(algorithm, device=device, **given).fit(DeviceObjective(BODY)) for device in ("cpu", "cuda")]
    assert (runs[0].population_ == runs[1].population_).all()


@pytest.mark.gpu
@pytest.mark.parametrize("execution", ["step", "graph"])
def test_functions_of_cupy_get_the_values(execution: str) -> None:
    import cupy

    costs = cupy.asarray(COSTS)

    def on_gpu(X: Any) -> Any:
        n, rate, t, y = X[:, 0] - 7, 10 * (X[:, 1] - 0.25), X[:, 2] - 0.7, X[:, 5] - 0.25
        return n * n + rate * rate + t * t + costs[X[:, 3].astype(int)] + y * y + X[:, 4] - 3

    m = Minimizer("jde", bounds=SPACE, max_evals=6000, random_state=1, device="cuda", execution=execution).fit(on_gpu)
    solved(m)


@pytest.mark.gpu
def test_ask_and_tell_on_a_gpu() -> None:
    import cupy

    m = Minimizer("jde", bounds=SPACE, max_iter=20, random_state=1, device="cuda")
    cpu = Minimizer("jde", bounds=SPACE, max_iter=20, random_state=1, device="cpu")
    for _ in range(21):
        X, Y = m.ask(), cpu.ask()
        assert (X.get() == Y).all()
        m.tell(X.copy(), cupy.asarray(f(X.get())))
        cpu.tell(Y, f(Y))
    assert m.params_ == cpu.params_
