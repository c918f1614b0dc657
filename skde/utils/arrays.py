"""Conversion of users' arrays to NumPy and CuPy arrays, and their addresses for compiled code."""

from __future__ import annotations

from typing import Any

import numpy as np

import skde._cpu as _cpu
from skde.typing import Array

REAL = "fiub"  # the kinds of dtype that hold real numbers


def array_namespace(array: Array) -> Any:
    """Return the library of an array, so that one function serves the CPU and the GPU.

    Parameters
    ----------
    array : numpy.ndarray or cupy.ndarray
        Such as the points that an objective is given.

    Returns
    -------
    xp : module
        NumPy, or CuPy for its arrays.

    Raises
    ------
    TypeError
        For anything else.

    Examples
    --------
    >>> import numpy as np
    >>> from skde import array_namespace
    >>> array_namespace(np.zeros(3)) is np
    True
    """
    if isinstance(array, np.ndarray):
        return np
    if not is_on_gpu(array):
        raise TypeError(f"expected a NumPy or CuPy array, got {type(array).__name__}")
    import cupy

    return cupy


def is_on_gpu(given: Any) -> bool:
    """Whether something is an array in a GPU's memory."""
    # CuPy makes a dictionary for each look at the attribute, which takes longer than the launch of a kernel.
    return type(given).__module__.partition(".")[0] == "cupy" or hasattr(given, "__cuda_array_interface__")


def device_of(array: Array) -> int | None:
    """Return the number of the GPU that holds an array; None for NumPy's."""
    if isinstance(array, np.ndarray):
        return None
    device: int = array.data.device_id  # array.device would make an object for each look at it
    return device


def is_masked(given: Any) -> bool:
    """Whether something is a NumPy array with entries that are masked out."""
    return isinstance(given, np.ma.MaskedArray) and bool(np.ma.is_masked(given))


def to_numpy(array: Array) -> Any:
    """Return a NumPy copy of an array of either library."""
    return array.get() if hasattr(array, "get") else np.array(array)


# -- other libraries ---------------------------------------------------------------------------------------------------

# DLPack's numbers of a GPU's memory: CUDA, ROCm, and CUDA's managed memory.
GPU_MEMORY = (2, 10, 13)


def share_array(given: Any, xp: Any) -> Any:
    """Return an array of another library as one of NumPy or CuPy, without a copy; anything else as it is.

    NumPy's own conversion takes arrays that offer one; for others, and for a GPU's, there is DLPack. CuPy then
    waits on the GPU, and not on the host, for the work of the other library.

    Parameters
    ----------
    given : object
        Anything; an array of another library has ``__dlpack__``. Arrays of another device than `xp`'s stay.
    xp : module
        NumPy or CuPy.
    """
    if isinstance(given, xp.ndarray) or not hasattr(given, "__dlpack_device__"):
        return given
    on_gpu = int(given.__dlpack_device__()[0]) in GPU_MEMORY
    if on_gpu != (xp is not np) or (xp is np and hasattr(given, "__array__")):
        return given
    return xp.from_dlpack(given)


# -- users' arrays -----------------------------------------------------------------------------------------------------


def as_real(given: Any, what: str, numbers: str = "numbers") -> Array:
    """Return an array of real numbers, CuPy's where it is on a GPU.

    Parameters
    ----------
    given : array-like
        Anything.
    what : str
        Its name in messages.
    numbers : str, default "numbers"
        The expected contents, in messages.

    Raises
    ------
    TypeError
        For other types than real numbers.
    ValueError
        For masked entries.
    """
    if is_masked(given):
        raise ValueError(
            f"{what} must have no masked entries, got {np.ma.getmaskarray(given).sum()} of {given.size} masked; "
            ".filled(numpy.nan) makes them NaN, which never wins"
        )
    try:
        if is_on_gpu(given):
            import cupy

            array: Array = cupy.asarray(given)
        else:
            array = np.asarray(given)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{what} must be an array of {numbers}, got {given!r}") from error
    check_real_dtype(array, what)
    return array


