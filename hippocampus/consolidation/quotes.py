"""What of the assistant's words may last: not what it has from a tool, and no hearsay or order.

Pure. An assistant repeats what it reads; content must not become memory by being quoted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from hippocampus.consolidation.phrases import ABOUT_USER, ORDERS
from hippocampus.consolidation.secrecy import speaks_of_secret
from hippocampus.facts.wording import PREFERENCE

WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]|[^\W_]+")
CLAUSE = re.compile(r"[:：\"“”„«»「」『』()（）—–]|\s-\s")
"""What opens or closes a quotation, or announces one."""
CLAUSE_WORDS = 3
"""A clause of so many words that stands in a result is quoted from it; of signs, one each."""
RUN = 6
"""So are so many words at the end of a sentence."""
SCANNED_CHARACTERS = 10_000
"""So much of each result is looked at, half at its start and half at its end."""
MOST_CHARACTERS = 120_000
"""So much of all results together, of the newest."""


class Quoted:
    """The texts of tool results, in which a quotation is found."""

    def __init__(self, results: Iterable[str]) -> None:
        ends = [_ends(text) for text in results]
        self.any = bool(ends)
        """Whether there was any result at all."""
        self._text = f" {_words(chr(10).join(ends)[-MOST_CHARACTERS:])} "

    def is_quoted(self, sentence: str) -> bool:
        """Say whether a clause of a sentence, or its end, stands word by word in a result."""
        clauses = [_words(clause) for clause in CLAUSE.split(sentence)]
        last = " ".join(_words(sentence).split(" ")[-RUN:])
        said = [each for each in clauses if each.count(" ") >= CLAUSE_WORDS - 1]
        said += [last] if last.count(" ") == RUN - 1 else []
        return any(f" {each} " in self._text for each in said)

    def may_last(self, sentence: str) -> bool:
        """Say whether a sentence of the assistant's may outlive the session."""
        if not self.any:
            return True
        told = speaks_of_secret(sentence) or any(
            each.search(sentence) for each in (ABOUT_USER, ORDERS, PREFERENCE)
        )
        return not (told or self.is_quoted(sentence))


def _ends(text: str) -> str:
    half = SCANNED_CHARACTERS // 2
    return text if len(text) <= SCANNED_CHARACTERS else f"{text[:half]}\n{text[-half:]}"


def _words(text: str) -> str:
    return " ".join(WORD.findall(text.lower()))
