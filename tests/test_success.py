"""The success of a result, as in SciPy: a target or a tolerance was reached."""

from __future__ import annotations

import json
from typing import Any

import pytest
import scipy.optimize
from scipy.optimize import NonlinearConstraint

from skde import DE, Minimizer, MinMaxSolver, Status, minimize, scipy_method
from skde.cli.main import main

from .short_fits import BOX, f

ENDS: list[tuple[dict[str, Any], Status]] = [
    ({}, Status.LIMIT),
    ({"target": 1.0}, Status.TARGET),
    ({"tol": 10.0}, Status.CONVERGED),
    ({"stagnation": 1}, Status.STAGNATED),
    ({"callbacks": lambda progress: True}, Status.CALLBACK),
    ({"max_time": 1e-9}, Status.TIME),
]


@pytest.mark.parametrize(("rules", "status"), ENDS, ids=[status.name for _, status in ENDS])
def test_minimizer(rules: dict[str, Any], status: Status) -> None:
    m = Minimizer(DE(pop_size=8), max_iter=30, random_state=0, device="cpu", n_runs=2, **rules).fit(f, bounds=BOX)
    result = m.result_
    assert (m._best.status, result.status) == (status, status)
    assert result.success is m.converged_ is (status in (Status.TARGET, Status.CONVERGED))
    assert result.message == m.message_


@pytest.mark.parametrize(
    ("rules", "status"),
    [({}, Status.LIMIT), ({"target": 1e9}, Status.TARGET), ({"tol": 1e9}, Status.CONVERGED)],
)
def test_minmax(rules: dict[str, Any], status: Status) -> None:
    solver = MinMaxSolver(max_iter=2, gens_x=2, gens_y=2, random_state=0, device="cpu", **rules).fit("minmax/rustem1")
    assert solver.result_.status == status
    assert solver.result_.success is solver.converged_ is (status != Status.LIMIT)
    assert solver.result_.message == solver.message_


def test_scipy() -> None:
    """SciPy's own differential evolution says the same of a budget that was spent."""
    own = scipy.optimize.differential_evolution(scipy.optimize.rosen, BOX, maxiter=2, rng=0, polish=False)
    method = scipy_method("de", max_iter=2, random_state=0)
    ours = scipy.optimize.minimize(scipy.optimize.rosen, [0.0] * 3, method=method, bounds=BOX)
    assert own.success is ours.success is False
    reached = minimize(f, BOX, target=1.0, random_state=0, device="cpu")
    assert reached.success is True


def test_a_target_is_reached_by_feasible_points_only() -> None:
    nowhere = NonlinearConstraint(lambda x: x[..., 0], 100, 200)
    result = minimize(f, BOX, constraints=nowhere, tol=10.0, max_iter=20, random_state=0, device="cpu")
    assert result.success is False


@pytest.mark.parametrize(
    "command", [["minimize", "sphere", "--max-iter", "3"], ["minmax", "minmax/rustem1", "--max-iter", "1"]]
)
def test_command_line(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    for target, success in (("-1e9", False), ("1e9", True)):
        assert main([*command, "--device", "cpu", "--seed", "0", "--target", target, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert (found["success"], found["status"]) == (success, "TARGET" if success else "LIMIT")
