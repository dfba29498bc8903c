"""What a recall returns: a part of one stored payload, its newer version, or the best lines of all. Pure.

The session reads the payloads and counts the accesses. A search finds lines in all contents; those that name
nothing but what the view has rank low.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import NamedTuple

from hippocampus.entries.entry import Record, Stage, content_key, entry_id, storable
from hippocampus.entries.origin import SourceOrigin
from hippocampus.errors import RecallError
from hippocampus.formats import json_text
from hippocampus.formats.conversation import Item, is_image_block, text_of, without_envelope
from hippocampus.indexing import ExtractionContext, index, kind_of, price_of
from hippocampus.models import tokens
from hippocampus.prices import Prices
from hippocampus.recall import calls
from hippocampus.recall.definition import RecallRequest
from hippocampus.recall.lines import NOTE_TOKENS, NumberedLine, fit, pages
from hippocampus.recall.slices import WORD, numbers_of, take, terms
from hippocampus.storage.full_text import PassageHit, Passages

MAX_HITS = 50
PIECE = re.compile(r".{1,240}(?!\S)|.{1,240}")
"""A longer line competes in pieces of this size, cut at spaces."""
LINE_CHARACTERS = 120
"""A line of this length counts half of its words' score: short lines take fewer tokens."""
UNNAMED, REPEATED = 0.4, 0.05
"""The worth of a line without names, and of one with known names only."""
NAME = re.compile(r"\w(?:[\w./:@#-]*\w)?")
DISTINCTIVE = re.compile(r"[\d_/]|[a-z][A-Z]|\w\.\w")
NUMBERED = re.compile(r"^\s*\d+(?:→|\t|: )")
LINE_TOKENS = 2
"""The least tokens of a line in addition to its text."""


# Newer versions of an entry's content, fetched from its source: linked entries


def replaced(records: Iterable[Record]) -> dict[str, Record]:
    """Return the entries of newer versions, by the ids of the stale entries."""
    return {
        record.origin.entry_id: record
        for record in records
        if isinstance(record.origin, SourceOrigin)
    }


def newest(record: Record, records: Iterable[Record]) -> Record | None:
    """Return the entry of the source's last known content, where that differs from this one."""
    since, seen = replaced(records), {record.entry.id}
    found = since.get(record.entry.id)
    while found is not None and found.entry.id in since and found.entry.id not in seen:
        seen.add(found.entry.id)
        found = since[found.entry.id]
    return found


def version(  # noqa: PLR0913, PLR0917 - an entry is made of all these
    mark: str, session: str, record: Record, text: str, turn: int, prices: Prices,
    is_taken: Callable[[str], bool],
) -> Record:  # fmt: skip
    """Return the entry of the present text of another entry's source."""
    payload = content_key(text.encode("utf-8", "surrogatepass"))
    origin = SourceOrigin(record.entry.id, payload)
    named = entry_id(mark, session, origin, payload, is_taken)
    count, kind = tokens.count(text), kind_of(text)
    hints = ExtractionContext(record.arguments, content_tokens=count)
    kept = index(text, hints, price_of(kind, "normal", prices, count, turn))
    entry = replace(
        record.entry,
        id=named,
        source=replace(record.entry.source, ref=payload, turn=turn),
        summary=storable(kept.summary),
        key_data=kept.key_data or None,
        strength=1.0,
        decay=replace(record.entry.decay, last_access=turn),
        modifiers=replace(record.entry.modifiers, associations=[record.entry.id]),
        lifecycle=replace(record.entry.lifecycle, created=turn),
    )
    return Record(
        entry, origin, payload, form="text", kind=kind, tool=record.tool,
        arguments=record.arguments, tokens=count, stage=Stage.DORMANT,
    )  # fmt: skip


# Parts of one content


def slice_of(text: str, record: Record, request: RecallRequest, max_tokens: int) -> str:
    """Return a slice of an entry's text.

    Raises:
        RecallError: it cannot be served; the message has the alternative.
    """
    try:
        return take(text, request, max(1, max_tokens), numbered_by(record))
    except RecallError as problem:
        raise calls.completed(problem, record) from problem


def numbered_by(record: Record) -> str | None:
    """Return the arguments by which an entry's lines are numbered; None for a transcript."""
    return None if record.form == "messages" else record.arguments


def text_in(record: Record, payload: bytes) -> str:
    """Return the text of a payload that a message held as text, as blocks or as an object."""
    text = payload.decode("utf-8", "surrogatepass")
    if record.form == "blocks":
        text = text_of(json.loads(text))
    return without_envelope(text)


def images_in(payload: bytes) -> tuple[Item, ...]:
    """Return the image blocks of a payload that a message held as blocks."""
    return tuple(filter(is_image_block, json_text.read_exactly(payload)))


