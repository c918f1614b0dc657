"""A recorder of all points that a fit evaluates: in memory, or in a file that survives a kill."""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from skde.typing import FloatArray
from skde.utils.validation import check_path, quote
from skde.variables import Real, Variables

# The columns besides the variables.
INTEGERS, TEXTS, NUMBERS = ("id", "run", "generation"), ("phase",), ("seconds", "fun", "violation")
COLUMNS = ("id", "run", "generation", "phase", "seconds", "fun", "violation")
NO_ID = -1
TORN_PIECE = 1 << 16  # bytes that are read at a time to find the last whole line

Columns = dict[str, Any]


class Recorder:
    """A log of all points that a fit evaluates, with their values.

    Parameters
    ----------
    path : str, path-like or None, default None
        None: in memory. Else a file to which lines are appended, of JSON, or of CSV where its name ends with .csv. Each
        is written at once, so that a kill loses none but the last.

    Notes
    -----
    A point has a value for each variable, by name where variables are named, else x0, x1 and so on, and

    - ``id``: as `ask` gives it, in the order of the trials; -1 for a point of the polish or of final_evals
    - ``run``, ``generation``: their numbers, from 0
    - ``phase``: "search", "polish" or "final"
    - ``seconds``: since the fit began, when the value was known
    - ``fun``: the value, NaN also where the point is not feasible, because the function is not called there
    - ``violation``: the sum of the violations of the constraints; 0.0 without constraints

    In a `MinMaxSolver` generations are cycles, and a line is a pair, with the variables x0, x1 and so on, y0, y1 and so
    on, or a point of a constrained problem.

    A Recorder never forgets: another fit, or `resume`, adds its points. Where a file cannot be written, as on a full
    disk, the fit ends with an OSError that names it, and `resume` continues; no point is missing then.

    Examples
    --------
    >>> from skde import Minimizer, Recorder
    >>> recorder = Recorder()
    >>> m = Minimizer("jde", max_evals=100, recorder=recorder, random_state=0).fit("sphere", dim=2)
    >>> list(recorder.table)
    ['id', 'run', 'generation', 'phase', 'seconds', 'fun', 'violation', 'x0', 'x1']
    >>> len(recorder), bool(recorder.table["fun"].min() == m.fun_)
    (100, True)
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.path = None if path is None else check_path("path", path)
        self._names: tuple[str, ...] | None = None  # of the variables
        self._parts: list[Columns] = []  # in memory, or not yet written
        self._checked = False  # whether lines may be appended to the file

    def __repr__(self) -> str:
        return f"Recorder({'' if self.path is None else repr(os.fspath(self.path))})"

    def __len__(self) -> int:
        return len(self.table["id"])

    @property
    def table(self) -> Columns:
        """All points as a dict of columns, which are arrays: ``pandas.DataFrame(recorder.table)``."""
        if self.path is not None:
            return self.read(self.path) if os.path.exists(self.path) else empty(self._names or ())
        if not self._parts:
            return empty(self._names or ())
        return {name: np.concatenate([part[name] for part in self._parts]) for name in self._parts[0]}

    @staticmethod
    def read(path: str | os.PathLike[str]) -> Columns:
        """Return the points of a file as a dict of columns, which are arrays.

        Parameters
        ----------
        path : str or path-like
            A file of a Recorder. Its last line may be incomplete, as after a kill, and then does not count.

        Returns
        -------
        table : dict of str to ndarray

        Raises
        ------
        OSError, ValueError
            For a file that cannot be read, and for a line that is not one of a Recorder, with its number.
        """
        with open(path, encoding="utf-8", newline="") as file:
            text = file.read()
        lines = text[: text.rfind("\n") + 1]
        rows = from_csv(lines, path) if is_csv(path) else from_json(lines, path)
        return table_of(rows)

    def begin(self, variables: Variables | None, dim: int) -> None:
        """Check before a fit that its points can be added."""
        names = tuple(f"x{j}" for j in range(dim)) if variables is None else variables.names
        for name in set(names) & set(COLUMNS):
            raise ValueError(f"a variable must not be named {name!r}, which is a column of a Recorder")
        if self._names not in (None, names):
            raise ValueError(
                f"recorder has the variables {self._names}, and the fit has {names}: take another Recorder"
            )
        self._names = names
        if self.path is not None and not self._checked:
            self._open(names)

    def add(
        self,
        ids: Any,
        runs: Any,
        generations: Any,
        phase: str,
        seconds: float,
        values: tuple[FloatArray, FloatArray],
        X: FloatArray,
        variables: Variables | None,
    ) -> None:
        """Add points.

        Parameters
        ----------
        ids, runs, generations : array-like of int of shape (n,), or int
            Their numbers.
        phase : str
            The part of the fit.
        seconds : float
            The time since it began.
        values : (ndarray of shape (n,), ndarray of shape (n,))
            Values of the objective, and violations.
        X : ndarray of shape (n, number of variables)
            The points as an objective gets them.
        variables : Variables or None
            The variables, where they are typed.
        """
        n = len(X)
        columns: Columns = {
            name: np.broadcast_to(np.asarray(given, np.int64), n).copy()
            for name, given in zip(INTEGERS, (ids, runs, generations), strict=True)
        }
        columns["phase"] = np.full(n, phase, object)
        columns["seconds"] = np.full(n, seconds)
        columns |= {name: np.array(own, np.float64) for name, own in zip(("fun", "violation"), values, strict=True)}
        if variables is None:
            columns |= {f"x{j}": column for j, column in enumerate(np.array(X).T)}
        else:
            columns |= {
                name: np.array(column) if isinstance(variable, Real) else parameters(variable, column)
                for name, variable, column in zip(variables.names, variables.members, np.asarray(X).T, strict=True)
            }
        self._parts.append(columns)
        if self.path is not None:
            self._write()

    def _open(self, names: Sequence[str]) -> None:
        """Make the file ready: cut off an incomplete last line, and check its columns."""
        assert self.path is not None
        wanted = [*COLUMNS, *names]
        with FileName(self.path), open(self.path, "ab+") as file:
            size = end_of_lines(file)
            if size < file.seek(0, os.SEEK_END):
                file.truncate(size)
            file.seek(0)
            first = file.readline().decode("utf-8", "replace") if size else ""
            if not size and is_csv(self.path):
                file.write(csv_text([wanted]).encode())
        if first:
            found = columns_of(first, self.path)
            if found != wanted:
                raise ValueError(
                    f"the file of the recorder, {os.fspath(self.path)!r}, has the columns {quote(found)}, and this fit "
                    f"has {wanted}: take another file"
                )
        self._checked = True

    def _write(self) -> None:
        """Write what is not written, at once; after an error nothing of it is in the file."""
        assert self.path is not None
        text = to_csv if is_csv(self.path) else to_json
        data = "".join(map(text, self._parts)).encode()
        with FileName(self.path), open(self.path, "ab", buffering=0) as file:
            size, left = file.seek(0, os.SEEK_END), memoryview(data)
            try:
                while left:
                    left = left[file.write(left) :]
            except OSError:
                with suppress(OSError):
                    file.truncate(size)
                raise
        self._parts = []


class FileName:
    """A context in which an OSError names a file.

    Parameters
    ----------
    path : str or path-like
        The file.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, OSError) and error.filename is None:
            error.filename = self.path


