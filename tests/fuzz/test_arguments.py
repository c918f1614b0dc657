"""Invalid values for every parameter: errors name the parameter, and nothing ends the process.

Every parameter meets every value once; SKDE_FUZZ=100 adds pairs of parameters that are wrong together.
"""

from __future__ import annotations

import inspect
import random
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import LinearConstraint
from sklearn.base import clone

from skde import (
    Checkpoint,
    ConstrainedProblem,
    DeviceObjective,
    Migration,
    Minimizer,
    MinMaxSolver,
    get_problem,
    minimize,
    problem_names,
    scipy_method,
)
from skde.algorithms import ALGORITHMS

from .settings import examples

HUGE = 2**31
VALUES: tuple[Any, ...] = (
    None,
    float("nan"),
    float("inf"),
    -float("inf"),
    -1,
    0,
    1,
    0.5,
    -0.0,
    1e30,
    -1e30,
    HUGE,
    2**63,
    2**64,
    -(2**63) - 1,
    10**400,
    Fraction(10**400),
    1j,
    True,
    "",
    "False",
    "DE",
    "0.5",
    b"cpu",
    b"",
    (),
    [],
    {},
    set(),
    [1, [2]],
    [None],
    (0.1, 0.2),
    (float("nan"), "a"),
    {"a": 1},
    range(3),
    np.float32(0.5),
    np.float64("nan"),
    np.int8(1),
    np.uint64(2**64 - 1),
    np.bool_(True),
    np.str_("cpu"),
    np.array(0.5),
    np.array(3),
    np.array("cpu"),
    np.array([]),
    np.array([1, 2]),
    np.array([1.0, np.nan]),
    np.array([[0.0, 1.0]]),
    np.array([1j]),
    np.array([None]),
    np.zeros((2, 0, 3)),
    np.dtype("f4"),
    np.datetime64("2020-01-01"),
    object(),
    object,
    len,
    lambda: None,
    NotImplemented,
    ...,
    Path("nowhere"),
    LinearConstraint([[1.0, 1.0]], 0, 1),
)


def bowl(X: Any, *unused: Any) -> Any:
    return (X * X).sum(axis=-1)


def saddle(X: Any, Y: Any) -> Any:
    return np.subtract.outer(bowl(X), bowl(Y))


def soon(progress: Any) -> bool:
    """End a fit that nothing else ends."""
    return bool(progress.n_iter >= 2)


def fit_minimizer(**parameters: Any) -> None:
    """A few evaluations."""
    options = {"algorithm": "de", "max_iter": 2, "random_state": 0, "device": "cpu", "callbacks": soon, **parameters}
    fitted = {"dim": 2, **{name: options.pop(name) for name in ("objective", "dim", "x0") if name in options}}
    Minimizer(**{"bounds": [(-1, 1)], **options}).fit(**{"objective": bowl, **fitted})


def ask_minimizer(**parameters: Any) -> None:
    options = {"algorithm": "de", "max_iter": 2, "random_state": 0, "device": "cpu", "bounds": [(-1, 1)], **parameters}
    m = Minimizer(**options)
    X = m.ask()
    m.tell(X, bowl(X))


def fit_solver(**parameters: Any) -> None:
    options = {"max_iter": 1, "gens_x": 1, "gens_y": 1, "random_state": 0, "device": "cpu", "callbacks": soon}
    options |= parameters
    fitted = {name: options.pop(name) for name in ("objective", "dim") if name in options}
    for name in ("bounds_x", "bounds_y"):
        options.setdefault(name, [(-1, 1)] * 2)
    MinMaxSolver(**options).fit(**{"objective": saddle, **fitted})


def fit_constrained_solver(**parameters: Any) -> None:
    options = {"max_iter": 1, "gens_x": 1, "random_state": 0, "device": "cpu", "callbacks": soon, **parameters}
    MinMaxSolver(**options).fit("fabris2012/p6")


def fit_with(name: str) -> Callable[..., None]:
    def fit(**parameters: Any) -> None:
        algorithm = clone(ALGORITHMS[name](**{**ALGORITHMS[name].get_test_params(), **parameters}))
        Minimizer(algorithm, max_iter=2, random_state=0, device="cpu").fit(bowl, bounds=[(-1, 1)] * 2)

    return fit


def fit_islands(**parameters: Any) -> None:
    Minimizer("de", n_islands=2, migration=Migration(**parameters), max_iter=2, random_state=0, device="cpu").fit(
        bowl, bounds=[(-1, 1)] * 2
    )


def call_minimize(**parameters: Any) -> None:
    minimize(**{"fun": bowl, "bounds": [(-1, 1)] * 2, "max_iter": 2, "random_state": 0, "device": "cpu", **parameters})


def call_method(**parameters: Any) -> None:
    scipy_method(**{"max_iter": 1, "random_state": 0, "device": "cpu", **parameters})(
        bowl, [0, 0], bounds=[(-1, 1)] * 2
    )


