"""Checks of the parameters of all algorithms at the beginning of a fit: messages name parameter, value and range."""

from __future__ import annotations

from typing import Any

import pytest

from skde import (
    ARRDE,
    DE,
    GODE,
    GOJDE,
    JADE,
    JDE,
    JSO,
    LSHADE,
    LSRTDE,
    NLSHADERSP,
    PSO,
    RDEX,
    SADE,
    SHADE,
    SS,
    Minimizer,
)
from skde.algorithms import ALGORITHMS

CASES: list[tuple[Any, type[Exception], str]] = [
    (PSO(w=2), ValueError, r"PSO.w must be a number in \[-1, 1\], got 2"),
    (PSO(c1=-1), ValueError, r"PSO.c1.*got -1"),
    (PSO(c2="a"), TypeError, r"PSO.c2.*got 'a' \(str\)"),
    (PSO(topology="rign"), ValueError, r"PSO.topology.*got 'rign'; did you mean 'ring'"),
    (PSO(topology="ring", n_neighbors=3), ValueError, r"PSO.n_neighbors of a ring must be even and below.*got 3"),
    (PSO(topology="ring", n_neighbors=40), ValueError, r"PSO.n_neighbors of a ring.*pop_size=40, got 40"),
    (PSO(topology="random", n_neighbors=40), ValueError, r"PSO.n_neighbors must be below pop_size=40, got 40"),
    (PSO(topology="random", n_neighbors=0), ValueError, r"PSO.n_neighbors must be an integer >= 1, got 0"),
    (PSO(v_max=0), ValueError, r"PSO.v_max must be a number in \(0, inf\], got 0"),
    (PSO(pop_size=1), ValueError, r"PSO.pop_size must be at least 2 for a swarm, got 1"),
    (PSO(repair="refelct"), ValueError, r"PSO.repair.*did you mean 'reflect'"),
    (SS(n_best=0), ValueError, r"SS.n_best must be an integer in \[1, 2048\], got 0"),
    (SS(n_diverse=-1), ValueError, r"SS.n_diverse.*got -1"),
    (SS(n_best=1, n_diverse=0), ValueError, r"SS.n_best \+ SS.n_diverse must be at least 2, for a pair; got 1"),
    (SS(pop_size=9), ValueError, r"SS.pop_size must be at least 10 for a reference set.*got 9"),
    (SS(lambda_=0.6), ValueError, r"SS.lambda_ must be a number in \[0, 0.5\], got 0.6"),
    (SS(n_local=-1), ValueError, r"SS.n_local.*got -1"),
    (SS(n_local=1.5), TypeError, r"SS.n_local.*got 1.5"),
    (SS(step=0), ValueError, r"SS.step.*got 0"),
    (SS(update="qualitty"), ValueError, r"SS.update.*got 'qualitty'; did you mean 'quality'"),
    (SS(repair="cilp"), ValueError, r"SS.repair.*did you mean 'clip'"),
    (JADE(p_best=0), ValueError, r"JADE.p_best must be a number in \(0, 1\], got 0"),
    (JADE(c=1.5), ValueError, r"JADE.c must be a number in \(0, 1\], got 1.5"),
    (JADE(archive_rate=-1), ValueError, r"JADE.archive_rate.*got -1"),
    (JADE(F_start=2), ValueError, r"JADE.F_start.*got 2"),
    (JADE(CR_start=float("nan")), ValueError, r"JADE.CR_start.*got nan"),
    (JADE(pop_size=3), ValueError, r"JADE.pop_size must be at least 4 for current-to-pbest/1, got 3"),
    (SHADE(memory_size=0), ValueError, r"SHADE.memory_size must be an integer in \[1, 10000\], got 0"),
    (SHADE(memory_size=2.5), TypeError, r"SHADE.memory_size.*got 2.5"),
    (LSHADE(pop_min=3), ValueError, r"LSHADE.pop_min must be an integer >= 4, got 3"),
    (LSHADE(pop_min="a"), TypeError, r"LSHADE.pop_min.*got 'a'"),
    (LSHADE(pop_size=10, pop_min=11), ValueError, r"LSHADE.pop_min must be at most pop_size=10, got 11"),
    (JSO(p_best=1.1), ValueError, r"JSO.p_best.*got 1.1"),
    (LSRTDE(CR_start=-0.1), ValueError, r"LSRTDE.CR_start.*got -0.1"),
    (LSRTDE(pop_size=3), ValueError, r"LSRTDE.pop_size must be at least 4.*got 3"),
    (NLSHADERSP(p_best=0), ValueError, r"NLSHADERSP.p_best must be.*\(0, 1\].*got 0"),
    (NLSHADERSP(p_best_end=1.5), ValueError, r"NLSHADERSP.p_best_end must be.*\(0, 1\].*got 1.5"),
    (NLSHADERSP(exponential_rate=-0.1), ValueError, r"NLSHADERSP.exponential_rate must be.*\[0, 1\].*got -0.1"),
    (NLSHADERSP(memory_size=0), ValueError, r"NLSHADERSP.memory_size must be.*\[1, 10000\], got 0"),
    (NLSHADERSP(archive_rate="a"), TypeError, r"NLSHADERSP.archive_rate.*got 'a'"),
    (NLSHADERSP(pop_size=10, pop_min=11), ValueError, r"NLSHADERSP.pop_min must be at most pop_size=10, got 11"),
    (ARRDE(refine_from=1), ValueError, r"ARRDE.refine_from must be.*\(0, 1\).*got 1"),
    (ARRDE(tol_restart=-1), ValueError, r"ARRDE.tol_restart.*got -1"),
    (ARRDE(tol_first="a"), TypeError, r"ARRDE.tol_first.*got 'a'"),
    (ARRDE(p_best=0), ValueError, r"ARRDE.p_best must be.*\(0, 1\].*got 0"),
    (ARRDE(pop_size=10, pop_min=11), ValueError, r"ARRDE.pop_min must be at most pop_size=10, got 11"),
    (RDEX(exploit_from=1.5), ValueError, r"RDEX.exploit_from must be.*\[0, 1\].*got 1.5"),
    (RDEX(exploit_rate="a"), TypeError, r"RDEX.exploit_rate.*got 'a'"),
    (RDEX(perturbation_rate=-1), ValueError, r"RDEX.perturbation_rate.*got -1"),
    (RDEX(perturbation_scale=float("inf")), ValueError, r"RDEX.perturbation_scale.*got inf"),
    (SADE(learning_period=0), ValueError, r"SADE.learning_period must be an integer in \[1, 1000\], got 0"),
    (SADE(F_mean=3), ValueError, r"SADE.F_mean.*got 3"),
    (SADE(F_deviation=-1), ValueError, r"SADE.F_deviation.*got -1"),
    (SADE(pop_size=5), ValueError, r"SADE.pop_size must be at least 6 for rand/2, got 5"),
    (DE(opposition=1.5), ValueError, r"DE.opposition must be a number in \[0, 1\], got 1.5"),
    (JSO(opposition=-0.1), ValueError, r"JSO.opposition must be a number in \[0, 1\], got -0.1"),
    (SADE(opposition="now"), TypeError, r"SADE.opposition.*got 'now'"),
    (GODE(opposition="often"), TypeError, r"GODE.opposition.*got 'often'"),
    (GOJDE(CR=(0.9, 0.8)), ValueError, r"GOJDE.CR must have low <= high, got \(0.9, 0.8\)"),
    (JDE(CR=(0.5, 1.5)), ValueError, r"JDE.CR\[1\].*got 1.5"),
    (JDE(keep="never"), ValueError, r"JDE.keep must be one of .*always.*got 'never'"),
    (SS(restart=1), TypeError, r"SS.restart.*got 1"),
    (SS(step_unit="box"), ValueError, r"SS.step_unit must be one of .*bounds.*got 'box'"),
]


