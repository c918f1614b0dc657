"""Parameter spaces of searches: lists and distributions as choices and quantiles."""

from __future__ import annotations

import json
import math
import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product
from typing import Any

import joblib
import numpy as np
from scipy.stats import loguniform, randint, rv_continuous, rv_discrete, uniform

from skde.typing import FloatArray
from skde.utils.validation import nearest, quote
from skde.variables import Categorical, Integer, Log, Ordinal, Variable
from skde.variables.choices import as_plain
from skde.variables.dependent_values import DependentValues

Condition = Callable[[dict[str, Any]], Any]

FORMS = "a list of values, a distribution of scipy.stats, a distribution of Optuna, or a typed variable of skde"
# Integers in a range of at most this many values are ordered choices; others are quantiles.
MOST_LEVELS = 100
# Quantiles of a distribution without a least or a greatest value stay so far from 0 and 1.
TAIL = 1e-4
# Where other libraries say the scale of a range, after its ends.
SCALES = ("uniform", "log-uniform", "loguniform", "log", "linear")
PLAIN = (bool, int, float, str, type(None))  # what JSON says as it is
MOST_SEEDS = 2**32 - 1
PART = ""  # the key of the choice among several mappings


@dataclass(frozen=True)
class Parameter:
    """One parameter of a space.

    Attributes
    ----------
    key : str
        Its key in raw values, unique in the space.
    name : str
        Its name in the estimator.
    choices : tuple or None
        Its values, where these are a list; a raw value is then an index.
    ordered : bool
        Whether the choices are numbers in increasing order.
    quantile : callable or None
        The value of a number in [0, 1], for other distributions; a raw value is then that number.
    drawn : bool
        Whether near numbers have values that are not near, as with a distribution with rvs alone.
    part : int or None
        The number of the mapping that has the parameter, where there are several.
    condition : callable or None
        Whether the parameter applies, from the values of the others.
    """

    key: str
    name: str
    choices: tuple[Any, ...] | None = None
    ordered: bool = False
    quantile: Callable[[float], Any] | None = None
    drawn: bool = False
    part: int | None = None
    condition: Condition | None = None

    @property
    def n_values(self) -> float:
        """The number of values, infinite for a quantile."""
        return math.inf if self.choices is None else len(self.choices)

    @property
    def conditional(self) -> bool:
        """Whether there are configurations without the parameter."""
        return self.part is not None or self.condition is not None

    def value(self, raw: float) -> Any:
        """Return the value of a raw value."""
        if self.choices is not None:
            return self.choices[int(raw)]
        assert self.quantile is not None
        return self.quantile(float(raw))

    def raw(self, u: float) -> float:
        """Return the raw value of a number in [0, 1]: equal shares for choices."""
        return u if self.choices is None else min(int(u * len(self.choices)), len(self.choices) - 1)


@dataclass(frozen=True)
class Candidate:
    """A configuration.

    Attributes
    ----------
    params : dict
        The values of the parameters that apply, by name.
    identity : str
        The same text for the same values, for no others: 1, 1.0 and True differ, and no place in a list counts.
    """

    params: dict[str, Any] = field(compare=False)
    identity: str


