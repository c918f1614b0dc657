"""The record of a search: all scores so far, also as a file, with which a search is resumed."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from skde.model_selection.fold_fits import FoldScores
from skde.utils.files import atomic_write
from skde.utils.validation import quote

FORMAT = "skde-search"
VERSION = 2
LAST_SEED = 2**64 - 1
CONTEXT = 40  # characters of a text before its first difference, for messages


@dataclass
class SearchRecord:
    """The scores of a search.

    A search with the same seed asks for the same fits in the same order, so that the scores and the seed are all that
    it takes to resume one.

    Attributes
    ----------
    seed : int
        The seed of the search.
    setting : dict of str to str
        The data, the splits, the space and the other inputs of the scores, as text.
    scores : dict
        The scores of a split's number, by the identity of the configuration.
    """

    seed: int
    setting: dict[str, str]
    scores: dict[str, dict[int, FoldScores]] = field(default_factory=dict)

    @property
    def n_fits(self) -> int:
        """The number of fits."""
        return sum(map(len, self.scores.values()))

    def add(self, identity: str, split: int, scores: FoldScores) -> None:
        """Add the scores of one fit."""
        self.scores.setdefault(identity, {})[split] = scores

    def check(self, setting: dict[str, str]) -> None:
        """Refuse to resume a search with other inputs.

        Raises
        ------
        ValueError
            With the input that differs.
        """
        for name, value in setting.items():
            other = self.setting.get(name, "")
            if other != value:
                before, now = map(quote, from_difference(other, value))
                raise ValueError(
                    f"the search to resume had {name}={before}, and this one has {now}: resume it as it was begun, or "
                    "call fit"
                )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the record, in one atomic write."""
        data = {
            "format": FORMAT,
            "version": VERSION,
            "seed": self.seed,
            "setting": self.setting,
            "scores": {
                identity: {split: asdict(scores) for split, scores in of_splits.items()}
                for identity, of_splits in self.scores.items()
            },
        }
        with atomic_write(path, text=True) as file:
            json.dump(data, file)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SearchRecord:
        """Return the record of a file.

        Raises
        ------
        ValueError
            For a file that is broken, foreign, or of another version.
        """
        name = os.fspath(path)
        with open(path, encoding="utf-8") as file:
            try:
                data: dict[str, Any] = json.load(file)
                found = data["format"], data["version"]
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(f"{name!r} holds no search: {error}") from error
        if found != (FORMAT, VERSION):
            raise ValueError(
                f"{name!r} must be a {FORMAT} of version {VERSION}, got {found[0]!r} of version {found[1]!r}"
            )
        try:
            return record_of(data)
        except (ValueError, KeyError) as error:
            raise ValueError(f"{name!r} is incomplete or inconsistent: {error}") from error


def from_difference(before: str, now: str) -> tuple[str, str]:
    """Return the ends of two texts from shortly before the first difference, which is then seen in a message."""
    different = (k for k, (one, other) in enumerate(zip(before, now, strict=False)) if one != other)
    start = max(0, next(different, min(len(before), len(now))) - CONTEXT)
    return ("..." + before[start:], "..." + now[start:]) if start else (before, now)


# -- the content of a file ---------------------------------------------------------------------------------------------


def are_scores(value: Any) -> bool:
    """Whether a value is scores by metric; these may be NaN."""
    return isinstance(value, dict) and all(isinstance(score, float) for score in value.values())


def are_seconds(value: Any) -> bool:
    """Whether a value is a time."""
    return isinstance(value, float) and 0 <= value < math.inf


FIT: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "test": ("numbers by metric", are_scores),
    "train": ("numbers by metric", are_scores),
    "fit_time": ("seconds >= 0", are_seconds),
    "score_time": ("seconds >= 0", are_seconds),
    "several": ("true or false", lambda value: isinstance(value, bool)),
    "error": ("a text", lambda value: isinstance(value, str)),
}


def record_of(data: dict[str, Any]) -> SearchRecord:
    """Return the record of the content of a file.

    Raises
    ------
    ValueError
        With the entry that is not what `SearchRecord.save` writes.
    KeyError
        For an entry that is missing.
    """
    seed, setting = data["seed"], data["setting"]
    check_entry("seed", seed, "an integer in [0, 2**64 - 1]", type(seed) is int and 0 <= seed <= LAST_SEED)
    texts = isinstance(setting, dict) and all(isinstance(value, str) for value in setting.values())
    check_entry("setting", setting, "a dict of texts", texts)
    n_splits = int(setting["n_splits"])
    splits = {str(split): split for split in range(n_splits)}
    scores: dict[str, dict[int, FoldScores]] = {}
    check_entry("scores", data["scores"], "a dict", isinstance(data["scores"], dict))
    for identity, fits in data["scores"].items():
        place = f"scores[{quote(identity)}]"
        check_entry(place, fits, "a dict", isinstance(fits, dict))
        for split, fit in fits.items():
            check_entry(f"a split of {place}", split, f"an integer in [0, {n_splits - 1}]", split in splits)
            one = f"{place}[{split!r}]"
            check_entry(one, fit, f"a dict of {', '.join(FIT)}", isinstance(fit, dict) and fit.keys() == FIT.keys())
            for name, (allowed, right) in FIT.items():
                check_entry(f"{one}[{name!r}]", fit[name], allowed, right(fit[name]))
        scores[identity] = {splits[split]: FoldScores(**fit) for split, fit in fits.items()}
    return SearchRecord(seed, setting, scores)


def check_entry(name: str, value: Any, allowed: str, right: bool) -> None:
    """Refuse an entry that is not what it must be.

    Raises
    ------
    ValueError
        With its name and value.
    """
    if not right:
        raise ValueError(f"{name} must be {allowed}, got {quote(value)}")