def make_constrained(**parameters: Any) -> None:
    options = {
        "objective": bowl,
        "bounds": [(-1, 1)] * 2,
        "constraints": LinearConstraint([[1, 1]], 0, 1),
        **parameters,
    }
    ConstrainedProblem(**options)


def make_device_objective(**parameters: Any) -> None:
    DeviceObjective(**{"body": "return x[0];", **parameters})


def make_problem(**parameters: Any) -> None:
    get_problem(**{"name": "sphere", **parameters})


def make_checkpoint(**parameters: Any) -> None:
    Checkpoint(**{"path": "nowhere", **parameters})


def set_parameters(**parameters: Any) -> None:
    """As a grid search does it."""
    algorithm = {name.removeprefix("algorithm__"): value for name, value in parameters.items()}
    fit_with("de")(**algorithm)
    Minimizer(ALGORITHMS["de"]()).set_params(**parameters)


# The calls and their parameters.
Target = tuple[Callable[..., None], tuple[str, ...]]


def names_of(function: Any, *left_out: str) -> tuple[str, ...]:
    """Return the parameters of a function or a class."""
    kinds = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    found = inspect.signature(function).parameters.values()
    return tuple(one.name for one in found if one.kind not in kinds and one.name not in left_out)


MINIMIZER = names_of(Minimizer)
TARGETS: dict[str, Target] = {
    "Minimizer.fit": (fit_minimizer, (*MINIMIZER, "objective", "dim", "x0")),
    "Minimizer.ask": (ask_minimizer, tuple(name for name in MINIMIZER if name != "bounds")),
    "MinMaxSolver": (fit_solver, (*names_of(MinMaxSolver), "objective", "dim")),
    "MinMaxSolver of constraints": (fit_constrained_solver, names_of(MinMaxSolver)),
    **{name: (fit_with(name), names_of(kind)) for name, kind in ALGORITHMS.items()},
    "Migration": (fit_islands, names_of(Migration)),
    "minimize": (call_minimize, (*names_of(minimize), "seed", "max_evals")),
    "scipy_method": (call_method, (*names_of(scipy_method), "seed", "tol")),
    "set_params": (set_parameters, ("algorithm__F", "algorithm__CR", "algorithm__pop_size")),
    "ConstrainedProblem": (make_constrained, names_of(ConstrainedProblem)),
    "DeviceObjective": (make_device_objective, names_of(DeviceObjective)),
    "get_problem": (make_problem, names_of(get_problem)),
    "problem_names": (lambda **parameters: void(problem_names(**parameters)), names_of(problem_names)),
    "Checkpoint": (make_checkpoint, names_of(Checkpoint)),
}
# Other words for a parameter in messages.
WORDS = {
    "objective": "function|objective|named",
    "fun": "function|objective|named",
    "name": "named",
    "bounds": "A must be",
    "n_runs": "populations",
    "n_islands": "populations",
    "method": "algorithm",
    "seed": "random_state",
}


# Allowed values with which a fit takes too long for a test.
ENDLESS = ("gens_x", "gens_y", "dim")
# Callables: an error that they raise is the user's own.
CALLED = ("objective", "fun", "callbacks")


def void(value: Any) -> None:
    """Do nothing with a value."""


def names_it(message: str, name: str) -> bool:
    """Whether a message names a parameter."""
    word = name.removeprefix("algorithm__")
    return re.search(rf"\b{re.escape(word)}\b", message) is not None or (
        name in WORDS and re.search(WORDS[name], message) is not None
    )


def may_be_tried(name: str, value: Any) -> bool:
    """Whether the outcome is this package's."""
    return not (name in ENDLESS and value is HUGE) and not (name in CALLED and callable(value))


def trial(call: Callable[..., None], given: dict[str, Any]) -> str | None:
    """Return the defect of an outcome, or None."""
    try:
        call(**given)
    except (ValueError, TypeError, MemoryError) as error:
        if not any(names_it(str(error), name) for name in given):
            return f"{given!r:.200}: {type(error).__name__} does not name it: {error!s:.300}"
    except RuntimeError as error:  # a device that is not there
        if "device" not in given:
            return f"{given!r:.200}: {type(error).__name__}: {error!s:.300}"
    except Exception as error:
        return f"{given!r:.200}: {type(error).__name__}: {error!s:.300}"
    return None


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("target", TARGETS)
def test_every_value_for_every_parameter(target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # texts are names of files where a parameter takes these
    call, names = TARGETS[target]
    found = [trial(call, {name: value}) for name in names for value in VALUES if may_be_tried(name, value)]
    wrong = [text for text in found if text is not None]
    assert not wrong, "\n".join([f"{len(wrong)} of {len(found)}", *wrong])


def test_pairs_of_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    draw = random.Random(0)
    wrong = []
    for _ in range(examples(200)):
        call, names = TARGETS[draw.choice(list(TARGETS))]
        chosen = draw.sample(names, min(2, len(names)))
        given = {name: draw.choice(VALUES) for name in chosen}
        text = trial(call, given) if all(may_be_tried(*pair) for pair in given.items()) else None
        wrong += [] if text is None else [text]
    assert not wrong, "\n".join(wrong)