class ParameterSpace:
    """The configurations of a search.

    Parameters
    ----------
    distributions : mapping or sequence of mappings
        Lists and distributions by name. Of several mappings, a configuration has the parameters of one. A pair of
        numbers is refused.
    conditions : mapping of str to callable, or None
        condition(values) returns whether a parameter applies, from the values of the others, in any order; those that
        do not apply are None.

    Attributes
    ----------
    parameters : list of Parameter
        The parameters; with several mappings, the first one is the choice among these.
    """

    def __init__(self, distributions: Any, conditions: Mapping[str, Condition] | None = None) -> None:
        parts = [distributions] if isinstance(distributions, Mapping) else distributions
        if not isinstance(parts, Sequence) or isinstance(parts, str) or not parts:
            raise TypeError(
                "param_distributions must be a mapping of names to lists and distributions, or a list of mappings, "
                f"got {quote(distributions)} ({type(distributions).__name__})"
            )
        checked = check_conditions(conditions)
        several = len(parts) > 1
        self.parameters = [Parameter(PART, PART, tuple(range(len(parts))))] if several else []
        for number, part in enumerate(parts):
            if not isinstance(part, Mapping):
                raise TypeError(f"param_distributions must have mappings, got {quote(part)} ({type(part).__name__})")
            for name, given in part.items():
                key = f"{number}:{name}" if several else name
                self.parameters.append(as_parameter(key, name, given, number if several else None, checked.get(name)))
        self._numbers = {name: value_numbers(self.parameters, name) for name in {one.name for one in self.parameters}}
        names = {parameter.name for parameter in self.parameters}
        for name in checked:
            if name not in names:
                raise ValueError(f"conditions has {name!r}, which is no parameter{nearest(name, names - {PART})}")

    def __len__(self) -> int:
        return len(self.parameters)

    @property
    def n_free(self) -> int:
        """The number of parameters with more than one value."""
        return sum(parameter.n_values > 1 for parameter in self.parameters)

    def applies(self, parameter: Parameter, raw: dict[str, Any]) -> bool:
        """Return whether a parameter applies, by the raw values of the others; those that do not apply are None."""
        if parameter.part is not None and raw[PART] != parameter.part:
            return False
        own = self._parameters_of(parameter.part)

        def find(name: str, _: DependentValues) -> Any:
            given = raw[own[name].key]
            return None if given is None else own[name].value(given)

        values = DependentValues(own, find)
        for name, other in own.items():
            if other.key in dict.keys(raw):  # those that are found already
                _ = values[name]
        return meets(parameter, values)

    def _parameters_of(self, part: int | None) -> dict[str, Parameter]:
        """Return the parameters of a mapping, by name."""
        return {one.name: one for one in self.parameters if one.key != PART and one.part == part}

    def candidate(self, raw: Mapping[str, Any]) -> Candidate:
        """Return the configuration of raw values; values of parameters that do not apply are ignored."""
        own = self._parameters_of(raw.get(PART))
        used: dict[str, Any] = {}

        def find(name: str, values: DependentValues) -> Any:
            parameter = own[name]
            if meets(parameter, values):
                used[name] = parameter.value(raw[parameter.key])
            return used.get(name)

        DependentValues(own, find).fill()
        params = {name: used[name] for name in own if name in used}
        identity = sorted((name, self._identity(name, value)) for name, value in params.items())
        return Candidate(params, json.dumps(identity))

    def _identity(self, name: str, value: Any) -> Any:
        """Return what JSON can say of a value: itself, or the number of an object among its parameter's."""
        value = as_plain(value)
        if isinstance(value, PLAIN):
            return value
        key = value_key(value)
        number = self._numbers[name].get(key)
        return [key] if number is None else [number]

    def at(self, point: FloatArray) -> Candidate:
        """Return the configuration at a point of the unit cube."""
        return self.candidate({p.key: p.raw(float(u)) for p, u in zip(self.parameters, point, strict=True)})

    def all_candidates(self, most: int) -> list[Candidate] | None:
        """Return all configurations; None where there are more than `most` combinations, or infinitely many."""
        choices = [parameter.choices for parameter in self.parameters if parameter.choices is not None]
        # With conditions or several mappings, many combinations of values are one configuration.
        if len(choices) < len(self.parameters) or math.prod(map(len, choices)) > 100 * most:
            return None
        keys = [parameter.key for parameter in self.parameters]
        found: dict[str, Candidate] = {}
        for indices in product(*(range(len(values)) for values in choices)):
            candidate = self.candidate(dict(zip(keys, indices, strict=True)))
            found[candidate.identity] = candidate
        return list(found.values()) if len(found) <= most else None


