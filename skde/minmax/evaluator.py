"""The evaluation of the requests of a cycle, and the loop over cycles with values that the host computes."""

from __future__ import annotations

from typing import Any

from skde.engines import MultiDeviceEngine
from skde.fit.execution import Execution, StopRequest, fit_context
from skde.fit.fit import Fit
from skde.fit.watch import Watch
from skde.functions.point_workers import OutOfTime, Part
from skde.minmax.objective import MinMaxObjective
from skde.minmax.partial_request import PartialRequest
from skde.minmax.recording import record_request
from skde.typing import Array
from skde.utils.interrupts import interrupts


class RequestEvaluator:
    """The values of the requests of a fit.

    Values of a function of one pair come one after the other, or from workers in any order, and values of a function of
    arrays run by run. Where something ends the fit between them, they are kept in the request.

    Parameters
    ----------
    fit : Fit
        The fit.
    objective : MinMaxObjective
        The objective.
    watch : Watch
        Ends the fit between values.
    """

    def __init__(self, fit: Fit, objective: MinMaxObjective, watch: Watch) -> None:
        self.fit, self.objective, self.watch = fit, objective, watch

    def values(self, request: PartialRequest) -> Array:
        """Return the values of a request; `OutOfTime` is raised where the fit ends before, but not before the first."""
        if self.watch.stopped or (self.watch.ends() and self.fit.has_results):
            raise OutOfTime
        for part in self.objective.parts(request, self.watch.seconds_left):
            self._keep(request, part)
        if not request.complete:
            self.watch.ends()
            raise OutOfTime
        return request.reply

    def _keep(self, request: PartialRequest, part: Part) -> None:
        """Keep some values, and find out whether something ends the fit."""
        record = record_request(self.fit, request, part.rows, part.values)
        with interrupts.deferred:
            request.put(part.rows, part.values)
            record()
        self.watch.look(request.complete)


def run_cycles(fit: Fit, objective: MinMaxObjective, max_time: float | None, stop: StopRequest | None) -> None:
    """Run cycles with values that the host computes until every run has ended; parameters as in `run_search`."""
    engine: Any = fit.engine
    with fit_context(fit):
        execution = Execution(fit, max_time, stop, 0)
        # Of several devices, each works in a thread, and callbacks are called between cycles only.
        alone = not isinstance(engine, MultiDeviceEngine)
        ends = execution.ends_within if alone else lambda: execution.seconds_left <= 0
        evaluator = RequestEvaluator(fit, objective, Watch(lambda: execution.seconds_left, ends))
        with engine.share(fit.batch, evaluator, "step"):
            execution.run_chunks(even=True)
