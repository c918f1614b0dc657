"""The types of variables: their values, and their components in the box that an algorithm searches."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

import skde._cpu as _cpu
from skde.typing import FloatArray
from skde.utils.validation import check_choice, check_int, check_real, float_array, quote
from skde.variables.choices import as_plain, describe_choice, is_choice, is_filed, read_choice

# The sizes of integers that the kernels round: a half more is still a number of the precision.
LARGEST_INTEGER = {"float64": 2**50, "float32": 2**21}
# The least numbers of a precision with all of its digits; the kernels take their logarithms.
SMALLEST_LOG = {name: float(np.finfo(name).tiny) for name in LARGEST_INTEGER}


@dataclass(frozen=True)
class Variable(ABC):
    """The interface of a typed variable: its values, and its components in the box that an algorithm searches."""

    kind: ClassVar[str]

    @property
    def fixed(self) -> bool:
        """Whether it has one value only, so that it has no components."""
        low, high = self.limits
        return low == high

    @property
    def box(self) -> list[tuple[float, float]]:
        """The bounds of its components."""
        return [] if self.fixed else self.free_box

    def components(self, values: FloatArray) -> FloatArray:
        """Return the components with these allowed values, of shape (n, number of components)."""
        return np.empty((len(values), 0)) if self.fixed else self.free_components(values)

    @property
    @abstractmethod
    def free_box(self) -> list[tuple[float, float]]:
        """The bounds of its components, where it has several values."""

    @abstractmethod
    def free_components(self, values: FloatArray) -> FloatArray:
        """Return the components with these values, where it has several."""

    @property
    @abstractmethod
    def limits(self) -> tuple[float, float]:
        """The smallest and the largest value."""

    @property
    def middle(self) -> float:
        """A value in the middle."""
        return math.floor(sum(self.limits) / 2)

    def allows(self, values: FloatArray) -> Any:
        """Return which numbers are values of the variable."""
        low, high = self.limits
        return (values >= low) & (values <= high)

    def parameter(self, value: float) -> Any:
        """Return a value as `params_` has it."""
        return float(value)

    def number(self, parameter: Any, what: str) -> float:
        """Return the number of a value of `params_`; `what` is its name in messages."""
        return check_real(what, parameter)


class WholeNumbered(Variable):
    """A variable with whole numbers as values."""

    @property
    def free_box(self) -> list[tuple[float, float]]:
        """The bounds: half a unit more on both sides, so that all values have equal parts."""
        low, high = self.limits
        return [(float(np.nextafter(low - 0.5, np.inf)), float(np.nextafter(high + 0.5, -np.inf)))]

    def allows(self, values: FloatArray) -> Any:
        """Return which numbers are values of the variable."""
        return super().allows(values) & (values == np.floor(values))

    def free_components(self, values: FloatArray) -> FloatArray:
        """Return the components with these values."""
        return values[:, None]


@dataclass(frozen=True)
class Real(Variable):
    """A real number.

    Parameters
    ----------
    low, high : float
        Bounds, low <= high; equal ones fix the variable.
    name : str or None, default None
        Its name; None: x0, x1, ... by its place.

    Examples
    --------
    >>> from skde import Minimizer, Real
    >>> m = Minimizer(max_iter=50, random_state=0).fit(lambda X: (X[:, 0] - 1) ** 2, bounds={"a": Real(-2, 2)})
    >>> round(m.params_["a"], 2)
    1.0
    """

    low: float
    high: float
    name: str | None = None
    kind: ClassVar[str] = "REAL"

    def __post_init__(self) -> None:
        check_pair(self)

    @property
    def limits(self) -> tuple[float, float]:
        """The smallest and the largest value."""
        return self.low, self.high

    @property
    def middle(self) -> float:
        """The value in the middle."""
        return self.low + (self.high - self.low) / 2

    @property
    def free_box(self) -> list[tuple[float, float]]:
        """The bounds of its component."""
        return [self.limits]

    def free_components(self, values: FloatArray) -> FloatArray:
        """Return the components with these values."""
        return values[:, None]


@dataclass(frozen=True)
class Log(Real):
    """A real number that is searched on a logarithmic scale.

    Parameters
    ----------
    low, high : float
        Bounds, 0 < low <= high; equal ones fix the variable.
    name : str or None, default None
        Its name; None: x0, x1, ... by its place.

    Examples
    --------
    >>> from skde import Log, Minimizer
    >>> m = Minimizer(max_iter=50, random_state=0)
    >>> m = m.fit(lambda X: abs(X[:, 0] - 1e-3), bounds={"rate": Log(1e-6, 1.0)})
    >>> round(m.params_["rate"], 5)
    0.001
    """

    kind: ClassVar[str] = "LOG"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.low >= SMALLEST_LOG["float64"]:
            raise ValueError(f"Log.low must be at least {SMALLEST_LOG['float64']:.3g}, got {self.low!r}")

    @property
    def free_box(self) -> list[tuple[float, float]]:
        """The logarithms of the bounds."""
        low, high = _cpu.log(np.array(self.limits))
        return [(float(low), float(high))]

    @property
    def middle(self) -> float:
        """The geometric mean of the bounds."""
        return math.sqrt(self.low) * math.sqrt(self.high)

    def free_components(self, values: FloatArray) -> FloatArray:
        """Return the logarithms of these values."""
        return _cpu.log(np.ascontiguousarray(values))[:, None]


@dataclass(frozen=True)
class Integer(WholeNumbered):
    """A whole number: a real one, rounded for the evaluation.

    Parameters
    ----------
    low, high : int
        The smallest and the largest value, low <= high; equal ones fix the variable.
    name : str or None, default None
        Its name; None: x0, x1, ... by its place.

    Examples
    --------
    >>> from skde import Integer, Minimizer
    >>> m = Minimizer(max_iter=50, random_state=0)
    >>> m.fit(lambda X: (X[:, 0] - 6.6) ** 2, bounds={"n": Integer(1, 20)}).params_
    {'n': 7}
    """

    low: int
    high: int
    name: str | None = None
    kind: ClassVar[str] = "INTEGER"

    def __post_init__(self) -> None:
        most = LARGEST_INTEGER["float64"]
        for bound in ("low", "high"):
            object.__setattr__(self, bound, check_int(f"Integer.{bound}", whole(getattr(self, bound)), -most, most))
        check_pair(self)

    @property
    def limits(self) -> tuple[float, float]:
        """The smallest and the largest value."""
        return float(self.low), float(self.high)

    def parameter(self, value: float) -> int:
        """Return a value as `params_` has it."""
        return int(value)


@dataclass(frozen=True)
class Ordinal(Variable):
    """One of several numbers in increasing order, such as the thicknesses of plates; neighbours are alike.

    Parameters
    ----------
    values : sequence of int, float or scalars of NumPy
        Numbers, each larger than the one before; one alone is fixed. `params_` has them as they are given, and arrays
        of points have them as float.
    name : str or None, default None
        Its name; None: x0, x1, ... by its place.

    Examples
    --------
    >>> from skde import Minimizer, Ordinal
    >>> m = Minimizer(max_iter=50, random_state=0)
    >>> m.fit(lambda X: (X[:, 0] - 0.7) ** 2, bounds={"t": Ordinal([0.25, 0.5, 0.75, 1.5])}).params_
    {'t': 0.75}
    """

    values: Sequence[Any] | FloatArray
    name: str | None = None
    kind: ClassVar[str] = "ORDINAL"

    def __post_init__(self) -> None:
        values = float_array(self.values, "Ordinal.values must be increasing numbers")
        if values.ndim != 1 or len(values) < 1 or not (np.isfinite(values).all() and (np.diff(values) > 0).all()):
            raise ValueError(f"Ordinal.values must be one or more increasing numbers, got {quote(self.values)}")
        given = tuple(
            value if is_filed(value) else number for value, number in zip(self.values, values.tolist(), strict=True)
        )
        object.__setattr__(self, "values", given)

    @cached_property
    def numbers(self) -> FloatArray:
        """The values as numbers."""
        return np.array(self.values, np.float64)

    @property
    def limits(self) -> tuple[float, float]:
        """The smallest and the largest value."""
        return float(self.numbers[0]), float(self.numbers[-1])

    @property
    def middle(self) -> float:
        """The value in the middle."""
        return float(self.numbers[len(self.numbers) // 2])

    @property
    def free_box(self) -> list[tuple[float, float]]:
        """The bounds of the value's index."""
        return Integer(0, len(self.values) - 1).free_box

    def indices(self, values: Any) -> Any:
        """Return the indices of the values that are nearest to these numbers."""
        above = np.minimum(np.searchsorted(self.numbers, values), len(self.numbers) - 1)
        below = np.maximum(above - 1, 0)
        with np.errstate(over="ignore"):
            return np.where(values - self.numbers[below] < self.numbers[above] - values, below, above)

    def allows(self, values: FloatArray) -> Any:
        """Return which numbers are values of the variable, as they are or rounded to single precision."""
        nearest = self.numbers[self.indices(values)]
        with np.errstate(over="ignore"):
            return (nearest == values) | (nearest.astype(np.float32) == values)

    def free_components(self, values: FloatArray) -> FloatArray:
        """Return the indices of these values."""
        indices: FloatArray = self.indices(values)[:, None].astype(np.float64)
        return indices

    def parameter(self, value: float) -> Any:
        """Return a value as `params_` has it: as it was given."""
        return self.values[int(self.indices(value))]


