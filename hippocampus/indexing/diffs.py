"""Diffs and patches: files, their status and counts, hunks with their lines, what changed.

Reads unified and git diffs, and patches that name files and blocks only (`*** Update File:`). Pure.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from hippocampus.indexing.extraction import EntryLine, Extraction, ExtractionContext
from hippocampus.indexing.lines import counted, cut
from hippocampus.indexing.statements import statement_spans
from hippocampus.indexing.thin import LIGHT, put, thinned

HUNK = re.compile(
    r"@@@? -(\d{1,9})(?:,(\d{1,9}))? (?:-\S+ )?\+(\d{1,9})(?:,(\d{1,9}))? @@@?(.*)", re.DOTALL
)
BLOCK = re.compile(r"@@(?!@| -\d)(.*)", re.DOTALL)
PATCHED = re.compile(r"\*\*\* (Add|Update|Delete) File: (.+)")
COMMIT = re.compile(r"(?:commit|From) ([0-9a-f]{7,64})\b|(?:Author|Date|Subject|From): ")
GIT_NAMES = re.compile(
    r'diff --(?:git|cc|combined) (?:"?a/)?(.{1,1000}?)"? (?:"?b/.*)$|diff --(?:cc|combined) (.+)'
)
BEARING = re.compile(r"\w")
DEFINES = re.compile(
    r"(?:export |public |private |protected |static |async |pub |abstract |final |default |const )*"
    r"(?:def|class|function|func|fn|interface|struct|enum|trait|type|const|let|var|module|import|from|CREATE|create)\b"
)
SIGNALS = re.compile(
    r"^(?:diff --(?:git|cc|combined) |@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@|\*\*\* (?:Begin Patch|(?:Add|Update|Delete) File: )|--- \S.*\n\+\+\+ \S|Index: )",
    re.MULTILINE,
)
SIGNAL_WORDS = ("diff --", "@@ -", "*** ", "--- ", "Index: ")
"""One of them stands in every signal."""
SAMPLE_CHARACTERS = 20_000
SHOWN_CHARACTERS = 400
MOST_NOTED = 4_000
"""Changed lines that are looked at one by one; behind them, the first of each hunk."""
MOST_OF_HUNK = 80
MOST_NOTES = 200
BODY = ("+", "-", " ", "\\", "")
HEADED, UNHEADED = 0.6, 0.2
"""Weights of a hunk's head, with and without the name of the function around it."""
REMOVED = 0.5
"""How much less a removed line is worth: a later edit finds the added ones."""
FIRST_CHANGES = 3
"""Changed lines of a hunk that weigh more than the others."""
STATUS: dict[str, str] = {
    "new file mode ": "added",
    "deleted file mode ": "deleted",
    "rename from ": "renamed",
    "copy from ": "copied",
    "Binary files ": "binary",
    "GIT binary patch": "binary",
    "old mode ": "mode",
}
PATCH_STATUS = {"Add": "added", "Update": "modified", "Delete": "deleted"}


@dataclass(slots=True)
class Hunk:
    """One changed place in a file."""

    start: int
    """The line where it starts in the new file; 0 where the patch has none."""
    heading: str
    added: int = 0
    removed: int = 0
    length: int = 0
    """Lines of the new file that it spans; of the old one, where it leaves nothing."""
    body: list[str] = field(default_factory=list)
    """Its lines, the changed ones with sign and number, the others behind blanks."""

    def changes(self) -> Iterator[str]:
        """Yield each change: a changed line, or the lines of a statement in which one changed."""
        ends: dict[int, int] = {}
        for side in "-+":
            places = [at for at, line in enumerate(self.body) if line[0] in (side, " ")]
            for first, last in statement_spans([self.body[at].partition(" ")[2] for at in places]):
                for at in range(places[first], places[last]):
                    ends[at] = max(ends.get(at, 0), places[last])
        at = 0
        while at < len(self.body):
            first, last = at, at
            while at <= last:
                last = max(last, ends.get(at, 0))
                at += 1
            if any(line[0] != " " for line in self.body[first:at]):
                yield "\n  ".join(self.body[first:at])


@dataclass(slots=True)
class ChangedFile:
    """One file of a diff."""

    name: str
    status: str = "modified"
    before: str = ""
    """Its name before, where it was renamed."""
    hunks: list[Hunk] = field(default_factory=list)

    @property
    def added(self) -> int:
        """Return how many lines were added."""
        return sum(hunk.added for hunk in self.hunks)

    @property
    def removed(self) -> int:
        """Return how many lines were removed."""
        return sum(hunk.removed for hunk in self.hunks)