@pytest.mark.parametrize(("algorithm", "error", "message"), CASES, ids=lambda value: str(value)[:40])
def test_parameters(algorithm: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Minimizer(algorithm, max_iter=5, device="cpu").fit("sphere", dim=3)


@pytest.mark.parametrize("kind", [kind for kind in ALGORITHMS.values() if kind.shrinks])
def test_a_population_that_shrinks_needs_a_budget(kind: Any) -> None:
    with pytest.raises(ValueError, match=rf"{kind.__name__} shrinks.*needs max_evals or max_iter; max_time alone"):
        Minimizer(kind(pop_size=20), max_time=1.0, device="cpu").fit("sphere", dim=3)


def test_constriction() -> None:
    swarm = PSO.constriction(pop_size=20)
    assert (swarm.w, swarm.c1) == pytest.approx((0.72984, 1.49618), abs=1e-5)
    assert swarm.pop_size == 20
    with pytest.raises(ValueError, match=r"PSO.constriction: c1 \+ c2 must be > 4, got 3"):
        PSO.constriction(1.5, 1.5)
    assert PSO.nashed2012().pop_size == 125


@pytest.mark.parametrize("kind", [LSHADE, JSO])
def test_published_lshade(kind: Any) -> None:
    """Only the repair differs, and a given one wins."""
    assert kind().repair == "random"
    assert kind.published(pop_size=40).get_params() == {**kind(pop_size=40).get_params(), "repair": "midpoint"}
    assert kind.published(repair="clip").repair == "clip"


def test_cujde() -> None:
    given = JDE.cujde(pop_size=250).get_params()
    cujde = {"strategy": "shifted-rand/1/bin", "repair": "clip", "keep": "always"}
    assert given == {**JDE().get_params(), "pop_size": 250, **cujde}
