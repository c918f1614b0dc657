"""Test functions of quality experiments, and their suites."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from skde.typing import FloatArray
from skde.utils.validation import check_choice, check_int


def never() -> bool:
    """Return False."""
    return False


@dataclass(frozen=True)
class Function:
    """One function of a suite in one dimension.

    Attributes
    ----------
    name : str
        Name in its suite.
    objective : Problem or callable
        The objective of a Minimizer: compiled, or f(X) on NumPy arrays of shape (n, dim).
    of_lists : callable
        The same function for lists of points; returns a list of values.
    bounds : ndarray of shape (dim, 2)
        The box.
    f_opt : float
        The minimum.
    constraints : NonlinearConstraint or None, default None
        Its constraints.
    solved : callable, default never
        Returns whether the run has reached the last target of its platform, so that it may end.
    """

    name: str
    objective: Any
    of_lists: Callable[[list[list[float]]], list[float]]
    bounds: FloatArray
    f_opt: float
    constraints: Any = None
    solved: Callable[[], bool] = never

    @property
    def dim(self) -> int:
        """Number of variables."""
        return len(self.bounds)


@dataclass(frozen=True)
class Package:
    """A package that a suite needs.

    Attributes
    ----------
    name : str
        Its name for pip.
    module : str
        Its name for import.
    """

    name: str
    module: str

    @property
    def text(self) -> str:
        """Name and version, as in records."""
        return f"{self.name} {version(self.name)}"

    def require(self, what: str) -> None:
        """Refuse its absence.

        Raises
        ------
        ValueError
            With the command that installs it.
        """
        if find_spec(self.module) is None:
            raise ValueError(f"{what} needs {self.name}, which is not installed: pip install {self.name}")


@dataclass(frozen=True)
class LoggerFiles:
    """The files that a platform's logger writes for one trial.

    Attributes
    ----------
    folder : Path
        The folder, which the logger makes: where there is one, it would take another name.
    algorithm : str
        Name of the algorithm as the platform shows it.
    info : str
        The algorithm with its parameters, and the versions.
    """

    folder: Path
    algorithm: str
    info: str


@dataclass(frozen=True)
class Platform:
    """A platform with a logger: its functions have instances, and every trial is on another one.

    Attributes
    ----------
    package : Package
        The package.
    reader : str
        The program that reads the files.
    open : callable
        (suite, function, dim, instance, log) -> context with the Function of one trial. The files are complete when
        the context ends.
    read : callable
        (log folder) -> the error of the trial in it, None where the function's minimum gives it, and its evaluations;
        raises OSError for files that are not complete.
    merge : callable
        (log folders of the trials of one function in one dimension, folder) -> None: adds their files to the folder
        of the algorithm, so that it has the files of one experiment. It may be repeated.
    """

    package: Package
    reader: str
    open: Callable[[str, str, int, int, LoggerFiles], AbstractContextManager[Function]]
    read: Callable[[Path], tuple[float | None, int]]
    merge: Callable[[list[Path], Path], None]


@dataclass(frozen=True)
class Suite:
    """A suite of test functions.

    Attributes
    ----------
    name : str
        Name of the suite.
    functions : tuple of str
        Their names, in order.
    make : callable or None
        (suite, function, dim) -> Function; raises ValueError for a dimension that is not allowed. None for a suite of
        a platform.
    compiled : bool
        Whether the functions run on a GPU too.
    zero : float, default 1e-8
        Smaller errors count as zero, as in papers on the suite.
    dims : callable or None, default None
        (function) -> the dimensions in which it is defined; None: `make` checks them.
    package : Package or None, default None
        The package that has the functions.
    platform : Platform or None, default None
        The platform of the suite.
    constrained : bool, default False
        Whether the functions have constraints.
    """

    name: str
    functions: tuple[str, ...]
    make: Callable[[str, str, int], Function] | None
    compiled: bool
    zero: float = 1e-8
    dims: Callable[[str], tuple[int, ...]] | None = None
    package: Package | None = None
    platform: Platform | None = None
    constrained: bool = False

    def check(self, name: str, dim: int) -> None:
        """Check the name and the dimension of a function, and that its package is there.

        Raises
        ------
        ValueError, TypeError
            For a name or a dimension that the suite does not have, and for a package that is missing.
        """
        check_choice(f"function of {self.name!r}", name, self.functions)
        check_int("dims", dim, 1)
        if self.package is not None:
            self.package.require(f"the suite {self.name!r}")
        if self.dims is not None and dim not in self.dims(name):
            allowed = self.dims(name)
            whole = len(allowed) > 2 and allowed == tuple(range(allowed[0], allowed[-1] + 1))
            text = f"from {allowed[0]} to {allowed[-1]}" if whole else f"of {', '.join(map(str, allowed))}"
            raise ValueError(f"dims of {name!r} of {self.name!r} must be {text}; got {dim}")

    def function(self, name: str, dim: int) -> Function:
        """Return one function.

        Raises
        ------
        ValueError, TypeError
            For the reasons of `check`, and for a suite of a platform.
        """
        self.check(name, dim)
        if self.make is None:
            raise ValueError(f"the functions of {self.name!r} have instances: Suite.platform.open returns one")
        return self.make(self.name, name, dim)

    def all_dims(self) -> list[int]:
        """Return every dimension that one of the functions has.

        Raises
        ------
        ValueError
            For a suite with functions in any dimension.
        """
        if self.dims is None:
            raise ValueError(f"dims of {self.name!r} must be given, such as 10,30")
        return sorted({dim for name in self.functions for dim in self.dims(name)})
