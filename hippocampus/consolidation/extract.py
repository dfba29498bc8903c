"""The lasting statements of a session, by rules: a conversation and its entries in, `Extracted` out.

Pure. Only what the user or the host said may become a claim, which supersedes others; what the
assistant or a tool said is kept word by word, with little importance, and never as a preference.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Sequence

from hippocampus.consolidation.caution import (
    WORD,
    ToolTexts,
    speaks_of_secret,
    without_secrets,
)
from hippocampus.consolidation.transcript import Transcript, Utterance
from hippocampus.entries.adoption import is_adopted
from hippocampus.entries.decay import strength
from hippocampus.entries.entry import Record, content_key, storable
from hippocampus.facts import judge
from hippocampus.facts.languages import expression
from hippocampus.facts.pasted import MAX_CHARACTERS, MAX_WRITTEN, Written, written
from hippocampus.facts.sentences import sentences, without_recalled
from hippocampus.facts.statements import joined, read, type_of, worded_as
from hippocampus.facts.topics import is_own
from hippocampus.policy import Policy, Subject
from hippocampus.session.ports import Speaker
from hippocampus.storage.ledger import OutboxItem

LOG = logging.getLogger("hippocampus")
MESSAGE = "event"
"""The kind of a message that is stored verbatim."""
UPDATE = "update"
"""The kind of a sentence that is kept, as a fact, only if it ends an earlier one."""
PASTED = "pasted"
"""The kind of what a user's message has from elsewhere, which is stored verbatim and claims nothing."""
SENTENCE_CHARACTERS = 1_000
"""A claim is cut behind these."""
CLAIM_CHARACTERS = 300
"""A longer sentence is no plain statement of a preference or a decision."""
USER_CHARACTERS = 4_000
PASTED_CHARACTERS = ASSISTANT_CHARACTERS = 1_000
"""Messages are kept word by word up to these."""
MAX_READ = 100_000
"""How many characters of the newest messages one consolidation reads; of a long one only a part counts."""
MAX_CLAIMS = 200
"""How many claims one consolidation keeps, of the newest."""
MIN_WORDS = 2
"""A shorter message states nothing by itself."""
IMPORTANCE = {
    ("user", "preference"): 0.9,
    ("user", "correction"): 0.8,
    ("user", "decision"): 0.8,
    ("user", "error"): 0.6,
    ("user", "fact"): 0.7,
    ("user", "note"): 0.6,
    ("user", "update"): 0.7,
    ("user", "event"): 0.4,
    ("host", "note"): 0.5,
    ("assistant", "event"): 0.3,
}
OTHER_IMPORTANCE = 0.2
"""Of everything else, such as all that comes from tools."""
MESSAGE_CHARACTERS = 2_000
PROMPT_CHARACTERS = 24_000
"""The newest messages of the user are asked about, as many as fit."""
FACT_CHARACTERS = 300
MAX_FACTS = 50
SUPPORT = 3
"""Of this number of words of a fact, at least one stands in the message that it is from."""
STEM = 4
_FACT_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]|[^\W\d_]{4,}")
_SENTENCE_END = re.compile(r"[.!?:;]\s+|[。！？；：]")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


def importance(origin: str, kind: str) -> float:
    """Return how much something matters, by its speaker and its type."""
    return IMPORTANCE.get((origin, kind), OTHER_IMPORTANCE)


def key_of(session: str, origin: str, text: str) -> str:
    """Return the key of a kept text: one that is repeated in a session counts once."""
    return content_key(f"{session}\0{origin}\0{text}".encode("utf-8", "backslashreplace"))[:32]


def outbox_item(  # noqa: PLR0913, PLR0917 - one parameter a field
    session: str,
    text: str,
    kind: str,
    origin: Speaker,
    turn: int,
    entry_id: str | None = None,
    *,
    word_by_word: bool = False,
) -> OutboxItem:
    """Return the item of a statement; a message is known apart from a claim of its words."""
    text = storable(text).strip()
    key = key_of(session, f"{origin} {kind == MESSAGE}", text)
    return OutboxItem(key, text, kind, origin, turn, entry_id, int(word_by_word))


def worth_keeping(
    session: str, transcript: Transcript, records: Sequence[Record], policy: Policy, turn: int
) -> list[OutboxItem]:
    """Return the statements that outlive a session, each text once, in their order."""
    tool_texts = ToolTexts(transcript.results)
    stored = {record.content: record.entry.id for record in records}
    found: list[OutboxItem] = []
    for each in _newest(transcript.utterances):
        if each.role == "user":
            entry_id = stored.get(content_key(each.text.encode("utf-8", "surrogatepass")))
            found += [
                outbox_item(session, text, kind, "user", each.turn, entry_id, word_by_word=verbatim)
                for text, kind, verbatim in _of_user(written(each.text), policy)
            ]
        elif each.answers and (text := _of_assistant(each.text, tool_texts)):
            found.append(
                outbox_item(session, text, MESSAGE, "assistant", each.turn, word_by_word=True)
            )
    for record in records:
        text, entry = _of_record(record, policy, turn), record.entry
        if text:
            origin: Speaker = "host" if entry.type == "state" else "tool"
            item = outbox_item(
                session, text, "note", origin, entry.source.turn, entry.id, word_by_word=True
            )
            found.append(item)
    first: dict[str, OutboxItem] = {}
    for item in found:
        if WORD.search(item.text):
            first.setdefault(item.key, item)
    claims = [key for key, item in first.items() if not item.word_by_word]
    for key in claims[:-MAX_CLAIMS]:
        del first[key]
    return list(first.values())


