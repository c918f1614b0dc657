"""Objectives that a user writes in C++ and that run inside the kernels."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import skde._cpu as _cpu
from skde.engines import CompiledDefaults, evaluate
from skde.engines.state.task import MAX_ARRAYS
from skde.objectives.library_cache import find_library, private_folder, store_library, store_text
from skde.problems.stated_objective import StatedObjective
from skde.typing import Array, FloatArray
from skde.utils.arrays import as_real, contiguous, points
from skde.utils.validation import check_int, quote

KERNELS = Path(__file__).resolve().parents[1] / "kernels"
# Names that the body of an objective already has.
RESERVED = {"team", "x", "d", "data", "real", "Team", "scratch"}
# Options of the system's compiler. Exceptions are off, because they cannot leave the threads that run the body.
FLAGS = (
    "-std=c++17",
    "-O3",
    "-fopenmp-simd",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-exceptions",
    "-Werror=return-type",
    "-fPIC",
    "-shared",
)
NO_RETURN_IS_AN_ERROR = "--diag-error=940"  # an option of NVRTC


class DeviceObjective(StatedObjective, CompiledDefaults):
    """An objective written in C++, compiled into the kernels: whole runs stay in compiled code, or on the GPU.

    The body belongs to a function ``real f(team, x, d)`` that returns the value of one point. It can use `x` (d
    components), the arrays by their names as ``const real*`` (in C order), their sizes as ``NAME_size``, and `team`,
    which shares the components among lanes::

        team.sum(d, [&](int j) { return ...; })       also team.prod and team.max
        team.each(d, [&](int j) { ... })              writes to team.scratch; then team.sync() before others read it

    `real` is double or float, like the optimiser's dtype. sin, cos, exp, sqrt, floor and abs_of return the same bits on
    the CPU and the GPU.

    Parameters
    ----------
    body : str
        C++ statements without exceptions and with a ``return`` on every path.
    arrays : mapping of str to array-like, optional
        At most 8 arrays of numbers, by name.
    scratch : int, default 0
        Number of vectors of length d that the body needs in ``team.scratch``, in [0, 64].
    name : str, default "user"
        Name in messages.

    Raises
    ------
    RuntimeError
        On the CPU, if there is no C++ compiler (CXX may name one) or the body does not compile. On the GPU, CuPy raises
        its CompileException with the compiler's message.
    PermissionError
        If other users may write to the cache folder, from which the compiled library is loaded.
    ValueError, TypeError
        For a body without a return statement, and for other parameters that are not allowed.

    Examples
    --------
    >>> from skde import DeviceObjective, Minimizer
    >>> f = DeviceObjective("return team.sum(d, [&](int j) { return w[j] * x[j] * x[j]; });", arrays={"w": [1.0, 2.0]})
    >>> m = Minimizer(max_iter=100, random_state=0).fit(f, bounds=[(-5, 5)] * 2)
    """

    cpp_type = "UserObjective"

    def __init__(
        self, body: str, arrays: Mapping[str, Any] | None = None, *, scratch: int = 0, name: str = "user"
    ) -> None:
        if not isinstance(body, str) or "return" not in body:
            raise ValueError(f"body must be C++ text with a return statement, got {quote(body)}")
        if arrays is not None and not isinstance(arrays, Mapping):
            raise TypeError(
                f"arrays must be a mapping of names to arrays, got {quote(arrays)} ({type(arrays).__name__})"
            )
        if not isinstance(name, str):
            raise TypeError(f"name must be a string, got {quote(name)} ({type(name).__name__})")
        named = dict(arrays or {})
        if len(named) > MAX_ARRAYS:
            raise ValueError(f"arrays must have at most {MAX_ARRAYS} entries, got {len(named)}")
        for key in named:
            if not isinstance(key, str) or not key.isidentifier() or key in RESERVED:
                raise ValueError(f"arrays: names must be C++ identifiers, and none of {sorted(RESERVED)}; got {key!r}")
        self.body = body
        self.names = tuple(named)
        self.arrays: tuple[FloatArray, ...] = tuple(number_array(key, named[key]) for key in named)
        self.scratch = check_int("scratch", scratch, 0, 64)
        self.name = name

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the compiler's files and the library, which belong to this machine."""
        return {name: value for name, value in vars(self).items() if name not in ("folder", "_library")}

    def __repr__(self) -> str:
        return f"DeviceObjective({self.name!r}, arrays={list(self.names)})"

    def __call__(self, X: Array) -> Array:
        """Return the values at the rows of X, array-like of shape (n, d), NumPy or CuPy; float32 is kept."""
        return evaluate(self, points(X, None, self))

    @property
    def functor(self) -> DeviceObjective:
        """The objective itself, which is compiled."""
        return self

    @property
    def file_entry(self) -> dict[str, Any]:
        """The name, for errors."""
        return {"device_objective": self.name}

    @cached_property
    def folder(self) -> Path:
        """Folder with the files of the body that the compilers include."""
        declarations = "".join(
            f"const real* const {name} = data.array[{k}];\nconst long long {name}_size = data.size[{k}];\n"
            f"(void){name}, (void){name}_size;\n"
            for k, name in enumerate(self.names)
        )
        parts = (declarations, self.body, str(self.scratch), " ".join(FLAGS), sources_digest())
        folder = private_folder("objectives", hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24])
        store_text(folder / "skde_user_arrays.inc", declarations)
        store_text(folder / "skde_user_body.inc", self.body + "\n")
        return folder

    @property
    def cuda_options(self) -> tuple[str, ...]:
        """Options of NVRTC."""
        return (f"-I{self.folder}", f"-DSKDE_USER_SCRATCH={self.scratch}", NO_RETURN_IS_AN_ERROR)

    def cpu_address(self, single: bool) -> int:
        """Return the address of the function in the compiled library; build the library if there is none."""
        function = getattr(self._library, "skde_user_float" if single else "skde_user_double")
        return int(ctypes.cast(function, ctypes.c_void_p).value or 0)

    @cached_property
    def _library(self) -> ctypes.CDLL:
        folder, name = self.folder, f"objective-{_cpu.isa()}"
        path = find_library(folder, name) or store_library(folder, name, self._compile())
        return ctypes.CDLL(str(path))

    def _compile(self) -> bytes:
        """Return the content of the library that the system's compiler builds."""
        compiler = find_compiler()
        isa = [f"-march={_cpu.isa()}"] if _cpu.isa().startswith("x86-64") else []
        with tempfile.TemporaryDirectory(dir=self.folder) as temporary:
            built = Path(temporary) / "objective.so"
            command = [
                *compiler,
                *FLAGS,
                *isa,
                f"-I{self.folder}",
                f"-I{KERNELS}",
                f"-DSKDE_USER_SCRATCH={self.scratch}",
                str(KERNELS / "problems" / "user.cpp"),
                "-o",
                str(built),
            ]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise RuntimeError(f"{self!r} does not compile with {compiler[0]}:\n{done.stderr.strip()}")
            return built.read_bytes()


def number_array(name: str, value: Any) -> FloatArray:
    """Return a user's array as float64 after checking it."""
    try:
        array: FloatArray = contiguous(as_real(value, f"arrays[{name!r}]"), np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"arrays[{name!r}] must hold numbers, got {quote(value)}") from error
    if array.size == 0:
        raise ValueError(f"arrays[{name!r}] must not be empty")
    return array


def find_compiler() -> list[str]:
    """Return the command of the system's C++ compiler."""
    named = os.environ.get("CXX")
    for candidate in [named] if named else ["g++", "clang++", "c++"]:
        words = candidate.split()
        if words and shutil.which(words[0]):
            return words
    raise RuntimeError(
        "a DeviceObjective on the CPU needs a C++ compiler, and "
        + (f"CXX={named!r} is not one" if named else "none of g++, clang++, c++ was found")
        + "; install one, or pass a Python function, or use a GPU"
    )


def sources_digest() -> str:
    """Return a digest of the kernels, which are part of a compiled objective."""
    digest = hashlib.sha256()
    for path in sorted(KERNELS.rglob("*.c*")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
