"""The lasting statements of a session, by rules: a conversation and its entries in, `Extracted` out.

Pure. Only what the user or the host said may become a claim, which supersedes others; what the
assistant or a tool said is kept word by word, with little importance, and never as a preference.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from hippocampus.consolidation.caution import allowed_by, speaks_of_secret, without_secrets
from hippocampus.consolidation.transcript import Transcript, Utterance
from hippocampus.entries.decay import strength
from hippocampus.entries.entry import Record, content_key, storable
from hippocampus.entries.origin import AdoptedOrigin
from hippocampus.facts import write
from hippocampus.facts.languages import expression
from hippocampus.facts.pasted import MAX_CHARACTERS, MAX_WRITTEN, Written, by_author
from hippocampus.facts.sentences import sentences, without_recalled
from hippocampus.facts.statements import joined, read, type_of, worded_as
from hippocampus.facts.topics import is_own
from hippocampus.facts.words import SIGN_OR_WORD
from hippocampus.policy import Policy, Subject
from hippocampus.session.resources import Speaker
from hippocampus.storage.facts.rows import HEARSAY, Item, Origin

MESSAGE = "event"
"""The kind of a message that is stored verbatim."""
UPDATE = "update"
"""The kind of a sentence that is kept, as a fact, only if it ends an earlier one."""
PASTED = "pasted"
"""The kind of the pasted part of a user's message: stored verbatim, it claims nothing."""
SENTENCE_CHARACTERS = 1_000
"""A claim is cut after these."""
CLAIM_CHARACTERS = 300
"""A longer sentence is no plain statement of a preference or a decision."""
USER_CHARACTERS = 4_000
ASSISTANT_CHARACTERS = 1_000
"""Messages are kept word by word up to these."""
MAX_READ = 100_000
"""How many characters of the newest messages one consolidation reads; of a long one only a part counts."""
MAX_CLAIMS = 200
"""How many claims one consolidation keeps, of the newest."""
MIN_WORDS, OPENING_CHARACTERS = 2, 200
"""A message that begins with fewer words states nothing by itself."""
CALL_CHARACTERS = 120
KEY_CHARACTERS = 32
IMPORTANCE = {"user": 0.7, "host": 0.5, "assistant": 0.3, "tool": 0.2}
OF_USER = {"preference": 0.9, "correction": 0.8, "decision": 0.8, MESSAGE: 0.4, PASTED: 0.4}
"""The importance of a statement of the user, by kind, where it differs."""
PROMPT_CHARACTERS = 12_000
"""The newest sentences of the user are decided on, as many as fit."""


Extracted = dict[str, write.MemoryRequest]
"""The statements that outlive a session, by their keys: a `fact` may supersede others, a message is `only_if_no_fact`."""


def key_of(session: str, origin: str, text: str) -> str:
    """Return the key of a kept text: one that is repeated in a session counts once."""
    return content_key(f"{session}\0{origin}\0{text}".encode("utf-8", "backslashreplace"))[
        :KEY_CHARACTERS
    ]


def extracted(  # noqa: PLR0913, PLR0917 - one parameter a field
    session: str, text: str, kind: str, origin: Speaker, turn: int, entry_id: str = ""
) -> tuple[str, write.MemoryRequest]:
    """Return a statement after its key; a message, or a part of it, is known apart from a claim of its words.

    Only what the user said and names no secret is a claim.
    """
    text = storable(text).strip()
    key = key_of(session, f"{origin} {kind in {MESSAGE, PASTED}}", text)
    item = Item(
        text,
        type={UPDATE: "fact", PASTED: "note"}.get(kind, kind),
        intensity=(OF_USER if origin == "user" else {}).get(kind, IMPORTANCE[origin]),
        tags=(HEARSAY,) if kind == PASTED else (),
        origin=Origin(storable(session), turn, entry_id, origin),
    )
    is_message = kind in {MESSAGE, PASTED}
    if is_message or origin != "user" or speaks_of_secret(text):
        return key, replace(write.verbatim(item), only_if_no_fact=is_message)
    return key, replace(write.claim(item), only_if_ending=kind == UPDATE)


def worth_keeping(
    session: str, transcript: Transcript, records: Sequence[Record], policy: Policy, turn: int
) -> Extracted:
    """Return the statements that outlive a session, no text twice, in their order."""
    allows = allowed_by(transcript.results)
    stored = {record.content: record.entry.id for record in records}
    found: list[tuple[str, write.MemoryRequest]] = []
    for said in _newest(transcript.utterances):
        if said.role == "user":
            entry_id = stored.get(content_key(said.text.encode("utf-8", "surrogatepass")), "")
            found += [
                extracted(session, text, kind, "user", said.turn, entry_id)
                for text, kind in _of_user(
                    by_author(said.text, is_announced=said.is_announced), policy
                )
            ]
        elif said.answers:
            text = without_secrets(without_recalled(said.text)[:ASSISTANT_CHARACTERS])
            if transcript.results:  # an answer repeats what it has from elsewhere
                text = " ".join(filter(allows, sentences(text)))
            if len(SIGN_OR_WORD.findall(text[:OPENING_CHARACTERS])) >= MIN_WORDS:
                found.append(extracted(session, text, MESSAGE, "assistant", said.turn))
    for record in records:
        if text := _of_record(record, policy, turn):
            entry = record.entry
            origin: Speaker = "host" if entry.type == "state" else "tool"
            found.append(extracted(session, text, "note", origin, entry.source.turn, entry.id))
    first: Extracted = {}
    for key, request in found:
        if SIGN_OR_WORD.search(request.item.content):
            first.setdefault(key, request)
    claims = [key for key, request in first.items() if request.kind == "fact"]
    too_many = set(claims[:-MAX_CLAIMS])
    return {key: request for key, request in first.items() if key not in too_many}


