"""The sources that a memory knows, and one bounded call of one of them.

A source takes the request and the plan, and returns the content or raises `Unavailable`. Whatever it
raises, returns or waits for ends here.
"""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from importlib import metadata
from threading import Thread
from typing import Any

from hippocampus.errors import nearest
from hippocampus.formats.content import text_of
from hippocampus.policy.rules import Refetch
from hippocampus.recall.sources.plan import FetchRequest, Unavailable

GROUP = "hippocampus.sources"
"""The entry point under which installed packages bring sources."""
MAX_REASON_CHARACTERS = 300
"""The most characters of a failure's reason: the model reads it."""
Source = Callable[[FetchRequest, Refetch], Any]
"""Returns text, or a value that JSON can represent; it may be a coroutine function."""
Tool = Callable[..., Any]
"""A function of the host that takes the call's arguments by name."""


class Sources:
    """The sources that a memory knows, by name."""

    def __init__(self) -> None:
        self._named: dict[str, Source] = {}

    def __call__(self, name: str) -> Callable[[Source], Source]:
        """Register a function as a source: `@sources("tickets")`."""

        def named(source: Source) -> Source:
            self.add(name, source)
            return source

        return named

    def add(self, name: str, source: Source) -> None:
        """Register a source; a later one of the same name replaces it."""
        self._named[name] = source

    def find(self, name: str) -> Source:
        """Return a source by its name: a registered one, else one from an installed package.

        Raises:
            Unavailable: there is none; the error lists the nearest names.

        """
        if name in self._named:
            return self._named[name]
        brought = {each.name: each for each in metadata.entry_points(group=GROUP)}
        if name not in brought:
            near = ", ".join(nearest(name, [*self._named, *brought])) or "none"
            raise Unavailable(f"there is no source {name!r}; like it: {near}")
        try:
            self._named[name] = brought[name].load()
        except Exception as failure:  # a third-party package may raise anything at import
            raise Unavailable(f"the source {name!r} cannot be loaded: {failure}") from failure
        return self._named[name]


class RepeatableTools:
    """The source `tool`: repeats a call, of tools that the host registers as safe to repeat."""

    def __init__(self, tools: Mapping[str, Tool] | None = None) -> None:
        self._tools = dict(tools or {})

    def register(self, name: str, tool: Tool) -> None:
        """Register a tool that only reads, so that the same call may be repeated."""
        self._tools[name] = tool

    def __contains__(self, name: str) -> bool:
        return name in self._tools

    def fetch(self, request: FetchRequest, _plan: Refetch) -> Any:
        """Return the result of the repeated call.

        Raises:
            Unavailable: it is not registered.

        """
        tool = self._tools.get(request.tool)
        if tool is None:
            raise Unavailable(f"{request.tool} is not registered as safe to repeat")
        return tool(**request.arguments)


def call_bounded(call: Callable[[], Any], plan: Refetch) -> str:
    """Return the result of a source: its text, the text of its blocks, or its value as JSON.

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
        if isinstance(value, str):
            text = value
        else:
            is_blocks = isinstance(value, list) and all(isinstance(each, dict) for each in value)
            text = text_of(value) if is_blocks else ""
            text = text or json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as failure:
        raise Unavailable("returned neither text nor JSON") from failure
    if len(text.encode("utf-8", "replace")) > plan.largest_bytes:
        raise Unavailable(f"returned more than {plan.largest_bytes:,} bytes")
    return text


def _run(result: Future[Any], call: Callable[[], Any]) -> None:
    async def ended(value: Any) -> Any:
        return await value

    try:
        value = call()
        result.set_result(asyncio.run(ended(value)) if inspect.isawaitable(value) else value)
    except Exception as failure:  # noqa: BLE001 - raised again in the thread that waits
        result.set_exception(failure)
    except BaseException as end:  # noqa: BLE001 - an exit ends this thread and not the host's loop
        result.set_exception(Unavailable(f"the source ended with {end!r}"))
