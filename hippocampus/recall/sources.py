"""Fetches content again from the source that the policy declares.

Degrades as section 7.3 of the protocol demands: the full content, else the stored copy, else the
summary with a note that it is stale, else a clear failure. The session decides on the fetch.
"""

from __future__ import annotations

import difflib
import inspect
import itertools
import json
import os
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

from hippocampus.errors import nearest
from hippocampus.formats.conversation import text_of
from hippocampus.indexing import unwrap
from hippocampus.indexing.unwrap import output_of
from hippocampus.models.bounded import in_thread
from hippocampus.policy.rules import Refetch
from hippocampus.storage.files import NO_LINK, opened

OUTCOMES = ("full", "partial", "failed")
"""How a recall ends, as section 12.2 of the protocol counts it."""
PATH_ARGUMENTS = ("path", "file_path", "file", "filename", "filepath", "target_file", "uri")
MAX_REASON_CHARACTERS = 300
"""The most characters of a failure's reason: the model reads it."""
DIFFERENCE_LINES, DIFFERENCE_CHARACTERS = 40, 4_000
MAX_COMPARED_LINES = 5_000
"""Longer texts get no diff, which would take seconds."""


class Unavailable(Exception):  # noqa: N818 - an answer of a source, not an error in it
    """A source cannot return the content; the text is one sentence with the reason."""


@dataclass(frozen=True, slots=True)
class FetchRequest:
    """The call to repeat."""

    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FetchResult:
    """The result of a fetch, and its source."""

    outcome: Literal["full", "partial", "failed"]
    """The full content, its summary only, or nothing (the protocol's section 12.2)."""
    content: str
    source: str
    """The name of the source, or `store`, `summary`, `nothing`."""
    changed: bool = False
    """Whether it differs from the stored copy."""
    difference: str = ""
    """A unified diff from the stored copy, cut to a few lines."""
    failure: str = ""
    """Why the source has not answered."""


class StoredCopy(NamedTuple):
    """The stored copy of some content, and its summary."""

    read: Callable[[], str | None]
    """Returns the stored text, or None where it is lost."""
    summary: str
    clean: Callable[[str], str] = str
    """Redacts a live content."""


Source = Callable[[FetchRequest, Refetch], Any]
"""Returns text, or a value that JSON can represent; it may be a coroutine function."""
Tool = Callable[..., Any]
"""A function of the host that takes the call's arguments by name."""


Sources = MutableMapping[str, Source]
"""The sources that a memory knows, by name; a host adds its own."""


def known_sources(tools: Mapping[str, Tool]) -> Sources:
    """Return the package's sources: `file`, and `tool`, which repeats a call of `tools`."""

    def repeat(request: FetchRequest, _plan: Refetch) -> Any:
        if request.tool not in tools:
            raise Unavailable(f"{request.tool} is not registered as safe to repeat")
        return tools[request.tool](**request.arguments)

    return {"file": read_file, "tool": repeat}


def fetch(request: FetchRequest, copy: StoredCopy, plan: Refetch, sources: Sources) -> FetchResult:
    """Return the best available version of some content; a source's failure never raises."""
    name = plan.type

    def missing(_request: FetchRequest, _plan: Refetch) -> str:
        near = ", ".join(nearest(name, sources)) or "none"
        raise Unavailable(f"there is no source {name!r}; like it: {near}")

    try:
        present = copy.clean(_answer(sources.get(name, missing), request, plan))
    except Unavailable as reason:
        failure = f"{name}: {reason}"
        if (stored := copy.read()) is not None:
            return FetchResult("full", stored, "store", failure=failure)
        if copy.summary:
            text = f"{copy.summary}\n(stale: only the summary is left; do not rely on it)"
            return FetchResult("partial", text, "summary", failure=failure)
        return FetchResult("failed", "", "nothing", failure=failure)
    stored, same = copy.read(), is_part if name == "file" else is_same
    if stored is None:
        return FetchResult("full", present, name)
    if present == stored or same(stored, present):  # so that the model reads the same text
        return FetchResult("full", stored, name)
    differs = difference(stored, present)
    return FetchResult("full", present, name, changed=True, difference=differs)


def _answer(source: Source, request: FetchRequest, plan: Refetch) -> str:
    """Return the result of the source: its text, the text of its blocks, or its value as JSON.

    A coroutine is run to its end. A source that takes too long is abandoned in its thread.

    Raises:
        Unavailable: it fails, takes too long, or returns too much or no text.
    """

    def ended() -> Any:
        value = source(request, plan)
        if not inspect.isawaitable(value):
            return value
        import asyncio  # here, as in all modules that a turn loads: it takes 30 ms and 10 MB

        async def awaited() -> Any:
            return await value

        return asyncio.run(awaited())

    future = in_thread(ended)
    try:
        failure = future.exception(plan.timeout_seconds)
    except TimeoutError as late:
        raise Unavailable(f"took over {plan.timeout_seconds:g} seconds") from late
    if isinstance(failure, Unavailable):
        raise failure
    if failure is not None:  # a host's source may raise anything, and an exit ends its thread only
        why = f"failed: {type(failure).__name__}: {failure}"[:MAX_REASON_CHARACTERS]
        raised = why if isinstance(failure, Exception) else f"the source ended with {failure!r}"
        raise Unavailable(raised) from failure
    value = future.result()
    try:
        is_blocks = isinstance(value, list) and all(isinstance(block, dict) for block in value)
        text = value if isinstance(value, str) else text_of(value) if is_blocks else ""
        if not text and not isinstance(value, str):
            text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as failure:
        raise Unavailable("returned neither text nor JSON") from failure
    if len(text.encode("utf-8", "replace")) > plan.largest_bytes:
        raise Unavailable(f"returned more than {plan.largest_bytes:,} bytes")
    return text


