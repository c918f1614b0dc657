"""CMA-ES in NumPy, from the tutorial's equations, with a factor of C; one run, reading the kernels' random stream."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import skde._cpu as _cpu

from .common import COMBINATION, RENEWAL, inside, replaces, worth
from .philox import Draws, unit, unit53
from .reference import first_population

MOST_CONDITION, MOST_GROWTH = 1e14, 1e3


def root(S: Any) -> tuple[Any, Any, float, bool]:
    """The root of S, from its series and steps Y' = Y + (S - Y^2) / 2; S / t; t; and whether there were steps."""
    one = np.eye(len(S))
    distance = np.linalg.norm(S - one)
    t = max((1 + distance) / 2.5, 1)
    S = S / t
    Y = (3 * one + 6 * S - S @ S) / 8
    for _ in range(10 if distance > 0.6 else 0):
        error = S - Y @ Y
        Y = Y + error / 2
        if np.linalg.norm(error) <= 0.02:
            break
    return Y * math.sqrt(t), S, t, distance > 0.6


class Rates:
    """Weights and learning rates (arXiv 1604.00772, equations 49 to 58), and those of separable CMA-ES."""

    def __init__(self, n: int, size: int, diagonal: bool, active: bool) -> None:
        raw = math.log((size + 1) / 2) - np.log(np.arange(1, size + 1))
        self.mu = size // 2
        high, low = raw[: self.mu], raw[self.mu :]
        self.mu_w, low_mu_w = (part.sum() ** 2 / (part**2).sum() for part in (high, low))
        mu_w = self.mu_w
        self.c_s = (mu_w + 2) / (n + mu_w + 3)
        self.d_s = 1 + 2 * max(0, math.sqrt((mu_w - 1) / (n + 1)) - 1) + self.c_s
        self.c_c = (4 + mu_w / n) / (n + 4 + 2 * mu_w / n)
        faster = (n + 2) / 3 if diagonal else 1
        self.c_1 = min(faster * 2 / ((n + 1.3) ** 2 + mu_w), 0.5)
        self.c_mu = min(1 - self.c_1, faster * 2 * (0.25 + mu_w + 1 / mu_w - 2) / ((n + 2) ** 2 + mu_w))
        limits = 1 + self.c_1 / self.c_mu, 1 + 2 * low_mu_w / (mu_w + 2), (1 - self.c_1 - self.c_mu) / (n * self.c_mu)
        self.w = np.where(raw > 0, raw / high.sum(), raw * (min(limits) if active else 0) / abs(low.sum()))


