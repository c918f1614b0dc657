"""
Curves with certified parameters
================================

NIST has data sets of nonlinear regression with certified parameters. Most programs need a starting point near them;
:class:`~skde.estimators.ModelRegressor` needs bounds only. Here they are wide: from zero to ten times the largest of
NIST's starting and certified values.
"""

import matplotlib.pyplot as plt
import numpy as np

from skde.benchmark.nist import load_regression
from skde.estimators import ModelRegressor

# %%
# MGH09 is one of the hard sets: from its first starting point many programs end elsewhere.

data = load_regression("MGH09")
fit = ModelRegressor(data.model, bounds=data.bounds(), random_state=0).fit(data.X, data.y)
print("parameter   fitted          certified       standard error  certified")
for name, ours, theirs, error, certified in zip(
    ("b1", "b2", "b3", "b4"), fit.theta_, data.certified, fit.standard_errors_, data.standard_errors, strict=True
):
    print(f"{name:<10}  {ours:<14.10f}  {theirs:<14.10f}  {error:<14.10f}  {certified:.10f}")
print(f"digits in common with the certified parameters: {data.digits(fit.theta_):.1f}")
print(f"{fit.n_evals_} evaluations of the model; enough searches agree: {fit.converged_}")

# %%
# The curve and its residuals.

x = np.linspace(data.X.min(), data.X.max(), 300)[:, None]
figure, (curve, residuals) = plt.subplots(2, 1, sharex=True, height_ratios=[3, 1], layout="constrained")
curve.plot(data.X[:, 0], data.y, "o", label="data")
curve.plot(x[:, 0], fit.predict(x), label="fit")
curve.set(title="MGH09", ylabel="y")
curve.legend(frameon=False)
residuals.stem(data.X[:, 0], data.y - fit.predict(data.X), basefmt="k-")
residuals.set(xlabel="x", ylabel="residual")
plt.show()
