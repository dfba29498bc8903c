"""A call of the user's code that may hang, given a time. Nothing else is here."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")
FAILURES: tuple[type[Exception], ...] = (OSError, TimeoutError, ValueError)


def within(seconds: float, call: Callable[..., Result], *arguments: Any) -> Result | None:
    """Return what a call returns, or nothing where it fails or takes longer; a late call ends by itself.

    Raises:
        Exception: the call failed for another reason than its model, network or disk.

    """
    import logging

    from hippocampus.errors import HippocampusError

    log = logging.getLogger(__name__)
    done: list[Result] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(call(*arguments))
        except BaseException as failure:  # noqa: BLE001 - it is raised again by the thread that waits
            failed.append(failure)

    worker = threading.Thread(target=run, name="hippocampus-model", daemon=True)
    worker.start()
    worker.join(seconds)
    if done:
        return done[0]
    if not failed:
        log.warning("no answer from %s within %.3g seconds", name_of(call), seconds)
        return None
    if not isinstance(failed[0], (HippocampusError, *FAILURES)):
        raise failed[0]
    log.warning("%s failed: %s", name_of(call), failed[0])
    return None


def name_of(call: object) -> str:
    """Return the name of a model: its attribute `model`, or else its own."""
    return str(
        getattr(call, "model", None) or getattr(call, "__qualname__", None) or type(call).__name__
    )
