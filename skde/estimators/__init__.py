"""Estimators of scikit-learn that are built on skde."""

from skde.model_fitting.fit_watch import ModelProgress
from skde.model_fitting.model_classifier import ModelClassifier
from skde.model_fitting.model_regressor import ModelRegressor
from skde.model_selection.evaluation import SearchProgress
from skde.model_selection.loggers import MLflowLogger, TensorBoardLogger
from skde.model_selection.search_cv import EvolutionSearchCV
from skde.plotting import SearchDisplay

__all__ = [
    "EvolutionSearchCV",
    "MLflowLogger",
    "ModelClassifier",
    "ModelProgress",
    "ModelRegressor",
    "SearchDisplay",
    "SearchProgress",
    "TensorBoardLogger",
]
