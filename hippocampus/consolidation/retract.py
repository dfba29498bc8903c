"""What goes from messages with a fact that is struck out: the sentences that say it, wherever they stand.

A message that is left with too little to say goes whole. Nothing is lost before `purge`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from hippocampus.consolidation.llm_extract import SUPPORT
from hippocampus.facts import search
from hippocampus.facts.extraction import sentence_spans
from hippocampus.facts.models import Memory
from hippocampus.facts.store import Facts
from hippocampus.facts.supersession import Rewritten, ended, rewrite
from hippocampus.facts.words import content_words, words

SAID = "event"
"""The type of a message that is kept word by word."""
LEAST_WORDS = 2
_STOPS = ".!。！"


def without(text: str, claims: Iterable[str]) -> str:
    """Return a text without the sentences that say one of these claims.

    >>> without("We use Postgres. I prefer  tabs! Thanks.", ["i prefer tabs."])
    'We use Postgres. Thanks.'
    """
    spans = list(sentence_spans(text))
    said = [match.span() for claim in claims for match in _occurrences(text, claim)]
    left = [
        text[start:end]
        for start, end in spans
        if not any(first < end and start < last for first, last in said)
    ]
    return text if len(left) == len(spans) else "".join(left).strip()


def _occurrences(text: str, claim: str) -> Iterator[re.Match[str]]:
    """Yield where a claim stands as it was said, but for its case, line breaks and last stop."""
    parts = [re.escape(word) for word in claim.rstrip(_STOPS).split()]
    if parts:
        said = r"\s+".join(parts)
        yield from re.finditer(rf"(?<!\w){said}(?!\w)", text, re.IGNORECASE)


def withdraw(facts: Facts, gone: Sequence[Memory], reason: str) -> Rewritten:
    """Take facts that a person struck out or reworded out of the messages that say them too.

    In any message of the agent goes each sentence with the fact's words. Where none has them, since
    a model had worded the fact, goes what of the fact's own turn has most of its words.
    """
    shorter: dict[str, str] = {}
    for agent in {each.agent for each in gone}:
        own = [each for each in gone if each.agent == agent]
        for message in facts.memories(agent=agent, kind="memory"):
            left = _left_of(message, own)
            if message.type == SAID and left != message.content:
                shorter[message.id] = left if len(words(left)) >= LEAST_WORDS else ""
    return rewrite(facts, shorter, reason) if shorter else Rewritten((), ())


def _left_of(message: Memory, gone: Sequence[Memory]) -> str:
    left = message.content
    for fact in gone:
        before, left = left, without(left, [fact.content])
        if left == before and _is_source(message, fact):
            left = without(left, _saying(left, fact.content))
    return left


def _is_source(message: Memory, fact: Memory) -> bool:
    """Say whether a fact was taken from a message, as far as their turns tell."""
    return bool(fact.origin.session) and (
        (message.origin.session, message.origin.turn, message.origin.role)
        == (fact.origin.session, fact.origin.turn, fact.origin.role)
    )


def _saying(text: str, claim: str) -> list[str]:
    """Return the sentences that have most of a claim's words, where these are enough to bear it out."""
    wanted = content_words(claim)
    spans = (text[start:end].strip() for start, end in sentence_spans(text))
    shares = {each: search.coverage(wanted, words(each)) for each in spans}
    most = max(shares.values(), default=0.0)
    return [each for each, share in shares.items() if share == most >= 1 / SUPPORT]


def current_words(facts: Facts, message: Memory) -> str:
    """Return what of a message still holds: without the sentences of which the fact has ended."""
    said = [message.content[start:end].strip() for start, end in sentence_spans(message.content)]
    left = without(message.content, ended(facts, said, message.agent))
    return left if left == message.content or len(words(left)) >= LEAST_WORDS else ""
