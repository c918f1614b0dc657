"""The progress bar of a tuning."""

from __future__ import annotations

from skde.tuning.loop import Session


class Bar:
    """A tqdm bar: experiments, the race, who is alive, the best."""

    def __init__(self, session: Session) -> None:
        from tqdm.auto import tqdm

        self.bar = tqdm(total=session.setting.max_experiments, unit="run", dynamic_ncols=True, mininterval=0.1)

    def __call__(self, session: Session) -> None:
        """Show where the session is."""
        machine = session.machine
        race = machine.race
        done = machine.used + (race.used if race is not None else 0)
        if done > self.bar.n:
            alive = len(race.alive) if race is not None else len(machine.elites)
            best = session.elites[0] if session.elites else "-"
            state = f"race {machine.iteration}/{machine.n_iterations}, {alive} alive, best {best}"
            self.bar.set_postfix_str(state, refresh=False)
            self.bar.update(done - self.bar.n)

    def close(self) -> None:
        """Leave the bar as it is."""
        self.bar.close()
