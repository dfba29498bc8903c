"""Pages: HTML, accessibility trees and browser snapshots, read into the lines that a later call may name.

Decided from the text itself; nothing is fetched, and no script is run. Linear: no pattern looks past the
next `<` or end of line, and nothing is built into a tree, so that unbalanced pages read as well.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from html import unescape
from typing import NamedTuple

from hippocampus.indexing import plain
from hippocampus.indexing.extraction import EntryLine, Extraction, counted, cut, packed

SAMPLE_CHARACTERS = 20_000
SAMPLE_LINES = 120
MIN_CONFIDENCE = 0.4
OPENING = re.compile(r"\s{0,2000}(?:<!doctype html|<html\b|<head\b|<body\b)", re.IGNORECASE)
TAGS = re.compile(
    r"</?(?:div|span|p|a|li|ul|table|tr|td|h[1-6]|button|input|form|section|nav|script|meta|link|label|img|"
    r"element|textbox|heading|main|header|footer|br|b|i|strong|em)(?=[\s/>])[^<>]{0,400}>",
    re.IGNORECASE,
)
COMPONENT = ("className=", "={() =>", "=> {", "import React", "@click=", "v-if=")
"""Signs of a source with markup in its code."""
NUMBERED_TAG = re.compile(r"^[ \t]*\*?\[\d+\]<\w", re.MULTILINE)
"""A line of a snapshot such as `[12]<button>Send</button>`, which has its ref and its label."""
CHARACTERS_PER_TAG, MIN_TAGS = 400, 3
"""A page has a tag at least so often."""
MAX_INSIDE, INSIDE = 0.6, 8
"""How sure tags inside of another text make it at most, and how many times more of them it takes."""
SNAPSHOT = 1.2
"""How much surer lines of a snapshot are than their share."""

MAX_ELEMENTS = 5_000
CONTROL, HEADING, LINK, LANDMARK, TEXT = 5.0, 1.8, 0.9, 0.7, 0.6
"""The weights of elements; headings and landmarks begin a section."""
MAX_KEPT_MESSAGES = 5
TEXT_CHARACTERS, TARGET_CHARACTERS, ROLE_CHARACTERS = 220, 300, 30
TITLE_CHARACTERS, LABEL_CHARACTERS, MAX_ROLES = 120, 80, 4


class PageElement(NamedTuple):
    """One thing on a page."""

    text: str
    """Its label, then its ref, its address or its value."""
    weight: float = TEXT
    role: str = ""
    """Of a control or a link: those of one role in a section share their lines."""
    is_message: bool = False
    """Whether it is an alert or a status of the page, such as a failed payment."""


def recognises(text: str) -> float:
    """Return how surely a text is a page or a snapshot of one."""
    return max(_is_markup(text), _is_snapshot(text))


def extract(text: str) -> Extraction | None:
    """Return the extraction of a page, or nothing for another text; numbered tags stay as they are."""
    markup, snapshot = _is_markup(text), _is_snapshot(text)
    if max(markup, snapshot) < MIN_CONFIDENCE:
        return None
    if markup <= snapshot and NUMBERED_TAG.search(text):
        return plain.extract(text, "page")
    form = "page" if markup > snapshot else "snapshot"
    elements, title, url = _read_html(text) if markup > snapshot else _read_snapshot(text)
    if not elements and not title:
        return None
    counts = Counter(element.role for element in elements if element.role)
    most = counts.most_common(MAX_ROLES)
    rendered = ", ".join(counted(count, role) for role, count in most)
    head = " ".join(filter(None, (form, f'"{cut(title, TITLE_CHARACTERS)}"' if title else "", url)))
    summary = f"{head}: {rendered}" if rendered else head
    data = {**dict(most), "title": title, "url": url}
    return Extraction("page", summary, tuple(_lines_of(elements)), data, ('pattern="…"',), "items")


def _lines_of(elements: Sequence[PageElement]) -> list[EntryLine]:
    """Return the lines of a page; links and controls follow where their section ends."""
    lines: list[EntryLine] = []
    waiting: dict[tuple[str, float], list[str]] = {}
    heading: int | None = None
    seen: set[PageElement] = set()
    messages = 0
    named = (element for element in elements if element.text.strip("# "))
    for element in (*named, PageElement("", HEADING)):
        if element.role:
            if element not in seen:
                waiting.setdefault((element.role, element.weight), []).append(element.text)
            seen.add(element)
            continue
        opens = element.weight in (HEADING, LANDMARK)
        if opens:
            for (role, weight), texts in waiting.items():
                lines += packed(texts, role, weight=weight, parent=heading)
            waiting.clear()
            heading = len(lines)
        above = None if opens else heading
        messages += element.is_message
        keep = element.is_message and messages <= MAX_KEPT_MESSAGES
        if element.text:
            lines.append(EntryLine(element.text, element.weight, keep, parent=above))
    return lines


def _is_markup(text: str) -> float:
    if OPENING.match(text):
        return 1.0
    sample = text[:SAMPLE_CHARACTERS]
    if "<" not in sample or any(sign in sample for sign in COMPONENT):
        return 0.0
    start = sample.lstrip()
    found = len(TAGS.findall(sample))
    share = found * CHARACTERS_PER_TAG / max(len(sample), CHARACTERS_PER_TAG)
    if found < MIN_TAGS:
        return 0.0
    return min(1.0, share / 2) if start[:1] == "<" else min(MAX_INSIDE, share / INSIDE)


def _is_snapshot(text: str) -> float:
    lines = [line.rstrip()[:LINE_CHARACTERS] for line in text[:SAMPLE_CHARACTERS].split("\n")]
    sample = [line for line in lines if line.strip()][:SAMPLE_LINES]
    if len(sample) < MIN_TAGS:
        return 0.0
    found = 0
    for line in sample:  # an element has a known role with a ref or a quoted name
        match = ELEMENT.fullmatch(line)
        if match is None or match["role"].lstrip("<") not in WEIGHT_OF_ROLE:
            found += URL_LINE.fullmatch(line) is not None
        elif match["role"][0] != "<" or match["before"]:
            rest = match["rest"]
            is_named = match["before"] or QUOTED.match(rest) or REF.search(rest) or "[" in rest[:3]
            is_item = line.lstrip().startswith("- ") and rest[:1] in (":", "")
            found += bool(is_named or is_item or BARE_REF.search(rest))
    share = found / len(sample)
    return min(1.0, share * SNAPSHOT) if share >= MIN_CONFIDENCE / SNAPSHOT else 0.0


# HTML, tag by tag

TAG = re.compile(
    r"""<(?P<close>/?)(?P<name>[a-zA-Z][\w-]{0,30})(?P<attributes>(?:[^<>"']++|"[^"<]*+"|'[^'<]*+')*+)>?"""
)
HIDDEN = re.compile(r"<!--|<(?P<name>script|style|svg|noscript|template|iframe)\b", re.IGNORECASE)
ATTRIBUTE = re.compile(
    r"""(?<![\w:@.-])([\w:@.-]{1,60})(?:\s{0,9}=\s{0,9}(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?"""
)
ATTRIBUTE_CHARACTERS = 2_000
INLINE = frozenset("b strong i em u small mark code kbd abbr span font br sub sup img".split())  # noqa: SIM905 - reads better so
PRESSED = ("a", "button", "option", "label")
FIELDS = ("input", "select", "textarea")
CONTROLS = ("button", "tab", "menuitem", "checkbox", "radio", "switch", "option", "textbox", "link")
LANDMARKS = ("nav", "main", "header", "footer", "aside", "form", "section")
MESSAGE = re.compile(r"alert|error|invalid|warning|success|flash|toast")
"""Part of the role or the class of a message to the user."""
LOOSE = re.compile(r" (?=[,.;:!?)])")
STATES = ("checked", "disabled", "selected", "required", "readonly")
MAX_TAGS, MAX_TEXTS = 80_000, 40
MIN_TEXT = 25
"""Shorter pieces of running text say nothing by themselves."""


def _read_html(text: str) -> tuple[list[PageElement], str, str]:
    page, parts, at = _HtmlReader(), list[str](), 0
    while at < len(text):  # the parts between scripts, styles, drawings and comments
        match = HIDDEN.search(text, at)
        parts.append(text[at : match.start() if match else len(text)])
        if match is None:
            break
        end = re.compile(rf"</{match['name']}\b" if match["name"] else "--(?=>)", re.IGNORECASE)
        found = end.search(text, match.end())
        if found is None:
            break
        at = found.end() + text[found.end() : found.end() + 1].startswith(">")
    shown, start = " ".join(parts), 0
    for count, match in enumerate(TAG.finditer(shown)):
        page.text(shown[start : match.start()])
        page.tag(match["name"].lower(), bool(match["close"]), match["attributes"])
        start = match.end()
        if count >= MAX_TAGS or len(page.elements) >= MAX_ELEMENTS:
            break
    page.text(shown[start : start + ATTRIBUTE_CHARACTERS])
    page.flush()
    return page.elements, page.title, ""


class _HtmlReader:
    """Turns the tags and texts that pass into elements; open tags are never waited for."""

    def __init__(self) -> None:
        self.elements: list[PageElement] = []
        self.title = ""
        self._texts: list[str] = []
        self._block, self._ref = "", ""
        """The block that the running text is in."""
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
        shown = "" if is_end else written[:ATTRIBUTE_CHARACTERS]
        known = {  # the bare ones with their own name
            name.lower(): unescape(a or b or c) or name.lower()
            for name, a, b, c in ATTRIBUTE.findall(shown)
        }
        is_control = known.get("role") in CONTROLS and name not in FIELDS
        is_its_end = is_end and self._pressed is not None and name == self._pressed[0]
        if name in PRESSED or is_control or is_its_end:
            self._press()
            self._pressed = None if is_end else (name, known, len(self._texts))
        elif name not in INLINE or "role" in known or MESSAGE.search(known.get("class", "")):
            self.flush()
            if name in ("tr", "table") and self._cells:
                row = cut(" | ".join(self._cells), TEXT_CHARACTERS)
                self.elements += [PageElement(row)] if row.strip("| ") else []
                self._cells = []
            if name in FIELDS and not is_end:
                self._field(name, known)
            elif not is_end:
                is_message = MESSAGE.search(known.get("role", "") + known.get("class", ""))
                self._block, self._ref = "message" if is_message else name, _ref(known)
                if name in LANDMARKS and (label := known.get("aria-label")):
                    text = f"[{name}] {cut(label, TEXT_CHARACTERS)} {self._ref}".rstrip()
                    self.elements.append(PageElement(text, LANDMARK))
                if name == "form":
                    text = f"{known.get('method', '').upper()} {known.get('action', '')}".strip()
                    self.elements.append(PageElement(text, CONTROL, "form"))

    def flush(self) -> None:
        """Flush the running text into its block."""
        self._press()
        words, block = LOOSE.sub("", " ".join(self._texts)), self._block
        linked, self._linked = self._linked, 0
        self._texts, self._block = [], ""
        if block in ("td", "th"):
            self._cells.append(cut(words, LABEL_CHARACTERS))
        elif words and block == "title":
            self.title = self.title or words
        elif words and re.fullmatch(r"h[1-6]", block):
            text = f"{'#' * int(block[1])} {cut(words, TEXT_CHARACTERS)} {self._ref}".rstrip()
            self.elements.append(PageElement(text, HEADING))
        elif words and block == "message":
            text = f"! {cut(words, TARGET_CHARACTERS)}"
            self.elements.append(PageElement(text, CONTROL, is_message=True))
        elif len(words) >= linked + MIN_TEXT:
            self.elements.append(PageElement(cut(words, TEXT_CHARACTERS)))

    def _press(self) -> None:
        """Take an open link, button, choice or label: its text is complete."""
        if self._pressed is None:
            return
        (name, known, start), self._pressed = self._pressed, None
        words = " ".join(self._texts[start:]) or known.get("aria-label") or known.get("title", "")
        if name == "label":
            self._label = words
        elif name == "a" and known.get("role", "link") == "link":
            self._linked += len(words)
            self._control("link", words, known)
        elif words:
            self._control(
                known.get("role", "option" if name == "option" else "button"), words, known
            )
        if name != "a":
            del self._texts[start:]

    def _field(self, name: str, known: dict[str, str]) -> None:
        """Take a field of a form with its value; hidden ones and passwords show none."""
        role = known.get("type", "text").lower() if name == "input" else name
        label = known.get("aria-label") or self._label or known.get("placeholder", "")
        self._label = ""
        if role == "password":
            known["value"] = ""
        if role != "hidden":
            self._control(role, label or known.get("name", ""), known)

    def _control(self, role: str, label: str, known: dict[str, str]) -> None:
        target, value = known.get("href", ""), known.get("value", "")
        target = "" if target.startswith(("javascript:", "data:")) else target
        states = ", ".join(state for state in STATES if state in known)
        parts = (
            cut(label, LABEL_CHARACTERS),
            _ref(known),
            f"→ {cut(target, TARGET_CHARACTERS)}" if target else "",
            f'= "{cut(value, LABEL_CHARACTERS)}"' if value else "",
            f"({states})" if states else "",
        )
        weight = LINK if role == "link" else CONTROL
        text = " ".join(filter(None, parts))
        self.elements.append(PageElement(text, weight, cut(role, ROLE_CHARACTERS)))


def _ref(known: dict[str, str]) -> str:
    """Return what a later call names an element by: its ref, else its id."""
    return cut(known.get("ref") or (f"#{known['id']}" if known.get("id") else ""), TEXT_CHARACTERS)


# Snapshots, line by line

LINE_CHARACTERS = 1_000
ELEMENT = re.compile(
    r"(?P<indent>[ \t|│├└─]*+)(?:[-*+][ \t]+)?\*?(?:(?P<before>uid=[\w.:-]+|ref=[\w.:-]+|\[[\w.-]{1,12}\]|\d+_\d+|@?e\d+)[:]?[ \t]*)?"
    r"(?P<role><?[A-Za-z]\w*+(?:-\w++)*+)(?P<rest>(?:[ \t/>:\[=]|$).*)"
)
QUOTED = re.compile(r"[ \t]*(?:\"(?P<double>(?:[^\"\\]|\\.)*+)\"|'(?P<single>(?:[^'\\]|\\.)*+)')")
REF = re.compile(r"\[?\b(?:ref|uid)=\"?(?P<ref>[\w.:-]+)\"?\]?")
BARE_REF = re.compile(r"\[(?:[a-z]{1,2})?\d+\](?=\s*:?\s*$)")
NOISE = re.compile(r"\s*(?:\[(?:cursor=pointer|active)\]|,? ?\b(?:clickable|focusable)\b,?)")
URL_LINE = re.compile(r"[ \t]*(?:-[ \t]*)?/?(?:url|href):[ \t]*(?P<url>\S+)", re.IGNORECASE)
PAGE_LINE = re.compile(
    r"[ \t]*(?:[-*#][ \t]*)*(?:Page |Current |Root)?(?P<what>URL|Title|WebArea)\b[ \t]*[:=]?[ \t]*(?P<value>\S.*)",
    re.IGNORECASE,
)
ROLES: dict[float, str] = {
    HEADING: "heading h1 h2 h3 h4 h5 h6",
    LINK: "link a",
    CONTROL: "button tab menuitem checkbox radio switch option input select summary combobox textbox "
    "searchbox slider spinbutton textarea listbox treeitem alert status alertdialog log",
    LANDMARK: "navigation nav main banner contentinfo complementary search form region dialog header "
    "footer aside",
    TEXT: "text StaticText paragraph cell gridcell listitem code blockquote image img generic div span "
    "li p td th term definition time strong emphasis list rowgroup article figure group iframe "
    "separator RootWebArea document table grid tablist menu toolbar columnheader rowheader row",
}
WEIGHT_OF_ROLE = {role: weight for weight, roles in ROLES.items() for role in roles.split()}
"""The weights of elements by role; other roles are no sign of a snapshot."""
OPENINGS = {HEADING: "#", LANDMARK: "[{}]"}
MESSAGES = ("alert", "status", "alertdialog")
MIN_LABEL = 12


def _read_snapshot(text: str) -> tuple[list[PageElement], str, str]:
    elements: list[PageElement] = []
    known = {"url": "", "title": ""}
    addressed = 0
    for whole in text.split("\n"):
        line = whole[:LINE_CHARACTERS].rstrip()
        if elements and (match := URL_LINE.fullmatch(line)):
            if addressed < len(elements):  # one address each: a text of addresses stays linear
                text = f"{elements[-1].text} → {match['url']}"
                elements[-1] = elements[-1]._replace(text=text)
                addressed = len(elements)
        elif (match := ELEMENT.fullmatch(line)) and match["role"] in WEIGHT_OF_ROLE:
            element = _element(match, match["role"])
            repeats = bool(elements) and elements[-1].text.startswith(element.text)
            if element.weight != TEXT or (len(element.text) >= MIN_LABEL and not repeats):
                elements.append(element)
        elif match := PAGE_LINE.fullmatch(line):
            what = "url" if match["what"].lower() == "url" else "title"
            known[what] = known[what] or match["value"].strip("\"'`")
        if len(elements) >= MAX_ELEMENTS:
            break
    return elements, known["title"], known["url"]


def _element(match: re.Match[str], role: str) -> PageElement:
    """Read `role "name" [ref=e1] [level=2]: text` in any of its forms: its words stay, its name comes first."""
    rest, weight = NOISE.sub("", match["rest"]), WEIGHT_OF_ROLE[role]
    quoted = QUOTED.match(rest)
    name = (quoted["double"] or quoted["single"] or "") if quoted else ""
    after = rest[quoted.end() :] if quoted else rest
    marks = REF.sub(r"\g<ref>", after).lstrip(" :").removesuffix("/>").rstrip(" :>")
    if only := QUOTED.fullmatch(marks):
        marks = only["double"] or only["single"] or ""
    ref = (match["before"] or "").removeprefix("uid=").removeprefix("ref=")
    text = " ".join(filter(None, (name, ref if name or weight != TEXT else "", marks)))
    if text and (opening := "!" if role in MESSAGES else OPENINGS.get(weight, "")):
        return PageElement(
            f"{opening.format(role)} {cut(text, TEXT_CHARACTERS)}",
            weight,
            is_message=opening == "!",
        )
    return PageElement(
        cut(text, TEXT_CHARACTERS), weight, role if weight in (CONTROL, LINK) else ""
    )
