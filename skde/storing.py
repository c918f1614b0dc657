"""A fit that goes into a file or a pickle and comes out of it, ready to go on."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from skde import checkpoint
from skde.engines import choose_engine
from skde.fitted import Fitted


class Storing(Fitted, BaseEstimator):
    """Files and pickles of a solver, which says what is in them: `_state`, `_unstored` and `_restore`."""

    device: str | Sequence[str]

    @abstractmethod
    def _state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what a file holds: a header for JSON, and arrays."""

    @classmethod
    @abstractmethod
    def _unstored(cls, header: dict[str, Any], arrays: dict[str, Any]) -> Self:
        """Return a solver with the parameters that a file holds."""

    @abstractmethod
    def _restore(self, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        """Take up what a file holds of a fit."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save parameters and state: data only, written to a temporary name and renamed.

        Functions and constraints are not data: `resume` needs them again.

        Parameters
        ----------
        path : str or path-like
            The file.

        Raises
        ------
        OSError
            When it cannot be written; a file of that name then stays as it was.
        """
        header, arrays = self._state()
        checkpoint.save(path, plain({"solver": type(self).__name__, **header}), arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str], device: str | Sequence[str] | None = None) -> Self:
        """Return the solver that was saved, ready to resume.

        Parameters
        ----------
        path : str or path-like
            A file that `save` wrote.
        device : str, list of str or None, default None
            Where to go on; None: where it ran.

        Returns
        -------
        solver
            Of this class.

        Raises
        ------
        ValueError
            When the file is broken, foreign, of another class or of another version.
        """
        if device is not None:
            choose_engine(device)  # so that a wrong device is not taken for a broken file
        header, arrays = checkpoint.load(path)
        if header.get("solver", cls.__name__) != cls.__name__:
            raise ValueError(f"{os.fspath(path)!r} holds a {header['solver']}: load it with {header['solver']}.load")
        try:
            solver = cls._unstored(header, arrays)
            if device is not None:
                solver.device = device
            solver._restore(header, arrays)
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            raise ValueError(f"{os.fspath(path)!r} is incomplete or inconsistent: {error!r}") from error
        return solver

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the parameters and, of a fit, what a file would hold; a Python objective is not part of it."""
        hidden = ("_runner", "_objective", "_cycle", "_compared", "_searched")
        state = {name: value for name, value in super().__getstate__().items() if name not in hidden}
        if self.__sklearn_is_fitted__():
            state["_saved"] = self._state()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take up a pickled fit where it was."""
        saved = state.pop("_saved", None)
        super().__setstate__(state)
        if saved is not None:
            self._restore(*saved)


def plain(value: Any) -> Any:
    """Return value in JSON's types."""
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    return value
