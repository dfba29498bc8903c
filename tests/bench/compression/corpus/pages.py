"""A documentation page of about 52k tokens as HTML, and a page as a browser agent's snapshot.

The text is pydoc's, of installed modules; the frame around it (search, notice, report form) is
what such pages have.
"""

from __future__ import annotations

import importlib
import pydoc
from dataclasses import dataclass, field
from html import escape
from html.parser import HTMLParser

from tests.bench.compression.corpus import sources

PAGE_MODULES = ("random", "argparse", "zipfile")
SNAPSHOT_MODULES = ("csv", "fractions", "argparse", "ftplib", "statistics", "textwrap")
URL = "https://docs.library.example/3/library/{name}.html"
HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title} — Library reference</title>
<link rel="canonical" href="{url}">
<link rel="stylesheet" href="/static/site.css?v=41">
<script>window.site = {{"build": "2b7c91", "theme": "light", "analytics": false}};</script>
<style>.nav {{ float: left }} .nav li {{ display: inline }} .notice {{ color: #900 }}</style>
</head>
<body>
<header>
<nav aria-label="Main"><ul>
<li><a href="/3/genindex.html">General index</a></li><li><a href="/3/py-modindex.html">Module index</a></li>
<li><a href="{before}.html" rel="prev">Previous: {before}</a></li><li><a href="{after}.html" rel="next">Next: {after}</a></li>
</ul></nav>
<form id="search" role="search" action="/3/search.html" method="get">
<input type="search" name="q" aria-label="Quick search" placeholder="Quick search" value="{query}">
<select name="version" aria-label="Version"><option value="3.13">3.13 (stable)</option><option value="3.12" selected>3.12 (security fixes)</option><option value="3.11">3.11 (end of life)</option></select>
<button type="submit">Find</button>
</form>
</header>
<div role="alert" class="notice">Version 3.12 receives security fixes only; support ends on 2028-10-31.</div>
<main>
<h1>{title}</h1>
<ul aria-label="On this page">{contents}</ul>
"""
FOOT = """
<h2 id="report">Report a problem</h2>
<form id="feedback" action="/feedback/4711" method="post">
<input type="hidden" name="csrf_token" value="9f86d081884c7d659a2feaa0c55ad015">
<input type="email" name="email" aria-label="Your e-mail" value="reader@example.org" required>
<select name="topic" aria-label="Topic"><option value="typo" selected>Typing error</option><option value="wrong">Wrong statement</option><option value="missing">Something is missing</option></select>
<textarea name="message" aria-label="What is wrong?" required></textarea>
<input type="checkbox" name="copy" aria-label="Send me a copy" checked>
<input type="checkbox" name="public" aria-label="Publish my report">
<button type="submit">Send report</button><button type="reset">Discard</button><button type="button" disabled>Attach a file</button>
</form>
</main>
<footer>
<a href="https://bugs.library.example/new?component=docs">Open an issue</a> <a href="/3/license.html">History and License</a>
<span>Last updated on Mar 03, 2025 (08:14 UTC). Page 7 of 23.</span>
</footer>
</body>
</html>
"""
ROLES = {
    "a": "link", "button": "button", "div": "generic", "footer": "contentinfo", "form": "form",
    "header": "banner", "h1": "heading", "h2": "heading", "h3": "heading", "li": "listitem",
    "main": "main", "nav": "navigation", "option": "option", "select": "combobox",
    "strong": "strong", "table": "table", "td": "cell", "textarea": "textbox", "tr": "row",
    "ul": "list",
}  # fmt: skip
SKIPPED = {"title", "script", "style"}


def html_page() -> str:
    """A page about three modules, as the server sends it."""
    return _page(PAGE_MODULES, "select", "socket", "choices weights")


def snapshot() -> str:
    """Another page as Playwright's MCP server shows it: roles, names and refs."""
    name = SNAPSHOT_MODULES[0]
    reader = _Tree()
    reader.feed(_page(SNAPSHOT_MODULES, "configparser", "netrc", "dialect"))
    head = ["### Page state", f"- Page URL: {URL.format(name=name)}"]
    head += [f"- Page Title: {_title(SNAPSHOT_MODULES)} — Library reference", "- Page Snapshot:"]
    return "\n".join([*head, "```yaml", *_lines(reader.root, _Counter(), 0), "```", ""])


def _page(names: tuple[str, ...], before: str, after: str, query: str) -> str:
    contents = "".join(f'<li><a href="#{name}">{name}</a></li>' for name in names)
    url = URL.format(name=names[0])
    title = _title(names)
    top = HEAD.format(
        title=title, url=url, before=before, after=after, query=query, contents=contents
    )
    return top + "\n".join(map(_section, names)) + FOOT


def _title(names: tuple[str, ...]) -> str:
    return ", ".join(names[:2]) + f" and {len(names) - 2} more"


def _section(name: str) -> str:
    module = importlib.import_module(name)
    body = sources.scrubbed(pydoc.HTMLDoc().docmodule(module))
    body = body.replace('<strong class="bigsection">', "<h3>")
    first = (module.__doc__ or name).strip().splitlines()[0].rstrip(".")
    for title in ("Modules", "Classes", "Functions", "Data", "Author"):
        body = body.replace(f"<h3>{title}</strong>", f"<h3>{title}</h3>")
    return f'<h2 id="{name}">{name} — {escape(first)}</h2>\n{body}'


@dataclass
class _Node:
    """One element of the page that the snapshot shows."""

    role: str
    attributes: dict[str, str]
    tag: str = ""
    children: list[_Node | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        parts = [part if isinstance(part, str) else part.text for part in self.children]
        return " ".join(" ".join(parts).split())


class _Tree(HTMLParser):
    """Reads a page into nodes; elements without a role give their text to their parent."""

    def __init__(self) -> None:
        super().__init__()
        self.root = _Node("generic", {})
        self._open = [self.root]
        self._muted = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._muted = self._muted or tag in SKIPPED
        attributes = {name: value or "" for name, value in attrs}
        if tag == "input" and attributes.get("type") != "hidden":
            role = "checkbox" if attributes["type"] == "checkbox" else "textbox"
            self._open[-1].children.append(_Node(role, attributes, tag))
        elif tag in ROLES:
            node = _Node(attributes.get("role", ROLES[tag]), attributes, tag)
            self._open[-1].children.append(node)
            self._open.append(node)

    def handle_endtag(self, tag: str) -> None:
        self._muted = self._muted and tag not in SKIPPED
        tags = [node.tag for node in self._open]
        if tag in ROLES and tag in tags:
            del self._open[len(tags) - 1 - tags[::-1].index(tag) :]

    def handle_data(self, data: str) -> None:
        if not data.strip("\xa0 \n") or self._muted:
            return
        children, text = self._open[-1].children, " ".join(data.split())
        if children and isinstance(children[-1], str):
            text = f"{children.pop()} {text}"
        children.append(text)


class _Counter:
    """Gives out refs."""

    def __init__(self) -> None:
        self.last = 1

    def next(self) -> str:
        self.last += 1
        return f"[ref=e{self.last}]"


def _lines(node: _Node, refs: _Counter, depth: int) -> list[str]:
    below = [part for part in node.children if not isinstance(part, str)]
    names_itself = not below or node.role in {"heading", "link", "button", "option"}
    head = f"{'  ' * depth}- {_label(node, names_itself)} {refs.next()}"
    if node.role == "link":
        address = f"{'  ' * depth}  - /url: {_quoted(node.attributes.get('href', ''))}"
        return [f"{head} [cursor=pointer]:", address]
    if names_itself or not node.children:
        return [_leaf(node, head)]
    lines = [f"{head}:"]
    for part in node.children:
        is_text = isinstance(part, str)
        lines += [f"{'  ' * depth}  - text: {part}"] if is_text else _lines(part, refs, depth + 1)
    return lines


def _quoted(address: str) -> str:
    return f'"{address}"' if address.startswith("#") else address


def _label(node: _Node, names_itself: bool) -> str:
    name = node.attributes.get("aria-label", "")
    if not name and names_itself and node.role in {"heading", "link", "button", "option"}:
        name = node.text
    label = node.role + (f' "{name}"' if name else "")
    if node.role == "heading":
        label += f" [level={node.tag[1:]}]"
    states = {"checked": "checked", "disabled": "disabled", "selected": "selected"}
    return label + "".join(f" [{word}]" for key, word in states.items() if key in node.attributes)


def _leaf(node: _Node, head: str) -> str:
    value = node.attributes.get("value", "") if node.tag == "input" else ""
    if node.role in {"heading", "button", "option", "checkbox"}:
        return head
    text = value or node.text
    return f"{head}: {text}" if text else head
