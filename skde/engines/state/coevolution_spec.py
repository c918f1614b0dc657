"""The spec of a co-evolution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from skde.engines.state.spec import Spec
from skde.variables import Variables


@dataclass(repr=False, eq=False)
class CoevolutionSpec:
    """The spec of a co-evolution of R runs, checked.

    Attributes
    ----------
    x, y, incumbents : Spec
        The sides, and the incumbents: populations of one, x followed by y, with cycles as generations.
    gens_x, gens_y : int
        Generations of a side in a cycle.
    renewed : int
        Individuals of y that new points replace in every cycle.
    archive : int
        Size of the archive of strongest opponents.
    inequalities, equalities : int
        Numbers of constraints of a Lagrangian's problem; 0, 0 without one.
    updates : bool
        Whether y is one vector of multipliers that is updated once a cycle.
    penalty : float or None
        r of the Lagrangian; None: r is adapted.
    feasibility : float
        Tolerance of the constraints.
    """

    x: Spec
    y: Spec
    incumbents: Spec
    gens_x: int
    gens_y: int
    renewed: int = 0
    archive: int = 0
    inequalities: int = 0
    equalities: int = 0
    updates: bool = False
    penalty: float | None = None
    feasibility: float = 0.0

    @property
    def n_runs(self) -> int:
        """Number of runs."""
        return len(self.incumbents.seeds)

    @property
    def size_text(self) -> str:
        """The number of runs as errors name it."""
        return f"n_runs={self.n_runs}"

    @property
    def constraints(self) -> int:
        """Constraints of both kinds."""
        return self.inequalities + self.equalities

    @property
    def opponents(self) -> int:
        """Number of opponents of x in the population of y."""
        return 1 if self.updates else self.y.pop_max

    @property
    def max_opponents(self) -> int:
        """Largest number of opponents of x, with those in the archive."""
        return self.opponents + self.archive

    @property
    def features(self) -> int:
        """Length of the description of a point x."""
        return 1 + self.constraints if self.constraints else len(self.x.lower)

    @property
    def variables(self) -> tuple[Variables, Variables] | None:
        """The variables of x and y, where one of the sides has typed ones."""
        if self.x.variables is None and self.y.variables is None:
            return None
        x, y = (side.variables or real_variables(side) for side in (self.x, self.y))
        return x, y

    def parts(self, rows: Sequence[tuple[int, int]]) -> list[CoevolutionSpec]:
        """Return the specs of parts, each with the runs begin ... end - 1."""
        specs = zip(*(spec.parts(rows) for spec in (self.x, self.y, self.incumbents)), strict=True)
        return [replace(self, x=x, y=y, incumbents=incumbents) for x, y, incumbents in specs]


def real_variables(side: Spec) -> Variables:
    """Return the components of a side as variables."""
    return Variables(list(zip(side.lower.tolist(), side.upper.tolist(), strict=True)))
