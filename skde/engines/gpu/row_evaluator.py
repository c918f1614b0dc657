"""A compiled objective on a GPU, ready for arrays of one shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from skde.engines.gpu.nvrtc import Launcher
from skde.engines.state.task import Decoding, Task
from skde.typing import Array, FloatArray
from skde.utils.arrays import address


class RowEvaluator:
    """A compiled objective on the rows of arrays of one shape, with its data on the GPU.

    The GPU has to be the current one.

    Parameters
    ----------
    xp : module
        CuPy.
    device : int
        The GPU's number.
    data : (tuple of ndarray, Decoding or None)
        The objective's arrays there, and its typed variables.
    launcher : Launcher
        The kernel and its launch.
    shape : (int, int)
        Rows and columns of the arrays.
    dtype : dtype
        Their precision.
    """

    def __init__(
        self,
        xp: Any,
        device: int,
        data: tuple[tuple[Array, ...], Decoding | None],
        launcher: Launcher,
        shape: tuple[int, int],
        dtype: np.dtype[Any],
    ) -> None:
        self.xp, self.device, self.data, self.launcher = xp, device, data, launcher
        self.shape, self.dtype = shape, dtype
        plan, scratch = launcher.plan, int(launcher.record["scratch"])
        self.workspace = xp.empty(max(1, plan.grid * plan.teams * scratch * shape[1]), dtype)
        task = Task()
        task.fill_data(data[0], dtype, device, data[1])
        self.record = task.record
        self.record["dim"], self.record["workspace"] = shape[1], self.workspace.data.ptr
        self._pinned: tuple[Array, Array, Array] | None = None

    def values(self, x: Array) -> Array:
        """Return the values of the rows of x, an array on the GPU."""
        n, dim = self.shape
        f = self.xp.empty(n, self.dtype)
        self.launcher("evaluate", self.record, np.int64(address(x, self.dtype, n * dim, self.device)), np.int64(n), f)
        return f

    def values_on_host(self, x: FloatArray) -> FloatArray:
        """Return the values of the rows of x, an array on the host, by copies through pinned memory."""
        if self._pinned is None:
            import cupyx

            points, values = (cupyx.empty_pinned(shape, self.dtype) for shape in (self.shape, self.shape[:1]))
            self._pinned = points, values, self.xp.empty(self.shape, self.dtype)
        points, values, on_device = self._pinned
        stream = self.xp.cuda.get_current_stream()
        np.copyto(points, x)
        on_device.set(points, stream)
        self.values(on_device).get(stream, out=values)
        stream.synchronize()
        copy: FloatArray = values.copy()
        return copy
