"""Particle swarms and the NumPy implementation: topologies, repair, limits of the velocity."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from skde import PSO
from skde.algorithms.base import REPAIRS
from skde.algorithms.pso import TOPOLOGIES

from .pso import Swarm
from .side_by_side import SEVEN, WIDE, bowl, corner, plateau, side_by_side


def same_velocity(kernel: Any, plain: Swarm) -> None:
    """Where the particles are and where they go: the second vector that the kernel keeps for them."""
    batch = kernel._fit.batch
    position, velocity = batch.array["vectors"][:, plain.generation & 1, 0]
    assert np.array_equal(position, plain.position)
    assert np.array_equal(velocity, plain.velocity)


@pytest.mark.parametrize("repair", REPAIRS)
@pytest.mark.parametrize("v_max", [None, 0.2])
@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_topologies_with_every_repair(topology: str, v_max: float | None, repair: str) -> None:
    algorithm = PSO(topology=topology, v_max=v_max, repair=repair, pop_size=13)
    plain = side_by_side(algorithm, SEVEN, corner(SEVEN), seed=2**50 + 1, check=same_velocity, max_iter=20)
    assert plain.left > 20


@pytest.mark.parametrize("repair", REPAIRS)
def test_particles_that_leave_by_far(repair: str) -> None:
    """By more than a width of the box, so that one reflection is not enough."""
    algorithm = PSO(w=1.0, c1=4.0, c2=4.0, repair=repair, pop_size=10)
    plain = side_by_side(algorithm, SEVEN, corner(SEVEN), check=same_velocity, max_iter=25)
    assert plain.left > 100


@pytest.mark.parametrize(("topology", "n_neighbors"), [("ring", 4), ("ring", 10), ("random", 1), ("random", 10)])
def test_neighbourhoods(topology: str, n_neighbors: int) -> None:
    for pop_size in (11, 40):
        algorithm = PSO(topology=topology, n_neighbors=n_neighbors, pop_size=pop_size)
        side_by_side(algorithm, SEVEN, bowl(SEVEN), seed=9, check=same_velocity, max_iter=20)


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_smallest_swarms(topology: str) -> None:
    """Two particles, three in a ring."""
    pop_size, n_neighbors = (3, None) if topology == "ring" else (2, 1)
    algorithm = PSO(topology=topology, n_neighbors=n_neighbors, pop_size=pop_size)
    side_by_side(algorithm, SEVEN, bowl(SEVEN), check=same_velocity, max_iter=20)


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_many_components_and_particles(topology: str) -> None:
    side_by_side(PSO(topology=topology, pop_size=20), WIDE, bowl(WIDE), check=same_velocity, max_iter=3)
    side_by_side(PSO(topology=topology, pop_size=140), SEVEN[:2], bowl(SEVEN[:2]), check=same_velocity, max_iter=5)


@pytest.mark.parametrize(
    "parameters", [PSO.nashed2012(), PSO.constriction(2.1, 2.3), PSO(w=-0.6), PSO(c1=0), PSO(c2=0)]
)
def test_weights(parameters: PSO) -> None:
    algorithm = PSO(**{**parameters.get_params(), "pop_size": 15})
    side_by_side(algorithm, SEVEN, bowl(SEVEN), check=same_velocity, max_iter=20)


def test_the_graph_stays_while_the_best_improves() -> None:
    """Other generations draw it again."""

    def lasting(objective: Any) -> int:
        graphs: set[int] = set()
        algorithm = PSO(topology="random", pop_size=20)
        side_by_side(algorithm, SEVEN, objective, check=lambda kernel, plain: graphs.add(plain.graph), max_iter=20)
        return len(graphs)

    assert lasting(plateau) == 21
    assert 1 < lasting(bowl(SEVEN)) < 15


def test_random_graphs_have_as_many_informants_as_asked() -> None:
    """A particle informs K others on average, up to the repetitions that Clerc's form allows."""
    n = 50
    for K in (1, 3, 20):
        counts = []
        for seed in range(20):
            swarm = Swarm(PSO(topology="random", n_neighbors=K, pop_size=n), SEVEN[:1], seed)
            counts += [len(swarm.neighbours(i)) - 1 for i in range(n)]
        expected = (n - 1) * (1 - (1 - 1 / n) ** K)
        assert abs(np.mean(counts) - expected) < 5 * np.sqrt(expected / len(counts))


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_neighbourhoods_without_a_number(topology: str) -> None:
    """Where all have NaN, the first of them leads: never a particle that is no neighbour."""
    for seed in range(20):
        algorithm = PSO(topology=topology, n_neighbors=2, pop_size=12)

        def rare(X: Any, seed: int = seed) -> Any:
            return np.where(np.arange(len(X)) == seed % 12, 1.0, np.nan)

        side_by_side(algorithm, SEVEN, rare, seed=seed, check=same_velocity, max_iter=4)
