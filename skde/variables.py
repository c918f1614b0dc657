"""Typed variables, and the box that an algorithm searches for them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Any, ClassVar

import numpy as np

from skde import _cpu
from skde.constants import CONSTANTS, ENUMERATIONS
from skde.typing import FloatArray
from skde.validation import check_choice, check_int, check_real, float_array, shown

NUMBERS = CONSTANTS["VARIABLE_NUMBERS"]  # of a variable in a table, skde/kernels/problems/variables.cuh
# The sizes of integers that the kernels round: a half more is still a number of the precision.
LARGEST_INTEGER = {"float64": 2**50, "float32": 2**21}
CHOICES = (str, int, float, bool, type(None))


@dataclass(frozen=True)
class Variable(ABC):
    """The interface of a typed variable: its values, and its components in the box that an algorithm searches."""

    kind: ClassVar[str]

    @property
    @abstractmethod
    def box(self) -> list[tuple[float, float]]:
        """The bounds of its components."""

    @property
    @abstractmethod
    def limits(self) -> tuple[float, float]:
        """The smallest and the largest value."""

    @property
    def middle(self) -> float:
        """A value in the middle."""
        return math.floor(sum(self.limits) / 2)

    @abstractmethod
    def components(self, values: FloatArray) -> FloatArray:
        """Return the components with these allowed values, of shape (n, number of components)."""

    def allowed(self, values: FloatArray) -> Any:
        """Return which numbers are values of the variable."""
        low, high = self.limits
        return (values >= low) & (values <= high)

    def parameter(self, value: float) -> Any:
        """Return a value as `params_` has it."""
        return float(value)

    def number(self, parameter: Any) -> float:
        """Return the number of a value of `params_`."""
        return check_real("a value", parameter)


class WholeNumbered(Variable):
    """A variable with whole numbers as values."""

    @property
    def box(self) -> list[tuple[float, float]]:
        """The bounds: half a unit more on both sides, so that all values have equal parts, as in SciPy."""
        low, high = self.limits
        return [(float(np.nextafter(low - 0.5, np.inf)), float(np.nextafter(high + 0.5, -np.inf)))]

    def allowed(self, values: FloatArray) -> Any:
        """Return which numbers are values of the variable."""
        return super().allowed(values) & (values == np.floor(values))

    def components(self, values: FloatArray) -> FloatArray:
        """Return the components with these values."""
        return values[:, None]


@dataclass(frozen=True)
class Real(Variable):
    """A real number.

    Parameters
    ----------
    low, high : float
        Bounds, low < high.
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
    def box(self) -> list[tuple[float, float]]:
        """The bounds of its component."""
        return [self.limits]

    def components(self, values: FloatArray) -> FloatArray:
        """Return the components with these values."""
        return values[:, None]


