"""Islands: several populations of one run that exchange individuals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from skde.constants import ENUMERATIONS, choices
from skde.utils.validation import check_choice, check_int, check_real, unwrap_scalar

TOPOLOGIES, MIGRANTS, REPLACED = choices("Route"), choices("Migrants"), choices("Replaced")
NEVER = 2**62  # generations, more than any run makes


class Step(IntEnum):
    """The steps of a migration, with a barrier of all islands after each; REFRESH follows new values of individuals."""

    JUDGE = ENUMERATIONS["Step"]["JUDGE"]
    EMIGRATE = ENUMERATIONS["Step"]["EMIGRATE"]
    IMMIGRATE = ENUMERATIONS["Step"]["IMMIGRATE"]
    REORDER = ENUMERATIONS["Step"]["REORDER"]
    REFRESH = ENUMERATIONS["Step"]["REFRESH"]


@dataclass(frozen=True)
class Archipelago:
    """A migration as the kernels take it, for runs of `n_islands` islands each.

    A batch with only a part of the islands begins with island number `first`; the host then does the migrations, and
    the kernels' `every` is 0.
    """

    n_islands: int = 1
    every: int = 0
    first: int = 0
    route: int = 0
    choice: int = 0
    place: int = 0
    count: int = 0
    share: float = 0.0
    rows: int = 0

    def count_islands(self, n: int) -> int:
        """Return the number of islands in all archipelagos that a batch of n islands has a part of."""
        return -(-(self.first + n) // self.n_islands) * self.n_islands

    def migrates(self, g: int) -> bool:
        """Whether there is a migration after generation g."""
        return self.every > 0 and g > 0 and g % self.every == 0

    def stretches(self, begin: int, until: int) -> Iterator[tuple[int, int]]:
        """Give begin and end of the stretches from one migration to the next between two generations."""
        while begin < until:
            end = min(until, (max(begin, 0) // self.every + 1) * self.every) if self.every else until
            yield begin, end
            begin = end


class Migration(BaseEstimator):
    """The exchange of individuals between the islands of a run.

    After every `every`-th generation each island sends copies of some of its individuals; where they arrive, each
    replaces one individual if it is better than that.

    Parameters
    ----------
    topology : {"ring", "random", "full"}, default "ring"
        The source of an island's migrants: the island before it; another island, drawn every time; or the best
        migrants of all other islands.
    every : int, default 100
        Generations between two migrations, >= 1.
    n_migrants : int or float, default 0.1
        Individuals that leave an island (a copy stays): a number >= 1 below the population's size, or a share of the
        population in (0, 1), at least one individual.
    select : {"best", "random"}, default "best"
        The individuals that migrate.
    replace : {"worst", "random"}, default "worst"
        The individuals that better migrants replace.

    Notes
    -----
    Islands are further runs of the batch with different seeds, and the exchange is a function of seed and generation:
    results do not depend on threads, devices or workers, nor on their number. Only islands that still run take part.
    Once one island has reached the target, the others end at the next migration.

    Examples
    --------
    >>> from skde import DE, Migration, Minimizer
    >>> m = Minimizer(DE(pop_size=16), n_islands=8, migration=Migration(every=25), max_iter=300, random_state=0)
    >>> bool(m.fit("rastrigin", dim=5).fun_ < 1e-6)
    True
    """

    def __init__(
        self,
        topology: str = "ring",
        every: int = 100,
        n_migrants: int | float = 0.1,
        select: str = "best",
        replace: str = "worst",
    ) -> None:
        self.topology = topology
        self.every = every
        self.n_migrants = n_migrants
        self.select = select
        self.replace = replace

    def archipelago(self, n_islands: int, pop_size: int) -> Archipelago:
        """Check the parameters and return the kernels'.

        Parameters
        ----------
        n_islands : int
            Islands of a run, >= 2.
        pop_size : int
            Individuals of the smallest island.

        Raises
        ------
        ValueError, TypeError
            For a parameter out of range, with its name, its value and what is allowed.
        """
        count, share = self._migrants(pop_size)
        return Archipelago(
            n_islands=n_islands,
            every=min(check_int("Migration.every", self.every, 1), NEVER),
            route=TOPOLOGIES[check_choice("Migration.topology", self.topology, TOPOLOGIES)],
            choice=MIGRANTS[check_choice("Migration.select", self.select, MIGRANTS)],
            place=REPLACED[check_choice("Migration.replace", self.replace, REPLACED)],
            count=count,
            share=share,
            rows=count or max(int(share * pop_size), 1),
        )

    def _migrants(self, pop_size: int) -> tuple[int, float]:
        given: Any = unwrap_scalar(self.n_migrants)
        if isinstance(given, float | np.floating):
            return 0, check_real("Migration.n_migrants", given, 0, 1, low_open=True, high_open=True)
        count = check_int("Migration.n_migrants", given, 1)
        if count >= pop_size:
            raise ValueError(f"Migration.n_migrants must be below the population's size, {pop_size}, got {count}")
        return count, 0.0
