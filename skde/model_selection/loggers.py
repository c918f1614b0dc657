"""Callbacks that send the progress of a search to MLflow and TensorBoard."""

from __future__ import annotations

import math
from typing import Any

from skde.model_selection.evaluation import SearchProgress


class MLflowLogger:
    """A callback that logs a search to MLflow's active run, with the number of fits as the step.

    The metrics are best_score and n_candidates; the best configuration is in the tags ``best.NAME``.

    Examples
    --------
    >>> from skde.estimators import EvolutionSearchCV, MLflowLogger
    >>> from sklearn.svm import SVC
    >>> search = EvolutionSearchCV(SVC(), {"C": [1, 10]}, callbacks=[MLflowLogger()])
    """

    def __call__(self, progress: SearchProgress) -> None:
        """Log the progress; MLflow begins a run where there is none."""
        import mlflow

        for name, value in metrics(progress).items():
            mlflow.log_metric(name, value, step=progress.n_fits)
        if progress.best_params is not None:
            mlflow.set_tags({f"best.{name}": str(value) for name, value in progress.best_params.items()})


class TensorBoardLogger:
    """A callback that writes a search for TensorBoard, with the number of fits as the step.

    Parameters
    ----------
    writer : SummaryWriter
        Of torch.utils.tensorboard or tensorboardX.

    Examples
    --------
    >>> from skde.estimators import EvolutionSearchCV, TensorBoardLogger
    >>> from sklearn.svm import SVC
    >>> def logged(writer):  # SummaryWriter("runs")
    ...     return EvolutionSearchCV(SVC(), {"C": [1, 10]}, callbacks=[TensorBoardLogger(writer)])
    """

    def __init__(self, writer: Any) -> None:
        if not hasattr(writer, "add_scalar"):
            raise TypeError(f"writer must be a SummaryWriter, with the method add_scalar, got {writer!r}")
        self.writer = writer

    def __call__(self, progress: SearchProgress) -> None:
        """Write the progress."""
        for name, value in metrics(progress).items():
            self.writer.add_scalar(f"search/{name}", value, progress.n_fits)


def metrics(progress: SearchProgress) -> dict[str, float]:
    """Return the numbers to log; there is no best score before a configuration has all its fits."""
    found = {"n_candidates": float(progress.n_candidates), "best_score": progress.best_score}
    return {name: value for name, value in found.items() if not math.isnan(value)}
