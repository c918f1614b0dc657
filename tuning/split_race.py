"""Race over the splits of a cross-validation, for skde.estimators.EvolutionSearchCV.

skde finds `race_splits` by its entry point: it imports nothing of skde.tuning.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

from skde.model_selection.evaluation import SearchEnd, SearchEvaluation
from skde.model_selection.parameter_space import Parameter, ParameterSpace
from skde.model_selection.searches import LEAST_POPULATION, random_search
from skde.tuning.iterated_race import AllRejectedError
from skde.tuning.loop import TuningLoop, TuningSetting
from skde.tuning.rules import PRESETS, Rules
from skde.tuning.space import Space
from skde.tuning.study_storage import StudyRecord, open_storage
from skde.tuning.targets.base import Target, TargetJob, TargetOutcome

RULES = PRESETS["small-budget"]
LEAST_FIRST_TEST = 2  # splits


class RaceTooSmall(ValueError):
    """Fewer splits or fits than the smallest race needs."""


def race_splits(evaluation: SearchEvaluation) -> None:
    """Let configurations race over the splits, and fit the last ones on all splits.

    With one split alone, and with fewer fits than the smallest race needs, random configurations are tried.

    Raises
    ------
    SearchEnd
        When all configurations of a race fail.
    """
    space = evaluation.space
    try:
        rules = race_rules(space.n_free, evaluation.n_fits, evaluation.n_splits)
        if evaluation.n_iter < LEAST_POPULATION:  # so few rivals save no fits that could pay for another race
            raise RaceTooSmall(f"n_iter must be at least {LEAST_POPULATION} for a race, got {evaluation.n_iter}")
    except RaceTooSmall as error:
        random_search(evaluation, str(error))
        return
    setting = TuningSetting(
        race_space(space),
        list(range(evaluation.n_splits)),
        rules,
        evaluation.n_fits - fits_of_survivors(rules, space.n_free, evaluation.n_splits),
        evaluation.seed,
        deterministic=True,
    )
    loop = TuningLoop(setting, StudyRecord(open_storage(None), {}, resume=False))
    try:
        loop.run(SplitTarget(evaluation))
    except AllRejectedError as error:  # scores of NaN: as in RandomizedSearchCV, they are ranks and a warning
        text = str(error)
        raise SearchEnd(f"{text[0].upper()}{text[1:]}.") from None
    evaluation.mean_costs([space.candidate(loop.configuration(number).params) for number in loop.elites])


def race_rules(n_parameters: int, n_fits: int, n_splits: int) -> Rules:
    """Return the rules of a race: with fewer fits, fewer survivors and then an earlier first test."""
    if n_splits < LEAST_FIRST_TEST:
        raise RaceTooSmall(
            f"search='racing' compares configurations over at least {LEAST_FIRST_TEST} splits, and cv has {n_splits}"
        )
    tests = range(min(RULES.first_test, n_splits), LEAST_FIRST_TEST - 1, -1)
    for first_test in tests:
        for survivors in range(RULES.n_survivors(n_parameters), 0, -1):
            rules = replace(RULES, survivors=survivors, first_test=first_test, mu=first_test)
            needed = rules.least_budget(n_parameters) + fits_of_survivors(rules, n_parameters, n_splits)
            if needed <= n_fits:
                return rules
    raise RaceTooSmall(
        f"n_iter must be at least {-(-needed // n_splits)} for a race of {n_parameters} parameters over {n_splits} "
        f"splits, got {n_fits // n_splits}"
    )


def fits_of_survivors(rules: Rules, n_parameters: int, n_splits: int) -> int:
    """Return the fits that the last configurations may need to have all splits."""
    return rules.n_survivors(n_parameters) * (n_splits - rules.first_test)


def race_space(space: ParameterSpace) -> Space:
    """Return a parameter space as one of raw values: indices of choices, and quantiles in [0, 1]."""
    distributions = {parameter.key: race_distribution(parameter) for parameter in space.parameters}
    conditions = {
        parameter.key: applies_in(space, parameter) for parameter in space.parameters if parameter.conditional
    }
    return Space(distributions, conditions=conditions)


def race_distribution(parameter: Parameter) -> BaseDistribution:
    """Return the distribution of a parameter's raw values."""
    if parameter.choices is None:
        return FloatDistribution(0.0, 1.0)
    if parameter.ordered:
        return IntDistribution(0, len(parameter.choices) - 1)
    return CategoricalDistribution(range(len(parameter.choices)))


def applies_in(space: ParameterSpace, parameter: Parameter) -> Callable[[Mapping[str, Any]], bool]:
    """Return the condition of a parameter, from raw values."""
    return lambda raw: space.applies(parameter, dict(raw))


class SplitTarget(Target):
    """The fits of a search as experiments: an instance is the number of a split."""

    batched = True

    def __init__(self, evaluation: SearchEvaluation) -> None:
        self.evaluation = evaluation

    def run(self, jobs: Sequence[TargetJob]) -> Generator[TargetOutcome]:
        """Yield the outcomes in the order of the jobs, after all fits are done."""
        begin = time.perf_counter()
        pairs = [(self.evaluation.space.candidate(job.params), job.instance) for job in jobs]
        costs = self.evaluation.costs(pairs)
        seconds = (time.perf_counter() - begin) / max(len(jobs), 1)
        for cost in costs:
            yield TargetOutcome(cost, seconds, error="the score is NaN or -inf" if cost == math.inf else None)

    def describe(self) -> str:
        """Return the estimator as text."""
        return repr(self.evaluation.task.estimator)
