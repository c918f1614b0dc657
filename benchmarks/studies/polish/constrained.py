"""Local searches from the best points of short constrained fits: SLSQP, trust-constr and COBYQA of SciPy.

Each problem is solved from several seeds by each method, with the same points and budgets. A gap is the difference to
the least value that any method found with a large budget, relative to its size, or at least 1.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import LinearConstraint, NonlinearConstraint

from skde import ConstrainedProblem, Minimizer
from skde.fit.phases.feasible_search import FeasibleSearch
from skde.fit.phases.scipy_search import FEASIBLE as FEASIBLE_METHOD
from skde.fit.phases.scipy_search import LocalSearch
from skde.fit.search_values import rows_of
from skde.objectives.feasibility import FeasibilityRules, values_of_codes

METHODS = ("SLSQP", "trust-constr", "COBYQA")
DE_EVALS, POLISH_EVALS = 200, 100  # for each variable
FEASIBLE, GAP = 1e-6, 5e-5


@dataclass
class Case:
    """A problem: its name, function of an array of points, box or variables, and constraints."""

    name: str
    f: Callable[[Any], Any]
    bounds: Any
    constraints: Any

    @property
    def dim(self) -> int:
        """Number of variables."""
        return len(self.bounds)


def cases(seed: int) -> Iterator[Case]:
    """Yield the problems of one seed."""
    random = np.random.default_rng(seed)
    for dim in (5, 10, 20, 60):
        A, b, c = polyhedron(random, dim)
        yield Case(f"convex-{dim}", quadratic(c), [(-5, 5)] * dim, LinearConstraint(A, -np.inf, b))
        yield Case(f"linear-{dim}", linear(c), [(-5, 5)] * dim, LinearConstraint(A, -np.inf, b))
    for dim in (5, 20):
        A, b, c = polyhedron(random, dim)
        balls = random.uniform(-1, 1, (3, dim))
        inside = NonlinearConstraint(distances(balls), -np.inf, 0.6 * dim)
        yield Case(f"balls-{dim}", linear(c), [(-5, 5)] * dim, inside)
        outside = NonlinearConstraint(distances(balls), 0.3 * dim, np.inf)
        yield Case(f"holes-{dim}", quadratic(0.1 * c), [(-5, 5)] * dim, outside)
        equal = LinearConstraint(A[:2], b[:2], b[:2])
        yield Case(f"equal-{dim}", quadratic(c), [(-5, 5)] * dim, equal)
        sphere = NonlinearConstraint(distances(balls[:1]), 0.5 * dim, 0.5 * dim)
        yield Case(f"sphere-{dim}", valley, [(-2, 2)] * dim, sphere)
        yield Case(f"valley-{dim}", valley, [(-2, 0.8)] * dim, LinearConstraint(np.ones(dim), -np.inf, 0.4 * dim))
        size = 10.0 ** random.integers(-3, 4, dim)
        scaled = Case(f"scaled-{dim}", make_scaled_quadratic(c, size), np.outer(size, [-5, 5]), None)
        rows = 10.0 ** random.integers(-3, 4, len(b))
        scaled.constraints = LinearConstraint(A / size * rows[:, None], -np.inf, b * rows)
        yield scaled
        product = NonlinearConstraint(lambda X: np.exp(np.log(np.abs(X) + 1e-300).mean(axis=1)), 1.0, np.inf)
        yield Case(f"product-{dim}", lambda X: X.sum(axis=1), [(0.0, 10.0)] * dim, product)
        yield Case(f"corners-{dim}", corners(A[::-1]), [(-5, 5)] * dim, LinearConstraint(A[:3], -np.inf, b[:3] - 1))
        hidden = LinearConstraint(np.ones(dim), -np.inf, 1.0)
        yield Case(f"hidden-{dim}", logarithm, [(0.0, 1.0)] * dim, hidden)


def polyhedron(random: Any, dim: int) -> tuple[Any, Any, Any]:
    """Return A, b and c of linear constraints that hold at 0."""
    A = random.standard_normal((dim, dim))
    return A, random.uniform(0.5, 2.0, dim), random.standard_normal(dim)


def quadratic(c: Any) -> Callable[[Any], Any]:
    """Return c'x + 0.1 |x|^2."""
    return lambda X: X @ c + 0.1 * (X**2).sum(axis=1)


def make_scaled_quadratic(c: Any, size: Any) -> Callable[[Any], Any]:
    """Return the same of variables in other units."""
    return lambda X: 1e3 * quadratic(c)(X / size)