# The source `file`


def read_file(request: FetchRequest, plan: Refetch) -> str:
    """Return the text of the file that a call names; only files under the policy's folders are opened.

    Raises:
        Unavailable: it is outside the allowed folders, missing, not a plain file, too large or not
            text.
    """
    values = (request.arguments.get(key) for key in PATH_ARGUMENTS)
    named = next((value for value in values if isinstance(value, str) and value), "")
    if not named:
        raise Unavailable(f"the call of {request.tool} names no path")
    if named.startswith("file://"):
        from urllib.request import url2pathname

        try:
            named = url2pathname(urlsplit(named).path)
        except ValueError as wrong:
            raise Unavailable(
                f"{named[:MAX_REASON_CHARACTERS]!r} is not the URL of a file: {wrong}"
            ) from wrong
    path, most = _allowed(named, plan.roots), plan.largest_bytes
    try:  # a pipe, a device and a link that was put there since are refused
        with os.fdopen(opened(path, os.O_RDONLY | NO_LINK), "rb") as file:
            data = file.read(most + 1)
        if len(data) > most:
            raise Unavailable(f"{path.name} is larger than {most:,} bytes")
        return data.decode("utf-8")
    except OSError as failure:
        raise Unavailable(f"{named} cannot be read: {failure.strerror}") from failure
    except UnicodeDecodeError as failure:
        raise Unavailable(f"{named} is not text in UTF-8") from failure


def _allowed(named: str, roots: tuple[str, ...]) -> Path:
    """Return the real path of a file, with links resolved, if it is under a root.

    A relative path starts at the working directory, as for the tool; where that is under no root, it
    starts at the roots in turn.
    """

    def resolved(path: Path) -> Path | None:
        try:
            return path.expanduser().resolve(strict=True)
        except (OSError, ValueError, RuntimeError):
            return None

    folders = [folder for root in roots if (folder := resolved(Path(root))) is not None]
    for base in (Path(), *folders):
        path = resolved(base / named)
        if path is not None and any(map(path.is_relative_to, folders)):
            return path
    raise Unavailable(f"{named} is in none of the folders that the policy allows, or missing")


# The present text and the stored one, without the wrappers of either


def is_same(stored: str, present: str) -> bool:
    """Return whether two texts are equal, or equal as JSON.

    >>> is_same('{"a": 1, "b": 2}', '{"b":2,"a":1}'), is_same("[1]", "[2]")
    (True, False)
    """
    if stored.rstrip() == present.rstrip():
        return True
    value, other = (unwrap.json_and_words(text)[0] for text in (stored, present))
    return value is not None and value == other


def is_part(stored: str, present: str) -> bool:
    r"""Return whether a stored text is a file or some whole lines of it, with or without numbers.

    >>> is_part("2\tb\n3\tc", "a\nb\nc\nd"), is_part("b\nc", "a\nb\nc\nd"), is_part("b", "a\nbc")
    (True, True, False)
    """
    part, first = _captured_lines(stored)
    if not part:
        return not stored.strip() and not present.strip()
    held = present.rstrip().split("\n")
    if first:
        return held[first - 1 : first - 1 + len(part)] == part
    return "\n{}\n".format("\n".join(part)) in "\n{}\n".format("\n".join(held))


def _captured_lines(stored: str) -> tuple[list[str], int]:
    """Return the file's lines in a stored text, and the number of the first; 0 without numbers."""
    body = stored.strip("\n").rstrip()
    output = output_of(body)
    if not output.is_numbered:
        return (body.split("\n") if body else []), 0
    return output.body.split("\n"), output.first_number


def difference(stored: str, present: str) -> str:
    """Return a short unified diff from the stored text to the present one.

    Where the stored text has line numbers, the same lines of the present text are compared.
    """
    before, first = _captured_lines(stored)
    after = present.rstrip().split("\n")
    if first:
        after = after[first - 1 : first - 1 + len(before)]
    if max(len(before), len(after)) > MAX_COMPARED_LINES:
        return f"(changed: {len(before):,} lines then, {len(after):,} lines at present)"
    diff = difflib.unified_diff(before, after, "stored", "present", lineterm="", n=1)
    lines = list(itertools.islice(diff, DIFFERENCE_LINES + 1))
    cut = "\n".join(lines[:DIFFERENCE_LINES])[:DIFFERENCE_CHARACTERS]
    return f"{cut}\n(more differs)" if len(lines) > DIFFERENCE_LINES else cut
