"""Texts of 271 shapes in any size: pieces of code, markup, secrets and data, in five arrangements.

Nothing here is random. `python -m tests.trust.shapes [CHARACTERS]` prints what each costs, the dearest
last, and ends with exit status 1 where one takes more than a second of CPU a megabyte.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from time import process_time

from hippocampus.facts.pasted import by_author
from hippocampus.formats.tool_calls import says_it_failed
from hippocampus.indexing import ExtractionContext, index, kind_of, price_of
from hippocampus.indexing.arguments import shorten
from hippocampus.indexing.kinds import read_large, read_small
from hippocampus.policy import Redaction
from hippocampus.prices import TABLES
from hippocampus.session.work_files import WorkFile, described

PIECES = {
    "jwt head": "eyJhbGciOiJIUzI1NiJ9.", "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2ln",
    "aws key": "AKIAIOSFODNN7EXAMPLE", "pem head": "-----BEGIN RSA PRIVATE KEY-----", "pem end": "-----END",
    "password": "password=", "password is": "my password is ", "url user": "https://user:pw@", "basic": "Authorization: Basic ",
    "bearer": "Bearer abcdef0123456789", "hex": "deadbeef01", "base64": "QUJDREVGR0g", "percent": "%41%42", "unicode escape": "\\u0041",
    "entity": "&#65;", "open entity": "&#x", "card": "4111 1111 1111 ", "iban": "DE89 3704 0044 ", "phone": "+49 (0)",
    "mail": "a.b@c.d.", "uuid": "123e4567-e89b-12d3-", "date": "2026-01-01T10:00:00 ", "stamp": "[12:00:01] ",
    "open object": '{"d":', "open list": "[", "object": '{"a": 1},', "string": '"a\\"', "single": "'", "python dict": "{'a': (",
    "key": "key:", "list item": "- x: ", "yaml anchor": "&a *a ", "yaml block": "text: |", "toml": "[a.b]", "ini": "a = b",
    "heading": "# ", "setext": "====", "quote": "> ", "ordered": "1. ", "fence": "```", "table row": "| a | b |", "rule": "---",
    "link": "[a](b", "image": "![", "emphasis": "**a", "tag": "<div>", "open tag": "<a href='", "comment": "<!--", "cdata": "<![CDATA[",
    "closing": "</div>", "script": "<script>", "style": "<style>a{", "attribute": ' b="c"',
}  # fmt: skip
MORE_PIECES = {
    "def": "def f(a):", "class": "class A:", "brace": "if (a) {", "paren": "((", "lambda": "lambda x: ", "import": "import a, b",
    "decorator": "@a", "string open": '"""', "comment line": "// a", "block comment": "/* a", "arrow": "a -> b", "generic": "A<B<",
    "sql": "SELECT a, (", "shell": "$(a", "heredoc": "<<EOF", "regex": "(a+)+", "semicolon": "a;", "dot": "a.b.",
    "hunk": "@@ -1,3 +1,3 @@", "plus": "+a", "minus": "-a", "index": "diff --git a/b b/b", "trace": '  File "a.py", line 3, in f',
    "error": "ValueError: x", "at": "    at a.b(c.js:1:2)", "level": "ERROR x failed", "path": "src/a/b.py", "hit": "a.py:12: b",
    "mode": "-rw-r--r-- 1 a b 12 Jan 1 10:00 c", "windows path": "C:\\a\\b", "tree": "├── a", "grep": "12:a", "number line": "    12\t",
    "csv": "a,b,c", "tsv": "a\tb", "quoted csv": '"a,""b",', "number": "12345.678 ", "negative": "-1,", "ansi": "\x1b[31m",
    "progress": "50%\r", "null": "\x00", "nbsp": "\xa0", "bom": "\ufeff", "surrogate": "\udc80", "zero width": "\u200b",
    "combining": "e\u0301", "emoji": "👩\u200d👩", "rtl": "שלום ", "chinese": "海马体把记忆", "kana": "かな。", "hangul": "기억 ",
    "thai": "ความจำ", "dots": "...", "stops": ". ", "question": "?! ", "underscore": "a_b_", "camel": "aBcD", "word": "word ", "a": "a",
    "frame": "[abcdefgh · t · turn 1 · 9 tokens · json]", "ellipsis": "…", "bullet": "• a", "equals": "a => b",
    "colons": "a::b::", "slashes": "a/b//", "at sign": "a@b@", "cookie": "Set-Cookie: a=b; ", "header": "Content-Type: a/b",
    "long rule": "-" * 390, "dashes": "a - b -- c", "backslash": "\\",
}  # fmt: skip
EVERY = {**PIECES, **MORE_PIECES}
SPACES = 400
BAR_SECONDS = 1.0
"""The CPU time that a megabyte of any shape may take in one step."""


