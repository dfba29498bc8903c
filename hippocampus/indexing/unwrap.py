"""Takes off wrappings, so that one extractor serves all wrappings. Pure and linear.

JSON inside a JSON string, the envelope of MCP, code fences, terminal colours, progress bars; wrapper lines,
notices and line numbers of a tool. Text around the content stays as notes, and lines keep their own numbers.
"""

from __future__ import annotations

import functools
import itertools
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from hippocampus.formats import json_text
from hippocampus.formats.json_text import NOTHING
from hippocampus.formats.tool_calls import lines_in
from hippocampus.indexing.extraction import is_notice
from hippocampus.secrets.encodings import ANSI

PROGRESS = re.compile(r"^[^\n]*\r(?!\n|\Z)", re.MULTILINE)
"""What a terminal overwrites: all of a line before its last carriage return with a text after it."""
FENCE = re.compile(r"\A\s*```[\w+-]*\n(.*)\n```\s*\Z", re.DOTALL)
DECODER = json.JSONDecoder()
QUOTE = re.compile(r"\s*\"")
CONTAINER = re.compile(r"[\[{](?=\s*[\[{\"\d\]}tfn-])")
NEXT_BLOCK = re.compile(r"[ \t\r]*\n\s*(?=[\[{])")
MAX_BLOCKS = 8
"""More JSON values, one after the other, are the lines of a log."""
MAX_PREFACE = 2_000
"""JSON may follow some words, as in results of query tools."""
MAX_AROUND = 1_500
"""Words around JSON up to here are a note of the tool, whatever the size of the JSON."""
MIN_NOTED = 120
"""A shorter JSON value is the content only where the note around it is no longer."""
JSON_SHARE = 0.7
"""The share of a text that must be its JSON value where more words surround it."""
CONTAINERS = (dict, list)
BLOCK_KEYS = {"type", "text", "annotations", "meta", "_meta"}
ENVELOPE_KEYS = {"meta", "_meta", "content", "structuredContent", "isError"}
ONLY_RESULT = {"result"}
MAX_LAYERS, MAX_NOTED_LAYERS = 8, 4
K = TypeVar("K")
MIN_INNER = 24
DOMINANT_CHARACTERS = 1_500
"""From this length on a text that is half of a JSON document is read by its own kind."""


def plain(text: str) -> str:
    """Return a text without terminal colours, carriage returns, overwritten progress and an outer fence."""
    if "\x1b" in text:
        text = ANSI.sub("", text)
    if "\r" in text:
        text = PROGRESS.sub("", text.replace("\r\n", "\n"))
    fenced = FENCE.match(text) if text.lstrip()[:3] == "```" else None
    return fenced.group(1) if fenced else text


def json_and_words(text: str) -> tuple[Any, list[str]]:
    """Return the JSON value in a text, or nothing, and the words around it and inside envelopes.

    The JSON in its strings is read too. Words around it are no hindrance where they are few.
    """
    words: list[str] = []
    found = _embedded(text, words)
    value = None if found is NOTHING or json_text.is_deep(found) else _inner(found, 0, words)
    return (None, []) if value is None or json_text.is_deep(value) else (value, words)


class Parted(NamedTuple):
    """A text that is most of a JSON value."""

    text: str
    """Empty for none."""
    rest: Any
    """The value without it."""
    place: tuple[str | int, ...] = ()
    """The keys and indices that lead to it."""


