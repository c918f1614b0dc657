"""Named variables of several types, and the box that an algorithm searches for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np

from skde.constants import CONSTANTS, ENUMERATIONS
from skde.typing import FloatArray
from skde.utils.validation import clip_rounded, float_array, quote, round_inwards
from skde.variables.kinds import (
    LARGEST_INTEGER,
    SMALLEST_LOG,
    Categorical,
    Integer,
    Log,
    Ordinal,
    Real,
    Variable,
    WholeNumbered,
    as_variable,
    describe_variable,
    nameless,
    read_variable,
)

NUMBERS = CONSTANTS["VARIABLE_NUMBERS"]  # of a variable in a table, skde/kernels/problems/variables.cuh


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
    named: bool = field(init=False)  # by the user
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
                raise ValueError(f"bounds: names must be different texts, got {quote(names)}")
        texts = named or any(getattr(variable, "name", None) for variable in members)
        object.__setattr__(self, "given", None)
        object.__setattr__(self, "named", bool(texts))
        object.__setattr__(self, "members", tuple(members))
        object.__setattr__(self, "names", tuple(names))

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
        """The box that an algorithm searches, of shape (number of components, 2).

        Where all variables are fixed, it has one component, on which nothing depends.
        """
        pairs = [pair for variable in self.members for pair in variable.box]
        return np.array(pairs or [(0.0, 1.0)], np.float64)

    @property
    def free(self) -> bool:
        """Whether a variable is not fixed."""
        return not all(variable.fixed for variable in self.members)

    @cached_property
    def firsts(self) -> list[int]:
        """The number of every variable's first component, and the number of all."""
        return list(accumulate((len(variable.box) for variable in self.members), initial=0))

    @cached_property
    def real_components(self) -> Any:
        """Which components are real numbers, on a logarithmic scale or not, of shape (number of components,)."""
        if not self.free:
            return np.zeros(1, bool)
        return np.repeat([isinstance(variable, Real) for variable in self.members], np.diff(self.firsts))

    @property
    def discrete(self) -> bool:
        """Whether a component is not a real number, so that the objective has steps."""
        return not bool(self.real_components.all())

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
            kind = "FIXED" if variable.fixed else variable.kind
            if isinstance(variable, Categorical):
                count = len(variable.choices)
            if isinstance(variable, Ordinal) and not variable.fixed:
                count, limits = NUMBERS * len(self) + len(values), (0.0, len(variable.values) - 1.0)
                values += variable.numbers.tolist()
            rows += [ENUMERATIONS["Kind"][kind], first, count, *limits]
        return np.array([*rows, *values], np.float64)

    def table_of(self, dtype: Any) -> Any:
        """Return the table in a precision, in which the limits of logarithmic variables are rounded inwards."""
        table = self.table.astype(dtype)
        rows = table[: NUMBERS * len(self)].reshape(-1, NUMBERS)
        logarithmic = np.array([isinstance(variable, Log) and not variable.fixed for variable in self.members])
        if logarithmic.any():
            rows[logarithmic, -2:] = round_inwards(self.limits[logarithmic], dtype)
        return table

    def params(self, x: Any) -> dict[str, Any]:
        """Return the values of a point by name.

        Parameters
        ----------
        x : array-like of shape (n,)
            A point as an objective gets it.

        Returns
        -------
        params : dict
            Integers are int, ordinal values, choices and fixed values are as they were given, all others are float.

        Raises
        ------
        ValueError
            For a point of another shape, or a number that is no value of a variable with levels.
        """
        if np.shape(x) != (len(self),):
            raise ValueError(f"x must have shape ({len(self)},), got {np.shape(x)}")
        for name, variable, value in zip(self.names, self.members, x, strict=True):
            if isinstance(variable, WholeNumbered | Ordinal) and not variable.allows(np.array([value], np.float64))[0]:
                raise ValueError(f"x: {float(value)!r} is no value of {name!r}, which is {quote(variable)}")
        return {
            name: variable.parameter(float(value))
            for name, variable, value in zip(self.names, self.members, x, strict=True)
        }

    def points(self, given: Any, what: str = "x0") -> FloatArray:
        """Return points, as an objective gets them, from an array, from dictionaries of parameters, or from a table."""
        if hasattr(given, "columns") and hasattr(given, "to_dict") and set(given.columns) & set(self.names):
            given = given.to_dict("records")
        single = isinstance(given, Mapping)
        if single or (isinstance(given, Sequence) and len(given) and isinstance(given[0], Mapping)):
            return np.array([self._numbers(params, what) for params in ([given] if single else given)])
        named = f", or have the variables {', '.join(self.names)} by name" if self.named else ""
        rows = np.atleast_2d(
            float_array(given, f"{what} must be numbers of shape ({len(self)},) or (n, {len(self)}){named}")
        )
        if rows.ndim != 2 or rows.shape[1] != len(self):
            raise ValueError(f"{what} must have shape ({len(self)},) or (n, {len(self)}), got {np.shape(given)}")
        return rows

    def _numbers(self, params: Mapping[str, Any], what: str) -> list[float]:
        members = dict(zip(self.names, self.members, strict=True))
        needed = {name for name, variable in members.items() if not variable.fixed}
        if not needed <= set(params) <= set(members):
            missing = [name for name in self.names if name in needed - set(params)]
            unknown = [str(name) for name in params if name not in members]
            problems = [("missing", missing), ("unknown", unknown)]
            raise ValueError(
                f"{what} must have the variables {', '.join(self.names)}, got {quote(dict(params))}: "
                + "; ".join(f"{problem} {', '.join(names)}" for problem, names in problems if names)
            )
        return [
            variable.number(params[name], f"{what}[{name!r}]") if name in params else variable.limits[0]
            for name, variable in members.items()
        ]

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
        out = np.full((len(values), len(self.box)), 0.5) if into is None else into.copy()
        changed = np.broadcast_to(changed, values.shape)
        for j, variable in enumerate(self.members):
            rows = changed[:, j]
            given, own = values[rows, j].astype(np.float64), slice(self.firsts[j], self.firsts[j + 1])
            if isinstance(variable, Real):
                given = clip_rounded(given, *variable.limits)
            wrong = np.flatnonzero(~variable.allows(given))
            if len(wrong):
                row = f" in row {np.flatnonzero(rows)[wrong[0]]}" if len(values) > 1 else ""
                raise ValueError(
                    f"{what}: {float(given[wrong[0]])!r}{row} is no value of {self.names[j]!r}, which is "
                    f"{quote(variable)}"
                )
            out[rows, own] = np.clip(variable.components(given), *self.box[own].T)
        return out

    def __add__(self, other: Variables) -> Variables:
        """Return the variables of both, by their places."""
        return Variables([nameless(variable) for variable in (*self.members, *other.members)])

    def describe(self) -> list[dict[str, Any]]:
        """Return the variables as data; the names are None where the user gave none."""
        names = self.names if self.named else [None] * len(self)
        return [describe_variable(name, variable) for name, variable in zip(names, self.members, strict=True)]

    @classmethod
    def from_description(cls, described: Sequence[Mapping[str, Any]]) -> Variables:
        """Return the variables that `describe` described."""
        members = list(map(read_variable, described))
        unnamed = [variable for name, variable in members if name is None]
        if unnamed and len(unnamed) < len(members):
            raise ValueError("a variable must be described by name, kind and parameters: some have no name")
        return cls(unnamed or dict(members))

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


