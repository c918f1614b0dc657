"""Spaces with discrete variables, and with variables of one value, drawn at random: every form of a function gives the
same bits, and points have values of their variables.

SKDE_FUZZ=100 tries a hundred times as many examples.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skde import Categorical, Fixed, Integer, Log, Minimizer, Ordinal, Real, Variables
from skde.algorithms import ALGORITHMS

from .settings import examples


def one_variable(rng: np.random.Generator, single: bool) -> Any:
    """Return a variable, with one value where it is `single`."""
    kind = rng.integers(6)
    n = 0 if single else int(rng.integers(1, 5))
    low = float(rng.choice([-2.0, 0.25, 7.0]))
    if kind == 0:
        return Real(low, low + n)
    if kind == 1:
        return Integer(int(low), int(low) + n)
    if kind == 2:
        return Log(abs(low) * 1e-40, abs(low) * 1e-40 * 10.0**n)
    if kind == 3:
        return Ordinal([low + 0.5 * k for k in range(n + 1)])
    if kind == 4:
        return Categorical(["a", "b", None, 3, 2.5][: n + 1])
    return Fixed(low) if single else (low, low + n)


def space_of(rng: np.random.Generator) -> dict[str, Any]:
    """Return named variables, often with one value, sometimes all of them."""
    share = rng.choice([0.0, 0.5, 1.0], p=[0.3, 0.5, 0.2])
    return {f"v{j}": one_variable(rng, bool(rng.random() < share)) for j in range(int(rng.integers(1, 5)))}


def number(variables: Variables, j: int, value: Any) -> float:
    """Return the number of a value of a variable."""
    return variables.members[j].number(value, "a value")


@pytest.mark.parametrize("seed", range(examples(40)))
def test_forms_of_functions(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng([seed, 5])
    space = space_of(rng)
    variables = Variables(space)
    weights = rng.choice([0.5, 1.0, -2.0], len(space))

    def total(numbers: Any) -> float:
        result = 0.0
        for weight, one in zip(weights, numbers, strict=True):
            result += weight * np.arctan(one)
        return float(result)

    def of_dict(point: dict[str, Any]) -> float:
        assert variables.points(point).shape == (1, len(space))
        return total([number(variables, j, value) for j, value in enumerate(point.values())])

    forms = {
        "arrays": lambda X: [total(x) for x in X[:, : len(space)].tolist()],
        "a dict": of_dict,
        "keywords": lambda **values: of_dict(values),
    }
    name = str(rng.choice(sorted(ALGORITHMS)))
    kind = ALGORITHMS[name]
    given: dict[str, Any] = {"max_iter": int(rng.integers(12)), "random_state": seed, "device": "cpu"}
    fitted = {}
    for form, function in forms.items():
        m = Minimizer(kind(**kind.get_test_params()), **given).fit(function, space)
        fitted[form] = m
        assert m.fun_ == total(m.x_.tolist())
        assert of_dict(m.params_) == m.fun_
        assert np.array_equal(variables.points(m.params_)[0], m.x_)
        for j, variable in enumerate(variables.members):
            assert variable.allows(m.population_[:, j]).all()
        m.save(tmp_path / "fit.skde")
        again = Minimizer.load(tmp_path / "fit.skde").set_params(max_iter=given["max_iter"] + 2).resume(function)
        assert again.fun_ <= m.fun_
    first = fitted["arrays"]
    for m in fitted.values():
        assert np.array_equal(m.population_, first.population_)
        assert m.n_evals_ == first.n_evals_
    if not variables.free:
        assert first.n_evals_ == 1
        assert first.converged_
    x0 = {
        name: first.params_[name] for name, one in zip(variables.names, variables.members, strict=True) if not one.fixed
    }
    started = Minimizer(kind(**kind.get_test_params()), **{**given, "max_iter": 0}).fit(of_dict, space, x0=x0)
    assert started.fun_ <= first.fun_
