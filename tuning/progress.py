"""Texts of the progress bar of a tuning."""

from __future__ import annotations

from skde.tuning.loop import TuningLoop


def describe_progress(loop: TuningLoop) -> tuple[int, str]:
    """Return the number of experiments, and the race, how many configurations are alive, the number of the best."""
    iterated_race = loop.iterated_race
    race = iterated_race.race
    done = iterated_race.used + (race.used if race is not None else 0)
    if not done:
        return 0, ""
    alive = len(race.alive) if race is not None else len(iterated_race.elites)
    best = loop.elites[0] if loop.elites else "-"
    place = f"race {iterated_race.iteration}/{iterated_race.n_iterations}"
    return done, f"{place}, {alive} alive, best is configuration {best}"