def check_real_dtype(array: Array, what: str) -> None:
    """Refuse an array of other types than real numbers."""
    if array.dtype.kind not in REAL:
        raise TypeError(f"{what} must hold real numbers, got dtype {array.dtype}" + complex_hint(array.dtype))


def real_array(given: Any, like: Array, what: str, numbers: str = "numbers") -> Array:
    """Return an array of real numbers in the library, and on the device, of another array.

    An array of another device is refused and not copied: it shows that the user's function computes on another device
    than the population's.
    """
    # Nearly all values are so already, and there is a call in every generation.
    if type(given) is type(like) and not isinstance(given, np.ma.MaskedArray):
        array = given
        check_real_dtype(array, what)
    else:
        array = convert(given, like, what, numbers)
    check_device_of(array, like, what)
    return array


def convert(given: Any, like: Array, what: str, numbers: str) -> Array:
    """Return an array of real numbers in the library of another array."""
    xp = array_namespace(like)
    given = share_array(given, xp)
    if xp is not np and not isinstance(given, xp.ndarray):
        raise TypeError(
            f"{what} must be a CuPy array for a CuPy population, got {type(given).__name__}; "
            "write the objective with cupy, or with a library that has DLPack on that GPU, or use device='cpu'"
        )
    if xp is np and is_on_gpu(given):
        raise TypeError(
            f"{what} must be a NumPy array for a NumPy population, got a {type(given).__name__} of a GPU; "
            "return .get(), or use device='cuda'"
        )
    return as_real(given, what, numbers)


def move_to(given: Any, like: Array, what: str) -> Array:
    """Return an array of real numbers on the device of another array; an array on the host is copied there."""
    array = as_real(given, what)
    return real_array(array_namespace(like).asarray(array) if isinstance(array, np.ndarray) else array, like, what)


def check_device_of(array: Array, like: Array, what: str) -> None:
    """Refuse an array of another GPU than `like`'s."""
    if isinstance(like, np.ndarray) or isinstance(array, np.ndarray):
        return
    given, wanted = device_of(array), device_of(like)
    if given != wanted:
        raise ValueError(
            f"{what} must be on the device of the population, cuda:{wanted}, got an array on cuda:{given}; "
            f"work on the device of X, or copy to it: with cupy.cuda.Device({wanted}): cupy.array(...)"
        )


def contiguous(array: Array, dtype: Any) -> Array:
    """Return an array in C order and aligned, as compiled code reads it; itself where it is so already."""
    on_host, flags = isinstance(array, np.ndarray), array.flags
    if array.dtype == dtype and flags.c_contiguous and (not on_host or flags.aligned):
        return array
    dense = array.astype(dtype, order="C", copy=False)
    return dense if not on_host or dense.flags.aligned else dense.copy()


def real_values(given: Any, X: Array, what: str) -> Array:
    """Return the values of points: shape (n,), one a row of X, in C order, with X's dtype and device.

    A column of shape (n, 1) has the same values, and one number is the value of one row.

    Raises
    ------
    ValueError, TypeError
        For anything else than n real numbers on that device; `what` names it.
    """
    n = len(X)
    values = real_array(given, X, what, f"{n} numbers")
    if values.shape != (n,):
        if values.shape == (n, 1) or (n == 1 and values.shape == ()):
            return contiguous(values.reshape(n), X.dtype)
        raise ValueError(
            f"{what} must have shape ({n},), one value a row of X, got shape {values.shape}; "
            "a function of a single point needs vectorized=False"
        )
    return contiguous(values, X.dtype)


