"""Texts that no tool means to print, as a strategy of hypothesis: any depth, width and encoding.

A form is written from some words, to a depth and a width, then wrapped, encoded, cut and repeated.
"""

from __future__ import annotations

import base64
import json
import urllib.parse
from collections.abc import Callable, Sequence

from hypothesis import strategies as st

from tests.trust.shapes import EVERY

Form = Callable[[Sequence[str], int, int], str]
"""Writes words to a depth, in a width."""
MAX_DEPTH, MAX_WIDTH, MAX_REPEATED = 600, 400, 60
LARGE_CHARACTERS = 200_000
LINE = "\n"


def _rows(words: Sequence[str], width: int) -> list[list[str]]:
    return [[words[(at + column) % len(words)] for column in range(width)] for at in range(9)]


def _indented(lines: Sequence[str], depth: int, opening: str, step: str = "  ") -> str:
    """Nest an opening line to a depth, with the lines inside of the last."""
    heads = [step * at + opening for at in range(depth)]
    return LINE.join([*heads, *(step * depth + line for line in lines)])


def _html_table(words: Sequence[str], depth: int, width: int) -> str:
    rows = (f"<tr>{''.join(f'<td>{c}</td>' for c in row)}</tr>" for row in _rows(words, width))
    return "<table><tr><td>" * depth + LINE.join(rows) + "</td></tr></table>" * (depth // 2)


def _json(words: Sequence[str], depth: int, width: int) -> str:
    """Keys that are there twice, numbers that JSON does not have, in lists within lists."""
    fields = ", ".join(f'"{at % 3}{word[:9]!s}": NaN' for at, word in enumerate(words * 2))
    inner = f'{{{fields}, "a": -Infinity, "a": {json.dumps(list(words) * (width % 40))}}}'
    return "[" * depth + inner + "]" * depth


def _records(words: Sequence[str], depth: int, width: int) -> str:
    value: object = list(words)
    for at in range(depth % 95):
        value = {words[at % len(words)]: value, "id": at} if at % 2 else [value, at]
    rows = [{f"k{at}": cell for at, cell in enumerate(row)} for row in _rows(words, width)]
    return json.dumps([*rows, {"inner": value}, *rows], ensure_ascii=bool(depth % 2))


def _broken_lines(words: Sequence[str], depth: int, width: int) -> str:
    lines = [json.dumps({"n": at, "w": word}) for at, word in enumerate(words)] * (1 + width % 9)
    return LINE.join(line[: len(line) - (at % 7 == depth % 7)] for at, line in enumerate(lines))


def _anchors(words: Sequence[str], depth: int, width: int) -> str:
    anchored = [f"a{at}: &a{at} [*a{at - 1}, {word}]" for at, word in enumerate(words * 3)]
    return _indented([*anchored, "<<: *a1", "t: |", *words], depth % 200, f"k: &x{width} *y")


def _csv(words: Sequence[str], depth: int, width: int) -> str:
    """Fields with quotes, separators and ends of lines inside."""
    quoted = [[f'"{c}{LINE * (depth % 5)},""{c}"' for c in row] for row in _rows(words, width)]
    return LINE.join(map(",".join, quoted)) + LINE + '"' * (depth % 2)


def _markdown_table(words: Sequence[str], depth: int, width: int) -> str:
    rows = [" | ".join(row) for row in _rows(words, width)]
    rule = " | ".join(["---"] * width)
    inner = [f"{'> ' * (depth % 30)}| {row} \\| |" for row in [rows[0], rule, *rows]]
    return LINE.join(inner)


def _psql(words: Sequence[str], depth: int, width: int) -> str:
    rows = [" | ".join(row) for row in _rows(words, width)]
    return LINE.join([rows[0], "-+-".join(["-" * depth] * width), *rows, "(9 rows)"])


def _diff(words: Sequence[str], depth: int, width: int) -> str:
    """A patch of a patch of a patch."""
    signs = "+-@ "
    lines = [
        f"diff --git a/{w} b/{w}\n--- a\n+++ b\n@@ -1,{width} +1 @@\n-{w}\n+{w}" for w in words
    ]
    marks = "".join(signs[at % 4] for at in range(depth % 300))
    return LINE.join(marks + line for text in lines for line in text.split(LINE))


def _heredoc(words: Sequence[str], depth: int, width: int) -> str:
    heads = [f"cat <<'E{at}' > {words[at % len(words)]}" for at in range(depth)]
    ends = [f"E{at}" for at in reversed(range(depth - width % 3))]
    return LINE.join([*heads, *words, *ends])


def _script(words: Sequence[str], depth: int, width: int) -> str:
    """Minified: one line of braces, without a space."""
    body = ";".join(f"var a{at}=[{word},{{b:{at}}}]" for at, word in enumerate(words * (width % 9)))
    return "!function(e,t){" * depth + body + "}(this,0)," * (depth // 3)


def _sql(words: Sequence[str], depth: int, width: int) -> str:
    values = ",".join(f"({at},'{word}',NULL)" for at, word in enumerate(words * (1 + width % 20)))
    inner = f"INSERT INTO `t{depth}` VALUES {values};"
    return f"CREATE TABLE t (a INT);\n{'SELECT * FROM (' * depth}\n{inner}\n/*!40000 */;"


def _code(words: Sequence[str], depth: int, width: int) -> str:
    names = [f"def f{at}({word}): return {word}" for at, word in enumerate(words)]
    braces = "".join(f"{'  ' * at}if (a{at}) {{\n" for at in range(width % 90))
    return _indented(names, depth, "class A:", "    ") + LINE + braces


def _snapshot(words: Sequence[str], depth: int, width: int) -> str:
    items = [
        f'- button "{word}" [ref=e{at}] [level={width}]: {word}' for at, word in enumerate(words)
    ]
    return _indented([*items, '- link "x":', "  - /url: //a"], depth, '- group "g" [ref=e0]:')


def _hits(words: Sequence[str], depth: int, width: int) -> str:
    path = "/".join(["a"] * (1 + depth % 90)) + ".py"
    marks = ":-"
    return LINE.join(
        f"{path}{marks[at % 2]}{at}{marks[at % 2]}{w}" for at, w in enumerate(words * 3)
    )


def _trace(words: Sequence[str], depth: int, width: int) -> str:
    frames = [f'  File "{words[at % len(words)]}", line {at}, in f\n    f()' for at in range(depth)]
    errors = [f"E{'x' * width}Error: {word}" for word in words]
    return LINE.join(["Traceback (most recent call last):", *frames, *errors])


def _log(words: Sequence[str], depth: int, width: int) -> str:
    lines = [f"2026-01-01T00:00:{at % 60:02} ERROR [{depth}] {w}" for at, w in enumerate(words * 5)]
    return LINE.join(line + " " * width for line in lines)


def _listing(words: Sequence[str], depth: int, width: int) -> str:
    lines = [f"-rw-r--r-- 1 a b {width} Jan  1 10:00 {word}" for word in words]
    return LINE.join(
        [f"{'./a' * depth}:", "total 9", *lines, *(f"│{' ' * depth}├── {w}" for w in words)]
    )


def _progress(words: Sequence[str], depth: int, width: int) -> str:
    bars = "".join(f"\r{word} {at}% [{'=' * (width % 60)}>]" for at, word in enumerate(words * 9))
    return "\x1b[2K\x1b[31m" * depth + bars + "\x1b[0m"


def _page(words: Sequence[str], depth: int, width: int) -> str:
    inner = "".join(
        f"<h{at % 7}>{w}</h2><a href='{w}'>{w}<input value=\"{w}" for at, w in enumerate(words)
    )
    return f"<!DOCTYPE html><title>{words[0]}</title>{'<div class=error>' * depth}{inner}<!-- {'-' * width}"


def _xml(words: Sequence[str], depth: int, width: int) -> str:
    attributes = " ".join(f"a{at}='{word}'" for at, word in enumerate(words * (1 + width % 9)))
    opened = "".join(f"<n:{words[at % len(words)]}{at} {attributes}>" for at in range(depth % 60))
    return (
        f"<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b '&b;&b;'>]>{opened}<![CDATA[{words[0]}]]&b;"
    )


FORMS: dict[str, Form] = {
    "one token": lambda words, depth, width: words[0].replace(" ", "") * (depth + width),
    "words": lambda words, _depth, width: " ".join(words * (1 + width % 30)),
    "lines": lambda words, _depth, width: LINE.join(words * (1 + width % 30)),
    "blanks": lambda words, depth, width: (LINE * depth + "\t" * width + " " * depth).join(words),
    "html table": _html_table, "page": _page, "xml": _xml, "snapshot": _snapshot,
    "markdown table": _markdown_table, "psql": _psql, "csv": _csv,
    "json": _json, "records": _records, "broken lines": _broken_lines, "yaml anchors": _anchors,
    "diff": _diff, "heredoc": _heredoc, "script": _script, "sql": _sql, "code": _code,
    "hits": _hits, "trace": _trace, "log": _log, "listing": _listing, "progress": _progress,
}  # fmt: skip


def _numbered(text: str) -> str:
    return LINE.join(f"{at:6}\t{line}" for at, line in enumerate(text.split(LINE), 7))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


WRAPPERS: dict[str, Callable[[str], str]] = {
    "none": str,
    "fence": lambda text: f"```js\n{text}\n```",
    "string": json.dumps,
    "envelope": lambda text: json.dumps({"content": [{"type": "text", "text": text}], "isError": True}),
    "field": lambda text: json.dumps({"ok": False, "stdout": text, "more": [text[:99]] * 3}),
    "numbered": _numbered,
    "quoted": lambda text: "> " + text.replace(LINE, "\n> "),
    "indented": lambda text: "\t" + text.replace(LINE, "\n\t"),
    "output": lambda text: f"Exit code: 1\nWall time: 2 s\nOutput:\n{text}\n[12 lines truncated]",
    "tagged": lambda text: f"<path>a.py</path>\n<content>\n{text}\n</content>",
    "reminder": lambda text: f"{text}\n<system-reminder>{text[:200]}</system-reminder>",
    "frame": lambda text: f'[abcdefgh · t · turn 1 · 9 tokens · json]\n{text}\nrecall("abcdefgh")',
    "base64": lambda text: base64.encodebytes(_bytes(text)).decode(),
    "data url": lambda text: f"data:image/png;base64,{base64.b64encode(_bytes(text)).decode()}",
    "percent": lambda text: urllib.parse.quote(_bytes(text)),
}  # fmt: skip
ENCODINGS: dict[str, Callable[[str], str]] = {
    "none": str,
    "bom": lambda text: "\ufeff" + text.replace(LINE, "\n\ufeff"),
    "utf-16 as latin": lambda text: text.encode("utf-16", "surrogatepass").decode("latin-1"),
    "utf-8 as latin": lambda text: _bytes(text).decode("latin-1"),
    "surrogates": lambda text: text.encode("utf-16", "surrogatepass").decode("utf-8", "surrogateescape"),
    "crlf": lambda text: text.replace(LINE, "\r\n"),
    "cr only": lambda text: text.replace(LINE, "\r"),
    "separators": lambda text: text.replace(LINE, "\u2028").replace(" ", "\x0b"),
    "tabs": lambda text: text.replace("  ", "\t").replace(" ", "\xa0"),
    "right to left": lambda text: "\u202e" + text.replace(LINE, "\u202c\n\u202eשלום "),
    "colours": lambda text: text.replace(" ", "\x1b[0;31m \x1b]8;;x\x07"),
    "nulls": lambda text: text.replace(" ", "\x00"),
    "escaped": lambda text: text.encode("unicode_escape").decode("ascii"),
    "capitals": str.upper,
}  # fmt: skip

words = st.lists(
    st.sampled_from([*EVERY.values(), "name", "src/a/b.py", "", " ", "12", "true", "e1", "$.a[0]"])
    | st.text(st.characters(), max_size=12),  # surrogates too
    min_size=1,
    max_size=8,
)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Draw a text of any form, wrapped at most three times, encoded, cut at both ends, and repeated."""
    written = FORMS[draw(st.sampled_from(list(FORMS)))](
        [word or "-" for word in draw(words)],
        draw(st.integers(1, 9) | st.integers(1, MAX_DEPTH)),
        draw(st.integers(1, 9) | st.integers(1, MAX_WIDTH)),
    )
    for wrap in draw(st.lists(st.sampled_from(list(WRAPPERS)), max_size=3)):
        written = WRAPPERS[wrap](written[:LARGE_CHARACTERS])
    written = ENCODINGS[draw(st.sampled_from(list(ENCODINGS)))](written[:LARGE_CHARACTERS])
    if draw(st.integers(0, 3)) == 0:
        written = written[draw(st.integers(0, 40)) : len(written) - draw(st.integers(0, 40))]
    if draw(st.integers(0, 9)) == 0:
        written = (written + LINE) * draw(st.integers(2, MAX_REPEATED))
    return written[:LARGE_CHARACTERS]
