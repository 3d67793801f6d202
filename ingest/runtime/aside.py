"""Work that may have to wait for others, in a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

_Result = TypeVar("_Result")


def aside(work: Callable[[], _Result]) -> Future[_Result]:
    """Begin some work; its result, or what it has raised, is in the future.

    Nobody has to wait for it, not even the end of the process.
    """
    future: Future[_Result] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            # For whoever asks for the result.
            future.set_exception(error)

    threading.Thread(target=run, name="aside", daemon=True).start()
    return future
