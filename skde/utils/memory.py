"""Available memory, and the refusal of allocations that exceed it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

# Smaller allocations are not checked: reading the available memory takes as long as a small fit.
SMALL = 2**26

MEMINFO = Path("/proc/meminfo")
OWN_GROUPS = Path("/proc/self/cgroup")
GROUPS = Path("/sys/fs/cgroup")


def check_memory(what: str, needed: int, advice: str, xp: Any = np) -> None:
    """Refuse an allocation that exceeds the available memory, before the system ends the process for it.

    Parameters
    ----------
    what : str
        The thing to allocate, for the message.
    needed : int
        Bytes, in addition to those in use.
    advice : str
        A way to need less, for the message.
    xp : module, default numpy
        NumPy, or CuPy for the memory of the current GPU.

    Raises
    ------
    MemoryError
        With the needed and the available memory.
    """
    if needed < SMALL:
        return
    available = host_memory() if xp is np else gpu_memory(xp)
    if available is not None and needed > available:
        where = "" if xp is np else " on the GPU"
        raise MemoryError(
            f"{what} needs {in_units(needed)} of memory, {in_units(available)} is available{where}; {advice}"
        )


def in_units(size: int) -> str:
    """Return a number of bytes with its unit."""
    units = ("B", "KiB", "MiB", "GiB", "TiB")
    size = min(size, 2**1000)  # which a float can hold
    power = min((max(size, 1).bit_length() - 1) // 10, len(units) - 1)
    return f"{size / 1024**power:.3g} {units[power]}"


def host_memory() -> int | None:
    """Return the bytes that the machine and the control groups leave to this process; None: unknown."""
    return min((room for room in (machine_memory(), *group_memory()) if room is not None), default=None)


def gpu_memory(cupy: Any) -> int:
    """Return the free bytes of the current GPU and of CuPy's memory pool."""
    free, _ = cupy.cuda.runtime.memGetInfo()
    return int(free) + int(cupy.get_default_memory_pool().free_bytes())


def machine_memory() -> int | None:
    """Return the machine's free memory and swap or, where these are unknown, all of its memory."""
    try:
        entries = dict(line.split(":", 1) for line in MEMINFO.read_text().splitlines())
        return sum(int(entries[name].split()[0]) * 1024 for name in ("MemAvailable", "SwapFree"))
    except (OSError, LookupError, ValueError):
        pass
    try:
        return int(os.sysconf("SC_PAGE_SIZE")) * int(os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, OSError, ValueError):
        return None


def group_memory() -> Iterator[int]:
    """Give the memory left in the control groups of this process, of both versions, as in a container."""
    for folder, limit, usage in group_folders():
        try:
            most = (folder / limit).read_text().strip()
            if most == "max":
                continue
            statistics = dict(line.split(" ", 1) for line in (folder / "memory.stat").read_text().splitlines())
            used = int((folder / usage).read_text()) - int(statistics.get("inactive_file", 0))
            yield max(int(most) - used, 0)
        except (OSError, ValueError):
            continue


def group_folders() -> Iterator[tuple[Path, str, str]]:
    """Give the folders of the control groups that this process is in, and the names of their two files."""
    try:
        lines = OWN_GROUPS.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, kinds, path = line.split(":", 2)
        if kinds and "memory" not in kinds.split(","):
            continue
        root = GROUPS / "memory" if kinds else GROUPS
        names = ("memory.limit_in_bytes", "memory.usage_in_bytes") if kinds else ("memory.max", "memory.current")
        own = Path(path.lstrip("/"))
        for part in (own, *own.parents):
            yield root / part, *names
