"""Renders a replay's outcome as one self-contained HTML page; the .js files next to it draw the charts.

Computes nothing: all figures are in the object of `outcome`. Recordings are untrusted: their text
reaches the page only escaped or as inert data.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from hippocampus.replay.page.markup import json_script, main_parts, page_data, text

SCRIPTS = ("draw.js", "scatter.js", "charts.js", "timeline.js", "recording.js", "list.js")
TEXTS_SCRIPTS = ("draw.js", "texts.js")


def write_page(outcome: dict[str, Any], path: Path) -> None:
    """Write the page to a file, in UTF-8.

    Raises:
        OSError: the file cannot be written.
    """
    # Written as bytes: the content policy has the hashes of style and script, so no newline may change.
    # A path that is not Unicode has lone surrogates, which UTF-8 cannot encode.
    path.write_bytes(page(outcome).encode("utf-8", errors="replace"))


def page(outcome: dict[str, Any]) -> str:
    """Return the page."""
    data = json_script(page_data(outcome), "page-data")
    return _filled("page.html", SCRIPTS, data, main_parts(outcome))


def texts_page(texts: dict[str, Any]) -> str:
    """Return the page of a recording's texts, from `ViewTexts.data`."""
    data = json_script(texts, "page-data")
    return _filled("texts.html", TEXTS_SCRIPTS, data, {"title": text(texts["name"])})


def _filled(template: str, scripts: Iterable[str], data: str, parts: Mapping[str, str]) -> str:
    style = _asset("page.css")
    script = '"use strict";\n' + "\n".join(map(_asset, scripts))
    return Template(_asset("frame.html")).substitute(
        title=parts["title"],
        # This style, this script and the empty icon are allowed; everything else is refused.
        content_policy=(
            f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
            "img-src data:; base-uri 'none'; form-action 'none'"
        ),
        style=style,
        script=script,
        body=Template(_asset(template)).substitute(parts).rstrip("\n"),
        data=data,
    )


def _asset(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