def as_recorder(given: Any) -> Recorder | None:
    """Return the parameter `recorder` as a Recorder; None where there is none."""
    if given is None or isinstance(given, Recorder):
        return given
    if not isinstance(given, str | os.PathLike):
        raise TypeError(f"recorder must be a Recorder, the name of a file or None, got {given!r}")
    return Recorder(check_path("recorder", given))


def current_recorder(given: Any, current: Recorder | None) -> Recorder | None:
    """Return the Recorder of a fit that goes on: the current one, unless the parameter is another one."""
    if given is None or current is None or (given is not current and given != current.path):
        return as_recorder(given)
    return current


def parameters(variable: Any, column: FloatArray) -> Any:
    """Return the values of a variable with levels as they were given, as an array."""
    return as_column([variable.parameter(float(value)) for value in column])


def as_column(values: Sequence[Any]) -> Any:
    """Return values as an array: of numbers where all are numbers, else of objects."""
    kinds = {type(value) for value in values}
    if kinds <= {int, float} and kinds:
        return np.array(values, np.int64 if kinds == {int} and max(map(abs, values)) < 2**63 else np.float64)
    column = np.empty(len(values), object)
    column[:] = values
    return column


def empty(names: Iterable[str]) -> Columns:
    """Return the columns of no points."""
    return table_of({name: [] for name in (*COLUMNS, *names)})


