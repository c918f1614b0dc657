"""Twenty functions of Nashed and others, 2012.

Y. S. G. Nashed, P. Mesejo, R. Ugolotti, J. Dubois-Lacoste, S. Cagnoni: A comparative study of three GPU-based
metaheuristics (PPSN XII, 2012), Table 3, in corrected form; i counts from 0.

f0 sphere, f1 elliptic, f2 and f3 weighted spheres, f4 Schwefel 2.22, f5 Zakharov, f6 Schwefel 1.2, f7 Schwefel 2.6,
f8 Dixon-Price, f9 Rastrigin, f10 Schwefel 2.26, f11 Katsuura, f12 Griewank, f13 Rosenbrock, f14 Ackley, f15 expanded
Griewank-Rosenbrock, f16 expanded Scaffer F6, f17 Fletcher-Powell, f18 Salomon, f19 Levy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal, localcontext
from typing import Any, NamedTuple

import numpy as np

import skde._cpu as _cpu
from skde.problems import data as streams
from skde.problems.base import DimRange, Problem, same_bounds
from skde.problems.cec2005 import OfficialData
from skde.problems.official_data import read_options
from skde.typing import FloatArray
from skde.utils.validation import check_int

SUITE = "nashed2012"
# The minimiser of f10 in every variable, and the minimum that the truncated constant 418.9829 leaves for each.
SCHWEFEL_X, SCHWEFEL_F = -420.9687463599820, 1.272756629372526e-5


class Options(NamedTuple):
    """Options that select the forms of the functions in the paper.

    Attributes
    ----------
    as_run : bool
        Whether f8 and f19 have the weights and the last factor of the paper's program (f8: w_i = i, so that 0.5 is a
        local minimum; f19: 10 sin^2 also in the last term), instead of their usual forms.
    index_base : int
        1 reads the paper's index i as printed, with sums from 0 (f1: exponent (i - 1) / (n - 1); f2, f3: weight i;
        f5: 0.5 i); 0 is the usual form of the functions.
    """

    as_run: bool = False
    index_base: int = 0


Arrays = tuple[FloatArray, ...]


def elliptic_weights(n: int, options: Options) -> FloatArray:
    """Return 10^(6 i / (n - 1)), rounded correctly: the same bits on every machine. One variable has weight 1."""
    if n == 1:
        return np.ones(1)
    with localcontext() as context:
        context.prec = 40
        exponent = [Decimal(6) * (i - options.index_base) / (n - 1) for i in range(n)]
        return np.array([float(Decimal(10) ** e) for e in exponent])


def index_weights(n: int, options: Options) -> FloatArray:
    """Return the weights i + 1, or i as printed in the paper."""
    return np.arange(1.0 - options.index_base, n + 1 - options.index_base)


def roots(n: int) -> FloatArray:
    """Return sqrt(i + 1), rounded correctly as IEEE demands."""
    values: FloatArray = np.sqrt(np.arange(1.0, n + 1))
    return values


def schwefel26(n: int, official: OfficialData) -> tuple[FloatArray, Arrays]:
    """Return the minimiser, on the box's sides in most variables, and the system A x = B that it solves."""
    if official.used:
        o, A = official.schwefel_206(n)
    else:
        o = streams.shift("nashed2012:f7:o", n, -100, 100)
        A = streams.integers(f"nashed2012:f7:A:D{n}", (n, n), -500, 500)
    index = np.arange(1, n + 1)
    o[index >= 3 * n // 4] = 100.0
    o[: -(-n // 4)] = -100.0
    # The kernel adds a row's products in the order of the columns; B does the same, so that f is 0 at o.
    B = np.zeros(n)
    for j in range(n):
        B += A[:, j] * o[j]
    return o, (np.ascontiguousarray(A.T), B)


def fletcher_powell(n: int, official: OfficialData) -> tuple[FloatArray, Arrays]:
    """Return alpha, a, b and the trigonometric sums at alpha, in the kernel's arithmetic so that f is 0 there."""
    if official.used:
        a, b, alpha = official.schwefel_213(n)
    else:
        a = streams.integers(f"nashed2012:f17:a:D{n}", (n, n), -100, 100)
        b = streams.integers(f"nashed2012:f17:b:D{n}", (n, n), -100, 100)
        alpha = streams.shift("nashed2012:f17:alpha", n, -math.pi, math.pi)
    angles = np.asarray(alpha, np.float64)
    sines, cosines = _cpu.sin(angles), _cpu.cos(angles)
    from_sines, from_cosines = np.zeros(n), np.zeros(n)
    for j in range(n):
        from_sines += a[:, j] * sines[j]
        from_cosines += b[:, j] * cosines[j]
    return alpha, (np.ascontiguousarray(a.T), np.ascontiguousarray(b.T), from_sines + from_cosines)


def dixon_price_optimum(n: int) -> FloatArray:
    """Return x_0 = 1, x_i = sqrt(x_{i-1} / 2), which is 2^-(1 - 2^-i)."""
    x = np.ones(n)
    for i in range(1, n):
        x[i] = math.sqrt(x[i - 1] / 2)
    return x


class Definition(NamedTuple):
    """A function: half the width of its box, the minimiser in every variable, its arrays, the least dimension."""

    box: float
    x_opt: float = 0.0
    arrays: Callable[[int, Options], Arrays] = lambda n, options: ()
    smallest_dim: int = 1


TABLE = {
    "f0": Definition(100.0),
    "f1": Definition(100.0, arrays=lambda n, options: (elliptic_weights(n, options),)),
    "f2": Definition(1.0, arrays=lambda n, options: (index_weights(n, options),)),
    "f3": Definition(1.0, arrays=lambda n, options: (index_weights(n, options) ** 2,)),
    "f4": Definition(10.0),
    "f5": Definition(10.0, arrays=lambda n, options: (0.5 * index_weights(n, options),)),
    "f6": Definition(100.0),
    "f7": Definition(100.0),
    "f8": Definition(10.0, arrays=lambda n, options: (np.arange(n) + 1.0 - options.as_run,)),
    "f9": Definition(5.12),
    "f10": Definition(500.0, x_opt=SCHWEFEL_X),
    "f11": Definition(1000.0),
    "f12": Definition(600.0, arrays=lambda n, options: (roots(n),)),
    "f13": Definition(100.0, x_opt=1.0, smallest_dim=2),
    "f14": Definition(32.0),
    "f15": Definition(5.12, x_opt=1.0, smallest_dim=2),
    "f16": Definition(100.0, smallest_dim=2),
    "f17": Definition(math.pi),
    "f18": Definition(10.0),
    "f19": Definition(10.0, x_opt=1.0, arrays=lambda n, options: (np.array([10.0 if options.as_run else 1.0]),)),
}
NAMES = {"plain": tuple(f"{SUITE}/{key}" for key in TABLE)}


def dim_range(name: str) -> DimRange:
    """Return the allowed numbers of variables of a problem."""
    return DimRange(TABLE[name.rpartition("/")[2]].smallest_dim)


def build(
    name: str,
    dim: int,
    *,
    as_run: bool = False,
    index_base: int = 0,
    data: str = "generated",
    folder: Any = None,
) -> Problem:
    """Return a function of the suite.

    Parameters
    ----------
    name : str
        "nashed2012/f0" ... "nashed2012/f19".
    dim : int
        Number of variables.
    as_run : bool, default False
        As in `Options`.
    index_base : int, default 0
        As in `Options`, 0 or 1.
    data : {"generated", "official"}, default "generated"
        The matrices and minimisers of f7 and f17: skde's, for any number of variables, or CEC 2005's (of F5 and F12),
        for at most 100. The other functions have no data.
    folder : str, path or None, default None
        Folder with the competition's files; None: the data of the package optproblems.

    Returns
    -------
    problem : Problem
    """
    if not isinstance(as_run, bool | np.bool_):
        raise TypeError(f"as_run must be True or False, got {as_run!r} ({type(as_run).__name__})")
    options = Options(bool(as_run), check_int("index_base", index_base, 0, 1))
    official = OfficialData(data, folder)
    key = name.rpartition("/")[2]
    definition = TABLE[key]
    x_opt, arrays = np.full(dim, definition.x_opt), definition.arrays(dim, options)
    f_opt = SCHWEFEL_F * dim if key == "f10" else 0.0
    if key == "f7":
        x_opt, arrays = schwefel26(dim, official)
    elif key == "f8":
        x_opt = dixon_price_optimum(dim)
    elif key == "f17":
        x_opt, arrays = fletcher_powell(dim, official)
    given = {"as_run": options.as_run, "index_base": options.index_base} if options != Options() else {}
    given |= read_options(data, folder)
    return Problem(
        name, f"{SUITE}_{key}", same_bounds(-definition.box, definition.box, dim), x_opt, f_opt, arrays, given
    )
