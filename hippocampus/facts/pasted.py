"""Which lines of a message its author wrote, and which are pasted: quoted, fenced, tagged, forwarded.

Pure, one pass over the lines. What a line means is decided elsewhere.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import NamedTuple

from hippocampus.facts.languages import expression, pattern, words_of_any
from hippocampus.facts.sentences import RECALLED
from hippocampus.facts.topics import is_labelled
from hippocampus.facts.words import UNSPACED, spoken, words

MAX_CHARACTERS = 200_000
"""A longer message is read up to here."""
MAX_WRITTEN = 2_000
"""A message with more words of its own than these characters is a document, and is pasted."""
MIN_PAGE_LINES = 4
"""From this number of lines on, half of which end without a stop, a text is a page."""
MIN_BELOW = 3
"""A text with more than this many times the characters of a question above it is what that is about."""
QUOTED_WORDS = 4
"""A shorter quotation in a script with spaces is a name or a title."""
_FENCE = re.compile(r"(`{3,}|~{3,}|:{3,})")
_TAG = re.compile(r"\s*<([A-Za-z][\w:-]{0,40})\b[^<>]{0,200}>")
_END_TAG = re.compile(r"</([A-Za-z][\w:-]{0,40})>")
_INLINE = re.compile(r"<([A-Za-z][\w:-]{0,40})\b[^<>]{0,200}>[^<]{0,2000}</\1>")
_QUOTED = re.compile(r"\s*[>|]|\t| {4,}\S")
_QUOTES = {"“": "”", "«": "»", "„": "“”", "「": "」", "『": "』", '"': '"', "‘": "’"}
_QUOTATION = re.compile(
    "|".join(
        f"{opening}[^{opening}{closing}]{{{6 if opening in '「『' else 12},2000}}[{closing}]"
        for opening, closing in _QUOTES.items()
    )
    + r"|(?<!\w)'[^'\n]{12,2000}'(?!\w)"
)
_OBSERVATION = re.compile(
    r"\s*\[?(?:observation|tool[ _](?:result|output|response)|output|stdout|stderr|returncode"
    r"|(?:execution|command|function)[ _](?:result|output)|exit (?:code|status)"
    r"|result of|system[- ]?reminder)\b[^\n]{0,60}?[\]:\n]",
    re.IGNORECASE,
)
"""How a host begins a message in which it sends what a tool answered."""
_FORWARDED = r"\W{0,4}(?:-{2,}\s*)?(?:{forwarded})"
_HEADER = r"(?:{headers})\s*[:：]"
_FIELD = re.compile(r"[^:：]{1,20}[:：]")
_GREETING, _CLOSING = r"(?:{greetings}) ?.{1,40}$", r"(?:{closings}).{0,20}$"
_WROTE = r"(?:{wrote})\s*:$"
_REQUEST = (
    r"\W{0,4}(?:(?:{please})\s*)?(?:{rework})"
    r"(?:(?:\s[^:：.]{0,40}|[^:：.\s]{0,10})[:：]|[^:：.]{0,40}\s(?:{below})(?:\s[^:：.]{0,40})?\W*$)"
)
"""A request about a text, with the text."""
_ASKING = r".*(?:[?？؟]$|(?<!\w)(?:{please}|{below})(?!\w).*[.。]$)"
"""A question or a request, with the text below it where that is much longer."""
_REPORTED = r"(?=[^:：.!?]{0,160}[:：])[^:：.!?]{0,80}(?:{reported})[^:：.!?]{0,40}[:：]"
"""Someone else's words are announced, with the words."""
_ANNOUNCED = re.compile(r"[:：]$")
_STOP = re.compile(r"[.!?…:;)。！？：；।؟]$")

