"""Comparison of our runs with the figures that a paper prints."""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from skde.typing import FloatArray

AS_GOOD, NOISE, WORSE = "as good", "noise", "worse"
FASTER, SLOWER = "faster", "slower"
AGREES, DIFFERS = "agrees", "differs"
INCOMPARABLE = "not comparable"  # our runs had less than the paper's budget, or their times are of another one
NONE = "no figure"  # the paper prints none, or its text has lost it
VERDICTS = (AS_GOOD, NOISE, WORSE, FASTER, SLOWER, AGREES, DIFFERS, INCOMPARABLE, NONE)
ALPHA = 0.05


def format_mean_and_std(values: FloatArray) -> tuple[float, float]:
    """Return mean and standard deviation (with runs - 1), which is 0 for infinities and for one run."""
    finite = len(values) > 1 and np.isfinite(values).all()
    return float(values.mean()), float(values.std(ddof=1)) if finite else 0.0


def round_as_printed(value: float, printed: str) -> float:
    """Return a value in the digits of a printed figure: significant digits, if it has an exponent, or decimals."""
    if not math.isfinite(value):
        return value
    mantissa, exponent, _ = printed.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    return float(f"{value:.{decimals}e}") if exponent else round(value, decimals)


def judge_values(
    printed: str | None,
    std: float,
    runs: int,
    values: FloatArray,
    *,
    zero: float = 0.0,
    fixed: bool = False,
) -> str:
    """Compare the values of our runs with a paper's mean; smaller is better.

    Parameters
    ----------
    printed : str or None
        The paper's mean as printed.
    std : float
        Its standard deviation; 0 if the paper has none.
    runs : int
        Number of the paper's runs.
    values : ndarray of shape (runs,)
        Ours.
    zero : float, default 0.0
        Means below are zero.
    fixed : bool, default False
        Whether a printed zero is a mean that rounds to 0; else it is a mean below `zero`.

    Returns
    -------
    verdict : {"as good", "noise", "worse", "no figure"}
        "as good": our mean, rounded to the paper's digits, is at most the paper's, or it is zero. "noise": it is
        higher, but not significantly by Welch's one-sided t-test at 0.05. "worse": otherwise.
    """
    if printed is None:
        return NONE
    theirs, (mean, own_std) = float(printed), format_mean_and_std(values)
    near = round_as_printed(mean, printed) if theirs != 0 or fixed else mean
    if mean < zero or near <= theirs:
        return AS_GOOD
    if not (np.isfinite(mean) and len(values) > 1 and max(own_std, std) > 0):
        return WORSE
    p = stats.ttest_ind_from_stats(
        mean, own_std, len(values), theirs, std, runs, equal_var=False, alternative="greater"
    ).pvalue
    return NOISE if p >= ALPHA else WORSE


def judge_share(printed: str | None, runs: int, successes: int, ours: int) -> str:
    """Compare a share of successful runs with a paper's: Fisher's one-sided exact test at 0.05."""
    if printed is None:
        return NONE
    theirs = float(printed)
    if round_as_printed(successes / ours, printed) >= theirs:
        return AS_GOOD
    reached = round(theirs * runs)
    table = [[successes, ours - successes], [reached, runs - reached]]
    return NOISE if stats.fisher_exact(table, alternative="less").pvalue >= ALPHA else WORSE


def judge_seconds(printed: str | None, mean: float) -> str:
    """Compare our mean time with a paper's."""
    return NONE if printed is None else FASTER if mean < float(printed) else SLOWER


def like(printed: str | None, value: float | None, *, fixed: bool = True) -> str:
    """Return a number in the form of a printed one; one that has too few decimals for that gets an exponent.

    Parameters
    ----------
    printed : str or None
        The printed number; None: three digits.
    value : float or None
        The number; None: "-".
    fixed : bool, default True
        Whether the paper prints a fixed number of decimals; else every number gets an exponent.
    """
    if value is None:
        return "-"
    if printed is None or not math.isfinite(value):
        return f"{value:.3g}"
    if value == 0 and not fixed:
        return "0"
    mantissa, exponent, _ = printed.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    if exponent or not fixed:
        return f"{value:.{max(decimals, 1)}e}"
    if value != 0 and not 10.0**-decimals <= abs(value) < 1e6:
        return f"{value:.1e}"
    return f"{value:.{decimals}f}"
