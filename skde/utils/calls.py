"""Turn the calls that somebody else's loop makes into requests, which are answered one at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, nullcontext
from queue import SimpleQueue
from typing import Any, TypeVar

Question = TypeVar("Question")
Answer = TypeVar("Answer")
Result = TypeVar("Result")


class Closed(BaseException):
    """Ends work whose further requests will not be answered."""


def yield_calls(
    work: Callable[[Callable[[Question], Answer]], Result],
    context: Callable[[], AbstractContextManager[Any]] = nullcontext,
) -> Generator[Question, Answer, Result]:
    """Yield the argument of every call of a function that `work` is given, and return what `work` returns.

    `work` runs in a thread of its own, in turn with the caller: only one of them runs at any time. So a method of
    SciPy, which calls a function, can stop in the middle until somebody else has found a value.

    Parameters
    ----------
    work : callable
        Takes the function; an exception of it is raised here.
    context : callable, default nullcontext
        Returns the context that is entered while `work` runs, and left while the caller does.
    """
    questions: SimpleQueue[tuple[str, Any]] = SimpleQueue()
    answers: SimpleQueue[Any] = SimpleQueue()

    def call(question: Question) -> Answer:
        questions.put(("question", question))
        answer: Answer = answers.get()
        if answer is Closed:
            raise Closed
        return answer

    def run() -> None:
        try:
            questions.put(("result", work(call)))
        except BaseException as error:
            questions.put(("error", error))

    thread = threading.Thread(target=run, daemon=True, name="skde-calls")
    with context():
        thread.start()
        kind, item = questions.get()
    try:
        while kind == "question":
            answer = yield item
            with context():
                answers.put(answer)
                kind, item = questions.get()
    finally:
        if thread.is_alive():
            answers.put(Closed)
            thread.join()
    if kind == "error":
        raise item
    result: Result = item
    return result
