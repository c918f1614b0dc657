"""Particle swarm optimisation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from skde.algorithms.base import REPAIRS, Algorithm, FitSetting, StateSizes
from skde.algorithms.saved_state import SavedRuns
from skde.validation import check_int, check_real

# Position is the number in pso.cuh; the value is the default of n_neighbors.
TOPOLOGIES = {"global": 0, "ring": 2, "random": 3}


@dataclass(repr=False, eq=False)
class PSO(Algorithm):
    r"""Particle swarm optimisation with an inertia weight.

    Every particle has a position :math:`x_i`, a velocity :math:`v_i` and a personal best :math:`p_i`, and knows the
    best personal best :math:`l_i` of its neighbourhood. In every generation, component by component with
    :math:`r_1, r_2 \sim U[0, 1)`,

    .. math::
        v_i' = w v_i + c_1 r_1 (p_i - x_i) + c_2 r_2 (l_i - x_i), \qquad x_i' = x_i + v_i',

    and :math:`p_i` becomes :math:`x_i'` where that is not worse. The update is synchronous. The population of the
    result is the personal bests.

    Parameters
    ----------
    w : float, default 0.7298437881283576
        Inertia weight in [-1, 1]; the default, with c1 and c2, is Clerc's constriction.
    c1, c2 : float, default 1.4961797656631332
        Attraction by the personal and by the neighbourhood's best, in [0, 4].
    topology : {"global", "ring", "random"}, default "global"
        Who is whose neighbour: all; the nearest by number; or a random graph, drawn anew after every generation that
        did not improve the best (the graph of SPSO-2011).
    n_neighbors : int or None, default None
        ring: neighbours besides the particle itself, even, half of them on either side (None: 2). random: how many
        others a particle informs on average (None: 3). global: not used.
    v_max : float or None, default None
        The most that a component of the velocity may be, as a fraction of its bounds' width, > 0; None: no limit.
    pop_size : int, default 40
        Particles, >= 2.
    repair : {"reflect", "clip", "midpoint", "random", "periodic"}, default "reflect"
        What happens to a component outside its bounds, as in `DE`. Its velocity is turned round by reflect, kept by
        periodic, and else becomes 0.

    Notes
    -----
    Source: J. Kennedy, R. Eberhart, Particle swarm optimization (1995); Y. Shi, R. Eberhart, A modified particle swarm
    optimizer (1998); the defaults: M. Clerc, J. Kennedy, The particle swarm, IEEE Trans. Evolutionary Computation 6
    (2002). Differences: the first velocity leads half-way to a random point of the box; ties are accepted; in the
    random graph every particle informs every other with probability 1 - (1 - 1/n)^K, which is Clerc's own form of
    "informs K others".

    Examples
    --------
    >>> from skde import PSO, Minimizer
    >>> m = Minimizer(PSO(topology="ring"), max_iter=500, random_state=0).fit("sphere", dim=5)
    >>> bool(m.fun_ < 1e-6)
    True
    """

    name: ClassVar[str] = "pso"
    constants: ClassVar[tuple[str, ...]] = ("topology", "repair")

    w: float = 0.7298437881283576
    c1: float = 1.4961797656631332
    c2: float = 1.4961797656631332
    topology: str = "global"
    n_neighbors: int | None = None
    v_max: float | None = None
    pop_size: int = 40
    repair: str = "reflect"

    @classmethod
    def constriction(cls, c1: float = 2.05, c2: float = 2.05, **parameters: Any) -> PSO:
        r"""Return Clerc's and Kennedy's swarm: velocities scaled by :math:`\chi = 2 / |2 - c - \sqrt{c^2 - 4 c}|`.

        Parameters
        ----------
        c1, c2 : float, default 2.05
            Attractions before the scaling; their sum c must be > 4.
        **parameters
            The others of `PSO`.

        Raises
        ------
        ValueError
            Where c1 + c2 <= 4: there is no constriction then.
        """
        c = check_real("PSO.constriction: c1", c1, 0) + check_real("PSO.constriction: c2", c2, 0)
        if c <= 4:
            raise ValueError(f"PSO.constriction: c1 + c2 must be > 4, got {c}")
        chi = 2 / abs(2 - c - (c * c - 4 * c) ** 0.5)
        return cls(w=chi, c1=chi * c1, c2=chi * c2, **parameters)

    @classmethod
    def nashed2012(cls, **parameters: Any) -> PSO:
        """Return the swarm that Nashed et al. (2012) tuned: 125 particles, c1 = 1.862, c2 = 1.881, w = 0.494.

        The paper leaves the rest to its source, L. Mussi, F. Daolio, S. Cagnoni, Evaluation of parallel particle swarm
        optimization algorithms within the CUDA architecture, Information Sciences 181 (2011): a ring in which
        everyone has two neighbours, no limit of the velocity, positions set to the bounds. Difference: their program
        keeps the velocity of a component that was set to its bound, here it becomes 0.
        """
        tuned = {"w": 0.494, "c1": 1.862, "c2": 1.881, "topology": "ring", "pop_size": 125, "repair": "clip"}
        return cls(**{**tuned, **parameters})

    def kernel_parameters(self, setting: FitSetting) -> dict[str, float]:
        """Check the parameters and return the kernel's."""
        pop_size = self._population(2, "for a swarm")
        topology = self._choice("topology", tuple(TOPOLOGIES))
        n_neighbors = self._neighbors(pop_size)
        v_max = 0.0 if self.v_max is None else check_real(self._name("v_max"), self.v_max, 0, low_open=True)
        return {
            "pop_size": pop_size,
            "topology": topology,
            "n_neighbors": n_neighbors,
            "link": 1 - (1 - 1 / pop_size) ** n_neighbors,
            "repair": self._choice("repair", REPAIRS),
            "w": check_real(self._name("w"), self.w, -1, 1),
            "c1": check_real(self._name("c1"), self.c1, 0, 4),
            "c2": check_real(self._name("c2"), self.c2, 0, 4),
            "v_max": v_max,
        }

    def needs(self, setting: FitSetting, parameters: dict[str, float]) -> StateSizes:
        """Return what a run needs: the random graph's age is settled between generations."""
        random = self.topology == "random"
        return StateSizes(stages=int(random), memory=2 * int(random))

    def check_saved(self, runs: SavedRuns) -> None:
        """Check the generation that drew the random graph."""
        if self.topology == "random":
            graph = runs.memory[..., 1]
            runs.check_range("memory", "generations that drew a graph", graph, 0, runs.generation, whole=True)

    def _neighbors(self, pop_size: int) -> int:
        given = None if self.n_neighbors is None else check_int(self._name("n_neighbors"), self.n_neighbors, 1)
        wanted = TOPOLOGIES[self.topology] if self.topology == "global" or given is None else given
        if self.topology == "ring" and (wanted % 2 or wanted >= pop_size):
            raise ValueError(
                f"{self._name('n_neighbors')} of a ring must be even and below pop_size={pop_size}, got {wanted}"
            )
        if wanted >= pop_size:
            raise ValueError(f"{self._name('n_neighbors')} must be below pop_size={pop_size}, got {wanted}")
        return wanted
