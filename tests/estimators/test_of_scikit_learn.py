"""scikit-learn's own tests of RandomizedSearchCV, run with EvolutionSearchCV."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import sklearn

THEIRS = Path(sklearn.__file__).parent / "model_selection/tests/test_search.py"

# docs/hyperparameters.md says why the others, of those that use RandomizedSearchCV, do not pass.
PASS = [
    "test_SearchCV_with_fit_params",
    "test_empty_cv_iterator_error",
    "test_multi_metric_search_forwards_metadata",
    "test_pickle",
    "test_random_search_bad_cv",
    "test_random_search_cv_results_multimetric",
    "test_refit_callable_out_bound",
    "test_scalar_fit_param",
    "test_scalar_fit_param_compat",
    "test_score_rejects_params_with_no_routing_enabled",
    "test_search_cv_results_rank_tie_breaking",
    "test_search_cv_score_samples_error",
    "test_search_cv_score_samples_method",
    "test_search_cv_timing",
    "test_search_cv_using_minimal_compatible_estimator",
    "test_search_default_iid",
    "test_search_estimator_param",
    "test_searchcv_raise_warning_with_non_finite_score",
    "test_trivial_cv_results_attr",
]
PROGRAM = """
import os
import sys
import pytest
import sklearn.model_selection
import skde.estimators.searches
from skde.estimators import EvolutionSearchCV
from skde.tuning.split_race import race_splits

class EntryPoint:
    def load(self):
        return race_splits

skde.estimators.searches.entry_points = lambda group, name: [EntryPoint()] * (name == "racing")
sklearn.model_selection.RandomizedSearchCV = EvolutionSearchCV
EvolutionSearchCV.__init__.__wrapped__.__kwdefaults__["n_iter"] = 12  # for speed
used, fit = set(), EvolutionSearchCV._run

def noted(self, *arguments):
    used.add(current[-1])
    return fit(self, *arguments)

EvolutionSearchCV._run = noted
current, passed = [], set()

class Plugin:
    def pytest_runtest_setup(self, item):
        current.append(item.nodeid)

    def pytest_runtest_logreport(self, report):
        if report.when == "call" and report.passed:
            passed.add(report.nodeid)

# No configuration: an environment inside of this folder would get this project's, in which warnings are errors.
options = ["-q", "-c", os.devnull, "--import-mode=importlib", "-p", "no:cacheprovider", "-p", "no:xdist", "--tb=short"]
status = pytest.main([*options, "-k", "not GridSearchCV", *sys.argv[1:]], plugins=[Plugin()])
print(len(used & passed), "passed with EvolutionSearchCV of", len(used))
sys.exit(status)
"""


@pytest.mark.skipif(not THEIRS.exists(), reason="this installation of scikit-learn has no tests")
def test_of_scikit_learn() -> None:
    there = THEIRS.read_text()
    names = [f"{THEIRS}::{name}" for name in PASS if f"def {name}(" in there]
    assert names
    done = subprocess.run([sys.executable, "-c", PROGRAM, *names], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]
    assert "passed with EvolutionSearchCV" in done.stdout
