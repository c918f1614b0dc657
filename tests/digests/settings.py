"""The fixed list of fits that have to keep their bits from one version to the next."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from skde import (
    CHC,
    DE,
    GOJDE,
    JDE,
    PSO,
    SS,
    Categorical,
    ConstrainedProblem,
    Fixed,
    Integer,
    Log,
    Migration,
    Minimizer,
    MinMaxSolver,
    Ordinal,
)
from skde.algorithms import ALGORITHMS

# Generations are few and populations small: 30 of 12 variables reach every branch but those of large populations.
COMMON: dict[str, Any] = {"max_iter": 30, "n_runs": 2, "random_state": 7}
ISLANDS: dict[str, Any] = {"n_islands": 3, "migration": Migration(every=7)}
STRATEGIES = ("best/1/exp", "rand/2/bin", "current-to-best/1/bin", "best/2/exp")
REPAIRS = ("midpoint", "clip", "random", "periodic")

# Of two variables each, as rustem1 has on both sides.
TYPED_X, TYPED_Y = [Log(0.01, 5.0), Categorical(["a", "b", "c"])], [Ordinal([-4.0, -0.5, 0.5, 3.0]), Integer(-5, 5)]

Fit = Callable[[str], Any]


def quadratic(X: Any) -> Any:
    """Return sums of squares, added column by column: the same bits by every library."""
    total = X[:, 0] * X[:, 0]
    for j in range(1, X.shape[1]):
        total = total + X[:, j] * X[:, j]
    return total


def saddle(X: Any, Y: Any) -> Any:
    """Return x^2 - y^2 + x y of every pair."""
    x, y = X[:, :1], Y[:, 0]
    return x * x - y * y + x * y


def sum_above_one(x: Any) -> Any:
    """Return x0 + x1 - 1 for SciPy's older form of constraints."""
    return x[..., 0] + x[..., 1] - 1


def minimizer(algorithm: Any, objective: Any = "rastrigin", dim: int = 12, **parameters: Any) -> Fit:
    """Return a fit of a Minimizer on a device."""
    options = {**COMMON, **parameters}
    given = {"bounds": [(-5.0, 5.0)] * dim} if callable(objective) else {"dim": dim}
    return lambda device: Minimizer(algorithm, device=device, **options).fit(objective, **given)


def constrained(device: str) -> Any:
    """Return a fit of a Python function under a constraint."""
    problem = ConstrainedProblem(quadratic, [(-5.0, 5.0)] * 4, {"type": "ineq", "fun": sum_above_one})
    return Minimizer("jde", device=device, **COMMON).fit(problem)


def asked(device: str) -> Any:
    """Return a solver that was told every value."""
    solver = Minimizer("shade", bounds=[(-5.0, 5.0)] * 6, device=device, **{**COMMON, "n_runs": 1})
    while not solver.stopped_:
        X = solver.ask()
        solver.tell(X, quadratic(X))
    return solver


def resumed(device: str) -> Any:
    """Return a fit that was saved half-way and went on from the file."""
    begun = Minimizer("lshade", device=device, **{**COMMON, "max_evals": 3000, "max_iter": 12}).fit("ackley", dim=8)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fit.skde"
        begun.save(path)
        return Minimizer.load(path, device=device).set_params(max_iter=30).resume()


def minmax(f: Any, **parameters: Any) -> Fit:
    """Return a co-evolution on a device."""
    given = {"bounds_x": [(-5.0, 5.0)] * 2, "bounds_y": [(-5.0, 5.0)] * 2} if callable(f) else {}
    options = {"max_iter": 6, "gens_x": 5, "gens_y": 4, "n_runs": 2, "random_state": 3, **given, **parameters}
    return lambda device: MinMaxSolver(device=device, **options).fit(f)


def all_fits() -> dict[str, Fit]:
    """Return the fits by name."""
    fits: dict[str, Fit] = {"constrained": constrained, "ask": asked, "resumed": resumed}
    for name, kind in ALGORITHMS.items():
        small = kind(**kind.get_test_params())
        for dtype in ("float64", "float32"):
            fits[f"{name}-{dtype}"] = minimizer(small, dtype=dtype)
        fits[f"{name}-python"] = minimizer(small, quadratic)
        fits[f"{name}-islands"] = minimizer(small, "ackley", **ISLANDS)
        fits[f"{name}-constraints"] = minimizer(small, "fabris2012/p3", dim=10)
        fits[f"{name}-dim-70"] = minimizer(small, "griewank", dim=70, max_iter=12)
        if kind().get_params().get("opposition") == 0:
            opposed = kind(**kind.get_test_params(), opposition=0.3)
            fits[f"{name}-opposition"] = minimizer(opposed)
            fits[f"{name}-opposition-python"] = minimizer(opposed, quadratic, dtype="float32")
        if small.iteration_length == 1:
            fits[f"{name}-minmax"] = minmax("fabris2012/p6", algorithm_x=small)
    fits |= {f"de-{strategy}": minimizer(DE(strategy=strategy, pop_size=24)) for strategy in STRATEGIES}
    fits |= {f"de-{repair}": minimizer(DE(repair=repair, F=0.9, pop_size=24)) for repair in REPAIRS}
    fits["de-several-sizes"] = minimizer([DE(pop_size=20), DE(pop_size=31, CR=0.3)])
    fits["jde-cujde"] = minimizer(JDE.cujde(pop_size=24))
    fits["gojde-keep-always"] = minimizer(GOJDE(pop_size=24, keep="always", opposition=0.3))
    fits["chc-cataclysms"] = minimizer(CHC(pop_size=24, bits=1))
    printed = {**SS.get_test_params(), "restart": False, "step_unit": "bounds"}
    fits["ss-printed"] = minimizer(SS(**printed))
    fits["wang2012"] = minimizer("jde", "wang2012/F13", dim=70, max_iter=12)
    fits["pso-large"] = minimizer(PSO(pop_size=700), "nashed2012/f9", dim=30, max_iter=5, n_runs=1)
    fits["tol"] = minimizer("jde", "sphere", dim=3, tol=1e-3, max_iter=300)
    fits["stagnation"] = minimizer("jde", stagnation=3, max_iter=300)
    fits["minmax-python"] = minmax(saddle)
    for dtype in ("float64", "float32"):
        fits[f"minmax-typed-{dtype}"] = minmax("minmax/rustem1", bounds_x=TYPED_X, bounds_y=TYPED_Y, dtype=dtype)
    typed = [Integer(-10, 10), Fixed(2.0), *[(-10.0, 10.0)] * 5]
    fits["minmax-typed-multipliers"] = minmax("fabris2012/p4", bounds_x=typed)
    fits["minmax-evolved-multipliers"] = minmax("fabris2012/p3", multipliers="evolve", penalty=10.0)
    return fits


def digests(fitted: Any) -> dict[str, str]:
    """Return digests of a fit's runs and of the population of the best."""
    runs = fitted.runs_
    found = [part for run in runs for part in (run.x, run.fun, run.n_evals, run.n_iter, int(run.status))]
    histories = [part for run in runs for part in (run.history.n_evals, run.history.best)]
    return {"result": digest([*found, fitted.population_, fitted.fitness_]), "history": digest(histories)}


def digest(parts: list[Any]) -> str:
    """Return the first half of the SHA-256 of numbers, as little-endian words of eight bytes."""
    total = hashlib.sha256()
    for part in parts:
        array = np.asarray(part)
        total.update(array.astype("<f8" if array.dtype.kind == "f" else "<i8").tobytes())
    return total.hexdigest()[:32]
