"""What may not become a memory: secrets, orders, hearsay, and what an assistant quotes from a tool.

Pure. An assistant repeats what it reads; content must not become memory by being quoted. The fact
store refuses secrets itself; here they go before anything is stored.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from hippocampus import secrets
from hippocampus.facts.languages import expression
from hippocampus.facts.words import SIGN_OR_WORD

LEFT_OUT = "[left out]"
"""The replacement of a secret; the rest of the text is worth keeping without it."""
CLAUSE = re.compile(r"[:：\"“”„«»「」『』()（）—–]|\s-\s")
"""What opens or closes a quotation, or announces one."""
CLAUSE_WORDS = 3
"""A clause of this many words that a result contains is quoted from it; of signs, one each."""
ENDING_WORDS = 6
"""So is this number of words at the end of a sentence."""
SCANNED_CHARACTERS = 10_000
"""How much of each result is searched, half at its start and half at its end."""
MAX_CHARACTERS = 120_000
"""How much of all results together is searched, of the newest."""


def speaks_of_secret(text: str) -> bool:
    """Return whether a text names a secret, or had one in it.

    >>> speaks_of_secret("Das Admin-Passwort lautet Rose"), speaks_of_secret("a brass monkey")
    (True, False)
    """
    return LEFT_OUT in text or secrets.names_secret(text)


def without_secrets(text: str) -> str:
    """Return a text without its secrets.

    >>> without_secrets("The admin password is hunter2!, the port 8080")
    'The admin password is [left out]!, the port 8080'
    """
    return secrets.replaced(text, LEFT_OUT)


def allowed_by(results: Sequence[str]) -> Callable[[str], bool]:
    """Return a check of sentences: whether one of the assistant may outlive a session with tool results.

    One of which a clause, or the end, is word by word in a result may not.
    """
    half = SCANNED_CHARACTERS // 2
    ends = (
        text if len(text) <= SCANNED_CHARACTERS else f"{text[:half]}\n{text[-half:]}"
        for text in results
    )
    newest = "\n".join(ends)[-MAX_CHARACTERS:]
    read = f" {_words(newest)} "

    def allows(sentence: str) -> bool:
        is_hearsay = expression("{about_user}|{orders}|{preference}").search(sentence)
        if is_hearsay or speaks_of_secret(sentence):
            return False
        clauses = [_words(clause) for clause in CLAUSE.split(sentence)]
        ending = _words(sentence).split(" ")[-ENDING_WORDS:]
        searched = [part for part in clauses if part.count(" ") >= CLAUSE_WORDS - 1]
        searched += [" ".join(ending)] if len(ending) == ENDING_WORDS else []
        return not any(f" {part} " in read for part in searched)

    return allows


def _words(text: str) -> str:
    return " ".join(SIGN_OR_WORD.findall(text.lower()))
