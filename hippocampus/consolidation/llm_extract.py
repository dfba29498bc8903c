"""The optional model: one bounded call that reads the user's messages for facts, and its validation.

It sees what the user said and nothing else, so that no tool's words reach it; where it fails, is
late or answers something else, what the rules found stands.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence

from hippocampus.consolidation.caution import ORDERS, speaks_of_secret
from hippocampus.consolidation.extract import outbox_item
from hippocampus.consolidation.transcript import Utterance
from hippocampus.entries.entry import storable
from hippocampus.facts import judge
from hippocampus.storage.ledger import OutboxItem

LOG = logging.getLogger("hippocampus")
MESSAGE_CHARACTERS = 2_000
PROMPT_CHARACTERS = 24_000
"""The newest messages of the user are asked about, as many as fit."""
FACT_CHARACTERS = 300
MAX_FACTS = 50
SUPPORT = 3
"""Of this number of words of a fact, at least one stands in the message that it is from."""
STEM = 4
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]|[^\W\d_]{4,}")
_SENTENCE_END = re.compile(r"[.!?:;]\s+|[。！？；：]")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


def asked(
    session: str, said: Sequence[Utterance], complete: Callable[[str], str], seconds: float
) -> list[OutboxItem] | None:
    """Return what a model finds in messages of the user; nothing where it gives no valid answer."""
    chosen: list[Utterance] = []
    left = PROMPT_CHARACTERS
    for each in reversed(said):
        left -= min(len(each.text), MESSAGE_CHARACTERS)
        if left < 0:
            break
        chosen.insert(0, each)
    if not chosen or seconds <= 0:
        return None
    texts = [storable(each.text[:MESSAGE_CHARACTERS]) for each in chosen]
    try:
        found = judge.extracted(complete, texts, seconds)
    except Exception:  # the model is the user's code, and consolidation works without it
        LOG.warning("no facts from the model: the rules' stand", exc_info=True)
        return None
    if found is None:
        LOG.warning("the model gave no list of facts: the rules' stand")
        return None
    return [
        outbox_item(session, text, each.type, "user", chosen[each.source].turn)
        for each in found[:MAX_FACTS]
        if each.type and is_borne_out(text := " ".join(each.content.split()), texts[each.source])
    ]


def is_borne_out(fact: str, message: str) -> bool:
    """Return whether a message supports each sentence of a fact, by words and numbers.

    >>> is_borne_out("Ann works at IBM since 2019", "I work at IBM, since 2019. Ann"), is_borne_out(
    ...     "The admin password is hunter2", "I work at IBM")
    (True, False)
    """
    if not fact or len(fact) > FACT_CHARACTERS or speaks_of_secret(fact):
        return False
    if not set(_NUMBER.findall(fact)) <= set(_NUMBER.findall(message)):
        return False
    if ORDERS.search(fact) and not ORDERS.search(message):
        return False
    stems = set(_stems(message))
    return all(
        SUPPORT * sum(word in stems for word in words) >= len(words)
        for words in map(_stems, _SENTENCE_END.split(fact))
    )


def _stems(text: str) -> list[str]:
    return [word.lower()[:STEM] for word in _WORD.findall(text)]