@dataclass(frozen=True)
class Categorical(WholeNumbered):
    """One of several choices without an order.

    An algorithm searches one number in [0, 1] for every choice, and the choice with the largest number is evaluated.
    So no choice is nearer to one than to another.

    Parameters
    ----------
    choices : sequence of str, int, float, bool, None, scalars of NumPy, or tuples of these
        The choices, all different; one alone is fixed. `params_` has them as they are given, and arrays of points have
        the index of the choice, a number.
    name : str or None, default None
        Its name; None: x0, x1, ... by its place.

    Notes
    -----
    Source: J. C. Bean: Genetic algorithms and random keys for sequencing and optimization, ORSA Journal on Computing,
    1994, for numbers that are decoded by their order; E. C. Garrido-Merchan, D. Hernandez-Lobato: Dealing with
    categorical and integer-valued variables in Bayesian optimization with Gaussian processes, Neurocomputing, 2020, for
    the largest of one number for each choice, and for integers that are rounded before the evaluation.

    Of equal numbers the first one counts, which occurs where a rule puts components onto a bound (repair="clip").

    Examples
    --------
    >>> import numpy as np
    >>> from skde import Categorical, Minimizer
    >>> costs = np.array([3.0, 1.0, 2.0])
    >>> m = Minimizer(max_iter=50, random_state=0)
    >>> m.fit(lambda X: costs[X[:, 0].astype(int)], bounds={"kernel": Categorical(["rbf", "linear", "poly"])}).params_
    {'kernel': 'linear'}
    """

    choices: Sequence[Any]
    name: str | None = None
    kind: ClassVar[str] = "CATEGORICAL"

    def __post_init__(self) -> None:
        given = self.choices
        if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray):
            raise TypeError(f"Categorical.choices must be a list, got {quote(given)} ({type(given).__name__})")
        choices = list(map(as_plain, given))
        for choice in choices:
            if not is_choice(choice):
                raise TypeError(
                    f"Categorical.choices must be text, numbers, bools, None or tuples of these, got {quote(choice)}; "
                    "for other objects give their names, or their places in a list"
                )
        if not choices or len(set(map(repr, choices))) < len(choices):
            raise ValueError(f"Categorical.choices must be one or more different ones, got {quote(given)}")
        object.__setattr__(self, "choices", tuple(given))

    @property
    def limits(self) -> tuple[float, float]:
        """The smallest and the largest index."""
        return 0.0, float(len(self.choices) - 1)

    @property
    def free_box(self) -> list[tuple[float, float]]:
        """The bounds of one number for every choice."""
        return [(0.0, 1.0)] * len(self.choices)

    def free_components(self, values: FloatArray) -> FloatArray:
        """Return 1 for these choices, and 0 for the others."""
        return np.eye(len(self.choices))[values.astype(np.int64)]

    def parameter(self, value: float) -> Any:
        """Return a value as `params_` has it: the choice."""
        return self.choices[int(value)]

    def number(self, parameter: Any, what: str) -> float:
        """Return the index of a choice."""
        wanted = repr(as_plain(parameter))  # 1, 1.0 and True differ
        same = [k for k, choice in enumerate(self.choices) if repr(as_plain(choice)) == wanted]
        if not same:
            raise ValueError(f"{what} must be one of {quote(self.choices)}, got {quote(parameter)}")
        return float(same[0])


