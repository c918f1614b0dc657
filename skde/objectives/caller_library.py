"""Arrays of the caller's library, as scikit-learn's `array_api_dispatch` has them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import get_config

from skde.objectives.array_libraries import JaxFunction, TorchFunction, from_jax, from_torch
from skde.typing import Array
from skde.utils.arrays import GPU_MEMORY, array_namespace, share_array, to_numpy


@dataclass(frozen=True)
class CallerLibrary:
    """The array library and the device of the bounds, or of the first points, that a caller gives.

    Attributes
    ----------
    namespace : module
        PyTorch, or the array API namespace of another library.
    device : object
        The device, as the library has it.
    on_gpu : bool
        Whether this device is a GPU.
    """

    namespace: Any
    device: Any
    on_gpu: bool

    @classmethod
    def of(cls, *given: Any) -> CallerLibrary | None:
        """Return the library of arrays; None for NumPy's, for none, and where `array_api_dispatch` is off.

        Raises
        ------
        ValueError
            For arrays of two libraries or devices.
        """
        if not get_config().get("array_api_dispatch"):
            return None
        found = [
            cls(namespace, one.device, int(one.__dlpack_device__()[0]) in GPU_MEMORY)
            for one in given
            if (namespace := namespace_of(one)) is not None
        ]
        for other in found[1:]:
            if other != found[0]:
                raise ValueError(f"bounds and x0 must be arrays of one library and device, got {found[0]} and {other}")
        return found[0] if found else None

    def __str__(self) -> str:
        return f"{self.namespace.__name__} on {self.device}"

    def convert(self, array: Array) -> Any:
        """Return an array of NumPy or CuPy as one of this library, without a copy where it is on this device."""
        if self.on_gpu and isinstance(array, np.ndarray):
            import cupy

            array = cupy.asarray(array)
        return self.namespace.from_dlpack(array)

    def wrap(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function of this library's arrays as one of NumPy's or CuPy's."""
        if isinstance(function, TorchFunction | JaxFunction):
            return function
        name = self.namespace.__name__.partition(".")[0]
        if name == "cupy":
            return function
        if name == "torch":
            return from_torch(function)
        return from_jax(function) if name == "jax" else NamespaceFunction(self.namespace, function)


@dataclass(frozen=True)
class NamespaceFunction:
    """A function of the arrays of an array API namespace as one of NumPy's or CuPy's.

    Attributes
    ----------
    namespace : module
        The namespace.
    function : callable
        The function of its arrays.
    """

    namespace: Any
    function: Callable[..., Any]

    def __call__(self, *arrays: Array) -> Any:
        """Return the values of the function, in the library of the arrays."""
        values = self.function(*(self.namespace.from_dlpack(array) for array in arrays))
        return share_array(values, array_namespace(arrays[0]))


def namespace_of(given: Any) -> Any:
    """Return the namespace of an array of another library than NumPy; None for anything else."""
    if isinstance(given, np.ndarray | np.generic) or not hasattr(given, "__dlpack_device__"):
        return None
    if type(given).__module__.partition(".")[0] == "torch":
        import torch

        return torch
    return given.__array_namespace__() if hasattr(given, "__array_namespace__") else None


def move_to_host(given: Any) -> Any:
    """Return an array of any library as NumPy's; anything else as it is."""
    namespace = namespace_of(given)
    if namespace is None:
        return given
    if int(given.__dlpack_device__()[0]) in GPU_MEMORY:
        import cupy

        return to_numpy(cupy.from_dlpack(given))
    return np.asarray(given.detach() if namespace.__name__ == "torch" else given).copy()
