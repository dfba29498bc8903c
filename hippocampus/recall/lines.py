"""The lines of a text as a recall counts, matches and fits them into a token budget. Pure.

JSON on one line is broken into records with their paths.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from hippocampus import patterns
from hippocampus.entries.entry import storable
from hippocampus.errors import RecallError
from hippocampus.indexing import unwrap
from hippocampus.indexing.arguments import REPLACED
from hippocampus.indexing.unwrap import output_of
from hippocampus.models import tokens
from hippocampus.patterns import searchable
from hippocampus.secrets.encodings import ANSI

LONG_LINE_CHARACTERS = 400
"""Of a longer line, a pattern returns only the text around a match; JSON on one is broken."""
RECORD_CHARACTERS = 1_000
"""JSON of up to this size is one line."""
MAX_PATH_CHARACTERS = 300
"""Of a longer path, a line shows the end."""
CACHED_TEXTS, CACHED_LINES = 4, 4_096
"""How many paged texts are cached, since a model recalls the same one several times, and lines of a search."""
NOTE_TOKENS = 32
"""The most tokens of the note; they are part of the budget."""
MIN_TOKENS = 2 * NOTE_TOKENS
"""Under this budget nothing useful fits next to the note."""
MAX_TOKEN_CHARACTERS, USUAL_CHARACTERS = 128, 4
"""The length of the longest token of the vocabularies, and of a usual one."""
MAX_PATTERN_CHARACTERS = 2_000
MAX_PATTERN_STEPS = 10_000_000_000
"""RE2 runs each instruction of a pattern for each character at worst: in twelve seconds."""
UNSUPPORTED = ("invalid perl", "invalid named", "invalid escape", "bad repetition")
"""How RE2's errors begin for what only other engines have."""
LINEAR = "RE2 has no lookaround and no backreferences; match more and read on in the answer"
AROUND_CHARACTERS = 150
MAX_EXCERPT_MEMORY = 64 << 20
"""More than for a pattern by itself, so that it compiles with the text around it, too."""
MAX_CONTEXT_LINES = 50
GAP = "--"
"""Separates lines that are not consecutive, where context lines are included."""


class NumberedLine(NamedTuple):
    """One line of an answer."""

    number: int
    text: str
    mark: str = ":"
    """Follows the number: `:`, or `-` for a context line of a match."""
    path: str = ""
    """The path of a JSON record, in place of the number."""

    def __str__(self) -> str:
        """Return the line as the model reads it; our own lines have no number (0)."""
        return f"{self.path or self.number}{self.mark} {self.text}" if self.number else self.text


class Paged(NamedTuple):
    """A text with the lines that a recall counts."""

    text: str
    paths: Sequence[str] = ()
    """The paths of the first lines, where they are JSON records."""
    inner: str = ""
    """The text that is the JSON, or most of it: its lines come first."""


Note = Callable[[int, int, int], str]
"""Returns the note about left-out lines, from the number of lines that are returned, the number of
found lines that are not, and the line number of the first left-out one."""


def pages(text: str) -> list[str]:
    """Return the lines of a text as a recall counts them; JSON on one line is broken first."""
    return paged(text).text.split("\n")


@functools.lru_cache(maxsize=CACHED_TEXTS)
def paged(text: str) -> Paged:
    """Return a text with lines to page: the text itself, or the JSON of its long lines, a record each.

    Lines of long strings inside the JSON are lines too, and the words around it come last.
    """
    from hippocampus.formats.json_paths import written

    value, words = decoded(text)
    if isinstance(value, str):
        return Paged(storable("\n".join((value, *words))), inner=value)
    inner, rest, place = unwrap.parted(value, len(text))
    is_long = len(text) >= LONG_LINE_CHARACTERS * max(1, text.count("\n", 0, -1))
    if not (isinstance(value, dict | list) and (is_long or inner)):
        return Paged(text)
    own = [(written(place), line) for line in inner.split("\n")] if inner else []
    lines = [*own, *records(rest)]
    joined = storable("\n".join([*(line for _, line in lines), *words]))
    return Paged(joined, [storable(path) for path, _ in lines], inner)


@functools.lru_cache(maxsize=CACHED_TEXTS)
def decoded(text: str) -> tuple[Any, list[str]]:
    """Return the value of a JSON text, or None, and the words around it; JSON in its strings is decoded.

    A tool may have printed line numbers and notes. The value is cached and shared: callers must not
    change it.
    """
    value, words = unwrap.json_and_words(text)
    if value is None and (output := output_of(unwrap.plain(text))).body != text:
        return unwrap.json_and_words(output.body)
    return value, words


