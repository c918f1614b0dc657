"""Texts of the inputs of a search, by which a search that is resumed is known to be the same."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import CodeType
from typing import Any

import joblib
import numpy as np


def describe_input(value: Any) -> str:
    """Return a text that equal inputs of a search share in all processes, and that other ones do not.

    The repr of scikit-learn is not enough: it leaves out the middle of long texts, elements of long lists and, by its
    configuration, the defaults. An object with the default repr is known by its class alone.
    """
    if isinstance(value, np.generic):
        return repr(value.item())
    if hasattr(value, "get_params") and not isinstance(value, type):
        params = sorted(value.get_params(deep=False).items())
        return f"{full_name(type(value))}({', '.join(f'{name}={describe_input(one)}' for name, one in params)})"
    if isinstance(value, Mapping):
        return f"{{{', '.join(sorted(f'{describe_input(key)}: {describe_input(one)}' for key, one in value.items()))}}}"
    if isinstance(value, set | frozenset):
        return f"{{{', '.join(sorted(map(describe_input, value)))}}}"
    if isinstance(value, list | tuple):
        text = ", ".join(map(describe_input, value))
        return f"[{text}]" if isinstance(value, list) else f"({text})"
    if hasattr(value, "shape"):  # arrays, sparse matrices, data frames
        return f"array {joblib.hash(value)}"
    if isinstance(value, CodeType):
        return describe_input((value.co_code.hex(), value.co_names, value.co_consts))
    if hasattr(value, "__code__"):  # all lambdas of a function have one name
        return f"{full_name(value)} {joblib.hash(describe_input(value.__code__))}"
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))


def full_name(value: Any) -> str:
    """Return the name of a class or a function, with its module."""
    return f"{value.__module__}.{value.__qualname__}"


def digests(params: Mapping[str, Any]) -> str:
    """Return a text of metadata, such as sample_weight, in a short form; None is as good as none."""
    return describe_input(
        {name: joblib.hash(describe_input(value)) for name, value in params.items() if value is not None}
    )
