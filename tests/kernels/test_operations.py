"""The cost of an evaluation does not grow with the population: counted operations of every algorithm on the CPU."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from skde import ARRDE, CHC, DE, GADE, GODE, GOJDE, PSO, SADE, SOUPDE, Migration, get_problem
from skde.algorithms import ALGORITHMS, SS, Algorithm, get_algorithm
from skde.benchmark.generations import new_batch
from skde.engines import CpuEngine
from skde.objectives.device import find_compiler

from ..shared_builds import built_once

GLUE = Path(__file__).with_name("counted.cpp")
# Of the sources: an installed package does not have the files of the CPU module.
KERNELS = Path(__file__).resolve().parents[2] / "skde" / "kernels"
# At -O1 without OpenMP, loops are not vectorised, so that each pass of one counts.
FLAGS = ["-std=c++17", "-O1", "-w", "-fPIC", "-fvisibility=hidden", f"-I{KERNELS}"]
FLAGS += ["-DSKDE_SCALAR", "-DSKDE_NAMESPACE=skde_counted", '-DSKDE_ISA="counted"']
COUNTED = "-fsanitize-coverage=trace-pc"

SIZES = (1000, 10_000, 100_000)
DIM, GENERATIONS = 2, 3
# Sorting has a slope of log(1e5 log 1e5 / 1e3 log 1e3) / log(100) = 1.11, and no algorithm does nothing else.
MOST_SLOPE = 1.12
# A quadratic step shows between two sizes long before it takes minutes.
CLEARLY_MORE = 1.3

Count = Callable[..., int]


def scatter_search(pool_size: int) -> SS:
    """Return a search with a pool of about pool_size trials: references x (references - 1)."""
    n_best = round(pool_size**0.5)
    return SS(pop_size=n_best + 1, n_best=n_best, n_diverse=1, n_local=1)


# The rare generations of opposition and of learning happen in every generation here.
SPECIAL: dict[str, Callable[[int], Algorithm]] = {
    "arrde": lambda pop_size: ARRDE(pop_size=pop_size, tol_first=1e9, tol_restart=1e9, tol_refine=1e9),
    "gode": lambda pop_size: GODE(pop_size=pop_size, opposition=1.0),
    "gojde": lambda pop_size: GOJDE(pop_size=pop_size, opposition=0.5),
    "sade": lambda pop_size: SADE(pop_size=pop_size, learning_period=1),
    "chc": lambda pop_size: CHC(pop_size=pop_size, bits=1),
    "gade": lambda pop_size: GADE(pop_size=pop_size, learning_period=1),
    "soupde": lambda pop_size: SOUPDE(pop_size // 10, shuffle=1.0, pop_size=pop_size),
    "ss": lambda pop_size: SS(pop_size=pop_size, n_local=1),
}
VARIANTS: dict[str, Callable[[int], Algorithm]] = {
    **{name: lambda pop_size, name=name: get_algorithm(name, pop_size=pop_size) for name in ALGORITHMS},
    **SPECIAL,
    "de, current-to-pbest/1": lambda pop_size: DE(pop_size=pop_size, strategy="current-to-pbest/1/bin"),
    "ss, large pool": scatter_search,
    "pso, ring": lambda pop_size: PSO(pop_size=pop_size, topology="ring"),
}
# A random topology draws a number for every pair of particles, by its definition.
QUADRATIC = {"pso, random": lambda pop_size: PSO(pop_size=pop_size, topology="random")}
MIGRATIONS = {
    "ring": Migration(every=1),
    "full": Migration(every=1, topology="full"),
    "random": Migration(every=1, topology="random", select="random", replace="random"),
}


@pytest.fixture(scope="module")
def count(tmp_path_factory: pytest.TempPathFactory) -> Count:
    """Return the function that runs a few generations and returns the number of operations."""
    function = ctypes.CDLL(str(built_once("counted.so", compile_counted, tmp_path_factory))).count_operations
    function.restype = ctypes.c_ulonglong
    function.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_longlong]

    def counted(algorithm: Algorithm, generations: int = GENERATIONS, migration: Migration | None = None) -> int:
        problem = get_problem("sphere", dim=DIM)
        islands = 2 if migration else 1
        batch = new_batch(CpuEngine(1), algorithm, problem, islands, generations, migration)
        found = int(function(batch.number, batch.task_address, generations))
        assert (batch.host("generation") == generations).all()
        return found

    return counted


def compile_counted(library: Path) -> None:
    """Compile the core so that it counts its operations."""
    compiler = find_compiler()
    types = sorted(set(re.findall(r", (\w+)\)", (KERNELS / "algorithms" / "all.cuh").read_text())))
    units = [[COUNTED, str(KERNELS / "cpu" / "cpu_isa.cpp")], [str(GLUE)]]
    units += [[COUNTED, f"-DSKDE_ALGORITHM={name}", str(KERNELS / "cpu" / "cpu_algorithm.cpp")] for name in types]
    objects = [str(library.with_suffix(f".{number}.o")) for number in range(len(units))]

    def compile_unit(unit: list[str], out: str) -> None:
        subprocess.run([*compiler, *FLAGS, *unit, "-c", "-o", out], check=True)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compile_unit, units, objects))
    subprocess.run([*compiler, "-shared", "-fopenmp", "-o", str(library), *objects], check=True)


def slope(sizes: tuple[int, ...], counts: list[int]) -> float:
    """Return the slope of log(count) against log(size)."""
    return float(np.polyfit(np.log(sizes[: len(counts)]), np.log(counts), 1)[0])


def check_slope(cost: Callable[[int], int]) -> None:
    """Check that the cost grows no faster than sorting, and stop at the size where it clearly does."""
    counts: list[int] = []
    for size in SIZES:
        counts.append(cost(size))
        for (a, b), (few, many) in zip(pairwise(SIZES), pairwise(counts), strict=False):
            assert slope((a, b), [few, many]) < CLEARLY_MORE, f"operations at {SIZES[: len(counts)]}: {counts}"
    assert slope(SIZES, counts) < MOST_SLOPE, f"operations at {SIZES}: {counts}"


@pytest.mark.parametrize("name", VARIANTS)
def test_operations_of_an_evaluation_do_not_grow_with_the_population(name: str, count: Count) -> None:
    check_slope(lambda size: count(VARIANTS[name](size)))


@pytest.mark.parametrize("name", MIGRATIONS)
def test_operations_of_a_migration_do_not_grow_with_the_population(name: str, count: Count) -> None:
    check_slope(lambda size: count(DE(pop_size=size), migration=MIGRATIONS[name]))


@pytest.mark.parametrize("name", QUADRATIC)
def test_named_exceptions_are_quadratic(name: str, count: Count) -> None:
    sizes = (1000, 3000)
    assert slope(sizes, [count(QUADRATIC[name](size)) for size in sizes]) > CLEARLY_MORE


def test_operations_are_counted(count: Count) -> None:
    count(DE(pop_size=1000))  # the first call of a process also counts what is made once
    assert count(DE(pop_size=1000)) == count(DE(pop_size=1000))
    assert 1.9 < count(DE(pop_size=1000), 19) / count(DE(pop_size=1000), 9) < 2.1