def linear(c: Any) -> Callable[[Any], Any]:
    """Return c'x."""
    return lambda X: X @ c


def corners(A: Any) -> Callable[[Any], Any]:
    """Return a sum of absolute values."""
    return lambda X: abs(X @ A.T - 1).sum(axis=1)


def distances(centers: Any) -> Callable[[Any], Any]:
    """Return the squared distances from points, as a function of X of shape (n, dim)."""
    return lambda X: ((X[:, None] - centers) ** 2).sum(axis=2)


def valley(X: Any) -> Any:
    """Return Rosenbrock's function."""
    return (100 * (X[:, 1:] - X[:, :-1] ** 2) ** 2 + (1 - X[:, :-1]) ** 2).sum(axis=1)


def logarithm(X: Any) -> Any:
    """Return a function that is NaN where the sum of x is larger than 1."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return -np.log(1 - X.sum(axis=1)) + ((X - 0.4) ** 2).sum(axis=1)


@dataclass
class Outcome:
    """The end of a local search: evaluations and values of all its better points, and the calls of f outside."""

    evals: list[int]
    values: list[float]
    infeasible_calls: int


def start_of(case: Case, seed: int) -> tuple[Any, float, float]:
    """Return the best point of a short fit, its code, and its value or infinity."""
    m = Minimizer(
        "jde",
        constraints=case.constraints,
        max_evals=DE_EVALS * case.dim,
        random_state=seed,
        device="cpu",
        polish=False,
    )
    try:
        x = m.fit(case.f, bounds=case.bounds).x_
    except ValueError:
        x = np.full(case.dim, 0.3 / case.dim)
    rules = rules_of(case)
    code = float(rules(x[None])[0])
    return x, code, float(values_of_codes(np.array(code)))


def rules_of(case: Case) -> FeasibilityRules:
    """Return the rules of a problem."""
    return FeasibilityRules(ConstrainedProblem(case.f, case.bounds, case.constraints), FEASIBLE)


def search_from(case: Case, x: Any, code: float, method: str, max_evals: int) -> Outcome:
    """Return the end of a local search."""
    calls = 0

    def f(X: Any) -> Any:
        nonlocal calls
        calls += int((problem.violation(X, FEASIBLE) > 0).sum())
        return case.f(X)

    rules = rules_of(case)
    problem = rules.problem
    counted = FeasibilityRules(ConstrainedProblem(f, case.bounds, case.constraints), FEASIBLE)
    evals, values = [0], [float(values_of_codes(np.array(code)))]

    def stops() -> bool:
        if values_of_codes(np.array(search.code)) < values[-1]:
            evals.append(search.n_evals)
            values.append(float(values_of_codes(np.array(search.code))))
        return False

    feasible = method == FEASIBLE_METHOD
    search = (FeasibleSearch if feasible else LocalSearch)(
        lambda X: rows_of(counted, X, everywhere=not feasible),
        x,
        code,
        *problem.bounds.T,
        n_inequalities=problem.n_inequalities,
        tolerance=FEASIBLE,
        linear=problem.linear_slopes,
        max_evals=max_evals,
        stops=stops,
    )
    search.run(method)
    return Outcome(evals, values, calls)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs=2, default=(100, 103))
    parser.add_argument("--methods", nargs="*", default=METHODS)
    parser.add_argument("--only", default="")
    options = parser.parse_args(arguments)
    solved = {method: [0, 0, 0] for method in options.methods}
    for seed in range(*options.seeds):
        for case in cases(seed):
            if options.only not in case.name:
                continue
            x, code, value = start_of(case, seed)
            ends = {m: search_from(case, x, code, m, POLISH_EVALS * case.dim) for m in options.methods}
            best = min(ends.values(), key=lambda end: end.values[-1])
            least = min([best.values[-1], search_from(case, x, code, "SLSQP", 10000 * case.dim).values[-1]])
            size = max(1.0, abs(least))
            line = f"{case.name:>12} {seed} start {(value - least) / size:8.1e}"
            for method, end in ends.items():
                gaps = (np.array(end.values) - least) / size
                reached = np.flatnonzero(gaps <= GAP)
                first = end.evals[reached[0]] if len(reached) else None
                line += f" | {method} {gaps[-1]:8.1e} {first!s:>5} {end.infeasible_calls:>4}"
                solved[method][0] += bool(len(reached))
                solved[method][1] += bool(gaps[-1] <= 1e-8)
                solved[method][2] += 1
            print(line, flush=True)
    print(solved)


if __name__ == "__main__":
    main()
