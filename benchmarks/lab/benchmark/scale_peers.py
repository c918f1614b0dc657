"""The peers of `skde bench speed --scale`: libraries with DE or PSO, all of them optional, on Rastrigin's function."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from skde.benchmark.peers import CR, C, F, PeerPackage, Run, W, make_pygmo, make_pygmo_swarm, rastrigin
from skde.problems import Problem

BOTH = ("float32", "float64")


@dataclass(frozen=True)
class ScalePeer(PeerPackage):
    """An algorithm of another library.

    Attributes
    ----------
    algorithm : str
        Our algorithm that it is compared with.
    note : str
        Its options, and how it differs.
    devices : tuple of str
        "cpu", "cuda" or both.
    dtypes : tuple of str
        Its precisions.
    build : callable
        (problem, pop_size, dtype, device) -> function that runs a number of generations and waits for their end.
    square_arrays : int, default 0
        Number of arrays with a number for each pair of individuals, which limit its population.
    """

    algorithm: str
    note: str
    devices: tuple[str, ...]
    dtypes: tuple[str, ...]
    build: Callable[[Problem, int, str, str], Run]
    square_arrays: int = 0

    def make(self, problem: Problem, pop_size: int, dtype: str, device: str) -> Run:
        """Return the function that runs a number of generations.

        Raises
        ------
        RuntimeError
            If the library cannot be imported.
        """
        return self.load(partial(self.build, problem, pop_size, dtype, device))

    def has(self, algorithm: str, dtype: str, device: str) -> bool:
        """Return whether it can be compared with an algorithm, in a precision, on a device such as "cuda:0"."""
        return self.algorithm == algorithm and dtype in self.dtypes and device.partition(":")[0] in self.devices


def make_evosax(algorithm: str, problem: Problem, pop_size: int, dtype: str, device: str) -> Run:
    """Return an algorithm of evosax, all generations in one compiled scan."""
    # JAX would take most of the GPU's memory, and our arrays are there too.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    import jax
    import jax.numpy as jnp
    from evosax.algorithms.population_based import PSO, DifferentialEvolution

    kind, _, number = device.partition(":")
    place = jax.devices("gpu" if kind == "cuda" else "cpu")[int(number or 0)]
    pi = float(np.pi)

    def function(X: Any) -> Any:
        return (X * X - 10.0 * jnp.cos(2.0 * pi * X) + 10.0).sum(axis=1)

    @contextmanager
    def setting() -> Iterator[None]:
        jax.config.update("jax_enable_x64", dtype == "float64")
        with jax.default_device(place):
            yield

    with setting():
        solution = jnp.zeros(problem.dim, dtype)
        if algorithm == "de":
            strategy = DifferentialEvolution(pop_size, solution)
            weights = {f"differential_weight{end}": F for end in ("", "_min", "_max")}
            parameters = strategy.default_params.replace(elitism=False, crossover_rate=CR, **weights)
        else:
            strategy = PSO(pop_size, solution)
            parameters = strategy.default_params.replace(inertia_coeff=W, cognitive_coeff=C, social_coeff=C)
        low, high = (jnp.asarray(bound, dtype) for bound in problem.bounds.T)
        key = jax.random.key(0)
        start = jax.random.uniform(key, (pop_size, problem.dim), dtype, low, high)
        begin = strategy.init(key, start, function(start), parameters)

    def generation(state: Any, key: Any) -> tuple[Any, None]:
        ask, tell = jax.random.split(key)
        X, state = strategy.ask(ask, state, parameters)
        state, _ = strategy.tell(tell, X, function(X), state, parameters)
        return state, None

    @partial(jax.jit, static_argnums=1)
    def scan(state: Any, generations: int) -> Any:
        return jax.lax.scan(generation, state, jax.random.split(key, generations))[0]

    def run(generations: int) -> int:
        with setting():
            jax.block_until_ready(scan(begin, generations))
        return generations * pop_size

    return run


def make_evox(algorithm: str, problem: Problem, pop_size: int, dtype: str, device: str) -> Run:
    """Return an algorithm of EvoX, its step compiled by torch.compile."""
    import torch
    from evox.algorithms import DE, PSO
    from evox.problems.numerical import Rastrigin
    from evox.workflows import StdWorkflow

    place, real = torch.device(device), getattr(torch, dtype)
    if place.type == "cuda" and not torch.cuda.is_available():
        raise RuntimeError("the installed PyTorch finds no GPU")

    @contextmanager
    def setting() -> Iterator[None]:
        before = torch.get_default_dtype()  # EvoX has no other parameter for the precision
        torch.set_default_dtype(real)
        try:
            yield
        finally:
            torch.set_default_dtype(before)

    with setting():
        low, high = (torch.tensor(bound.tolist(), dtype=real, device=place) for bound in problem.bounds.T)
        if algorithm == "de":
            strategy = DE(pop_size, low, high, differential_weight=F, cross_probability=CR, device=place)
        else:
            strategy = PSO(pop_size, low, high, w=W, phi_p=C, phi_g=C, device=place)
        workflow = StdWorkflow(strategy, Rastrigin(), device=place)
        workflow.init_step()
    # torch.compile keeps a few results for each code object and then gives up; a copy has results for one size only.
    method = StdWorkflow.step
    copied = FunctionType(
        method.__code__.replace(), method.__globals__, "step", method.__defaults__, method.__closure__
    )
    step = torch.compile(MethodType(copied, workflow))

    def run(generations: int) -> int:
        with setting():
            for _ in range(generations):
                step()
            if place.type == "cuda":
                torch.cuda.synchronize(place)
        return generations * pop_size

    return run


def make_fcmaes(problem: Problem, pop_size: int, dtype: str, device: str) -> Run:
    """Return fcmaes' compiled DE, asked and told, on the vectorised NumPy function."""
    from fcmaes.decpp import DE_C
    from scipy.optimize import Bounds

    box = Bounds(problem.bounds[:, 0], problem.bounds[:, 1])

    def run(generations: int) -> int:
        strategy = DE_C(problem.dim, box, popsize=pop_size, f=F, cr=CR, rg=np.random.default_rng(0))
        for _ in range(generations):
            strategy.tell(rastrigin(strategy.ask()))
        return generations * pop_size

    return run