class Cmaes:
    """The search; x and f are the best trial of every row, and its value."""

    def __init__(self, algorithm: Any, box: Any, seed: int, parameters: dict[str, float]) -> None:
        self.algorithm, self.box, self.seed, self.parameters = algorithm, box, seed, parameters
        self.pop, self.n, self.generation = int(parameters["pop_size"]), len(box), 0
        self.width = box[:, 1] - box[:, 0]
        self.diagonal = bool(parameters["diagonal"])
        self.x, self.f = first_population(self.pop, box, seed), None
        self.large, self.used_large, self.used_small, self.last_large, self.regime = 1, 0, 0, 0, "first"
        self.restarts: list[int] = []  # their populations, in parts

    def begin(self, mean: Any, parts: int, sigma: float, limit: float = 0) -> None:
        """A search with a population of so many parts."""
        n = self.n
        self.m, self.sigma, self.sigma_start, self.parts, self.limit = mean, sigma, sigma, parts, limit
        self.A, self.S = np.diag(self.width), np.eye(n)
        self.p, self.v = np.zeros(n), np.zeros(n)
        self.rates = Rates(n, parts * self.pop, self.diagonal, self.algorithm.active)
        self.age, self.length, self.gamma = 0, 0, 0.0
        self.bests: list[float] = []
        self.least = [math.inf, math.inf]  # best value and median
        self.least_at = [0, 0]
        self.Z: list[Any] = []
        self.values: list[float] = []

    def ask(self) -> Any:
        """The trials of the next part of a generation."""
        if self.f is None:
            return self.x.copy()
        self.generation += 1
        trials, self.outside = np.empty_like(self.x), []
        for i in range(self.pop):
            draws = Draws(self.seed, self.generation, i)
            words = np.array([float(draws.component(COMBINATION, j)) for j in range(self.n)])
            z = _cpu.normal_draw(words)
            x = self.m + self.sigma * (self.A @ z)
            away = (x - np.clip(x, *self.box.T)) / self.width
            self.outside.append(float(away @ away))
            self.Z.append(z)
            trials[i] = inside(self.algorithm.repair, x, self.m, self.box, draws)
        return trials

    def tell(self, trials: Any, f: Any) -> None:
        """The bests of the rows; after the last part of a generation, the update."""
        if self.f is None:
            self.f = f.copy()
            first = min(range(self.pop), key=lambda k: (worth(f[k]), k))
            self.begin(self.x[first].copy(), 1, self.algorithm.sigma0)
            return
        for i in range(self.pop):
            self.values.append(float(f[i]) + self.gamma * self.outside[i])
            if replaces(f[i], self.f[i]):
                self.x[i], self.f[i] = trials[i], f[i]
        if len(self.values) < self.parts * self.pop:
            return
        ranks = sorted(range(len(self.values)), key=lambda k: (worth(self.values[k]), k))
        Z, values = np.array(self.Z)[ranks], np.array(self.values)[ranks]
        self.Z, self.values = [], []
        self.update(Z, values)
        if self.algorithm.restarts is not None and self.stops(values):
            self.restart(len(values))

    def update(self, Z: Any, values: Any) -> None:
        """Equations 41 to 47."""
        n, r, size = self.n, self.rates, len(values)
        self.length += 1
        z_w = r.w[: r.mu] @ Z[: r.mu]
        self.m = self.m + self.sigma * (self.A @ z_w)
        self.p = (1 - r.c_s) * self.p + math.sqrt(r.c_s * (2 - r.c_s) * r.mu_w) * z_w
        length, expected = np.linalg.norm(self.p), math.sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n))
        short = length / math.sqrt(1 - (1 - r.c_s) ** (2 * self.length)) < (1.4 + 2 / (n + 1)) * expected
        self.sigma *= math.exp(min(r.c_s / r.d_s * (length / expected - 1), 1))
        self.v = (1 - r.c_c) * self.v + short * math.sqrt(r.c_c * (2 - r.c_c) * r.mu_w) * z_w
        w = np.where(r.w < 0, r.w * n / (Z**2).sum(axis=1), r.w)
        self.S *= 1 + (1 - short) * r.c_1 * r.c_c * (2 - r.c_c) - r.c_1 - r.c_mu * r.w.sum()
        self.S += r.c_1 * np.outer(self.v, self.v) + r.c_mu * (w * Z.T) @ Z
        self.age += 1
        if self.diagonal or self.age >= 1 / (10 * n * (r.c_1 + r.c_mu)):
            self.change_factor()
        deviations = np.linalg.norm(self.A, axis=1) / self.width
        spread = values[size - 1 - size // 4] - values[size // 4]
        gamma = self.algorithm.penalty * spread / (self.sigma**2 * (deviations**2).mean())
        distance = np.maximum(self.box[:, 0] - self.m, self.m - self.box[:, 1]) / (deviations * self.width)
        rises = self.gamma == 0 or distance.max() / self.sigma > 3 * max(1, math.sqrt(n) / r.mu_w)
        self.gamma = gamma if gamma > 0 and (rises or gamma < self.gamma) else self.gamma

    def change_factor(self) -> None:
        """A S^(1/2), in which the path stays where it is."""
        if self.diagonal:
            s = np.sqrt(np.diag(self.S))
            self.A, self.v = self.A * s, self.v / s
        else:
            Y, S, t, far = root(self.S)
            self.A = self.A @ Y
            v, Y = self.v, Y / math.sqrt(t)
            there = (15 * v - 10 * S @ v + 3 * S @ (S @ v)) / 8
            for _ in range(10 if far else 0):
                there = there + v - Y @ there
            self.v = there / math.sqrt(t)
        self.S, self.age = np.eye(self.n), 0

    def stops(self, values: Any) -> bool:
        """Whether a criterion of a restart holds."""
        n, a, size = self.n, self.algorithm, len(values)
        window = 10 + math.ceil(30 * n / size)
        self.bests = [*self.bests, values[0]][-window:]
        history, spread = max(self.bests) - min(self.bests), values[-1] - values[0]
        close = a.tol_fun * abs(min(self.bests))
        flat = history <= close / 10 or (history <= close and spread <= close)
        for k, value in enumerate((values[0], values[size // 2])):
            if value < self.least[k]:
                self.least[k], self.least_at[k] = value, self.length
        patience = max(100 + 100 * n**1.5 / size, 0.2 * self.length)
        deviations = self.sigma * np.linalg.norm(self.A, axis=1) / self.width
        return bool(
            (flat and len(self.bests) == window)
            or all(self.length - at > patience for at in self.least_at)
            or deviations.max() < a.tol_x
            or deviations.max() > MOST_GROWTH * self.sigma_start
            or (self.m == self.m + 0.2 * deviations * self.width).any()
            or 0 < self.limit <= self.length
            or self.ill_conditioned()
        )

    def ill_conditioned(self) -> bool:
        """Whether the condition number of C, from a QR decomposition with pivots, is too large."""
        Q = self.A / self.width[:, None]
        if self.diagonal:
            return bool(np.diag(Q).max() > math.sqrt(MOST_CONDITION) * np.diag(Q).min())
        if self.age or self.length % max(self.n, 10):
            return False
        squares = []
        while Q.shape[1]:
            k = int((Q**2).sum(axis=0).argmax())
            q = Q[:, k]
            squares.append(q @ q)
            Q = np.delete(Q, k, axis=1)
            Q = Q - np.outer(q, q @ Q) / squares[-1]
        return bool(squares[0] > MOST_CONDITION * squares[-1])

    def restart(self, size: int) -> None:
        """Twice the population, or a small one."""
        used = self.length * size
        if self.regime == "small":
            self.used_small += used
        elif self.regime == "large":
            self.used_large, self.last_large = self.used_large + used, used
        small = self.algorithm.restarts == "bipop" and self.used_small < self.used_large
        u, other = (unit(word) for word in Draws(self.seed, self.generation, 1).block(RENEWAL, 0)[:2])
        draws = Draws(self.seed, self.generation, 0)
        blocks = [draws.block(RENEWAL, j // 2) for j in range(self.n)]
        mean = self.box[:, 0] + self.width * [unit53(*blocks[j][2 * (j % 2) :][:2]) for j in range(self.n)]
        sigma0 = self.algorithm.sigma0
        if small:
            parts = max(int((self.large / 2) ** (u * u)), 1)
            limit = max(self.last_large // (2 * parts * self.pop), 1)
            self.begin(mean, parts, sigma0 * 10 ** (-2 * other), limit)
        else:
            self.large = min(2 * self.large, int(self.parameters["most_parts"]))
            self.begin(mean, self.large, sigma0)
        self.regime = "small" if small else "large"
        self.restarts.append(self.parts)
