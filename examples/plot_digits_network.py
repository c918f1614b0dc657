"""
Weights of a network of signs
=============================

A network that computes with signs only: every hidden unit is +1 or -1, and so a few gates in hardware. Its loss is a
step function of the weights, so that back-propagation has no gradient to propagate. Differential evolution needs none.
The network reads scikit-learn's digits 0 to 3, of 8 by 8 pixels. Its weights are one vector, and one product of
matrices evaluates the networks of a whole population.
"""

from functools import cache
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split

from skde import JADE, Minimizer, array_namespace, find_gpus

DEVICE = "cuda" if find_gpus()[0] else "cpu"  # Python functions run on the CPU unless a GPU is named
INPUTS, HIDDEN = 8, 8

images, digits = load_digits(n_class=4, return_X_y=True)
images_train, images_test, y_train, y_test = train_test_split(
    images, digits, test_size=0.5, stratify=digits, random_state=0
)
pca = PCA(INPUTS, whiten=True, random_state=0).fit(images_train)
X_train, X_test = pca.transform(images_train), pca.transform(images_test)
classes = int(digits.max()) + 1
sizes = [INPUTS * HIDDEN, HIDDEN, HIDDEN * classes, classes]
print(f"{sum(sizes)} weights, {len(X_train)} images for training, {len(X_test)} for the test")

# %%
# The outputs of all networks for all images: of shape (networks, images, classes).


def outputs(W: Any, X: Any) -> Any:
    xp = array_namespace(W)
    a, b, c, d = xp.split(W, np.cumsum(sizes)[:-1].tolist(), axis=1)
    hidden = xp.sign(X @ a.reshape(-1, INPUTS, HIDDEN) + b[:, None, :])
    return hidden @ c.reshape(-1, HIDDEN, classes) + d[:, None, :]


@cache
def training_data(xp: Any) -> tuple[Any, Any, Any]:
    """Return images, classes and row numbers as arrays of a library, so that they go to the GPU once."""
    return xp.asarray(X_train, dtype="float32"), xp.asarray(y_train), xp.arange(len(X_train))


def loss(W: Any) -> Any:
    """Return the mean hinge loss: how far the right output is below the largest other one plus a margin."""
    xp = array_namespace(W)
    X, right, rows = training_data(xp)
    z = outputs(W, X)
    of_right = z[:, rows, right]
    z[:, rows, right] = -xp.inf
    return xp.maximum(0, 1 + z.max(axis=2) - of_right).mean(axis=1)


# %%
# Single precision is enough here, and faster.

minimizer = Minimizer(JADE(pop_size=50), max_evals=6000, dtype="float32", device=DEVICE, random_state=0)
minimizer.fit(loss, bounds=[(-2.0, 2.0)] * sum(sizes))
minimizer

# %%
# Test images with the class that the network reads; the wrong ones come first, in red.

read = outputs(minimizer.x_[None], X_test)[0].argmax(axis=1)
trained = outputs(minimizer.x_[None], X_train)[0].argmax(axis=1)
accuracy = {"training": float((trained == y_train).mean()), "test": float((read == y_test).mean())}
for part, share in accuracy.items():
    print(f"accuracy on the {part} images: {share:.3f}")

figure, axes = plt.subplots(2, 10, figsize=(9, 2.4), layout="constrained")
for ax, k in zip(axes.ravel(), np.argsort(read == y_test, kind="stable"), strict=False):
    ax.imshow(images_test[k].reshape(8, 8), cmap="Greys")
    ax.set_title(str(read[k]), color="k" if read[k] == y_test[k] else "C3")
    ax.axis("off")
plt.show()
