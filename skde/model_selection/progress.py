"""The progress bar of a search."""

from __future__ import annotations

import math

from skde.model_selection.evaluation import Evaluation


class ProgressBar:
    """A tqdm bar: fits, the best score, rate, time left."""

    def __init__(self, n_fits: int) -> None:
        from tqdm.auto import tqdm

        self.bar = tqdm(total=n_fits, unit="fit", dynamic_ncols=True, mininterval=0.1)

    def __call__(self, evaluation: Evaluation) -> None:
        """Show the progress after a fit."""
        best_score = evaluation.history[-1][2] if evaluation.history else math.nan
        if not math.isnan(best_score):  # before a configuration has all its fits
            self.bar.set_postfix_str(f"best score {best_score:.6g}", refresh=False)
        self.bar.update(evaluation.record.n_fits - self.bar.n)

    def say(self, text: str) -> None:
        """Print a line above the bar."""
        self.bar.write(f"skde: {text}")

    def close(self) -> None:
        """Leave the bar as it is."""
        self.bar.close()
