"""Files of fits that were changed at random, and what comes of loading and resuming them.

`crafted` makes them; as a program, `python crafted_files.py FILE ...` loads every file in turn, goes on with those that
load for two generations, and prints a line a file: what was refused, or that nothing happened. A crash of that program
is what the fuzzer looks for.
"""

from __future__ import annotations

import faulthandler
import io
import json
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from skde import Minimizer, MinMaxSolver
from skde.utils.arrays import to_numpy

SOLVERS = {"Minimizer": Minimizer, "MinMaxSolver": MinMaxSolver}
NUMBERS = (
    *(np.nan, np.inf, -np.inf, -0.0, 1e300, -1e300, 1e-320, 0.5, -0.5, 2.5, 1e9, 4294967296.0, 9.3e18, -9.3e18),
    *(-6.0, -5.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 29.0, 30.0, 31.0, 100.0),
)
WORDS = (*range(-3, 14), 29, 30, 31, 100, 2**16, 2**24, 2**31, 2**32, 2**40, 2**53, 2**61, 2**62, 2**63 - 1, -(2**63))
VALUES = (
    *(None, True, False, "", "x", "cpu", "jde", [], [1], {}, {"a": 1}, [[1, 2]], ["cpu", "cpu"], "float32", "joblib"),
    *(0, 1, 2, 3, 7, 30, 1000, -1, 2**20, 2**31, 2**64, 10**30, 10**400, 0.5, -0.5, 1e300, float("nan"), float("inf")),
)
DTYPES = ("<f4", "<f8", "<i4", "<i8", "<u8", ">f8", ">i8", "|b1", "<c16", "<U3", "|u1", "<M8[s]")
# These make a fit longer, not wrong.
SLOW = ("gens_x", "gens_y", "n_local", "verbose")

Entries = dict[str, bytes]
Change = Callable[[np.random.Generator, Entries], None]


def some(rng: np.random.Generator, values: Any) -> Any:
    """Return one of some values."""
    return values[int(rng.integers(len(values)))]


def npy(array: Any) -> bytes:
    """Return an array in NumPy's format."""
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, allow_pickle=False)
    return stream.getvalue()


def array_of(content: bytes) -> Any:
    """Return the array in NumPy's format, one to be written to."""
    return np.load(io.BytesIO(content)).copy()


def one_array(rng: np.random.Generator, entries: Entries) -> str:
    """Return the name of an entry other than the header."""
    return str(some(rng, [name for name in entries if name != "header.npy"]))


def change_values(rng: np.random.Generator, entries: Entries) -> None:
    """Write other values in one or all places of an entry, or at one place of many rows."""
    name = one_array(rng, entries)
    array = array_of(entries[name])
    if array.size == 0:
        return
    whole = array.dtype.kind in "iu"
    pool = [value for value in (WORDS if whole else NUMBERS) if array.dtype.kind != "u" or value >= 0]
    flat = array.reshape(-1)
    with np.errstate(over="ignore"):
        if rng.random() < 0.15:
            flat[:] = some(rng, pool)
        elif rng.random() < 0.3:
            places = rng.integers(flat.size, size=min(flat.size, 8))
            flat[places] = flat[rng.permutation(places)]
        else:
            # Counters and what else is at the beginning or the end are few among many.
            first = rng.random() < 0.5
            for _ in range(int(rng.integers(1, 4))):
                place = int(rng.integers(min(flat.size, 16) if first else flat.size))
                flat[place if rng.random() < 0.7 else -1 - place] = some(rng, pool)
    entries[name] = npy(array)


def change_shape(rng: np.random.Generator, entries: Entries) -> None:
    """Leave rows out, double them, or change the axes."""
    name = one_array(rng, entries)
    array = array_of(entries[name])
    axis = int(rng.integers(array.ndim))
    changed = [
        np.concatenate([array, array], axis),
        np.take(array, range(max(array.shape[axis] - 1, 0)), axis),
        array.T,
        array[None],
        array.reshape(-1),
        np.asfortranarray(array),
    ]
    entries[name] = npy(some(rng, changed))


def change_dtype(rng: np.random.Generator, entries: Entries) -> None:
    """Write the same numbers in another form."""
    name = one_array(rng, entries)
    with np.errstate(all="ignore"):
        entries[name] = npy(array_of(entries[name]).astype(some(rng, DTYPES)))


def change_names(rng: np.random.Generator, entries: Entries) -> None:
    """Drop, add, rename or exchange entries."""
    name, other = one_array(rng, entries), one_array(rng, entries)
    match int(rng.integers(4)):
        case 0:
            del entries[name]
        case 1:
            entries[str(some(rng, ["more.npy", "more", "../x.npy", "x.x.npy"]))] = entries[name]
        case 2:
            entries[name + "2.npy"] = entries.pop(name)
        case _:
            entries[name], entries[other] = entries[other], entries[name]


