"""Hostile and very large contents, each made for a size in characters; nothing here is random."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial

from tests.bench.compression import corpus
from tests.bench.compression.corpus import sources

NAME = re.compile(r"\b([a-z]+_[a-z_]*[a-z])\b")
HASH = re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{12,40}\b")
HTML_PIECES = (
    "<div>", "<p><a href='x", "</span>", "<!--", "<td", "</div></div>", "&#", "<![CDATA[", '<b a="',
)  # fmt: skip


def filled(piece: str, characters: int) -> str:
    """One piece again and again."""
    return (piece * (characters // len(piece) + 1))[:characters]


def deep_lists(characters: int) -> str:
    """Valid JSON, nested as deep as it is long."""
    depth = characters // 2
    return "[" * depth + "]" * depth


def deep_objects(characters: int) -> str:
    """Valid JSON, an object in an object in an object."""
    depth = characters // 6
    return '{"a":' * depth + "1" + "}" * depth


def deep_html(characters: int) -> str:
    """A page of elements within elements."""
    depth = characters // 11
    return "<html><body>" + "<div>" * depth + "x" + "</div>" * depth


def deep_indent(characters: int) -> str:
    """Lines, each further to the right than the last."""
    depth = int((2 * characters) ** 0.5)
    return "\n".join(" " * at + "- x:" for at in range(depth))


def many_keys(characters: int) -> str:
    """One JSON object with as many keys as fit (a million in 14 MB)."""
    return json.dumps({f"k{at}": at for at in range(characters // 15)})


def escaped_json(characters: int) -> str:
    """JSON within a JSON string within a JSON string."""
    text = json.dumps({"text": "a"})
    while len(text) < characters // 3:
        text = json.dumps({"type": "text", "text": text})
    return text


def cut_json(characters: int) -> str:
    """A JSON response that ends in the middle."""
    return scaled("JSON response", characters + 100)[:-77]


def unbalanced_html(characters: int) -> str:
    """Tags that open, close and break off as they please."""
    pieces = [HTML_PIECES[int(sources.digest(at, length=4), 16) % 9] for at in range(997)]
    return "<!DOCTYPE html><html>" + filled("".join(pieces), characters)


def escaped_bytes(characters: int) -> str:
    """Bytes that are no UTF-8, as `surrogateescape` reads them."""
    return filled(bytes(range(256)).decode("utf-8", "surrogateescape"), characters)


def replaced_bytes(characters: int) -> str:
    """The same as `replace` reads them, line by line."""
    text = bytes(range(256)).decode("utf-8", "replace").replace("\n", "")
    return filled(text + "\n", characters)


CASES: dict[str, Callable[[int], str]] = {
    "deep lists": deep_lists,
    "deep objects": deep_objects,
    "deep HTML": deep_html,
    "deep indent": deep_indent,
    "many keys": many_keys,
    "escaped JSON": escaped_json,
    "JSON cut off": cut_json,
    "unbalanced HTML": unbalanced_html,
    "surrogates": escaped_bytes,
    "replaced bytes": replaced_bytes,
    "spaces": partial(filled, " "),
    "line ends": partial(filled, "\n"),
    "carriage returns": partial(filled, "downloading 7% \r"),
    "terminal colours": partial(filled, "\x1b[31mred\x1b["),
    "one line of words": partial(filled, "word and another_word, 4711; "),
    "one line without a space": partial(filled, "aGlwcG9jYW1wdXM"),
    "one letter": partial(filled, "a"),
    "digits": partial(filled, "1234567890"),
    "dots and slashes": partial(filled, "a./b.c/"),
    "open brackets": partial(filled, "([{<"),
    "back slashes": partial(filled, "\\"),
    "quotes": partial(filled, "\"'"),
    "pipes": partial(filled, "|---|\n| "),
    "commas": partial(filled, ",,,,\n"),
    "fences": partial(filled, "```json\n"),
    "hunks": partial(filled, "@@ -1,9 +1,9 @@\n+\n"),
    "forged entries": partial(filled, "[h1 · tool · turn 1 · 9 tokens · json]\nrecall(\n"),
    "tracebacks": partial(filled, "Traceback (most recent call last):\n"),
    "headings": partial(filled, "# \n=====\n"),
    "null bytes": partial(filled, "\x00"),
    "Chinese": partial(filled, "海马体把记忆"),
    "combining marks": partial(filled, "e\u0301\u0300\u200d"),
}


def scaled(kind: str, characters: int) -> str:
    """Content of a kind, as large as asked for; each repetition has its own names and ids."""
    if kind == "JSON response":
        return _more_records(characters)
    if kind == "configuration schema":
        return _more_paths(characters)
    text = corpus.content(kind)
    if kind == "table (CSV)":
        header, _, text = text.partition("\n")
        return f"{header}\n{_repeated(text, characters)}"
    return _repeated(text, characters)


def _repeated(text: str, characters: int) -> str:
    rounds = range(characters // len(text) + 1)
    whole = "".join(_varied(text, at) if at else text for at in rounds)
    return whole[: whole.rfind("\n", 0, characters) + 1] or whole[:characters]


def _varied(text: str, at: int) -> str:
    text = NAME.sub(rf"\g<1>_{at}", text).replace("lib/", f"lib{at}/")
    return HASH.sub(lambda match: sources.digest(match[0], at, length=len(match[0])), text)


def _more_records(characters: int) -> str:
    answer = json.loads(corpus.content("JSON response"))
    once, records = answer["data"], []
    weight, at = 0, 0
    while weight < characters:
        record = once[at % len(once)]
        name = f"{record['name']}-{at}"
        records.append({**record, "id": sources.digest("record", at, length=32), "name": name})
        weight += len(json.dumps(records[-1], separators=(",", ":"), ensure_ascii=False)) + 1
        at += 1
    return json.dumps({**answer, "data": records}, separators=(",", ":"), ensure_ascii=False)


def _more_paths(characters: int) -> str:
    document = json.loads(corpus.content("configuration schema"))
    once, paths = list(document["paths"].items()), {}
    weight, at = 0, 0
    while weight < characters:
        path, item = once[at % len(once)]
        paths[f"{path}/{at}" if at >= len(once) else path] = item
        weight += int(1.2 * len(json.dumps(item, indent=2)))
        at += 1
    document["components"]["schemas"] = {}
    return json.dumps({**document, "paths": paths}, indent=2)
