"""What every kind of content is read into: lines that an entry may show, in content order.

An extractor writes an `Extraction` and does not choose; `select` chooses what fits and what pays.
"""

from __future__ import annotations

import contextlib
import functools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar

from hippocampus.models import tokens

P = ParamSpec("P")
T = TypeVar("T")
MAX_BY_HASH = 1 << 14
NUMBER, PLACE = "{}: ", "[{}] "
"""The forms of a line with its number in the content, and with its place in a list."""
PACKED_CHARACTERS = 110
"""How long a line of packed items may grow: about 30 tokens."""
FILLED = 2 / 3
"""A text in which spaces are rare is cut between words only in its last third."""
SPACES = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class EntryLine:
    """One line that an entry may show."""

    text: str
    """As it would read in the entry: terse, every identifier whole and next to its label."""
    weight: float = 1.0
    """How likely it is needed, relative to the other lines of the content; 1 is ordinary."""
    keep: bool = False
    """Stays whatever the budget: an error's message, a final summary, a total."""
    parent: int | None = None
    """The number of the line without which this one does not read (a heading, a file's name)."""
    count: int = 1
    """How many things of the content this line covers, for the count of a gap."""
    number: int | None = None
    """Its line in the content, from 1, or its place in a list, from 0; none for other lines."""
    unit: str = ""
    """The list that the line belongs to: a gap in it is counted apart, where part of it is shown."""
    form: str = NUMBER
    """The form of the number before the line."""

    def numbered(self) -> str:
        """Return the line after its number in the content."""
        return self.text if self.number is None else self.form.format(self.number) + self.text


class LaterLines(Sequence[EntryLine]):
    """Lines that are read at their first use: of most texts only the kind is needed."""

    def __init__(self, read: Callable[[], Iterable[EntryLine]]) -> None:
        """Name what reads the lines."""
        self._read = read

    @functools.cached_property
    def _lines(self) -> tuple[EntryLine, ...]:
        return tuple(self._read())

    def __getitem__(self, at: Any) -> Any:
        return self._lines[at]

    def __len__(self) -> int:
        return len(self._lines)


@dataclass(frozen=True, slots=True)
class Extraction:
    """A text as an extractor read it."""

    kind: str
    summary: str
    """What it is, in one line: title, counts, sizes, state."""
    lines: Sequence[EntryLine]
    key_data: dict[str, Any] = field(default_factory=dict)
    """Values that code may want: counts, cursors, the exit code, the error."""
    selectors: tuple[str, ...] = ()
    """Selectors that make sense for a recall of it, such as `lines=[1, 312]` or `pattern="…"`."""
    unit: str = "lines"
    """What a gap counts: rows, files, links, hits."""


@dataclass(frozen=True, slots=True)
class ExtractionContext:
    """The call and the task around a text, all of it from before it arrived."""

    arguments: str = ""
    """Of the call, as JSON: they decide nothing but which line of a file is the first."""
    is_error: bool = False
    """The tool reported a failure: its message stays whole."""
    task: str = ""
    """The user's words so far."""
    cited: frozenset[str] | set[str] = frozenset()
    """Identifiers of the content that the agent has used already; they stay."""
    known: Callable[[AbstractSet[str]], AbstractSet[str]] = frozenset[str]().intersection
    """Returns those of some identifiers that other payloads have too."""
    content_tokens: int = 1_000
    """What the whole content weighs."""


Extractor = Callable[[str], Extraction | None]
"""Reads a text that it recognises, or returns nothing; never raises, linear in its length."""


def kept_by_hash(read: Callable[Concatenate[str, P], T]) -> Callable[Concatenate[str, P], T]:
    """Return a function that remembers what it returned, by hashes of the texts.

    A digest repeats the steps of the one before it.
    """
    found: dict[tuple[object, ...], T] = {}

    def once(text: str, /, *args: P.args, **kwargs: P.kwargs) -> T:
        given = (text, *args, *kwargs.values())
        key = (*kwargs, *(tokens.digest(x) if isinstance(x, str) else x for x in given))
        with contextlib.suppress(KeyError):  # once: another thread may empty it between two lookups
            return found[key]
        value = read(text, *args, **kwargs)
        if len(found) >= MAX_BY_HASH:
            found.clear()
        found[key] = value
        return value

    return once


# What extractors write lines with


def cut(text: str, characters: int) -> str:
    """Return a text on one line, cut between words where it is longer."""
    flat = SPACES.sub(" ", text[: 4 * characters]).strip()
    if len(flat) <= characters:
        return flat
    end = flat.rfind(" ", 0 if flat.isascii() else int(FILLED * characters), characters + 1)
    return f"{flat[: end if end > 0 else characters]}…"


