"""What of a session is worth keeping, by rules: a conversation and its entries in, `Found` out.

Pure. Only what the user or the host said may become a claim, which supersedes others; what the
assistant or a tool said is kept word by word, with little importance, and never as a preference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hippocampus.consolidation.error_fixes import resolved
from hippocampus.consolidation.phrases import NO_REQUEST
from hippocampus.consolidation.quotes import Quoted
from hippocampus.consolidation.secrecy import speaks_of_secret, without_secrets
from hippocampus.consolidation.transcript import Transcript, Utterance
from hippocampus.entries.adoption import is_adopted
from hippocampus.entries.decay import strength
from hippocampus.entries.entry import Record, content_key, storable
from hippocampus.entries.origin import PartOrigin
from hippocampus.facts.statements import is_own, own_words, read, sentences, without_recalled
from hippocampus.facts.wording import CORRECTION, DECISION, PREFERENCE, type_of
from hippocampus.policy import Policy, Subject
from hippocampus.session.ports import KeptItem, Speaker

SENTENCE_CHARACTERS = 1_000
"""A claim is cut behind these."""
CLAIM_CHARACTERS = 300
"""A longer sentence is no plain statement of a preference or a decision."""
USER_CHARACTERS = 4_000
ASSISTANT_CHARACTERS = 1_000
"""Messages are kept word by word up to these."""
LEAST_WORDS = 2
"""A shorter message says nothing by itself."""
LISTED_LINES = 12
"""A sentence that ends with a colon takes in so many lines of the list below it."""
SHORT_CHARACTERS = 40
"""A shorter correction means the sentence behind it."""
IMPORTANCE = {
    ("user", "preference"): 0.9,
    ("user", "correction"): 0.8,
    ("user", "decision"): 0.8,
    ("user", "error"): 0.6,
    ("user", "fact"): 0.7,
    ("user", "note"): 0.6,
    ("user", "event"): 0.4,
    ("host", "note"): 0.5,
    ("assistant", "event"): 0.3,
}
LEAST_IMPORTANCE = 0.2
"""Of everything else, so of all that a tool said."""
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]|[^\W_]+")
_LASTING = re.compile(
    r"(?i)\b(?:allergic|allergisch|alérgic[oa]|allergique|аллерги\w+|born (?:in|on)|geboren|nací|né[e]? (?:à|le|en)|родил\w+|i speak|ich spreche|hablo"
    r"|je parle|говорю по|my name is|i['’]m called|ich heiße|me llamo|je m['’]appelle|меня зовут|i['’]m an? [\w-]+$|i am an? [\w-]+$)"
    r"|过敏|我叫|出生|حساسية|اسمي|एलर्जी|मेरा नाम"
)
"""What outlives a session in what people say of themselves, beside where they live and work."""
_NO = re.compile(
    r"(?i)\A\W*(?:no|nope|wrong|actually|correction|nein|falsch|non|sbagliato|não|errado|faux|нет|неверно|不对|不對|错了|錯了|いいえ|違います)"
    r"\s*[,.:;!，、。—-]\s*"
)
_LISTED = re.compile(r"(?:[-*•+]|\d+[.)]|[a-z][.)])\s+")


@dataclass(frozen=True, slots=True)
class Found:
    """One thing worth keeping, and how."""

    kept: KeptItem
    key: str
    word_by_word: bool


def importance(origin: str, kind: str) -> float:
    """Return how much something matters, by who said it and what it is."""
    return IMPORTANCE.get((origin, kind), LEAST_IMPORTANCE)


def key_of(session: str, origin: str, text: str) -> str:
    """Return what names a kept text: said twice in a session, it counts once."""
    return content_key(f"{session}\0{origin}\0{text}".encode("utf-8", "backslashreplace"))[:32]


def worth_keeping(
    session: str, transcript: Transcript, records: Sequence[Record], policy: Policy, turn: int
) -> list[Found]:
    """Return what of a session is to outlive it, each text once, in the order in which it came."""
    collector = _Collector(session, policy, Quoted(each.result for each in transcript.attempts))
    stored = {record.content: record.entry.id for record in records}
    for utterance in transcript.utterances:
        entry_id = stored.get(content_key(utterance.text.encode("utf-8", "surrogatepass")))
        if utterance.role == "user":
            collector.user(utterance, entry_id)
        else:
            collector.assistant(utterance)
    collector.errors(transcript, records)
    for record in records:
        if not is_adopted(record):
            collector.entry(record, turn)
    return list(collector.found.values())


class _Collector:
    """Gathers what is found, by key."""

    def __init__(self, session: str, policy: Policy, quoted: Quoted) -> None:
        self._session = session
        self._policy = policy
        self._quoted = quoted
        self.found: dict[str, Found] = {}

    def user(self, said: Utterance, entry_id: str | None) -> None:
        """Take the claims of a message of the user, and the message."""
        text = own_words(said.text)
        whole = without_secrets(text[:USER_CHARACTERS])
        if self._is_instruction(text):
            for sentence in self._instructions(text):
                if NO_REQUEST.search(sentence) or read(sentence).hearsay:
                    continue
                kind = type_of(sentence)
                kind = kind if kind in {"correction", "decision", "error"} else "preference"
                self._claim(sentence, kind, said.turn, entry_id)
        for sentence, kind in _claims(whole):
            self._claim(sentence, kind, said.turn, entry_id)
        claimed = key_of(self._session, "user False", " ".join(whole.split())) in self.found
        if len(_WORD.findall(text[:200])) >= LEAST_WORDS and not claimed:
            self._add(whole, "event", "user", said.turn, entry_id, word_by_word=True)

    def _is_instruction(self, text: str) -> bool:
        said = Subject("message", source_type="user", text=text, tokens=max(1, len(text) // 4))
        return bool(self._policy.resolve(said).persist)

    def _instructions(self, text: str) -> list[str]:
        """Return the sentences that the policy's words are in; the text where they are in none."""
        asked = [one for one in _with_lists(text) if self._is_instruction(one)]
        return asked or [" ".join(text.split())]

    def _claim(self, sentence: str, kind: str, turn: int, entry_id: str | None) -> None:
        told = without_secrets(" ".join(sentence.split())[:SENTENCE_CHARACTERS])
        self._add(told, kind, "user", turn, entry_id, word_by_word=speaks_of_secret(told))

    def assistant(self, said: Utterance) -> None:
        """Take an answer as it was given, without what it has from elsewhere."""
        if not said.answers:
            return
        text = without_secrets(without_recalled(said.text)[:ASSISTANT_CHARACTERS])
        lasting = [each for each in sentences(text) if self._quoted.may_last(each)]
        told = " ".join(lasting) if self._quoted.any else text
        if len(_WORD.findall(told[:200])) >= LEAST_WORDS:
            self._add(told, "event", "assistant", said.turn, None, word_by_word=True)

    def errors(self, transcript: Transcript, records: Sequence[Record]) -> None:
        """Take the failures that were made good."""
        ids = {_call_of(record): record.entry.id for record in records}
        for each in resolved(transcript.attempts):
            failure = each.failure
            entry_id = ids.get(failure.call_id) if failure.call_id else None
            self._add(each.told(), "error", "tool", failure.turn, entry_id, word_by_word=True)

    def entry(self, record: Record, turn: int) -> None:
        """Take an entry: a state of the task, what the host pinned, what a rule persists."""
        entry = record.entry
        if entry.type == "state":
            told = without_secrets(entry.summary)
            self._add(told, "note", "host", entry.source.turn, entry.id, word_by_word=True)
        elif entry.type == "tool_result" and self._lasts(record, turn):
            named = f"{record.tool} {' '.join(record.arguments.split())[:120]}".strip()
            told = without_secrets(f"{named}: {record.kind}, {record.tokens} tokens")
            self._add(told, "note", "tool", entry.source.turn, entry.id, word_by_word=True)

    def _lasts(self, record: Record, turn: int) -> bool:
        """Say whether an entry is to outlive the session: persistent, and strong by then."""
        policy = self._policy
        now = strength(record.entry, turn, policy.exponent, policy.initial_strength)
        return record.entry.lifecycle.persist and now >= policy.strong

    def _add(  # noqa: PLR0913 - each is one thing to say
        self,
        text: str,
        kind: str,
        origin: Speaker,
        turn: int,
        entry_id: str | None,
        *,
        word_by_word: bool,
    ) -> None:
        told = storable(text).strip()
        key = key_of(self._session, f"{origin} {kind == 'event'}", told)
        if _WORD.search(told) and key not in self.found:
            kept = KeptItem(told, kind, origin, self._session, turn, entry_id)
            self.found[key] = Found(kept, key, word_by_word)


