"""What a page or a snapshot of one is read into, and how that is written as an extraction.

Pure; refs, addresses and values follow their labels.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from hippocampus.indexing.extraction import EntryLine, Extraction, counted, cut, packed

ElementKind = Literal["heading", "landmark", "control", "link", "message", "head", "row", "text"]
NOUNS: dict[ElementKind, str] = {
    "heading": "heading", "link": "link", "control": "control", "message": "message",
    "head": "table", "row": "row",
}  # fmt: skip
"""The kinds that a summary counts, by name."""
MAX_ITEMS = 10_000
MAX_LINES = 5_000
LABEL_CHARACTERS = 70
TEXT_CHARACTERS = 220
MESSAGE_CHARACTERS = 300
MAX_KEPT_MESSAGES = 5
HEADING_WEIGHTS = (2.2, 1.8, 1.4, 1.1, 0.9, 0.8)
CONTROL, FIELD, LINK = 5.0, 6.0, 0.9
HEAD, ROW, TEXT, LANDMARK = 1.4, 0.7, 0.6, 0.7


class PageElement(NamedTuple):
    """One thing on a page."""

    kind: ElementKind
    text: str
    role: str = ""
    """Of a control or landmark: button, textbox, navigation."""
    ref: str = ""
    """What a later call names it by."""
    target: str = ""
    value: str = ""
    state: str = ""
    level: int = 1
    is_field: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """A page as it was read."""

    items: list[PageElement]
    title: str = ""
    url: str = ""
    form: str = "page"


def write_page(page: Page) -> Extraction:
    """Return the extraction of a page."""
    writer = _PageWriter()
    for item in page.items:
        writer.take(item)
    writer.flush()
    counts: Counter[str] = Counter(item.kind for item in page.items)
    data: dict[str, object] = {"title": page.title, "url": page.url, **counts}
    rendered = [counted(counts[kind], noun) for kind, noun in NOUNS.items() if counts[kind]]
    if len(page.items) >= MAX_ITEMS:
        rendered.append(f"only the first {MAX_ITEMS:,} read")
    head = [page.form, f'"{cut(page.title, 120)}"' if page.title else "", page.url]
    summary = " ".join(filter(None, head)) + (f": {', '.join(rendered)}" if rendered else "")
    lines = tuple(writer.lines[:MAX_LINES])
    return Extraction("page", summary, lines, data, ('pattern="…"',), "items")


@dataclass(slots=True)
class _PageWriter:
    """Writes items in order; links and controls wait until their section ends."""

    lines: list[EntryLine] = field(default_factory=list)
    heading: int | None = None
    waiting: dict[tuple[str, float], list[str]] = field(default_factory=dict)
    seen: set[PageElement] = field(default_factory=set)
    messages: int = 0

    def take(self, item: PageElement) -> None:
        """Take one item."""
        if item.kind in ("control", "link"):
            if item not in self.seen:
                self.seen.add(item)
                weight = LINK if item.kind == "link" else FIELD if item.is_field else CONTROL
                target = f" → {item.target}" if item.target else ""
                rendered = f"{cut(item.text, LABEL_CHARACTERS)}{_marks(item)}{target}".strip()
                self.waiting.setdefault((item.role or item.kind, weight), []).append(rendered)
        elif item.kind in ("heading", "landmark"):
            self._open(item)
        elif item.kind == "message":
            self.messages += 1
            rendered = f"! {cut(item.text, MESSAGE_CHARACTERS)}{_marks(item)}"
            kept = self.messages <= MAX_KEPT_MESSAGES
            self.lines.append(EntryLine(rendered, CONTROL, keep=kept))
        else:
            weight = {"head": HEAD, "row": ROW, "text": TEXT}[item.kind]
            rendered = f"{cut(item.text, TEXT_CHARACTERS)}{_marks(item)}"
            self.lines.append(EntryLine(rendered, weight, parent=self.heading))

    def flush(self) -> None:
        """Write what waits, below the section's heading."""
        for (label, weight), rendered in self.waiting.items():
            self.lines += packed(rendered, label, weight=weight, parent=self.heading)
        self.waiting.clear()

    def _open(self, item: PageElement) -> None:
        self.flush()
        is_heading = item.kind == "heading"
        mark = "#" * item.level if is_heading else f"[{item.role}]"
        if not is_heading and not item.text and not item.ref:
            self.heading = None
            return
        weight = HEADING_WEIGHTS[min(item.level, 6) - 1] if is_heading else LANDMARK
        rendered = f"{mark} {cut(item.text, LABEL_CHARACTERS * 2)}".strip() + _marks(item)
        self.heading = len(self.lines)
        self.lines.append(EntryLine(rendered, weight))


def _marks(item: PageElement) -> str:
    ref = f" {item.ref}" if item.ref else ""
    value = f' = "{cut(item.value, LABEL_CHARACTERS)}"' if item.value else ""
    return f"{ref}{value}{f' ({item.state})' if item.state else ''}"
