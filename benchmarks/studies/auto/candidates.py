"""Candidates of the rule of algorithm="auto": mean ranks by suite, dimension and budget.

`skde bench run` writes its records to the folder that is given, and does not repeat the parts that they have. The
tables of generations, of runs without a budget and of constraints are made here.
"""

from __future__ import annotations

import argparse
import shlex
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata

from skde import Integer, Minimizer, get_problem, problem_names
from skde.algorithms import get_algorithm
from skde.benchmark import provenance
from skde.benchmark.records import read_record, write_figures
from skde.cli.main import main as skde

# The size of a population, and the rule for bounds where it is not the default.
SMALL = (
    "jde:pop_size=10,jde:pop_size=20,jde:pop_size=40,jde,shade:pop_size=10,shade:pop_size=20,shade:pop_size=40,"
    "jade:pop_size=20,lshade:pop_size=10,repair=midpoint,lshade:pop_size=20,repair=midpoint,"
    "lshade:pop_size=40,repair=midpoint,lshade:pop_size=100,repair=midpoint,lshade:repair=midpoint,"
    "jso:pop_size=10,repair=midpoint,jso:pop_size=20,repair=midpoint,jso:pop_size=40,repair=midpoint,"
    "jso:repair=midpoint,lsrtde:pop_size=10,lsrtde:pop_size=20,lsrtde:pop_size=40,lsrtde,pso:pop_size=10,"
    "pso:pop_size=20,pso:pop_size=40,sade:pop_size=20,de:pop_size=20,rdex,rdex:pop_size=20,rdex:pop_size=40,"
    "cmaes"
)
MIDDLE = (
    "jde,jde:pop_size=30,shade:pop_size=30,shade:pop_size=100,lshade:pop_size=20,repair=midpoint,"
    "lshade:pop_size=50,repair=midpoint,lshade:pop_size=100,repair=midpoint,lshade:repair=midpoint,"
    "jso:pop_size=20,repair=midpoint,jso:pop_size=50,repair=midpoint,jso:repair=midpoint,lsrtde:pop_size=20,"
    "lsrtde:pop_size=50,lsrtde,pso:pop_size=40,sade:pop_size=30,lshade,lshade:pop_size=50,jso,jso:pop_size=20,"
    "rdex,rdex:pop_size=20,rdex:pop_size=50,cmaes"
)
LARGE = (
    "jde,shade:pop_size=100,lshade:pop_size=50,repair=midpoint,lshade:repair=midpoint,lshade,"
    "jso:pop_size=50,repair=midpoint,jso:repair=midpoint,jso,lsrtde,lsrtde:pop_size=50,rdex,rdex:pop_size=50,"
    "cmaes,cmaes:restarts=ipop"
)
# Suite, dimensions, evaluations a variable, runs, algorithms.
EXPERIMENTS = (
    ("bbob2009", "2,5,10,20", 100, 3, SMALL),
    ("bbob2009", "2,5,10,20", 1000, 3, MIDDLE),
    ("bbob2009", "5,10", 10_000, 3, LARGE),
    ("janssen2024", "10,20", 1000, 5, MIDDLE),
    ("janssen2024", "10,20", 10_000, 5, LARGE),
    ("cec2017", "10", 10_000, 3, LARGE),
)
GENERATIONS = (
    *(("jso", {"pop_size": size}) for size in (20, 50, 100, 200)),
    *(("rdex", {"pop_size": size}) for size in (50, 100, 200)),
    ("jso", {}),
    ("lshade", {}),
    ("shade", {"pop_size": 100}),
    ("cmaes", {}),
    ("cmaes", {"pop_size": 100}),
)
WITHOUT_BUDGET = (
    *(("shade", {"pop_size": size}) for size in (20, 30, 50, 100, 200)),
    *(("jade", {"pop_size": size}) for size in (50, 100)),
    ("sade", {"pop_size": 50}),
    ("jde", {"pop_size": 50}),
    ("jde", {}),
    ("soupde", {}),
    ("cmaes", {}),
)
MIDPOINT = {"repair": "midpoint"}
CONSTRAINED = (
    *(("jso", {**MIDPOINT, **given}) for given in ({}, {"pop_size": 20}, {"pop_size": 50})),
    *(("lshade", {**MIDPOINT, **given}) for given in ({}, {"pop_size": 20}, {"pop_size": 50}, {"pop_size": 100})),
    *((name, {}) for name in ("jso", "lshade", "lsrtde", "rdex", "cmaes")),
    *(("shade", {"pop_size": size}) for size in (30, 100)),
    *(("jde", given) for given in ({}, {"pop_size": 30})),
    *((name, {"pop_size": 50}) for name in ("de", "jade", "sade")),
)
INTEGERS = (
    *(("jso", {**MIDPOINT, "pop_size": size}) for size in (10, 20, 50)),
    *(("lshade", {**MIDPOINT, "pop_size": size}) for size in (20, 50, 100)),
    *((name, {}) for name in ("jso", "lshade", "lsrtde", "rdex", "cmaes", "jde", "sade")),
    *(("jso", {"pop_size": size}) for size in (20, 200)),
    ("rdex", {"pop_size": 50}),
)
# Errors below the limit are equal, as on the platforms.
ZERO, ZERO_CONSTRAINED = 1e-8, 1e-6
FUNCTIONS = [name for name in problem_names() if name.startswith(("nashed2012/f", "qin2012/"))]
INTEGER_FUNCTIONS = [name for name in FUNCTIONS if np.ptp(get_problem(name, dim=2).bounds, axis=1).min() > 4]
CONSTRAINTS = [f"fabris2012/p{number}" for number in range(2, 7)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="the folder of the records of skde bench run")
    parser.add_argument("--out", type=Path, required=True, help="the record, JSON")
    options = parser.parse_args(arguments)
    options.folder.mkdir(exist_ok=True)
    rows = [row for experiment in EXPERIMENTS for row in of_suite(options.folder, *experiment)]
    for limit in (30, 100, 300, 1000):
        rows += table("generations", GENERATIONS, FUNCTIONS, (2, 10), {"max_iter": limit}, limit, 5)
    for share in (1000, 10_000):
        rows += table("no budget", WITHOUT_BUDGET, FUNCTIONS, (2, 5, 10), {}, share, 3)
    for share in (100, 1000, 10_000):
        rows += table("integers", INTEGERS, INTEGER_FUNCTIONS, (2, 5, 10, 20), {}, share, 5)
        rows += table("constraints", CONSTRAINED, CONSTRAINTS, (None,), {}, share, 9)
    write_figures(
        options.out,
        {
            **provenance(f"python benchmarks/studies/auto/candidates.py {options.folder.name} --out {options.out}"),
            "zero": {"functions": ZERO, "constraints": ZERO_CONSTRAINED},
            "rows": rows,
        },
    )