def nested(piece: str, characters: int) -> str:
    """Each line two columns further to the right than the one before, to 500 and from the start."""
    lines, size, depth = [], 0, 0
    while size < characters:
        lines.append(" " * (2 * depth) + piece)
        size += len(lines[-1]) + 1
        depth = (depth + 1) % 500
    return "\n".join(lines)


def numbered(piece: str, characters: int) -> str:
    """A line of its own each time, with a figure that no other has."""
    return "\n".join(f"{piece}{n}" for n in range(characters // (len(piece) + 7) + 1))


def filled(piece: str, characters: int) -> str:
    """The piece again and again."""
    return (piece * (characters // len(piece) + 1))[:characters]


ARRANGEMENTS: dict[str, Callable[[str, int], str]] = {
    "in a line": filled,
    "a line each": lambda piece, size: filled(piece + "\n", size),
    "nested": nested,
    "behind spaces": lambda piece, size: filled(" " * SPACES + piece + " word\n", size),
    "numbered": numbered,
}


NUMBERED = "".join(f"{n:6}\ta line\n" for n in range(1, 61))
"""The start of what a tool printed with line numbers."""


def records(characters: int) -> str:
    """500 records, each with keys that no other has."""
    keys = max(1, characters // 500 // 14)
    return json.dumps([{f"k{at}_{n}": 1 for n in range(keys)} for at in range(500)])


def below_a_long_key(inner: Callable[[int], object]) -> Callable[[int], str]:
    """Return what makes an object of one key, which is half of it."""
    return lambda size: json.dumps({"k" * (size // 2): inner(size // 2)})


DOCUMENTS: dict[str, Callable[[int], str]] = {
    "numbered lines, then bare ones": lambda size: NUMBERED + "x\n" * (size // 2),
    "numbered lines with gaps": lambda size: (
        NUMBERED + "".join(f"{100 * n:6}\tx\n" for n in range(1, size // 9))
    ),
    "records with keys of their own": records,
    "fields below a long key": below_a_long_key(
        lambda size: {f"a{n}": n for n in range(size // 14)}
    ),
    "tables below a long key": below_a_long_key(
        lambda size: [[{"a": 1}, {"a": 2}] for _ in range(size // 24)]
    ),
    "texts below a long key": below_a_long_key(lambda size: ["x" * 300] * (size // 304)),
    "a wide head above short rows": lambda size: (
        "password  " + "  ".join(f"c{n:04}" for n in range(size // 14)) + "\n" + "a\n" * (size // 4)
    ),
}


def shapes() -> Iterator[tuple[str, Callable[[int], str]]]:
    """Yield the name of each shape and what makes it: every piece in two arrangements or three, and documents."""
    names = list(ARRANGEMENTS)
    for at, (name, piece) in enumerate(EVERY.items()):
        for step in range(3 if at < 16 else 2):
            arrangement = names[(at + 2 * step) % len(names)]
            made = ARRANGEMENTS[arrangement]
            yield f"{name} {arrangement}", lambda size, piece=piece, made=made: made(piece, size)
    yield from DOCUMENTS.items()


def index_it(text: str) -> None:
    """Read a text, and write its entry and the shorter one."""
    read_small.cache_clear()
    read_large.cache_clear()
    price = price_of(kind_of(text), "normal", TABLES["anthropic-5m"], 10_000, 10)
    context = ExtractionContext(content_tokens=max(1, len(text) // 4))
    index(text, context, price)


def redact_it(text: str) -> None:
    """Take out what every kind of redaction finds."""
    Redaction(kinds=("secret", "card", "email", "iban", "phone")).redacted(text)


def shorten_it(text: str) -> None:
    """Write the excerpt of a text that a call's arguments have."""
    read_small.cache_clear()
    read_large.cache_clear()
    shorten(json.dumps({"file_path": "a.txt", "content": text}), "[abcdefgh · 9 tokens]")


def digest_it(text: str) -> None:
    """Describe a text as a file that was changed after it was read."""
    says_it_failed(text)
    file = WorkFile("a.py", changed=2)
    file.read(1, text.split("\n"), 1, whole=True)
    described(file, 2_000, 5)


STEPS: dict[str, Callable[[str], object]] = {
    "index": index_it,
    "redact": redact_it,
    "shorten": shorten_it,
    "digest": digest_it,
    "claims": by_author,
}


def seconds(step: str, text: str) -> float:
    """Return the CPU time of a step."""
    started = process_time()
    STEPS[step](text)
    return process_time() - started


def main(characters: int) -> bool:
    """Print the seconds a megabyte of each shape, the dearest last; return whether all hold the bar."""
    found = []
    for name, made in shapes():
        text = made(characters)
        found += [(seconds(step, text) * 1e6 / len(text), step, name) for step in STEPS]
    for cost, step, name in sorted(found):
        print(f"{cost:8.2f} s/MB  {step:7} {name}")
    return max(found)[0] <= BAR_SECONDS


if __name__ == "__main__":
    sys.exit(not main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000))
