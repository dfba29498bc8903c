"""One source asked within its time and its size: text, or a sentence on why there is none.

Whatever a source raises, returns or waits for ends here; which source is asked is the plan's.
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

MOST_CHARACTERS = 300
"""What is told of a failure, at most: a model reads it."""


def ask(call: Callable[[], Any], plan: SourcePlan) -> str:
    """Return what a source gives: its text, the text of its blocks, or its value as JSON.

    A coroutine is run to its end. A source that takes too long is left to itself.

    Raises:
        Unavailable: it fails, takes too long, or gives too much or no text.

    """
    result: Future[Any] = Future()
    Thread(target=_run, args=(result, call), daemon=True).start()
    try:
        value = result.result(plan.timeout_seconds)
    except Unavailable:
        raise
    except Exception as failure:  # whoever wrote the source: whatever it raises, others may answer
        late = not result.done()
        why = f"{type(failure).__name__}: {failure}"[:MOST_CHARACTERS]
        told = f"took over {plan.timeout_seconds:g} seconds" if late else f"failed: {why}"
        raise Unavailable(told) from failure
    return _limited(value, plan.largest_bytes)


def _run(result: Future[Any], call: Callable[[], Any]) -> None:
    try:
        value = call()
        result.set_result(_ended(value) if inspect.isawaitable(value) else value)
    except Exception as failure:  # noqa: BLE001 - handed on to the thread that waits
        result.set_exception(failure)
    except BaseException as end:  # noqa: BLE001 - it ends this thread and not the host's loop
        result.set_exception(Unavailable(f"the source ended with {end!r}"))


def _ended(value: Awaitable[Any]) -> Any:
    import asyncio

    async def awaited() -> Any:
        return await value

    return asyncio.run(awaited())


def _limited(value: Any, largest_bytes: int) -> str:
    try:
        text = _text(value)
    except (TypeError, ValueError, RecursionError) as failure:
        raise Unavailable("returned what is neither text nor JSON") from failure
    if len(text.encode("utf-8", "replace")) > largest_bytes:
        raise Unavailable(f"returned more than {largest_bytes:,} bytes")
    return text


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    blocks = isinstance(value, list) and all(isinstance(each, dict) for each in value)
    return (text_of(value) if blocks else "") or json.dumps(value, ensure_ascii=False)
