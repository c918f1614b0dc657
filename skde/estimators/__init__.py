"""Estimators of scikit-learn that are built on skde."""

from skde.estimators.evaluation import SearchProgress
from skde.estimators.fit_watch import ModelProgress
from skde.estimators.loggers import MLflowLogger, TensorBoardLogger
from skde.estimators.model_classifier import ModelClassifier
from skde.estimators.model_regressor import ModelRegressor
from skde.estimators.search_cv import EvolutionSearchCV
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
