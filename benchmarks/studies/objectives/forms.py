"""Time of an evaluation for every form of an objective, as a table and as JSON.

    python benchmarks/studies/objectives/forms.py --out benchmarks/records/objectives.json

The same function in every form, the same algorithm, one thread where nothing else is said. Each figure is the median of
repeats, which are made in turn, form by form. The second function waits, as a simulator elsewhere does.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
from scipy.optimize import differential_evolution

from skde import JDE, DeviceObjective, Minimizer
from skde.benchmark import provenance
from skde.benchmark.records import write_figures

DIM = 30
POP_SIZE = 100
REPEATS = 9
WAIT = 1e-3
BOUNDS = [(-5.12, 5.12)] * DIM
RASTRIGIN = """
return team.sum(d, [&](int j) { return x[j] * x[j] - 10.0 * cos(6.283185307179586 * x[j]) + 10.0; });
"""
Fit = Callable[[int], Any]


def rows(X: np.ndarray) -> np.ndarray:
    """Return Rastrigin's function of every row."""
    values: np.ndarray = (X * X - 10.0 * np.cos(2.0 * np.pi * X) + 10.0).sum(axis=1)
    return values


def columns(X: np.ndarray) -> np.ndarray:
    """Return Rastrigin's function of every column, as SciPy calls a vectorised function."""
    return rows(X.T)


def point(x: np.ndarray) -> float:
    """Return Rastrigin's function of one point."""
    return float((x * x - 10.0 * np.cos(2.0 * np.pi * x) + 10.0).sum())


def waiting(x: np.ndarray) -> float:
    """Return it after a millisecond."""
    time.sleep(WAIT)
    return point(x)


def solver(generations: int, **options: Any) -> Minimizer:
    """Return the solver of a number of generations, on one thread of the CPU."""
    settings = {"n_jobs": 1, "device": "cpu", "random_state": 0, **options}
    return Minimizer(JDE(pop_size=POP_SIZE), max_iter=generations, **settings)


def ask_and_tell(generations: int) -> None:
    """Fit by ask and tell."""
    minimizer = solver(generations, bounds=BOUNDS)
    while not minimizer.stopped_:
        X = minimizer.ask()
        minimizer.tell(X, rows(X))


def scipy_fit(generations: int, function: Callable[..., Any], **options: Any) -> None:
    """Fit SciPy's differential evolution with as many individuals."""
    start = np.random.default_rng(0).uniform(-5.12, 5.12, (POP_SIZE, DIM))
    differential_evolution(
        function, BOUNDS, maxiter=generations, init=start, polish=False, tol=0, atol=0, rng=0, **options
    )


def forms(jobs: int) -> dict[str, tuple[int, Fit]]:
    """Return the number of generations and the fit of every form."""
    device = DeviceObjective(RASTRIGIN)
    return {
        "name": (2000, lambda n: solver(n).fit("rastrigin", dim=DIM)),
        "DeviceObjective": (2000, lambda n: solver(n).fit(device, bounds=BOUNDS)),
        "f(X)": (500, lambda n: solver(n).fit(rows, bounds=BOUNDS)),
        "f(X), ask and tell": (500, ask_and_tell),
        "f(x)": (50, lambda n: solver(n, vectorized=False).fit(point, bounds=BOUNDS)),
        "SciPy, vectorized": (50, lambda n: scipy_fit(n, columns, vectorized=True, updating="deferred")),
        "SciPy": (25, lambda n: scipy_fit(n, point)),
        "f(x), 1 ms": (2, lambda n: solver(n, vectorized=False).fit(waiting, bounds=BOUNDS)),
        f"f(x), 1 ms, n_jobs={jobs}": (
            10,
            lambda n: solver(n, vectorized=False, n_jobs=jobs).fit(waiting, bounds=BOUNDS),
        ),
    }


def measure(jobs: int) -> list[dict[str, Any]]:
    """Return microseconds an evaluation of every form, all repeats."""
    measured = forms(jobs)
    spent: dict[str, list[float]] = {name: [] for name in measured}
    for _, fit in measured.values():
        fit(1)  # compiles, and starts the workers
    for _ in range(REPEATS):
        for name, (generations, fit) in measured.items():
            begin = time.perf_counter()
            fit(generations)
            seconds = time.perf_counter() - begin
            spent[name].append(round(1e6 * seconds / (POP_SIZE * (generations + 1)), 4))
    return [{"form": name, "us": times} for name, times in spent.items()]


def main() -> None:
    """Measure all forms."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=2, help="workers of the last form (2)")
    parser.add_argument("--out", help="also write the record, JSON, to a file")
    given = parser.parse_args()
    figures = measure(given.jobs)
    for row in figures:
        print(f"{row['form']:<28}{median(row['us']):>12.2f} us")
    if given.out:
        settings = {"function": "rastrigin", "dim": DIM, "pop_size": POP_SIZE, "repeats": REPEATS, "jobs": given.jobs}
        command = f"python benchmarks/studies/objectives/forms.py --jobs {given.jobs} --out {given.out}"
        write_figures(given.out, {**provenance(command), "settings": settings, "figures": figures})


if __name__ == "__main__":
    main()