# How a line begins or ends that comes from somewhere else.
_LISTED = re.compile(
    r"(?:[-*•+‣–·]|[A-Z]?\d{1,3}[.)]|\d{1,5}(?=\s\s|\t)|\(?(?:[a-z]|[ivx]{2,5})[.)]|\[[ x]\])\s"
)
_OPENING = (
    r"[\"'“‘«„「『¿¡`]|[*_]{1,2}(?=\w)|\((?![^.!?]*\)$)|(?:\.{3}|…)\s?|[@/](?=\w+\s)"
    r"|[\U0001F300-\U0001FAFF]+\s?"
)
"""What prose may have before its first word: a quote, emphasis, a mention, a command, an emoji."""
_AMOUNT = rf"[$€£]?\d+(?:(?:%|[a-z]{{2}})?\s(?!\|)|(?=[{UNSPACED}]))"
_WORD = r"(?![^\W\d_][.)]\s)[^\W\d_][^\s:()\[{<>|/=\\]*(?:(?:/[\w.]+)+(?=\s[^|])|\(?\))?:?(?:\s|$)"
_PROSE = re.compile(rf"(?:{_OPENING})?(?:{_AMOUNT}|{_WORD}|[^\W\d_]+[^\x00-\x7f])")
"""How a line of prose begins: with a word or an amount, and not with a sign, a time or code."""
_ASSIGNED = re.compile(
    r"[\w.-]{1,40}\s?(?:=|:=|=>|->|[|»➜→►])|[^\W_]{1,40}[._][\w.]{1,40}:\s|.{0,20}\b\d\d:\d\d:\d\d\b|.*(?:<<[-~]?['\"]?\w+|(?:[=(]\s?`|[{(\[]|:\s[>|][+-]?)$)|[^\t]{1,200}\t\S"
)
"""A line of a program, of a file of settings or of a log."""
_COPIED = re.compile(
    r"#{1,6} |(?i:re|fwd?|aw|wg): |diff --|@@ |>>> |=\w+$|PS [A-Z]:\\|(?:[A-Z]+ \S+ )?HTTP/\d"
)
"""The first line of a copied text: a document, a letter, a change, a terminal, a request, a manual."""
_CAPITAL = r"[A-ZÀ-ÞА-ЯЁ\d]\S*"
_ATTRIBUTED = re.compile(
    rf"(?:.*[.!?…\"”»*_]\s)?(?:[—–-]\s?{_CAPITAL}(?:\s\S+){{0,3}}|\({_CAPITAL}(?:\s{_CAPITAL}){{0,2}}\))(?<![.!?])"
)
"""The end of a quotation, `— Dave Miller`, after it or below it."""
_TITLE = re.compile(
    rf"[*_]*{_CAPITAL}(?:(?:\s(?:{_CAPITAL}|\w{{1,3}})){{0,2}}\s{_CAPITAL})?(?<![.!?…:;,)])"
)
"""A line that is the title of the next one: a word, or up to four of which most are large."""
_SPOKEN = re.compile(r"[^\s:：][^:：]{0,30}(?::(?:\s|\*|$)|：)")
_CLOCK = r"\d{1,2}:\d\d(?::\d\d)?(?:\s?[ap]\.?m\.?)?"
_DATED = rf"[\[(]?(?:\d[\d/.-]{{3,9}},?[T ]\s?)?{_CLOCK}[\])]?"
_NAME = r"<?[^\W\d][\w.'’ -]{0,30}>?"
_CHAT = re.compile(
    rf"(?:{_DATED}[\s,–-]{{1,3}}{_NAME}|{_NAME}(?:,\s|\s?(?=[\[(])){_DATED})\s?[:：]\s",
    re.IGNORECASE,
)
"""A line of a chat, `[10:02] dave: …` or `Dave, 10:02: …`."""
_ROLE = re.compile(
    r"\W{0,3}(?:(?:user|human|assistant|ai|bot|agent|system|tool)\b|[qa](?=[:：]))", re.IGNORECASE
)
_TIMED = re.compile(
    r".{0,40}\b\d{1,2}:\d\d(?::\d\d)?(?:\s?[AaPp]\.?[Mm]\.?)?[^\w.!?]{0,3}"
    r"|.{0,60}(?:[·•»].{1,60}|[★☆⭐]{2}.{0,20}|\bago\s?\|.{0,60}"
    r"|\b(?:commented|posted|replied|answered|asked|opened)\b.{0,20}\bago\b.{0,40})(?<![.!?])$"
)
"""The line over a post, a review or a message: who, when, how good."""


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
    reader = _Reader(text, by_shape=by_shape)
    for line in reader.lines:
        reader.read(line)
        if by_shape and reader.is_document:
            break
    return reader.result()


def own_words(text: str) -> str:
    r"""Return a text without its quoted, fenced, tagged and forwarded parts.

    >>> own_words("I like tea.\n> I prefer coffee")
    'I like tea.'
    """
    return written(text, by_shape=False).text


