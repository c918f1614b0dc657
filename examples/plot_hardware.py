"""
Devices that are slow, noisy and fail
=====================================

The objective is a measurement: here of the gain of an amplifier with four settings, simulated by threads that wait as a
device would. ``ask`` returns the settings to measure next and ``tell`` takes their values, so that the program stays in
charge: several devices measure at once, a failed measurement is no number, and the state is saved after every
generation.
"""

import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from skde import DE, ConvergenceDisplay, Minimizer
from skde.typing import FloatArray

BEST = np.array([0.3, 0.7, 0.5, 0.2])
NOISE = 0.05


class Device:
    """A device that takes 2 ms for a measurement, has noise, and loses one connection in fifty."""

    def __init__(self, number: int) -> None:
        self.random = np.random.default_rng(number)
        self.busy = threading.Lock()

    @staticmethod
    def loss(x: FloatArray) -> float:
        """The true loss, which no program knows."""
        d = x - BEST
        return float(1.0 - np.exp(-8 * d @ d) * (0.8 + 0.2 * np.cos(12 * d).mean()))

    def measure(self, x: FloatArray) -> float:
        """Measure once, or raise."""
        with self.busy:
            time.sleep(0.002)
            if self.random.random() < 0.02:
                raise ConnectionError("no answer")
            return self.loss(x) + NOISE * self.random.normal()


devices = [Device(number) for number in range(8)]


def measure(number: int, x: FloatArray, times: int = 1) -> float:
    """Return the mean of several measurements by one of the devices, NaN where there is none: NaN is worse than any."""
    values = []
    for _ in range(times):
        try:
            values.append(devices[number % len(devices)].measure(x))
        except ConnectionError:
            continue
    return float(np.mean(values)) if values else float("nan")


# %%
# A generation is measured by all devices together. The file has the state after it: after a power cut,
# ``Minimizer.load(file)`` asks for the generation that was interrupted.

minimizer = Minimizer(DE(pop_size=32), bounds=[(0, 1)] * 4, max_iter=30, random_state=0)
begin, failed = time.perf_counter(), 0
with ThreadPoolExecutor(len(devices)) as pool, tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "device.skde"
    while not minimizer.stopped_:
        X = minimizer.ask()
        f = np.array(list(pool.map(measure, range(len(X)), X)))
        failed += int(np.isnan(f).sum())
        minimizer.tell(X, f)
        minimizer.save(file)
    resumed = Minimizer.load(file)
    # The best measured value is a lucky one. So the best few individuals are measured again, several times each.
    # (``Minimizer(final_evals=200)`` asks for such measurements itself.)
    candidates = minimizer.population_[np.argsort(minimizer.fitness_)[:8]]
    again = np.array(list(pool.map(lambda k: measure(k, candidates[k], times=25), range(len(candidates)))))
seconds = time.perf_counter() - begin
chosen = candidates[again.argmin()]
print(f"{minimizer.n_evals_} measurements, {failed} failed, in {seconds:.2f} s")
print(f"the best single measurement:  {minimizer.fun_:.3f}; true loss of its settings {Device.loss(minimizer.x_):.3f}")
print(f"the best mean of 25:          {again.min():.3f}; true loss of its settings {Device.loss(chosen):.3f}")
print(f"the file continues after {resumed.n_evals_} measurements")

# %%
# With noise the best value so far falls below zero, which no setting has: it is a record of luck.

display = ConvergenceDisplay.from_estimator(minimizer, name="best single measurement")
display.ax_.axhline(Device.loss(chosen), color="C1", label="true loss of the chosen settings")
display.ax_.set(title="Settings of a device", ylabel="loss")
display.ax_.legend(frameon=False)
plt.show()