def change_claims(rng: np.random.Generator, entries: Entries) -> None:
    """Let an entry say that it is larger than it is."""
    name = one_array(rng, entries)
    array = array_of(entries[name])
    shape = tuple(some(rng, (length, 2**40, -1, 0, 2**62)) for length in array.shape)
    stream = io.BytesIO()
    header = {"descr": array.dtype.str, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, header)
    entries[name] = stream.getvalue() + array.tobytes()


def change_header(rng: np.random.Generator, entries: Entries) -> None:
    """Change, drop or add a value anywhere in the header."""
    header = json.loads(array_of(entries["header.npy"]).tobytes())
    part: Any = header
    while True:
        keys = list(part) if isinstance(part, dict) else list(range(len(part)))
        key = some(rng, [key for key in keys if key not in SLOW] or ["new"])
        inner = part[key] if key in keys else None
        if not isinstance(inner, dict | list) or not inner or rng.random() < 0.1:
            break
        part = inner
    if isinstance(part, dict) and rng.random() < 0.1:
        part.pop(key, None)
    else:
        part["new" if isinstance(part, dict) and rng.random() < 0.05 else key] = some(rng, VALUES)
    entries["header.npy"] = npy(np.frombuffer(json.dumps(header).encode(), np.uint8))


def change_nothing(rng: np.random.Generator, entries: Entries) -> None:
    """Leave everything as it is."""


CHANGES: tuple[tuple[float, Change], ...] = (
    (0.5, change_values),
    (0.1, change_shape),
    (0.06, change_dtype),
    (0.06, change_names),
    (0.06, change_claims),
    (0.2, change_header),
    (0.02, change_nothing),
)


def crafted(rng: np.random.Generator, whole: bytes) -> bytes:
    """Return a file that comes of a whole one: damaged, or changed with checksums that are right."""
    if rng.random() < 0.12:
        spoilt = bytearray(whole)
        for place in rng.integers(len(whole), size=int(rng.integers(1, 5))):
            spoilt[place] ^= 1 << int(rng.integers(8))
        return bytes(spoilt)
    if rng.random() < 0.05:
        return whole[: int(rng.integers(len(whole)))]
    with zipfile.ZipFile(io.BytesIO(whole)) as file:
        entries = {name: file.read(name) for name in file.namelist()}
    for _ in range(1 if rng.random() < 0.8 else 2):
        weights = np.array([weight for weight, _ in CHANGES])
        change = CHANGES[int(rng.choice(len(CHANGES), p=weights / weights.sum()))][1]
        change(rng, entries)
        if change is change_claims:  # this one cannot be read
            break
    stream = io.BytesIO()
    method = zipfile.ZIP_DEFLATED if rng.random() < 0.02 else zipfile.ZIP_STORED
    with zipfile.ZipFile(stream, "w", method) as file:
        for name, content in entries.items():
            file.writestr(name, content)
    return stream.getvalue()


def function(X: Any) -> Any:
    """Sum of squares."""
    return (X * X).sum(axis=1)


def game(X: Any, Y: Any) -> Any:
    """Values of all pairs."""
    return (X[:, :1] - 2) ** 2 - (Y[:, 0] - 2) ** 2 + X[:, :1] * Y[:, 0]


def outcome(path: Path, kind: str, device: str | None = None) -> str:
    """Load a file, go on with it, and say what happened."""
    solver: Any
    try:
        solver = SOLVERS[kind].load(path, device=device)
    except ValueError as error:
        return f"refused: {error}"
    state = solver._fit
    last = int(to_numpy(state.batch.host("generation")).max())
    rules: dict[str, Any] = {"max_evals": None, "max_time": 0.2, "verbose": 0, "n_jobs": 1}
    if kind == "Minimizer":
        rules |= {"max_iter": last + 2, "execution": "auto", "vectorized": True}
    else:
        rules |= {"max_iter": min(last + 2, 2**31), "pairwise": False}
    solver.set_params(**rules)
    try:
        for name in ("x_", "fun_", "history_", "runs_", "population_", "fitness_", "message_"):
            getattr(solver, name)
        given = (function if kind == "Minimizer" else game,) if "problem" not in solver._source else ()
        solver.resume(*given)
        result = solver.result_
    except (ValueError, TypeError) as error:
        return f"not resumed: {error}"
    return f"resumed: {result.fun}"


def main() -> None:
    """Load and resume the files that are named on the command line."""
    for name in sys.argv[1:]:
        path = Path(name)
        print(f"\n{path.name} ", end="", flush=True)
        faulthandler.dump_traceback_later(60, exit=True)
        print(outcome(path, path.name.partition("-")[0]).replace("\n", " "), end="", flush=True)
        faulthandler.cancel_dump_traceback_later()
    print("\ndone", flush=True)


if __name__ == "__main__":
    main()
