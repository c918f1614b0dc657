"""The nonlinear regressions of NIST by Minimizer, which sees the sum of squares and not the residuals.

python benchmarks/studies/models/nist_without_residuals.py --seeds 3 --out benchmarks/records/nist-auto.json

A fit has 10000 evaluations for each parameter. The boxes go from 0 to 10 times the largest of the two starts and the
certified value of each parameter, with its sign given. Digits are as in benchmarks/studies/models/nist.py.
"""

from __future__ import annotations

import shlex
import sys
from typing import Any

import numpy as np
from nist import options_of

from skde import Minimizer
from skde.benchmark import provenance
from skde.benchmark.nist import Regression, load_regression
from skde.benchmark.records import write_figures
from skde.typing import FloatArray

EVALS = 10_000  # for each parameter
SOLVED = 4  # digits
FITS: dict[str, dict[str, Any]] = {
    "auto": {"algorithm": "auto"},
    "auto, polish=False": {"algorithm": "auto", "polish": False},
    "jde": {"algorithm": "jde"},
}


def digits(regression: Regression, seed: int, parameters: dict[str, Any]) -> float:
    """Return the digits of one fit."""

    def sums_of_squares(candidates: FloatArray) -> FloatArray:
        with np.errstate(all="ignore"):  # powers of negative numbers are NaN, which is worse than any number
            predicted = regression.model(regression.X, candidates.T[:, :, None])
            sums: FloatArray = ((predicted - regression.y) ** 2).sum(axis=1)
        return sums

    budget = EVALS * len(regression.certified)
    m = Minimizer(max_evals=budget, random_state=seed, device="cpu", n_jobs=1, **parameters)
    return round(regression.digits(m.fit(sums_of_squares, bounds=regression.bounds()).x_), 1)


def main(arguments: list[str]) -> list[dict[str, Any]]:
    """Fit, print, and write a record if --out names a file."""
    options = options_of(arguments, __doc__)
    here = provenance(shlex.join(["python", "benchmarks/studies/models/nist_without_residuals.py", *arguments]))
    rows = []
    for name in options.sets:
        regression = load_regression(name)
        rows.append({"set": name, "level": regression.level, "parameters": len(regression.certified)})
        for label, parameters in FITS.items():
            rows[-1][label] = [digits(regression, seed, parameters) for seed in range(options.seeds)]
        print(rows[-1], flush=True)
    solved = {label: sum(min(row[label]) >= SOLVED for row in rows) for label in FITS}
    by_seed = {label: (np.array([row[label] for row in rows]) >= SOLVED).sum(axis=0).tolist() for label in FITS}
    print(f"{SOLVED} digits with every seed, of {len(rows)} sets: {solved}; by seed: {by_seed}")
    if options.out:
        settings = {"seeds": options.seeds, "evals": EVALS, "digits": SOLVED}
        results = {"solved": solved, "by_seed": by_seed, "figures": rows}
        write_figures(options.out, {**here, "settings": settings, **results})
    return rows


if __name__ == "__main__":
    main(sys.argv[1:])
