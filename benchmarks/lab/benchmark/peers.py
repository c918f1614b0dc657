"""The same algorithms in other libraries, which are optional; a record marks missing ones as absent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from skde.problems import Problem
from skde.typing import FloatArray

F, CR = 0.5, 0.9
# Weights of a swarm by Clerc's constriction.
W, C = 0.7298437881283576, 1.4961797656631332

# Runs a number of generations after the initial population and returns the number of evaluations.
Run = Callable[[int], int]
Function = Callable[[FloatArray], FloatArray]

ABSENT = "absent"
# The errors of libraries that are installed, but cannot be imported, by their names. They are known after the first
# attempt only, because imports take seconds, and some write files.
BROKEN: dict[str, str] = {}


@dataclass(frozen=True)
class PeerPackage:
    """A package that may be missing or broken.

    Attributes
    ----------
    name : str
        Name of the package.
    """

    name: str

    @property
    def defect(self) -> str:
        """The reason why it cannot be used: "absent", or the error of its import; else an empty string."""
        return BROKEN.get(self.name, "") if find_spec(self.name) is not None else ABSENT

    @property
    def present(self) -> bool:
        """Whether the library is installed, and no import of it has failed."""
        return not self.defect

    def load(self, build: Callable[[], Run]) -> Run:
        """Return the result of a function that imports the library.

        Raises
        ------
        RuntimeError
            If the library cannot be imported; it is not present from then on.
        """
        try:
            return build()
        except (ImportError, AttributeError, OSError) as error:  # the usual errors where versions do not fit
            BROKEN[self.name] = f"{self.name} cannot be imported: {error}"
            raise RuntimeError(BROKEN[self.name]) from error


@dataclass(frozen=True)
class Peer(PeerPackage):
    """A library in the comparison of speed.

    Attributes
    ----------
    note : str
        Options of the algorithm, and the language of the objective.
    compiled : bool
        Whether its objective is compiled; otherwise it is the same NumPy function that skde takes.
    build : callable
        (problem, pop_size) -> function that runs one optimisation.
    """

    note: str
    compiled: bool
    build: Callable[[Problem, int], Run]

    def make(self, problem: Problem, pop_size: int) -> Run:
        """Return the function that runs one optimisation.

        Raises
        ------
        RuntimeError
            If the library cannot be imported.
        """
        return self.load(partial(self.build, problem, pop_size))


def sphere(X: FloatArray) -> FloatArray:
    """Return the sum of squares of every row."""
    return np.asarray(np.einsum("ij,ij->i", X, X))


def rastrigin(X: FloatArray) -> FloatArray:
    """Return Rastrigin's function of every row."""
    return np.asarray((X * X - 10.0 * np.cos(2.0 * np.pi * X) + 10.0).sum(axis=1))


# By the names of Problem.kernel.
FUNCTIONS: dict[str, Function] = {"nashed2012_f0": sphere, "nashed2012_f9": rastrigin}


def function_of(problem: Problem) -> Function:
    """Return the problem as a NumPy function of a population.

    Raises
    ------
    ValueError
        For other problems than sphere and Rastrigin.
    """
    if problem.kernel not in FUNCTIONS:
        raise ValueError(f"peers know the problems sphere and rastrigin only, got {problem!r}")
    return FUNCTIONS[problem.kernel]


def make_scipy(problem: Problem, pop_size: int) -> Run:
    """Return SciPy's differential_evolution, synchronous and vectorised."""
    from scipy.optimize import differential_evolution

    function = function_of(problem)
    # The initial population sets the size; popsize would be a multiple of dim.
    rng = np.random.default_rng(0)
    start = rng.uniform(problem.bounds[:, 0], problem.bounds[:, 1], (pop_size, problem.dim))

    def run(generations: int) -> int:
        result = differential_evolution(
            lambda X: function(X.T),
            problem.bounds,
            strategy="rand1bin",
            maxiter=generations,
            init=start,
            mutation=F,
            recombination=CR,
            updating="deferred",
            vectorized=True,
            polish=False,
            tol=0,
            atol=0,
        )
        # With vectorized=True, nfev counts calls and not points.
        return (int(result.nit) + 1) * pop_size

    return run


