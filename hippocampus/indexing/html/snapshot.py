"""Accessibility trees and browser snapshots read into items: one element a line, with its ref.

Linear: lines are read one by one, and the indentation is the depth.
"""

from __future__ import annotations

import re

from hippocampus.indexing.html.items import MAX_ITEMS, ElementKind, Page, PageElement

LINE_CHARACTERS = 1_000
MAX_LINES = 60_000
ELEMENT = re.compile(
    r"(?P<indent>[ \t|│├└─]*+)(?:[-*+][ \t]+)?\*?(?:(?P<before>uid=[\w.:-]+|ref=[\w.:-]+|\[[\w.-]{1,12}\]|\d+_\d+|@?e\d+)[:]?[ \t]*)?"
    r"(?P<role><?[A-Za-z]\w*+(?:-\w++)*+)(?P<rest>(?:[ \t/>:\[=]|$).*)"
)
QUOTED = re.compile(r"[ \t]*(?:\"(?P<double>(?:[^\"\\]|\\.)*+)\"|'(?P<single>(?:[^'\\]|\\.)*+)')")
REF = re.compile(
    r"\[?\b(?:ref|uid)=\"?(?P<ref>[\w.:-]+)\"?\]?|\[(?P<bare>(?:[a-z]{1,2})?\d+)\](?=\s*:?\s*$)"
)
PROPERTY = re.compile(
    r"\b(?P<name>level|url|href|value|valuetext|placeholder|checked|expanded|haspopup)=(?P<value>\"[^\"]*\"|'[^']*'|[^\s\]]+)"
)
STATE = re.compile(
    r"(?<![\w=\"])(checked|disabled|selected|required|expanded|collapsed|pressed|active|focused|invalid)(?![\w\"=]|=false)"
)
LEVEL = re.compile("[1-9]")
AFTER = re.compile(r":[ \t]+(?P<text>\S.*)$")
URL_LINE = re.compile(r"[ \t]*(?:-[ \t]*)?/?(?:url|href):[ \t]*(?P<url>\S+)", re.IGNORECASE)
PAGE_LINE = re.compile(
    r"[ \t]*(?:[-*#][ \t]*)*(?:Page |Current |Root)?(?P<what>URL|Title|WebArea)\b[ \t]*[:=]?[ \t]*(?P<value>\S.*)",
    re.IGNORECASE,
)
ROLES: dict[ElementKind, str] = {
    "heading": "heading h1 h2 h3 h4 h5 h6",
    "link": "link a",
    "message": "alert status alertdialog log",
    "landmark": "navigation nav main banner contentinfo complementary search form region dialog header "
    "footer aside table grid tablist menu toolbar",
    "control": "button tab menuitem checkbox radio switch option input select summary combobox textbox "
    "searchbox slider spinbutton textarea listbox treeitem",
    "head": "columnheader rowheader",
    "row": "row",
    "text": "text StaticText paragraph cell gridcell listitem code blockquote image img generic div span "
    "li p td th term definition time strong emphasis list rowgroup article figure group iframe "
    "separator RootWebArea document",
}
KIND_OF_ROLE: dict[str, ElementKind] = {
    role: kind for kind, roles in ROLES.items() for role in roles.split()
}
"""The kinds of elements by role; other roles are no sign of a snapshot."""
FIELDS = frozenset(
    "textbox combobox searchbox checkbox radio switch slider spinbutton input select textarea".split()  # noqa: SIM905 - reads better so
)
MIN_TEXT = 12


def snapshot_line(line: str) -> bool:
    """Return whether a line is an element of a snapshot: a known role with a ref or a quoted name."""
    match = ELEMENT.fullmatch(line)
    if match is None or match["role"].lstrip("<") not in KIND_OF_ROLE:
        return URL_LINE.fullmatch(line) is not None
    if match["role"][0] == "<" and match["before"] is None:
        return False
    rest = match["rest"]
    rendered = bool(match["before"] or QUOTED.match(rest) or REF.search(rest) or "[" in rest[:3])
    return rendered or (line.lstrip()[:2] == "- " and rest[:1] in (":", ""))


def read_snapshot(text: str) -> Page:
    """Return what a snapshot shows."""
    items: list[PageElement] = []
    known = {"url": "", "title": ""}
    for whole in text.split("\n")[:MAX_LINES]:
        line = whole[:LINE_CHARACTERS].rstrip()
        if not line or len(items) >= MAX_ITEMS:
            continue
        if items and (match := URL_LINE.fullmatch(line)):
            if not items[-1].target and items[-1].kind in ("link", "control", "text"):
                items[-1] = items[-1]._replace(target=match["url"].strip("\"'"))
        elif (match := ELEMENT.fullmatch(line)) and match["role"] in KIND_OF_ROLE:
            _element(match, items, known)
        elif match := PAGE_LINE.fullmatch(line):
            what = "url" if match["what"].lower() == "url" else "title"
            known[what] = known[what] or match["value"].strip("\"'`")
    return Page(items, known["title"], known["url"], "snapshot")


def _element(match: re.Match[str], items: list[PageElement], known: dict[str, str]) -> None:
    item = _line(match, match["role"])
    if match["role"] == "RootWebArea":
        known["title"] = known["title"] or item.text
        known["url"] = known["url"] or item.target
    elif item.kind in ("text", "row") and (
        (len(item.text) < MIN_TEXT and not (item.kind == "row" and item.ref))
        or (items and item.text in items[-1].text)  # it only repeats the element before it
    ):
        return
    elif item.text or item.ref or item.value or item.kind == "landmark":
        items.append(item)


def _line(match: re.Match[str], role: str) -> PageElement:
    """Read `role "name" [ref=e1] [level=2]: text` in any of its forms."""
    rest = match["rest"]
    quoted = QUOTED.match(rest)
    name = (quoted["double"] or quoted["single"] or "") if quoted else ""
    after = rest[quoted.end() :] if quoted else rest
    content = AFTER.search(after)
    marks = after[: content.start()] if content else after
    found = REF.search(marks)
    ref = (match["before"] or "").removeprefix("uid=").removeprefix("ref=")
    ref = ref or ((found["ref"] or f"[{found['bare']}]") if found else "")
    written = content["text"].strip("\"'") if content else ""
    known = {found["name"]: found["value"].strip("\"'") for found in PROPERTY.finditer(marks)}
    is_field = role in FIELDS
    value = known.get("value") or known.get("valuetext") or (written if is_field else "")
    text = name or ("" if is_field else written) or known.get("placeholder", "")
    if name and written and not is_field and written not in name:
        text = f"{name}: {written}"
    kind = KIND_OF_ROLE[role]
    level = int(known["level"]) if LEVEL.fullmatch(known.get("level", "")) else 2
    states = " ".join(dict.fromkeys(STATE.findall(marks)))
    target = known.get("url") or known.get("href") or ""
    shown = role if kind in ("landmark", "control") else ""
    return PageElement(kind, text, shown, ref, target, value, states, level, is_field)