def of_suite(folder: Path, suite: str, dims: str, share: int, runs: int, algorithms: str) -> Iterator[dict[str, Any]]:
    """Run an experiment, and give the rows of its dimensions."""
    file = folder / f"{suite}-{share}.json"
    command = ["bench", "run", "--suite", suite, "--dims", dims, "--algorithms", algorithms, "--runs", str(runs)]
    command += ["--budget", f"{share}*dim", "--n-jobs", "1", "--no-curves", "--out", str(file)]
    if skde(command) != 0:
        raise SystemExit(f"{shlex.join(['skde', *command])} failed")
    errors: dict[int, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for cell in read_record(file)["cells"]:
        values = np.array([np.inf if error is None else error for error in cell["error"]])
        errors[cell["dim"]][cell["function"]][cell["algorithm"]] = mean_log(values, ZERO)
    for dim, functions in errors.items():
        yield row_of(suite, dim, share, runs, list(functions.values()))


def table(
    name: str,
    candidates: Sequence[tuple[str, dict[str, Any]]],
    problems: Sequence[str],
    dims: Sequence[int | None],
    limits: dict[str, Any],
    share: int,
    runs: int,
) -> Iterator[dict[str, Any]]:
    """Give the rows of candidates on compiled problems; `share`: evaluations a variable, or generations."""
    zero = ZERO_CONSTRAINED if name == "constraints" else ZERO
    for dim in dims:
        functions = []
        for problem in (get_problem(one, dim=dim) for one in problems):
            budget = limits or {"max_evals": share * problem.dim}
            bounds = integers_of(problem.bounds) if name == "integers" else None
            found = {}
            for kind, parameters in candidates:
                algorithm = get_algorithm(kind, **parameters)
                m = Minimizer(algorithm, n_runs=runs, random_state=0, device="cpu", n_jobs=1, **budget)
                m.fit(problem, bounds=bounds)
                found[repr(algorithm)] = np.array(
                    [run.fun if run.feasible else 1e30 + run.violation for run in m.runs_]
                )
            # The lowest value at integers is not known.
            lowest = min(values.min() for values in found.values()) if bounds else problem.f_opt
            functions.append({key: mean_log(values - lowest, zero) for key, values in found.items()})
        yield row_of(name, dim, share, runs, functions)


def integers_of(bounds: Any) -> dict[str, Integer]:
    """Return integer variables within bounds."""
    return {f"x{k}": Integer(int(np.ceil(low)), int(np.floor(high))) for k, (low, high) in enumerate(bounds)}


def mean_log(errors: Any, zero: float) -> float:
    """Return the mean of the logarithms of errors, in six digits."""
    return float(f"{np.log10(np.clip(errors, zero, 1e300)).mean():.6g}")


def row_of(suite: str, dim: int | None, share: int, runs: int, functions: Sequence[dict[str, float]]) -> dict[str, Any]:
    """Return mean ranks over functions, and the means of the logarithms of the errors, the best first."""
    names = list(functions[0])
    logs = np.array([[function[name] for name in names] for function in functions])
    ranks = np.array([rankdata(row) for row in logs]).mean(axis=0)
    order = np.argsort(ranks, kind="stable")
    return {
        "suite": suite,
        "dim": dim,
        "per_variable": share,
        "functions": len(functions),
        "runs": runs,
        "ranks": {names[k]: [round(float(ranks[k]), 2), round(float(logs[:, k].mean()), 2)] for k in order},
    }


if __name__ == "__main__":
    main()