def packed(  # noqa: PLR0913 — what a line may have
    items: Iterable[str],
    label: str = "",
    *,
    weight: float = 1.0,
    parent: int | None = None,
    unit: str = "",
    characters: int = PACKED_CHARACTERS,
) -> list[EntryLine]:
    """Return lines that hold the items one after the other; every line opens with the label."""
    groups: list[list[str]] = []
    size = 0
    for item in items:
        if not groups or size + len(item) > characters:
            groups.append([])
            size = 0
        groups[-1].append(item)
        size += len(item) + 2
    lines: list[EntryLine] = []
    for group in groups:
        opening = f"{label}: " if label.strip() else label
        text = opening + ", ".join(group)
        lines.append(EntryLine(text, weight, parent=parent, count=len(group), unit=unit))
    return lines


def with_lines_before(extraction: Extraction, lines: Sequence[EntryLine]) -> Extraction:
    """Return an extraction that opens with more lines."""

    def joined() -> Iterator[EntryLine]:
        yield from lines
        for line in extraction.lines:
            parent = None if line.parent is None else line.parent + len(lines)
            yield replace(line, parent=parent)

    return replace(extraction, lines=LaterLines(joined))


def numbered_from(first: int, lines: Iterable[EntryLine]) -> Iterator[EntryLine]:
    """Yield lines of a part of a file with their numbers in the file; at 0, which is not known, with none.

    A place in a list stays as it is.
    """
    for line in lines:
        if line.number is None or line.form != NUMBER or first == 1:
            yield line
            continue
        number, form = (line.number + first - 1, NUMBER) if first else (line.number, "")
        same = line.text, line.weight, line.keep, line.parent, line.count
        yield EntryLine(*same, number, line.unit, form)  # in half the time of `replace`


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: `1 link`, `12 links`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def lines_in(text: str) -> int:
    """Return how many lines a text has; an end of line at its end begins none."""
    return text.count("\n") + (not text.endswith("\n"))


# An excerpt: the own lines of a text, whole and in order, with their numbers. Every kind without a form
# of its own is read into one; nothing is rewritten, so that no line can mislead.


DIGITS = bytes.maketrans(b"123456789", b"000000000")


@dataclass(frozen=True, slots=True)
class LineWeights:
    """What a line of a text is worth: chosen by reading, checked with one owner left out."""

    plain: float = 0.5
    first: float = 1.5
    """One of the first `head` lines, which identify a text."""
    last: float = 1.2
    """One of the last `tail` lines, where a run ends."""
    result: float = 0.7
    """Added for a total, a result, a label with a value."""
    failure: float = 2.0
    """Added for what failed: it is what a run is read for."""
    named: float = 1.5
    """Added for the logarithm of 1 and the identifiers that no line before has."""
    alike: float = 0.35
    """To the power of how often a line of the same form came before, at most `most_alike` times."""
    most_alike: int = 3
    head: int = 6
    tail: int = 4


WEIGHTS = LineWeights()
LINE_CHARACTERS = 400
"""A longer line is divided into sentences or pieces, and those are clipped to this."""
MAX_VALUE = 2_000
MIN_SENTENCE, MAX_PIECES = 30, 400
MAX_ROWS, TAIL_ROWS = 2_000, 400
"""Of more lines the first and the last are read, and the others counted only."""
WORDLESS = re.compile(r"[\W_]*")
RULE = re.compile(r"(\W)\1{3,}")
RESULT = re.compile(
    r"=>|->\s|\b(?:total|result|summary|passed|passing|error|warning|exception|denied|not found|"
    r"exit|status|version|final|score|accuracy|loss|found|created|deleted|updated)\b|"
    r"^[\"']?[\w ./()@-]{1,48}[\"']?\s*[:=]\s+?\S",
    re.IGNORECASE,
)
FAILURE = re.compile(
    r"\b[A-Z]\w*(?:Error|Exception)\b|\b(?:[Ff]ail(?:ed|ing|ure)?|FAIL(?:ED)?)\b|[✗✘❌]"
)
FAILURE_SIGNS = ("rror", "xception", "ail", "FAIL", "✗", "✘", "❌")
"""Every failure has one: a search for the signs takes a tenth of the time."""
NOTICE = re.compile(
    r"(?i)\btruncated\b|\bshowing (?:lines? |results? )?\d|\boffset\s?[=:]|\bmore lines?\b|"
    r"\blines? (?:above|below|omitted|left)\b|\bomitted\b|\bend of file\b|\blines total\b|\btoo large\b|"
    r"\bpartial\b.{0,40}\bview\b|\boutput (?:limit|saved|was)\b"
)
NOTICE_CHARACTERS = 300
ENDS, END_CHARACTERS = 2, 240
END = re.compile(r"(?<=[.!?。！？;])\s+|(?<=[。！？])")


