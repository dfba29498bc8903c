"""Which values a recorded agent took from tool results: the uses by which visibility is measured.

Pure text work over a conversation that is read already; no view is looked at here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from hippocampus.formats.conversation import Message

VALUE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./:@#\-]{4,}[A-Za-z0-9_]|\d[\d.,]{3,}\d")
TELLING = re.compile(r"[0-9_/]|[a-z][A-Z]|(?<=.)\.(?=.)")
"""A digit, an underscore, a slash, an inner dot, or a lower-case letter before an upper-case one."""


def values_of(text: str) -> set[str]:
    """Return the values in a text: names, ids, paths, numbers, as SPEC's measure has them."""
    stripped = (match.strip(".,:;-") for match in VALUE.findall(text))
    return {value for value in stripped if value and TELLING.search(value)}


def uses(messages: Sequence[Message]) -> dict[int, frozenset[str]]:
    """Return, by number of each assistant message, the values that it took from tool results.

    A use is a value that the message writes and whose first appearance is in a tool result.
    """
    from_result: dict[str, bool] = {}
    found: dict[int, frozenset[str]] = {}
    for number, message in enumerate(messages):
        if message.role == "assistant":
            written = values_of("\n".join(message.texts()))
            found[number] = frozenset(value for value in written if from_result.get(value))
        for part in message.parts:
            for value in values_of(
                f"{part.tool}\n{part.text}" if part.kind == "call" else part.text
            ):
                from_result.setdefault(value, part.kind == "result")
    return found
