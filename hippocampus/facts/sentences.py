"""A text to its sentences, without what a recall put into it. Pure."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator

from hippocampus.facts.languages import filled

_ID = r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
RECALLED = re.compile(
    r"<memory\b[^>]{0,200}>(?s:.*?)(?:</memory>|\Z)"
    rf"|^.*\(id {_ID}[^)\n]*\)$|^[\d. \t]{{0,20}}{_ID}[ \t]+\[.*$"
    r"|^- [^→\n]+ → [^→\n]+ → [^→\n]+\(since \d{4}-\d\d-\d\d[^)\n]*\)$"
    r"|^- \[\d{4}-\d\d-\d\d [\w, -]+\] .*$",
    re.MULTILINE,
)
"""What a recall or a context load wrote; it is not remembered a second time."""
_SENTENCE = re.compile(r"(?<=[.!?؟।])[\"”»)]?\s+(?=[^\sa-zа-яё])|(?<=[。！？])|\n+")
MAX_ABBREVIATION = 12
_ABBREVIATION = r"(?:(?:(?<=\w)(?:{abbreviated_parts})|\b(?:{abbreviations}|[^\W\d]))|(?<![\w.])(?<!tr\. )\d{1,2})\.$"
"""What ends with a stop and no sentence: abbreviations, initials, ordinals (`am 3. Mai`)."""


def without_recalled(text: str) -> str:
    """Return a text without what recall put into it."""
    return RECALLED.sub(" ", text).strip()


def sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each sentence of a text begins and where the next one does.

    >>> text = "Ann lives in Rome. Bo moved on 3. May. At 5 p.m. he left."
    >>> [text[start:end] for start, end in sentence_spans(text)]
    ['Ann lives in Rome. ', 'Bo moved on 3. May. ', 'At 5 p.m. he left.']
    """
    cuts = [
        cut.end()
        for cut in _SENTENCE.finditer(text)
        if "\n" in cut[0]
        or not _abbreviation().search(text, max(0, cut.start() - MAX_ABBREVIATION), cut.start())
    ]
    yield from (
        (start, end) for start, end in itertools.pairwise([0, *cuts, len(text)]) if start < end
    )


@functools.cache
def _abbreviation() -> re.Pattern[str]:
    return re.compile(filled(_ABBREVIATION))


def sentences(text: str) -> list[str]:
    """Return the sentences of a text.

    >>> sentences("Dr. Bo works at 3.5 GHz! Ich mag Obst, z. B. Äpfel. Am 3. Mai auch.")
    ['Dr. Bo works at 3.5 GHz!', 'Ich mag Obst, z. B. Äpfel.', 'Am 3. Mai auch.']
    >>> sentences("La Dra. Ruiz vino. Er wohnt Goethestr. 5. Er mag Tee.")
    ['La Dra. Ruiz vino.', 'Er wohnt Goethestr. 5.', 'Er mag Tee.']
    """
    pieces = (
        text[start:end].strip().removeprefix("- ").removeprefix("* ").strip()
        for start, end in sentence_spans(text)
    )
    return [piece for piece in pieces if re.search(r"\w", piece)]


def without_sentence(text: str, claim: str) -> str:
    """Return a text without the sentences that say a claim, whatever their case and spaces.

    >>> without_sentence("We use Postgres. I prefer  tabs! Thanks.", "i prefer tabs.")
    'We use Postgres. Thanks.'
    """
    parts = [re.escape(word) for word in claim.rstrip(".!。！।").split()]
    if not parts:
        return text
    said = re.compile(r"(?<!\w)" + r"\s+".join(parts) + r"(?!\w)", re.IGNORECASE)
    spans = list(sentence_spans(text))
    gone = [match.span() for match in said.finditer(text)]
    left = [text[a:b] for a, b in spans if not any(first < b and a < last for first, last in gone)]
    return text if len(left) == len(spans) else "".join(left).strip()