@dataclass(frozen=True)
class Fixed(Variable):
    """A number that does not vary. The objective gets it, and an algorithm does not search it.

    Parameters
    ----------
    value : int, float or scalar of NumPy
        The number. `params_` has it as it is given, and the objective gets it as float.
    name : str or None, default None
        Its name; None: x0, x1, ... by its place.

    Examples
    --------
    >>> from skde import Fixed, Minimizer
    >>> m = Minimizer(max_iter=50, random_state=0)
    >>> m = m.fit(lambda X: (X[:, 0] - X[:, 1]) ** 2, bounds={"a": (-5, 5), "b": Fixed(2)})
    >>> m.params_["b"]
    2
    """

    value: Any
    name: str | None = None
    kind: ClassVar[str] = "FIXED"

    def __post_init__(self) -> None:
        if not isinstance(as_plain(self.value), int | float) and is_choice(self.value):
            raise TypeError(
                f"Fixed.value must be a number, got {quote(self.value)}; for other values write "
                f"Categorical([{quote(self.value)}])"
            )
        number = check_real("Fixed.value", self.value, -np.inf, np.inf, low_open=True, high_open=True)
        object.__setattr__(self, "value", self.value if is_filed(self.value) else number)

    @property
    def limits(self) -> tuple[float, float]:
        """The value, twice."""
        return float(self.value), float(self.value)

    @property
    def middle(self) -> float:
        """The value."""
        return float(self.value)

    def parameter(self, value: float) -> Any:
        """Return the value as `params_` has it: as it was given."""
        return self.value

    @property
    def free_box(self) -> list[tuple[float, float]]:
        """No components."""
        return []

    def free_components(self, values: FloatArray) -> FloatArray:
        """Return no components."""
        return np.empty((len(values), 0))