def parted(value: Any, characters: int) -> Parted:
    """Return the text that is half of a JSON value; `characters` is the length of its JSON."""
    min_characters = max(DOMINANT_CHARACTERS, characters // 2)
    waiting: list[tuple[tuple[str | int, ...], Any]] = [((), value)]
    while waiting:  # in the order of the text; no call a value, since a large one has thousands
        place, found = waiting.pop()
        if isinstance(found, str) and len(found) >= min_characters:
            return Parted(found, _without(value, place), place)
        if isinstance(found, CONTAINERS):
            inside = []
            for key, inner in found.items() if isinstance(found, dict) else enumerate(found):
                is_long = isinstance(inner, str) and len(inner) >= min_characters
                if is_long or isinstance(inner, CONTAINERS):
                    inside.append(((*place, key), inner))
            waiting += inside[::-1]
    return Parted("", value)


def _without(value: Any, place: Sequence[str | int]) -> Any:
    """Return a value with an empty text at a place."""
    if not place:
        return ""
    around = value.copy()
    around[place[0]] = _without(value[place[0]], place[1:])
    return around


def _embedded(text: str, words: list[str]) -> Any:
    """Return the value that a text holds; the text around it is added to the words."""
    head = text[:MAX_PREFACE]
    start = QUOTE.match(head) or CONTAINER.search(head)
    if start is None:
        return NOTHING
    first = start.start()
    try:
        value, end = DECODER.raw_decode(text, first)
    except json_text.UNREADABLE:
        return NOTHING
    values, last = [value], end
    while (
        len(values) <= MAX_BLOCKS
        and isinstance(values[-1], CONTAINERS)
        and (following := NEXT_BLOCK.match(text, last))
    ):
        try:
            value, last = DECODER.raw_decode(text, following.end())
        except json_text.UNREADABLE:
            break
        values.append(value)
    # Several blocks are one result, as MCP servers return it; many are the lines of a log.
    value, end = (values, last) if 1 < len(values) <= MAX_BLOCKS else (values[0], end)
    pieces, size = (text[:first].strip(), text[end:].strip()), end - first
    around = sum(map(len, pieces))
    if isinstance(value, str) or around > MAX_AROUND:
        is_found = size >= JSON_SHARE * len(text)
    else:
        is_found = around <= size or (bool(value) and size > MIN_NOTED)
    if not is_found:
        return NOTHING
    words += filter(None, pieces)
    return value


def _inner(value: Any, layers: int, words: list[str]) -> Any:
    """Replace strings that hold JSON by their value, and envelopes by their content."""
    if layers > MAX_LAYERS:
        return value
    if isinstance(value, dict):
        return _inner_of_object(value, layers, words)
    if isinstance(value, list):
        inner = list(value)
        for at in _holding(enumerate(value)):
            inner[at] = _inner(value[at], layers + 1, words)
        is_layer = len(inner) == 1 and isinstance(value[0], dict) and not isinstance(inner[0], dict)
        return inner[0] if is_layer else inner
    if isinstance(value, str) and _holding([(0, value)]):
        found = _embedded(value, words if layers < MAX_NOTED_LAYERS else [])
        return value if found is NOTHING else _inner(found, layers + 1, words)
    return value


def _inner_of_object(value: dict[str, Any], layers: int, words: list[str]) -> Any:
    is_block = value.get("type") == "text" and isinstance(value.get("text"), str)
    if is_block and value.keys() <= BLOCK_KEYS:
        return _inner(value["text"], layers + 1, words)
    blocks = value.get("content")
    if not isinstance(blocks, list) or not ENVELOPE_KEYS >= value.keys() != {"content"}:
        read = {key: _inner(value[key], layers + 1, words) for key in _holding(value.items())}
        return {**value, **read} if read else value
    # The content of an MCP result, once where its structured form is the same.
    inner = [_inner(block, layers + 1, words) for block in blocks]
    content = inner[0] if len(inner) == 1 else inner
    structured = value.get("structuredContent")
    if structured not in (None, {}):
        structured = _inner(structured, layers + 1, [])
        one, other = _bare(content), _bare(structured)
        if one != other and not (isinstance(one, str) and one == json.dumps(other)):
            content = {"content": content, "structuredContent": structured}
    if value.get("isError"):
        words.append("isError=true")
    return content


def _bare(value: Any) -> Any:
    while (isinstance(value, list) and len(value) == 1) or (
        isinstance(value, dict) and value.keys() == ONLY_RESULT
    ):
        value = value[0] if isinstance(value, list) else value["result"]
    return value


def _holding(values: Iterable[tuple[K, Any]]) -> list[K]:
    """Return the keys of the values that can have others in them; fast, since most of a large one cannot."""
    found = []
    for key, value in values:
        # A list may have thousands of records, most of them flat: none is a block of text.
        is_record = isinstance(value, dict) and value.get("type") != "text"
        for inner in value.values() if is_record else (value,):
            if isinstance(inner, CONTAINERS) or (
                isinstance(inner, str)
                and len(inner) >= MIN_INNER
                and ("{" in inner or "[" in inner or '"' in inner)
            ):
                found.append(key)
                break
    return found


# The lines of a tool around its content, and the numbers that it printed


HEADS = (
    # Codex CLI
    r"(?:[A-Z][A-Za-z ]{2,40}(?:: | exited with code | running with session ID )[^\n]{0,300}\n){1,8}(?:Output|Stdout|STDOUT):[ \t]*\n(?:Warning: truncated output[^\n]*\n)?(?:Total output lines: \d+\n\n)?",
    # Gemini CLI: a command, a part of a file
    r"Command: [\s\S]{1,4000}?\nDirectory: [^\n]{1,400}\n(?:Output|Stdout): ",
    r"(?:IMPORTANT: [^\n]{1,200}\nStatus: )?Showing lines \d+-\d+ of \d+ [^\n]{1,60}\n(?:Action: [^\n]{1,600}\n)?\s*?---[^\n]{0,60}\n\n?",
    r"(?:rc|exit[_ ]?code|returncode|Exit code)[=: ]+-?\d+\n(?:Wall time[^\n]*\n)?(?:Output:\n)?",
    r"(?P<meter>)% Total[^\n]*\n +Dload[^\n]*\n\s*?\n(?:[\d.:kMG -]*\n){1,40}",  # curl
    r"<untrusted_context>\n(?:Output: )?",
    # mini-swe-agent, and the start of an output that it cuts in the middle
    r"<returncode>-?\d+</returncode>\n(?:<output>\n?|<warning>[\s\S]{1,2000}?</warning>\s?<output_head>\n?)?",
    r"(?:<(?:path|type)>[^\n]{0,600}\n){0,3}<(?:content|file|output)>\n?",
)
HEAD = re.compile(rf"\A\s*(?:{'|'.join(HEADS)})")
"""What tools print before the content itself."""
TAIL = re.compile(
    r"(?:\n{0,9}(?:<system-reminder>[\s\S]{0,4000}</system-reminder>|</(?:content|file|output|output_tail)>|"
    r"\(End of file[^\n]{0,200}\)))+\Z"
)
"""What tools print after it: it would be part of the last numbered line, or of the last row."""
TAIL_CHARACTERS = 6_000
MAX_END_CHARACTERS = 213
CLOSED = ("</system-reminder>", "</content>", "</file>", "</output>", "</output_tail>")
"""How its last line ends, but for one with `(End of file`, which has up to this many characters."""
NUMBERED = re.compile(r"^ {0,8}0{0,6}(\d{1,7})(?:\t|→|: | ?\| ?|:(?=\S)|:(?=\r?$)|-)(.*)$")
MAX_MISSING = 100_000
"""Up to this many lines, a dump has empty ones in place of those that it leaves out."""
NUMBERED_SHARE = 0.9
NOTED_LINES = 5
"""From here on a dump may have one other line, such as the tool's note after a short part."""
AROUND_LINES = 8
"""Up to here lines without a number may surround numbered ones."""
SAMPLE_LINES, MAX_HEAD_LINES = 60, 40
PART = re.compile(r"(?i)\blines?:? (\d{1,7})\s?(?:-|–|to)\s?(\d{1,7})\b(?: \(?(?:out )?of (\d+))?")
OFFSET = re.compile(r"\"(?:offset|start_line|startLine|line_start)\"\s*:\s*\"?(\d{1,7})")
WRITES = re.compile(r"\"(?:replace|new|old|insert|content|edit|patch|diff)\w*\"\s*:")
READS_PART = re.compile(r"^[^;&|\n]{0,200}?\bsed -n ['\"]?(\d{1,7}),\s?(\d{1,7})p[^;&|\n]*$")
COMMAND = re.compile(r"\"(?:command|cmd)\"\s*:\s*\"((?:[^\"\\]|\\.)*)")
MAX_ARGUMENTS, MAX_COMMAND = 4_000, 600
"""The characters of a call's arguments, and of one without a name, that are searched for lines."""
NOTICE_CHARACTERS, NOTICE_LINES = 600, 4
"""Where a tool's notice is: in the lines at both ends of an output."""
CUT_WORDS = ("truncated", "omitted", "elided", "skipped")
CUT = re.compile(
    r"(?i)\s*[.…\[<(*-](?=[^\n]*\d)[^\n]{0,80}\b(?:truncated|omitted|elided|skipped)\b[^\n]{0,80}[.…\]>)*-]"
    r"|</output_head>"
)
CUT_INSIDE = re.compile(r"…\d[\d,]* (?:bytes|chars|characters|lines|tokens) truncated…")
MAX_CUTS = 3
MIN_EVERY = 2
MIN_LINES = 3


@dataclass(frozen=True, slots=True)
class Output:
    """The content of an output, and the lines of the tool around it."""

    body: str
    first_number: int = 1
    """The number of the body's first line: printed with it, or from where the file was read."""
    notes: tuple[str, ...] = ()
    """The lines of the tool around the body."""
    is_numbered: bool = False
    """Whether the tool printed line numbers, which the body no longer has."""
    cut_line: int = 0
    """The line of the body from which on lines are missing or have no known number; 0 for none."""


def is_numbered(text: str) -> bool:
    """Return whether a tool printed line numbers in its output."""
    return _numbered(_unframed(text)[0]) is not None


@functools.lru_cache(maxsize=4)
def output_of(text: str, asked_line: int = 1) -> Output:
    """Return the content in a tool's output, and the text around it.

    The first line has the number that the call has asked for where the output names none.
    """
    body, notes = _unframed(text)
    numbered = _numbered(body)
    if numbered is not None:
        lines, first, around = numbered
        return Output("\n".join(lines), first, (*notes, *around), is_numbered=True)
    # The number of the body's first line by the tool's notice, where it fits the length.
    first_lines = body[:NOTICE_CHARACTERS].split("\n")[:NOTICE_LINES]
    ends = [*first_lines, *body[-NOTICE_CHARACTERS:].split("\n")[-NOTICE_LINES:], *notes]
    parts = filter(None, (PART.search(line) for line in ends if is_notice(line)))
    first = next(
        (
            max(1, int(part[1]))
            for part in parts
            if abs(int(part[2]) - int(part[1]) - body.count("\n")) <= AROUND_LINES
        ),
        asked_line,
    )
    # The first notices that lines are missing between others, with their lines of the body.
    found = (
        (number, cut[0].strip())
        for number, line in enumerate(body.split("\n"), 1)
        if (cut := CUT.fullmatch(line) or CUT_INSIDE.search(line))
    )
    lowered = body.lower()
    is_cut = any(word in lowered for word in CUT_WORDS)
    cuts = [*itertools.islice(found, MAX_CUTS)] if is_cut else []
    noted = (f"line {number}: {cut}" for number, cut in cuts)
    return Output(body, first, (*notes, *noted), cut_line=cuts[0][0] if cuts else 0)


def has_content(text: str) -> bool:
    """Return whether a tool's output has more than the lines that it prints before the content."""
    head = HEAD.match(f"{text}\n")
    return bool(text[head.end() if head else 0 :].strip())


def line_numbers(text: str, arguments: str = "") -> Sequence[int]:
    r"""Return the numbers of a text's lines, where its body's lines have those of `output_of`.

    Lines above the body have numbers under the body's first; in a dump with numbers, a line without
    one has that of the line before.

    >>> line_numbers("[File: a.py]\n  40\tdef one():\n  41\t    return 1")
    [39, 40, 41]
    """
    bare = plain(text)
    output = output_of(bare, asked_line(arguments))
    lines, first = bare.split("\n"), output.first_number
    head = HEAD.match(bare)
    above = bare.count("\n", 0, head.end()) if head else 0
    own: Sequence[int] = range(first - above, first - above + len(lines))
    for at, line in enumerate(lines[:MAX_HEAD_LINES] if output.is_numbered else ()):
        match = NUMBERED.match(re.sub(r"^<\w+>", "", line))
        if match and int(match[1]) == first:
            later = map(NUMBERED.match, lines[at + 1 :])
            printed = (int(found[1]) if found else 0 for found in later)
            own = [*range(first - at, first), *itertools.accumulate(printed, max, initial=first)]
            break
    if not (around := text.count("\n") - bare.count("\n")):
        return own
    above = 1 + text.split("```", 1)[0].count("\n")  # a fence and blank lines are around it
    below = own[-1] + 1
    return [*range(own[0] - above, own[0]), *own, *range(below, below + around - above)]


def _unframed(text: str) -> tuple[str, list[str]]:
    """Return an output without what tools print before and after their content, and the lines of that."""
    head = HEAD.match(text)
    start = head.end() if head and head.end() < len(text) else 0
    ended = text.rstrip()
    # Code ends in a bracket too, and the search takes longer than all that comes after it.
    may_end = ended.endswith(CLOSED) or "(End of file" in ended[-MAX_END_CHARACTERS:]
    tail = TAIL.search(ended, max(start, len(ended) - TAIL_CHARACTERS)) if may_end else None
    is_meter = head is not None and head["meter"] is not None
    notes = _lines("" if is_meter else text[:start].partition("<warning>")[0])
    return text[start : tail.start() if tail else len(text)], notes + _lines(
        tail[0] if tail else ""
    )


def _lines(text: str) -> list[str]:
    """Return the lines that say something, unlike `Output:`."""
    return [line.strip() for line in text.split("\n") if line.strip() and line.strip()[-1] != ":"]


def _numbered(body: str) -> tuple[list[str], int, list[str]] | None:
    """Return the lines of a dump with line numbers, the first number, and the lines around them."""
    head = body.split("\n", AROUND_LINES + SAMPLE_LINES)[: AROUND_LINES + SAMPLE_LINES]
    start = next((at for at, line in enumerate(head[:AROUND_LINES]) if NUMBERED.match(line)), 0)
    sample = [line for line in head[start : start + SAMPLE_LINES] if line.strip()]
    found = [match for line in sample if (match := NUMBERED.match(line))]
    if len(sample) - len(found) > max(
        (1 - NUMBERED_SHARE) * len(sample), len(found) >= NOTED_LINES
    ):
        return None
    numbers = [int(match[1]) for match in found]
    gaps = [after - before for before, after in itertools.pairwise(numbers) if after != before + 1]
    cuts = sum(CUT.fullmatch(line) is not None for line in head if found)
    if len(found) < 2 or min(gaps, default=1) < 1 or len(gaps) > cuts:
        return None
    first = head.index(found[0].string)
    row, sign = found[0].string, found[0].string[found[0].end(1) : found[0].start(2)].strip(" ")
    if any(above.count(tab) == row.count(tab) > 0 for above in head[:first] for tab in "\t|"):
        return None  # a table with a header: its rows begin with a number
    counts = {match[2].count(sign) for match in found if sign in ("|", "\t")}
    if len(counts) == 1 and counts != {0} and not any(match[2][:1] == sign for match in found):
        return None  # a table without one: as many signs in a row as after its number
    lines: list[list[str]] = []
    around: list[str] = []
    expected = 0
    for line in body.split("\n"):
        match = NUMBERED.match(line)
        if match and (number := int(match[1])) >= expected:
            missing = min(number - (expected or number), MAX_MISSING - len(lines))
            lines += [[] for _ in range(missing)]
            lines.append([match[2]])
            expected = number + 1
        elif expected and CUT.fullmatch(line):
            around.append(f"after line {expected - 1}: {line.strip()}")
            lines[-1].append("…")
        elif line.strip() and (is_notice(line) or not expected):
            around.append(line.strip())
        elif expected and line.strip():
            lines[-1].append(line.strip())
    # A line without a number goes on with the one before; after the last it is the tool's.
    around += (piece for piece in lines[-1][1:] if piece != "…")
    del lines[-1][1:]
    return [" ".join(pieces) for pieces in lines], numbers[0], around


def asked_line(arguments: str) -> int:
    """Return the number of the first line of a file that a call asks for, 1 where it names none."""
    given = arguments[:MAX_ARGUMENTS]
    offset = OFFSET.search(given)
    if offset and not WRITES.search(given):
        return max(1, int(offset[1]))
    command = COMMAND.search(given)
    part = READS_PART.match(command[1] if command else given[:MAX_COMMAND])
    return int(part[1]) if part else 1


def without_numbers(text: str) -> str:
    """Return a text without the line numbers that a tool printed."""
    if not is_numbered(text):
        return text
    found = ((line, NUMBERED.match(line)) for line in text.split("\n"))
    return "\n".join(match[2] if match else line for line, match in found)


def thinned(text: str, every: int, arguments: str = "") -> str:
    r"""Return a text with fewer of the line numbers that a tool printed, and without known lines.

    Every n-th line, and a line after a gap, keeps its number; an arrow after it separates it from
    tabs of the line. Consecutive lines that the call's arguments have become their numbers.

    >>> thinned("  1→one\n  2→two\n  3→three\n  4→four", 4)
    '1→one\ntwo\nthree\n4→four'
    >>> thinned("  1→one\n  2→two\n  3→three\n  4→four", 4, '{"new": "one\\ntwo\\nthree"}')
    '1-3→as written\n4→four'
    """
    if every < MIN_EVERY or not is_numbered(text):
        return text
    written = lines_in(arguments)
    rows: list[str] = []
    lines = text.split("\n")
    matches = [NUMBERED.match(line) for line in lines]
    expected, at = -1, 0
    while at < len(lines):
        match = matches[at]
        number = int(match[1]) if match else -1
        if match is None or 0 < number < expected:
            rows.append(lines[at])
            at += 1
            continue
        end = at
        while (
            end < len(lines)
            and (found := matches[end])
            and found[2] in written
            and int(found[1]) == number + end - at
        ):
            end += 1
        if end - at >= MIN_LINES:
            last = number + end - at - 1
            rows.append(f"{number}-{last}→as written")
            expected, at = -1, end
            continue
        is_shown = number != expected or number % every == 0
        rows.append(f"{number}→{match[2]}" if is_shown else match[2])
        expected, at = number + 1, at + 1
    return "\n".join(rows)