def _newest(utterances: Sequence[Utterance]) -> list[Utterance]:
    """Return the newest utterances that fit what one consolidation reads."""
    left, fitting = MAX_READ, []
    for utterance in reversed(utterances):
        size = min(len(utterance.text), MAX_CHARACTERS)
        left -= size if size <= MAX_WRITTEN else MAX_WRITTEN + size // 10
        if left < 0:
            break
        fitting.append(utterance)
    return fitting[::-1]


def _of_user(said: Written, policy: Policy) -> Iterator[tuple[str, str]]:
    """Yield the claims of a user's message and its words, each with its kind."""
    kinds: dict[str, str] = {}
    text = said.own
    if _is_instruction(text, policy):
        for sentence in sentences(text):
            is_denied = expression("{forgotten}").search(sentence) or read(sentence).hearsay
            if _is_instruction(sentence, policy) and not is_denied:
                kind = type_of(sentence)
                # An instruction that is worded as nothing else is a preference.
                kinds.setdefault(_claim(sentence), "preference" if kind == "fact" else kind)
    whole = without_secrets(text[:USER_CHARACTERS])
    for sentence in joined(one for one in sentences(whole) if len(one) <= CLAIM_CHARACTERS):
        if kind := _kind_of(sentence):
            kinds.setdefault(_claim(sentence), kind)
    yield from kinds.items()
    is_claim = kinds.get(" ".join(whole.split()), UPDATE) != UPDATE
    if len(SIGN_OR_WORD.findall(text[:OPENING_CHARACTERS])) >= MIN_WORDS and not is_claim:
        yield whole, MESSAGE
    if len(SIGN_OR_WORD.findall(said.pasted[:OPENING_CHARACTERS])) >= MIN_WORDS:
        yield without_secrets(said.pasted[:USER_CHARACTERS]), PASTED


def _claim(sentence: str) -> str:
    return without_secrets(" ".join(sentence.split())[:SENTENCE_CHARACTERS])


def _is_instruction(text: str, policy: Policy) -> bool:
    return bool(policy.resolve(Subject("message", source_type="user", text=text)).persist)


def _of_record(record: Record, policy: Policy, turn: int) -> str:
    """Return the text of a state of the task, or of a result that persists and is strong by then."""
    entry = record.entry
    if isinstance(record.origin, AdoptedOrigin):
        return ""
    if entry.type == "state":
        return without_secrets(entry.summary)
    lasts = entry.type == "tool_result" and entry.lifecycle.persist
    if not lasts or strength(entry, turn, policy.exponent, policy.initial_strength) < policy.strong:
        return ""
    named = f"{record.tool} {' '.join(record.arguments.split())[:CALL_CHARACTERS]}".strip()
    return without_secrets(f"{named}: {record.kind}, {record.tokens} tokens")


def _is_statement(sentence: str) -> bool:
    return (
        not sentence.endswith(("?", "？", "؟")) and len(SIGN_OR_WORD.findall(sentence)) >= MIN_WORDS
    )


def _kind_of(sentence: str) -> str:
    """Return the type of a lasting statement, `UPDATE`, or nothing; another person's words state nothing."""
    if not _is_statement(sentence):
        return ""
    statement = read(sentence)
    if statement.hearsay or expression("{forgotten}").search(sentence):
        return ""
    if kind := worded_as(sentence):
        return kind
    if is_own(sentence) and (statement.asserts or expression("{lasting}").search(sentence)):
        return "fact"
    return UPDATE if statement.may_end else ""


# For a model ---------------------------------------------------------------------------------------


def statements(session: str, said: Sequence[Utterance]) -> Extracted:
    """Return the user's newest sentences that fit one prompt, for a model that decides what they end."""
    found: list[tuple[str, write.MemoryRequest]] = []
    left = PROMPT_CHARACTERS
    for utterance in reversed(_newest(said)):
        own = by_author(utterance.text, is_announced=utterance.is_announced).own
        for sentence in reversed(list(joined(sentences(own)))):
            text = _claim(sentence)
            if len(text) > CLAIM_CHARACTERS or not _is_statement(text) or speaks_of_secret(text):
                continue
            left -= len(text)
            if left < 0:
                return dict(found[::-1])
            found.append(extracted(session, text, type_of(text), "user", utterance.turn))
    return dict(found[::-1])
