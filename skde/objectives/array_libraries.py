"""Functions of PyTorch and JAX as objectives on NumPy and CuPy arrays, by DLPack and without copies."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skde.typing import Array
from skde.utils.arrays import array_namespace, share_array


@dataclass(frozen=True)
class TorchFunction:
    """A function of PyTorch's tensors as one of arrays; see `from_torch`.

    Attributes
    ----------
    function : callable
        The function of tensors.
    pools : dict of int to torch.cuda.MemPool
        For each GPU, the memory that a recorded function uses. Nothing else may take it, because a replay writes to it.
    """

    function: Callable[..., Any]
    pools: dict[int, Any] = field(default_factory=dict, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the memory of GPUs."""
        return {"function": self.function, "pools": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take what `__getstate__` returned."""
        vars(self).update(state)

    def __call__(self, *arrays: Array) -> Any:
        """Return the values of the function, in the library of the arrays."""
        import torch

        xp = array_namespace(arrays[0])
        with ExitStack() as contexts:
            if xp is not np:
                self._use_stream(torch, xp, arrays[0].device.id, contexts)
            values = self.function(*(torch.from_dlpack(writable(array)) for array in arrays))
            # Inside of the contexts: CuPy waits for PyTorch's current stream, which is then its own.
            return share_array(values.detach() if isinstance(values, torch.Tensor) else values, xp)

    def _use_stream(self, torch: Any, xp: Any, device: int, contexts: ExitStack) -> None:
        """Let PyTorch work on CuPy's current stream, so that work and memory are used in one order."""
        pointer, current = xp.cuda.get_current_stream().ptr, torch.cuda.current_stream(device)
        if pointer == current.cuda_stream:
            return
        if pointer == 0:
            contexts.enter_context(torch.cuda.stream(torch.cuda.default_stream(device)))
            return
        stream = torch.cuda.ExternalStream(pointer, device=device)
        contexts.enter_context(torch.cuda.stream(stream))
        if not torch.cuda.is_current_stream_capturing():
            stream.wait_stream(current)  # the function may use tensors that are still computed there
        if device not in self.pools:
            self.pools[device] = torch.cuda.MemPool()
        contexts.enter_context(torch.cuda.use_mem_pool(self.pools[device], device=device))


@dataclass(frozen=True)
class JaxFunction:
    """A function of JAX's arrays as one of NumPy's or CuPy's; see `from_jax`.

    Attributes
    ----------
    function : callable
        The function of JAX's arrays.
    """

    function: Callable[..., Any]

    def __call__(self, *arrays: Array) -> Any:
        """Return the values of the function, in the library of the arrays."""
        import jax

        xp = array_namespace(arrays[0])
        if xp is not np and xp.cuda.get_current_stream().is_capturing():
            raise RuntimeError("JAX launches its work on its own streams, which a recording does not contain")
        return share_array(self.function(*(jax.numpy.from_dlpack(writable(array)) for array in arrays)), xp)


def writable(array: Array) -> Array:
    """Return an array, or a copy of one that is read-only, as data of models are: DLPack does not export these."""
    return array.copy() if isinstance(array, np.ndarray) and not array.flags.writeable else array


def from_torch(function: Callable[..., Any]) -> TorchFunction:
    """Return a function of PyTorch's tensors as an objective.

    Points and values are handed over by DLPack, without a copy. On a GPU the function runs on the stream of the fit: it
    can be recorded as a CUDA graph (`execution`). It may multiply matrices there, which CuPy's functions cannot do in a
    recording.

    Parameters
    ----------
    function : callable
        f(X) -> values, of a tensor of shape (n, dim) on the CPU or on the device of the fit; or a constraint's
        function, or f(X, Y) of a game. Tensors that it has created before have to be on that device. The gradient of
        its values is not used.

    Returns
    -------
    objective : callable
        Function of NumPy and CuPy arrays. Two of them are equal where their functions are equal.

    Notes
    -----
    A recording needs PyTorch 2.6 or newer. Random numbers of PyTorch and copies to the host cannot be recorded.

    Examples
    --------
    >>> from skde import Minimizer, from_torch
    >>> sphere = from_torch(lambda X: (X * X).sum(dim=1))
    >>> m = Minimizer(max_iter=100, random_state=0)
    >>> m.fit(sphere, bounds=[(-5, 5)] * 3)  # doctest: +SKIP
    """
    return TorchFunction(function)


def from_jax(function: Callable[..., Any]) -> JaxFunction:
    """Return a function of JAX's arrays as an objective.

    Points and values are handed over by DLPack, without a copy where JAX needs none. A function under ``jax.jit`` is
    called once a generation: JAX's work cannot be recorded as a CUDA graph.

    Parameters
    ----------
    function : callable
        f(X) -> values, of an array of shape (n, dim) on the CPU or on the device of the fit; or a constraint's
        function, or f(X, Y) of a game. It must not donate its arguments.

    Returns
    -------
    objective : callable
        Function of NumPy and CuPy arrays. Two of them are equal where their functions are equal.

    Notes
    -----
    JAX computes in single precision unless ``jax.config.update("jax_enable_x64", True)`` was called before. On a GPU it
    reserves most of the memory at its start, unless the environment has XLA_PYTHON_CLIENT_PREALLOCATE=false.

    Examples
    --------
    >>> from skde import Minimizer, from_jax
    >>> sphere = from_jax(lambda X: (X * X).sum(axis=1))
    >>> m = Minimizer(max_iter=100, random_state=0)
    >>> m.fit(sphere, bounds=[(-5, 5)] * 3)  # doctest: +SKIP
    """
    return JaxFunction(function)