@dataclass(frozen=True)
class Log(Real):
    """A real number that is searched on a logarithmic scale.

    Parameters
    ----------
    low, high : float
        Bounds, 0 < low < high.
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
        if not self.low >= np.finfo(np.float32).tiny:
            raise ValueError(f"Log.low must be at least 1.2e-38, got {self.low!r}")

    @property
    def box(self) -> list[tuple[float, float]]:
        """The logarithms of the bounds."""
        low, high = _cpu.log(np.array(self.limits))
        return [(float(low), float(high))]

    @property
    def middle(self) -> float:
        """The geometric mean of the bounds."""
        return math.sqrt(self.low) * math.sqrt(self.high)

    def components(self, values: FloatArray) -> FloatArray:
        """Return the logarithms of these values."""
        return _cpu.log(np.ascontiguousarray(values))[:, None]


@dataclass(frozen=True)
class Integer(WholeNumbered):
    """A whole number: a real one, rounded for the evaluation.

    Parameters
    ----------
    low, high : int
        The smallest and the largest value, low < high.
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
    values : sequence of float
        At least two numbers, each larger than the one before.
    name : str or None, default None
        Its name; None: x0, x1, ... by its place.

    Examples
    --------
    >>> from skde import Minimizer, Ordinal
    >>> m = Minimizer(max_iter=50, random_state=0)
    >>> m.fit(lambda X: (X[:, 0] - 0.7) ** 2, bounds={"t": Ordinal([0.25, 0.5, 0.75, 1.5])}).params_
    {'t': 0.75}
    """

    values: Sequence[float] | FloatArray
    name: str | None = None
    kind: ClassVar[str] = "ORDINAL"

    def __post_init__(self) -> None:
        values = float_array(self.values, "Ordinal.values must be increasing numbers")
        if values.ndim != 1 or len(values) < 2 or not (np.isfinite(values).all() and (np.diff(values) > 0).all()):
            raise ValueError(f"Ordinal.values must be at least two increasing numbers, got {shown(self.values)}")
        object.__setattr__(self, "values", tuple(values.tolist()))

    @property
    def limits(self) -> tuple[float, float]:
        """The smallest and the largest value."""
        return float(self.values[0]), float(self.values[-1])

    @property
    def middle(self) -> float:
        """The value in the middle."""
        return float(self.values[len(self.values) // 2])

    @property
    def box(self) -> list[tuple[float, float]]:
        """The bounds of the value's index."""
        return Integer(0, len(self.values) - 1).box

    def allowed(self, values: FloatArray) -> Any:
        """Return which numbers are values of the variable."""
        return np.isin(values, self.values)

    def components(self, values: FloatArray) -> FloatArray:
        """Return the indices of these values."""
        return np.searchsorted(self.values, values)[:, None].astype(np.float64)