# The search of all content: lines compete, so that few tokens contain the answer


class CandidateLine(NamedTuple):
    """A line that competes, or a piece of a long one."""

    hit: int
    """The index of its passage."""
    number: int
    text: str
    start: int = 0
    """Where it starts in its line."""
    worth: float = 1.0


def search(  # noqa: PLR0913, PLR0917 - a search depends on all these
    contents: Passages,
    query: str,
    max_tokens: int,
    entry_ids: Sequence[str],
    text: Callable[[str], str],
    known: AbstractSet[str] = frozenset(),
    arguments: Callable[[str], str | None] = lambda _: "",
) -> str:
    """Return the best lines of all these entries for a query, within `max_tokens`.

    `text` returns that of an entry, `arguments` those of its call. `known` are the names in the view (see
    `names_in`): lines that name nothing beyond these and the query rank low.

    Raises:
        RecallError: no stored content contains a word of the query.
    """
    hits = contents.search(terms(query), entry_ids, MAX_HITS)
    text = functools.cache(text)  # a second reading may fail, or find another text
    of = functools.cache(lambda entry_id: pages(text(entry_id)))
    lines = _distinct(hits, of, known | names_in(query))
    if not lines:
        problem = "no word of the query is in the stored content; try other words"
        raise RecallError("no_match", problem)
    # The score of a line: by its rare query words, its worth and its length.
    wanted = set(terms(query))
    found = [wanted.intersection(terms(line.text)) for line in lines]
    holding = Counter(term for words in found for term in words)
    scored = []
    for line, words in zip(lines, found, strict=True):
        rarity = sum(math.log(1 + len(lines) / holding[term]) for term in sorted(words))
        scored.append(line.worth * rarity * LINE_CHARACTERS / (LINE_CHARACTERS + len(line.text)))
    chosen: list[CandidateLine] = []
    budget_tokens = max_tokens - NOTE_TOKENS
    for at in sorted(range(len(lines)), key=lambda at: (-scored[at], at)):
        cost = tokens.count(str(NumberedLine(lines[at].number, lines[at].text))) + LINE_TOKENS
        if cost > budget_tokens and chosen:
            break
        budget_tokens -= cost
        chosen.append(lines[at])
    note = "(weaker lines are left out; ask with other words, or by entry_id)"
    return fit(
        _rendered(chosen, hits, lambda entry_id: numbers_of(text(entry_id), arguments(entry_id))),
        max_tokens,
        lambda *_: note,
    )


def _distinct(
    hits: Sequence[PassageHit], of: Callable[[str], list[str]], known: AbstractSet[str]
) -> list[CandidateLine]:
    """Return the lines of the passages, no text twice, with their worth for any query.

    A line is worth little where all of its names are known.
    """
    seen: set[str] = set()
    lines: list[CandidateLine] = []
    for at, hit in enumerate(hits):
        found = of(hit.entry_id)[hit.first - 1 : hit.last]
        for number, line in enumerate(found, start=hit.first):
            for piece in PIECE.finditer(line):
                words = " ".join(WORD.findall(NUMBERED.sub("", piece[0])))
                if words and words not in seen:
                    seen.add(words)
                    fresh = names_in(piece[0]) - known
                    is_distinctive = any(map(DISTINCTIVE.search, fresh))
                    worth = 1.0 if is_distinctive else UNNAMED if fresh else REPEATED
                    lines.append(CandidateLine(at, number, piece[0], piece.start(), worth))
    return lines


def names_in(text: str) -> set[str]:
    """Return the names in a text: its words, and compounds such as `a.b_c`."""
    return set(NAME.findall(text))


def _rendered(
    chosen: Sequence[CandidateLine],
    hits: Sequence[PassageHit],
    numbers: Callable[[str], Sequence[int]],
) -> Iterator[NumberedLine]:
    """Yield the lines grouped under their entries' ids, the entry of the best passage first.

    Those of a part of a file have the numbers of the file, by which a recall takes them.
    """
    best: dict[str, int] = {}
    for line in chosen:
        entry_id = hits[line.hit].entry_id
        best[entry_id] = min(best.get(entry_id, line.hit), line.hit)
    ordered = sorted(
        chosen, key=lambda line: (best[hits[line.hit].entry_id], line.number, line.start)
    )
    for entry_id, group in itertools.groupby(ordered, key=lambda line: hits[line.hit].entry_id):
        yield NumberedLine(0, f"{entry_id}:")
        own = numbers(entry_id)
        for line in group:
            number = own[line.number - 1]
            yield NumberedLine(number, f"…{line.text}" if line.start else line.text)