def meets(parameter: Parameter, values: DependentValues) -> bool:
    """Return whether the condition of a parameter, if it has one, holds for the values of the others."""
    if parameter.condition is None:
        return True
    try:
        return bool(parameter.condition(values.for_rule()))
    except KeyError as error:
        missing = error.args[0]
        if missing in values.names:
            raise
        raise ValueError(
            f"the condition of {parameter.name!r} needs {missing!r}, which is no parameter of its mapping in "
            f"param_distributions{nearest(missing, values.names)}"
        ) from error


def value_key(value: Any) -> str:
    """Return the same text for the same values."""
    value = as_plain(value)
    if isinstance(value, PLAIN):
        return json.dumps(value)
    try:
        return str(joblib.hash(value))
    except Exception:  # functions without a name, and others that cannot be pickled
        return f"object {id(value)}"


def value_numbers(parameters: Sequence[Parameter], name: str) -> dict[str, int]:
    """Return the numbers of the choices of a parameter, by key; equal ones of several mappings have one number."""
    keys = (value_key(value) for one in parameters if one.name == name for value in one.choices or ())
    return {key: number for number, key in enumerate(dict.fromkeys(keys))}


def check_conditions(conditions: Any) -> Mapping[str, Condition]:
    """Return the conditions by name."""
    if conditions is None:
        return {}
    if not isinstance(conditions, Mapping):
        raise TypeError(f"conditions must be a mapping of names to functions, got {quote(conditions)}")
    for name, condition in conditions.items():
        if not callable(condition):
            raise TypeError(f"conditions[{name!r}] must be a function of the values before, got {quote(condition)}")
    return conditions


def as_parameter(key: str, name: Any, given: Any, part: int | None, condition: Condition | None) -> Parameter:
    """Return the parameter of a list or distribution."""
    if not isinstance(name, str):
        raise TypeError(f"param_distributions must have names of parameters, got {quote(name)}")
    form: dict[str, Any]
    if type(given).__module__.startswith("optuna."):
        form = optuna_form(name, given)
    elif isinstance(given, Variable):
        form = variable_form(name, given)
    elif hasattr(given, "ppf"):
        form = scipy_form(name, given)
    elif hasattr(given, "rvs"):
        form = {"quantile": draws(given), "drawn": True}
    elif is_range(given):
        refuse_range(name, given)
    elif isinstance(given, Sequence | np.ndarray) and not isinstance(given, str | bytes):
        form = list_form(name, list(given))
    else:
        raise TypeError(f"param_distributions[{name!r}] must be {FORMS}, got {quote(given)} ({type(given).__name__})")
    return Parameter(key, name, part=part, condition=condition, **form)


def list_form(name: str, values: list[Any]) -> dict[str, Any]:
    """Return a list as choices: ordered where they are increasing numbers."""
    if not values:
        raise ValueError(f"param_distributions[{name!r}] must have at least one value, got an empty list")
    different: dict[str, Any] = {}
    for value in values:
        different.setdefault(value_key(value), value)
    plain = list(map(as_plain, different.values()))
    ordered = all(isinstance(value, int | float) and is_number(value) for value in plain) and all(
        low < high for low, high in pairwise(plain)
    )
    return {"choices": tuple(different.values()), "ordered": ordered}


def is_range(given: Any) -> bool:
    """Return whether something is a pair of numbers, or one that a scale follows, as other libraries write ranges."""
    if not isinstance(given, tuple) or len(given) < 2 or not all(map(is_number, given[:2])):
        return False
    return len(given) == 2 or (isinstance(given[-1], str) and given[-1] in SCALES)


def refuse_range(name: str, given: tuple[Any, ...]) -> None:
    """Refuse a pair of numbers, which is a range as bounds of a solver, and would be values here.

    Raises
    ------
    ValueError
        With the spellings of both.
    """
    low, high = pair = tuple(sorted(map(as_plain, given[:2])))
    kind = "Integer" if all(isinstance(end, int) for end in pair) else "Real"
    log = f", on a logarithmic scale skde.Log({low!r}, {high!r})" if 0 < low < high else ""
    values, count = (list(pair), "two values") if len(given) == 2 else (list(map(as_plain, given)), "values")
    raise ValueError(
        f"param_distributions[{name!r}] must say whether {quote((*pair, *given[2:]))} are {count} or the ends of a "
        f"range: write {values} for {count}, skde.{kind}({low!r}, {high!r}) for a range{log}"
    )