@dataclass(frozen=True)
class Categorical(WholeNumbered):
    """One of several choices without an order.

    An algorithm searches one number in [0, 1] for every choice, and the choice with the largest number is evaluated.
    So no choice is nearer to one than to another.

    Parameters
    ----------
    choices : sequence of str, int, float, bool or None
        At least two, all different. The objective gets the index of the choice, a number.
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
            raise TypeError(f"Categorical.choices must be a list, got {shown(given)} ({type(given).__name__})")
        choices = tuple(choice.item() if isinstance(choice, np.generic) else choice for choice in given)
        for choice in choices:
            if not isinstance(choice, CHOICES):
                raise TypeError(f"Categorical.choices must be text, numbers, bools or None, got {shown(choice)}")
        if len(choices) < 2 or len(set(map(repr, choices))) < len(choices):
            raise ValueError(f"Categorical.choices must be at least two different ones, got {shown(given)}")
        object.__setattr__(self, "choices", choices)

    @property
    def limits(self) -> tuple[float, float]:
        """The smallest and the largest index."""
        return 0.0, float(len(self.choices) - 1)

    @property
    def box(self) -> list[tuple[float, float]]:
        """The bounds of one number for every choice."""
        return [(0.0, 1.0)] * len(self.choices)

    def components(self, values: FloatArray) -> FloatArray:
        """Return 1 for these choices, and 0 for the others."""
        return np.eye(len(self.choices))[values.astype(np.int64)]

    def parameter(self, value: float) -> Any:
        """Return a value as `params_` has it: the choice."""
        return self.choices[int(value)]

    def number(self, parameter: Any) -> float:
        """Return the index of a choice."""
        same = [k for k, choice in enumerate(self.choices) if choice is parameter or repr(choice) == repr(parameter)]
        if not same:
            raise ValueError(f"a choice must be one of {shown(self.choices)}, got {shown(parameter)}")
        return float(same[0])


@dataclass(frozen=True)
class Fixed(Variable):
    """A number that does not vary. The objective gets it, and an algorithm does not search it.

    Parameters
    ----------
    value : float
        The number.
    name : str or None, default None
        Its name; None: x0, x1, ... by its place.

    Examples
    --------
    >>> from skde import Fixed, Minimizer
    >>> m = Minimizer(max_iter=50, random_state=0)
    >>> m = m.fit(lambda X: (X[:, 0] - X[:, 1]) ** 2, bounds={"a": (-5, 5), "b": Fixed(2)})
    >>> m.params_["b"]
    2.0
    """

    value: float
    name: str | None = None
    kind: ClassVar[str] = "FIXED"

    def __post_init__(self) -> None:
        number = check_real("Fixed.value", self.value, -np.inf, np.inf, low_open=True, high_open=True)
        object.__setattr__(self, "value", number)

    @property
    def limits(self) -> tuple[float, float]:
        """The value, twice."""
        return self.value, self.value

    @property
    def middle(self) -> float:
        """The value."""
        return self.value

    @property
    def box(self) -> list[tuple[float, float]]:
        """No components."""
        return []

    def components(self, values: FloatArray) -> FloatArray:
        """Return no components."""
        return np.empty((len(values), 0))


KINDS: dict[str, type[Variable]] = {kind.kind: kind for kind in (Real, Integer, Log, Ordinal, Categorical, Fixed)}


@dataclass(frozen=True)
class Variables:
    """Named variables of several types, wherever bounds are expected.

    An algorithm searches a box of real components. The objective gets the values of a point of the box:
    real variables as they are, integers rounded, logarithms raised, ordinal variables by their index, categories by the
    largest of their components, fixed variables always the same.

    Parameters
    ----------
    given : mapping of str to Variable, or sequence of Variable
        The variables. A pair (low, high) is a `Real`, or a `Fixed` where low equals high.

    Examples
    --------
    >>> from skde import Integer, Log, Variables
    >>> variables = Variables({"n": Integer(1, 20), "rate": Log(1e-4, 1.0), "shift": (0, 1)})
    >>> variables.names
    ('n', 'rate', 'shift')
    >>> variables.params([3, 0.5, 0.25])
    {'n': 3, 'rate': 0.5, 'shift': 0.25}
    """

    given: Any = field(repr=False, compare=False)
    members: tuple[Variable, ...] = field(init=False)
    names: tuple[str, ...] = field(init=False)
    uploaded: dict[Any, Any] = field(init=False, repr=False, compare=False, default_factory=dict)  # tables on GPUs

    def __post_init__(self) -> None:
        named = isinstance(self.given, Mapping)
        entries = self.given.items() if named else enumerate(self.given)
        members: list[Variable] = []
        names: list[Any] = []
        for key, entry in entries:
            variable = as_variable(f"bounds[{key!r}]", entry)
            names.append(key if named else getattr(variable, "name", None) or f"x{key}")
            members.append(variable)
        for name in names:
            if not isinstance(name, str) or not name or names.count(name) > 1:
                raise ValueError(f"bounds: names must be different texts, got {shown(names)}")
        object.__setattr__(self, "given", None)
        object.__setattr__(self, "members", tuple(members))
        object.__setattr__(self, "names", tuple(names))
        if not self.box.size:
            raise ValueError(f"bounds must have at least one variable that is not fixed, got {shown(self.members)}")

    def __len__(self) -> int:
        return len(self.members)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the tables on GPUs."""
        return {**vars(self), "uploaded": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take what `__getstate__` returned."""
        vars(self).update(state)

    @cached_property
    def box(self) -> FloatArray:
        """The box that an algorithm searches, of shape (number of components, 2)."""
        return np.array([pair for variable in self.members for pair in variable.box], np.float64).reshape(-1, 2)

    @cached_property
    def firsts(self) -> list[int]:
        """The number of every variable's first component, and the number of all."""
        return list(accumulate((len(variable.box) for variable in self.members), initial=0))

    @cached_property
    def limits(self) -> FloatArray:
        """The smallest and the largest value of every variable, of shape (n, 2)."""
        return np.array([variable.limits for variable in self.members])

    @cached_property
    def middle(self) -> FloatArray:
        """Values in the middle, of shape (n,)."""
        return np.array([variable.middle for variable in self.members])

    @cached_property
    def table(self) -> FloatArray:
        """The table that the kernels read, skde/kernels/problems/variables.cuh."""
        rows: list[float] = []
        values: list[float] = []
        for variable, first in zip(self.members, self.firsts, strict=False):
            count, limits = 0, variable.limits
            if isinstance(variable, Categorical):
                count = len(variable.choices)
            if isinstance(variable, Ordinal):
                count, limits = NUMBERS * len(self) + len(values), (0.0, len(variable.values) - 1.0)
                values += map(float, variable.values)
            rows += [ENUMERATIONS["Kind"][variable.kind], first, count, *limits]
        return np.array([*rows, *values], np.float64)

    def params(self, x: Any) -> dict[str, Any]:
        """Return the values of a point by name.

        Parameters
        ----------
        x : array-like of shape (n,)
            A point as an objective gets it.

        Returns
        -------
        params : dict
            Integers are int, categories are their choices, all others are float.
        """
        return {
            name: variable.parameter(float(value))
            for name, variable, value in zip(self.names, self.members, x, strict=True)
        }

    def points(self, given: Any, what: str = "x0") -> FloatArray:
        """Return points, as an objective gets them, from an array or from one or more dictionaries of parameters."""
        single = isinstance(given, Mapping)
        if single or (isinstance(given, Sequence) and len(given) and isinstance(given[0], Mapping)):
            return np.array([self._numbers(params, what) for params in ([given] if single else given)])
        rows = np.atleast_2d(float_array(given, f"{what} must be numbers of shape ({len(self)},) or (n, {len(self)})"))
        if rows.ndim != 2 or rows.shape[1] != len(self):
            raise ValueError(f"{what} must have shape ({len(self)},) or (n, {len(self)}), got {np.shape(given)}")
        return rows

    def _numbers(self, params: Mapping[str, Any], what: str) -> list[float]:
        if set(params) != set(self.names):
            raise ValueError(f"{what} must have the variables {', '.join(self.names)}, got {shown(dict(params))}")
        return [variable.number(params[name]) for name, variable in zip(self.names, self.members, strict=True)]

    def encode(self, values: FloatArray, what: str = "x0", into: FloatArray | None = None, changed: Any = True) -> Any:
        """Return the components with these values, after a check of the values.

        Parameters
        ----------
        values : ndarray of shape (n, number of variables)
            Points as an objective gets them.
        what : str, default "x0"
            Their name in messages.
        into : ndarray of shape (n, number of components) or None, default None
            Components that stay where `changed`, of the shape of values, is false.
        changed : ndarray of bool
            The values that are encoded; all by default.
        """
        out = np.empty((len(values), len(self.box))) if into is None else into.copy()
        changed = np.broadcast_to(changed, values.shape)
        for j, variable in enumerate(self.members):
            rows = changed[:, j]
            given, own = values[rows, j].astype(np.float64), slice(self.firsts[j], self.firsts[j + 1])
            wrong = np.flatnonzero(~variable.allowed(given))
            if len(wrong):
                raise ValueError(
                    f"{what}: {float(given[wrong[0]])!r} is no value of {self.names[j]!r}, which is {shown(variable)}"
                )
            out[rows, own] = np.clip(variable.components(given), *self.box[own].T)
        return out

    def __add__(self, other: Variables) -> Variables:
        """Return the variables of both, by their places."""
        return Variables([nameless(variable) for variable in (*self.members, *other.members)])

    def describe(self) -> list[dict[str, Any]]:
        """Return the variables as data."""
        described = []
        for name, variable in zip(self.names, self.members, strict=True):
            described.append({**asdict(variable), "name": name, "kind": variable.kind})
        return described

    @classmethod
    def from_description(cls, described: Sequence[Mapping[str, Any]]) -> Variables:
        """Return the variables that `describe` described."""
        return cls(dict(map(described_variable, described)))

    @classmethod
    def from_integrality(cls, box: FloatArray, integrality: Any) -> Variables:
        """Return the variables of SciPy's `integrality`.

        Parameters
        ----------
        box : array-like of shape (n, 2)
            Bounds.
        integrality : array-like of bool, of shape (n,) or ()
            Which variables are whole numbers; their bounds are then narrowed to whole numbers.
        """
        whole_numbered = np.broadcast_to(np.asarray(integrality, bool), len(box))
        return cls(
            [
                as_variable(f"bounds[{j}]", (low, high), Integer if is_whole else Real)
                for j, ((low, high), is_whole) in enumerate(zip(np.asarray(box).tolist(), whole_numbered, strict=True))
            ]
        )


def described_variable(described: Any) -> tuple[str, Variable]:
    """Return the name and the variable of an entry of `Variables.describe`."""
    if not isinstance(described, Mapping) or not isinstance(described.get("name"), str):
        raise ValueError(f"a variable must be described by name, kind and parameters, got {shown(described)}")
    kind = KINDS[check_choice("the kind of a variable", described.get("kind"), KINDS)]
    parameters = {name: value for name, value in described.items() if name not in ("kind", "name")}
    try:
        return described["name"], kind(**parameters)
    except TypeError as error:
        raise ValueError(f"the variable {described['name']!r}: {error}") from error


def as_variable(what: str, given: Any, kind: type[Variable] = Real) -> Variable:
    """Return a variable, or the one of this kind with a pair (low, high) as bounds."""
    if isinstance(given, Variable):
        return given
    if isinstance(given, str) or np.shape(given) != (2,):
        raise TypeError(
            f"{what} must be a pair (low, high), Real, Integer, Log, Ordinal, Categorical or Fixed, got {shown(given)}"
        )
    low, high = (check_real(what, bound) for bound in given)
    if kind is Integer:
        if math.ceil(low) > math.floor(high):
            raise ValueError(f"{what} must have a whole number between its bounds, got ({low}, {high})")
        low, high = math.ceil(low), math.floor(high)
    return Fixed(low) if low == high else kind(low, high)  # type: ignore[call-arg]


def as_variables(bounds: Any) -> Variables | None:
    """Return the variables where bounds are a mapping, have a Variable, or have pairs with low equal to high.

    None: all variables are real, and bounds are an array; see `check_bounds`.
    """
    if isinstance(bounds, Variables):
        return bounds
    if isinstance(bounds, Mapping):
        return Variables(bounds)
    if isinstance(bounds, list | tuple) and any(isinstance(entry, Variable) for entry in bounds):
        return Variables(bounds)
    if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
        bounds = np.stack(np.broadcast_arrays(np.atleast_1d(bounds.lb), np.atleast_1d(bounds.ub)), axis=1)
    pairs = numbers_of(bounds)
    if pairs is None or pairs.ndim != 2 or pairs.shape[1] != 2:
        return None
    fixed = pairs[:, 0] == pairs[:, 1]
    return Variables(pairs.tolist()) if fixed.any() and not fixed.all() and np.isfinite(pairs).all() else None


def checked_variables(variables: Variables | None, dtype: np.dtype[Any]) -> Variables | None:
    """Return the variables of a fit, after a check that its precision holds their integers."""
    for name, variable in zip(variables.names, variables.members, strict=True) if variables is not None else ():
        if isinstance(variable, Integer) and max(map(abs, variable.limits)) > LARGEST_INTEGER[dtype.name]:
            raise ValueError(f"bounds[{name!r}] = {variable!r} needs dtype='float64', got {dtype.name!r}")
    return variables


def numbers_of(given: Any) -> FloatArray | None:
    """Return an array of numbers; None where it is none, which `check_bounds` refuses."""
    try:
        array = np.asarray(given)
    except ValueError:
        return None
    return array.astype(np.float64) if array.dtype.kind in "biuf" else None


def whole(given: Any) -> Any:
    """Return an int for a float with a whole number; anything else as it is."""
    return int(given) if isinstance(given, float) and given.is_integer() else given


def check_pair(variable: Any) -> None:
    """Check the bounds of a variable, and make them numbers of Python."""
    kind = type(variable).__name__
    low, high = (check_real(f"{kind}.{name}", getattr(variable, name)) for name in ("low", "high"))
    if not (low < high and math.isfinite(high - low)):
        raise ValueError(f"{kind} must have low < high, both finite, got ({low!r}, {high!r}); Fixed has one value")
    if not isinstance(variable, Integer):
        object.__setattr__(variable, "low", low)
        object.__setattr__(variable, "high", high)


def nameless(variable: Variable) -> Variable:
    """Return a copy of a variable without a name."""
    parameters = {**asdict(variable), "name": None}
    return type(variable)(**parameters)
