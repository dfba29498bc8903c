"""Findings of compilers and linters: a file, a line, a message. Grouped by file. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hippocampus.indexing.extraction import EntryLine
from hippocampus.indexing.lines import counted, cut
from hippocampus.indexing.logs.signs import CODE, PLACE, UNDER_FILE

READ_CHARACTERS = 600
SHOWN_CHARACTERS = 240
MOST_POSITIONS = 12
"""Positions of one message in one file that are written."""
LIGHT_BEHIND = 40
"""Files behind these weigh less: the first findings are mended first."""
WARNS = ("warning", "note", "info", "hint", "help", "in ")


@dataclass(frozen=True, slots=True)
class Place:
    """One finding."""

    at: int
    """The number of its line, from 0."""
    file: str
    position: str
    """The line in the file and, where it is known, the column: `12:5`."""
    message: str

    @property
    def severe(self) -> bool:
        """Whether it is no warning, by its first words."""
        return not self.message[:20].lower().startswith(WARNS)


def places_of(lines: Sequence[str], numbers: Sequence[int]) -> list[Place]:
    """Return the findings in some lines, each once."""
    found: dict[tuple[str, str, str], Place] = {}
    for number in numbers:
        if place := _place(lines, number):
            found.setdefault((place.file, place.position, place.message), place)
    return list(found.values())


def _place(lines: Sequence[str], number: int) -> Place | None:
    line = lines[number][:READ_CHARACTERS]
    match = PLACE.match(line)
    if match:
        file = match["file"]
    else:
        match = UNDER_FILE.match(line)
        file = _file_above(lines, number)
    if match is None:
        return None
    position = match["line"] + (f":{match['column']}" if match["column"] else "")
    return Place(number, file, position, match["rest"].rstrip())


def _file_above(lines: Sequence[str], number: int) -> str:
    """Return the line above that names a file, where findings are indented below it."""
    for at in range(number - 1, max(-1, number - 200), -1):
        line = lines[at][:READ_CHARACTERS]
        if line[:1] not in ("", " ", "\t", "\r"):
            return line.strip()
    return ""


def lines_of_places(places: Sequence[Place]) -> Iterator[tuple[int, list[EntryLine]]]:
    """Yield for each file where it first stands and its lines, and the codes found often."""
    files: dict[str, list[Place]] = {}
    for place in places:
        files.setdefault(place.file, []).append(place)
    if len(places) > 2:
        yield from _codes(places)
    for rank, (file, found) in enumerate(files.items()):
        yield found[0].at, _file_lines(file, found, 1.0 if rank < LIGHT_BEHIND else 0.6)


def _codes(places: Sequence[Place]) -> Iterator[tuple[int, list[EntryLine]]]:
    """Yield one line with the codes and their counts, where there are codes."""
    codes = [
        match[0] for place in places if (match := CODE.search(place.message[:SHOWN_CHARACTERS]))
    ]
    often = [
        f"{code} ×{count}"
        for code, count in Counter(codes).most_common(MOST_POSITIONS)
        if count > 1
    ]
    if often:
        files = len({place.file for place in places})
        rendered = (
            f"{counted(len(places), 'finding')} in {counted(files, 'file')}: {', '.join(often)}"
        )
        yield places[0].at, [EntryLine(rendered, 2.5, count=0)]


def _file_lines(file: str, found: Sequence[Place], share: float) -> list[EntryLine]:
    messages: dict[str, list[Place]] = {}
    for place in found:
        messages.setdefault(place.message, []).append(place)
    if len(messages) == 1:
        message, alike = next(iter(messages.items()))
        return [EntryLine(f"{file}:{_render(message, alike)}", _weight(alike[0]) * share, count=0)]
    severe = sum(place.severe for place in found)
    rendered = f"{file}: {counted(len(found), 'finding')}" + (
        f", {severe} severe" if 0 < severe < len(found) else ""
    )
    inner = [
        EntryLine("  " + _render(message, alike), _weight(alike[0]) * share, parent=0, count=0)
        for message, alike in messages.items()
    ]
    return [EntryLine(rendered, 1.5 * share, count=0), *inner]


def _render(message: str, alike: Sequence[Place]) -> str:
    positions = ", ".join(place.position for place in alike[:MOST_POSITIONS])
    more = f" +{len(alike) - MOST_POSITIONS}" if len(alike) > MOST_POSITIONS else ""
    return f"{positions}{more} {cut(message, SHOWN_CHARACTERS)}"


def _weight(place: Place) -> float:
    return 2.5 if place.severe else 1.2
