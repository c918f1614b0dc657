"""Plots of the report, as SVG; drawing one imports matplotlib."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import FrozenTrial

from skde.tuning.parameter_scale import ParameterScale

OTHERS, BEST = "#9ab", "#c30"
COLUMNS = 3  # plots side by side
# The same plot is the same text every time; letters stay letters.
STYLE: Any = {"svg.hashsalt": "skde", "svg.fonttype": "none"}
Distributions = Mapping[str, BaseDistribution]


def make_figure(width: float, height: float) -> Any:
    """Return an empty figure, in inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def svg(drawn: Any) -> str:
    """Return a figure as an SVG element."""
    import matplotlib

    text = io.StringIO()
    with matplotlib.rc_context(STYLE):
        drawn.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()[text.getvalue().index("<svg") :]


def distributions_of(trials: Sequence[FrozenTrial]) -> dict[str, BaseDistribution]:
    """Return the parameters of trials that have more than one value, by name, with the bounds of all trials joined."""
    joint: dict[str, BaseDistribution] = {}
    for trial in trials:
        for name, distribution in trial.distributions.items():
            joint[name] = join_distributions(joint[name], distribution) if name in joint else distribution
    return {name: distribution for name, distribution in joint.items() if not distribution.single()}


def join_distributions(one: BaseDistribution, other: BaseDistribution) -> BaseDistribution:
    """Return a distribution with the values of both."""
    if one == other:
        return one
    if isinstance(one, CategoricalDistribution) and isinstance(other, CategoricalDistribution):
        return CategoricalDistribution([*one.choices, *(new for new in other.choices if new not in one.choices)])
    assert isinstance(one, FloatDistribution | IntDistribution)
    assert isinstance(other, FloatDistribution | IntDistribution)
    low, high, log = min(one.low, other.low), max(one.high, other.high), one.log and other.log
    if isinstance(one, IntDistribution) and isinstance(other, IntDistribution):
        # The largest step that meets the levels of both.
        return IntDistribution(int(low), int(high), log, math.gcd(one.step, other.step, one.low - other.low))
    return FloatDistribution(low, high, log)


def literal(given: Any) -> str:
    """Return a text in which matplotlib reads no formula."""
    return str(given).replace("$", r"\$")


def mark(axis: Any, distribution: BaseDistribution) -> None:
    """Write the values at their places on an axis of [0, 1]."""
    scale = ParameterScale(distribution)
    if isinstance(distribution, CategoricalDistribution):
        axis.set_ticks(
            [scale.unit(choice) for choice in distribution.choices], list(map(literal, distribution.choices))
        )
    else:
        places = np.linspace(0, 1, 5)
        axis.set_ticks(places, [f"{scale.value(float(place)):.3g}" for place in places])


def values_by_race(trials: Sequence[FrozenTrial], kept: Mapping[int, set[int]]) -> str:
    """Draw, for every parameter, the values of every race's new configurations, and of those that it kept."""
    parameters = distributions_of(trials)
    rows = -(-len(parameters) // COLUMNS)
    drawn = make_figure(10, 2.4 * rows)
    rng = np.random.default_rng(0)  # horizontal jitter, which separates equal points
    for place, (name, distribution) in enumerate(parameters.items(), 1):
        ax, scale = drawn.add_subplot(rows, COLUMNS, place), ParameterScale(distribution)
        new = [(trial.user_attrs["race"], trial.params[name]) for trial in trials if name in trial.params]
        best = [
            (race, trials[n].params[name])
            for race, numbers in kept.items()
            for n in numbers
            if name in trials[n].params
        ]
        for points, colour, size in ((new, OTHERS, 6), (best, BEST, 14)):
            races = [race + rng.uniform(-0.3, 0.3) for race, _ in points]
            ax.scatter(races, [scale.unit(value) for _, value in points], s=size, color=colour, linewidths=0)
        mark(ax.yaxis, distribution)
        ax.set_xticks(sorted({race for race, _ in new}))
        ax.set_ylim(-0.03, 1.03)
        ax.set_title(literal(name))
    return svg(drawn)


def parallel_coordinates(trials: Sequence[FrozenTrial], best: Sequence[int]) -> str:
    """Draw every configuration as a line through its values, the best ones in another colour."""
    parameters = distributions_of(trials)
    drawn = make_figure(max(6.0, 1.5 * len(parameters)), 3.6)
    ax = drawn.add_subplot()
    places = range(len(parameters))
    chosen = set(best)
    for trial in sorted(trials, key=lambda trial: trial.number in chosen):  # the best on top
        heights = [
            ParameterScale(distribution).unit(trial.params[name]) if name in trial.params else np.nan
            for name, distribution in parameters.items()
        ]
        is_best = trial.number in chosen
        ax.plot(places, heights, color=BEST if is_best else OTHERS, lw=1.8 if is_best else 0.3, marker="." * is_best)
    for place, distribution in enumerate(parameters.values()):
        own = ax.twinx()
        own.spines["right"].set_position(("data", place))
        own.set_ylim(0, 1)
        mark(own.yaxis, distribution)
    ax.set_ylim(0, 1)
    ax.set_yticks([])
    ax.set_xticks(list(places), list(map(literal, parameters)))
    ax.set_xlim(-0.05, max(len(parameters) - 1, 1) + 0.05)
    return svg(drawn)


def bars(shares: Mapping[str, float]) -> str:
    """Draw shares of one, the largest first."""
    ordered = sorted(shares.items(), key=lambda share: share[1])
    drawn = make_figure(6, 0.5 + 0.3 * len(ordered))
    ax = drawn.add_subplot()
    ax.barh([literal(name) for name, _ in ordered], [share for _, share in ordered], color=OTHERS)
    ax.set_xlim(0, 1)
    return svg(drawn)