KINDS: dict[str, type[Variable]] = {kind.kind: kind for kind in (Real, Integer, Log, Ordinal, Categorical, Fixed)}


def describe_variable(name: str | None, variable: Variable) -> dict[str, Any]:
    """Return a variable as an entry of `Variables.describe`, for JSON."""
    parameters = asdict(variable)
    for several in ("values", "choices"):
        if several in parameters:
            parameters[several] = list(map(describe_choice, parameters[several]))
    if "value" in parameters:
        parameters["value"] = describe_choice(parameters["value"])
    return {**parameters, "name": name, "kind": variable.kind}


def read_variable(described: Any) -> tuple[str | None, Variable]:
    """Return the name and the variable of an entry of `Variables.describe`."""
    if not isinstance(described, Mapping) or not isinstance(described.get("name", 0), str | None):
        raise ValueError(f"a variable must be described by name, kind and parameters, got {quote(described)}")
    kind = KINDS[check_choice("the kind of a variable", described.get("kind"), KINDS)]
    parameters = {name: value for name, value in described.items() if name not in ("kind", "name")}
    try:
        return described["name"], kind(**{name: read_value(value) for name, value in parameters.items()})
    except TypeError as error:
        raise ValueError(f"the variable {described['name']!r}: {error}") from error


def read_value(value: Any) -> Any:
    """Return a parameter of a variable that `describe_variable` described."""
    return list(map(read_choice, value)) if isinstance(value, list | tuple) else read_choice(value)


def as_variable(what: str, given: Any, kind: type[Variable] = Real) -> Variable:
    """Return a variable, or the one of this kind with a pair (low, high) as bounds."""
    if isinstance(given, Variable):
        return given
    if not is_pair(given):
        raise TypeError(
            f"{what} must be a pair (low, high), Real, Integer, Log, Ordinal, Categorical or Fixed, got "
            f"{quote(given)}{bounds_hint(given)}"
        )
    low, high = (check_real(what, bound) for bound in given)
    if kind is Integer:
        if math.ceil(low) > math.floor(high):
            raise ValueError(f"{what} must have a whole number between its bounds, got ({low}, {high})")
        low, high = math.ceil(low), math.floor(high)
    return Fixed(low) if low == high else kind(low, high)  # type: ignore[call-arg]


def is_pair(given: Any) -> bool:
    """Return whether something has two entries that may be bounds; text and bools may not."""
    if isinstance(given, str | Mapping) or not hasattr(given, "__getitem__") or not hasattr(given, "__len__"):
        return False
    return len(given) == 2 and not any(
        getattr(end, "ndim", 0) or isinstance(end, str | bool | np.bool | list | tuple | Mapping) for end in given
    )


def bounds_hint(given: Any) -> str:
    """Return the spelling of several values, or of one, for what is no pair; empty: there is none."""
    if isinstance(given, list | tuple | range | np.ndarray) and len(given) and all(map(is_choice, given)):
        return f"; for one of several values write Categorical({quote(list(map(as_plain, given)))})"
    if is_choice(given):
        spelling = (
            "Fixed({})" if isinstance(given, int | float) and not isinstance(given, bool) else "Categorical([{}])"
        )
        return f"; for a value that is fixed write {spelling.format(quote(given))}"
    return ""


def whole(given: Any) -> Any:
    """Return an int for a float with a whole number; anything else as it is."""
    return int(given) if isinstance(given, float) and given.is_integer() else given


def check_pair(variable: Any) -> None:
    """Check the bounds of a variable, and make them numbers of Python."""
    kind = type(variable).__name__
    low, high = (check_real(f"{kind}.{name}", getattr(variable, name)) for name in ("low", "high"))
    if not (low <= high and math.isfinite(high - low)):
        raise ValueError(f"{kind} must have low <= high, both finite, got ({low!r}, {high!r})")
    if not isinstance(variable, Integer):
        object.__setattr__(variable, "low", low)
        object.__setattr__(variable, "high", high)


def nameless(variable: Variable) -> Variable:
    """Return a copy of a variable without a name."""
    parameters = {**asdict(variable), "name": None}
    return type(variable)(**parameters)
