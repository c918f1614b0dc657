"""The values of a function for local searches from many points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from skde.fit.phases.joint_search import JointSearch


def finish(search: JointSearch, f: Callable[[Any], Any]) -> None:
    """Make steps until every search has ended, with the values of f at rows of points."""
    while search.active.any():
        make_step(search, f)


def make_step(search: JointSearch, f: Callable[[Any], Any]) -> None:
    """Make one step."""
    step, values = search.step(), None
    while True:
        try:
            values = f(step.send(values)[1])
        except StopIteration:
            return
