"""Which words of a message are its author's; everything else is pasted: quoted, fenced, listed, forwarded.

No rule knows every form of a paste, so a form is asked of the author's words: one paragraph of plain prose
that is about no text and about no other speaker. Whatever is unlike that claims nothing. Pure.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from hippocampus.facts.languages import expression, pattern
from hippocampus.facts.sentences import sentences, without_recalled
from hippocampus.facts.topics import foreign_label
from hippocampus.facts.words import spoken

MAX_CHARACTERS = 200_000
"""A longer message is read up to here."""
MAX_WRITTEN = 2_000
"""A longer paragraph is a document."""
MAX_ANNOUNCING = 2
"""A message of more sentences has the text that it is about."""
_BLOCKS = re.compile(
    r"^[ \t]*(?P<fence>`{3,}|~{3,}|:{3,})[^\n]*(?s:\n.*?)?(?:^[ \t]*(?P=fence)[`~:]*[ \t]*$|\Z)"
    r"|<(?P<tag>[A-Za-z][\w:-]{0,40})\b[^<>]{0,200}>[^<]{0,2000}</(?P=tag)>"
    r"|^(?:[ \t]*(?:>(?!>>)|\|)|\t| {4,}\S).*$",
    re.MULTILINE,
)
"""What has an end of its own: a fence, a tag, a quoted or indented line."""
_TAKEN = "\0"
"""The mark in the place of a block."""
_EDGES = " \t\r\n\0"
_OBSERVATION = re.compile(
    r"\s*\[?(?:observation|tool[ _](?:result|output|response)|output|stdout|stderr|returncode"
    r"|(?:execution|command|function)[ _](?:result|output)|exit (?:code|status)"
    r"|result of|system[- ]?reminder)\b[^\n]{0,60}?[\]:\n]",
    re.IGNORECASE,
)
"""How a host begins a message in which it sends what a tool answered."""
_ALLOWED = re.compile(
    r"([`\"])(?P<name>[!-~]{1,40}?)\1|[„“«「](?P<quoted>\s?[^\s\u3040-\u309f\u3400-\u9fff]{1,40}?\s?)[“”»」]"
    r"|(?<=\s)[:;]-?[()](?!\S)|(?<=\s)https?://[!-~]+(?=\s[a-z])"
)
"""A name, which is one word in quotes or as code, a smiley, an address within a sentence: prose without its signs.

A word of Hiragana or Chinese may be a sentence.
"""
_SIGNS = frozenset("_.,;:!?…'’()/%&$€£+#@°–—-。，、；：！？・،؛؟।¿¡\u200d")
"""What prose has next to letters, marks, digits and spaces."""
_LETTERS = frozenset(("Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Zs"))
"""Unicode's categories of letters, marks, digits and spaces, without separators of lines."""
_EMOJI = re.compile("[\u2600-\u27bf\U0001f300-\U0001faff]")
_START = re.compile(r"[¿¡\U0001F300-\U0001FAFF\s]*[^\W\d_](?![.)])")
"""How a sentence begins: with a word, and not with a sign, a time, a number or the letter of a list."""
_SIGNED = re.compile(r"(?:[^\s,]+\s){0,2}[^\s,]+,((?:\s[^\W\d_][^\s!?]*){1,2})")
"""A sentence that signs a letter, where its last words are a name: up to three words before it."""
_PARTED = re.compile('[\n"“”„«»「」『』]')
_UNLIKE = re.compile(
    r"(?<!\w)['’].*['’](?!\w)|(?<!\d):(?=[!-~])|[,;](?=[A-Za-z])|\w\((?!\))|^[^(]*\)|\b_(?!\w)|(?<!\w)_|\s{3}"
    r"|\s[-–—]+\s?[A-Z]\w+(?:\s[A-Z]\w+)?$|(?<!\b[A-Z])#|(?<!\w)@|[★☆✓✔✗✘☑]"
)
"""A quotation, a table, a program, the mark of a list, emphasis, a column, the name of an author at the end, a
handle, a rating."""


class Written(NamedTuple):
    """A message by who wrote it."""

    own: str
    pasted: str


