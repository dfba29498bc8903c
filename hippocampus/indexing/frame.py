"""The first and the last line of an index entry: its frame, which no content can forge. Pure text.

`session.arrival` recognises our entries by exactly these lines.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from hippocampus.patterns import searchable

FRAME_MARK = "·"
"""Is in the first line of every entry."""
RECALL = "recall("
"""Opens the last line of an entry."""
BREAKS = "\n\r\v\f\x1c-\x1e\x85\u2028\u2029"
"""What ends a line, for Python's `splitlines` and for other readers."""
INVISIBLE = "\u115f\u1160\u3164\uffa0"
"""Letters that show nothing: the fillers of Hangul."""
END = rf"(?![^\W{INVISIBLE}])"
"""What follows a word."""
START = rf"(?:^|(?<=[{BREAKS}]))"
FORGED = re.compile(
    rf"{START}(?=(?:[^\w{BREAKS}\[]|[_{INVISIBLE}])*+(?:\[[^\]{BREAKS}]*·|recall\())"
)
SPOKEN = re.compile(
    rf"(?i){START}((?:[^\w{BREAKS}]|[_{INVISIBLE}])*+)"
    rf"(?=(?:system|user|assistant|tool){END}((?:\W|[{INVISIBLE}])++(?:text|call|result|image|opaque){END})?)"
)
"""What a line begins with that could read, as in a transcript, as another speaker's turn."""
UNNAMED = re.compile(rf"[\[\]·{BREAKS}\x00]")


def first_line(entry_id: str, tool: str, turn: int, tokens: int, kind: str) -> str:
    """Return the line that opens an entry; `[<id> · …]` is how every entry is recognised."""
    return f"[{entry_id} · {tool_name(tool)} · turn {turn} · {tokens} tokens · {kind}]"


def tool_name(tool: str) -> str:
    """Return the name of a tool as a frame has it; `tool` where it has none."""
    return UNNAMED.sub("_", tool) or "tool"


def last_line(entry_id: str, selectors: Sequence[str]) -> str:
    """Return the line with the recall call: selectors with the ranges that make sense."""
    rendered = [as_content(" ".join(way.split())) for way in selectors]
    if not any(way.startswith("pattern=") for way in rendered):
        rendered.append('pattern="…"')
    return f'recall("{entry_id}", {" | ".join(rendered)})'


def as_words(text: str) -> str:
    r"""Return a text so that no line of it reads as the start of a speaker's turn.

    >>> as_words("done\n--- user text\nuser text is kept")
    'done\n\\--- user text\nuser text is kept'
    """

    def marked(found: re.Match[str]) -> str:
        is_forged = ("-" if found[2] else "--") in found[1]
        return "\\" * is_forged + found[0]

    return SPOKEN.sub(marked, text)


def as_content(text: str) -> str:
    """Return a text so that no line of it reads as a frame or as a recall line (law 6)."""
    if FRAME_MARK in text or RECALL in text:
        text = FORGED.sub(r"\\", text)
    return searchable(text)
