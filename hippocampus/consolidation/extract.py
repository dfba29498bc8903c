"""The lasting statements of a session, by rules: a conversation and its entries in, `Extracted` out.

Pure. Only what the user or the host said may become a claim, which supersedes others; what the
assistant or a tool said is kept word by word, with little importance, and never as a preference.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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
from hippocampus.facts.statements import is_own, own_words, read, sentences, without_recalled
from hippocampus.facts.wording import CORRECTION, DECISION, PREFERENCE, Wording, type_of
from hippocampus.policy import Policy, Subject
from hippocampus.session.ports import KeptItem, Speaker

SENTENCE_CHARACTERS = 1_000
"""A claim is cut behind these."""
CLAIM_CHARACTERS = 300
"""A longer sentence is no plain statement of a preference or a decision."""
USER_CHARACTERS = 4_000
ASSISTANT_CHARACTERS = 1_000
"""Messages are kept word by word up to these."""
MIN_WORDS = 2
"""A shorter message states nothing by itself."""
MAX_LISTED_LINES = 12
"""How many lines of the list below it a sentence that ends with a colon takes in."""
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
OTHER_IMPORTANCE = 0.2
"""Of everything else, such as all that comes from tools."""
NO_REQUEST = Wording(
    r"\bI (?:(?:really|just|also) )*(?:(?:do|ca|did|could)n['’]?t|(?:do|did|could) not) (?:\w+ )?remember\b",
    r"\bI (?:cannot|can not|no longer) remember\b|\bI['’]m not sure I remember\b",
    r"\bich merke\b|\bich kann mir (?:das |es )?nicht merken\b",
    r"\b(?:eu )?não me lembro\b|\bnon ricordo\b|\bniet onthouden\b|\bnie pamiętam\b",
)
"""Words of an instruction that are none: what the user has forgotten, or notices."""
_LASTING = re.compile(
    r"(?i)\b(?:allergic|allergisch|alérgic[oa]|allergique|аллерги\w+|born (?:in|on)|geboren|nací|né[e]? (?:à|le|en)|родил\w+|i speak|ich spreche|hablo"
    r"|je parle|говорю по|my name is|i['’]m called|ich heiße|me llamo|je m['’]appelle|меня зовут|i['’]m an? [\w-]+$|i am an? [\w-]+$)"
    r"|过敏|我叫|出生|حساسية|اسمي|एलर्जी|मेरा नाम"
)
"""What people state of themselves that outlives a session, next to where they live and work."""
_NO = re.compile(
    r"(?i)\A\W*(?:no|nope|wrong|actually|correction|nein|falsch|non|sbagliato|não|errado|faux|нет|неверно|不对|不對|错了|錯了|いいえ|違います)"
    r"\s*[,.:;!，、。—-]\s*"
)
_LISTED = re.compile(r"(?:[-*•+]|\d+[.)]|[a-z][.)])\s+")


@dataclass(frozen=True, slots=True)
class Extracted:
    """One thing worth keeping, and how."""

    kept: KeptItem
    key: str
    word_by_word: bool


def importance(origin: str, kind: str) -> float:
    """Return how much something matters, by its speaker and its type."""
    return IMPORTANCE.get((origin, kind), OTHER_IMPORTANCE)


def key_of(session: str, origin: str, text: str) -> str:
    """Return the key of a kept text: one that is repeated in a session counts once."""
    return content_key(f"{session}\0{origin}\0{text}".encode("utf-8", "backslashreplace"))[:32]


def worth_keeping(
    session: str, transcript: Transcript, records: Sequence[Record], policy: Policy, turn: int
) -> list[Extracted]:
    """Return the statements that outlive a session, each text once, in their order."""
    collector = _Collector(session, policy, ToolTexts(transcript.results))
    stored = {record.content: record.entry.id for record in records}
    for utterance in transcript.utterances:
        if utterance.role == "user":
            key = content_key(utterance.text.encode("utf-8", "surrogatepass"))
            collector.user(utterance, stored.get(key))
        elif utterance.answers:
            collector.assistant(utterance)
    for record in records:
        if not is_adopted(record):
            collector.entry(record, turn)
    return list(collector.found.values())


class _Collector:
    """Gathers the statements, by key."""

    def __init__(self, session: str, policy: Policy, tool_texts: ToolTexts) -> None:
        self._session = session
        self._policy = policy
        self._tool_texts = tool_texts
        self.found: dict[str, Extracted] = {}

    def user(self, utterance: Utterance, entry_id: str | None) -> None:
        """Take the claims of a message of the user, and the message."""
        text = own_words(utterance.text)
        if self._is_instruction(text):
            sentences_asked = [one for one in _with_lists(text) if self._is_instruction(one)]
            # The whole text, where the policy's words are in no sentence of it.
            for sentence in sentences_asked or [" ".join(text.split())]:
                if NO_REQUEST.search(sentence) or read(sentence).hearsay:
                    continue
                kind = type_of(sentence)
                kind = kind if kind in {"correction", "decision", "error"} else "preference"
                self._claim(sentence, kind, utterance.turn, entry_id)
        whole = without_secrets(text[:USER_CHARACTERS])
        for sentence, kind in _claims(whole):
            self._claim(sentence, kind, utterance.turn, entry_id)
        claimed = key_of(self._session, "user False", " ".join(whole.split())) in self.found
        if len(WORD.findall(text[:200])) >= MIN_WORDS and not claimed:
            self._add(whole, "event", "user", utterance.turn, entry_id, word_by_word=True)

    def _is_instruction(self, text: str) -> bool:
        subject = Subject("message", source_type="user", text=text, tokens=max(1, len(text) // 4))
        return bool(self._policy.resolve(subject).persist)

    def _claim(self, sentence: str, kind: str, turn: int, entry_id: str | None) -> None:
        text = without_secrets(" ".join(sentence.split())[:SENTENCE_CHARACTERS])
        self._add(text, kind, "user", turn, entry_id, word_by_word=speaks_of_secret(text))

    def assistant(self, utterance: Utterance) -> None:
        """Take an answer as it was given, without what it has from elsewhere."""
        text = without_secrets(without_recalled(utterance.text)[:ASSISTANT_CHARACTERS])
        if self._tool_texts.any:
            text = " ".join(each for each in sentences(text) if self._tool_texts.allow(each))
        if len(WORD.findall(text[:200])) >= MIN_WORDS:
            self._add(text, "event", "assistant", utterance.turn, None, word_by_word=True)

    def entry(self, record: Record, turn: int) -> None:
        """Take a state of the task, and a result that persists and is strong by then."""
        entry, policy = record.entry, self._policy
        if entry.type == "state":
            text = without_secrets(entry.summary)
            self._add(text, "note", "host", entry.source.turn, entry.id, word_by_word=True)
        elif (
            entry.type == "tool_result"
            and entry.lifecycle.persist
            and strength(entry, turn, policy.exponent, policy.initial_strength) >= policy.strong
        ):
            named = f"{record.tool} {' '.join(record.arguments.split())[:120]}".strip()
            text = without_secrets(f"{named}: {record.kind}, {record.tokens} tokens")
            self._add(text, "note", "tool", entry.source.turn, entry.id, word_by_word=True)

    def _add(  # noqa: PLR0913 - one parameter a field
        self,
        text: str,
        kind: str,
        origin: Speaker,
        turn: int,
        entry_id: str | None,
        *,
        word_by_word: bool,
    ) -> None:
        text = storable(text).strip()
        key = key_of(self._session, f"{origin} {kind == 'event'}", text)
        if WORD.search(text) and key not in self.found:
            kept = KeptItem(text, kind, origin, self._session, turn, entry_id)
            self.found[key] = Extracted(kept, key, word_by_word)


def _with_lists(text: str) -> Iterator[str]:
    """Yield the sentences of a text, each that announces a list with the list."""
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        line = lines[at].strip()
        at += 1
        if not line.endswith((":", "：")):
            yield from sentences(line)
            continue
        items = itertools.takewhile(
            _LISTED.match, (each.strip() for each in lines[at : at + MAX_LISTED_LINES])
        )
        whole = [line, *items]
        at += len(whole) - 1
        yield " ".join(whole)


def _claims(text: str) -> Iterator[tuple[str, str]]:
    """Yield the sentences of a user that state a preference, a decision, a correction or a fact."""
    found = [one for one in sentences(text) if len(one) <= CLAIM_CHARACTERS]
    for number, sentence in enumerate(found):
        kind = _kind_of(sentence)
        if kind == "correction" and len(_NO.sub("", sentence)) < SHORT_CHARACTERS:
            yield " ".join(found[number : number + 2]), kind  # a short no means the next sentence
        elif kind:
            yield sentence, kind


def _kind_of(sentence: str) -> str:
    """Return the type of a lasting statement, or nothing; another person's words state nothing."""
    if sentence.endswith(("?", "？", "؟")) or len(WORD.findall(sentence)) < MIN_WORDS:
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
