"""The current GPU of a thread."""

from __future__ import annotations

from typing import Any


class CurrentDevice:
    """A context in which a GPU is the calling thread's current one; it can be entered once.

    CuPy's context sets the device each time, which takes microseconds, and a generation enters several contexts. This
    one sets the device only if it is not current. Both contexts use the current device of the CUDA runtime, so they may
    be nested.

    Parameters
    ----------
    runtime : module
        CuPy's runtime.
    device : int
        The GPU's number.
    """

    def __init__(self, runtime: Any, device: int) -> None:
        self.runtime, self.device = runtime, device

    def __enter__(self) -> None:
        self.before: int = self.runtime.getDevice()
        self._use(self.device, self.before)

    def __exit__(self, *error: object) -> None:
        self._use(self.before, self.runtime.getDevice())  # an objective may have changed the current device

    def _use(self, device: int, current: int) -> None:
        if device != current:
            self.runtime.setDevice(device)
