"""Compiled games of typed variables: the kernels decode them, with the bits of a game that the host evaluates."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skde import Categorical, Fixed, Integer, Log, MinMaxSolver, Ordinal, Variables, get_problem
from skde.engines import DecodedGame, Game, find_gpus

from .games import SIDES, make, same, side

REAL = [(-5.0, 5.0), (-5.0, 5.0), (-5.0, 5.0)]
# Of three variables as rustem5 has on each side: as many components, more of them, and fewer.
WHOLE = [Integer(-5, 5), (-5.0, 5.0), Integer(-3, 3)]
NAMED = {"kind": Categorical(["a", "b", "c", "d"]), "rate": Log(0.01, 5.0), "step": Ordinal([-1.0, 0.25, 0.5, 2.0])}
SETTLED = [Fixed(0.5), Integer(-5, 5), Fixed(-2.0)]
SPACES = {"whole": (WHOLE, WHOLE), "named": (NAMED, SETTLED), "settled": (SETTLED, NAMED), "x": (NAMED, REAL)}
SPACES |= {"y": (REAL, NAMED), "one": (SETTLED, SETTLED)}
GAME = "minmax/rustem5"


def function(name: str) -> Any:
    """Return a game for the host to evaluate."""
    problem = get_problem(name)
    return lambda X, Y: problem(X, Y)


def typed(name: str) -> list[Any]:
    """Return typed variables in the box of a constrained problem: the first one fixed, one of a few numbers."""
    problem = get_problem(name)
    pairs = [(float(low), float(high)) for low, high in problem.bounds]
    whole = [
        Integer(int(low), int(high)) if high - low > 1 and k % 2 else (low, high) for k, (low, high) in enumerate(pairs)
    ]
    return [Fixed(float(problem.x_opt[0])), whole[1], Ordinal(np.linspace(*pairs[2], 17)), *whole[3:]]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("space", SPACES)
def test_the_bits_of_the_host(space: str, dtype: str) -> None:
    parameters = {"n_runs": 2, "dtype": dtype, "algorithm_x": side("jde"), "algorithm_y": side("pso")}
    inside = make(**parameters).fit(GAME, *SPACES[space])
    outside = make(**parameters).fit(function(GAME), *SPACES[space])
    assert inside._objective.game is not None
    assert outside._objective.game is None
    assert same(inside, outside)
    assert np.array_equal(inside.population_x_, outside.population_x_)
    assert np.array_equal(inside.population_y_, outside.population_y_)
    assert (inside.x_.tolist(), inside.y_.tolist(), inside.fun_) == (
        outside.x_.tolist(),
        outside.y_.tolist(),
        outside.fun_,
    )


@pytest.mark.parametrize("name", SIDES)
def test_every_algorithm(name: str) -> None:
    inside, outside = (make(algorithm_x=side(name)).fit(f, *SPACES["named"]) for f in (GAME, function(GAME)))
    assert same(inside, outside)


@pytest.mark.parametrize("multipliers", ["update", "evolve"])
@pytest.mark.parametrize("name", ["fabris2012/p2", "fabris2012/p3", "fabris2012/p5"])
def test_the_bits_of_a_lagrangian(name: str, multipliers: str, monkeypatch: pytest.MonkeyPatch) -> None:
    parameters = {"multipliers": multipliers, "penalty": 1e3 if multipliers == "evolve" else None, "n_runs": 2}
    inside = make(**parameters).fit(name, typed(name))
    monkeypatch.setattr("skde.minmax.objective.Game", lambda *given: None)  # so that the host evaluates the problem
    outside = make(**parameters).fit(name, typed(name))
    assert inside._objective.game is not None
    assert outside._objective.game is None
    assert same(inside, outside)
    assert inside.params_["x0"] == get_problem(name).x_opt[0]
    assert np.array_equal(inside.multipliers_, outside.multipliers_)
    assert inside.max_violation_ == outside.max_violation_


def test_many_opponents() -> None:
    """More than one block of partial results has, and threads that share a run."""
    sizes: Any = {"algorithm_x__pop_size": 150, "algorithm_y__pop_size": 400}
    solvers = [
        make(algorithm_x=side("jde"), algorithm_y=side("jde"), max_iter=3, n_jobs=n).set_params(**sizes) for n in (1, 4)
    ]
    one, four = (solver.fit(GAME, *SPACES["named"]) for solver in solvers)
    assert same(one, four)
    assert same(one, solvers[0].set_params(n_jobs=None).fit(function(GAME), *SPACES["named"]))


@pytest.mark.parametrize("name", [GAME, "fabris2012/p3"])
def test_files_pickles_and_devices(name: str, tmp_path: Path) -> None:
    spaces: Any = SPACES["named"] if name == GAME else (typed(name),)
    whole = make(n_runs=3).fit(name, *spaces)
    assert same(make(n_runs=3, device=["cpu", "cpu"]).fit(name, *spaces), whole)
    part = make(n_runs=3, max_iter=3).fit(name, *spaces)
    part.save(tmp_path / "part.skde")
    for device in ("cpu", ["cpu", "cpu"]):
        loaded = MinMaxSolver.load(tmp_path / "part.skde", device=device)
        assert same(loaded.set_params(max_iter=6).resume(), whole)
    assert same(pickle.loads(pickle.dumps(part)).set_params(max_iter=6).resume(), whole)


@pytest.mark.parametrize("asked", [3, 5, 9, 12, 16])
def test_the_kernels_continue_a_cycle_of_the_host(asked: int) -> None:
    problem, (x, y) = get_problem(GAME), SPACES["settled"]
    part = make(bounds_x=x, bounds_y=y)
    for _ in range(asked):
        X, Y = part.ask()
        part.tell(X, Y, problem(X, Y))
    whole, resumed = make().fit(GAME, x, y), part.resume(GAME)
    assert np.array_equal(whole.population_x_, resumed.population_x_)
    assert np.array_equal(whole.population_y_, resumed.population_y_)


@pytest.mark.parametrize("space", ["named", "settled"])
def test_the_host_continues_a_fit_of_the_kernels(space: str) -> None:
    problem, (x, y) = get_problem(GAME), SPACES[space]
    part = make(max_iter=3, bounds_x=x, bounds_y=y).fit(GAME)
    part.set_params(max_iter=6).resume(lambda X, Y: problem(X, Y))
    assert same(part, make().fit(GAME, x, y))


def test_the_space_of_the_vectors() -> None:
    """In vectors of the longer side's components: the values of x with the constraints' vectors, or those of y."""
    long, short = Variables(NAMED), Variables(SETTLED)
    assert (len(long.box), len(short.box)) == (6, 1)
    assert DecodedGame(Game("minmax_rustem5"), long, short).scratch == 1
    assert DecodedGame(Game("minmax_rustem5"), short, short).scratch == 3
    assert DecodedGame(Game("fabris2012_p5", (), 6), short, short).scratch == 8 * 3


@pytest.mark.gpu
class TestOnGpu:
    @pytest.mark.parametrize("dtype", ["float64", "float32"])
    @pytest.mark.parametrize("space", SPACES)
    def test_the_bits_of_the_cpu(self, space: str, dtype: str) -> None:
        for n_runs in (1, 3):
            cpu, gpu = (make(n_runs=n_runs, device=d, dtype=dtype).fit(GAME, *SPACES[space]) for d in ("cpu", "cuda"))
            assert same(cpu, gpu)
            assert np.array_equal(cpu.population_y_, gpu.population_y_)

    @pytest.mark.parametrize("name", SIDES)
    def test_every_algorithm(self, name: str) -> None:
        cpu, gpu = (
            make(algorithm_x=side(name), n_runs=2, device=d).fit(GAME, *SPACES["named"]) for d in ("cpu", "cuda")
        )
        assert same(cpu, gpu, scratch=name not in ("lsrtde", "rdex"))

    @pytest.mark.parametrize("multipliers", ["update", "evolve"])
    @pytest.mark.parametrize("name", ["fabris2012/p2", "fabris2012/p3", "fabris2012/p5"])
    def test_a_lagrangian(self, name: str, multipliers: str) -> None:
        parameters: Any = {"multipliers": multipliers, "penalty": 1e3 if multipliers == "evolve" else None, "n_runs": 3}
        cpu, gpu = (make(**parameters, device=d).fit(name, typed(name)) for d in ("cpu", "cuda"))
        assert same(cpu, gpu)

    @pytest.mark.parametrize("dim", [2, 17, 100, 300])
    def test_dimensions(self, dim: int) -> None:
        """Teams of a warp and of a block, and scratch that has no room in shared memory."""
        space = [Integer(-5, 5) if k % 2 else Categorical(["a", "b", "c"]) for k in range(dim)]
        cpu, gpu = (make(n_runs=2, device=d).fit("fabris2012/p1", space, space, dim=dim) for d in ("cpu", "cuda"))
        assert same(cpu, gpu)

    def test_many_runs(self) -> None:
        cpu, gpu = (make(n_runs=500, max_iter=3, device=d).fit(GAME, *SPACES["named"]) for d in ("cpu", "cuda"))
        assert same(cpu, gpu)

    def test_many_opponents(self) -> None:
        sizes: Any = {"algorithm_x__pop_size": 150, "algorithm_y__pop_size": 400}
        solvers = [
            make(algorithm_x=side("jde"), algorithm_y=side("jde"), max_iter=3, device=d) for d in ("cpu", "cuda")
        ]
        cpu, gpu = (solver.set_params(**sizes).fit(GAME, *SPACES["named"]) for solver in solvers)
        assert same(cpu, gpu)

    def test_the_host_and_several_gpus(self) -> None:
        one = make(n_runs=4, device="cuda").fit(GAME, *SPACES["settled"])
        assert same(make(n_runs=4, device="cuda").fit(function(GAME), *SPACES["settled"]), one)
        n = find_gpus()[0]
        assert same(make(n_runs=4, device=[f"cuda:{k % n}" for k in range(2)]).fit(GAME, *SPACES["settled"]), one)