def table_of(rows: Mapping[str, Sequence[Any]]) -> Columns:
    """Return columns of values as columns of arrays."""
    found: Columns = {}
    for name, values in rows.items():
        if name in INTEGERS:
            found[name] = np.array(values, np.int64)
        elif name in NUMBERS:
            found[name] = np.array([math.nan if value is None else value for value in values], np.float64)
        else:
            found[name] = as_column(values)
    return found


# -- lines -------------------------------------------------------------------------------------------------------------


def is_csv(path: str | os.PathLike[str]) -> bool:
    """Whether a file has CSV."""
    return Path(path).suffix.lower() == ".csv"


def list_rows(part: Columns) -> Iterable[tuple[Any, ...]]:
    """Return the points of a part as rows of Python's objects."""
    return zip(*(column.tolist() for column in part.values()), strict=True)


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    """Return rows as lines of CSV."""
    buffer = io.StringIO(newline="")
    csv.writer(buffer, lineterminator="\n").writerows(rows)
    return buffer.getvalue()


def to_csv(part: Columns) -> str:
    """Return points as lines of CSV."""
    return csv_text(list_rows(part))


def to_json(part: Columns) -> str:
    """Return points as lines of JSON, in which NaN is null, and infinity a text."""
    names = list(part)
    lines = (json.dumps(dict(zip(names, map(json_value, row), strict=True)), default=str) for row in list_rows(part))
    return "".join(f"{line}\n" for line in lines)


def json_value(value: Any) -> Any:
    """Return a number for JSON, which has no numbers that are not finite."""
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def from_json(text: str, path: Any) -> dict[str, list[Any]]:
    """Return the columns of lines of JSON."""
    rows: dict[str, list[Any]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        if not isinstance(row, dict) or (rows and list(row) != list(rows)) or not set(COLUMNS) <= set(row):
            raise ValueError(f"{os.fspath(path)!r} has no point of a Recorder in line {number}")
        for name, value in row.items():
            rows.setdefault(name, []).append(value)
    return rows or {name: [] for name in COLUMNS}


def from_csv(text: str, path: Any) -> dict[str, list[Any]]:
    """Return the columns of lines of CSV; texts that are numbers become numbers."""
    lines = list(csv.reader(io.StringIO(text, newline="")))
    if not lines:
        return {name: [] for name in COLUMNS}
    for number, line in enumerate(lines, 1):
        if len(line) != len(lines[0]) or not set(COLUMNS) <= set(lines[0]):
            raise ValueError(f"{os.fspath(path)!r} has no point of a Recorder in line {number}")
    columns = zip(*lines[1:], strict=True) if len(lines) > 1 else [()] * len(lines[0])
    return {name: list(map(csv_value, column)) for name, column in zip(lines[0], columns, strict=True)}


def csv_value(text: str) -> Any:
    """Return a text of CSV as a number, where it is one."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def columns_of(line: str, path: Any) -> list[str]:
    """Return the columns that the first line of a file says."""
    if is_csv(path):
        return next(csv.reader([line]))
    return list(from_json(line, path))


def end_of_lines(file: Any) -> int:
    """Return the place after the last whole line of a file."""
    end: int = file.seek(0, os.SEEK_END)
    while end > 0:
        begin = max(end - TORN_PIECE, 0)
        file.seek(begin)
        found = file.read(end - begin).rfind(b"\n")
        if found >= 0:
            return begin + int(found) + 1
        end = begin
    return 0
