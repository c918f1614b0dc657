"""Spaces of configurations: parameters with their distributions, conditions and forbidden combinations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
    distribution_to_json,
)

from skde.tuning.parameter_scale import uniform
from skde.utils.validation import nearest
from skde.variables.dependent_values import DependentValues

# Random configurations that show which parameters a space has, and draws after which its rules forbid everything.
TRIAL_CONFIGURATIONS = 200
MOST_DRAWS = 10_000

ValueSampler = Callable[[str, BaseDistribution], Any]
Rule = Callable[[dict[str, Any]], Any]


@dataclass
class Configuration:
    """Values of the parameters that apply, and the distributions that they come from."""

    params: dict[str, Any] = field(default_factory=dict)
    distributions: dict[str, BaseDistribution] = field(default_factory=dict)

    def sort(self, names: Iterable[str]) -> None:
        """Order the parameters as these names."""
        ordered = [name for name in names if name in self.params]
        self.params = {name: self.params[name] for name in ordered}
        self.distributions = {name: self.distributions[name] for name in ordered}


class Suggestions:
    """The part of an Optuna trial that a define-by-run function uses.

    Parameters
    ----------
    choose : callable
        choose(name, distribution) returns the value.
    """

    def __init__(self, choose: ValueSampler) -> None:
        self._choose = choose
        self.configuration = Configuration()

    @property
    def params(self) -> dict[str, Any]:
        """The values so far."""
        return dict(self.configuration.params)

    def suggest_float(
        self, name: str, low: float, high: float, *, step: float | None = None, log: bool = False
    ) -> float:
        """Return a float in [low, high]."""
        return float(self.suggest(name, FloatDistribution(low, high, log=log, step=step)))

    def suggest_int(self, name: str, low: int, high: int, *, step: int = 1, log: bool = False) -> int:
        """Return an integer in [low, high]."""
        return int(self.suggest(name, IntDistribution(low, high, log=log, step=step)))

    def suggest_categorical(self, name: str, choices: Sequence[Any]) -> Any:
        """Return one of the choices."""
        return self.suggest(name, CategoricalDistribution(read_choices(name, choices)))

    def suggest(self, name: str, distribution: BaseDistribution) -> Any:
        """Return a value of the distribution; the same one when asked again."""
        if name not in self.configuration.params:
            distribution = read_distribution(name, distribution)
            self.configuration.params[name] = self._choose(name, distribution)
            self.configuration.distributions[name] = distribution
        return self.configuration.params[name]


class Space:
    """A space of configurations.

    Parameters
    ----------
    parameters : callable or mapping
        A function of an Optuna trial, which calls suggest_float, suggest_int and suggest_categorical (its return
        value is not used); or Optuna distributions by name. In a mapping, a function of the other values, which
        returns a distribution, gives bounds that depend on these.
    conditions : mapping of str to callable, optional
        For a mapping: condition(values) returns whether a parameter applies, from the values of the others, in any
        order; parameters that do not apply are None.
    forbidden : iterable of callable, optional
        rule(values) returns whether a combination is forbidden; parameters that do not apply are None.
    ordinal : iterable of str, optional
        Categorical parameters with ordered choices.
    initial : iterable of mapping, optional
        Configurations that the first race begins with.

    Attributes
    ----------
    distributions : dict of str to BaseDistribution
        Every parameter of some random configurations, with its first distribution that has more than one value.
    n_parameters : int
        Parameters that are not fixed to one value.

    Raises
    ------
    ValueError, TypeError
        For a space without a parameter to configure, rules that forbid everything, a condition without its parameter,
        parameters that depend on each other in a circle, an initial configuration that is not in the space.

    Examples
    --------
    >>> from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
    >>> from skde.tuning import Space
    >>> space = Space(
    ...     {
    ...         "kernel": CategoricalDistribution(["linear", "rbf"]),
    ...         "C": FloatDistribution(1e-3, 1e3, log=True),
    ...         "gamma": FloatDistribution(1e-4, 10.0, log=True),
    ...     },
    ...     conditions={"gamma": lambda values: values["kernel"] == "rbf"},
    ... )
    >>> space.n_parameters
    3
    """

    def __init__(
        self,
        parameters: Callable[[Any], Any] | Mapping[str, Any],
        *,
        conditions: Mapping[str, Rule] | None = None,
        forbidden: Iterable[Rule] = (),
        ordinal: Iterable[str] = (),
        initial: Iterable[Mapping[str, Any]] = (),
    ) -> None:
        if not callable(parameters) and not isinstance(parameters, Mapping):
            raise TypeError(
                "a space must be a function of an Optuna trial or a mapping of names to Optuna distributions, "
                f"got {parameters!r} ({type(parameters).__name__})"
            )
        self.parameters = parameters
        if conditions is not None and not isinstance(conditions, Mapping):
            raise TypeError(f"conditions must be a mapping of names to functions, got {conditions!r}")
        self.conditions = dict(conditions or {})
        self.forbidden = read_list("forbidden", forbidden, "function", callable)
        self.ordinal = frozenset(read_list("ordinal", ordinal, "name", lambda one: isinstance(one, str)))
        given = read_list("initial", initial, "mapping", lambda one: isinstance(one, Mapping))
        self._check_names()
        self.distributions: dict[str, BaseDistribution] = {}
        self._discover()
        self.initial = [self.read(values) for values in given]

    @property
    def n_parameters(self) -> int:
        """Parameters that are not fixed to one value."""
        return sum(not distribution.single() for distribution in self.distributions.values())

    def build(self, choose: ValueSampler) -> Configuration:
        """Return a configuration, with a chosen value for every parameter that applies.

        Parameters
        ----------
        choose : callable
            choose(name, distribution) returns the value; it is not called where there is only one.
        """

        def value(name: str, distribution: BaseDistribution) -> Any:
            return only_value(distribution) if distribution.single() else choose(name, distribution)

        trial = Suggestions(value)
        if callable(self.parameters):
            self.parameters(trial)
        else:
            self._suggest_all(trial, self.parameters)
        return trial.configuration

    def draw(self, choose: ValueSampler) -> Configuration:
        """Return a configuration that is not forbidden, the first of several that are built.

        Raises
        ------
        ValueError
            When many in a row are forbidden.
        """
        for _ in range(MOST_DRAWS):
            configuration = self.build(choose)
            if self.allows(configuration):
                return configuration
        raise ValueError(f"the space is contradictory: the rules forbade {MOST_DRAWS} configurations in a row")

    def allows(self, configuration: Configuration) -> bool:
        """Whether no rule forbids the configuration."""
        values = {**dict.fromkeys(self.distributions), **configuration.params}
        try:
            return not any(rule(dict(values)) for rule in self.forbidden)
        except KeyError as error:
            raise ValueError(
                f"a rule of forbidden asks for {error.args[0]!r}, which is no parameter of the space"
                f"{nearest(error.args[0], values)}"
            ) from error

    def read(self, values: Mapping[str, Any]) -> Configuration:
        """Return values as a configuration of the space; NumPy's scalars become Python's.

        Raises
        ------
        ValueError
            For a value that is missing, not allowed or not asked for, and for a forbidden combination.
        """

        def read_value(name: str, distribution: BaseDistribution) -> Any:
            if name not in values:
                raise ValueError(f"the configuration {dict(values)!r} has no value of {name!r}")
            value = python_value(values[name])
            if not contains(distribution, value):
                raise ValueError(f"{name!r} must be of {distribution!r}, got {values[name]!r}")
            return value

        configuration = self.build(read_value)
        for name, value in values.items():
            if name not in configuration.params:
                hint = "" if name in self.distributions else nearest(name, self.distributions)
                raise ValueError(f"the configuration {dict(values)!r} has {name!r}, which does not apply{hint}")
            if configuration.params[name] != python_value(value):
                raise ValueError(f"{name!r} must be of {configuration.distributions[name]!r}, got {value!r}")
        if not self.allows(configuration):
            raise ValueError(f"the configuration {dict(values)!r} is forbidden")
        return configuration

    def check_names(self, known: set[str] | None, target: str) -> None:
        """Refuse parameters that a target does not have.

        Parameters
        ----------
        known : set of str or None
            Names of the target's parameters; None: it takes any. With scikit-learn's "a__b", it is enough that "a" is
            a parameter of the space: its values may bring "b".
        target : str
            The target, for the message.

        Raises
        ------
        ValueError
            With the nearest name of the target's.
        """
        for name in self.distributions:
            inner = any(name.startswith(f"{other}__") for other in self.distributions)
            if known is not None and name not in known and not inner:
                raise ValueError(f"the space has {name!r}, which is no parameter of {target}{nearest(name, known)}")

    def describe(self) -> dict[str, str]:
        """Return the parameters as data, to see whether two spaces are the same."""
        return {name: distribution_to_json(distribution) for name, distribution in self.distributions.items()}

    # -- checks --------------------------------------------------------------------------------------------------------

    def _check_names(self) -> None:
        for name, condition in self.conditions.items():
            if not callable(condition):
                raise TypeError(f"conditions[{name!r}] must be a function of the values before, got {condition!r}")
        if self.conditions and callable(self.parameters):
            raise ValueError("conditions are for a mapping of distributions; in a function, write if")
        if not callable(self.parameters):
            for name in self.conditions:
                if name not in self.parameters:
                    hint = nearest(name, self.parameters)
                    raise ValueError(f"there is a condition for {name!r}, which is no parameter of the space{hint}")
            for name, distribution in self.parameters.items():
                if not isinstance(name, str):
                    raise TypeError(f"the parameters of a space must have names, got {name!r} ({type(name).__name__})")
                if not callable(distribution) and not isinstance(distribution, BaseDistribution):
                    hint = pair_hint(distribution)
                    raise TypeError(
                        f"{name!r} must be an Optuna distribution or a function, got {distribution!r}{hint}"
                    )

    def _discover(self) -> None:
        """Find the parameters by random configurations, which are the same every time."""
        rng = np.random.default_rng(0)
        for _ in range(TRIAL_CONFIGURATIONS):
            for name, distribution in self.build(lambda _, allowed: uniform(allowed, rng)).distributions.items():
                # Bounds that depend on others may leave one value now and then.
                if name not in self.distributions or self.distributions[name].single():
                    self.distributions[name] = distribution
        for name in self.ordinal:
            if not isinstance(self.distributions.get(name), CategoricalDistribution):
                hint = "" if name in self.distributions else nearest(name, self.distributions)
                raise ValueError(f"ordinal names {name!r}, which is no categorical parameter of the space{hint}")
        if not self.n_parameters:
            raise ValueError("the space is empty: it has no parameter with more than one value")
        self.draw(lambda _, allowed: uniform(allowed, rng))

    def _suggest_all(self, trial: Suggestions, parameters: Mapping[str, Any]) -> None:
        def find(name: str, values: DependentValues) -> Any:
            distribution = parameters[name]
            try:
                if name in self.conditions and not self.conditions[name](values.for_rule()):
                    return None
                allowed = distribution(values.for_rule()) if callable(distribution) else distribution
            except KeyError as error:
                missing = error.args[0]
                if missing in parameters:
                    raise
                raise ValueError(
                    f"{name!r} depends on {missing!r}, which is no parameter of the space{nearest(missing, parameters)}"
                ) from error
            return trial.suggest(name, allowed)

        DependentValues(parameters, find).fill()
        trial.configuration.sort(parameters)


def as_space(given: Any) -> Space:
    """Return the space that is given as a Space, a function of a trial, or distributions by name."""
    return given if isinstance(given, Space) else Space(given)


def pair_hint(given: Any) -> str:
    """Return the spellings of two values and of a range, for a pair of numbers; an empty text for anything else."""
    if not isinstance(given, tuple | list) or len(given) != 2:
        return ""
    low, high = map(python_value, given)
    if not all(isinstance(end, int | float) and not isinstance(end, bool) for end in (low, high)):
        return ""
    kind = "Int" if isinstance(low, int) and isinstance(high, int) else "Float"
    return (
        f"; write CategoricalDistribution([{low!r}, {high!r}]) for two values, "
        f"{kind}Distribution({low!r}, {high!r}) for a range, with log=True for a logarithmic scale"
    )


def read_list(option: str, given: Any, element: str, is_element: Callable[[Any], bool]) -> list[Any]:
    """Return the elements of an option, after checking them."""
    wanted = f"{option} must be a list of {element}s"
    if is_element(given):
        raise TypeError(f"{wanted}, got a {element}; write [{element}]")
    if not isinstance(given, Iterable) or isinstance(given, str | Mapping):
        raise TypeError(f"{wanted}, got {given!r}")
    items = list(given)
    for one in items:
        if not is_element(one):
            raise TypeError(f"{wanted}, got {one!r} in it")
    return items


def python_value(value: Any) -> Any:
    """Return NumPy's scalars, also within tuples, as Python's, which can be stored as JSON; others as they are."""
    if isinstance(value, tuple | list):
        return type(value)(map(python_value, value))
    return value.item() if isinstance(value, np.generic) else value


def read_distribution(name: str, distribution: BaseDistribution) -> BaseDistribution:
    """Return a distribution that can be stored."""
    if not isinstance(distribution, BaseDistribution):
        raise TypeError(f"{name!r} must be of an Optuna distribution, got {distribution!r}")
    if isinstance(distribution, CategoricalDistribution):
        choices = read_choices(name, distribution.choices)
        if any(type(given) is not type(choice) for given, choice in zip(distribution.choices, choices, strict=True)):
            return CategoricalDistribution(choices)
    return distribution


def read_choices(name: str, choices: Sequence[Any]) -> list[Any]:
    """Return choices with Python's scalars for NumPy's, after checking that they can be stored."""
    python_choices = [python_value(choice) for choice in choices]
    for choice in python_choices:
        if not storable(choice):
            raise TypeError(
                f"choices of {name!r} must be None, bool, int, float, str or tuples of these, got {choice!r} "
                f"({type(choice).__name__})"
            )
    for one, other in combinations(python_choices, 2):
        if one == other and type(one) is not type(other):
            raise ValueError(
                f"choices of {name!r} must be unequal, got {one!r} and {other!r}, which are one for Optuna: "
                f"{one!r} == {other!r}"
            )
    return python_choices


def storable(value: Any) -> bool:
    """Return whether a value can be stored as JSON."""
    if isinstance(value, tuple | list):
        return all(map(storable, value))
    return value is None or isinstance(value, bool | int | float | str)


def only_value(distribution: BaseDistribution) -> Any:
    """Return the value of a distribution that has only one."""
    if isinstance(distribution, CategoricalDistribution):
        return distribution.choices[0]
    assert isinstance(distribution, FloatDistribution | IntDistribution)
    return distribution.low


def contains(distribution: BaseDistribution, value: Any) -> bool:
    """Whether a value is one of the distribution's."""
    if isinstance(distribution, CategoricalDistribution):
        return value in distribution.choices
    assert isinstance(distribution, FloatDistribution | IntDistribution)
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    number = whole or (isinstance(distribution, FloatDistribution) and isinstance(value, float | np.floating))
    if not number or not distribution.low <= value <= distribution.high:
        return False
    if distribution.step is None:
        return True
    steps = (value - distribution.low) / distribution.step
    return bool(abs(steps - round(steps)) < 1e-8)
