"""Shares of solved targets over evaluations: folders of `skde bench run --suite bbob`, and BBOB-2009's archive.

cocopp reads the folders. Of the archive it has, without a download, the evaluations in which every algorithm of
BBOB-2009 came to the last target, 1e-8, in each of its 15 trials.
"""

from __future__ import annotations

import argparse
import gzip
import os
import pickle
import re
import shlex
import sys
import warnings
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import cocopp
import numpy as np
from cocopp import pproc

from skde.benchmark.records import read_record, write_figures
from skde.benchmark.trial_scores import TARGETS

# All targets, and the last of them.
SETS = {"all": TARGETS, "last": (1e-8,)}
FUNCTIONS = range(1, 25)
PER_DECADE = 8
DIGITS = 3


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="the folder that was given as --data")
    parser.add_argument("--archive", default="BIPOP-CMA-ES", help="an algorithm of BBOB-2009 (default: BIPOP-CMA-ES)")
    parser.add_argument("--out", type=Path, required=True, help="the record, JSON")
    options = parser.parse_args(arguments)
    record = read_record(options.data / "runs.json")
    most = float(record["settings"]["budget"].partition("*")[0])
    grid = np.unique(np.round(np.geomspace(1, most, 1 + int(np.ceil(PER_DECADE * np.log10(most)))), 1))
    rows = [*read_folders(options.data, record, grid), *read_archive(options.archive, record, grid)]
    write_figures(
        options.out,
        {
            **{name: record[name] for name in ("date", "machine", "commit", "settings")},
            "versions": {**record["versions"], "cocopp": version("cocopp")},
            "command": re.sub(r"(?<=--data )\S+", options.data.name, record["command"]),  # wherever the folder was
            "made_by": shlex.join(["python", "benchmarks/studies/coco/ecdf.py", *sys.argv[1:]]),
            "archive": options.archive,
            "evaluations_per_variable": grid.tolist(),
            "rows": rows,
        },
    )


def read_folders(data: Path, record: dict[str, Any], grid: Any) -> Iterator[dict[str, Any]]:
    """Yield a row for each algorithm, dimension and set of targets, from the files that cocopp reads."""
    before = os.getcwd()
    os.chdir(data)
    try:
        for algorithm in dict.fromkeys(cell["algorithm"] for cell in record["cells"]):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                sets = pproc.DataSetList([algorithm])
            for dim, of_dim in sorted(sets.dictByDim().items()):
                if {one.funcId for one in of_dim} != set(FUNCTIONS):
                    raise ValueError(f"{algorithm} has not all functions in {dim} dimensions")
                for name, targets in SETS.items():
                    evals = np.concatenate([np.ravel(one.detEvals(list(targets))) for one in of_dim])
                    yield row(algorithm, dim, name, evals, grid)
    finally:
        os.chdir(before)


def read_archive(algorithm: str, record: dict[str, Any], grid: Any) -> Iterator[dict[str, Any]]:
    """Yield a row for each dimension, for the last target, from cocopp's own data."""
    file = Path(cocopp.__file__).parent / "pprldistr2009_1e-8.pickle.gz"
    found = pickle.loads(gzip.decompress(file.read_bytes()), encoding="latin1")[algorithm]
    for dim in sorted({cell["dim"] for cell in record["cells"]}):
        # Of each function the target, the evaluations of the trials, and their ends.
        evals = np.concatenate([found[number][dim][0][1:] for number in FUNCTIONS])
        yield row(algorithm, dim, "last", evals, grid)


def row(algorithm: str, dim: int, targets: str, evals: Any, grid: Any) -> dict[str, Any]:
    """Return the shares of pairs of trial and target that were solved in a number of evaluations for each variable."""
    shares = [(evals <= limit * dim).mean() for limit in grid]
    values = [round(float(share), DIGITS) for share in shares]
    return {"algorithm": algorithm, "dim": dim, "targets": targets, "pairs": len(evals), "share": values}


if __name__ == "__main__":
    main()