class _Reader:
    """Reads a message line by line."""

    def __init__(self, text: str, *, by_shape: bool) -> None:
        self.lines = text.splitlines()
        self._by_shape = by_shape
        self._own: list[str] = []
        self._lists: dict[int, str] = {}
        self._pasted: list[str] = []
        self._at = -1
        self._is_over: Callable[[str], bool] | None = None
        """Whether a line is the last one of the block that is read."""
        self._goes_on = False
        """Whether the next line belongs to a pasted one."""
        self._unlike = 0
        """How many characters are pasted by their shape only."""
        self._size = 0
        """How many characters are the author's."""
        closing = expression(_CLOSING)
        self._last_closing = max(
            (at for at, line in enumerate(self.lines) if closing.match(line.strip())), default=-1
        )
        self._closed = {
            name: at for at, line in enumerate(self.lines) for name in _END_TAG.findall(line)
        }
        spoken = sum(_SPOKEN.match(line.strip()) is not None for line in self.lines)
        self._is_chat = by_shape and spoken > 1

    def read(self, line: str) -> None:
        """Add a line to the own ones or to the pasted ones."""
        self._at += 1
        plain = line.strip()
        if self._is_over is not None:
            self._pasted.append(line)
            self._is_over = None if self._is_over(plain) else self._is_over
        elif not plain:
            self._goes_on = False
            self._own.append("")
        elif self._begins_block(line, plain):
            self._pasted.append(line)
        elif (
            (self._by_shape and self._is_foreign(plain))
            or _CHAT.match(plain)
            or is_labelled(plain)
            or expression(_REPORTED).match(plain[:200])
        ):
            self._unlike += len(plain)
            self._pasted.append(line)
            self._goes_on |= plain.endswith(":")
        else:
            self._own.append(_QUOTATION.sub(_unless_name, _INLINE.sub(" ", plain)))
            self._size += len(self._own[-1])
            below = [line.strip() for line in self.lines[self._at + 1 : self._at + 3]]
            is_shown = _LISTED.match(first := next(filter(None, below), "")) or _FENCE.match(first)
            if self._by_shape and _ANNOUNCED.search(plain) and not is_shown:
                self._is_over = _never

    def _begins_block(self, line: str, plain: str) -> bool:
        """Return whether a line is quoted, or begins a block, whose end is looked for from then on."""
        if fence := _FENCE.match(plain):
            self._is_over = lambda other: (
                other.startswith(fence[1]) and not other.strip(fence[1][0])
            )
        elif tag := _TAG.match(line):
            end = f"</{tag[1]}>"
            if end in line:
                return True
            is_closed = self._closed.get(tag[1], -1) > self._at
            # What follows an unclosed tag may belong to it, in a message of a chat.
            unclosed = _never if self._by_shape else operator.not_
            self._is_over = (lambda other: end in other) if is_closed else unclosed
        elif (closing := _QUOTES.get(plain[0])) and not any(end in plain[1:] for end in closing):
            self._is_over = lambda other: any(end in other for end in closing)
        elif self._begins_rest(plain):
            self._is_over = _never
        elif self._at < self._last_closing and expression(_GREETING).match(plain):
            self._is_over = lambda _: self._at >= self._last_closing
        else:
            return _QUOTED.match(line) is not None
        return True

    def _begins_rest(self, plain: str) -> bool:
        """Return whether everything from a line on is forwarded, answered or to be worked on."""
        head = plain[:200]
        following = self.lines[self._at + 1 : self._at + 2]
        if expression(_HEADER).match(head) and following and _FIELD.match(following[0]):
            return True
        if _COPIED.match(head) or expression(f"{_FORWARDED}|{_WROTE}|{_REQUEST}").match(head):
            return True
        # All so far may be one line that asks about a longer text below it, and not about its author.
        asked, *gap = self._own or [""]
        if not self._by_shape or not gap or any(gap) or not expression(_ASKING).fullmatch(asked):
            return False
        rest = sum(map(len, self.lines[self._at :]))
        return rest > MIN_BELOW * len(asked) and not pattern(spoken(asked).own).search(asked)

    def _is_foreign(self, plain: str) -> bool:
        """Return whether a line has the shape of a list, a log, a chat, a table or a program."""
        if _LISTED.match(plain):
            place = len(self._own) - 1
            if self._own and _ANNOUNCED.search(self._own[-1]):
                self._lists[place] = f"{self._lists.get(place, '')} {plain}"
            return True
        is_spoken = _SPOKEN.match(plain) and (self._is_chat or _ROLE.match(plain))
        if _TIMED.fullmatch(plain):
            self._is_over = _never
        elif is_spoken or not _PROSE.match(plain) or _ASSIGNED.match(plain):
            self._goes_on = True
        return self._goes_on or self._is_over is not None

    @property
    def is_document(self) -> bool:
        """Return whether the message is pasted as a whole, whatever follows."""
        return max(self._unlike, self._size) > MAX_WRITTEN

    def result(self) -> Written:
        """Return the lines; a document, a page and a mostly pasted message are pasted as a whole."""
        own = tuple(self._own)
        if self._by_shape:
            there = [line for line in own if line]
            open_ended = sum(not _STOP.search(line) for line in there)
            closing, answers = expression(_CLOSING), words_of_any("labels")
            is_page = (len(there) >= MIN_PAGE_LINES and 2 * open_ended >= len(there)) or any(
                # A title, and no greeting, thanks, answer or closing.
                _TITLE.fullmatch(line)
                and not closing.match(line)
                and answers.isdisjoint(words(line)[:1])
                for line in there[:-1]
            )
            is_quoted = bool(there) and _ATTRIBUTED.fullmatch(self.lines[-1].strip())
            if is_page or is_quoted or self._unlike > self._size or self.is_document:
                return Written((), {}, "\n".join(self.lines).strip())
        return Written(own, self._lists, "\n".join(self._pasted).strip())


def _never(_line: str) -> bool:
    return False


def _unless_name(quoted: re.Match[str]) -> str:
    is_name = len(quoted[0].split()) < QUOTED_WORDS and not _RUN.search(quoted[0])
    return quoted[0] if is_name else "…"


_RUN = re.compile(f"[{UNSPACED}]")