def make_pygmo(problem: Problem, pop_size: int) -> Run:
    """Return pygmo's de on pygmo's own compiled function."""
    import pygmo

    def de(generations: int) -> Any:
        return pygmo.de(gen=generations, F=F, CR=CR, variant=7, ftol=0, xtol=0, seed=0)

    return pygmo_run(de, problem, pop_size)


def make_pygmo_swarm(problem: Problem, pop_size: int) -> Run:
    """Return pygmo's pso on pygmo's own compiled function."""
    import pygmo

    def pso(generations: int) -> Any:
        return pygmo.pso(generations, omega=W, eta1=C, eta2=C, max_vel=1.0, variant=1, neighb_type=1, seed=0)

    return pygmo_run(pso, problem, pop_size)


def pygmo_run(make: Callable[[int], Any], problem: Problem, pop_size: int) -> Run:
    """Return one of pygmo's algorithms, made for a number of generations, on pygmo's function."""
    import pygmo

    # pygmo has no sphere function; function 1 of its CEC 2013 suite is a shifted sphere.
    own = pygmo.rastrigin(dim=problem.dim) if function_of(problem) is rastrigin else pygmo.cec2013(1, problem.dim)

    def run(generations: int) -> int:
        population = pygmo.population(pygmo.problem(own), pop_size, seed=0)
        return int(pygmo.algorithm(make(generations)).evolve(population).problem.get_fevals())

    return run


def make_pyswarms(problem: Problem, pop_size: int) -> Run:
    """Return pyswarms' GlobalBestPSO on the vectorised NumPy function."""
    from pyswarms.single import GlobalBestPSO

    function = function_of(problem)
    bounds = (problem.bounds[:, 0], problem.bounds[:, 1])

    def run(generations: int) -> int:
        swarm = GlobalBestPSO(pop_size, problem.dim, {"w": W, "c1": C, "c2": C}, bounds)
        swarm.optimize(function, generations, verbose=False)
        return generations * pop_size

    return run


def make_minionpy(problem: Problem, pop_size: int) -> Run:
    """Return minionpy's DE on the vectorised NumPy function."""
    import minionpy

    function = function_of(problem)
    bounds = [(float(low), float(high)) for low, high in problem.bounds]
    counted = 0

    def values(X: list[list[float]]) -> list[float]:
        nonlocal counted
        counted += len(X)
        result: list[float] = function(np.asarray(X)).tolist()
        return result

    def run(generations: int) -> int:
        nonlocal counted
        counted = 0
        options = {
            "population_size": pop_size,
            "mutation_strategy": "rand1bin",
            "mutation_rate": F,
            "crossover_rate": CR,
            "x_tol": -1.0,
            "f_tol": -1.0,
        }
        maxevals = (generations + 1) * pop_size
        minionpy.Differential_Evolution(values, bounds, maxevals=maxevals, seed=0, options=options).optimize()
        return counted

    return run


PEERS = (
    Peer("scipy", "differential_evolution, rand1bin, deferred, vectorized, NumPy objective", False, make_scipy),
    Peer("pygmo", "de variant 7 (rand/1/bin), own C++ objective: rastrigin; cec2013 f1 as sphere", True, make_pygmo),
    Peer("minionpy", "Differential_Evolution, rand1bin, vectorised NumPy objective", False, make_minionpy),
)
SWARMS = (
    Peer(
        "pygmo",
        "pso variant 1, global best, own C++ objective: rastrigin; cec2013 f1 as sphere",
        True,
        make_pygmo_swarm,
    ),
    Peer("pyswarms", "GlobalBestPSO, vectorised NumPy objective", False, make_pyswarms),
)


def peer_notes(peers: Sequence[Peer] = PEERS) -> dict[str, str]:
    """Return the note of every peer, or "absent", or the error of its import."""
    return {peer.name: peer.defect or peer.note for peer in peers}
