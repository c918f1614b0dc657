"""Several searches of a run, one after the other."""

from __future__ import annotations

from dataclasses import dataclass

from skde.algorithms.base import Algorithm


@dataclass(frozen=True)
class AlgorithmSequence:
    """Searches of a run, one after the other, each with a part of the evaluations.

    "auto" chooses it for large budgets; `Minimizer.algorithm_` shows it. Each search begins with a new population of
    random points. A run has the best point of all.

    Parameters
    ----------
    algorithms : tuple of Algorithm
        Their parameter objects. Only the population of the last one may change its size.
    evals : tuple of int
        Evaluations of a run that they plan with, >= 1.
    spent : tuple of int, default ()
        Evaluations of a run that the searches before the present one made, >= 1.

    Examples
    --------
    >>> from skde import Minimizer
    >>> m = Minimizer(max_evals=20_000, random_state=0).fit("sphere", dim=2)
    >>> m.algorithm_.name, m.algorithm_.evals, m.algorithm_.spent
    ('cmaes, arrde', (2000, 14000), (1998,))
    >>> m.polish_evals_
    4000
    """

    algorithms: tuple[Algorithm, ...]
    evals: tuple[int, ...]
    spent: tuple[int, ...] = ()

    def __repr__(self) -> str:
        parts = zip(self.algorithms, self.evals, strict=True)
        return ", then ".join(f"{algorithm} for {evals} evaluations" for algorithm, evals in parts)

    @property
    def name(self) -> str:
        """The names of all searches."""
        return ", ".join(algorithm.name for algorithm in self.algorithms)

    @property
    def running(self) -> Algorithm:
        """The algorithm of the present search."""
        return self.algorithms[len(self.spent)]
