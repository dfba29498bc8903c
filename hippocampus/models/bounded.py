"""A call of a model, or of the user's code, that may hang: made in a thread that may be left."""

from __future__ import annotations

import functools
import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from hippocampus.errors import HippocampusError

Result = TypeVar("Result")


def in_thread(call: Callable[[], Result]) -> Future[Result]:
    """Start a call in a thread of its own; a late one ends by itself, at the latest with the process."""
    future: Future[Result] = Future()

    def attempt() -> None:
        try:
            future.set_result(call())
        except BaseException as failure:  # noqa: BLE001 - raised again in the thread that waits
            future.set_exception(failure)

    threading.Thread(target=attempt, name="hippocampus-model", daemon=True).start()
    return future


def within(seconds: float, call: Callable[..., Result], *arguments: Any) -> Result | None:
    """Return what a call returns, or nothing where it fails or takes longer, which is logged.

    Raises:
        Exception: the call failed for another reason than its model, network or disk.
    """
    log, future = logging.getLogger(__name__), in_thread(functools.partial(call, *arguments))
    try:
        return future.result(seconds)
    except (HippocampusError, OSError, ValueError) as failure:
        if future.done():
            log.warning("%s failed: %s", name_of(call), failure)
        else:
            log.warning("no answer from %s within %.3g seconds", name_of(call), seconds)
        return None


def name_of(call: object) -> str:
    """Return the name of a model: its attribute `model`, or else its own."""
    return str(
        getattr(call, "model", None) or getattr(call, "__qualname__", None) or type(call).__name__
    )
