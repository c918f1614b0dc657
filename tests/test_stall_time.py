"""The limit on the seconds without a better value: fits of all forms, several runs, files, and what it leaves alone."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skde import DE, LSHADE, DeviceObjective, Minimizer, minimize
from skde.cli.main import main
from skde.stopping import MESSAGES, Limits, Status

BOX = [(-1.0, 1.0)] * 3
FLAT = DeviceObjective("return 0;")
STALL = 0.2
MOST = 20.0  # seconds that no fit here takes


def make(algorithm: Any = "jde", **parameters: Any) -> Minimizer:
    return Minimizer(algorithm, random_state=0, device=parameters.pop("device", "cpu"), max_time=MOST, **parameters)


def flat(X: Any) -> Any:
    return np.zeros(len(X))


def flat_and_slow(x: Any) -> float:
    time.sleep(0.01)
    return 0.0


def improving(seconds: float, rows: slice = slice(None)) -> Callable[[Any], Any]:
    """A function whose values at some rows of a call fall for some seconds."""
    end: list[float] = []

    def f(X: Any) -> Any:
        now = time.perf_counter()
        end.append(now + seconds)
        values = np.zeros(len(X))
        values[rows] = -min(now, end[0])
        return values

    return f


def check_stalled(m: Minimizer) -> None:
    assert {run.status for run in m.runs_} == {Status.STALLED}
    assert m.message_.endswith(MESSAGES[Status.STALLED])
    assert not m.converged_
    assert not m.result_.success
    assert STALL / 2 < m.time_ < MOST  # the time of the last generation's end


@pytest.mark.parametrize("f", [flat, FLAT])
@pytest.mark.parametrize(
    "given", [{}, {"n_runs": 3}, {"n_islands": 2}, {"device": ["cpu", "cpu"], "n_runs": 2}, {"execution": "step"}]
)
def test_a_fit_without_a_better_value_ends(f: Any, given: dict[str, Any]) -> None:
    check_stalled(make(max_stall_time=STALL, **given).fit(f, BOX))


def test_a_generation_of_slow_points_is_cut_short() -> None:
    m = make(DE(pop_size=500), max_stall_time=STALL).fit(flat_and_slow, BOX)
    check_stalled(m)
    assert STALL / 0.01 / 4 < m.n_evals_ < 400
    assert m.n_iter_ == 0


@pytest.mark.parametrize("rows", [slice(None), slice(30, None)])
def test_a_better_value_of_any_run_begins_the_count_anew(rows: slice) -> None:
    m = make(DE(pop_size=30), n_runs=2, max_stall_time=STALL).fit(improving(0.5, rows), BOX)
    check_stalled(m)
    assert m.time_ > 0.5 + STALL - 0.1


def test_numbers_are_better_than_none() -> None:
    """Values that are not numbers are no improvement; the first number is one."""
    calls: list[float] = []

    def f(X: Any) -> Any:
        calls.append(time.perf_counter())
        late = calls[-1] - calls[0] > STALL / 2
        return np.full(len(X), 1.0 if late else np.nan)

    m = make(max_stall_time=STALL).fit(f, BOX)
    check_stalled(m)
    assert m.time_ > 1.4 * STALL


def test_other_limits_come_first() -> None:
    m = Minimizer("jde", max_stall_time=1000.0, max_iter=3, random_state=0, device="cpu").fit(flat, BOX)
    assert m.runs_[0].status == Status.LIMIT
    m = Minimizer("jde", max_stall_time=1000.0, max_time=0.1, random_state=0, device="cpu").fit(flat, BOX)
    assert m.runs_[0].status == Status.TIME


def test_it_is_a_limit() -> None:
    """A fit with it alone has no number of evaluations, so that an algorithm that plans needs one."""
    assert Limits(max_stall_time=1.0).evals(3) is None
    assert Limits().evals(3) == 30_000
    with pytest.raises(ValueError, match="needs max_evals or max_iter"):
        Minimizer(LSHADE(), max_stall_time=1.0, device="cpu").fit(flat, BOX)
    result = minimize(FLAT, BOX, max_stall_time=STALL, random_state=0)
    assert result.message.endswith(MESSAGES[Status.STALLED])


def test_a_local_search_follows() -> None:
    """Its count begins with it."""
    m = make("de", max_stall_time=STALL, polish="Nelder-Mead")
    m.fit(improving(0.1), BOX)
    assert m.runs_[0].status == Status.STALLED
    assert re.fullmatch(rf"{MESSAGES[Status.STALLED]} A local search of [1-9]\d+ evaluations followed.", m.message_)


def test_ask_and_tell_have_no_clock() -> None:
    m = Minimizer("jde", bounds=BOX, max_stall_time=1e-9, max_iter=4, random_state=0, device="cpu")
    while not m.stopped_:
        m.tell(m.ask(), flat(m.ask()))
    assert m.runs_[0].status == Status.LIMIT
    assert m.n_iter_ == 4


@pytest.mark.parametrize("f", [flat, FLAT])
def test_a_file_keeps_it_and_a_fit_goes_on(f: Any, tmp_path: Path) -> None:
    m = make(max_stall_time=STALL).fit(f, BOX)
    before = m.n_evals_
    m.save(tmp_path / "fit.skde")
    loaded = Minimizer.load(tmp_path / "fit.skde")
    assert loaded.get_params()["max_stall_time"] == STALL
    assert loaded.message_ == m.message_
    check_stalled(loaded.resume(f))
    assert loaded.n_evals_ > before
    again = loaded.set_params(max_stall_time=None, max_iter=2).resume(f)
    assert again.runs_[0].status == Status.LIMIT


def test_the_bits_do_not_depend_on_it() -> None:
    plain, watched = (
        Minimizer("jde", max_iter=40, n_runs=2, random_state=3, device="cpu", max_stall_time=limit).fit(
            "rastrigin", dim=5
        )
        for limit in (None, 1000.0)
    )
    assert np.array_equal(plain.population_, watched.population_)


@pytest.mark.parametrize("limit", [0, -1.0, float("nan"), "soon", True])
def test_values_that_are_no_time(limit: Any) -> None:
    with pytest.raises((ValueError, TypeError), match=r"max_stall_time must be a number in \(0, inf\], got"):
        Minimizer("jde", max_stall_time=limit, device="cpu").fit(flat, BOX)


def test_a_misspelt_name_is_refused() -> None:
    with pytest.raises(TypeError, match="max_stall_time"):
        Minimizer("jde", max_stal_time=1.0)  # type: ignore[call-arg]


def test_the_command_has_it(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["minimize", "sphere", "--dim", "2", "--algorithm", "jde", "--max-iter", "1000000", "--seed", "0"]
    assert main([*given, "--max-stall-time", "0.2", "--device", "cpu"]) == 0
    assert MESSAGES[Status.STALLED] in capsys.readouterr().out
