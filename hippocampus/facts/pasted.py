"""Which lines of a message its author wrote, and which are pasted: quoted, fenced, tagged, forwarded.

What has an end of its own, such as a fence or a quotation, is taken out. Of the rest, the first line that
is no prose begins a paste that goes on to the end. Pure; what a line means is decided elsewhere.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import NamedTuple

from hippocampus.facts.languages import expression, pattern, words_of_any
from hippocampus.facts.sentences import RECALLED
from hippocampus.facts.topics import LABEL, foreign_label, is_labelled
from hippocampus.facts.words import UNSPACED, UNSPACED_SIGN, spoken, words

MAX_CHARACTERS = 200_000
"""A longer message is read up to here."""
MAX_WRITTEN = 2_000
"""A message with more words of its own than these characters is a document, and is pasted."""
MIN_BELOW = 3
"""A text with more than this many times the characters of a question above it is what that is about."""
MAX_GREETING = 4
"""How many words the first line of a letter has."""
QUOTED_WORDS = 4
"""A shorter quotation in a script with spaces is a name or a title."""
_TAKEN = "…"
"""The mark in the place of a part that is taken out."""
_FENCE = (
    r"^[ \t]*(?P<fence>`{3,}|~{3,}|:{3,})[^\n]*(?s:\n.*?)?(?:^[ \t]*(?P=fence)[`~:]*[ \t]*$|\Z)"
)
_TAG = r"<(?P<tag>[A-Za-z][\w:-]{0,40})\b[^<>]{0,200}>[^<]{0,2000}</(?P=tag)>"
_QUOTED_LINE = r"^(?:[ \t]*(?:>(?!>>)|\|)|\t| {4,}\S).*$"
_QUOTATION = (
    r"“[^“”]{12,2000}”|«[^«»]{12,2000}»|„[^„“”]{12,2000}[“”]|‘[^‘’]{12,2000}’|「[^「」]{6,2000}」"
    r"|『[^『』]{6,2000}』|\"[^\"\n]{12,2000}\"|(?<!\w)'[^'\n]{12,2000}'(?!\w)"
)
_CLOSED = re.compile(rf"(?P<block>{_FENCE}|{_TAG}|{_QUOTED_LINE})|{_QUOTATION}", re.MULTILINE)
"""What has an end of its own: a fence, a tag, a quoted or indented line, a quotation."""
_OBSERVATION = re.compile(
    r"\s*\[?(?:observation|tool[ _](?:result|output|response)|output|stdout|stderr|returncode"
    r"|(?:execution|command|function)[ _](?:result|output)|exit (?:code|status)"
    r"|result of|system[- ]?reminder)\b[^\n]{0,60}?[\]:\n]",
    re.IGNORECASE,
)
"""How a host begins a message in which it sends what a tool answered."""
_GREETING, _CLOSING = r"¡?(?:{greetings}).{0,40}$", r"(?:{closings}).{0,20}$"
_HEADER, _FIELD = r"(?:{headers})\s*[:：]", re.compile(r"[^:：]{1,20}[:：]")
_BEGINS_REST = (
    r"<[a-z][\w:-]{0,40}\b[^<>]{0,200}>|\W{0,4}(?:-{2,}\s*)?(?:{forwarded})|(?:{wrote})\s*:$"
    r"|\W{0,4}(?:(?:{please})\s*)?(?:{rework})"
    r"(?:(?:\s[^:：.]{0,40}|[^:：.\s]{0,10})[:：]|[^:：.]{0,40}\s(?:{below})(?:\s[^:：.]{0,40})?\W*$)"
)
"""An unclosed tag, a forwarded or an answered mail, or a request about a text, with the text."""
_ASKING = r".*(?:[?？؟]$|(?<!\w)(?:{please}|{below})(?!\w).*[.。]$)"
"""A question or a request, with the text below it where that is much longer."""
_REPORTED = r"(?=[^:：.!?]{0,160}[:：])[^:：.!?]{0,80}(?:{reported})[^:：.!?]{0,40}[:：]"
"""Someone else's words are announced, with the words."""
_LISTED = re.compile(r"(?:[-*•+‣–·]|[A-Z]?\d{1,3}[.)]|\(?(?:[a-z]|[ivx]{2,5})[.)])\s")
_OPENING = (
    r"[\"“‘«„「『](?=.{1,40}[\"”“’»」』])|['¿¡`]|[*_]{1,2}(?=\w)|\((?![^.!?]*\)$)|(?:\.{3}|…)\s?|[@/](?=\w+\s)"
    r"|[\U0001F300-\U0001FAFF]+\s?"
)
"""What prose may have before its first word: a quote, emphasis, a mention, a command, an emoji."""
_AMOUNT = rf"[$€£]?\d+(?:(?:%|[a-z]{{2}})?\s(?!\|)|(?=[{UNSPACED}]))"
_WORD = r"[^\W\d_][^\s:()\[{<>|/=\\]*(?:(?:/[\w.]+)+(?=\s[^|])|\(?\))?:?(?:\s(?![=\[|]|[:-]=)|$)"
_PROSE = re.compile(rf"(?:{_OPENING})?(?:{_AMOUNT}|{_WORD}|[^\W\d_]+[^\x00-\x7f])")
"""How a line of prose begins: with a word or an amount, and not with a sign, a time or code."""
_TIME = r"\d{1,2}:\d\d(?::\d\d)?(?:\s?[AaPp]\.?[Mm]\.?)?"
_COPIED = re.compile(
    r".{0,60}\t\S|.*<<[-~]?['\"]?\w+|.*(?:[=(]\s?`|:\s[>|][+-]?)$|(?i:re|fwd?|aw|wg): |PS [A-Z]:\\|(?:[A-Z]+ \S+ )?HTTP/\d"
)
"""A line of a table, a program, a terminal or a letter."""
_PAGE = re.compile(
    rf".{{0,60}}?(?:[·•★☆⭐]|\s\|(?:\s|$))|[^«]{{0,60}}»|.{{0,40}}\b{_TIME}[^\w.!?]{{0,3}}$"
    r"|.{0,60}\b(?:commented|posted|replied|answered|asked|opened)\b.{0,20}\bago\b"
)
_CHAT = re.compile(rf"[^.!?]{{0,40}}?\b{_TIME}[^.!?]{{0,30}}[:：]\s")
_CAPITAL = r"\(?[A-ZÀ-ÞА-ЯЁ\d]\S*"
_TITLE = re.compile(
    rf"[*_]*{_CAPITAL}(?:(?:\s(?:{_CAPITAL}|\w{{1,3}})){{0,8}}\s{_CAPITAL})?(?<![.!?…:;,])"
)
"""A line that is the title of the next one: a word, or several of which most are large."""
_ATTRIBUTED = re.compile(
    rf"(?:.*[.!?…\"”»*_]\s)?(?:[—–-]{{1,2}}\s?{_CAPITAL}(?:\s\S+){{0,3}}|\({_CAPITAL}(?:\s{_CAPITAL}){{0,2}}\))(?<![.!?])"
)
"""The end of a quotation, `— Dave Miller`, after it or below it."""


