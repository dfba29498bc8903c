"""A browser over the library's own HTML documentation, seen as an accessibility tree with refs.

The pages are made by `pydoc` when they are opened. Modules whose pages would show the machine (as
that of `os` shows the environment) are not in the index.
"""

from __future__ import annotations

import importlib
import pydoc
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

from recorder.tools import ToolError
from recorder.workspace import Workspace

INDEX = "index.html"
MODULES = (
    "asyncio.locks", "asyncio.queues", "asyncio.taskgroups", "asyncio.timeouts", "bisect", "csv",
    "dataclasses", "fractions", "graphlib", "heapq", "json", "json.decoder", "json.encoder",
    "queue", "sched", "shelve", "statistics", "textwrap", "threading", "urllib.robotparser",
    "weakref", "zipapp",
)  # fmt: skip
ROLES = {"dt": "term", "p": "paragraph", "h1": "heading", "h2": "heading", "td": "cell"}


@dataclass
class Node:
    """One line of the tree: a role, its text, and where it leads if it is a link."""

    role: str
    depth: int
    text: str = ""
    target: str = ""


@dataclass
class Tree(HTMLParser):
    """Collects links and texts of a page in reading order."""

    nodes: list[Node] = field(default_factory=list)
    depth: int = 0

    def __post_init__(self) -> None:
        """Start the parser behind the data class."""
        HTMLParser.__init__(self)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open a node for a link, and a level for each list or table."""
        target = dict(attrs).get("href")
        if tag == "a" and target:
            self.nodes.append(Node("link", self.depth, target=target))
        elif tag in ROLES:
            self.nodes.append(Node(ROLES[tag], self.depth))
        self.depth += tag in {"dl", "table"}

    def handle_endtag(self, tag: str) -> None:
        """Close a level; text behind a link is its parent's, in a node of its own."""
        self.depth -= tag in {"dl", "table"}
        if tag in {"a", *ROLES}:
            self.nodes.append(Node("text", self.depth))

    def handle_data(self, data: str) -> None:
        """Add to the text of the open node."""
        if not self.nodes:
            self.nodes.append(Node("text", 0))
        self.nodes[-1].text += data


@dataclass
class Browser:
    """One tab: the open page, the pages before it, and the refs of the last snapshot."""

    workspace: Workspace
    page: str = ""
    history: list[str] = field(default_factory=list)
    targets: dict[str, str] = field(default_factory=dict)

    def navigate(self, page: str) -> str:
        """Open a page and return its snapshot."""
        html = self._html(page)
        if self.page:
            self.history.append(self.page)
        self.page = page
        return self._snapshot(html)

    def click(self, ref: str) -> str:
        """Follow a link of the last snapshot."""
        if ref not in self.targets:
            message = f"ref {ref} is not in the snapshot of {self.page}; take a new snapshot"
            raise ToolError(message)
        return self.navigate(self.targets[ref])

    def back(self) -> str:
        """Go back to the page before."""
        self.page = self.history.pop()
        return self._snapshot(self._html(self.page))

    def snapshot(self) -> str:
        """Show the open page again."""
        return self._snapshot(self._html(self.page))

    def _html(self, page: str) -> str:
        name = page.partition("#")[0].removesuffix(".html")
        if name == "index":
            links = (f'<p><a href="{module}.html">{module}</a></p>' for module in MODULES)
            return f"<title>Index of Modules</title><h1>Modules</h1>{''.join(links)}"
        if name not in MODULES:
            message = f"404 {page}: not in the index of this documentation"
            raise ToolError(message)
        document = pydoc.HTMLDoc()
        return document.page(name, document.document(importlib.import_module(name), name))

    def _snapshot(self, html: str) -> str:
        tree = Tree()
        tree.feed(self.workspace.hide(re.sub(r"<style.*?</style>|<head>.*?</head>", "", html)))
        self.targets = {}
        lines = [f"- page: {self.page}"]
        for node in tree.nodes:
            text = " ".join(node.text.split())
            if text:
                lines.append(self._line(node, text))
        return "\n".join(lines)

    def _line(self, node: Node, text: str) -> str:
        indent = "  " * min(node.depth + 1, 6)
        if node.role != "link":
            return f'{indent}- {node.role}: "{text}"'
        ref = f"e{len(self.targets) + 1}"
        self.targets[ref] = node.target
        return f'{indent}- link "{text}" [ref={ref}]: {node.target}'
