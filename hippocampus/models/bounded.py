"""Calls models and the user's code with a time limit, in threads that may be abandoned."""

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
    """Start a call in a daemon thread, which ends with the process if the call never returns."""
    future: Future[Result] = Future()

    def attempt() -> None:
        try:
            future.set_result(call())
        except BaseException as failure:  # noqa: BLE001 - raised again in the thread that waits
            future.set_exception(failure)

    threading.Thread(target=attempt, name="hippocampus-model", daemon=True).start()
    return future


def within(seconds: float, call: Callable[..., Result], *arguments: Any) -> Result | None:
    """Return the result of a call; None, with a warning in the log, where it fails or takes longer.

    Raises:
        Exception: the call failed for a reason other than its model, network or disk.
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
    """Return the name of a model: its attribute `model`, or the callable's own name."""
    return str(
        getattr(call, "model", None) or getattr(call, "__qualname__", None) or type(call).__name__
    )