class Written(NamedTuple):
    """A message by who wrote its lines."""

    own: tuple[str, ...]
    lists: dict[int, str]
    """By the place of an own line that ends with a colon, the list below it."""
    pasted: str

    @property
    def text(self) -> str:
        """Return the author's own lines."""
        return "\n".join(self.own).strip()


def written(text: str, *, by_shape: bool = True) -> Written:
    r"""Return a message by who wrote its lines; `by_shape` also reads how lines of other sources look.

    >>> written("I like tea.\n> I prefer coffee")
    Written(own=('I like tea.',), lists={}, pasted='> I prefer coffee')
    >>> written("Please plan what he wants.\n[10:02] dave: a plan").own
    ('Please plan what he wants.',)
    """
    text = RECALLED.sub(" ", text[:MAX_CHARACTERS])
    if _OBSERVATION.match(text):
        return Written((), {}, "")
    lines, taken = _opened(text)
    is_chat = sum(LABEL.match(line) is not None for line in lines) > 1
    own: list[str] = []
    lists: dict[int, str] = {}
    pasted: list[str] = []
    ends = expression(_CLOSING)
    closing = max((at for at, line in enumerate(lines) if ends.match(line)), default=-1)
    rest: list[str] = []
    """What the author's lines announce, however long it is."""
    for at, line in enumerate(lines):
        if by_shape and _LISTED.match(line):
            place = len(own) - 1
            if own and own[-1].endswith((":", "：")):
                lists[place] = f"{lists.get(place, '')} {line}"
            pasted.append(line)
        elif _is_forwarded(lines, at) or _is_letter(lines, at, closing):
            rest = lines[at:]
            break
        elif by_shape and _is_foreign(lines, at, own, is_chat=is_chat):
            # No line shows where a paste ends. Below a paragraph of the author's it is announced.
            is_below = at > 0 and not lines[at - 1] and any(own)
            (rest if is_below else pasted).extend(lines[at:])
            break
        elif line != _TAKEN:
            is_reported = is_labelled(line) or expression(_REPORTED).match(line[:200])
            (pasted if is_reported or _opens(_CHAT, line) else own).append(line)
            if by_shape and _announces(lines, at):
                rest = lines[at + 1 :]
                break
    if by_shape and _is_paste(own, lines, sum(map(len, pasted))):
        return Written((), {}, text.strip())
    return Written(tuple(own), lists, "\n".join([*taken, *pasted, *rest]).strip())


