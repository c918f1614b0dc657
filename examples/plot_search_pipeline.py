"""
Search over a pipeline
======================

All parameters of a pipeline are searched together: the number of components, the kernel of the classifier, and its
parameters. One of these, gamma, is not used by the linear kernel. `EvolutionSearchCV` has the interface of
scikit-learn's `RandomizedSearchCV`. With ``search="racing"`` configurations race over the splits of the
cross-validation: bad ones are given up early, and the fits that this saves go to new ones.
"""

import matplotlib.pyplot as plt
from scipy.stats import loguniform
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.model_selection import RandomizedSearchCV, train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from skde import SearchDisplay
from skde.estimators import EvolutionSearchCV

X, y = load_wine(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
pipeline = Pipeline([("scale", StandardScaler()), ("pca", PCA()), ("svc", SVC())])
space = {
    "pca__n_components": list(range(2, 14)),
    "svc__kernel": ["linear", "rbf", "sigmoid"],
    "svc__C": loguniform(1e-3, 1e3),
    "svc__gamma": loguniform(1e-5, 10.0),
}

# %%
# A condition says when a parameter is used at all. The budget is ``n_iter`` times the number of splits, in fits.

search = EvolutionSearchCV(
    pipeline,
    space,
    conditions={"svc__gamma": lambda values: values["svc__kernel"] != "linear"},
    search="racing",
    n_iter=30,
    random_state=0,
).fit(X_train, y_train)
search

# %%
# The race tries more configurations with fewer fits, because many of them have only a few.

print("best parameters:", search.best_params_)
print(f"{len(search.cv_results_['params'])} configurations in {search.n_fits_} fits")
print(f"accuracy on test rows: {search.score(X_test, y_test):.3f}")

# %%
# Random search with the same budget. Its points are the configurations that it tried.

random = RandomizedSearchCV(pipeline, space, n_iter=30, random_state=0).fit(X_train, y_train)
print(f"random search: {random.best_score_:.4f} in the cross-validation, the race: {search.best_score_:.4f}")

display = SearchDisplay.from_estimator(search)
SearchDisplay.from_estimator(random, ax=display.ax_)
display.ax_.set(ylim=(0.85, 1.005), title="Best mean score of five splits: wine, SVC after PCA")
plt.show()
