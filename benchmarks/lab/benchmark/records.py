"""Files of measurements: records of `skde bench run`, which can be read again, and others.

A record is JSON with a line for each entry, and a line for each object of a list. A cell, the runs of one algorithm on
one function in one dimension, is such a line. It has no values that follow from others:

- a value that all runs have is written once; `settings` has the number of runs;
- only one of `best` and `error` is written if the other follows from it and `f_opt`, the function's minimum;
- version, processor, commit and day are in the list `sources`; a cell has their index, `source`;
- a cell leaves out entries of `REPEATED` that are equal to the cell's before it, and has null where
  the cell before it has an entry that it has not.

A cell may also have convergence curves (`skde.benchmark.curves`) and failures, the runs that raised.

`read_record` returns cells with all values. Cells of earlier versions have all values in the file.
"""

from __future__ import annotations

import json
import math
import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from skde.benchmark.optimizer_base import comparable
from skde.utils.files import atomic_write

# The runs of one algorithm on one function in one dimension.
Cell = dict[str, Any]
Record = dict[str, Any]
LISTS = ("best", "error", "n_evals")
PER_RUN = (*LISTS, "violation", "feasible", "solved_at", "run_seconds")
NAMES = {"function": str, "dim": int, "algorithm": str, "seconds": int | float}
SOURCE = ("skde", "cpu", "commit", "date")
# Entries that are not written where the cell before has the same.
REPEATED = ("part", "function", "dim", "algorithm", "f_opt", "n_evals", "source")
# Significant digits of errors: the statistics treat errors that agree in these as equal.
DIGITS = 10


def read_record(file: str | os.PathLike[str]) -> Record:
    """Return the record in a file.

    Parameters
    ----------
    file : path
        Written by `skde bench run`.

    Returns
    -------
    record : dict

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If the file is not a record.

    Warns
    -----
    UserWarning
        If the end of the file is missing; the record then has the cells before.
    """
    data = Path(file).read_bytes()
    try:
        record = json.loads(data)
    except ValueError as error:  # UnicodeDecodeError too
        record = complete_part(data.decode(errors="replace"))
        if record is None:
            raise ValueError(
                f"{file} is no record of skde bench run: it is not JSON ({error}). If it is one that broke off before "
                "its cells, delete it: the command that wrote it measures all of them again"
            ) from None
        warnings.warn(
            f"{file} is not complete: the record has the {len(record['cells'])} cells before the place where it breaks "
            "off; the command that wrote it measures the others again.",
            stacklevel=2,
        )
    wrong = find_defect(record)
    if wrong:
        raise ValueError(f"{file} is no record of skde bench run: {wrong}")
    sources = record.pop("sources", [])
    runs = record["settings"].get("runs")
    try:
        cells = complete_cells(record["cells"])
        record["cells"] = [unpack_cell(cell, number, runs, sources) for number, cell in enumerate(cells)]
    except ValueError as error:
        raise ValueError(f"{file} is no record of skde bench run: {error}") from None
    checked: Record = record
    return checked


def read_runs(file: str | os.PathLike[str]) -> Record:
    """Return the record in a file, as `read_record` does, but refuse one of `skde reproduce`.

    Its cells have a part of a paper and are not identified by function, dimension and algorithm.
    """
    record = read_record(file)
    if "paper" in record["settings"]:
        raise ValueError(f"{file} is no record of skde bench run: skde reproduce wrote it, and shows its tables")
    return record


def complete_part(text: str) -> Any:
    """Return the record of a file that breaks off, with the cells that are complete; None if there is no such part."""
    head, opening, rest = text.partition('\n "cells": [\n')
    try:
        record = json.loads(head.rstrip().removesuffix(",") + "}") if opening else None
    except ValueError:
        return None
    if record is None:
        return None
    record["cells"] = []
    for line in rest.splitlines():
        try:
            record["cells"].append(json.loads(line.removesuffix(",")))
        except ValueError:
            break
    return record


