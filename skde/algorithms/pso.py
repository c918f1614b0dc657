"""Particle swarm optimisation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from skde.algorithms.base import REPAIRS, Algorithm, FitSetting, StateSizes
from skde.algorithms.saved_state import SavedRuns
from skde.algorithms.tuning_space import POPULATION, Range, TuningSpace
from skde.constants import ENUMERATIONS, choices
from skde.utils.validation import check_int, check_real

TOPOLOGIES = choices("Topology")
MEMORY = ENUMERATIONS["Pso::Memory"]
NEIGHBORS = {"global": 0, "ring": 2, "random": 3}  # the default of n_neighbors


@dataclass(repr=False, eq=False)
class PSO(Algorithm):
    r"""Particle swarm optimisation with an inertia weight.

    Every particle has a position :math:`x_i`, a velocity :math:`v_i` and a personal best :math:`p_i`; :math:`l_i` is
    the best of the personal bests in its neighbourhood. In every generation, with :math:`r_1, r_2 \sim U[0, 1)` for
    every component,

    .. math::
        v_i' = w v_i + c_1 r_1 (p_i - x_i) + c_2 r_2 (l_i - x_i), \qquad x_i' = x_i + v_i',

    and :math:`x_i'` replaces :math:`p_i` if it is not worse. The update is synchronous. The population of the result
    consists of the personal bests.

    Parameters
    ----------
    w : float, default 0.7298437881283576
        Inertia weight in [-1, 1]; the default, with c1 and c2, is Clerc's constriction.
    c1, c2 : float, default 1.4961797656631332
        Attraction by the personal and by the neighbourhood's best, in [0, 4].
    topology : {"global", "ring", "random"}, default "global"
        Neighbourhoods: all particles; the particles with the nearest numbers; or a random graph, drawn again after
        every generation that did not improve the best value (the graph of SPSO-2011).
    n_neighbors : int or None, default None
        ring: number of neighbours without the particle itself, even, half of them on either side (None: 2). random:
        average number of other particles that a particle informs (None: 3). global: not used. Below `pop_size`, >= 1.
    v_max : float or None, default None
        Largest component of a velocity as a fraction of the distance between its bounds, > 0; None: no limit.
    pop_size : int, default 40
        Number of particles, >= 2.
    repair : {"reflect", "clip", "midpoint", "random", "periodic"}, default "reflect"
        Repair of a component outside its bounds, as in `DE`. The component of the velocity is reversed by reflect, kept
        by periodic, and set to 0 by the others.

    Notes
    -----
    Source: J. Kennedy, R. Eberhart, Particle swarm optimization (1995); Y. Shi, R. Eberhart, A modified particle swarm
    optimizer (1998); the defaults: M. Clerc, J. Kennedy, The particle swarm, IEEE Trans. Evolutionary Computation 6
    (2002). Differences: the first velocity points half-way to a random point of the box; ties are accepted; in the
    random graph every particle informs every other with probability 1 - (1 - 1/n)^K, which is Clerc's form of "informs
    K others".

    Examples
    --------
    >>> from skde import PSO, Minimizer
    >>> m = Minimizer(PSO(topology="ring"), max_iter=500, random_state=0).fit("sphere", dim=5)
    >>> bool(m.fun_ < 1e-6)
    True
    """

    name: ClassVar[str] = "pso"
    # Nashed et al. (2012) tuned these four; Kennedy and Eberhart: the neighbourhood.
    tuning_space: ClassVar[TuningSpace] = {
        "w": Range(0.0, 1.0),
        "c1": Range(0.0, 3.0),
        "c2": Range(0.0, 3.0),
        "topology": ("global", "ring", "random"),
        "pop_size": POPULATION,
    }
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
        r"""Return the swarm of Clerc and Kennedy: velocities scaled by :math:`\chi = 2 / |2 - c - \sqrt{c^2 - 4 c}|`.

        Parameters
        ----------
        c1, c2 : float, default 2.05
            Attractions before the scaling, >= 0; their sum c must be > 4.
        **parameters
            Other parameters of `PSO`.

        Returns
        -------
        algorithm : PSO

        Raises
        ------
        ValueError
            For c1 + c2 <= 4, where there is no constriction.

        Examples
        --------
        >>> from skde import PSO
        >>> PSO.constriction(pop_size=20).w == PSO().w
        True
        """
        c = check_real("PSO.constriction: c1", c1, 0) + check_real("PSO.constriction: c2", c2, 0)
        if c <= 4:
            raise ValueError(f"PSO.constriction: c1 + c2 must be > 4, got {c}")
        chi = 2 / abs(2 - c - (c * c - 4 * c) ** 0.5)
        return cls(w=chi, c1=chi * c1, c2=chi * c2, **parameters)

    @classmethod
    def nashed2012(cls, **parameters: Any) -> PSO:
        """Return the swarm that Nashed et al. (2012) tuned: 125 particles, c1 = 1.862, c2 = 1.881, w = 0.494.

        The paper refers to L. Mussi, F. Daolio, S. Cagnoni, Evaluation of parallel particle swarm
        optimization algorithms within the CUDA architecture, Information Sciences 181 (2011), for the rest: a ring with
        two neighbours for every particle, no limit of the velocity, positions set to the bounds. Difference: their
        program keeps the velocity of a component that was set to its bound; here it becomes 0.

        Parameters
        ----------
        **parameters
            Parameters of `PSO` that replace the tuned ones.

        Returns
        -------
        algorithm : PSO
        """
        tuned = {"w": 0.494, "c1": 1.862, "c2": 1.881, "topology": "ring", "pop_size": 125, "repair": "clip"}
        return cls(**{**tuned, **parameters})

    def kernel_parameters(self, setting: FitSetting) -> dict[str, float]:
        """Check the parameters and return the kernel's."""
        pop_size = self._population(2, "for a swarm")
        topology = self._choice("topology", TOPOLOGIES)
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
        """Return the sizes of a run's state: a random graph has a stage and two numbers."""
        random = self.topology == "random"
        return StateSizes(stages=int(random), memory=MEMORY["NUMBERS"] * int(random))

    def check_saved(self, runs: SavedRuns) -> None:
        """Check the generation in which the random graph was drawn."""
        if self.topology == "random":
            graph = runs.memory[..., MEMORY["DRAWN"]]
            runs.check_range("memory", "generations that drew a graph", graph, 0, runs.generation, whole=True)

    def _neighbors(self, pop_size: int) -> int:
        given = None if self.n_neighbors is None else check_int(self._name("n_neighbors"), self.n_neighbors, 1)
        wanted = NEIGHBORS[self.topology] if self.topology == "global" or given is None else given
        if self.topology == "ring" and (wanted % 2 or wanted >= pop_size):
            raise ValueError(
                f"{self._name('n_neighbors')} of a ring must be even and below pop_size={pop_size}, got {wanted}"
            )
        if wanted >= pop_size:
            raise ValueError(f"{self._name('n_neighbors')} must be below pop_size={pop_size}, got {wanted}")
        return wanted
