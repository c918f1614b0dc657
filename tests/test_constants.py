"""Enumerations that Python and C++ share."""

from __future__ import annotations

from enum import IntEnum

import pytest

from skde.algorithms import de, pso
from skde.algorithms.base import REPAIRS
from skde.constants import ENUMERATIONS
from skde.islands import MIGRANTS, REPLACED, TOPOLOGIES, Step
from skde.stopping import MESSAGES, Status


@pytest.mark.parametrize("enumeration", [Status, Step])
def test_no_member_exists_on_one_side_only(enumeration: type[IntEnum]) -> None:
    assert {member.name: member.value for member in enumeration} == ENUMERATIONS[enumeration.__name__]


def test_every_status_has_a_message() -> None:
    assert set(MESSAGES) == set(Status)


def test_every_topology_of_a_swarm_has_a_default_of_neighbors() -> None:
    assert set(pso.NEIGHBORS) == set(pso.TOPOLOGIES)


def test_users_write_the_names_that_they_always_wrote() -> None:
    assert set(REPAIRS) == {"reflect", "midpoint", "clip", "random", "periodic"}
    assert set(pso.TOPOLOGIES) == {"global", "ring", "random"}
    assert (set(TOPOLOGIES), set(MIGRANTS), set(REPLACED)) == (
        {"ring", "random", "full"},
        {"best", "random"},
        {"worst", "random"},
    )
    both = ("rand/1", "rand/2", "best/1", "best/2", "current-to-best/1", "rand-to-best/1", "current-to-pbest/1")
    assert {f"{mutation}/{crossover}" for mutation in both for crossover in ("bin", "exp")} < set(de.strategies())
    assert de.NEEDS_NO_CROSSOVER in de.strategies()


def test_saved_files_hold_the_numbers_that_they_always_held() -> None:
    names = ["RUNNING", "LIMIT", "TARGET", "CONVERGED", "STAGNATED", "TIME", "CALLBACK", "INTERRUPTED", "HELD"]
    assert [Status(number).name for number in range(len(names))] == names
