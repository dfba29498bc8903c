"""The texts that a recording's calls sent, next to the raw list: the data of an HTML page. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from hippocampus.formats.conversation import Message, Part
from hippocampus.formats.tool_calls import file_read, files_written
from hippocampus.models import tokens
from hippocampus.replay.measure import Measured
from hippocampus.replay.recording import Recording

DIGESTED = "(in the digest above)"


class ViewTexts:
    """The messages of a list, with their versions in the view and the calls that first sent them."""

    def __init__(self) -> None:
        self._raw: list[Message] = []
        self._shown: list[list[tuple[int, Message]]] = []

    def note(self, call: int, pairs: Iterable[tuple[Message, Message]]) -> None:
        """Add the view of a call, as `Session.view_pairs` returns it."""
        for number, (raw, shown) in enumerate(pairs):
            if number == len(self._raw):
                self._raw.append(raw)
                self._shown.append([])
            versions = self._shown[number]
            if not versions or versions[-1][1] is not shown:
                versions.append((call, shown))

    def data(self, recording: Recording, measured: Measured) -> dict[str, Any]:
        """Return the page's data."""
        hidden = [[*call.hidden, *call.hidden_lines] for call in measured.calls]
        return {
            "name": recording.name,
            "about": " · ".join(filter(None, (recording.format, recording.model))),
            "calls": len(hidden),
            "hidden": hidden,
            "messages": list(self._messages(hidden)),
        }

    def _messages(self, hidden: list[list[str]]) -> Iterator[dict[str, Any]]:
        called: dict[str, Part] = {}
        for raw, versions in zip(self._raw, self._shown, strict=True):
            called |= {part.call_id: part for part in raw.parts if part.kind == "call"}
            text, since = _text(raw), versions[0][0]
            ids = (part.call_id for part in raw.parts if part.call_id)
            calls = [called[call_id] for call_id in ids if call_id in called]
            files = [
                name
                for part in calls
                for name in (file_read(part.tool, part.text), *files_written(part.tool, part.text))
            ]
            # A hidden line has its white space collapsed; the raw text is marked as it is.
            spaced = " ".join(text.split())
            shown = [
                (call, _text(message) if message.raw else DIGESTED) for call, message in versions
            ]
            yield {
                "role": raw.role,
                "tools": list(dict.fromkeys(part.tool for part in calls)),
                "files": list(dict.fromkeys(filter(None, files))),
                "tokens": tokens.count_message(raw),
                "call": since,
                "text": text,
                "shown": [(call, None if own == text else own) for call, own in shown],
                "hidden": [
                    call
                    for call, used in enumerate(hidden)
                    if call >= since
                    and raw.role != "assistant"
                    and any(one in spaced for one in used)
                ],
            }


def _text(message: Message) -> str:
    texts = (
        f"{part.tool}({part.text})" if part.kind == "call" else part.text for part in message.parts
    )
    return "\n".join(filter(None, texts))