def recognises(text: str) -> float:
    """Return how surely a text is a diff or a patch."""
    sample = text[:SAMPLE_CHARACTERS]
    first = SIGNALS.search(sample) if any(word in sample for word in SIGNAL_WORDS) else None
    if first is None:
        return 0.0
    lines = sample[first.start() :].split("\n")
    signed = sum(line[:1] in ("+", "-", "@", " ") or not line or _is_header(line) for line in lines)
    inside = signed / len(lines)
    before = first.start() / max(1, len(sample))
    return max(0.0, min(1.0, inside * 1.05) - 0.6 * before) if inside > 0.7 else 0.2


def _is_header(line: str) -> bool:
    return line.startswith(
        ("diff ", "index ", "*** ", "Index: ", "====", "\\ No", *STATUS)
    ) or bool(COMMIT.match(line))


def extract(text: str, context: ExtractionContext) -> Extraction | None:
    """Read a diff into its files, hunks and changed lines."""
    del context
    if SIGNALS.search(text) is None:
        return None
    reader = _DiffReader()
    for line in text.split("\n"):
        reader.read(line)
    files = reader.files
    if not any(file.hunks or file.status != "modified" for file in files):
        return None
    added, removed = sum(file.added for file in files), sum(file.removed for file in files)
    facts = {"files": len(files), "added": added, "removed": removed}
    return Extraction(
        "diff",
        _summary(files, added, removed),
        _lines(reader),
        facts,
        _selectors(files),
        "changed lines",
    )


class _DiffReader:
    """Reads a diff line by line; what a hunk's counts promise is never taken for a header."""

    def __init__(self) -> None:
        self.files: list[ChangedFile] = []
        self.notes: list[str] = []
        """Lines about the commit, or before a diff."""
        self._old = 0
        self._new = 0
        self._old_number = 0
        self._new_number = 0
        self._noted = 0
        self._free = False
        """Whether the hunk has no counts."""
        self._before = True
        """Whether no file has come yet, or none since a commit."""

    def read(self, line: str) -> None:
        """Take in the next line."""
        if ((self._old > 0 or self._new > 0) and line[:1] in BODY) or (
            self._free and line[:1] in ("+", "-", " ") and not line.startswith(("--- ", "+++ "))
        ):
            self._body(line)
        elif line:
            self._old = self._new = 0
            self._header(line)

    def _body(self, line: str) -> None:
        hunk, sign = self.files[-1].hunks[-1], line[:1]
        hunk.added += sign == "+"
        hunk.removed += sign == "-"
        self._note(hunk, line, self._old_number if sign == "-" else self._new_number)
        if sign in ("+", " ", ""):
            self._new, self._new_number = self._new - 1, self._new_number + 1
        if sign in ("-", " ", ""):
            self._old, self._old_number = self._old - 1, self._old_number + 1

    def _note(self, hunk: Hunk, line: str, number: int) -> None:
        """Note a line, a changed one with its number; of a long diff, only the first of each hunk."""
        if len(hunk.body) < (MOST_OF_HUNK if self._noted < MOST_NOTED else 2 * FIRST_CHANGES):
            is_change = line[:1] in ("+", "-")
            rendered = (
                f"{line[0]}{number if hunk.start or hunk.length else ''}" if is_change else " "
            )
            text = line[1:].strip()
            text = text if len(text) <= SHOWN_CHARACTERS else cut(text, SHOWN_CHARACTERS)
            hunk.body.append(f"{rendered} {text}")
            self._noted += 1

    def _header(self, line: str) -> None:
        for opening, read in HEADERS.items():
            if line.startswith(opening):
                self._before = False
                read(self, line)
                return
        if self.files and line.startswith(tuple(STATUS)):
            self._status(line)
        elif COMMIT.match(line) or self._before:
            self._before = True
            if len(self.notes) < MOST_NOTES:
                self.notes.append(line.strip())

    def _status(self, line: str) -> None:
        file = self.files[-1]
        for opening, status in STATUS.items():
            if line.startswith(opening):
                file.status = status
                if status in ("renamed", "copied"):
                    file.before = line.removeprefix(opening).strip()

    def hunk(self, line: str) -> None:
        match = HUNK.match(line)
        free = None if match else BLOCK.match(line)
        if not self.files or not (match or free):
            return
        if match:
            self._old, self._new, self._free = int(match[2] or 1), int(match[4] or 1), False
            self._old_number, self._new_number = int(match[1]), int(match[3])
            length = self._new or self._old
            self.files[-1].hunks.append(Hunk(self._new_number, match[5].strip(), length=length))
        elif free:
            self._free = True
            self.files[-1].hunks.append(Hunk(0, free[1].strip()))

    def file(self, line: str) -> None:
        match = GIT_NAMES.match(line)
        name = (match[1] or match[2]) if match else line.rsplit(" ", maxsplit=1)[-1]
        self.files.append(ChangedFile(name.strip()))
        self._free = False

    def old_name(self, line: str) -> None:
        """A `---` opens a file where no `diff --git` did."""
        self._free = False
        if not self.files or self.files[-1].hunks:
            self.files.append(ChangedFile(_name(line)))
        if line.startswith("--- /dev/null"):
            self.files[-1].status = "added"

    def new_name(self, line: str) -> None:
        if not self.files:
            return
        if line.startswith("+++ /dev/null"):
            self.files[-1].status = "deleted"
        else:
            self.files[-1].name = _name(line)

    def patched(self, line: str) -> None:
        match = PATCHED.match(line)
        if match:
            self.files.append(ChangedFile(match[2].strip(), PATCH_STATUS[match[1]]))
            self.files[-1].hunks.append(Hunk(0, ""))
            self._free = True
        elif line.startswith("*** Move to: ") and self.files:
            file = self.files[-1]
            file.before, file.name, file.status = file.name, line[13:].strip(), "renamed"


