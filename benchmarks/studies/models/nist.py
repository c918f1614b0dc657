"""The nonlinear regressions of NIST's Statistical Reference Datasets, fitted by ModelRegressor with its defaults.

python benchmarks/studies/models/nist.py --seeds 3 --out benchmarks/records/nist.json

The boxes go from 0 to 10 times the largest of the two starts and the certified value of each parameter, with its sign
given, or from -10 to 10 times. Digits are those that all parameters have in common with the certified ones.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from typing import Any

from skde.benchmark import provenance
from skde.benchmark.nist import MODELS, Regression, agreement, load_regression
from skde.benchmark.records import write_figures
from skde.estimators import ModelRegressor

SOLVED = 6  # digits


def fits(regression: Regression, signs: bool, seeds: int) -> dict[str, Any]:
    """Return the digits of fits, and of the standard errors of the best one, with their evaluations and seconds."""
    begin, found = time.process_time(), []
    for seed in range(seeds):
        fit = ModelRegressor(regression.model, regression.bounds(signs), random_state=seed)
        found.append(fit.fit(regression.X, regression.y))
    seconds = (time.process_time() - begin) / seeds
    digits = [regression.digits(fit.theta_) for fit in found]
    best = found[digits.index(max(digits))]
    rss = best.loss_ * len(regression.y)
    return {
        "set": regression.name,
        "level": regression.level,
        "signs": signs,
        "digits": [round(one, 1) for one in digits],
        "standard_error_digits": round(
            max(agreement(e, regression.standard_errors) for e in errors(regression, best)), 1
        ),
        "residual_sum_of_squares": float(f"{rss:.11g}"),
        "certified": regression.residual_sum_of_squares,
        "linear": len(best.linear_),
        "parameters": len(regression.certified),
        "searches": [fit.n_restarts_ for fit in found],
        "n_evals": [fit.n_evals_ for fit in found],
        "cpu_seconds": round(seconds, 2),
    }


def errors(regression: Regression, fit: ModelRegressor) -> list[Any]:
    """Return the standard errors in all orders of the parameters that give the same predictions."""
    assert fit.standard_errors_ is not None
    return [fit.standard_errors_[order] for order, _ in regression.forms]


def options_of(arguments: list[str], text: str | None) -> argparse.Namespace:
    """Return the options of a command line; `text` describes the command."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", choices=MODELS, default=list(MODELS), help="data sets (all)")
    parser.add_argument("--seeds", type=int, default=3, help="fits of each, with random_state 0, 1, ... (3)")
    parser.add_argument("--out", help="a file for the record, in JSON")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> list[dict[str, Any]]:
    """Fit, print, and write a record if --out names a file."""
    options = options_of(arguments, __doc__)
    here = provenance(shlex.join(["python", "benchmarks/studies/models/nist.py", *arguments]))
    rows = []
    for signs in (True, False):
        for name in options.sets:
            rows.append(fits(load_regression(name), signs, options.seeds))
            print(rows[-1], flush=True)
    for signs in (True, False):
        solved = [min(row["digits"]) >= SOLVED for row in rows if row["signs"] == signs]
        print(f"signs {'given' if signs else 'not given'}: {sum(solved)} of {len(solved)} sets by every seed")
    if options.out:
        write_figures(options.out, {**here, "settings": {"seeds": options.seeds}, "figures": rows})
    return rows


if __name__ == "__main__":
    main(sys.argv[1:])