def _newest(utterances: Sequence[Utterance]) -> list[Utterance]:
    """Return the newest utterances that fit what one consolidation reads."""
    left, fitting = MAX_READ, []
    for each in reversed(utterances):
        size = min(len(each.text), MAX_CHARACTERS)
        left -= size if size <= MAX_WRITTEN else MAX_WRITTEN + size // 10
        if left < 0:
            break
        fitting.append(each)
    return fitting[::-1]


def _of_user(said: Written, policy: Policy) -> Iterator[tuple[str, str, bool]]:
    """Yield the claims of a user's message and its words, each with its kind and whether it is kept verbatim."""
    kinds: dict[str, str] = {}
    text = said.text
    if _is_instruction(text, policy):
        for sentence in _with_lists(said):
            is_meant = _is_instruction(sentence, policy)
            if (
                is_meant
                and not expression("{forgotten}").search(sentence)
                and not read(sentence).hearsay
            ):
                kind = type_of(sentence)
                is_other = kind in {"correction", "decision", "error"}
                kinds.setdefault(_claim(sentence), kind if is_other else "preference")
    whole = without_secrets(text[:USER_CHARACTERS])
    for sentence, kind in _claims(whole):
        kinds.setdefault(_claim(sentence), kind)
    yield from ((claim, kind, speaks_of_secret(claim)) for claim, kind in kinds.items())
    is_claim = kinds.get(" ".join(whole.split()), UPDATE) != UPDATE
    if len(WORD.findall(text[:200])) >= MIN_WORDS and not is_claim:
        yield whole, MESSAGE, True
    if len(WORD.findall(said.pasted[:200])) >= MIN_WORDS:
        yield without_secrets(said.pasted[:PASTED_CHARACTERS]), PASTED, True


def _claim(sentence: str) -> str:
    return without_secrets(" ".join(sentence.split())[:SENTENCE_CHARACTERS])


def _is_instruction(text: str, policy: Policy) -> bool:
    subject = Subject("message", source_type="user", text=text, tokens=max(1, len(text) // 4))
    return bool(policy.resolve(subject).persist)


def _of_assistant(text: str, tool_texts: ToolTexts) -> str:
    """Return an answer as it was given, without what it has from elsewhere; empty where that is all."""
    text = without_secrets(without_recalled(text)[:ASSISTANT_CHARACTERS])
    if tool_texts.any:
        text = " ".join(each for each in sentences(text) if tool_texts.allow(each))
    return text if len(WORD.findall(text[:200])) >= MIN_WORDS else ""


def _of_record(record: Record, policy: Policy, turn: int) -> str:
    """Return the text of a state of the task, or of a result that persists and is strong by then."""
    entry = record.entry
    if is_adopted(record):
        return ""
    if entry.type == "state":
        return without_secrets(entry.summary)
    lasts = entry.type == "tool_result" and entry.lifecycle.persist
    if not lasts or strength(entry, turn, policy.exponent, policy.initial_strength) < policy.strong:
        return ""
    named = f"{record.tool} {' '.join(record.arguments.split())[:120]}".strip()
    return without_secrets(f"{named}: {record.kind}, {record.tokens} tokens")


def _with_lists(said: Written) -> Iterator[str]:
    """Yield the sentences of a message, each that announces a list with the list."""
    for place, line in enumerate(said.own):
        *before, last = sentences(line) or [""]
        yield from before
        yield f"{last}{said.lists.get(place, '')}"


def _claims(text: str) -> Iterator[tuple[str, str]]:
    """Yield the sentences of a user that state a preference, a decision, a correction or a fact."""
    for sentence in joined(one for one in sentences(text) if len(one) <= CLAIM_CHARACTERS):
        if kind := _kind_of(sentence):
            yield sentence, kind


def _kind_of(sentence: str) -> str:
    """Return the type of a lasting statement, `UPDATE`, or nothing; another person's words state nothing."""
    if sentence.endswith(("?", "？", "؟")) or len(WORD.findall(sentence)) < MIN_WORDS:
        return ""
    statement = read(sentence)
    if statement.hearsay or expression("{forgotten}").search(sentence):
        return ""
    if kind := worded_as(sentence):
        return kind
    if not is_own(sentence):
        return UPDATE if statement.may_end else ""
    lasts = statement.may_end or expression("{lasting}").search(sentence)
    return "fact" if lasts else ""


# With a model --------------------------------------------------------------------------------------


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
    orders = expression("{orders}")
    if orders.search(fact) and not orders.search(message):
        return False
    stems = set(_stems(message))
    return all(
        SUPPORT * sum(word in stems for word in words) >= len(words)
        for words in map(_stems, _SENTENCE_END.split(fact))
    )


def _stems(text: str) -> list[str]:
    return [word.lower()[:STEM] for word in _FACT_WORD.findall(text)]
