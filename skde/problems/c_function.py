"""Functions of C as objectives: numba's `cfunc`, and what SciPy's `LowLevelCallable` takes."""

from __future__ import annotations

import ctypes
import re
from importlib import import_module
from typing import Any, NoReturn, Self

import numpy as np
from scipy import LowLevelCallable

import skde._cpu as _cpu
from skde.engines import CompiledDefaults, evaluate
from skde.problems.base import FUNCTORS
from skde.problems.stated_objective import StatedObjective
from skde.typing import Array
from skde.utils.arrays import points

# The words for types of C in the names of functors.
WORDS = {"int": "int", "long": "long", "long long": "long", "double *": "x", "void *": "pointer"}
ALLOWED = "double (int, double *), double (long, double *) or double (double *, long), each also with a last void *"

# Python's C API, in prototypes of these functions' own.
CAPSULE = ctypes.py_object
NAME_OF_CAPSULE = ctypes.PYFUNCTYPE(ctypes.c_char_p, CAPSULE)(("PyCapsule_GetName", ctypes.pythonapi))
CONTEXT_OF_CAPSULE = ctypes.PYFUNCTYPE(ctypes.c_void_p, CAPSULE)(("PyCapsule_GetContext", ctypes.pythonapi))
POINTER_OF_CAPSULE = ctypes.PYFUNCTYPE(ctypes.c_void_p, CAPSULE, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


class CFunction(StatedObjective, CompiledDefaults):
    """A function of C of one point, which the kernels call on the CPU, without Python.

    Parameters
    ----------
    given : LowLevelCallable or numba's cfunc
        The function as the user has it.
    function : LowLevelCallable
        The same function, with its signature.

    Raises
    ------
    ValueError
        For another signature, and for user data that the function does not take.
    """

    def __init__(self, given: Any, function: LowLevelCallable) -> None:
        self.given = given  # keeps the machine code
        self.name = getattr(given, "__name__", None) or getattr(function.function, "__name__", None) or "function"
        self.signature = function.signature
        self.kernel = find_kernel(self.name, self.signature)
        words = address_of(function.function), user_address(function)
        if function.user_data is not None and not self.kernel.endswith("pointer"):
            raise ValueError(f"user_data is for a function with a last void *, got {self!r}")
        if not words[0]:
            raise ValueError(f"the address of {self!r} must not be 0")
        self.arrays: tuple[Any, ...] = (np.array(words, np.uint64).view(np.int64),)

    def __repr__(self) -> str:
        return f"CFunction({self.name!r}, {self.signature!r})"

    def __call__(self, X: Array) -> Array:
        """Return the values at the rows of X, array-like of shape (n, d) of NumPy, or at one point; float32 is kept."""
        f = evaluate(self, points(X, None, self, one=True))
        return f[0] if np.ndim(X) == 1 else f

    def __copy__(self) -> Self:
        """Return the function itself, which does not change."""
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        """Return the function itself, which does not change."""
        return self

    def __reduce__(self) -> NoReturn:
        """Refuse to be sent to another process."""
        raise TypeError(f"{self!r} cannot be pickled: its address is one of this process alone")

    @property
    def functor(self) -> CFunction:
        """The function itself, which is compiled."""
        return self

    @property
    def cpu_only(self) -> str:
        """The reason why it cannot run elsewhere."""
        return "a function of C has an address in this process, on the CPU"

    @property
    def cpp_type(self) -> str:
        """There is none: a GPU cannot call the function."""
        raise ValueError(f"{self!r} runs on the CPU alone: device must be 'cpu'")

    @property
    def scratch(self) -> int:
        """Number of vectors of length d that one evaluation needs as working memory."""
        return FUNCTORS[self.kernel][2]

    def cpu_address(self, single: bool) -> int:
        """Return the address of the functor that calls the function, for float32 (`single`) or float64."""
        return int(_cpu.problem_address(FUNCTORS[self.kernel][0], single))

    @property
    def file_entry(self) -> dict[str, Any]:
        """The name and the signature, for errors."""
        return {"callable": repr(self)}

    @property
    def identity(self) -> Any:
        """Key that is equal for functions with the same address and user data."""
        return self.kernel, *self.arrays[0].tolist()


def find_c_function(given: Any) -> CFunction | None:
    """Return the statement of a function of C; None for any other object."""
    if isinstance(given, LowLevelCallable):
        return CFunction(given, given)
    if callable(given) and isinstance(getattr(given, "address", None), int) and hasattr(given, "ctypes"):
        return CFunction(given, LowLevelCallable(given.ctypes))  # numba's cfunc
    return None


def find_kernel(name: str, signature: str) -> str:
    """Return the name of the functor that calls a function with this signature."""
    parts = re.fullmatch(r"double ?\((.*)\)", signature.strip())
    types = [] if parts is None else [re.sub(r"\s*\*$", " *", one.strip()) for one in parts[1].split(",")]
    kernel = "_".join(["c", *(WORDS.get(one, "?") for one in types)])
    if kernel not in FUNCTORS:
        raise ValueError(f"the function of C {name!r} must have the signature {ALLOWED}, got {signature!r}")
    return kernel


def address_of(pointer: Any) -> int:
    """Return the address in what a LowLevelCallable takes: a pointer of ctypes or cffi, or a capsule; 0 for None."""
    if pointer is None:
        return 0
    if isinstance(pointer, LowLevelCallable):
        return address_of(pointer.function)
    if is_capsule(pointer):
        return int(POINTER_OF_CAPSULE(pointer, NAME_OF_CAPSULE(pointer)))
    if type(pointer).__module__ == "_cffi_backend":
        return int(import_module("cffi").FFI().cast("uintptr_t", pointer))
    return ctypes.cast(pointer, ctypes.c_void_p).value or 0


def user_address(function: LowLevelCallable) -> int:
    """Return the address of the user data; without any, a capsule's context, as in SciPy."""
    if function.user_data is None and is_capsule(function.function):
        return int(CONTEXT_OF_CAPSULE(function.function) or 0)
    return address_of(function.user_data)


def is_capsule(pointer: Any) -> bool:
    """Return whether an object is a capsule of Python's C API."""
    return type(pointer).__name__ == "PyCapsule"
