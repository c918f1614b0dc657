"""The progress bar of a tuning."""

from __future__ import annotations

import sys

from skde.tuning.loop import TuningLoop


class ProgressBar:
    """A tqdm bar: experiments, the race, how many configurations are alive, the number of the best.

    Parameters
    ----------
    loop : TuningLoop
        The tuning.
    """

    def __init__(self, loop: TuningLoop) -> None:
        from tqdm.auto import tqdm

        self.bar = tqdm(total=loop.setting.max_experiments, unit="run", dynamic_ncols=True, mininterval=0.1)

    def __call__(self, loop: TuningLoop) -> None:
        """Show the progress of the loop."""
        iterated_race = loop.iterated_race
        race = iterated_race.race
        done = iterated_race.used + (race.used if race is not None else 0)
        if done > self.bar.n:
            alive = len(race.alive) if race is not None else len(iterated_race.elites)
            best = loop.elites[0] if loop.elites else "-"
            place = f"race {iterated_race.iteration}/{iterated_race.n_iterations}"
            state = f"{place}, {alive} alive, best is configuration {best}"
            self.bar.set_postfix_str(state, refresh=False)
            self.bar.update(done - self.bar.n)

    def write(self, text: str) -> None:
        """Write a line above the bar."""
        self.bar.write(text, file=sys.stderr)

    def close(self) -> None:
        """Leave the bar as it is."""
        self.bar.close()
