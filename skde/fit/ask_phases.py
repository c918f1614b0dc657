"""Every phase as a user evaluates it: points, values, and whether it is over."""

from __future__ import annotations

from typing import Any

from skde.fit.ask_requests import ask_request, open_request, tell_request
from skde.fit.ask_tell import Constraints, ask, ask_some, poll_stopped, tell, tell_rows
from skde.fit.fit import Fit
from skde.fit.phases.population import Population
from skde.fit.phases.requests import RequestPhase
from skde.typing import Array, IntArray


def ask_phase(fit: Fit, phase: Population | RequestPhase, n: int | None) -> tuple[Array | None, IntArray | None]:
    """Return points of a phase, all or up to n, with their ids where these are some; None where it is over."""
    if isinstance(phase, RequestPhase):
        return ask_request(fit, phase, n)
    return (ask(fit), None) if n is None else ask_some(fit, n)


def tell_phase(fit: Fit, X: Array | None, f: Any, ids: Any, constraints: Constraints) -> None:
    """Note the values of points that `ask_phase` returned."""
    if fit.requests is not None and fit.requests.partial is not None:
        tell_request(fit, fit.requests, X, f, ids, constraints)
    elif ids is None:
        tell(fit, X, f, constraints)
    else:
        tell_rows(fit, X, f, ids, constraints)


def is_over(fit: Fit, phase: Population | RequestPhase) -> bool:
    """Return whether a phase needs no value any more."""
    return open_request(fit, phase) is None if isinstance(phase, RequestPhase) else poll_stopped(fit)
