"""The files that an agent works on, rebuilt from its reads, writes, edits and patches. Pure.

A digest decides which files it shows; no file system is read.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hippocampus.formats import json_text
from hippocampus.formats.conversation import Message, Part
from hippocampus.formats.tool_calls import (
    PATCHED,
    file_key,
    is_one_file,
    points_back,
    text_written,
)
from hippocampus.indexing.code import definitions
from hippocampus.indexing.extraction import (
    LINE_CHARACTERS,
    WORDLESS,
    ExtractionContext,
    identifiers,
    is_notice,
    kept_by_hash,
)
from hippocampus.indexing.kinds import extraction_of
from hippocampus.indexing.select import MAX_LINES, Price, choose, size_of
from hippocampus.indexing.unwrap import asked_line, has_content, output_of
from hippocampus.models import tokens
from hippocampus.session.history import History
from hippocampus.session.payloads import files_of
from hippocampus.session.turn_rules import CONSTANTS

OLD = re.compile(r"(?i)^(?:old|search|find|before)")
NEW = re.compile(r"(?i)^(?:new|replace(?!_?all)|after)")
"""Argument names of the two texts of an edit."""
EVERYWHERE = re.compile(r"(?i)^(?:replace_?all|allow_?multiple)$")
"""Argument names of an edit of all places that have its text."""
HUNK = re.compile(r"(?m)^@@(?: -[\d,+ ]+@@)?[ \t]*(.*)$")
"""The head of a hunk; it may name a line of the file, such as a definition, after which the hunk is."""
CONTEXT_LINES = 3
"""The lines that are shown around a line that the agent wrote."""
MIN_TOKENS = 120
"""The outline of a file has at least this many."""
MAX_LOOSE = 64
"""The texts of a file whose place is not known: each later change is looked for in all."""
NUMBER_TOKENS = 3
GAP = "…"


class Edit(NamedTuple):
    """A text of a file, and what a call puts in its place."""

    old: str | None
    """None for all that the file has."""
    new: str
    everywhere: bool = False
    """Whether it is replaced in all places that have it, or in the first only."""
    is_lines: bool = False
    """Whether both texts are whole lines, each with its break."""
    after: str = ""
    """The first place is looked for from the line with this text on."""


class Line(NamedTuple):
    """A line of a file, and the turns in which it was last read and written; 0 is never."""

    text: str
    read: int = 0
    written: int = 0


@dataclass(slots=True)
class Piece:
    """Lines of a file in a row; `first` is the number of the first, 0 where it is not known."""

    first: int
    lines: list[Line]

    @property
    def end(self) -> int:
        """Return the number of the line after the last."""
        return self.first + len(self.lines)

    @property
    def text(self) -> str:
        """Return the lines as one text."""
        return "\n".join(line.text for line in self.lines)


@dataclass(slots=True)
class WorkFile:
    """The text of one file as far as a list has it, as it is after the last change."""

    path: str
    pieces: list[Piece] = field(default_factory=list)
    """The known lines, in order and without overlap, then texts whose place is not known."""
    turn: int = 0
    """When it was read or changed last."""
    changed: int = 0
    """When it was changed last."""
    unfollowed: int = 0
    """How many changes could not be applied: by commands, or of texts that the list does not have."""

    @property
    def text(self) -> str:
        """Return the known text."""
        return "\n".join(piece.text for piece in self.pieces)

    def read(self, first: int, texts: Sequence[str], turn: int, *, whole: bool) -> None:
        """Take in lines as they are now, from a line on; 0 is a place that is not known.

        Then known lines show the place, where the text has some of them. A whole file with less than
        half of the known text is a part: tools cut it, or refer to an earlier read.
        """
        lines = {text: Line(text, turn) for text in dict.fromkeys(texts)}
        # Equal lines are one object: a text may be all breaks.
        fresh = [lines[text] for text in texts]
        if whole and 2 * len(texts) >= sum(len(piece.lines) for piece in self.pieces):
            self.pieces, self.unfollowed = [Piece(first or 1, fresh)], 0
            return
        if first:
            self._put(first, fresh)
            return
        for piece in self.pieces:
            if (at := _place_of(texts, piece)) is None:
                continue
            if piece.first:
                self._put(max(1, piece.first + at), fresh)
            else:
                piece.lines[max(0, at) : at + len(texts)] = fresh
            return
        self._keep(fresh)

    def _put(self, first: int, lines: Sequence[Line]) -> None:
        """Put lines with a known place over those that were there.

        A text that shares lines with them has its place by these, under all other lines.
        """
        placed = dict(enumerate(lines, first))
        loose: list[Piece] = []
        for piece in self.pieces:
            at = 0 if piece.first else _place_of([line.text for line in lines], piece)
            if at is None:
                loose.append(piece)
            else:
                start = piece.first or max(1, first - at)
                placed = dict(enumerate(piece.lines, start)) | placed
        self.pieces = []
        for number in sorted(placed):
            if not self.pieces or self.pieces[-1].end != number:
                self.pieces.append(Piece(number, []))
            self.pieces[-1].lines.append(placed[number])
        self.pieces += loose

    def write(self, text: str, turn: int) -> None:
        """Take in a new text of the whole file."""
        lines = [Line(line, 0, turn) for line in text.rstrip("\n").split("\n")]
        self.pieces, self.unfollowed = [Piece(1, lines)], 0

    def apply(self, edit: Edit, turn: int) -> None:
        """Put the new text of an edit in the place of the old one."""
        if edit.old is None:
            self.write(edit.new, turn)
            return
        is_found, edge = False, "\n" if edit.is_lines else ""
        for piece in self.pieces if edit.old else ():
            text = f"{edge}{piece.text}{edge}"
            above = max(0, text.rfind("\n", 0, text.find(edit.after) + 1)) if edit.after else 0
            front, *rest = text[above:].split(edge + edit.old, -1 if edit.everywhere else 1)
            front = text[:above] + front
            if not rest or (is_found and not edit.everywhere):
                continue
            is_found = True
            # The lines from the first place to the last: those between that stay are known by their text.
            start, end = front.count("\n"), len(piece.lines) - rest[-1].count("\n")
            old = {line.text: line for line in piece.lines[start:end]}
            between = edit.new.join(["", *rest[:-1], ""])
            new = (front.rpartition("\n")[2] + between + rest[-1].partition("\n")[0]).split("\n")
            new = edit.new.split("\n")[:-1] if edit.is_lines else new
            piece.lines[start:end] = [old.get(line) or Line(line, 0, turn) for line in new]
            added = len(new) - (end - start)
            for later in self.pieces:
                if 0 < piece.first < later.first:
                    later.first += added
                elif added and not piece.first and later.first > 1:
                    later.first = 0  # the text may be before it
        if is_found:
            return
        self.unfollowed += 1
        if edit.new.strip():
            self._keep([Line(line, 0, turn) for line in edit.new.strip("\n").split("\n")])

    def _keep(self, lines: list[Line]) -> None:
        """Keep a text whose place is not known, with the newest of the others."""
        loose = [piece for piece in self.pieces if not piece.first]
        known = (piece for piece in self.pieces if piece.first)
        self.pieces = [*known, *loose[1 - MAX_LOOSE :], Piece(0, lines)]


def _place_of(texts: Sequence[str], piece: Piece) -> int | None:
    """Return where in a piece some lines begin, if they share half of the lines of the shorter one.

    They may have changed since it was read: most of the shared lines decide. Negative is before it.
    """
    own, known = (
        {text: at for at, text in enumerate(part) if not WORDLESS.fullmatch(text)}
        for part in (texts, [line.text for line in piece.lines])
    )
    starts = Counter(known[text] - at for text, at in own.items() if text in known)
    is_shared = 0 < min(len(own), len(known)) <= 2 * starts.total()
    return max(starts, key=starts.__getitem__) if is_shared else None


@dataclass(slots=True)
class WorkFiles:
    """The files that a list reads and changes, up to one of its messages."""

    keys: list[str] = field(default_factory=list)
    """The hashes of the words of the messages that were read."""
    _calls: dict[str, Part] = field(default_factory=dict)
    _files: dict[str, list[WorkFile]] = field(default_factory=dict)
    """By the last part of their paths."""

    def read_to(self, end: int, history: History) -> None:
        """Read a list up to a message: from the last message read, or all of it if it has changed."""
        known, self.keys = self.keys, []  # an interruption leaves none, and all is read again
        start = len(known)
        if not known or start > end or known != history.keys[:start]:
            self._calls, self._files, start = {}, {}, 0
        self.read_on(history.quotable_range(start, end), history.turns[start:end])
        self.keys = [*history.keys[:end]]

    def read_on(self, messages: Sequence[Message], turns: Sequence[int]) -> None:
        """Read the next messages, with their turns."""
        for message, turn in zip(messages, turns, strict=True):
            for part in message.parts:
                if part.kind == "call":
                    self._calls[part.call_id] = part
                elif part.kind == "result" and part.call_id in self._calls and not part.is_error:
                    self._follow(self._calls[part.call_id], part.text, turn)

    def _follow(self, call: Part, result: str, turn: int) -> None:
        """Take in what a call read from its files, or wrote into them."""
        used = files_of(call.text, call.tool)
        for path in used.paths:
            same_name = self._files.setdefault(file_key(path), [])
            file = next((known for known in same_name if is_one_file(known.path, path)), None)
            if file is None:
                file = WorkFile(path)
                same_name.append(file)
            file.path, file.turn = max(file.path, path, key=len), turn
            if not used.read:
                file.changed = turn
                if used.is_whole:
                    file.write(text_written(call.text), turn)
                    continue
                edits = list(_edits(call.text, path))
                for edit in edits:
                    file.apply(edit, turn)
                file.unfollowed += not edits
            elif not points_back(result) and has_content(result):
                output = output_of(result, asked_line(call.text))
                lines = output.body.rstrip("\n").split("\n")
                if lines[-1].startswith(("…", "...", "[", "(")) and is_notice(lines[-1]):
                    lines = "\n".join(lines[:-1]).rstrip("\n").split("\n")
                is_placed = output.is_numbered or output.first_number > 1
                # Lines after a cut have no known numbers, and the line before it may end there.
                is_part = output.cut_line > 0
                first = output.first_number if is_placed or (is_part and used.is_whole) else 0
                lines = lines[: max(0, output.cut_line - 2)] if is_part else lines
                if lines:
                    file.read(first, lines, turn, whole=used.is_whole and not is_part)

    def newest(self) -> list[WorkFile]:
        """Return the files, the one that was read or changed last first."""
        found = [file for same_name in self._files.values() for file in same_name]
        return sorted(found, key=lambda file: -file.turn)


def _edits(arguments: str, path: str) -> Iterator[Edit]:
    """Yield what a call replaces in a file, by pairs of arguments or by a patch."""
    waiting: list[Any] = [json_text.read(arguments, arguments)]
    while waiting:
        value = waiting.pop(0)
        if isinstance(value, dict):
            texts = {name: text for name, text in value.items() if isinstance(text, str)}
            old = next((text for name, text in texts.items() if OLD.match(name)), None)
            new = next((text for name, text in texts.items() if NEW.match(name)), None)
            if old is not None and new is not None:
                everywhere = (inner for name, inner in value.items() if EVERYWHERE.match(name))
                yield Edit(old, new, any(str(flag).lower() == "true" for flag in everywhere))
            else:
                waiting += value.values()
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, str) and PATCHED.search(value):
            yield from _hunks(value, path)


def _hunks(patch: str, path: str) -> Iterator[Edit]:
    """Yield the hunks of a patch for one file; one that it adds is a whole text."""
    heads = list(PATCHED.finditer(patch))
    for head, after in itertools.zip_longest(heads, heads[1:]):
        text = patch[head.end() : after.start() if after else None].partition("\n*** End Patch")[0]
        first, *others = HUNK.split(text) if is_one_file(head[1], path) else [""]
        for after_line, hunk in [("", first), *zip(others[::2], others[1::2], strict=True)]:
            lines = [line for line in hunk.strip("\n").split("\n") if not line.startswith("***")]
            old, new = (
                "".join(f"{line[1:]}\n" for line in lines if line[:1] in {"", " ", sign})
                for sign in "-+"
            )
            if old != new:
                is_added = head[0].startswith("*** Add")
                yield Edit(None if is_added else old, new, is_lines=True, after=after_line.strip())


class Place(NamedTuple):
    """The place of a line in a file: the number of its piece, and its own in that."""

    piece: int
    at: int


def described(
    file: WorkFile, budget_tokens: int, since: int, shown: AbstractSet[str] = frozenset()
) -> list[str]:
    """Return a file's lines after their numbers, within a budget in tokens.

    First come those that were read from a turn on and after the last change, then what the agent wrote,
    the newest first, then an outline. A file that was only read, and not lately, is this and its first lines.
    `shown` are the identifiers that the digest has already.
    """
    pieces, weight = file.pieces, tokens.count(file.text)
    start = max(since, file.changed + 1)
    every = [
        Place(number, at) for number, piece in enumerate(pieces) for at in range(len(piece.lines))
    ]
    fresh = [place for place in every if pieces[place.piece].lines[place.at].read >= start]
    written, outline = _written(pieces), _outline(pieces, shown)
    room = max(MIN_TOKENS, weight // CONSTANTS.outline_part)
    if not (fresh or written):  # prose and rows of data have no definitions, and name nothing
        outline += every
        room = int(CONSTANTS.read_share * weight)
    picked = set[Place]()
    for group, most in ((fresh, budget_tokens), (written, budget_tokens), (outline, room)):
        left = min(most, budget_tokens)
        for place in group:
            if place not in picked:
                cost = tokens.count(pieces[place.piece].lines[place.at].text) + NUMBER_TOKENS
                if cost > left:  # a shorter line of the same group would be out of its context
                    break
                left -= cost
                budget_tokens -= cost
                picked.add(place)
    return _rows(pieces, sorted(picked))


def _written(pieces: Sequence[Piece]) -> list[Place]:
    """Return the places at and around the lines that the agent wrote, the newest first."""
    turns: dict[Place, int] = {}
    for number, piece in enumerate(pieces):
        written = [(-line.written, at) for at, line in enumerate(piece.lines) if line.written]
        for before, at in sorted(written):
            for near in range(at - CONTEXT_LINES, at + CONTEXT_LINES + 1):
                if 0 <= near < len(piece.lines):
                    turns.setdefault(Place(number, near), before)
    return sorted(turns, key=lambda place: (turns[place], place))


def _outline(pieces: Sequence[Piece], shown: AbstractSet[str]) -> list[Place]:
    """Return the places of definitions and headings, the least indented first, then other lines.

    Those come first that have most identifiers for their tokens which the digest does not show yet.
    """
    heads: set[tuple[float, Place]] = set()
    named: list[tuple[float, Place]] = []
    for number, piece in enumerate(pieces):
        texts = [line.text for line in piece.lines[:MAX_LINES]]
        heads |= {(0, Place(number, at)) for at, text in enumerate(texts) if text.startswith("#")}
        heads |= {(found.depth, Place(number, found.at)) for found in definitions(texts)}
        seen = set(shown)
        for at, text in enumerate(texts):
            new = identifiers(text) - seen
            seen |= new
            if new and len(text) <= LINE_CHARACTERS:  # a line that does not fit ends the outline
                named.append((-len(new) / size_of(text), Place(number, at)))
    # A line that opens many blocks, as `<plugin>` or `try {`, is shown once.
    distinct: dict[str, Place] = {}
    for _, place in sorted(heads):
        distinct.setdefault(pieces[place.piece].lines[place.at].text.strip(), place)
    return [*distinct.values(), *(place for _, place in sorted(named))]


def _rows(pieces: Sequence[Piece], places: Sequence[Place]) -> list[str]:
    """Return the lines at some places after their numbers, with a sign for lines that are left out."""
    rows: list[str] = []
    following: Place | None = None
    for place in places:
        piece, text = pieces[place.piece], pieces[place.piece].lines[place.at].text
        if place != following and (following or place.at):
            rows.append(GAP)
        rows.append(f"{piece.first + place.at}→{text}" if piece.first else text)
        following = Place(place.piece, place.at + 1)
    if following and following.at < len(pieces[following.piece].lines):
        rows.append(GAP)
    return rows


@kept_by_hash
def excerpt(text: str, /, room: int, arguments: str = "") -> list[str]:
    """Return the lines that say most of a text, of at most `room` tokens."""
    given = ExtractionContext(arguments, content_tokens=len(text) // 4)
    extraction = extraction_of(text, given)
    room = max(1, room - tokens.count(extraction.summary))
    return [extraction.summary, *choose(extraction, given, Price(0.0, 1.0, room, room))]
