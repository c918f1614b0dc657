"""The files of measurements: those of `skde bench run`, which are read again, and others."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

# A cell: the runs of one algorithm on one function in one dimension.
Cell = dict[str, Any]
Record = dict[str, Any]
LISTS = ("best", "error", "n_evals")
NAMES = {"function": str, "dim": int, "algorithm": str, "seconds": int | float}


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
        Where it cannot be read.
    ValueError
        Where it holds something else.
    """
    try:
        record = json.loads(Path(file).read_bytes())
    except ValueError as error:  # UnicodeDecodeError too
        raise ValueError(f"{file} is no record of skde bench run: it is not JSON ({error})") from None
    wrong = what_is_wrong(record)
    if wrong:
        raise ValueError(f"{file} is no record of skde bench run: {wrong}")
    found: Record = record
    return found


def what_is_wrong(record: Any) -> str:
    """Return what a record lacks, or nothing."""
    if not isinstance(record, dict) or not isinstance(record.get("settings"), dict):
        return "it has no settings"
    for name in ("suite", "budget"):
        if not isinstance(record["settings"].get(name), str):
            return f"its settings have no {name}"
    cells = record.get("cells")
    if not isinstance(cells, list):
        return "it has no cells"
    for number, cell in enumerate(cells):
        if not isinstance(cell, dict):
            return f"cell {number} is no object"
        for name, kind in NAMES.items():
            if not isinstance(cell.get(name), kind):
                return f"cell {number} has no {name}"
        for name in LISTS:
            values = cell.get(name)
            # What was not finite is null.
            if not isinstance(values, list) or not all(isinstance(v, int | float | None) for v in values):
                return f"cell {number} has no numbers {name}"
            if not values or len(values) != len(cell["best"]):
                return f"cell {number} has not one {name} a run"
    return ""


def write_record(file: str | os.PathLike[str], record: Record) -> None:
    """Write a record of `skde bench run`."""
    replace_text(file, text_of(record))


def write_figures(file: str | os.PathLike[str], record: Record) -> None:
    """Write the record of another measurement."""
    replace_text(file, json.dumps(record, indent=1, allow_nan=False) + "\n")


def replace_text(file: str | os.PathLike[str], text: str) -> None:
    """Write a file under a temporary name, then rename it: the old one stays until the new one is whole."""
    path = Path(file)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_text(text)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def text_of(record: Record) -> str:
    """Return a record as JSON with one line a cell."""
    head = json.dumps({**record, "cells": []}, indent=1, allow_nan=False)
    lines = ",\n".join(f"  {json.dumps(cell, allow_nan=False)}" for cell in record["cells"])
    return head.removesuffix("[]\n}") + (f"[\n{lines}\n ]\n}}\n" if lines else "[]\n}\n")


def key_of(cell: Cell) -> tuple[str, int, str]:
    """Return what a cell is told apart by."""
    return cell["function"], cell["dim"], cell["algorithm"]
