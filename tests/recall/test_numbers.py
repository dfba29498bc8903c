"""What an entry shows of a content, a recall finds: its line numbers and its selectors lead there."""

from __future__ import annotations

import json

import pytest

from hippocampus.indexing.extraction import NUMBER, ExtractionContext
from hippocampus.indexing.kinds import extraction_of
from hippocampus.recall import RecallRequest as Request
from hippocampus.recall import take

CODE = "".join(f"def part_{n}(value_{n}):\n    return value_{n} * {n}\n\n" for n in range(90))
DUMP = [f"{n:6}\t{line}" for n, line in enumerate(CODE.split("\n"), 40)]
ESSAY = "\n".join(
    f"Paragraph {n} tells what the {n}th traveller saw by the river." for n in range(60)
)
DOCUMENT = json.dumps({"version": 1, "skills": {f"skill {n}": [n] for n in range(60)}}, indent=2)
CONTENTS = {
    "a part of a file": ("\n".join(DUMP), ""),
    "a dump that its tool cut": ("\n".join([*DUMP[:90], "[60 lines omitted]", *DUMP[150:]]), ""),
    "a dump below a head": ("\n".join(["File Path: a.py", "Total Lines: 270", *DUMP]), ""),
    "lines that a call named": (CODE, '{"path": "a.py", "offset": 300}'),
    "a text in an envelope": (json.dumps([{"type": "text", "text": ESSAY}]), ""),
    "a failed call of MCP": (
        json.dumps({"content": [{"type": "text", "text": ESSAY}], "isError": True}),
        "",
    ),
    "a short dump in a failed call": (
        json.dumps({"content": [{"type": "text", "text": "\n".join(DUMP[:4])}], "isError": True}),
        "",
    ),
    "a text inside of JSON": (json.dumps({"ok": True, "data": {"id": 7, "body": ESSAY}}), ""),
    "a dump inside of JSON": (json.dumps({"code": 0, "stdout": "\n".join(DUMP)}), ""),
    "a text in JSON of short lines": (
        json.dumps({"ok": True, "body": ESSAY, "tags": [*range(40)]}, indent=1),
        "",
    ),
    "a short JSON string": (json.dumps("\n".join(ESSAY.split("\n")[:5])), ""),
    "coloured JSON below a note": (
        f"Exit code: 0\nOutput:\n{DOCUMENT}".replace('"', '\x1b[32m"'),
        "",
    ),
    "coloured JSON": (DOCUMENT.replace('"', '\x1b[32m"'), ""),
    "a fenced text": (f"\n```text\n{ESSAY}\n```\n\n", ""),
    "a coloured dump": ("\n".join(f"\x1b[2m{line}\x1b[0m" for line in DUMP), ""),
    "JSON with line numbers": (
        "\n".join(f"{n:6}→{line}" for n, line in enumerate(DOCUMENT.split("\n"), 1)),
        "",
    ),
    "a page of records": (
        json.dumps([{"id": n, "name": f"order {n}"} for n in range(200)]),
        '{"offset": 40, "limit": 200}',
    ),
}


@pytest.mark.parametrize(("content", "arguments"), CONTENTS.values(), ids=CONTENTS)
def test_what_an_entry_shows_is_recalled_as_it_is_named(content: str, arguments: str) -> None:
    entry = extraction_of(content, ExtractionContext(arguments))
    for selector in entry.selectors:
        name, _, value = selector.partition("=")
        assert take(content, Request(**{name: json.loads(value)}), 20_000, arguments)
    assert take(content, Request(lines=(1, 10**6)), 20_000, arguments)
    for line in entry.lines:
        if line.number is not None and line.form == NUMBER:
            found = take(content, Request(lines=(line.number, line.number)), 2_000, arguments)
            assert line.text.strip(" …") in found


def test_a_pattern_and_a_query_name_the_lines_that_a_cut_dump_has() -> None:
    content, _ = CONTENTS["a dump that its tool cut"]
    for request in (Request(pattern=r"value_60 \* 60"), Request(query="value_60 part_60")):
        [line] = [row for row in take(content, request, 2_000).split("\n") if "value_60 *" in row]
        assert line.split(":")[0] in line.split("\t")[0].split(":")[1]


def test_a_pattern_finds_what_an_entry_shows_without_colours() -> None:
    content = "\n".join(
        f"\x1b[1m FAIL \x1b[22m test/api-{n}.test.ts\x1b[2m > get" for n in range(40)
    )
    shown = next(line.text for line in extraction_of(content, ExtractionContext()).lines)
    assert "\x1b" not in shown
    assert take(content, Request(pattern=shown.strip()), 2_000).startswith("1: \x1b[1m FAIL")


def test_records_are_counted_from_1_whatever_page_a_call_asked_for() -> None:
    content, arguments = CONTENTS["a page of records"]
    assert '"id": 0' in take(content, Request(lines=(1, 1)), 2_000, arguments)


def test_a_transcript_has_lines_of_its_own_whatever_it_quotes() -> None:
    """A digest's lines were numbered by the first file that was read in it."""
    dump = "\n".join(DUMP)
    transcript = f"--- assistant text\nI look.\n--- tool result Read c1\n{dump}"
    assert take(transcript, Request(lines=(1, 2)), 400, None).startswith("1: --- assistant text")
