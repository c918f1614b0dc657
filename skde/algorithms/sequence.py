"""Two searches of a run, one after the other."""

from __future__ import annotations

from dataclasses import dataclass, replace

from skde.algorithms.base import Algorithm


@dataclass(frozen=True)
class AlgorithmSequence:
    """A search with a part of the evaluations, and another search with the others.

    "auto" chooses it for large budgets; `Minimizer.algorithm_` shows it. The second search begins with a new population
    of random points. A run has the best point of both.

    Parameters
    ----------
    first, second : Algorithm
        Their parameter objects. The population of the first does not change its size.
    first_evals, second_evals : int
        Evaluations of a run that they plan with, >= 1.
    spent : int or None, default None
        Evaluations of a run that the first search made, >= 1; None while it runs.

    Examples
    --------
    >>> from skde import Minimizer
    >>> m = Minimizer(max_evals=20_000, random_state=0).fit("sphere", dim=2)
    >>> m.algorithm_.name, m.algorithm_.spent
    ('cmaes, arrde', 1998)
    >>> m.polish_evals_
    4000
    """

    first: Algorithm
    second: Algorithm
    first_evals: int
    second_evals: int
    spent: int | None = None

    def __repr__(self) -> str:
        return f"{self.first} for {self.first_evals} evaluations, then {self.second} for {self.second_evals}"

    @property
    def name(self) -> str:
        """The names of both searches."""
        return f"{self.first.name}, {self.second.name}"

    @property
    def running(self) -> Algorithm:
        """The algorithm of the present search."""
        return self.first if self.spent is None else self.second

    @property
    def planned(self) -> int:
        """The evaluations of a run that the present search plans with."""
        return self.first_evals if self.spent is None else self.second_evals

    def in_second(self, spent: int) -> AlgorithmSequence:
        """Return the sequence in its second search."""
        return replace(self, spent=spent)
