"""A source file, a patch and a long text: real ones."""

from __future__ import annotations

import difflib
import re
from pydoc_data import topics

from tests.bench.compression.corpus import sources

PROSE_TOPICS = ("debugger", "execmodel", "formatstrings")
EDITS = {
    "calendar.py": (("firstweekday", "first_weekday"), ("EPOCH = 1970", "EPOCH = 1900")),
    "csv.py": (("self._dict_to_list", "self._as_row"), ("_dict_to_list", "_as_row")),
    "heapq.py": (("lastelt", "last_item"),),
    "json/decoder.py": (("raw_decode", "decode_prefix"),),
    "queue.py": (("time() + timeout", "time() + timeout * self.slack"),),
    "socketserver.py": (("request_queue_size = 5", "request_queue_size = 128"), ("timeout = 300", "timeout = 60")),
    "statistics.py": (("StatisticsError", "StatsError"),),
    "textwrap.py": (("fix_sentence_endings", "fix_endings"),),
}  # fmt: skip
MOVED = ("linecache.py", "source_lines.py")
REMOVED = "sched.py"
ADDED = "slack.py"
ADDED_TEXT = '''"""How much longer than asked a queue may wait."""

DEFAULT_SLACK = 1.25


def slack_for(load: float) -> float:
    """Return the factor for a load between 0 and 1."""
    return DEFAULT_SLACK + max(0.0, load - 0.8) * 5
'''


def source_file() -> str:
    """A module of about 8k tokens."""
    return sources.read("random.py")


def prose() -> str:
    """Three chapters of the language's documentation."""
    return "\n\n".join(topics.topics[name].strip() for name in PROSE_TOPICS) + "\n"


def patch() -> str:
    """A patch over real modules, as git prints it."""
    blocks = [_changed(name, edits) for name, edits in EDITS.items()]
    blocks += [_moved(), _binary(), _whole(REMOVED, sources.read(REMOVED), is_new=False)]
    blocks += [_whole(ADDED, ADDED_TEXT, is_new=True)]
    return "".join(sorted(blocks))


def _changed(name: str, edits: tuple[tuple[str, str], ...]) -> str:
    before = sources.read(name)
    after = before
    for old, new in edits:
        after = after.replace(old, new)
    return _head(name, name) + _index(name) + _hunks(name, name, before, after)


def _moved() -> str:
    old, new = MOVED
    before = sources.read(old)
    after = before.replace("def lazycache", "def remember")
    head = "similarity index 97%\nrename from lib/{}\nrename to lib/{}\n".format(*MOVED)
    return _head(old, new) + head + _index(old) + _hunks(old, new, before, after)


def _binary() -> str:
    name = "data/zones.bin"
    return _head(name, name) + _index(name) + f"Binary files a/lib/{name} and b/lib/{name} differ\n"


def _whole(name: str, text: str, *, is_new: bool) -> str:
    word, before, after = ("new", "", text) if is_new else ("deleted", text, "")
    hunks = _hunks(name, name, before, after)
    empty = f"--- a/lib/{name}\n" if is_new else f"+++ b/lib/{name}\n"
    hunks = hunks.replace(empty, empty[:4] + "/dev/null\n", 1)
    return _head(name, name) + f"{word} file mode 100644\n" + _index(name, " ") + hunks


def _head(old: str, new: str) -> str:
    return f"diff --git a/lib/{old} b/lib/{new}\n"


def _index(name: str, mode: str = " 100644") -> str:
    ids = (sources.digest("blob", side, name, length=10) for side in "ab")
    return f"index {'..'.join(ids)}{mode}".rstrip() + "\n"


def _hunks(old: str, new: str, before: str, after: str) -> str:
    lines = before.splitlines(keepends=True)
    changed = difflib.unified_diff(
        lines, after.splitlines(keepends=True), f"a/lib/{old}", f"b/lib/{new}"
    )
    return "".join(_with_place(line, lines) for line in changed)


def _with_place(line: str, before: list[str]) -> str:
    """Give a hunk's header the function it is in, as git does."""
    match = re.match(r"@@ -(\d+)", line)
    above = before[: int(match[1]) - 1] if match else []
    inside = [text for text in above if re.match(r"(def|class|async def) ", text)]
    return line.rstrip("\n") + f" {inside[-1]}" if inside else line
