"""One race, as a state machine: its input are results, its output the next experiments.

Configurations and steps are numbers here, and costs are floats. The race decides step by step, when all results of a
step are there, so that decisions do not depend on the order of results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from skde.tuning import statistical_tests
from skde.tuning.rules import Rules
from skde.typing import BoolArray, FloatArray, IntArray


class Experiment(NamedTuple):
    """A run of a configuration on a step."""

    configuration: int
    step: int


ALL_FAILED = "every configuration of the race failed"


class Race:
    """One race.

    Before every step the race checks whether it ends. When all results of a step are there, it rejects configurations
    of infinite cost and, if a test is due, eliminates configurations by the test.

    Parameters
    ----------
    rules : Rules
        The kind of race.
    configurations : sequence of int
        Numbers of the configurations; the order decides between equals.
    steps : callable
        steps(position) is the step at a position 0, 1, ..., or None after the last one.
    minimum : int
        The race ends when no more than these are alive.
    budget : int
        Experiments that the race should not exceed.
    limit : int
        Experiments that it must not exceed.
    earlier : mapping of Experiment to float, optional
        Results of elites in earlier races; their steps come before others. A test cannot eliminate an elite before
        these steps are replayed, and the race does not end before a step with results of eliminated
        configurations alone.

    Attributes
    ----------
    used : int
        Number of experiments, the earlier results left out.
    ended : str or None
        The reason of the end.
    rejected : list of int
        Configurations with an infinite cost.
    """

    def __init__(
        self,
        rules: Rules,
        configurations: Sequence[int],
        steps: Callable[[int], int | None],
        *,
        minimum: int,
        budget: int,
        limit: int,
        earlier: Mapping[Experiment, float] | None = None,
    ) -> None:
        self.rules = rules
        self.configurations = list(configurations)
        self.steps = steps
        self.minimum, self.budget, self.limit = minimum, budget, limit
        self.used = 0
        self.ended: str | None = None
        self.rejected: list[int] = []
        self.position = 0
        self._tests = 0
        self._tests_without_elimination = 0  # tests in a row without an elimination
        self._column = {configuration: c for c, configuration in enumerate(self.configurations)}
        self._row: dict[int, int] = {}  # by the step
        self._alive = np.ones(len(self.configurations), bool)
        self._costs: FloatArray = np.full((0, len(self.configurations)), np.nan)
        self._earlier = np.zeros(self._costs.shape, bool)
        self._rows(rules.first_test)
        for experiment, cost in (earlier or {}).items():
            self._add_earlier(experiment, cost)
        self._to_replay: IntArray = self._earlier.sum(axis=0)  # earlier results that are not yet replayed
        self._advance()

    def _add_earlier(self, experiment: Experiment, cost: float) -> None:
        """Add a result of an earlier race."""
        while experiment.step not in self._row:
            before = len(self._row)
            self._rows(before + 1)
            if len(self._row) == before:
                raise ValueError(f"{experiment} is a result of an earlier race, but this race has no such step")
        place = self._row[experiment.step], self._column[experiment.configuration]
        self._costs[place], self._earlier[place] = cost, True

    # -- queries -------------------------------------------------------------------------------------------------------

    @property
    def alive(self) -> list[int]:
        """The configurations that are still in the race."""
        return [self.configurations[c] for c in np.flatnonzero(self._alive)]

    def pending(self) -> list[Experiment]:
        """Return the experiments that can run now, the most urgent first: all up to the next test."""
        if self.ended:
            return []
        experiments: list[Experiment] = []
        used = self.used
        for row in range(self.position, self._horizon()):
            used += int((self._alive & ~self._earlier[row]).sum())
            if used > self.limit:
                break
            missing = np.flatnonzero(self._alive & np.isnan(self._costs[row]))
            step = self.steps(row)
            assert step is not None
            experiments += [Experiment(self.configurations[c], step) for c in missing]
        return experiments

    @property
    def last_step(self) -> int:
        """The highest step that is decided, -1 at the beginning."""
        return max((step for step, row in self._row.items() if row < self.position), default=-1)

    def best_first(self) -> list[int]:
        """Return the configurations in the race, the best first: by the number of steps with results, then by score.

        So in a race that ended early a new configuration does not come before an elite with more results.
        """
        columns = np.flatnonzero(self._alive)
        decided = self._find_decided()[:, columns]
        counts = decided.sum(axis=0)
        ordered: list[int] = []
        for count in np.unique(counts)[::-1]:
            alike = np.flatnonzero(counts == count)
            common = decided[:, alike].all(axis=1)
            order = np.arange(len(alike))
            if common.any():
                costs = self._costs[np.ix_(common, columns[alike])]
                order = np.argsort(statistical_tests.scores(costs, self.rules.test), kind="stable")
            ordered += [self.configurations[c] for c in columns[alike[order]]]
        return ordered

    def results(self) -> dict[Experiment, float]:
        """Return the results of the configurations in the race: earlier ones, and results of decided steps."""
        steps = {row: step for step, row in self._row.items()}
        decided = self._find_decided()
        return {
            Experiment(self.configurations[column], steps[int(row)]): float(self._costs[row, column])
            for column in np.flatnonzero(self._alive)
            for row in np.flatnonzero(decided[:, column])
        }

    def find_decided_results(self) -> dict[Experiment, float]:
        """Return the results of all configurations on decided steps; of one that failed, the failure.

        Other results, of later steps, depend on the order in which experiments are run.
        """
        costs = self._costs[: self.position]
        failed = np.isposinf(costs)
        first_failure = failed & (np.cumsum(failed, axis=0) == 1)
        decided = np.where(failed.any(axis=0), first_failure, ~np.isnan(costs))
        steps = {row: step for step, row in self._row.items()}
        return {
            Experiment(self.configurations[column], steps[row]): float(costs[row, column])
            for row, column in np.argwhere(decided).tolist()
        }

    def _find_decided(self) -> BoolArray:
        """Return which results of the configurations in the race do not depend on the order of arrival."""
        decided = self._earlier.copy()
        decided[: self.position] = True
        return decided

    # -- results -------------------------------------------------------------------------------------------------------

    def add_result(self, experiment: Experiment, cost: float) -> None:
        """Add a result; infinity rejects the configuration.

        Parameters
        ----------
        experiment : Experiment
            A pending experiment; others, and those with a result, are ignored.
        cost : float
            Lower is better; not NaN.
        """
        if np.isnan(cost):
            raise ValueError(f"the cost of {experiment} is NaN; a failure has the cost inf")
        row, column = self._row.get(experiment.step), self._column.get(experiment.configuration)
        if row is None or column is None or not np.isnan(self._costs[row, column]):
            return
        self._costs[row, column] = cost
        if row == self.position:
            self._advance()

    # -- decisions -----------------------------------------------------------------------------------------------------

    def _advance(self) -> None:
        """Decide all steps that have all their results."""
        while self.ended is None:
            self.ended = self._reason_to_end()
            if self.ended or np.isnan(self._costs[self.position, self._alive]).any():
                return
            self._close_step()

    def _rows(self, count: int) -> None:
        """Make room for the steps at the first `count` positions, as far as there are any."""
        while len(self._row) < count:
            step = self.steps(len(self._row))
            if step is None:
                break
            self._row[step] = len(self._row)
        missing = len(self._row) - len(self._costs)
        if missing > 0:
            blank = np.full((max(missing, len(self._costs)), len(self.configurations)), np.nan)
            self._costs = np.vstack([self._costs, blank])
            self._earlier = np.vstack([self._earlier, np.zeros(blank.shape, bool)])

    def _horizon(self) -> int:
        """Return the position after the last step of the next test, at most that after the last step of all."""
        each = self.rules.each_test
        ahead = max((self.position // each + 1) * each, self.rules.first_test)
        self._rows(ahead)
        return min(ahead, len(self._row))

    def _reason_to_end(self) -> str | None:
        """Return the reason to end before the current step, or None."""
        if self.position >= self._horizon():
            return "no steps left"
        missing = int((self._alive & ~self._earlier[self.position]).sum())
        if self.used + missing > self.limit:
            return "no experiments left"
        if self.position < self.rules.first_test or not self._all_covered():
            return None
        n_alive = int(self._alive.sum())
        if n_alive <= self.minimum:
            return f"{n_alive} alive, at most {self.minimum} wanted"
        each = self.rules.each_test
        if self.position % each == 0 and self.used + missing * each > self.budget:
            return "the race's experiments do not suffice for the next test"
        patience = self.rules.patience
        if self.rules.elitist and patience is not None and self._tests_without_elimination >= patience:
            return f"{self._tests_without_elimination} tests in a row eliminated no configuration"
        return None

    def _all_covered(self) -> bool:
        """Whether every step still to come that has earlier results has one of a configuration that is alive."""
        earlier = self._earlier[self.position :]
        return bool((earlier[:, self._alive].any(axis=1) | ~earlier.any(axis=1)).all())

    def _close_step(self) -> None:
        """Reject and eliminate by the results up to the current step."""
        earlier = self._earlier[self.position]
        self.used += int((self._alive & ~earlier).sum())
        self._to_replay = self._to_replay - (earlier & self._alive)
        failed = self._alive & np.isposinf(self._costs[self.position])
        self.rejected += [self.configurations[c] for c in np.flatnonzero(failed)]
        self._alive = self._alive & ~failed
        self.position += 1
        if not self._alive.any():
            self.ended = ALL_FAILED
            return
        due = self.position >= self.rules.first_test and self.position % self.rules.each_test == 0
        if due and self._alive.sum() > 1:
            self._eliminate()

    def _eliminate(self) -> None:
        self._tests += 1
        columns = np.flatnonzero(self._alive)
        costs = self._costs[: self.position, columns]
        kept = statistical_tests.survivors(costs, self.rules.test, self.rules.alpha(self._tests)) | (
            self._to_replay[columns] > 0
        )
        self._alive[columns[~kept]] = False
        if not self._to_replay[self._alive].any() and self.position > self.rules.first_test:
            self._tests_without_elimination = self._tests_without_elimination + 1 if kept.all() else 0
