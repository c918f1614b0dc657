"""An objective of the engines' tests."""

from __future__ import annotations

import pytest

from skde import DeviceObjective


@pytest.fixture
def objective_with_scratch() -> DeviceObjective:
    """Return an objective with working memory of one number for each variable, and an array."""
    body = """
    real* y = team.scratch;
    team.each(d, [&](int j) { y[j] = cos(x[j]) * w[j % int(w_size)]; });
    team.sync();
    return team.sum(d, [&](int j) { return y[j] + x[(j + 1) % d] * x[j]; });
    """
    return DeviceObjective(body, arrays={"w": [1.0, 2.0, 3.0]}, scratch=1)
