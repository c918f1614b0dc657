"""The loop of a tuning: samples configurations, runs experiments, and adds their results to the races."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import joblib
import numpy as np
from optuna.trial import TrialState

from skde.tuning.configuration_sampling import (
    Parent,
    RaceStage,
    SamplingModel,
    first_configurations,
    next_configurations,
)
from skde.tuning.iterated_race import AllRejectedError, IteratedRace, RacePlan
from skde.tuning.race import Experiment, Race
from skde.tuning.rules import Rules
from skde.tuning.space import Configuration, Space
from skde.tuning.study_storage import StudyRecord
from skde.tuning.surrogate import Surrogate
from skde.tuning.targets.base import Target, TargetJob, TargetOutcome

# Of the names of instances: characters of a pair or a list, and of a hash.
LONGEST_NAME, HASH = 500, 16


class Result(NamedTuple):
    """The result of an experiment; values that a resumption has lost are None.

    Attributes
    ----------
    configuration, step : int
        Numbers of the trial and of its intermediate value.
    instance, seed : int
        The number of the step's instance, and its seed.
    cost : float
        Lower is better; inf for a failure.
    seconds : float or None
        Seconds of the experiment; in a batch, an equal share of the batch's time.
    n_evals : int or None
        Evaluations, if the target counts them.
    error : str or None
        The reason of a failure.
    """

    configuration: int
    step: int
    instance: int
    seed: int
    cost: float
    seconds: float | None
    n_evals: int | None
    error: str | None


@dataclass(frozen=True)
class TuningSetting:
    """The inputs of a tuning's decisions.

    Attributes
    ----------
    space : Space
        The configurations.
    instances : list
        The instances to tune for.
    rules : Rules
        Rules of the races.
    max_experiments : int
        Budget of the tuning.
    seed : int
        Seed of all draws.
    deterministic : bool
        Whether every instance is one step, or any number of them.
    """

    space: Space
    instances: list[Any]
    rules: Rules
    max_experiments: int
    seed: int
    deterministic: bool = False

    def rng(self, purpose: int, number: int) -> np.random.Generator:
        """Return the random generator for a purpose, a function of the seed and the arguments alone."""
        return np.random.default_rng([self.seed, purpose, number])

    def step(self, step: int) -> tuple[int, int]:
        """Return a step's instance, by its number, and its seed: all instances in a new order, again and again."""
        n = len(self.instances)
        order = self.rng(_INSTANCES, step // n).permutation(n)
        return int(order[step % n]), int(self.rng(_SEEDS, step).integers(2**31))


_CONFIGURATIONS, _INSTANCES, _SEEDS, _REPLAY, HELD_OUT = range(5)  # purposes of draws


class TuningLoop:
    """A tuning that runs or has ended.

    Parameters
    ----------
    setting : TuningSetting
        Inputs of the tuning.
    record : StudyRecord
        Storage of the results.
    results : iterable of Result, optional
        Results before an interruption of the same tuning: they have values that the record lacks.

    Attributes
    ----------
    iterated_race : IteratedRace
        The races.
    results : list of Result
        Results in the order of their arrival.
    races : list of dict
        Summaries of the races that are over.
    """

    def __init__(self, setting: TuningSetting, record: StudyRecord, results: Iterable[Result] = ()) -> None:
        self.setting = setting
        self.record = record
        self.on_result: Callable[[TuningLoop], None] | None = None  # called after every result
        self.on_race_end: Callable[[], bool] | None = None  # called after every race; true ends the loop
        self.results: list[Result] = []
        self.races: list[dict[str, Any]] = []
        self.parents: list[Parent] = []  # every configuration with its model
        self._before = {Experiment(result.configuration, result.step): result for result in results}
        self._taken: set[Experiment] = set()
        self._errors = dict(record.errors)  # of configurations
        self._steps: dict[int, tuple[int, int]] = {}  # instance and seed
        self._restarted = False
        self._decided_results: dict[Experiment, float] = {}  # results of the races that are over
        self._costs: dict[int, dict[int, float]] = {}  # the same, by step and configuration
        self._surrogate: Surrogate | None = None  # of a guided tuning, after its first race
        record.name_value("share of better configurations" if setting.rules.test == "friedman" else "mean cost")
        self.iterated_race = IteratedRace(
            setting.rules,
            setting.space.n_parameters,
            setting.max_experiments,
            self._shuffle,
            len(setting.instances) if setting.deterministic else None,
            self._best_first,
        )

    def run(self, target: Target) -> None:
        """Run to the end, or until `on_race_end` asks to stop after a race.

        Raises
        ------
        AllRejectedError
            When all configurations of a race fail.
        """
        while not self.iterated_race.finished:
            if self.iterated_race.plan is not None:
                self._begin(self.iterated_race.plan)
            race = self.iterated_race.race
            if race is not None:
                try:
                    self._advance(race, target)
                except AllRejectedError as error:
                    target.finish()
                    reasons = "; ".join(dict.fromkeys(list(self._errors.values())[:3]))
                    raise AllRejectedError(f"{error}, {len(race.configurations)} in all: {reasons}") from None
                if self.iterated_race.race is not race and self._close(race):
                    break
        for number in self.iterated_race.elites:
            self._finish(number, TrialState.COMPLETE)
        target.finish()

    @property
    def elites(self) -> list[int]:
        """The best configurations so far, the best first."""
        race = self.iterated_race.race
        leaders = race.best_first()[: self.iterated_race.minimum] if race is not None and race.position > 0 else []
        return leaders or self.iterated_race.elites

    def configuration(self, number: int) -> Configuration:
        """Return a configuration by its number."""
        return self.parents[number].configuration

    # -- the parts of the loop -----------------------------------------------------------------------------------------

    def _begin(self, plan: RacePlan) -> None:
        """Draw the configurations of a race."""
        first = len(self.parents)
        self.parents += self._first(plan) if plan.iteration == 1 else self._next(plan)
        new = range(first, len(self.parents))
        for number in new:
            self.record.add(number, self.configuration(number), plan.iteration)
        self.iterated_race.begin(new)

    def _first(self, plan: RacePlan) -> list[Parent]:
        space = self.setting.space
        missing = plan.n_new - len(space.initial)
        configurations = list(space.initial)
        if missing:
            rng = self.setting.rng(_CONFIGURATIONS, 1)
            configurations += first_configurations(space, missing, rng, sobol=self.setting.rules.elitist)
        return [Parent(configuration, SamplingModel()) for configuration in configurations]

    def _next(self, plan: RacePlan) -> list[Parent]:
        setting = self.setting
        stage = RaceStage(
            plan.iteration, plan.n_iterations, plan.n_new, setting.space.n_parameters, capped=setting.rules.elitist
        )
        elites = [self.parents[number] for number in plan.elites]
        choose = self._surrogate.choose if self._surrogate is not None else None
        rng = setting.rng(_CONFIGURATIONS, plan.iteration)
        pool = next_configurations(elites, setting.space, stage, rng, choose)
        for number, parent in zip(plan.elites, pool.parents, strict=True):
            self.parents[number] = parent
        self._restarted = pool.restarted
        return pool.children

    def _best_first(self, race: Race) -> list[int]:
        """Add the results of a race that is over, and return its survivors, the best first."""
        results = race.find_decided_results()
        self._decided_results |= results
        for experiment, cost in results.items():
            self._costs.setdefault(experiment.step, {})[experiment.configuration] = cost
        return self._guide(race) if self.setting.rules.guided else race.best_first()

    def _guide(self, race: Race) -> list[int]:
        """Fit the surrogate to all results, and return the survivors, the lowest expected cost first."""
        setting = self.setting
        configurations = [parent.configuration for parent in self.parents]
        self._surrogate = Surrogate(
            setting.space,
            configurations,
            self._decided_results,
            instance_of=lambda step: self._step(step)[0],
            n_instances=len(setting.instances),
            by_ranks=setting.rules.test == "friedman",
        )
        alive = race.best_first()
        expected = self._surrogate.mean([self.configuration(number) for number in alive])
        return [alive[i] for i in np.argsort(expected, kind="stable").tolist()]

    def _shuffle(self, iteration: int, steps: list[int]) -> list[int]:
        return [int(step) for step in self.setting.rng(_REPLAY, iteration).permutation(steps)]

    def _advance(self, race: Race, target: Target) -> None:
        """Take stored results of the pending experiments, or run these."""
        if not race.alive:  # a tuning that had failed, and is resumed
            raise AllRejectedError(race.ended)
        if race.ended:  # a tuning that was interrupted between a race's last result and its end, and is resumed
            self.iterated_race.close_ended_race()
            return
        pending = race.pending()
        stored = [experiment for experiment in pending if experiment in self.record.stored]
        if stored:
            for experiment in stored:
                self._take(experiment, self.record.stored[experiment], None)
            return
        if not target.batched:  # later steps may do with fewer configurations
            pending = [experiment for experiment in pending if experiment.step == pending[0].step]
        with closing(target.run([self._job(experiment) for experiment in pending])) as outcomes:
            for experiment, outcome in zip(pending, outcomes, strict=True):
                self.record.report(experiment, outcome.cost, outcome.error)
                self._take(experiment, outcome.cost, outcome)

    def _step(self, step: int) -> tuple[int, int]:
        if step not in self._steps:
            self._steps[step] = self.setting.step(step)
        return self._steps[step]

    def _job(self, experiment: Experiment) -> TargetJob:
        index, seed = self._step(experiment.step)
        params = self.configuration(experiment.configuration).params
        return TargetJob(experiment.configuration, params, index, self.setting.instances[index], seed)

    def _take(self, experiment: Experiment, cost: float, outcome: TargetOutcome | None) -> None:
        """Add a result, new or stored."""
        instance, seed = self._step(experiment.step)
        if experiment not in self._taken:
            self._taken.add(experiment)
            result: TargetOutcome | Result | None = outcome or self._before.get(experiment)
            seconds, n_evals, error = (result.seconds, result.n_evals, result.error) if result else (None, None, None)
            self.results.append(Result(*experiment, instance, seed, cost, seconds, n_evals, error))
            if outcome and outcome.error:
                self._errors[experiment.configuration] = outcome.error
        self.iterated_race.add_result(experiment, cost)
        if self.on_result is not None:
            self.on_result(self)

    def _close(self, race: Race) -> bool:
        """Store the summary of a race and end the trials of configurations that are out; return whether to stop."""
        rejected = {str(number): self._errors.get(number, "") for number in race.rejected}
        summary = {
            "iteration": self.iterated_race.iteration,
            "n_configurations": len(race.configurations),
            "n_steps": race.position,
            "n_experiments": race.used,
            "alive": race.alive,
            "elites": self.iterated_race.elites,
            "rejected": rejected,
            "soft_restart": self._restarted,
            "ended": race.ended,
        }
        self.races.append(summary)
        self.record.store_race(self.iterated_race.iteration, summary)
        for number in race.configurations:
            if number in race.rejected:
                self.record.finish(number, TrialState.FAIL)
            elif number not in race.alive:
                self._finish(number, TrialState.PRUNED)
            elif number not in self.iterated_race.elites:
                self._finish(number, TrialState.COMPLETE)
        return self.on_race_end is not None and self.on_race_end()

    def _finish(self, number: int, state: TrialState) -> None:
        """End the trial of a configuration with results."""
        self.record.finish(number, state, self.value(number), self.mean_cost(number))

    def value(self, number: int) -> float:
        """Return the value of a trial: the mean share of configurations that are better, or the mean cost.

        Costs of different instances cannot be averaged where only their ranks count. Results that races have not asked
        for do not count, as where a configuration had failed and processes had begun more.
        """
        if self.setting.rules.test != "friedman":
            return self.mean_cost(number)
        shares = []
        for of_step in self._costs.values():
            if number in of_step:
                cost = of_step[number]
                costs = np.fromiter(of_step.values(), np.float64, len(of_step))
                shares.append(float(((costs < cost).sum() + ((costs == cost).sum() - 1) / 2) / max(len(costs) - 1, 1)))
        return float(np.mean(shares))

    def mean_cost(self, number: int) -> float:
        """Return the mean cost of a configuration over the steps that races have asked for."""
        return float(np.mean([of_step[number] for of_step in self._costs.values() if number in of_step]))


def describe_setting(setting: TuningSetting) -> dict[str, Any]:
    """Return a setting as data."""
    return {
        "space": setting.space.describe(),
        "ordinal_parameters": sorted(setting.space.ordinal),
        "initial_configurations": [configuration.params for configuration in setting.space.initial],
        "instances": [instance_name(instance) for instance in setting.instances],
        "rules": asdict(setting.rules),
        "max_experiments": setting.max_experiments,
        "random_state": setting.seed,
        "deterministic": setting.deterministic,
    }


def instance_name(instance: Any) -> str:
    """Return the name of an instance: its repr if that is reproducible, as `Problem(...)` is, else its type.

    A function has its name instead, data have their shape and a part of their hash, and a pair has the names of its
    parts: with another one of them a tuning is another.
    """
    kind = type(instance).__name__
    if isinstance(instance, Mapping):
        instance = tuple(instance.items())
    if isinstance(instance, list | tuple):
        text = f"({', '.join(map(instance_name, instance))})"
        return text if len(text) <= LONGEST_NAME else f"{kind} {joblib.hash(text)[:HASH]}"
    if isinstance(instance, np.generic):
        instance = instance.item()
    elif hasattr(instance, "shape"):
        return f"{kind}{tuple(instance.shape)} {joblib.hash(instance)[:HASH]}"
    text = repr(instance)
    if isinstance(instance, str | int | float) or text.startswith(f"{kind}("):
        return text
    return getattr(instance, "__qualname__", kind)
