"""Convergence curves of cells."""

import numpy as np
import pytest

from skde import Minimizer
from skde.benchmark import trials
from skde.benchmark.curves import CURVES, curve_entries, grid
from skde.benchmark.optimizers import get_optimizer
from skde.benchmark.records import read_record, write_record
from skde.benchmark.trials import TrialSettings
from skde.result import History


def history(n_evals, best):
    return History(np.array(n_evals), np.array(n_evals) * 0.5, np.array(best, float))


def test_the_grid_is_logarithmic():
    points = grid(10**6)
    assert points[[0, -1]].tolist() == [1, 10**6]
    steps = points[1:] / points[:-1]
    assert steps.max() <= 2
    assert steps[points[1:] > 100].max() < 10**0.05 * 1.01
    assert len(points) < 120
    assert grid(1).tolist() == [1]


def test_a_curve_has_the_last_value_before_each_point():
    found = curve_entries([history([2, 5, 9], [7.0, 4.0, 1.0]), None, history([1, 3], [np.inf, 1.0])], 1.0, 1e-8)
    assert found["curves"]["n_evals"] == [1, 2, 3, 4, 5, 6, 7, 8, 9]
    assert found["curves"]["error"] == [[None, 6, 6, 6, 3, 3, 3, 3, 0], [None] * 9, [None, None, *[0] * 7]]
    assert found["solved_at"] == [9, None, 3]
    assert found["run_seconds"] == [4.5, None, 1.5]


def test_a_run_that_is_not_solved_has_its_whole_time():
    found = curve_entries([history([2, 5, 9], [7.0, 4.0, 2.0])], 0.0, 1e-8)
    assert (found["solved_at"], found["run_seconds"]) == ([None], [4.5])


def test_cells_have_the_histories_of_their_runs(tmp_path):
    settings = TrialSettings("nashed2012", "20000", 2, seed=3)
    record = trials.run_trials(settings, [get_optimizer("jde")], [2], ["f0"], curves=True)
    (cell,) = record["cells"]
    runs = Minimizer("jde", max_evals=20000, n_runs=2, random_state=3, device="cpu").fit("sphere", dim=2).runs_
    for curve, run in zip(cell["curves"]["error"], runs, strict=True):
        assert curve[-1] == pytest.approx(run.fun, rel=1e-3)
        assert curve[-5] == pytest.approx(
            run.history.best[run.history.n_evals <= cell["curves"]["n_evals"][-5]][-1], 1e-3
        )
    assert all(0 < n_evals < 20000 for n_evals in cell["solved_at"])
    write_record(tmp_path / "runs.json", record)
    assert read_record(tmp_path / "runs.json") == record


def test_curves_are_left_out_where_they_are_not_wanted():
    record = trials.run_trials(TrialSettings("nashed2012", "200", 2), [get_optimizer("jde")], [2], ["f0"])
    assert not set(CURVES) & set(record["cells"][0])
