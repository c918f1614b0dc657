"""Conversion of everything that can be tuned into a Target."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from skde.algorithms import ALGORITHMS, Algorithm, get_algorithm
from skde.functions.named_point import find_refused_signature
from skde.tuning.targets.algorithm_target import AlgorithmTarget
from skde.tuning.targets.base import Target, TargetLimits
from skde.tuning.targets.cost_targets import CommandCost, EstimatorCost, FunctionCost, SequentialTarget
from skde.utils.validation import nearest, quote


def as_target(
    target: Any, limits: TargetLimits, n_jobs: int | None, device: str, vectorized: bool | str = "auto"
) -> Target:
    """Return a target.

    Parameters
    ----------
    target : str, Algorithm, estimator, callable or sequence of str
        An algorithm of skde or its name; a scikit-learn estimator; cost = f(config, instance, seed); or a command line.
    limits : TargetLimits
        Limits of one experiment.
    n_jobs : int or None
        Threads, or processes of joblib.
    device : str
        Device of algorithms.
    vectorized : {"auto"} or bool, default "auto"
        Whether the Python objectives of algorithms take arrays of points, or one point; "auto": it is found out.
    """
    if isinstance(target, Algorithm) or (isinstance(target, str) and target in ALGORITHMS):
        return AlgorithmTarget(get_algorithm(target), limits, n_jobs, device, vectorized)
    if hasattr(target, "get_params") and hasattr(target, "fit"):
        return SequentialTarget(EstimatorCost(target), n_jobs)
    if callable(target):
        if signature := find_refused_signature(target, 3):
            raise TypeError(
                "the target must take three arguments, f(config, instance, seed), the first one a dict of the "
                f"parameters; got {quote(target)}, with {signature}"
            )
        return SequentialTarget(FunctionCost(target), n_jobs)
    words = words_of(target) if isinstance(target, str) else target
    if isinstance(words, Sequence) and words and all(isinstance(word, str) for word in words):
        hint = nearest(words[0], ALGORITHMS) if len(words) == 1 else ""
        return SequentialTarget(CommandCost(list(words), limits, hint), n_jobs)
    raise TypeError(
        "the target must be an algorithm of skde, a scikit-learn estimator, a function (config, instance, seed) -> "
        f"cost, or a command line, got {target!r} ({type(target).__name__})"
    )


def words_of(command: str) -> list[str]:
    """Return the words of a command line."""
    try:
        return shlex.split(command)
    except ValueError as error:  # of quotes and backslashes
        raise ValueError(f"the target must be a command line of whole words, got {command!r}: {error}") from None