def _name(line: str) -> str:
    """Return the file that a `---` or `+++` line names, without its date and git's prefix."""
    name = line[4:].split("\t", maxsplit=1)[0].strip().strip('"')
    return name[2:] if name[:2] in ("a/", "b/") else name


HEADERS = {
    "diff ": _DiffReader.file,
    "--- ": _DiffReader.old_name,
    "+++ ": _DiffReader.new_name,
    "@@": _DiffReader.hunk,
    "*** ": _DiffReader.patched,
}


def _summary(files: Sequence[ChangedFile], added: int, removed: int) -> str:
    statuses = Counter(file.status for file in files if file.status != "modified")
    rendered = "".join(f", {number} {status}" for status, number in sorted(statuses.items()))
    hunks = counted(sum(len(file.hunks) for file in files), "hunk")
    return f"{counted(len(files), 'file')}{rendered}, {hunks}, +{added:,} −{removed:,}"


def _selectors(files: Sequence[ChangedFile]) -> tuple[str, ...]:
    return (f'pattern="{cut(files[0].name, SHOWN_CHARACTERS)}"',)


def _lines(reader: _DiffReader) -> tuple[EntryLine, ...]:
    lines = [EntryLine(cut(note, SHOWN_CHARACTERS), 1.8, count=0) for note in reader.notes]
    for file in reader.files:
        parent = put(lines, EntryLine(_file_line(file), 2.5, count=0))
        for hunk in _written(file.hunks):
            _put_hunk(lines, hunk, parent)
    return thinned(lines)


def _written(hunks: Sequence[Hunk]) -> Iterator[Hunk]:
    return (hunk for hunk in hunks if hunk.body or hunk.heading)


def _file_line(file: ChangedFile) -> str:
    status = "" if file.status == "modified" else f" ({file.status})"
    before = f" from {file.before}" if file.before else ""
    hunks = f" in {len(file.hunks)} hunks" if len(file.hunks) > 1 else ""
    counts = f" +{file.added:,} −{file.removed:,}" if file.added or file.removed else ""
    return f"{file.name}{status}{before}{counts}{hunks}"


def _put_hunk(lines: list[EntryLine], hunk: Hunk, parent: int) -> None:
    """Write a hunk's head where the diff names what it is in, then its changed lines."""
    end = hunk.start + max(0, hunk.length - 1)
    at = f"{hunk.start}-{end} " if hunk.start else ""
    heading = cut(hunk.heading, SHOWN_CHARACTERS)
    if at or heading:
        weight = HEADED if heading else UNHEADED
        lines.append(EntryLine(f"  @@ {at}{heading}".rstrip(), weight, parent=parent, count=0))
    bearing = 0
    for change in hunk.changes():
        bears = BEARING.search(change, change.find(" ")) is not None
        weight = _weight(change, bearing) if bears else 0.05
        weight *= REMOVED if change[0] == "-" else 1.0
        lines.append(EntryLine(f"  {change}", weight, parent=parent, count=1 + change.count("\n")))
        bearing += bears
    if rest := hunk.added + hunk.removed - sum(line[0] != " " for line in hunk.body):
        lines.append(EntryLine(f"  … {rest:,} more", LIGHT, parent=parent, count=rest))


def _weight(change: str, bearing: int) -> float:
    if DEFINES.match(change.partition(" ")[2]):
        return 1.2
    return 1.0 if bearing < FIRST_CHANGES else 0.3