def own_words(text: str) -> str:
    r"""Return a text without its quoted, fenced, tagged and forwarded parts.

    >>> own_words("I like tea.\n> I prefer coffee")
    'I like tea.'
    """
    return written(text, by_shape=False).text


def _opened(text: str) -> tuple[list[str], list[str]]:
    """Return the lines of a text without what has an end of its own, and that."""
    taken: list[str] = []

    def take(found: re.Match[str]) -> str:
        is_short = len(found[0].split()) < QUOTED_WORDS and not UNSPACED_SIGN.search(found[0])
        if is_short and not found["block"]:  # a name
            return found[0]
        taken.append(found[0])
        return _TAKEN

    return [line.strip() for line in _CLOSED.sub(take, text).splitlines()], taken


def _is_forwarded(lines: Sequence[str], at: int) -> bool:
    """Return whether all lines from one on are a mail, or a text to be worked on."""
    head, below = lines[at][:200], lines[at + 1 : at + 2]
    is_mail = expression(_HEADER).match(head) and below and _FIELD.match(below[0])
    return bool(is_mail or expression(_BEGINS_REST).match(head))


def _is_letter(lines: Sequence[str], at: int, closing: int) -> bool:
    """Return whether a line greets, and a later one closes or has the name of who signs.

    A message that begins with a greeting and ends with a name alone is written to the assistant.
    """
    line = lines[at]
    is_short = line.endswith((",", "，", "،")) and len(line.split()) <= MAX_GREETING
    is_greeting = is_short or expression(_GREETING).match(line) is not None
    is_signed = is_short and _is_title(lines[-1]) and (at > 0 or any(lines[-2:-1]))
    return is_signed or (is_greeting and at < closing)


def _is_foreign(lines: Sequence[str], at: int, own: Sequence[str], *, is_chat: bool) -> bool:
    """Return whether a line is no prose, or what the author's only line so far asks about."""
    line = lines[at]
    if not line or line == _TAKEN:
        return False
    label = foreign_label(line)  # a name or a word, and no clause
    is_spoken = (label and (" " not in label or _is_title(label))) or (
        is_chat and LABEL.match(line)
    )
    if is_spoken or not _PROSE.match(line) or _COPIED.match(line) or _opens(_PAGE, line):
        return True
    is_below = len(own) > 1 and not any(itertools.islice(own, 1, None))
    if not is_below or sum(map(len, lines[at:])) <= MIN_BELOW * len(asked := own[0]):
        return False
    is_request = expression(_ASKING).fullmatch(asked) is not None
    return is_request and not pattern(spoken(asked).own).search(asked)


def _announces(lines: Sequence[str], at: int) -> bool:
    """Return whether a line ends with a colon, and neither a list nor a fence is below it."""
    first = next(filter(None, lines[at + 1 : at + 3]), "")
    return lines[at].endswith((":", "：")) and not (_LISTED.match(first) or first == _TAKEN)


def _opens(shape: re.Pattern[str], line: str) -> bool:
    """Return whether a line opens with a shape in which its author is not speaking."""
    found = shape.match(line)
    return found is not None and not pattern(spoken(line).own).search(found[0])


def _is_paste(own: Sequence[str], lines: Sequence[str], pasted: int) -> bool:
    """Return whether a message is pasted as a whole: a document, a page, mostly pasted, or of a named author."""
    size = sum(map(len, own))
    if pasted > size or size > MAX_WRITTEN or (size and _ATTRIBUTED.fullmatch(lines[-1])):
        return True
    end = max((at for at, line in enumerate(lines) if not line), default=0)
    is_signed = all(map(_is_title, lines[end + 1 :]))
    return any(line in own and _is_title(line) for line in lines[: end if is_signed else -1])


def _is_title(line: str) -> bool:
    """Return whether a line is a title or a name, and no greeting, thanks or answer, nor of its author."""
    if not line or _TITLE.fullmatch(line) is None:
        return False
    named = words(line)
    is_answer = len(named) == 1 and named[0] in words_of_any("labels")
    return not is_answer and not pattern(spoken(line).own).search(line)