def points(given: Any, dim: int | None, what: Any, name: str = "X", *, one: bool = False) -> Array:
    """Return points, one a row, as an array in C order; float32 is kept, everything else becomes float64.

    Parameters
    ----------
    given : array-like of shape (n, dim), NumPy or CuPy
        The points.
    dim : int or None
        Variables; None: any number.
    what : object
        The receiver of the points, for messages.
    name : str, default "X"
        The parameter's name.
    one : bool, default False
        Whether one point of shape (dim,) is allowed, as a single row.

    Raises
    ------
    ValueError
        For another shape, and for anything else than real numbers.
    """
    try:
        X = as_real(given, name)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what!r} takes {name} of real numbers: {error}") from error
    if one and X.ndim == 1:
        X = X[None]
    if X.ndim != 2 or dim not in (None, X.shape[1]):
        shapes = f"(n, {'d' if dim is None else dim})" + (f" or ({dim},)" if one else "")
        raise ValueError(f"{what!r} takes {name} of shape {shapes}, got {np.shape(given)}")
    return contiguous(X, np.float32 if X.dtype == np.float32 else np.float64)


def complex_hint(dtype: np.dtype[Any]) -> str:
    """Return advice on complex values."""
    return "; return .real or an absolute value" if dtype.kind == "c" else ""


# -- addresses for compiled code ---------------------------------------------------------------------------------------


def address(array: Array, dtype: Any, size: int | None = None, device: int | None = None) -> int:
    """Return the address of an array's memory for C++ or CUDA, after a check of all that they assume of it.

    Parameters
    ----------
    array : ndarray
        NumPy or CuPy.
    dtype : dtype
        The dtype that the compiled code reads.
    size : int or None, default None
        The number of elements; None: the compiled code gets array.size.
    device : int or None, default None
        The GPU that reads; None: the CPU.

    Raises
    ------
    ValueError
        When the compiled code would read something else. Users' arrays have passed `contiguous` before.
    """
    if array.dtype != dtype:
        wrong = f"has dtype {array.dtype}, not {np.dtype(dtype)}"
    elif not array.flags.c_contiguous:
        wrong = f"is not in C order: shape {array.shape}, strides {array.strides}"
    elif size is not None and array.size != size:
        wrong = f"has {array.size} entries, not {size}"
    elif (where := device_of(array)) != device:
        wrong = f"is on {device_name(where)}, not on {device_name(device)}"
    else:
        begin = begin_of(array)
        if not begin % array.dtype.alignment:
            return begin
        wrong = f"is not aligned: it begins at {begin:#x}"
    raise ValueError(f"an array for compiled code {wrong}")


def begin_of(array: Array) -> int:
    """Return the address of an array's memory."""
    begin: int = _cpu.address_of(array) if isinstance(array, np.ndarray) else array.data.ptr
    return begin


def fill_bytes(memory: Any, begin: int, first: Any, size: int) -> None:
    """Fill `size` bytes of an array on a GPU: with the first ones, a NumPy array, and then with zeros.

    `cupy.asarray` takes several times as long as this copy, because it allocates pinned memory first.
    """
    data = memory.data + begin
    data.copy_from_host_async(begin_of(first), first.nbytes)  # it has read the host's memory when it returns
    (data + first.nbytes).memset_async(0, size - first.nbytes)


def bytes_on_host(memory: Array, begin: int, end: int) -> Any:
    """Return a NumPy copy of a part of an array of bytes; of a GPU's memory, when the work before it is done."""
    if isinstance(memory, np.ndarray):
        return memory[begin:end].copy()
    copy = np.empty(end - begin, np.uint8)
    stream = array_namespace(memory).cuda.get_current_stream()
    (memory.data + begin).copy_to_host_async(begin_of(copy), copy.nbytes, stream)
    stream.synchronize()
    return copy


def array_view(memory: Array, offset: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Return the array that begins at an offset, in bytes, into an array of bytes, without a copy."""
    if isinstance(memory, np.ndarray):
        return np.ndarray(shape, dtype, memory, offset)
    return array_namespace(memory).ndarray(shape, dtype, memory.data + offset)


def device_name(device: int | None) -> str:
    """Return a device's name."""
    return "cpu" if device is None else f"cuda:{device}"
