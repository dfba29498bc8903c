"""What new messages point at and the view no longer shows, put back at its end. Pure.

Strong cues alone count: an id, a value that few payloads have and no text of the view, or words
that describe one payload clearly. What was sent is never touched; committing is the turn's.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from hippocampus import recall
from hippocampus.entries.decision import Decision
from hippocampus.entries.entry import Stage, content_key
from hippocampus.entries.origin import PartOrigin
from hippocampus.errors import RecallError
from hippocampus.formats.conversation import Message
from hippocampus.indexing import frame, price_of
from hippocampus.indexing.shapes import identifiers
from hippocampus.models import tokens
from hippocampus.prices import Prices
from hippocampus.recall.calls import is_named
from hippocampus.recall.lines import MIN_TOKENS
from hippocampus.session.history import History
from hippocampus.session.identifiers import ID
from hippocampus.session.payload import Payload
from hippocampus.session.payloads import Payloads
from hippocampus.session.rules import Rules
from hippocampus.session.view import View
from hippocampus.storage.ledger import Reactivation

CHANCE_OF_USE = 0.33
"""How likely what a strong cue points at is needed: on recordings 10 of 31 saved a recall."""
CONTEXT_LINES = (8, 4, 2, 0)
"""Lines around a value, which are most often of the same record: as many as leave room for it."""
MAX_PLACES = 3
"""A value that stands in more places of a payload points at none of them."""
MAX_NAMES = 3
"""The most names that a reason has."""


@dataclass(slots=True)
class Cue:
    """A payload that is pointed at, and by what."""

    payload: Payload
    names: list[str] = field(default_factory=list)
    """Values of it that a message has and the view does not show."""
    words: str = ""
    """The message that points at it otherwise: by its id, or by a description."""

    @property
    def reason(self) -> str:
        """Say what points at it, without the words of any message."""
        named = ", ".join(self.names[:MAX_NAMES])
        return f"a message names {named}" if named else "a message points at it"

    def slice(self, text: str, max_tokens: int) -> str:
        """Return the part of a payload that is meant, or nothing where there is none that fits."""
        pattern = "|".join(map(re.escape, self.names))
        around = (recall.Request(pattern=pattern, context=lines) for lines in CONTEXT_LINES)
        found = ""
        try:
            for request in around if self.names else (recall.Request(query=self.words),):
                found = recall.take(text, request, max_tokens)
                if all(name in found for name in self.names):
                    break
        except RecallError:
            return ""
        return found


def key_of(message: Message) -> str:
    """Return the hash that names a message together with its number: of all its words."""
    said = "\0".join(f"{part.kind}:{part.call_id}:{part.text}" for part in message.parts)
    return content_key(said.encode("utf-8", "surrogatepass"))


def reactivated(
    view: View, payloads: Payloads, rules: Rules
) -> list[tuple[Reactivation, Decision]]:
    """Return what to put behind the last message, for what the messages since the last call point at."""
    history, first, prices = view.history, view.sent, rules.prices
    if not rules.policy.reactivate_tokens or not _may_end(history, first):
        return []
    room = min(rules.policy.reactivate_tokens, _worth_tokens(view, prices))
    number = len(history.raw) - 1
    key = key_of(history.raw[number])
    found: list[tuple[Reactivation, Decision]] = []
    for cue in cues(view, payloads, first):
        entry_id = cue.payload.id
        shown = _text(history, cue, room)
        weight = rules.count_tokens(shown)
        if not shown or weight > room:
            continue
        room -= weight
        reason = f"shown again: {cue.reason}"
        decision = Decision(entry_id, Stage.INDEXED, reason, -weight, prices.write * weight)
        found.append((Reactivation(number, key, entry_id, history.turn, shown), decision))
    return found


def _may_end(history: History, first: int) -> bool:
    """Return whether the list ends with new messages of others than the model, and no open call."""
    raw = history.raw
    if first >= len(raw) or raw[-1].role not in ("user", "tool"):
        return False
    answers = [at for at in range(first, len(raw)) if raw[at].role == "assistant"]
    behind = raw[answers[-1] if answers else first :]
    calls = {part.call_id for each in behind for part in each.parts if part.kind == "call"}
    return calls <= {
        part.call_id for each in behind for part in each.parts if part.kind == "result"
    }


def cues(view: View, payloads: Payloads, first: int) -> list[Cue]:
    """Return the payloads out of the view that new messages point at, the newest first."""
    history, items = view.history, payloads.items
    new = history.quotable_range(first, len(history.raw))
    found: dict[str, Cue] = {}
    recalled = "\n".join(_said(new, recalls=True))
    visible = functools.cache(lambda name: _is_visible(name, view.shown, first))
    results = "\n".join(part.text for each in new for part in each.parts if part.kind == "result")
    for text in _said(new):
        for name in sorted(identifiers(text) | set(ID.findall(text))):
            for payload in map(items.__getitem__, payloads.index.holders_of(name)):
                if not _is_away(payload, first) or payload.id in recalled:
                    continue
                if name == payload.id:
                    found.setdefault(payload.id, Cue(payload, words=text))
                elif _tells(name, payload, history) and not (visible(name) or name in results):
                    found.setdefault(payload.id, Cue(payload)).names.append(name)
    described = " ".join(part.text for each in new if each.role == "user" for part in each.parts)
    meant = payloads.index.meant_by(described, payloads.index.described)
    if meant is not None and _is_away(items[meant], first) and items[meant].id not in recalled:
        found.setdefault(items[meant].id, Cue(items[meant], words=described))
    shown = {text for each in view.shown for text in each.texts() if text.startswith(AGAIN)}
    fresh = (each for each in found.values() if each.names or not _stands(each, shown))
    return sorted(fresh, key=lambda cue: -cue.payload.message)


AGAIN = "Shown again: "


def _stands(cue: Cue, shown: set[str]) -> bool:
    opening = f"[{cue.payload.record.entry.id} "
    return any(opening in text for text in shown)


def _said(messages: Sequence[Message], *, recalls: bool = False) -> Iterator[str]:
    """Yield the words of user and assistant, calls of tools too; or the recalls alone."""
    for message in messages:
        for part in message.parts:
            spoken = part.kind in ("text", "call") and message.role in ("user", "assistant")
            if spoken and is_named(part.tool) is recalls:
                yield part.text


def _is_away(payload: Payload, first: int) -> bool:
    """Return whether a result has left the view, before these messages came."""
    record = payload.record
    is_result = isinstance(record.origin, PartOrigin) and record.origin.kind == "result"
    return is_result and record.stage is not Stage.FULL and payload.message < first


def _tells(name: str, payload: Payload, history: History) -> bool:
    """Return whether a name points at one place of a payload, and not at half of its lines."""
    return 0 < _content(payload, history).count(name) <= MAX_PLACES


def _content(payload: Payload, history: History) -> str:
    """Return the text of a payload as it may be quoted."""
    return history.quotable(payload.message).parts[payload.part].text


def _is_visible(name: str, shown: Sequence[Message], first: int) -> bool:
    return any(name in text for each in shown[:first] for text in each.texts())


def _text(history: History, cue: Cue, room_tokens: int) -> str:
    """Return the entry as it is shown again, or nothing where no part of it fits."""
    record = cue.payload.record
    opening = frame.first_line(
        record.entry.id, record.tool, record.entry.source.turn, record.tokens, record.kind
    )
    said = f"{AGAIN}{cue.reason}\n{opening}"
    room = room_tokens - tokens.count(said) - 1
    if room < MIN_TOKENS:
        return ""
    found = cue.slice(_content(cue.payload, history), room)
    return f"{said}\n{frame.as_content(found)}" if found else ""


def _worth_tokens(view: View, prices: Prices) -> int:
    """Return how many tokens are worth to be carried: what a recall costs, by the chance of one."""
    price = price_of("text", "normal", prices, view.shown_total, view.history.turn)
    return int(CHANCE_OF_USE * price.recall / price.carry)