@dataclass(frozen=True, slots=True)
class TextRow:
    """One line of a text."""

    number: int
    """As the content numbers it, else its place in the content, from 1."""
    text: str


def rows_of(text: str) -> list[TextRow]:
    """Return the lines of a text with their numbers; empty lines are left out."""
    lines = text.split("\n")
    filled = ends_of([at for at, line in enumerate(lines) if line.strip()])
    return [TextRow(at + 1, lines[at]) for at in filled]


def ends_of(rows: list[T]) -> list[T]:
    """Return the first and the last rows, where there are more than an entry can need."""
    return rows if len(rows) <= MAX_ROWS else rows[: MAX_ROWS - TAIL_ROWS] + rows[-TAIL_ROWS:]


def is_notice(line: str) -> bool:
    """Return whether a line is a tool's own note that a part is missing."""
    return len(line) < NOTICE_CHARACTERS and NOTICE.search(line) is not None


def says_failure(text: str) -> bool:
    """Return whether a text names a failure."""
    return any(map(text.__contains__, FAILURE_SIGNS)) and FAILURE.search(text) is not None


def excerpt(
    rows: Sequence[TextRow], weigh: Callable[[TextRow], float] | None = None
) -> Iterator[EntryLine]:
    """Yield the lines that have words, with weights; `weigh` returns one where the kind knows better.

    Without it the last two stay where they are short: they show how a run ended.
    """
    seen: set[str] = set()
    forms: dict[str, int] = {}
    # With each digit as 0: lines that differ in their digits have one form.
    raw = "\n".join(row.text for row in rows).encode("utf-8", "surrogatepass").translate(DIGITS)
    masks = raw.decode("utf-8", "surrogatepass").split("\n") if rows else []
    last = len(rows) - WEIGHTS.tail
    for at, (row, mask) in enumerate(zip(rows, masks, strict=True)):
        if WORDLESS.fullmatch(row.text):
            continue
        edge = at < WEIGHTS.head or at >= last
        if weigh:
            base = weigh(row)
        else:
            base = WEIGHTS.first if at < WEIGHTS.head else WEIGHTS.last if edge else WEIGHTS.plain
            if says_failure(row.text[:LINE_CHARACTERS]):
                base += WEIGHTS.failure
            elif _is_result(row.text):
                base += WEIGHTS.result
        before = forms[mask] = forms.get(mask, -1) + 1
        alike = WEIGHTS.alike ** min(before, WEIGHTS.most_alike)
        for text in _pieces(row.text.rstrip()):
            names = identifiers(text)
            fresh = len(names - seen)
            seen |= names
            weight = alike * (base + WEIGHTS.named * math.log1p(fresh))
            ends = at >= len(rows) - ENDS and len(text) < END_CHARACTERS and weigh is None
            keep = ends or (edge and is_notice(text))
            yield EntryLine(text, weight, keep, count=0, number=row.number)


def _is_result(text: str) -> bool:
    # Without the blanks before it: the pattern for a label would try every division of them.
    return RESULT.search(text[:LINE_CHARACTERS].lstrip()) is not None


def without_rules(line: str) -> str:
    """Return a long line without the runs of one sign that fill a terminal's width."""
    return RULE.sub(r"\1\1\1", line) if len(line) > LINE_CHARACTERS else line


def _pieces(line: str) -> Iterator[str]:
    """Yield a line, or the sentences of a long one; one value without spaces stays whole."""
    line = without_rules(line)
    if len(line) <= LINE_CHARACTERS or (len(line) <= MAX_VALUE and " " not in line.strip()):
        yield line
        return
    sentences = [""]
    for sentence in END.split(line):
        if len(sentences[-1]) >= MIN_SENTENCE:
            sentences.append("")
        # Short ones stay together: an initial or an abbreviation ends none.
        sentences[-1] = f"{sentences[-1]} {sentence}".strip()
    pieces: list[str] = []
    for sentence in sentences:
        start = 0
        while len(sentence) - start > LINE_CHARACTERS and len(pieces) < MAX_PIECES:
            # Cut where a word or a value ends.
            last = max(sentence.rfind(sign, start, start + LINE_CHARACTERS) for sign in " ,;}")
            end = last + 1 if last > start else start + LINE_CHARACTERS
            pieces.append(sentence[start:end].strip())
            start = end
        pieces += filter(None, [sentence[start:].strip()])
    yield from pieces[:MAX_PIECES]


