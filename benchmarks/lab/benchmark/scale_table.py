"""The record of `skde bench speed --scale` as a table, and the figures that follow from it."""

from __future__ import annotations

from statistics import median
from typing import Any

import numpy as np

from skde.algorithms import ALGORITHMS
from skde.benchmark.peers import ABSENT
from skde.benchmark.scale_sizes import read_cell
from skde.utils.memory import in_units

VALUES = 2  # the old value, read, and the new one, written


def traffic(row: dict[str, Any]) -> int:
    """Return the bytes that a generation of a row reads and writes at least, if no cache helps."""
    components = ALGORITHMS[row["algorithm"]].vectors_per_trial * row["dim"] + VALUES
    return int(row["n_runs"] * row["trials"] * components * np.dtype(row["dtype"]).itemsize)


def derive_figures(row: dict[str, Any], record: dict[str, Any]) -> dict[str, Any]:
    """Return the figures that follow from a row of a record.

    Returns
    -------
    figures : dict
        Medians of microseconds a generation, nanoseconds an evaluation and evaluations a second; the bytes a second
        that the traffic needs, their share of the rate of copies, and the ratio of each peer's time to ours.
    """
    us = median(row["us"])
    evaluations = row["trials"] * row["n_runs"]
    needed = traffic(row) / us * 1e6
    pairs = {name: zip(times, row["us"], strict=False) for name, times in row["peers"].items()}
    return {
        "us": us,
        "ns_per_evaluation": us * 1e3 / evaluations,
        "evaluations_per_second": evaluations / us * 1e6,
        "bandwidth": needed,
        "share": needed / median(record["memory"]["copy_bytes_per_second"]),
        "ratios": {name: median(theirs / ours for theirs, ours in both) for name, both in pairs.items()},
    }


def format_scale(record: dict[str, Any]) -> str:
    """Return a record as text."""
    on_gpu = record["driver"] is not None
    where = record["driver"]["gpu"] if on_gpu else f"{record['machine']['cpu']}, one thread"
    memory = record["memory"]
    lines = [f"{record['device']}: {where}"]
    if memory["copy_bytes_per_second"]:
        lines.append(f"copies: {median(memory['copy_bytes_per_second']) / 1e9:.4g} GB/s, the memory's limit")
    if memory["available"] is not None:
        lines.append(f"memory: {in_units(memory['available'])}")
    names = ("algorithm", "D", "NP", "runs", "us/gen", "ns/eval", "Mevals/s", "B/indiv", "GB/s", "limit", "largest NP")
    shape = "{:<10}{:>7}{:>9}{:>7}{:>12}{:>10}{:>10}{:>10}{:>9}{:>7}{:>12}  {}"
    group = None
    for row in record["figures"]:
        if group != (row["axis"], row["dtype"]):
            group = row["axis"], row["dtype"]
            lines += ["", f"{row['axis']}, {row['dtype']}", shape.format(*names, "peers, times our time").rstrip()]
        found = derive_figures(row, record)
        rate = found["evaluations_per_second"] / 1e6
        figures = (f"{found['us']:.2f}", f"{found['ns_per_evaluation']:.4g}", f"{rate:.4g}")
        needed = (f"{found['bandwidth'] / 1e9:.4g}", f"{found['share']:.0%}", row["largest"] or "-")
        peers = ", ".join(f"{name} {ratio:.3g}" for name, ratio in found["ratios"].items())
        sizes = (row["algorithm"], row["dim"], row["pop_size"], row["n_runs"])
        lines.append(shape.format(*sizes, *figures, f"{row['bytes']:.4g}", *needed, peers).rstrip())
    if record["left_out"]:
        lines += ["", "left out:"]
    for entry in record["left_out"]:
        lines.append(f"  {entry['program']}: {read_cell(entry)}: {entry['reason']}")
    absent = [name for name, note in record["settings"]["peers"].items() if note == ABSENT]
    if absent:
        lines += ["", f"not installed: {', '.join(absent)}"]
    return "\n".join(lines)
