"""The engine of joblib's workers: processes, or machines through Dask and Ray."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from skde.engines.batch import Batch
from skde.engines.cpu import CpuEngine
from skde.engines.parts import cut, join, ranges
from skde.engines.protocol import ObjectiveLike
from skde.engines.single_device import choose_device
from skde.engines.single_generations import advance, load
from skde.engines.spec import Spec
from skde.interrupts import interrupts
from skde.islands import Step
from skde.stopping import RUNNING


class JoblibEngine(CpuEngine):
    """Runs a batch on the workers of joblib's active backend.

    The batch stays in this process. A worker receives the state of its runs and returns it after some generations;
    migrations between workers happen in this process. Workers keep no state, so that any backend works.

    Parameters
    ----------
    device : str
        The device of every worker; "auto": a GPU if it has one.
    n_jobs : int or None
        Number of workers. None: that of joblib.parallel_config, otherwise one.
    """

    chunk_seconds = 1.0  # a message takes milliseconds

    def __init__(self, device: str, n_jobs: int | None) -> None:
        super().__init__()
        self.device, self.workers = device, n_jobs
        self.name = f"joblib, {device}"

    def apply(self, work: Callable[[Any], Any]) -> Any:
        """Return work(xp), called in one worker with the array library of its device."""
        import joblib

        (answer,) = joblib.Parallel(n_jobs=self.workers)([joblib.delayed(apply_on)(self.device, work)])
        return answer

    @contextmanager
    def share(self, batch: Batch, objective: ObjectiveLike, execution: str) -> Iterator[None]:
        """Return the context in which a batch runs an objective, by "run" or by "step", with the same workers."""
        import joblib

        with joblib.Parallel(n_jobs=self.workers) as parallel:
            batch.program = parallel, objective, execution
            yield

    def run(self, batch: Batch, begin: int, until: int) -> None:
        """Run whole generations up to number `until`, from `begin`, that of the runs furthest behind."""
        import joblib

        rows = ranges(batch.n_runs, min(joblib.effective_n_jobs(self.workers), batch.n_runs))
        islands = batch.spec.shared_islands(rows)
        for g, end in islands.stretches(begin, until):
            if islands.migrates(g):
                with interrupts.deferred:
                    for step in range(Step.EMIGRATE, Step.REORDER + 1):
                        self.migrate(batch, g, step)
            self._advance(batch, rows, g, end)

    def _advance(self, batch: Batch, rows: Sequence[tuple[int, int]], begin: int, until: int) -> None:
        """Run whole generations of the parts with running runs in the workers."""
        import joblib

        parallel, objective, execution = batch.program
        specs, state = batch.spec.parts(rows), batch.state()
        parts = [cut(state, *one) for one in rows]
        running = [k for k, part in enumerate(parts) if (part["status"] == RUNNING).any()]
        done = parallel(
            joblib.delayed(advance_state)(self.device, specs[k], parts[k], objective, execution, begin, until)
            for k in running
        )
        for k, part in zip(running, done, strict=True):
            parts[k] = part
        with interrupts.deferred:
            batch.restore(join(parts))


def apply_on(device: str, work: Callable[[Any], Any]) -> Any:
    """Return work(xp), called on a device, in a worker."""
    return choose_device(device, 1)[0].apply(work)


def advance_state(
    device: str, spec: Spec, state: dict[str, Any], objective: ObjectiveLike, execution: str, begin: int, until: int
) -> dict[str, Any]:
    """Return the state of some runs at generation `until`, in a worker."""
    engine, _ = choose_device(device, 1)
    batch = engine.batch(spec)
    batch.restore(state)
    load(engine, batch, objective, execution)
    advance(engine, batch, objective, execution, begin, until)
    engine.synchronize()
    return batch.state()
