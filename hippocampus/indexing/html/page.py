"""HTML read into elements, tag by tag: unbalanced pages read as well as balanced ones.

Linear: no pattern looks past the next `<`, and nothing is built into a tree.
"""

from __future__ import annotations

import re
from html import unescape

from hippocampus.indexing.extraction import cut
from hippocampus.indexing.html.items import MAX_ITEMS, ElementKind, Page, PageElement

TAG = re.compile(
    r"""<(?P<close>/?)(?P<name>[a-zA-Z][\w-]{0,30})(?P<attributes>(?:[^<>"']++|"[^"<]*+"|'[^'<]*+')*+)>?"""
)
HIDDEN = re.compile(r"<!--|<(?P<name>script|style|svg|noscript|template|iframe)\b", re.IGNORECASE)
ENDS = {
    name: re.compile(rf"</{name}\s{{0,9}}>?", re.IGNORECASE)
    for name in ("script", "style", "svg", "noscript", "template", "iframe")
}
ATTRIBUTE = re.compile(
    r"""(?<![\w:@.-])([\w:@.-]{1,60})(?:\s{0,9}=\s{0,9}(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?"""
)
ATTRIBUTE_CHARACTERS = 2_000
INLINE = frozenset("b strong i em u small mark code kbd abbr span font br sub sup img".split())  # noqa: SIM905 - reads better so
LANDMARKS = {
    "nav": "navigation", "main": "main", "header": "banner", "footer": "footer", "aside": "aside",
    "form": "form",
}  # fmt: skip
CONTROLS = frozenset(
    ["button", "tab", "menuitem", "checkbox", "radio", "switch", "option", "textbox"]
)
MESSAGE = re.compile(r"alert|error|invalid|warning|success|flash|toast")
"""Part of the role or the class of a message to the user."""
LOOSE = re.compile(r" (?=[,.;:!?)])")
STATES = ("checked", "disabled", "selected", "required", "readonly")
MAX_TAGS, MAX_TEXTS = 80_000, 40
MIN_TEXT = 25
"""Shorter pieces of running text say nothing by themselves."""


def read_page(text: str) -> Page:
    """Return what a page shows."""
    reader = _PageReader()
    shown, end = _shown(text), 0
    for count, match in enumerate(TAG.finditer(shown)):
        reader.text(shown[end : match.start()])
        reader.tag(match["name"].lower(), bool(match["close"]), match["attributes"])
        end = match.end()
        if count >= MAX_TAGS or len(reader.items) >= MAX_ITEMS:
            break
    reader.text(shown[end : end + ATTRIBUTE_CHARACTERS])
    reader.flush()
    return Page(reader.items, reader.title)


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


class _PageReader:
    """Turns the tags and texts that pass into elements; open tags are never waited for."""

    def __init__(self) -> None:
        self.items: list[PageElement] = []
        self.title = ""
        self._texts: list[str] = []
        self._block, self._known = "", dict[str, str]()
        """The block that the running text is in, and its attributes."""
        self._pressed: tuple[str, dict[str, str], int] | None = None
        """The open link, button, choice or label, and where its text starts."""
        self._label = ""
        self._linked = 0
        """The characters of the running text that are links."""
        self._cells: list[str] = []

    def text(self, markup: str) -> None:
        """Take the text between two tags."""
        words = " ".join(unescape(markup).split())
        if words and len(self._texts) < MAX_TEXTS:
            self._texts.append(words)

    def tag(self, name: str, is_end: bool, written: str) -> None:  # noqa: FBT001
        """Take a tag."""
        shown = "" if is_end or not written.strip(" /") else written[:ATTRIBUTE_CHARACTERS]
        known = {  # the bare ones with their own name
            name.lower(): unescape(a or b or c) or name.lower()
            for name, a, b, c in ATTRIBUTE.findall(shown)
        }
        if name in ("a", "button", "option", "label"):
            self._press()
            if not is_end:
                self._pressed = name, known, len(self._texts)
        elif name not in INLINE or "role" in known or MESSAGE.search(known.get("class", "")):
            self.flush()
            if name in ("tr", "table") and self._cells:
                self.items.append(PageElement("row", " | ".join(self._cells)))
                self._cells = []
            if not is_end:
                self._open(name, known)

    def _open(self, name: str, known: dict[str, str]) -> None:
        role = known.get("role", name).lower()
        label = known.get("aria-label") or known.get("title", "")
        if name in ("input", "select", "textarea"):
            self._field(name, known)
        elif role in CONTROLS or (role == "link" and name != "link"):
            target = known.get("href", "")
            kind: ElementKind = "link" if role == "link" else "control"
            self.items.append(
                PageElement(kind, label, role, _ref(known), target, "", _state(known))
            )
        elif role in LANDMARKS or role in LANDMARKS.values():
            label = label or " ".join(
                filter(None, (known.get("method", "").upper(), known.get("action")))
            )
            self.items.append(
                PageElement("landmark", label, LANDMARKS.get(role, role), _ref(known))
            )
        else:
            self._block, self._known = name, known

    def flush(self) -> None:
        """Flush the running text into its block."""
        self._press()
        words, block, known = LOOSE.sub("", " ".join(self._texts)), self._block, self._known
        linked, self._linked = self._linked, 0
        self._texts, self._block, self._known = [], "", {}
        is_message = MESSAGE.search(known.get("role", "") + known.get("class", "")) is not None
        if block in ("td", "th"):
            self._cells.append(cut(words, 80))
        elif words and block == "title":
            self.title = self.title or words
        elif words and re.fullmatch(r"h[1-6]", block):
            self.items.append(PageElement("heading", words, ref=_ref(known), level=int(block[1])))
        elif words and is_message:
            self.items.append(PageElement("message", words, ref=_ref(known)))
        elif len(words) >= linked + MIN_TEXT:
            self.items.append(PageElement("text", words))

    def _press(self) -> None:
        """Take an open link, button, choice or label: its text is complete."""
        if self._pressed is None:
            return
        (name, known, start), self._pressed = self._pressed, None
        words = " ".join(self._texts[start:]) or known.get("aria-label") or known.get("title", "")
        target = known.get("href", "")
        target = "" if target.startswith(("javascript:", "data:")) else cut(target, 300)
        if name == "label":
            self._label = cut(words, 60)
        elif name == "a" and known.get("role", "link") == "link":
            self._linked += len(words)
            if words or target:
                self.items.append(PageElement("link", words, "link", known.get("ref", ""), target))
        elif words:
            role = known.get("role", name if name == "option" else "button")
            ref = known.get("value", "") if name == "option" else _ref(known)
            self.items.append(PageElement("control", words, role, ref, "", "", _state(known)))
        if name in ("button", "option", "label"):
            del self._texts[start:]

    def _field(self, name: str, known: dict[str, str]) -> None:
        """Take a field of a form with its value; hidden ones and passwords show none."""
        role = known.get("type", "text").lower() if name == "input" else name
        if role == "hidden":
            return
        label = known.get("aria-label") or self._label or known.get("placeholder", "")
        name_of = known.get("name", "")
        value = "" if role == "password" else known.get("value", "")
        self._label = ""
        ref = _ref(known) or (name_of if label else "")
        self.items.append(
            PageElement(
                "control", label or name_of, role, ref, "", value, _state(known), is_field=True
            )
        )


def _ref(known: dict[str, str]) -> str:
    """Return what a later call names an element by: its ref, else its id."""
    return known.get("ref") or (f"#{known['id']}" if known.get("id") else "")


def _state(known: dict[str, str]) -> str:
    return " ".join(state for state in STATES if state in known)
