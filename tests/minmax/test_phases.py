"""The phases of a cycle, which the kernels do in one call and a host that evaluates one by one."""

from __future__ import annotations

import numpy as np
import pytest

from skde import _cpu, get_problem

from .games import make, state

PHASES = {number: name for name, number in _cpu.enumerations()["CoevolutionPhase"].items()}
POINTS = {number: name for name, number in _cpu.enumerations()["Points"].items()}
RENEWAL = ["RENEW_Y", "EVALUATE_Y", "REORDER_Y"]


def names(c: int, y_evaluated: bool = False, problem: str = "minmax/rustem5", **parameters: object) -> list[str]:
    batch = make(max_iter=0, **parameters).fit(problem)._coevolution
    return [PHASES[phase.number] for phase in batch.phases(c, y_evaluated)]


def test_phases_of_a_game() -> None:
    first = ["BEGIN", "EVOLVE_X", "DESCRIBE_X", "EVOLVE_Y", "COLLECT", "CONCLUDE"]
    later = ["EVOLVE_X", "DESCRIBE_X", *RENEWAL, "EVOLVE_Y", "COLLECT", "EVALUATE_X", "REORDER_X", "CONCLUDE"]
    assert names(0) == first
    assert names(1) == later
    assert names(1, y_evaluated=True) == [name for name in later if name not in RENEWAL]
    assert names(1, renewal=0.0) == [name for name in later if name != "RENEW_Y"]


def test_phases_of_updated_multipliers() -> None:
    later = ["EVOLVE_X", "DESCRIBE_X", "UPDATE", "EVALUATE_X", "REORDER_X", "CONCLUDE"]
    assert names(0, problem="fabris2012/p3") == ["BEGIN", *later]
    assert names(1, problem="fabris2012/p3") == later


def test_generations_and_requests() -> None:
    batch = make(max_iter=0).fit("minmax/rustem5")._coevolution
    phases = {PHASES[phase.number]: phase for phase in batch.phases(5, False)}
    sides = {name: (phase.side, phase.generation) for name, phase in phases.items() if phase.side}
    assert sides == {"EVOLVE_X": ("x", 15), "REORDER_Y": ("y", 16), "EVOLVE_Y": ("y", 20), "REORDER_X": ("x", 15)}
    assert {name for name, phase in phases.items() if phase.evolves} == {"EVOLVE_X", "EVOLVE_Y"}
    requests = {name: (POINTS[phase.x], POINTS[phase.y]) for name, phase in phases.items() if POINTS[phase.x] != "NONE"}
    again = ("POPULATION_AND_INCUMBENT", "OPPONENTS")
    assert requests == {
        "EVOLVE_X": ("TRIALS", "OPPONENTS"),
        "EVALUATE_Y": ("POPULATION", "POPULATION"),
        "EVOLVE_Y": ("POPULATION", "TRIALS"),
        "EVALUATE_X": again,
        "CONCLUDE": again,
    }
    assert [name for name, phase in phases.items() if phase.repeated] == ["CONCLUDE"]


@pytest.mark.parametrize("asked", [3, 5, 9, 12, 16])
def test_a_compiled_game_continues_a_cycle_of_a_function(asked: int) -> None:
    """After a renewal of y, it does not renew y a second time."""
    problem = get_problem("minmax/rustem5")
    part = make(n_runs=2, bounds_x=problem.bounds_x, bounds_y=problem.bounds_y)
    for _ in range(asked):
        X, Y = part.ask()
        part.tell(X, Y, np.stack([problem(x, y) for x, y in zip(X, Y, strict=True)]))
    whole, resumed = state(make(n_runs=2).fit(problem)), state(part.resume(problem))
    assert all(np.array_equal(whole[name], resumed[name]) for name in whole if not name.endswith(".status"))
