"""HTML read into items, tag by tag: unbalanced pages read as well as balanced ones.

Linear: no pattern looks behind the next `<`, and nothing is built into a tree.
"""

from __future__ import annotations

import re
from html import unescape

from hippocampus.indexing.html.items import MOST_ITEMS, ElementKind, Page, PageElement
from hippocampus.indexing.lines import cut

ATTRIBUTES = r"""(?P<attributes>(?:[^<>"']++|"[^"<]*+"|'[^'<]*+')*+)>?"""
TAG = re.compile(
    r"<(?=[/a-zA-Z])(?P<close>/?)(?P<name>h[1-6]|a|button|input|select|option|textarea|form|label|legend|title|table|"
    r"caption|th|tr|td|li|p|dt|dd|blockquote|pre|nav|main|header|footer|aside|meta|summary|figcaption|"
    r"element|link|textbox|checkbox|heading|"
    r"(?:div|span|section|ul|strong|article|body)(?=[^<>]{1,300}(?:role=|aria-live|\bref=|"
    r"class=[\"'][^\"'<>]{0,80}(?:error|alert|invalid|warning|success|flash|toast))))"
    rf"(?=[\s/>]){ATTRIBUTES}",
    re.IGNORECASE,
)
ANY_TAG = re.compile(r"<[^<>]*+>?")
HIDDEN = re.compile(r"<!--|<(?P<name>script|style|svg|noscript|template|iframe)\b", re.IGNORECASE)
ENDS = {
    name: re.compile(rf"</{name}\s{{0,9}}>?", re.IGNORECASE)
    for name in ("script", "style", "svg", "noscript", "template", "iframe")
}
ATTRIBUTE = re.compile(
    r"""(?<![\w:@.-])([\w:@.-]{1,60})\s{0,9}=\s{0,9}(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))"""
)
BARE_ATTRIBUTES = re.compile(
    r"(?:^|\s)(checked|disabled|selected|required|readonly|hidden)(?=[\s/=]|$)"
)
LOOSE = re.compile(r" (?=[,.;:!?)])")
ATTRIBUTE_CHARACTERS = 2_000
MESSAGE = re.compile(
    r"role=[\"']?(?:alert|status|alertdialog|log)|aria-live=[\"']?(?:polite|assertive)|"
    r"class=[\"'][^\"'<>]{0,80}(?:error|alert|invalid|warning|success|flash|toast)"
)
LANDMARKS = {
    "nav": "navigation",
    "main": "main",
    "header": "banner",
    "footer": "footer",
    "aside": "aside",
}
LANDMARK_ROLES = frozenset(
    [
        "navigation",
        "main",
        "banner",
        "contentinfo",
        "complementary",
        "search",
        "form",
        "region",
        "dialog",
    ]
)
CONTROL_ROLES = frozenset(
    [
        "button",
        "tab",
        "menuitem",
        "checkbox",
        "radio",
        "switch",
        "option",
        "combobox",
        "textbox",
        "searchbox",
        "slider",
        "spinbutton",
        "link",
    ]
)
BLOCKS = frozenset(
    [
        "p",
        "li",
        "dt",
        "dd",
        "blockquote",
        "pre",
        "caption",
        "figcaption",
        "legend",
        "summary",
        "title",
    ]
)
STATES = ("checked", "disabled", "selected", "required", "readonly")
MOST_TAGS = 80_000
MOST_OPTIONS = 6
"""Options of a list that are written; of a longer one only the chosen."""
LEAST_TEXT = 25
"""Shorter pieces of running text carry no information alone."""
MOST_BUFFERED = 40


def read_page(text: str) -> Page:
    """Return what a page shows."""
    reader = _PageReader()
    shown = _shown(text)
    end = 0
    for match in TAG.finditer(shown):
        if end != match.start():
            reader.text(shown[end : match.start()])
        name, close, attributes = match.group("name", "close", "attributes")
        reader.tag(name.lower(), bool(close), attributes)
        end = match.end()
        if reader.tags >= MOST_TAGS or len(reader.items) >= MOST_ITEMS:
            break
    reader.text(shown[end : end + 2_000])
    reader.block_ends()
    return Page(reader.items, reader.title, reader.url, reader.about)