def records(value: Any, path: str = "$") -> Iterator[tuple[str, str]]:
    """Yield the lines of a JSON value with their paths; `path` is its own.

    A short value is one line. A longer object is a line of its short fields, then its long ones, or
    before them where these are strings, one that another replaces last; a longer list its items, or as
    many plain ones as fit; a longer string its own lines.
    """
    from hippocampus.formats.json_paths import step

    waiting = [(path, value)]
    while waiting:
        path, value = waiting.pop()
        path = path if len(path) <= MAX_PATH_CHARACTERS else "$…"
        if isinstance(value, str) and not _is_short(value, LONG_LINE_CHARACTERS):
            yield from ((path, line) for line in value.split("\n"))
        elif not isinstance(value, dict | list) or _is_short(value, RECORD_CHARACTERS):
            yield path, json.dumps(value, ensure_ascii=False)
        elif isinstance(value, dict):
            shorts = {key: _is_short(inner, LONG_LINE_CHARACTERS) for key, inner in value.items()}
            fields = [
                json.dumps({key: value[key]}, ensure_ascii=False)[1:-1]
                for key, is_short in shorts.items()
                if is_short
            ]
            long = [key for key, is_short in shorts.items() if not is_short]
            own = [(path + step(key), value[key]) for key in reversed(long)]
            if texts := long_texts(value):  # their lines have their own numbers
                for key, text in texts.items():
                    yield from ((path + step(key), line) for line in text.split("\n"))
                own = []
            yield from ((path, f"{{{line}}}") for _, line in _joined(fields))
            waiting += own
        elif any(
            isinstance(inner, dict | list)
            or (isinstance(inner, str) and not _is_short(inner, LONG_LINE_CHARACTERS))
            for inner in value
        ):
            waiting += [(f"{path}[{at}]", inner) for at, inner in reversed(list(enumerate(value)))]
        else:
            items = (json.dumps(inner, ensure_ascii=False) for inner in value)
            for at, line in _joined(items):
                yield f"{path}[{at.start}:{at.stop}]", f"[{line}]"


def long_texts(value: dict[str, Any]) -> dict[str, str]:
    """Return the long texts of a JSON object with no other long value, those that others replace last."""
    long = {key: item for key, item in value.items() if not _is_short(item, LONG_LINE_CHARACTERS)}
    if not all(isinstance(text, str) for text in long.values()):
        return {}
    return dict(sorted(long.items(), key=lambda pair: REPLACED.match(pair[0]) is not None))


def _is_short(value: Any, characters: int) -> bool:
    """Return whether the JSON of a value has at most about this many characters, in as many steps."""
    waiting = [value]
    while waiting and characters > 0:
        inner = waiting.pop()
        characters -= 4
        if isinstance(inner, str):
            characters -= len(inner)
        elif isinstance(inner, dict | list):
            characters -= 4 * len(inner)
            if characters > 0 and isinstance(inner, dict):
                characters -= sum(map(len, inner))
                waiting += inner.values()
            elif characters > 0:
                waiting += inner
    return characters > 0


def _joined(pieces: Iterable[str]) -> Iterator[tuple[slice, str]]:
    """Yield as many pieces as fit a line, with their place among all."""
    line: list[str] = []
    start = size = 0
    for at, piece in enumerate(pieces):
        if line and size + len(piece) > RECORD_CHARACTERS:
            yield slice(start, at), ", ".join(line)
            start, line, size = at, [], 0
        line.append(piece)
        size += len(piece) + 2
    if line:
        yield slice(start, start + len(line)), ", ".join(line)


def matching(paged: Paged, pattern: str, context: int = 0) -> Iterator[NumberedLine]:
    """Yield the lines that match, with their colours or without; of long lines, the text around each match.

    `context` is the number of lines before and after each match that are included.

    Raises:
        PatternError: a search for it takes too long.
        RecallError: the pattern is not an RE2 expression, or too long.
    """
    if len(pattern) > MAX_PATTERN_CHARACTERS:
        most = f"{MAX_PATTERN_CHARACTERS:,} characters"
        raise RecallError("bad_request", f"the pattern is longer than {most}; ask by query")
    try:
        wanted = patterns.compiled(searchable(pattern))
    except patterns.PatternError as wrong:
        hint = f". {LINEAR}" if str(wrong).startswith(UNSUPPORTED) else ""
        text = f"pattern {pattern!r} is no regular expression (RE2): {wrong}{hint}"
        raise RecallError("bad_request", text) from None
    if wanted.programsize * len(paged.text) > MAX_PATTERN_STEPS:
        raise patterns.PatternError("its repeats are too many for so long a text")

    @functools.lru_cache(CACHED_LINES)  # of millions of lines nearly all are empty, or alike
    def matched(line: str) -> str | None:
        forms = (line, ANSI.sub("", line)) if "\x1b" in line else (line,)
        return next((form for form in forms if wanted.search(searchable(form))), None)

    longest = 2 * RECORD_CHARACTERS if paged.paths else LONG_LINE_CHARACTERS
    lines = paged.text.split("\n")
    found: Iterator[NumberedLine] = (
        NumberedLine(number, part)
        for number, line in enumerate(lines, start=1)
        if (form := matched(line)) is not None
        for part in ([line] if len(line) <= longest else _excerpts(form, pattern))
    )
    if context > 0:
        found = _with_context(found, lines, min(context, MAX_CONTEXT_LINES), longest)
    for line in found:
        is_record = 0 < line.number <= len(paged.paths)
        yield line._replace(path=paged.paths[line.number - 1]) if is_record else line