def is_number(value: Any) -> bool:
    """Whether a value is a real number; a bool is none."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def draws(distribution: Any) -> Callable[[float], Any]:
    """Return a function of a number in [0, 1]: a value drawn with this number as the seed."""

    def draw(u: float) -> Any:
        value = distribution.rvs(random_state=np.random.RandomState(int(u * MOST_SEEDS)))
        return value.item() if isinstance(value, np.generic) else value

    return draw


def scipy_form(name: str, distribution: Any) -> dict[str, Any]:
    """Return a distribution of scipy.stats: integers that are equally likely as choices, others by their quantiles."""
    if isinstance(distribution, rv_continuous | rv_discrete):
        raise TypeError(
            f"param_distributions[{name!r}] must be a frozen distribution, such as uniform(0, 1), got "
            f"{quote(distribution)}"
        )
    low, high = (float(end) for end in distribution.support())
    if hasattr(distribution, "pmf") and high - low < MOST_LEVELS:
        levels = np.arange(low, high + 1)
        shares = distribution.pmf(levels)
        if np.allclose(shares, shares[0]):
            return {"choices": tuple(int(level) for level in levels), "ordered": True}
    first = 0.0 if math.isfinite(low) else TAIL
    last = 1.0 if math.isfinite(high) else 1 - TAIL

    def quantile(u: float) -> Any:
        value = np.asarray(distribution.ppf(first + (last - first) * u)).item()
        if not hasattr(distribution, "pmf"):
            return value
        return int(max(value, low))  # the quantile at 0 lies below a discrete distribution's least value

    return {"quantile": quantile}


def variable_form(name: str, variable: Variable) -> dict[str, Any]:
    """Return a typed variable as a list or as a distribution of scipy.stats."""
    if isinstance(variable, Categorical):
        return {"choices": tuple(variable.choices)}
    if isinstance(variable, Ordinal):
        return list_form(name, list(variable.values))
    if variable.fixed:
        return list_form(name, [variable.parameter(variable.limits[0])])
    low, high = variable.limits
    if isinstance(variable, Integer):
        return scipy_form(name, randint(variable.low, variable.high + 1))
    return scipy_form(name, loguniform(low, high) if isinstance(variable, Log) else uniform(low, high - low))


def optuna_form(name: str, distribution: Any) -> dict[str, Any]:
    """Return a distribution of Optuna."""
    kind = type(distribution).__name__
    if kind == "CategoricalDistribution":
        return {"choices": tuple(distribution.choices)}
    if kind not in ("FloatDistribution", "IntDistribution"):
        raise TypeError(
            f"param_distributions[{name!r}] must be a FloatDistribution, an IntDistribution or a "
            f"CategoricalDistribution of Optuna, got {quote(distribution)}"
        )
    low, high, step, log = distribution.low, distribution.high, distribution.step, distribution.log
    whole = kind == "IntDistribution"
    if step is not None and not log:
        n_steps = round((high - low) / step)
        if n_steps < MOST_LEVELS:
            return {"choices": tuple(low + k * step for k in range(n_steps + 1)), "ordered": True}

        def take_step(u: float) -> Any:
            return low + min(int(u * (n_steps + 1)), n_steps) * step

        return {"quantile": take_step}
    # Half a unit more at both ends gives all integers their share.
    first, last = (low - 0.5, high + 0.5) if whole else (low, high)
    if log:
        first, last = math.log(first), math.log(last)

    def quantile(u: float) -> Any:
        value = first + (last - first) * u
        value = math.exp(value) if log else value
        return min(max(round(value), low), high) if whole else min(max(value, low), high)

    return {"quantile": quantile}