def check_settings(path: os.PathLike[str] | str, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Refuse a file of other settings."""
    for name, value in wanted.items():
        if name == "budget" and comparable(str(found.get(name))) == comparable(value):
            continue
        if name not in found or found[name] != value:
            raise ValueError(
                f"{os.fspath(path)} has {name}={found.get(name)!r}, not {value!r}; "
                "use the same settings, or another file"
            )


def find_defect(record: Any) -> str:
    """Return the first defect of a record outside its cells, or an empty string."""
    if not isinstance(record, dict) or not isinstance(record.get("settings"), dict):
        return "it has no settings"
    for name in ("suite", "budget"):
        if not isinstance(record["settings"].get(name), str):
            return f"its settings have no {name}"
    if not isinstance(record.get("cells"), list):
        return "it has no cells"
    if not isinstance(record.get("sources", []), list):
        return "its sources are no list"
    return ""


# -- cells -------------------------------------------------------------------------------------------------------------


def complete_cells(cells: Sequence[Any]) -> list[Any]:
    """Return written cells with the entries that they share with the cell before them."""
    full: list[Any] = []
    shared: Cell = {}
    for cell in cells:
        if isinstance(cell, dict):
            whole = {**shared, **cell}
            cell = {name: value for name, value in whole.items() if value is not None or name not in REPEATED}
            shared = {name: cell[name] for name in REPEATED if name in cell}
        full.append(cell)
    return full


def without_repeats(cells: Sequence[Cell]) -> list[Cell]:
    """Return cells in their written form without the entries that the cell before has too."""
    kept: list[Cell] = []
    shared: Cell = {}
    for cell in cells:
        missing = dict.fromkeys(name for name in shared if name not in cell)
        new = {name: value for name, value in cell.items() if name not in shared or value != shared[name]}
        kept.append({**new, **missing})
        shared = {name: cell[name] for name in REPEATED if name in cell}
    return kept


def unpack_cell(cell: Any, number: int, runs: Any, sources: list[Any]) -> Cell:
    """Return a cell with the values that follow from the written ones.

    Raises
    ------
    ValueError
        If it is not a cell.
    """
    if not isinstance(cell, dict):
        raise ValueError(f"cell {number} is no object")
    unpacked = {name: expand(value, runs) if name in PER_RUN else value for name, value in cell.items()}
    for name, kind in NAMES.items():
        if not isinstance(unpacked.get(name), kind):
            raise ValueError(f"cell {number} has no {name}")
    if is_number(unpacked.get("f_opt")):
        if are_numbers(unpacked.get("error")):
            unpacked.setdefault("best", best_values(unpacked["error"], unpacked["f_opt"]))
        elif are_numbers(unpacked.get("best")):
            unpacked.setdefault("error", errors_of(unpacked["best"], unpacked["f_opt"]))
    for name in LISTS:
        if not are_numbers(unpacked.get(name)):
            raise ValueError(f"cell {number} has no numbers {name}")
        if not unpacked[name] or len(unpacked[name]) != len(unpacked["best"]):
            raise ValueError(f"cell {number} has not one {name} a run")
    unpacked |= {name: as_floats(unpacked[name]) for name in ("best", "error")}
    if "source" in unpacked:
        place = unpacked.pop("source")
        if not isinstance(place, int) or not 0 <= place < len(sources) or not isinstance(sources[place], dict):
            raise ValueError(f"cell {number} has the source {place!r}, which the record does not have")
        unpacked |= sources[place]
    return unpacked


def pack_cell(cell: Cell, runs: int | None, sources: list[dict[str, Any]]) -> Cell:
    """Return a cell in its written form, and add its version, processor, commit and day to the sources."""
    packed = dict(cell)
    if "date" in packed:
        packed["date"] = packed["date"].partition("T")[0]  # earlier versions have the time of day
    if "f_opt" in packed:
        if best_values(packed["error"], packed["f_opt"]) == packed["best"]:
            del packed["best"]
        elif errors_of(packed["best"], packed["f_opt"]) == packed["error"]:
            del packed["error"]
    packed = {name: collapse(value, runs) if name in PER_RUN else value for name, value in packed.items()}
    source = {name: packed.pop(name) for name in SOURCE if name in packed}
    if source:
        if source not in sources:
            sources.append(source)
        packed["source"] = sources.index(source)
    return packed


def expand(value: Any, runs: Any) -> Any:
    """Return a value for each run from one that was written once."""
    return value if isinstance(value, list) or not isinstance(runs, int) else [value] * runs


def collapse(values: list[Any], runs: int | None) -> Any:
    """Return the value that all runs have, or else the list; whole numbers become integers."""
    short = [shorten(value) for value in values]
    return short[0] if len(short) == runs and all(value == short[0] for value in short) else short


def shorten(value: Any) -> Any:
    """Return a whole number of at most ten digits as an integer, because that takes fewer characters."""
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 10**DIGITS else value


def is_number(value: Any) -> bool:
    """Return whether a value is a number."""
    return isinstance(value, int | float)


def are_numbers(values: Any) -> bool:
    """Return whether a value is a list of numbers; null means a number that is not finite."""
    return isinstance(values, list) and all(value is None or is_number(value) for value in values)


def as_floats(values: Sequence[float | None]) -> list[float | None]:
    """Return the values as floats, because whole numbers may have been written as integers."""
    return [None if value is None else float(value) for value in values]


def or_null(values: Sequence[float]) -> list[float | None]:
    """Return the values, with None for those that are not finite, because JSON has no such numbers."""
    return [value if math.isfinite(value) else None for value in values]


def errors_of(best: Sequence[float | None], f_opt: float) -> list[float | None]:
    """Return the differences of the best values to the minimum."""
    return [None if value is None else value - f_opt for value in best]


def best_values(error: Sequence[float | None], f_opt: float) -> list[float | None]:
    """Return the best values from the minimum and the errors."""
    return [None if value is None else f_opt + value for value in error]


def round_values(values: Sequence[float | None], digits: int = DIGITS) -> list[float | None]:
    """Return the values in ten significant digits, or in another number of them."""
    return [None if value is None else float(f"{value:.{digits}g}") for value in values]


def key_of(cell: Cell) -> tuple[str, int, str]:
    """Return the names that identify a cell."""
    return cell["function"], cell["dim"], cell["algorithm"]


# -- files -------------------------------------------------------------------------------------------------------------


def write_record(file: str | os.PathLike[str], record: Record) -> None:
    """Write a record of `skde bench run`."""
    sources: list[dict[str, Any]] = []
    runs = record["settings"].get("runs")
    cells = without_repeats([pack_cell(cell, runs, sources) for cell in record["cells"]])
    write_figures(file, {**{k: v for k, v in record.items() if k != "cells"}, "sources": sources, "cells": cells})


def write_figures(file: str | os.PathLike[str], record: Record) -> None:
    """Write the record of another measurement."""
    replace_text(file, format_record(record) + "\n")


def format_record(value: Any, depth: int = 0) -> str:
    """Return JSON with a line for each entry of an object that has objects, and for each object of a list."""
    if isinstance(value, dict) and (depth == 0 or any(map(holds_objects, value.values()))):
        lines = [f"{json.dumps(str(name))}: {format_record(item, depth + 1)}" for name, item in value.items()]
        return bracket(lines, "{}", depth)
    if holds_objects(value) and isinstance(value, list):
        return bracket([json_of(item) for item in value], "[]", depth)
    return json_of(value)


def bracket(lines: list[str], ends: str, depth: int) -> str:
    """Return the lines between brackets, indented by one blank."""
    inner, outer = ("\n" + " " * n for n in (depth + 1, depth))
    return f"{ends[0]}{inner}{f',{inner}'.join(lines)}{outer}{ends[1]}"


def holds_objects(value: Any) -> bool:
    """Return whether a value is an object or a list of them."""
    return isinstance(value, dict) or (isinstance(value, list) and bool(value) and isinstance(value[0], dict))


def json_of(value: Any) -> str:
    """Return JSON on one line, without blanks."""
    return json.dumps(value, allow_nan=False, separators=(",", ":"))


def replace_text(file: str | os.PathLike[str], text: str) -> None:
    """Write a file under a temporary name and rename it, so that the old file stays until the new one is complete."""
    with atomic_write(file, text=True) as opened:
        opened.write(text)