def compile_by_pygmo(make: Callable[[Problem, int], Run]) -> Callable[[Problem, int, str, str], Run]:
    """Return a maker of pygmo's algorithms with the parameters of the other ones."""
    return lambda problem, pop_size, dtype, device: make(problem, pop_size)


PEERS = (
    ScalePeer(
        "evosax",
        "de",
        "DifferentialEvolution, elitism off, in a compiled scan; no bounds; on the CPU all threads",
        ("cpu", "cuda"),
        BOTH,
        partial(make_evosax, "de"),
        square_arrays=4,
    ),
    ScalePeer(
        "evosax",
        "pso",
        "PSO in a compiled scan, one random number for all components; no bounds; on the CPU all threads",
        ("cpu", "cuda"),
        BOTH,
        partial(make_evosax, "pso"),
    ),
    ScalePeer(
        "evox",
        "de",
        "DE, compiled step, donors drawn with repetition; on the CPU all threads",
        ("cpu", "cuda"),
        BOTH,
        partial(make_evox, "de"),
    ),
    ScalePeer(
        "evox", "pso", "PSO, compiled step; on the CPU all threads", ("cpu", "cuda"), BOTH, partial(make_evox, "pso")
    ),
    ScalePeer(
        "pygmo", "de", "de variant 7 (rand/1/bin), C++ objective", ("cpu",), ("float64",), compile_by_pygmo(make_pygmo)
    ),
    ScalePeer(
        "pygmo",
        "pso",
        "pso variant 1, global best, C++ objective",
        ("cpu",),
        ("float64",),
        compile_by_pygmo(make_pygmo_swarm),
    ),
    ScalePeer("fcmaes", "de", "DE_C, asked and told, NumPy objective", ("cpu",), ("float64",), make_fcmaes),
)


def scale_peer_notes() -> dict[str, str]:
    """Return the note of every peer by its name and algorithm, or "absent", or the error of its import."""
    return {f"{peer.name} {peer.algorithm}": peer.defect or peer.note for peer in PEERS}