def as_variables(bounds: Any) -> Variables | None:
    """Return the variables where bounds are a mapping, have a Variable, or have pairs with low equal to high.

    None: all variables are real, and bounds are an array; see `check_bounds`.
    """
    if bounds is None or isinstance(bounds, Variables):
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
    return Variables(pairs.tolist()) if fixed.any() and np.isfinite(pairs).all() else None


def check_variables(variables: Variables | None, dtype: np.dtype[Any]) -> Variables | None:
    """Return the variables of a fit, after a check that its precision holds their numbers."""
    for name, variable in zip(variables.names, variables.members, strict=True) if variables is not None else ():
        if isinstance(variable, Integer) and max(map(abs, variable.limits)) > LARGEST_INTEGER[dtype.name]:
            raise ValueError(f"bounds[{name!r}] = {variable!r} needs dtype='float64', got {dtype.name!r}")
        if isinstance(variable, Log) and variable.low < SMALLEST_LOG[dtype.name]:
            raise ValueError(
                f"bounds[{name!r}] = {variable!r} needs dtype='float64', got {dtype.name!r}, whose least number "
                f"is {SMALLEST_LOG[dtype.name]:.3g}"
            )
    return variables


def numbers_of(given: Any) -> FloatArray | None:
    """Return an array of numbers; None where it is none, which `check_bounds` refuses."""
    try:
        array = np.asarray(given)
    except ValueError:
        return None
    return array.astype(np.float64) if array.dtype.kind in "biuf" else None