def _shown(text: str) -> str:
    """Return a page without scripts, styles, drawings and comments."""
    kept: list[str] = []
    at = 0
    while match := HIDDEN.search(text, at):
        kept.append(text[at : match.start()])
        name = (match["name"] or "").lower()
        found = ENDS[name].search(text, match.end()) if name else None
        at = (found.end() if found else -1) if name else text.find("-->", match.end())
        if at < 0:
            return "".join(kept)
    kept.append(text[at:])
    return " ".join(kept)


def attributes_of(written: str) -> dict[str, str]:
    """Return the attributes of a tag, the bare ones with their own name."""
    if not written or written.isspace():
        return {}
    found = ATTRIBUTE.findall(written[:ATTRIBUTE_CHARACTERS])
    known = {name.lower(): unescape(a or b or c) for name, a, b, c in found}
    known.update({name: name for name in BARE_ATTRIBUTES.findall(written[:ATTRIBUTE_CHARACTERS])})
    return known


def plain_text(markup: str) -> str:
    """Return the words of a piece of markup."""
    words = ANY_TAG.sub(" ", markup) if "<" in markup else markup
    return " ".join((unescape(words) if "&" in words else words).split())


class _PageReader:
    """Turns the tags and texts that pass into items; open tags are never waited for."""

    def __init__(self) -> None:
        self.items: list[PageElement] = []
        self.tags = 0
        self.title = self.url = self.about = ""
        self._buffer: list[str] = []
        self._block: str = "text"
        self._marks: dict[str, str] = {}
        self._capture: list[str] | None = None
        self._captured: tuple[str, dict[str, str]] = ("", {})
        self._linked = 0
        self._cells: list[str] = []
        self._is_head = False
        self._label, self._options = "", 0

    def text(self, markup: str) -> None:
        """Take what stands between two tags."""
        if not markup or markup.isspace():
            return
        words = plain_text(markup)
        if words and len(self._buffer) < MOST_BUFFERED:
            self._buffer.append(words)
        if words and self._capture is not None:
            self._capture.append(words)

    def tag(self, name: str, is_end: bool, written: str) -> None:  # noqa: FBT001
        """Take a tag."""
        self.tags += 1
        if name in ("a", "button", "option", "label", "select"):
            self._inline(name, is_end, written)
        elif is_end:
            self.block_ends()
            self._row_ends(name)
        else:
            self.block_ends()
            self._row_ends(name)
            self._opens(name, written)

    def block_ends(self) -> None:
        """Write the running text as what it stood in."""
        words, marks = LOOSE.sub("", " ".join(self._buffer)), self._marks
        block, self._block, self._marks = self._block, "text", {}
        linked, self._linked = self._linked, 0
        self._buffer.clear()
        if block in ("td", "th"):
            self._cells.append(cut(words, 80))
        elif words and block == "title":
            self.title = self.title or words
        elif words and block[0] == "h" and block[1:].isdigit():
            self.items.append(PageElement("heading", words, ref=_ref(marks), level=int(block[1])))
        elif words and block == "message":
            self.items.append(PageElement("message", words, ref=_ref(marks)))
        elif len(words) >= LEAST_TEXT and len(words) > linked + LEAST_TEXT:
            self.items.append(PageElement("text", words))

    def _row_ends(self, name: str) -> None:
        if name not in ("tr", "table") or not self._cells:
            return
        rendered = " | ".join(self._cells)
        if rendered.strip(" |"):
            self.items.append(PageElement("head" if self._is_head else "row", rendered))
        self._cells, self._is_head = [], False

    def _opens(self, name: str, written: str) -> None:
        if name in ("th", "td"):
            self._block, self._is_head = name, self._is_head or name == "th"
        elif name in BLOCKS or name[1:].isdigit():
            self._block = name
            self._note_attributes(written, attributes_of(written))
        elif name in LANDMARKS:
            label = attributes_of(written).get("aria-label", "")
            self.items.append(PageElement("landmark", label, LANDMARKS[name]))
        elif name in ("meta", "input", "textarea", "form", "element", "textbox", "checkbox"):
            self._single(name, attributes_of(written))
        else:
            known = attributes_of(written)
            self._note_attributes(written, known)
            self._roled(name, known)

    def _note_attributes(self, written: str, known: dict[str, str]) -> None:
        """Remember the block's attributes, and whether it is a message."""
        self._marks = known
        if known and MESSAGE.search(written[:ATTRIBUTE_CHARACTERS]):
            self._block = "message"

    def _single(self, name: str, known: dict[str, str]) -> None:
        """Take a tag whose content is its attributes."""
        if name == "meta":
            label_text = (known.get("name") or known.get("property") or "").lower()
            if label_text in ("description", "og:description"):
                self.about = self.about or known.get("content", "")
            elif label_text == "og:url":
                self.url = self.url or known.get("content", "")
        elif name == "form":
            target = f"{known.get('method', 'get').upper()} {known.get('action', '')}".strip()
            self.items.append(PageElement("landmark", target, "form", _ref(known)))
        elif known.get("type", "").lower() != "hidden" and "role" not in known:
            self.items.append(_field(name, known, self._label))
            self._label = ""
        else:
            self._roled(name, known)

    def _roled(self, name: str, known: dict[str, str]) -> None:
        """Take a tag by its role, where it has one that a page is used by."""
        if known.get("rel") == "canonical":
            self.url = self.url or known.get("href", "")
        role = known.get("role", name if name in ("link", "heading") else "").lower()
        label = _label(known)
        if role in CONTROL_ROLES and (label or "ref" in known):
            target = known.get("href", known.get("url", "")) if role == "link" else ""
            value = known.get("value", "")
            kind: ElementKind = "link" if role == "link" else "control"
            self.items.append(
                PageElement(kind, label, role, _ref(known), target, value, _state(known))
            )
        elif role in LANDMARK_ROLES and name != "body":
            self.items.append(PageElement("landmark", label, role, _ref(known)))
        elif role == "heading" and label:
            self.items.append(PageElement("heading", label, ref=_ref(known), level=2))

    def _inline(self, name: str, is_end: bool, written: str) -> None:  # noqa: FBT001
        """Take a tag inside running text; one that opens ends the one before."""
        self._captured_ends()
        if not is_end:
            self._capture = []
            self._captured = (name, attributes_of(written))

    def _captured_ends(self) -> None:
        if self._capture is None:
            return
        (name, known), words = self._captured, " ".join(self._capture[:MOST_BUFFERED])
        self._capture = None
        if name == "label":
            self._label = cut(words, 60)
        elif name == "select":
            self.items.append(_field(name, known, self._label))
            self._label, self._options = "", 0
        elif name == "option":
            self._option(known, words)
        else:
            self._linked += len(words)
            self._pressed(name, known, words)

    def _option(self, known: dict[str, str], words: str) -> None:
        """Take a choice: those of a short list, and the chosen one of a long list."""
        self._options += 1
        state = "selected" if "selected" in known else ""
        if words and (state or self._options <= MOST_OPTIONS):
            self.items.append(
                PageElement("control", words, "option", known.get("value", ""), state=state)
            )

    def _pressed(self, name: str, known: dict[str, str], words: str) -> None:
        label = words or _label(known)
        target = known.get("href", "")
        is_link = name == "a" and known.get("role", "link") == "link"
        if not label and not target:
            return
        role = "link" if is_link else known.get("role", "button")
        kind: ElementKind = "link" if is_link else "control"
        if target.startswith(("javascript:", "data:")):
            target = ""
        ref = _ref(known) if not is_link or "ref" in known else ""
        self.items.append(PageElement(kind, label, role, ref, cut(target, 300), "", _state(known)))


def _field(name: str, known: dict[str, str], label: str) -> PageElement:
    """Return a form's field with its value."""
    role = known.get("type", "") if name == "input" else name
    label_text = _label(known) or label or known.get("placeholder", "") or known.get("name", "")
    value = known.get("value", "") if role != "password" else ""
    is_button = role in ("submit", "button", "reset", "image")
    if is_button:
        label_text, value = value or label_text, ""
    named = known.get("name", "") if known.get("name", "") != label_text else ""
    ref = _ref(known) or named
    return PageElement(
        "control", label_text, role or "text", ref, "", value, _state(known), is_field=not is_button
    )


def _label(known: dict[str, str]) -> str:
    return (
        known.get("aria-label") or known.get("title") or known.get("alt") or known.get("text") or ""
    )


def _ref(known: dict[str, str]) -> str:
    """Return what a later call names an element by: its ref, else its id."""
    if "ref" in known:
        return known["ref"]
    return f"#{known['id']}" if known.get("id") else ""


def _state(known: dict[str, str]) -> str:
    return " ".join(state for state in STATES if state in known)
