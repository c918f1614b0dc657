"""The section on CEC 2011 of the page on the choice of an algorithm, from the record cec2011.json."""

from __future__ import annotations

import numpy as np
from scipy.stats import mannwhitneyu

from skde.algorithms.auto import AUTO
from skde.benchmark.hypothesis_tests import ALPHA, holm, vargha_delaney
from skde.benchmark.records import read_record
from skde.benchmark.statistics import errors, natural_key
from skde.typing import FloatArray

from .sources import RECORDS, joined, link, source

BASELINE = "jde"
NAME = "cec2011.json"


def section() -> list[str]:
    """Return the comparison of `auto` with jde on every problem of CEC 2011."""
    record = read_record(RECORDS / NAME)
    samples: dict[tuple[str, int], dict[str, FloatArray]] = {}
    for cell in record["cells"]:
        # The problems have no known minima: none of their values counts as zero.
        samples.setdefault((cell["function"], cell["dim"]), {})[cell["algorithm"]] = errors(cell, -np.inf)
    problems = sorted(samples, key=lambda key: natural_key(key[0]))
    p = [p_value(samples[key][AUTO], samples[key][BASELINE]) for key in problems]
    shares = [vargha_delaney(samples[key][AUTO], samples[key][BASELINE]) for key in problems]
    low = [share > 0.5 for share in shares]
    better, worse = (
        [key[0] for key, one, is_low in zip(problems, p, low, strict=True) if one < ALPHA and is_low == wanted]
        for wanted in (True, False)
    )
    after_holm = int((holm(np.array(p)) < ALPHA).sum())
    equal = len(problems) - len(better) - len(worse)
    finding = (
        f"`{AUTO}` is worse beyond chance on {joined(worse)}."
        if worse
        else f"`{AUTO}` is worse than `{BASELINE}` on no problem beyond chance."
    )
    lines = [
        "## CEC 2011",
        "",
        *source(record, NAME),
        f"`{AUTO}` against {link(BASELINE)} on the {len(problems)} problems, most of them from practice: better on "
        f"{len(better)}, equal on {equal}, worse on {len(worse)}, by the Mann-Whitney test on each problem at "
        f"{ALPHA:g}. With Holm's correction {after_holm} differences remain. {finding} The last column has the share "
        f"of pairs of runs in which `{AUTO}` is better.",
        "",
        f"| problem | variables | `{AUTO}`, median | `{BASELINE}`, median | p | share |",
        "|---|---|---|---|---|---|",
    ]
    for key, one, share in zip(problems, p, shares, strict=True):
        medians = " | ".join(f"{np.median(samples[key][name]):.6g}" for name in (AUTO, BASELINE))
        lines.append(f"| {key[0]} | {key[1]} | {medians} | {one:.2g} | {share:.2f} |")
    return [*lines, ""]


def p_value(a: FloatArray, b: FloatArray) -> float:
    """Return p of the two-sided Mann-Whitney test; 1 where all values are equal."""
    return 1.0 if len(np.unique([*a, *b])) == 1 else float(mannwhitneyu(a, b).pvalue)
