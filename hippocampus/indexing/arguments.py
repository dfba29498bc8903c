"""Large tool-call arguments made short: the same JSON, its long texts as excerpts.

Paths, ids, names and commands are never shortened; of a text that a call writes, what it changes comes
first. Pure.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

from hippocampus.formats import json_text
from hippocampus.formats.tool_calls import PATCHED, file_of
from hippocampus.indexing.extraction import (
    NUMBER,
    WORDLESS,
    EntryLine,
    ExtractionContext,
    counted,
    cut,
)
from hippocampus.indexing.frame import as_content
from hippocampus.indexing.kinds import extraction_of
from hippocampus.indexing.select import Price, choose
from hippocampus.models import tokens

MIN_TOKENS, MAX_TOKENS, SHARE = 60, 150, 0.05
"""The excerpt of one long text weighs this share of it, between the two bounds. At 300 tokens and a
fifth, readers would take back fewer of their own helpers, for 1.7 points of the cost on Claude Code."""
CHANGED_TOKENS = 1_000
"""The tokens of the lines of a text that the text which it replaces lacks: the next edit is often of
these. The lines that an edit repeats are left out for it."""
REPLACED = re.compile(r"(?i)^(?:old|search|find|target_?content|before)")
"""Keys of a text that the call takes out of a file: what it puts in is next to it."""
PROSE_TOKENS = 600
"""The tokens of prose that a call writes into a file: a plan or a report is what the agent works by."""
SLEEPING_TOKENS = 40
"""The tokens of a text where the entry is dormant."""
CHARACTERS_PER_TOKEN = 4
SHORT_CHARACTERS = 160
"""A text up to here stays whole whatever its key."""
NAMING = re.compile(
    r"(?i)(?:^|_)(?:path|paths|file|files|filename|dir|directory|cwd|workdir|uri|url|id|ids|name|key|ref|branch|"
    r"command|cmd|pattern|glob|regex|query|sql)$|(?:Path|File|Name|Id|Url|Dir|Directory|Command|CommandLine|Query)s?$"
)
"""Keys of values that a later call repeats exactly."""
MAX_NAMING = 4_000
"""A longer command carries a text; it is an excerpt like every other."""
MAX_HEREDOCS = 16
"""Of more in a command none is an excerpt: each may have no end, and is read to the end of the command."""
HEREDOC = re.compile(r"(<<-?\s*['\"]?(\w+)['\"]?[^\n]*\n)(.*?)(\n\s*\2\b)", re.DOTALL)


def shorten(arguments: str, frame: str, most_tokens: int = MAX_TOKENS) -> str:
    """Return arguments with excerpts of their long texts, the first one below the entry's frame.

    JSON of an object stays JSON of an object with the same keys, and stays as it is where it has no
    long text; anything else becomes the frame and its excerpt.
    """
    shortener = _Shortener(frame, arguments, most_tokens)
    value = shortener.shorten(json_text.read(arguments, None), "")
    if not isinstance(value, dict):
        return f"{frame}\n{shortener.excerpt(arguments)}".rstrip()
    return arguments if shortener.frame else json.dumps(value, ensure_ascii=False)


class _Shortener:
    """Shortens texts and puts the frame before the first of them."""

    def __init__(self, frame: str, arguments: str, most_tokens: int) -> None:
        self.frame = frame
        """Empty once a shortened text has it."""
        self._file, _ = file_of(arguments)
        self._most = most_tokens

    def shorten(self, value: Any, key: str, before: Any = "") -> Any:
        """Return a value with its long texts shortened.

        `key` is its name, and `before` the text that it replaces.
        """
        if isinstance(value, dict):
            before = next((old for name, old in value.items() if REPLACED.match(name)), "")
            shortened = {  # what the call writes has the frame, where it is long
                name: self.shorten(value[name], str(name), "" if value[name] is before else before)
                for name in sorted(value, key=lambda name: REPLACED.match(name) is not None)
            }
            return {name: shortened[name] for name in value}
        if isinstance(value, list):
            return [self.shorten(inner, key) for inner in value]
        if not isinstance(value, str) or len(value) <= SHORT_CHARACTERS:
            return value
        if NAMING.search(key):
            is_read = value.count("<<") <= MAX_HEREDOCS
            short = HEREDOC.sub(self._written, value) if is_read else value
            if len(short) <= MAX_NAMING:
                return value if short == value else self._framed(short, value)
        if REPLACED.match(key):  # the first line shows its place in a file
            first, *rest = value.strip("\n").split("\n")
            opening = first if len(first) <= SHORT_CHARACTERS else cut(first, SHORT_CHARACTERS)
            more = f"\n… {counted(len(rest), 'more line')}" if rest else ""
            return self._framed(opening + more, value)
        return self._framed(self.excerpt(value, str(before)), value)

    def _framed(self, short: str, whole: str) -> str:
        """Return a shortened text below the frame, or the whole where that is no longer."""
        if self.frame and len(self.frame) + len(short) + 1 >= len(whole):
            return whole
        frame, self.frame = self.frame, ""
        return f"{frame}\n{short}" if frame else short if len(short) < len(whole) else whole

    def _written(self, match: re.Match[str]) -> str:
        """Return a text that a command writes, as an excerpt where it is long."""
        if len(match[3]) <= SHORT_CHARACTERS:
            return match[0]
        return match[1] + self.excerpt(match[3]) + match[4]

    def excerpt(self, text: str, before: str = "") -> str:
        """Return what a text holds: its summary, and its own lines in their order.

        Those that the text before lacks come first.
        """
        weight = max(1, len(text) // CHARACTERS_PER_TOKEN)
        most = min(self._most, max(MIN_TOKENS, int(SHARE * weight)))
        is_awake = self._most > SLEEPING_TOKENS
        if "\n" not in text.strip() and json_text.read(text, None) is None:
            return cut(text, CHARACTERS_PER_TOKEN * most)
        context = ExtractionContext(content_tokens=weight)
        extraction = extraction_of(text, context)
        most = PROSE_TOKENS if extraction.kind == "prose" and self._file and is_awake else most
        if any(line.number is not None and line.form == NUMBER for line in extraction.lines):
            replaced = {line.strip() for line in before.splitlines()}
            own: list[EntryLine] = []  # without headings
            for line in extraction.lines:
                if line.number is not None and not WORDLESS.fullmatch(line.text):
                    rows = {row.strip() for row in line.text.split("\n")}
                    # What a patch changes is named in it alone.
                    keep = bool(replaced) and not replaced >= rows
                    keep |= PATCHED.match(line.text) is not None
                    own.append(replace(line, keep=keep, parent=None))
            extraction = replace(extraction, lines=own)
        if before and is_awake:
            changed = sum(tokens.count(line.text) + 1 for line in extraction.lines if line.keep)
            most = max(most, min(CHANGED_TOKENS, changed))
        room = max(0, most - tokens.count(extraction.summary))
        chosen = choose(extraction, context, Price(0.0, 1.0, room, room))
        return "\n".join(as_content(line) for line in (extraction.summary, *chosen))