def by_author(text: str, *, is_announced: bool = False) -> Written:
    r"""Return a message by who wrote it: its one paragraph, or the first one where that announces the rest.

    One that is announced as a text is pasted.

    >>> by_author("I like tea.\n> I prefer coffee")
    Written(own='I like tea.', pasted='> I prefer coffee')
    >>> by_author("I like tea. Please plan what he wants:\n[10:02] dave: a plan").own
    'I like tea.'
    >>> by_author("Dave's page\nI like tea.").own
    ''
    """
    text = without_recalled(text[:MAX_CHARACTERS])
    if _OBSERVATION.match(text):
        return Written("", "")
    if is_announced:
        return Written("", text)
    lines = _BLOCKS.sub(_TAKEN, text).split("\n")
    first = next((at for at, line in enumerate(lines) if line.strip(_EDGES)), 0)
    # Next to a tag in its own line it may be anyone's: `<b>Dave</b> I cook`.
    own, rest = lines[first].strip(), "\n".join(lines[first + 1 :]).rstrip(_EDGES).lstrip()
    if rest and not rest.startswith(_TAKEN):
        *before, last = sentences(own) or [""]
        own = own[: own.rfind(last)].rstrip() if before and last.endswith((":", "：")) else ""
    if not own or len(own) > MAX_WRITTEN or not _is_plain(own):
        return Written("", text)
    return Written(own, text.replace(own, "", 1).strip())


def announces(text: str) -> bool:
    """Return whether a short message is about a text, which is then the next one.

    >>> announces("Hi! Can you proofread a bio?"), announces("I said Friday, but it is Saturday.")
    (True, False)
    """
    said = sentences(_BLOCKS.sub("", without_recalled(text[:MAX_WRITTEN])))
    return len(said) <= MAX_ANNOUNCING and _is_of_others(said)


def _is_plain(paragraph: str) -> bool:
    """Return whether a paragraph is prose of its author, about no text and about no other speaker."""
    paragraph = _ALLOWED.sub(r"\g<name>\g<quoted>", paragraph)
    is_prose = _START.match(paragraph) and all(
        sign in _SIGNS or _EMOJI.match(sign) or unicodedata.category(sign) in _LETTERS
        for sign in paragraph
    )
    if not is_prose or _UNLIKE.search(paragraph):
        return False
    said = sentences(paragraph)
    if not all(_START.match(one) and not foreign_label(one) for one in said):
        return False
    signed = (found[1].split() for one in said[1:] if (found := _SIGNED.fullmatch(one)))
    is_signed = any(all(name[0].isupper() for name in names) for names in signed)
    return not is_signed and not _is_of_others(said)


def _is_of_others(said: Sequence[str]) -> bool:
    """Return whether a sentence is about a text or a speaker, but in a message of one order.

    In most pastes below an order someone speaks of himself.
    """
    is_order = len(said) == 1 and expression(r"\W*(?:{orders})").match(said[0])
    if is_order and pattern(spoken(said[0]).own).search(said[0]) is None:
        return False
    return any(map(_is_about_text, said))


def _is_about_text(sentence: str) -> bool:
    """Return whether a sentence is about a text or a speaker, but in the author's correction of a statement."""
    texts, correction = expression("{texts}"), pattern(spoken(sentence).correction)

    def left(corrected: re.Match[str]) -> str:  # `I said it` is one such word
        return corrected[0] if len(texts.findall(corrected[0])) > 1 else ""

    return texts.search(correction.sub(left, sentence)) is not None


def own_words(text: str) -> str:
    r"""Return a text without its fenced, tagged and quoted lines; empty if someone else speaks of himself in it.

    >>> own_words("I like tea.\n> I prefer coffee"), own_words("Hi Bo,\n\nI prefer coffee.\n\nAnn")
    ('I like tea.', '')
    """
    plain = _BLOCKS.sub("", without_recalled(text)).strip()
    first, _, rest = plain.partition("\n")
    opens = first.startswith("<") or first.endswith((",", "，", "،")) or foreign_label(first)
    is_letter = rest and opens
    read = plain[:MAX_CHARACTERS]
    is_of_others = is_letter or (_PARTED.search(read) and expression("{texts}").search(read))
    speaks = is_of_others and expression("{preference}|" + spoken(read).own).search(read)
    return "" if speaks or _OBSERVATION.match(plain) else plain