def _excerpts(line: str, pattern: str) -> Iterator[str]:
    """Yield the text around the matches in a long line; nearby matches share one excerpt.

    A match includes the text after it, where no other is searched: a line may have millions.
    """
    with_text = f"(?:{searchable(pattern)}).{{0,{AROUND_CHARACTERS}}}"
    found = patterns.compiled(with_text, memory_bytes=MAX_EXCERPT_MEMORY)
    for first, end in (match.span() for match in found.finditer(searchable(line))):
        start = max(0, first - AROUND_CHARACTERS)
        yield f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"


def _with_context(
    found: Iterator[NumberedLine], lines: list[str], context: int, longest: int
) -> Iterator[NumberedLine]:
    """Yield matches with the lines around them, no line twice."""

    def around(first: int, end: int) -> Iterator[NumberedLine]:
        for number, line in enumerate(lines[first - 1 : end - 1], start=first):
            cut = line if len(line) <= longest else f"{line[: longest // 2]}…"
            yield NumberedLine(number, cut, "-")

    shown_to = 0
    ahead = next(found, None)
    while ahead is not None:
        match, ahead = ahead, next(found, None)
        first = max(shown_to + 1, match.number - context)
        if shown_to and first > shown_to + 1:
            yield NumberedLine(0, GAP)
        yield from around(first, match.number)
        yield match
        before_next = ahead.number - 1 if ahead else len(lines)
        shown_to = max(match.number, min(match.number + context, before_next))
        yield from around(match.number + 1, shown_to + 1)


def fit(
    found: Iterable[NumberedLine], max_tokens: int, note: Note, *, from_end: bool = False
) -> str:
    """Return the lines that fit, and a note if some do not, both within `max_tokens`.

    With `from_end` the lines come last to first; they are returned in order, below the note.

    Raises:
        RecallError: nothing was found, or the budget is too small for any line.
    """
    lines: list[NumberedLine] = []
    costs: list[int] = []
    total = -1
    for line in found:
        lines.append(line)
        # Of a line that does not fit, any number over the budget is as good.
        costs.append(tokens.count(str(line)[: MAX_TOKEN_CHARACTERS * (max_tokens + 1)]) + 1)
        total += costs[-1]
        if total > max_tokens:
            parts = _cut(lines, costs, max_tokens, note)
            break
    else:
        parts = [str(line) for line in lines]
    if not parts:
        text = "nothing in this content matches; try another pattern, path or query"
        raise RecallError("no_match", text)
    return "\n".join(reversed(parts) if from_end else parts)


def _cut(lines: list[NumberedLine], costs: list[int], max_tokens: int, note: Note) -> list[str]:
    """Return the first lines that fit, with the note."""
    if max_tokens < MIN_TOKENS:
        text = f"max_tokens={max_tokens} is too small for it; ask for {MIN_TOKENS} or more"
        raise RecallError("too_large", text)
    budget_tokens = max_tokens - NOTE_TOKENS
    whole, used = 0, costs[0]
    while used <= budget_tokens:
        whole += 1
        used += costs[whole]
    if not whole:
        cut = f"(line {lines[0].number} is cut after {budget_tokens} tokens; ask for a pattern)"
        return [start_of(str(lines[0]), budget_tokens), cut]
    while whole > 1 and lines[whole - 1].text == GAP:
        whole -= 1
    shown = [str(line) for line in lines[:whole]]
    return [*shown, note(whole, len(lines) - whole, lines[whole].number)]


def start_of(text: str, max_tokens: int) -> str:
    """Return the start of a text, of at most `max_tokens` tokens."""
    head = text[: max_tokens * USUAL_CHARACTERS]
    while head and (count := tokens.count(head)) > max_tokens:
        head = head[: len(head) * max_tokens // count]
    return head