def _call_of(record: Record) -> str:
    """Return the call whose result an entry stands for."""
    origin = record.origin
    return origin.call_id if isinstance(origin, PartOrigin) and origin.kind == "result" else ""


def _with_lists(text: str) -> Iterator[str]:
    """Yield the sentences of a text, each that announces a list with the list."""
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        line = lines[at].strip()
        at += 1
        if line.endswith((":", "：")):
            end = _end_of_list(lines, at)
            line = " ".join([line, *(each.strip() for each in lines[at:end])])
            at = end
            yield line
        else:
            yield from sentences(line)


def _end_of_list(lines: Sequence[str], start: int) -> int:
    end = start
    while end < min(len(lines), start + LISTED_LINES) and _LISTED.match(lines[end].strip()):
        end += 1
    return end


def _claims(text: str) -> Iterator[tuple[str, str]]:
    """Yield the sentences of a user that state a preference, a decision, a correction or a fact."""
    found = [one for one in sentences(text) if len(one) <= CLAIM_CHARACTERS]
    for number, sentence in enumerate(found):
        kind = _kind_of(sentence)
        if kind == "correction":
            yield _corrected(sentence, found[number + 1 : number + 2]), kind
        elif kind:
            yield sentence, kind


def _corrected(sentence: str, behind: Sequence[str]) -> str:
    """Return a correction as it was said; a short no goes with the sentence behind it."""
    is_short = len(_NO.sub("", sentence)) < SHORT_CHARACTERS
    return " ".join([sentence, *behind]) if is_short else sentence


def _kind_of(sentence: str) -> str:
    """Return what a sentence states that lasts, or nothing; somebody else's words state nothing."""
    if sentence.endswith(("?", "？", "؟")) or len(_WORD.findall(sentence)) < LEAST_WORDS:
        return ""
    statement = read(sentence)
    if statement.hearsay:
        return ""
    forms = (("correction", CORRECTION), ("decision", DECISION), ("preference", PREFERENCE))
    kind = next((name for name, form in forms if form.search(sentence)), "")
    if kind:
        return kind
    lasts = (
        statement.relation is not None
        or statement.swaps
        or statement.ended
        or _LASTING.search(sentence)
    )
    return "fact" if lasts and is_own(sentence) else ""
