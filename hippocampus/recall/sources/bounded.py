"""Calls one source within bounds of time and size: its text, or a sentence about the failure.

Whatever a source raises, returns or waits for ends here.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from threading import Thread
from typing import Any

from hippocampus.formats.content import text_of
from hippocampus.recall.sources.plan import SourcePlan, Unavailable

MAX_REASON_CHARACTERS = 300
"""The most characters of a failure's reason: the model reads it."""


def call_bounded(call: Callable[[], Any], plan: SourcePlan) -> str:
    """Return what a source returns: its text, the text of its blocks, or its value as JSON.

    A coroutine is run to its end. A source that takes too long is abandoned in its thread.

    Raises:
        Unavailable: it fails, takes too long, or returns too much or no text.

    """
    result: Future[Any] = Future()
    Thread(target=_run, args=(result, call), daemon=True).start()
    try:
        value = result.result(plan.timeout_seconds)
    except Unavailable:
        raise
    except Exception as failure:  # a host's source may raise anything; the next source may answer
        late = not result.done()
        why = f"{type(failure).__name__}: {failure}"[:MAX_REASON_CHARACTERS]
        reason = f"took over {plan.timeout_seconds:g} seconds" if late else f"failed: {why}"
        raise Unavailable(reason) from failure
    try:
        text = _text(value)
    except (TypeError, ValueError, RecursionError) as failure:
        raise Unavailable("returned neither text nor JSON") from failure
    if len(text.encode("utf-8", "replace")) > plan.largest_bytes:
        raise Unavailable(f"returned more than {plan.largest_bytes:,} bytes")
    return text


def _run(result: Future[Any], call: Callable[[], Any]) -> None:
    try:
        value = call()
        result.set_result(_ended(value) if inspect.isawaitable(value) else value)
    except Exception as failure:  # noqa: BLE001 - raised again in the thread that waits
        result.set_exception(failure)
    except BaseException as end:  # noqa: BLE001 - an exit ends this thread and not the host's loop
        result.set_exception(Unavailable(f"the source ended with {end!r}"))


def _ended(value: Awaitable[Any]) -> Any:
    import asyncio

    async def awaited() -> Any:
        return await value

    return asyncio.run(awaited())


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    blocks = isinstance(value, list) and all(isinstance(each, dict) for each in value)
    return (text_of(value) if blocks else "") or json.dumps(value, ensure_ascii=False)
