"""The record of a search: all scores so far, also as a file, with which a search is resumed."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from typing import Any

from skde.estimators.fold_fits import FoldScores
from skde.files import atomic_write
from skde.validation import shown

FORMAT = "skde-search"
VERSION = 1
ADDED = ("choices",)  # inputs that files of earlier versions do not have


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
            if name not in self.setting and name in ADDED:
                continue
            if self.setting.get(name) != value:
                before = shown(self.setting.get(name))
                raise ValueError(
                    f"the search to resume had {name}={before}, and this one has {shown(value)}: resume it as it was "
                    "begun, or call fit"
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
            scores = {
                identity: {int(split): FoldScores(**one) for split, one in of_splits.items()}
                for identity, of_splits in data["scores"].items()
            }
            return cls(int(data["seed"]), dict(data["setting"]), scores)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{name!r} is incomplete or inconsistent: {error}") from error