# What a single value looks like: an identifier, an address, a date, a number, words


Shape = Literal["id", "url", "path", "date", "number", "flag", "empty", "words", "text"]

UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
HASH = re.compile(r"(?=.*\d)(?=.*[a-fA-F])[0-9a-fA-F]{7,128}")
DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d\S*)?|\d\d:\d\d(?::\d\d\S*)?")
URL = re.compile(r"[a-z][a-z0-9+.-]{1,12}://\S+")
PATH = re.compile(r"~?/?[\w@.+-]+(?:/[\w@.+-]+)+/?|[\w-]+\.[a-z][a-z0-9]{0,4}")
CODED = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:@#-]*")
TELLING = re.compile(r"[0-9_:@#]|[a-z][A-Z]|\w\.\w|\w-\w")
OPAQUE = re.compile(r"[A-Za-z0-9+/_=-]{40,}")
"""Long and without a word in it: encoded bytes, which are not typed again."""
SHORT_CHARACTERS, MAX_SHAPED = 80, 320
MAX_ID_CHARACTERS = 80
PART_CHARACTERS = 1 << 20
REMEMBERED_CHARACTERS, REMEMBERED = 500, 2_048
"""The names of texts up to this size are kept for a while, and how many texts."""

IDENTIFIER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./:@#-]{4,120}[A-Za-z0-9_]")
PUNCTUATION = "./:@#-"
"""What an identifier may have inside, and not at its ends."""
BLANKS = bytes(
    code if re.match(rf"[\w{PUNCTUATION}]", chr(code), re.ASCII) else ord(" ")
    for code in range(256)
)
"""A table with a blank for every byte that no identifier has."""
MIN_CHARACTERS, MAX_CHARACTERS = 6, 122
NAMED = re.compile(r"[0-9_/]|[a-z][A-Z]|\w\.\w")


def identifiers(text: str) -> frozenset[str]:
    """Return what a text names exactly: ids, paths, names in code, figures, dates."""
    small = len(text) <= REMEMBERED_CHARACTERS
    return _remembered(text) if small else _just_remembered(text)


def _identifiers(text: str) -> frozenset[str]:
    """Return what `IDENTIFIER` finds that `NAMED` matches, without a regular expression for most words."""
    plain = text.encode("ascii", "replace").translate(BLANKS).decode("ascii")
    words, found = set[str](), set[str]()
    start = 0
    while start < len(plain):  # in parts: all words of a log at once take ten times its memory
        end = plain.find(" ", start + PART_CHARACTERS)
        part = plain[start : end if end > 0 else len(plain)]
        words.update(part.split())
        start += len(part)
    for word in words:
        if len(word) < MIN_CHARACTERS or (word.isalpha() and word.islower()):
            continue
        name = word.strip(PUNCTUATION)
        if len(word) > MAX_CHARACTERS:
            found.update(filter(NAMED.search, IDENTIFIER.findall(word)))
        elif len(name) >= MIN_CHARACTERS and ("_" in name or "/" in name or NAMED.search(name)):
            found.add(name)
    return frozenset(found)


_just_remembered = functools.lru_cache(maxsize=8)(_identifiers)
_remembered = functools.lru_cache(REMEMBERED)(_identifiers)
"""Messages are searched again when a payload leaves, and a line when its entry shrinks."""


def shape_of(value: object) -> Shape:
    """Return what a scalar looks like."""
    if value is None or value == "":
        return "empty"
    if isinstance(value, bool):
        return "flag"
    if isinstance(value, int | float):
        return "number"
    text = str(value)
    return "text" if len(text) > MAX_SHAPED else _shape_of_text(text)


@functools.lru_cache(REMEMBERED)
def _shape_of_text(text: str) -> Shape:
    """Cached: few values of a column differ, and their shapes are needed three times."""
    for shape, pattern in _PATTERNS:
        if pattern.fullmatch(text):
            return shape
    if len(text) <= MAX_ID_CHARACTERS and CODED.fullmatch(text) and TELLING.search(text):
        return "id"
    return "words" if len(text) <= SHORT_CHARACTERS else "text"


_PATTERNS: tuple[tuple[Shape, re.Pattern[str]], ...] = (
    ("id", UUID),
    ("date", DATE),
    ("number", re.compile(r"-?\d+(?:\.\d+)?")),
    ("id", HASH),
    ("url", URL),
    ("path", PATH),
    ("text", OPAQUE),
)
