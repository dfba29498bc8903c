"""A text to the sentences that are its author's own: without quotes, code and what a recall put into it. Pure."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from hippocampus.facts.languages import expression
from hippocampus.facts.words import UNSPACED

_RUN = re.compile(f"[{UNSPACED}]")
_ID = r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
RECALLED = re.compile(
    r"<memory\b[^>]*>(?s:.*?)(?:</memory>|\Z)"
    rf"|^.*\(id {_ID}[^)]*\)$|^[\d.\s]*{_ID}\s+\[.*$"
    r"|^- .+ → .+ → .+ \(since \d{4}-\d\d-\d\d[^)]*\)$|^- \[\d{4}-\d\d-\d\d [\w, -]+\] .*$",
    re.MULTILINE,
)
"""What a recall or a context load wrote; it is not remembered a second time."""
_BLOCKS = (
    r"(?ms)(?P<fence>```|~~~).*?(?:(?P=fence)|\Z)"
    r"|<(?P<tag>[A-Za-z][\w:-]*)\b[^>\n]*>.*?</(?P=tag)>|^[ \t]*<[A-Za-z][\w:-]*\b[^>\n]*>[ \t]*$.*?(?:\n\n|\Z)"
    r"|^[ \t]*(?:>|\||\t| {4,}\S)[^\n]*$"
    r"|^\W{0,4}(?:-{2,}\s*)?(?:{forwarded}).*\Z"
    r"|^(?:{headers})\s*[:：][^\n]*\n(?:^[^\n:：]{1,20}[:：][^\n]*\n)+.*\Z"
    r"|^(?:{greetings}) ?[^\n]{1,40}\n.*?\n[ \t]*(?:{closings})[^\n]{0,20}\n.*?(?:\n\n|\Z)"
    r"|^(?:{wrote})\s*:[ \t]*$.*\Z"
)
_REQUEST = r"(?ms)^\W*(?:(?:{please})\s*)?(?:{rework})(?:\s[^:：\n.]{0,40}|[^:：\n.\s]{0,10})[:：].+?(?:\n\n|\Z)"
"""A request about a text, with the text."""
_QUOTED = re.compile(
    r"“[^”]{12,}”|«[^»]{12,}»|„[^“”]{12,}[“”]|「[^」]{6,}」|『[^』]{6,}』|(?<!\w)\"[^\"]{12,}\"|(?<!\w)'[^'\n]{24,}'(?!\w)"
)
QUOTED_WORDS = 4
"""A shorter quotation in a script with spaces is a name or a title."""
_OBSERVATION = re.compile(
    r"\A\s*\[?(?:observation|tool[ _](?:result|output|response)|(?:execution|command|function)[ _](?:result|output)|output|stdout|stderr"
    r"|returncode|exit (?:code|status)|result of|system[- ]?reminder)\b[^\n]{0,60}?[\]:\n]",
    re.IGNORECASE,
)
"""How a host begins a message in which it sends what a tool answered."""
_SENTENCE = re.compile(r"(?<=[.!?؟।])[\"”»)]?\s+(?=[^\sa-zа-яё])|(?<=[。！？])|\n+")
_ABBREVIATION = re.compile(
    r"(?:\b(?:Dr|Mr|Mrs|Ms|St|vs|e\.g|i\.e|z\.B|d\.h|u\.a|bzw|ca|No|Nr|Prof|Inc|Ltd|Jr|Sr|Sra|etc|approx|Str|Mme|Hr|Fr|гг|ул|руб|тыс|т\.е|a\.m|p\.m"
    r"|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|O[ck]t|Nov|De[cz]|Mon|Tues?|Wed|Thu|Fri|Sat|Sun|\w)|(?<![\w.])\d{1,2})\.$"
)
"""What ends with a stop and no sentence: abbreviations, initials, ordinals (`am 3. Mai`)."""


def own_words(text: str) -> str:
    r"""Return a text without its pasted parts: fences, quotes, forwarded mail, documents, observations.

    >>> own_words("I like tea.\n> I prefer coffee")
    'I like tea.'
    """
    text = RECALLED.sub(" ", text)
    if _OBSERVATION.match(text):
        return ""
    own = expression(_BLOCKS).sub("\n", text)
    own = expression(_REQUEST).sub("\n", own) if own == text else own
    return _QUOTED.sub(_unless_name, own).strip()


def _unless_name(quoted: re.Match[str]) -> str:
    is_name = len(quoted[0].split()) < QUOTED_WORDS and not _RUN.search(quoted[0])
    return quoted[0] if is_name else "…"


def without_recalled(text: str) -> str:
    """Return a text without what recall put into it."""
    return RECALLED.sub(" ", text).strip()


def sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each sentence of a text begins and where the next one does.

    >>> text = "Ann lives in Rome. Bo moved on 3. May. At 5 p.m. he left."
    >>> [text[start:end] for start, end in sentence_spans(text)]
    ['Ann lives in Rome. ', 'Bo moved on 3. May. ', 'At 5 p.m. he left.']
    """
    cuts = [match.end() for match in _SENTENCE.finditer(text) if not _goes_on(text, match)]
    yield from (
        (start, end) for start, end in itertools.pairwise([0, *cuts, len(text)]) if start < end
    )


def _goes_on(text: str, cut: re.Match[str]) -> bool:
    """Return whether the stop before a cut belongs to an abbreviation or an ordinal."""
    return (
        "\n" not in cut[0]
        and _ABBREVIATION.search(text[max(0, cut.start() - 12) : cut.start()]) is not None
    )


def sentences(text: str) -> list[str]:
    """Return the sentences of a text.

    >>> sentences("Dr. Bo works at 3.5 GHz! Ich mag Obst, z. B. Äpfel. Am 3. Mai auch.")
    ['Dr. Bo works at 3.5 GHz!', 'Ich mag Obst, z. B. Äpfel.', 'Am 3. Mai auch.']
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
