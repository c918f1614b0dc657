"""Ask and tell in parts: points in any order, values by points or by ids, files of incomplete generations."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import NonlinearConstraint

from skde import DE, Categorical, Integer, Minimizer
from skde.fit.begun_generations import pack_told
from skde.fit.partial_generation import PIECE, PartialGeneration, order_of_rows
from skde.functions.pointwise import array_namespace
from skde.testing.base import PROBE_CALLS
from skde.utils.arrays import to_numpy

BOX = [(-5.0, 5.0)] * 2
TYPED = {"n": Integer(0, 3), "kind": Categorical(["a", "b"]), "x": (-1.0, 1.0)}
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


def f(X: Any) -> Any:
    """Squared distance to a point of the box."""
    return ((X - 0.5) ** 2).sum(axis=-1)


def make(**parameters: Any) -> Minimizer:
    defaults = {"bounds": BOX, "max_iter": 8, "random_state": 3, "device": "cpu", "n_jobs": 1}
    return Minimizer(DE(pop_size=8), **{**defaults, **parameters})


def results(m: Minimizer) -> list[Any]:
    return [(run.x.tolist(), run.fun, run.n_evals, run.status, run.history.best.tolist()) for run in m.runs_]


def by_single_tells(m: Minimizer) -> Minimizer:
    """Ask three at a time, and tell the last of all that wait, by its point or by its id."""
    waiting: list[tuple[Any, int]] = []
    while not m.stopped_:
        X, ids = m.ask(3, return_ids=True)
        waiting += zip(X, ids.tolist(), strict=True)
        x, i = waiting.pop()
        if i % 2:
            m.tell(x, f(x))
        else:
            m.tell(f=f(x), ids=i)
    return m


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"n_runs": 3, "target": 0.5, "max_iter": 20},
        {"n_islands": 2, "dtype": "float32"},
        {"bounds": TYPED},
        {"constraints": NonlinearConstraint(lambda x: x[..., 0], 1.0, 3.0)},
    ],
    ids=", ".join,
)
def test_the_order_of_values_changes_no_bit(parameters: dict[str, Any], device: str) -> None:
    parameters = {**parameters, "device": device}
    fitted = make(**parameters).fit(f)
    assert results(by_single_tells(make(**parameters))) == results(fitted)


def test_all_rows_may_be_told_in_another_order() -> None:
    for parameters in ({}, {"n_runs": 2}, {"bounds": TYPED}):
        m, straight = make(**parameters), make(**parameters)
        while not m.stopped_:
            X = m.ask()
            rows = X.reshape(-1, X.shape[-1])[::-1]
            m.tell(rows.reshape(X.shape), f(rows).reshape(X.shape[:-1]))
            X = straight.ask()
            straight.tell(X, f(X))
        assert results(m) == results(straight)


def test_no_point_is_handed_out_while_a_generation_waits_for_values() -> None:
    m = make()
    first, rest = m.ask(5), m.ask(100)
    assert (len(first), len(rest)) == (5, 3)
    assert np.array_equal(np.concatenate([first, rest]), m.ask())
    for _ in range(2):
        assert m.ask(1).shape == (0, 2)
        assert not m.stopped_
    m.tell(rest, f(rest))
    assert len(m.ask(1)) == 0
    m.tell(first[:4], f(first[:4])).tell(first[4], f(first[4]))
    assert m.n_evals_ == 8
    assert len(m.ask(1)) == 1


def test_a_whole_ask_may_be_told_in_parts() -> None:
    m = make(n_runs=2)
    X = m.ask()
    m.tell(X[1], f(X[1]))
    m.tell(X[0, ::2], f(X[0, ::2])[:, None])  # a column
    assert len(m.ask(9)) == 0
    m.tell(X[0, 1::2], f(X[0, 1::2]))
    assert m.n_evals_ == 8


def test_rows_that_need_no_value_are_not_handed_out() -> None:
    m = make(n_runs=4, target=1.0, max_iter=30)
    seen = []
    while not m.stopped_:
        X = m.ask(1000)
        seen.append(len(X))
        whole, whole_ids = m.ask(return_ids=True)
        m.tell(f=f(whole), ids=whole_ids)
    assert seen[0] == 32
    assert 0 < seen[-1] < 32
    assert sum(run.n_evals for run in m.runs_) == sum(seen)


def test_equal_points_take_one_value_each() -> None:
    m = make(bounds={"n": Integer(0, 1)}, final_evals=1)  # with which nothing is remembered
    X = m.ask(8)
    assert len(np.unique(X)) == 2
    for x in X:
        m.tell(np.where(x == 0.0, -0.0, x), f(x))  # equal, also where the sign of zero is lost
    assert m.n_evals_ == 8


@pytest.mark.parametrize("bounds", [BOX, TYPED], ids=["real", "typed"])
def test_points_with_ids_replace_those_of_ask(bounds: Any) -> None:
    parts, whole = make(bounds=bounds, max_iter=3), make(bounds=bounds, max_iter=3)
    while not whole.stopped_:
        X = whole.ask()
        Y = X.copy()
        Y[2:5, -1] = 0.25
        whole.tell(Y, f(Y))
        _, ids = parts.ask(8, return_ids=True)
        parts.tell(Y[::-2], f(Y[::-2]), ids=ids[::-2]).tell(Y[::2], f(Y[::2]), ids=ids[::2])
    assert results(parts) == results(whole)


@pytest.mark.parametrize("generations", [0, 2])
def test_an_incomplete_generation_is_saved(generations: int, tmp_path: Path) -> None:
    constraint = NonlinearConstraint(np.sum, -9.0, 9.0)
    m, fitted = make(constraints=constraint, vectorized=False), make(constraints=constraint, vectorized=False).fit(f)
    for _ in range(generations):
        X = m.ask()
        m.tell(X, f(X))
    X, ids = m.ask(6, return_ids=True)
    m.tell(X[[4, 1]], f(X[[4, 1]]))
    m.save(tmp_path / "fit")
    for again in (Minimizer.load(tmp_path / "fit").set_params(constraints=constraint), pickle.loads(pickle.dumps(m))):
        told, restored = pack_told(m._fit), pack_told(again._fit)
        assert told["told_rows"].tolist() == [1, 4]
        assert {name: array.tolist() for name, array in restored.items()} == {
            name: array.tolist() for name, array in told.items()
        }
        again.tell(X[2], f(X[2]))  # still under way when the file was written
        left, left_ids = again.ask(100, return_ids=True)
        assert set(ids[[0, 3, 5]]) < set(left_ids)
        assert not {ids[1], ids[2], ids[4]} & set(left_ids)
        again.tell(f=f(left), ids=left_ids)
        assert results(by_single_tells(again)) == results(fitted)


def test_resume_evaluates_what_an_incomplete_generation_lacks(tmp_path: Path) -> None:
    m, fitted = make(), make().fit(f)
    for _ in range(2):
        X = m.ask(8)
        m.tell(X, f(X))
    X = m.ask(3)
    m.tell(X, f(X))
    assert m.n_evals_ == 19
    m.save(tmp_path / "fit")
    assert Minimizer.load(tmp_path / "fit").n_evals_ == 19
    for again in (Minimizer.load(tmp_path / "fit"), m):
        sizes: list[int] = []

        def counted(Y: Any, sizes: list[int] = sizes) -> Any:
            sizes.append(len(Y))
            return f(Y)

        assert results(again.resume(counted)) == results(fitted)
        assert sum(sizes[PROBE_CALLS:]) == 8 * 9 - 19


def test_an_error_of_a_constraint_leaves_the_values_to_be_told_again() -> None:
    broken = [True]

    def margin(x: Any) -> Any:
        if broken[0]:
            raise RuntimeError("no licence")
        return x[..., 0]

    constraint = NonlinearConstraint(margin, -9.0, 9.0)
    broken[0] = False
    m = make(constraints=constraint)
    X = m.ask(8)
    m.tell(X[:5], f(X[:5]))
    broken[0] = True
    with pytest.raises(RuntimeError, match="no licence"):
        m.tell(X[5:], f(X[5:]))
    broken[0] = False
    assert m.tell(X[5:], f(X[5:])).n_evals_ == 8


def test_failed_evaluations_are_nan() -> None:
    m = make()
    X, ids = m.ask(8, return_ids=True)
    m.tell(f=[np.nan, np.inf], ids=ids[:2]).tell(X[2:], f(X[2:]))
    assert m.fun_ == f(X[2:]).min()
    assert np.isnan(m.fitness_).sum() == 1


def test_wrong_parts_are_refused_and_change_nothing() -> None:
    m = make()
    assert not m.stopped_
    with pytest.raises(RuntimeError, match="tell needs an ask before it"):
        m.tell(np.zeros((1, 2)), [1.0])
    X, ids = m.ask(4, return_ids=True)
    m.tell(X[0], f(X[0]))
    for arguments, message in (
        ({"X": X[:2], "f": f(X[:2])}, "row 0 has a value already"),
        ({"X": X[1:3] + 1e-9, "f": f(X[1:3])}, r"row 0 is none of the points .* tell\(X, f, ids=ids\)"),
        ({"X": X[[1, 1]], "f": f(X[:2])}, "row 1 has a value already"),
        ({"X": X[1:, :1], "f": f(X[1:])}, r"of 2 variables, got shape \(3, 1\)"),
        ({"X": X[1:], "f": f(X)}, r"f must have shape \(3,\), got \(4,\)"),
        ({"ids": ids[:2], "f": [1.0, 2.0]}, f"got {ids[0]}, which has one already"),
        ({"ids": [1, 1], "f": [1.0, 2.0]}, r"ids must all be different, got \[1, 1\]"),
        ({"ids": 8, "f": 1.0}, r"the current generation, 0 to 7, got 8"),
        ({"ids": ids[1:], "f": 1.0}, r"f must have shape \(3,\), got \(\)"),
        ({"ids": ids[1:], "X": X, "f": f(X)}, "a row for each of the 3 ids, got 4"),
        ({"ids": ids[1:], "X": X[1:] + 100, "f": f(X[1:])}, "X must be inside the bounds"),
    ):
        with pytest.raises(ValueError, match=message):
            m.tell(**arguments)
    with pytest.raises(TypeError, match=r"ids must be integers, .* got 1\.5"):
        m.tell(f=1.0, ids=1.5)
    with pytest.raises(TypeError, match="f must hold real numbers"):
        m.tell(X[1], None)
    with pytest.raises(TypeError, match="tell needs X or ids"):
        m.tell(f=1.0)
    with pytest.raises(TypeError, match=r"n must be an integer >= 0, got 1\.5"):
        m.ask(1.5)  # type: ignore[arg-type]
    assert m._fit.partial is not None
    assert m._fit.partial.told_rows.tolist() == [0]
    X, ids = m.ask(4, return_ids=True)
    assert ids.tolist() == [4, 5, 6, 7]


def test_every_run_has_ended() -> None:
    m = make(max_iter=0)
    X = m.ask(8)
    m.tell(X, f(X))
    with pytest.raises(RuntimeError, match="every run has ended"):
        m.ask(1)
    with pytest.raises(RuntimeError, match="every run has ended"):
        m.tell(f=1.0, ids=0)


@pytest.mark.gpu
def test_values_from_the_host_for_points_on_a_gpu() -> None:
    m = make(device="cuda")
    X, ids = m.ask(8, return_ids=True)
    assert array_namespace(X) is not np
    assert m.tell(f=f(to_numpy(X)), ids=ids).n_evals_ == 8


def test_a_wrong_return_ids_hands_out_no_trials() -> None:
    m = make()
    with pytest.raises(TypeError, match="return_ids must be True or False, got 'yes'"):
        m.ask(3, return_ids="yes")  # type: ignore[arg-type]
    assert m.ask(8, return_ids=True)[1].tolist() == list(range(8))
    assert isinstance(make().ask(3, return_ids=np.False_), np.ndarray)  # type: ignore[arg-type]


@pytest.mark.parametrize("bounds", [BOX, TYPED], ids=["box", "typed"])
def test_a_constraint_that_fails_takes_back_the_points_of_a_tell(bounds: Any) -> None:
    broken: list[int] = []

    def g(x: Any) -> Any:
        if broken:
            raise RuntimeError("broken")
        return x[..., 0]

    m, plain = (make(bounds=bounds, constraints=NonlinearConstraint(g, -9.0, 9.0)) for _ in range(2))
    X, ids = m.ask(8, return_ids=True)
    others = X.copy()
    others[:, -1] /= 2
    broken.append(1)
    with pytest.raises(RuntimeError, match="broken"):
        m.tell(others, f(others), ids=ids)
    broken.clear()
    m.tell(X, f(X))
    plain.tell(plain.ask(), f(X))
    assert results(m) == results(plain)
    assert np.array_equal(m.population_, plain.population_)


def test_ragged_rows_are_refused_by_name() -> None:
    m = make()
    X = m.ask()
    with pytest.raises(ValueError, match="X must have rows of one length, got"):
        m.tell([[1.0], [1.0, 2.0]], f(X))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="f must have rows of one length, got"):
        m.tell(X, [[1.0], [1.0, 2.0]])
    assert m.tell(X.tolist(), f(X).tolist()).n_evals_ == 8


def test_rows_are_handed_out_in_order_and_once() -> None:
    """In parts that are smaller and larger than those that are searched at a time, while other rows get values."""
    rng = np.random.default_rng(0)
    n = 3 * PIECE + 7
    points = rng.random((n, 2))
    needed = rng.random(n) < 0.9
    part = PartialGeneration(0, points, points, needed, np)
    waiting = [row for row in range(n) if needed[row]]
    while waiting:
        told = rng.choice(n, 3, replace=False)
        part.note(told)
        waiting = [row for row in waiting if row not in told]
        many = int(rng.choice([1, 5, PIECE + 1]))
        assert part.hand_out(many).tolist() == waiting[:many]
        waiting = waiting[many:]
    assert len(part.hand_out(1)) == 0
    assert not part.complete
    part.note(np.arange(n))
    assert part.complete
    part.forget(np.array([3, 4]))
    assert part.complete == (not needed[[3, 4]].any())


def test_equal_points_get_values_one_after_the_other() -> None:
    points = np.zeros((4, 1))
    part = PartialGeneration(0, points, points, np.array([True, True, True, False]), np)
    for row in range(3):
        assert part.rows_of_points(points[:1]).tolist() == [row]
        part.note(np.array([row]))
    assert part.rows_of_points(points[:1]).tolist() == [3]  # which needs none
    part.forget(np.array([1]))
    assert part.rows_of_points(points[:2]).tolist() == [1, 3]
    assert np.array_equal(order_of_rows(np.zeros((3, 1)), np.zeros((3, 1))), [0, 1, 2])
