"""An entry is read by a model that acts on it: what it may never do, on what programs really print."""

from __future__ import annotations

import argparse
import csv
import inspect
import io
import json
import pprint
import re
import subprocess
import sys
import textwrap
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from hippocampus.indexing import ExtractionContext, Price, arguments, index, kind_of
from hippocampus.models import tokens
from hippocampus.recall import RecallRequest as Request
from hippocampus.recall import take

LINES = inspect.getsource(textwrap).split("\n")
NUMBERED = re.compile(r"(\d+): (.*)")


def entry(text: str, call: dict[str, Any] | None = None, share: float = 0.4) -> str:
    """Return the entry of a content in a share of its tokens."""
    size = tokens.count(text)
    context = ExtractionContext(arguments=json.dumps(call) if call else "", content_tokens=size)
    most = int(share * size)
    return "\n".join(index(text, context, Price(2.75, 1_700.0, most, most)).lines)


def printed(source: str) -> str:
    """Return what a Python program prints."""
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(source)], capture_output=True, text=True, check=False
    )
    return run.stdout + run.stderr


COUNTS = """
    import collections, string, sys
    words = open(string.__file__).read().split()
    print("=== words of string.py ===")
    for word, count in collections.Counter(words).most_common(25):
        print(f"{word!r:>20}: {count}")
    print("{'min': 1, 'kind': [1, 2]}")
    print("=== totals ===")
    print("words", len(words))
    print("EXIT=0")
"""


def test_what_a_program_prints_is_no_source() -> None:
    shown = entry(printed(COUNTS), {"command": "python count.py"})
    assert "source" not in shown.split("\n")[0]
    for line in ("=== words of string.py ===", "=== totals ===", "EXIT=0"):
        assert line in shown


def test_one_to_three_rows_are_not_hidden_behind_a_count() -> None:
    rows = [
        {"id": f"run-{at}", "script": name}
        for at, name in enumerate(sorted(sys.stdlib_module_names)[:40])
    ]
    text = json.dumps(rows)
    for share in (0.36, 0.4, 0.44, 0.5):
        shown = entry(text, share=share)
        hidden = [row["id"] for row in rows if f"{row['id']} " not in shown]
        assert not 0 < len(hidden) <= 3


def test_a_title_stands_whole() -> None:
    titles = [action.help for action in argparse.ArgumentParser()._actions if action.help]
    title = " ".join(" ".join([*titles, inspect.getdoc(argparse.ArgumentParser) or ""]).split())[
        :150
    ]
    assert title in entry(json.dumps([{"id": at, "title": title + str(at)} for at in range(9)]))


def test_records_keep_their_order_and_their_places() -> None:
    actions = [{"kind": "heading", "heading": {"text": name}} if at % 3 == 0 else
               {"kind": "function", "function": {"text": name, "line": at}}
               for at, name in enumerate(dir(textwrap.TextWrapper)[:12])]  # fmt: skip
    shown = entry(json.dumps(actions), share=0.5)
    places = [int(place) for place in re.findall(r"^\[(\d+)\]", shown, re.MULTILINE)]
    assert places == sorted(places)
    assert "heading | " in shown
    assert "function | " in shown


@pytest.mark.parametrize("form", ["{:6}\t{}", "{}: {}", "{:5}→{}", "{}|{}", "{} | {}"])
def test_printed_line_numbers_are_the_entrys(form: str) -> None:
    part = "\n".join(form.format(at, LINES[at - 1]) for at in range(120, 300))
    header = "Chunk ID: 5e3b6e\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n"
    longer = "".join(
        f"{name}: textwrap.py\n" for name in ("Read at", "Done at", "Path", "Lines", "Bytes")
    )
    longer += "Showing lines 120 to 299\nEach line has its number before it.\n"
    for text in (part, header + part, longer + part):
        found = NUMBERED.findall(entry(text))
        assert found
        assert all(LINES[int(number) - 1] == line for number, line in found if line in LINES)


CUT = "Warning: truncated output (original token count: 6637)\nTotal output lines: 500\n\n"
AROUND = {
    "codex": (f"Chunk ID: 5e3b6e\nWall time: 0.1 seconds\nOutput:\n{CUT}", ""),
    "gemini-cli": (
        "Command: cat textwrap.py\nDirectory: (root)\nOutput: ",
        "\nError: (none)\nExit Code: 0\nSignal: 0\nBackground PIDs: (none)\nProcess Group PGID: 145",
    ),
    "qwen-code": (
        "Command: cat \\\n  textwrap.py\nDirectory: src\nOutput: ",
        "\nError: (none)\nExit Code: 0\nSignal: 0\nProcess Group PGID: 6882",
    ),
    "a command of gemini-cli": (
        "<untrusted_context>\nOutput: ",
        "\nProcess Group PGID: 35361\n</untrusted_context>",
    ),
    "a file of qwen-code": ("Showing lines 1-300 of 677 total lines.\n\n---\n\n", ""),
}
"""What programs print before and behind a content, as they did in November 2026."""


@pytest.mark.parametrize("program", AROUND)
def test_what_a_program_prints_around_a_content_moves_no_line(program: str) -> None:
    head, tail = AROUND[program]
    found = NUMBERED.findall(entry(head + "\n".join(LINES[:300]) + tail))
    assert found
    assert all(LINES[int(number) - 1] == line for number, line in found if line in LINES)


@pytest.mark.parametrize("program", ["gemini-cli", "qwen-code", "a command of gemini-cli"])
def test_records_inside_what_a_program_prints_are_records(program: str) -> None:
    head, tail = AROUND[program]
    records = [{"id": f"ord-{n:05}", "state": "late" if n == 7 else "sent"} for n in range(80)]
    assert entry(head + json.dumps(records) + tail).startswith("JSON, 80 records")


@pytest.mark.parametrize(
    ("program", "ends", "instead"),
    [
        ("gemini-cli", "Exit Code: 0", "Exit Code: 2"),
        ("a command of gemini-cli", "\nProcess", "\nExit Code: 2\nProcess"),
    ],
)
def test_a_failed_command_inside_what_a_program_prints_says_so(
    program: str, ends: str, instead: str
) -> None:
    head, tail = AROUND[program]
    failed = tail.replace(ends, instead)
    assert "Exit Code: 2" in entry(head + "\n".join(LINES[:300]) + failed)


def test_a_part_that_is_missing_inside_a_line_is_named() -> None:
    whole = "\n".join(LINES[:300])
    shown = entry(whole[:4_000] + "…16545 chars truncated…" + whole[4_000:])
    assert f"line {whole[:4_000].count(chr(10)) + 1}: …16545 chars truncated…" in shown


PARTS = pytest.mark.parametrize(
    "call",
    [
        {"path": "textwrap.py", "offset": 120, "limit": 180},
        {"cmd": "sed -n '120,299p' textwrap.py"},
    ],
)


@PARTS
def test_a_read_from_an_offset_has_the_numbers_of_the_file(call: dict[str, Any]) -> None:
    shown = entry("\n".join(LINES[119:299]), call)
    found = NUMBERED.findall(shown)
    assert found
    assert all(LINES[int(number) - 1] == line for number, line in found if line in LINES)


@PARTS
def test_a_part_of_a_table_is_recalled_by_the_lines_that_its_entry_names(
    call: dict[str, Any],
) -> None:
    text = "\n".join(f"{at},name {at},{7 * at}" for at in range(120, 300))
    arguments = json.dumps(call)
    named = index(text, ExtractionContext(arguments=arguments), Price(2.75, 1_700.0, 300, 600))
    assert named.selectors[0] == "lines=[120, 299]"
    assert "150,name 150,1050" in take(text, Request(lines=(150, 150)), 500, arguments)


def test_hits_are_recalled_by_no_range_since_their_numbers_are_those_of_files() -> None:
    hits = "\n".join(f"{at}:    total = {at}" for at in range(120, 900, 7))
    named = index(hits, ExtractionContext(), Price(2.75, 1_700.0, 300, 600))
    assert (named.kind, named.selectors) == ("hits", ())


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("../room.test.ts({0}{0},5): error TS2345: Argument of type 'a' is no 'B'.", "text"),
        ("c:\\Users\\house\\web\\node_modules\\pkg{0}\\index.js", "listing"),
    ],
)
def test_errors_with_places_are_no_table_and_paths_of_windows_no_settings(
    text: str, kind: str
) -> None:
    lines = "\n".join(text.format(at) for at in range(1, 9))
    assert kind_of(lines) == kind


@pytest.mark.parametrize(
    "notice",
    [
        "[Showing lines 1-120 of 500. Use offset=121 to continue]",
        "… +380 lines truncated …",
        "(380 more lines below)",
    ],
)
def test_a_tools_notice_of_a_missing_part_stands(notice: str) -> None:
    assert notice in entry("\n".join(LINES[:120]) + "\n\n" + notice, {"path": "textwrap.py"}, 0.2)


@pytest.mark.parametrize("form", ["==> {} <==", "===== {} =====", "--- {} ---", "File: {}"])
def test_several_files_keep_their_names(form: str) -> None:
    files = {"lib/textwrap.py": LINES[:90], "lib/io.py": inspect.getsource(io).split("\n")[:90]}
    text = "\n".join(f"{form.format(name)}\n" + "\n".join(lines) for name, lines in files.items())
    shown = entry(text)
    wrap, other = (shown.index(form.format(name)) for name in files)
    assert wrap < shown.index("TextWrapper") < other
    assert "import textwrap" not in shown[other:]


def test_the_sentences_of_a_long_line_and_results_stand() -> None:
    task = (
        "The task is to count the bridges. " * 3
        + "Write the answer to answer_31.txt. "
        + "Be brief. " * 40
    )
    text = (
        task
        + "\n"
        + "\n".join(f"step {at} done" for at in range(60))
        + "\n6 * 7 => 42\n"
        + "step 61 done\n" * 9
    )
    shown = entry(text, share=0.3)
    assert "Write the answer to answer_31.txt." in shown
    assert "6 * 7 => 42" in shown
    assert shown.count("step ") < 40


def test_the_exception_that_ended_a_run_stands(tmp_path: Path) -> None:
    script = tmp_path / "own.py"
    script.write_text(
        "import json\n\ndef load(text):\n    return json.loads(text)\n\n\nload('[1,')\n",
        encoding="utf-8",
    )
    run = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    shown = entry("building\n" * 30 + run.stderr, share=0.5)
    assert "json.decoder.JSONDecodeError: Expecting value: line 1 column 4 (char 3)" in shown


def test_arguments_are_what_was_written_in_its_order_and_names_stay_whole() -> None:
    path = "/srv/" + "very/long/" * 30 + "textwrap.py"
    command = "cd /srv && python -m unittest " + " ".join(f"tests.test_{at}" for at in range(60))
    given = json.dumps({"file_path": path, "content": "\n".join(LINES), "command": command})
    short = json.loads(arguments.shorten(given, "[ab12cd34 · 4000 tokens]"))
    assert (short["file_path"], short["command"]) == (path, command)
    assert short["content"].startswith("[ab12cd34 · 4000 tokens]\n491 lines, ")
    methods = ["_munge_whitespace", "_split", "_fix_sentence_endings"]
    assert (
        sorted(methods, key=short["content"].find) == methods or "TextWrapper" in short["content"]
    )
    assert len(short["content"]) < len(LINES) * 8


def shortened(**call: object) -> dict[str, str]:
    short: dict[str, str] = json.loads(
        arguments.shorten(json.dumps(call), "[ab12cd34 · 4000 tokens]")
    )
    return short


def test_what_a_call_writes_is_what_it_defines_and_its_own_lines_in_their_order() -> None:
    short = shortened(file_path="textwrap.py", new_string="\n".join(LINES))["new_string"]
    _, _, *shown = short.split("\n")
    numbered = [line for line in shown if line.partition(":")[0].isdigit()]
    assert numbered == sorted(numbered, key=lambda line: int(line.partition(":")[0]))
    assert all(line.partition(": ")[2] in LINES for line in numbered)


def test_what_a_written_file_defines_comes_before_its_other_lines() -> None:
    names = ("open_account", "close_account", "transfer")
    body = "\n".join(f"    total_{at} = ledger.lookup_{at}(key_{at}, {at})" for at in range(9))
    short = shortened(path="bank.py", content="".join(f"def {n}(key):\n{body}\n\n" for n in names))
    assert [f"def {name}(key):" in short["content"] for name in names] == [True] * 3


def test_of_an_edit_the_changed_lines_stand_and_the_replaced_text_is_one_line() -> None:
    old = "\n".join(f"    rate_{at} = rates.lookup({at})" for at in range(20))
    new = old.replace("rates.lookup(11)", "rates.lookup(11, default=ZERO_RATE)")
    short = shortened(path="rates.py", old_string=old, new_string=new)
    assert short["old_string"].endswith("    rate_0 = rates.lookup(0)\n… 19 more lines")
    assert "    rate_11 = rates.lookup(11, default=ZERO_RATE)" in short["new_string"].split("\n")


def test_a_plan_that_is_written_stands_up_to_600_tokens_and_asleep_in_40() -> None:
    steps = [f"{n}. Where step {n} has failed, the next one waits for it." for n in range(1, 60)]
    plan = "# The plan\n\n" + "\n".join(steps)
    call = json.dumps({"file_path": "plans/doors.md", "content": plan})
    shown, asleep = arguments.shorten(call, "[k]"), arguments.shorten(call, "[k]", 40)
    assert 450 < tokens.count(shown) < 750
    assert steps[0] in shown
    assert tokens.count(asleep) < 120


def test_of_json_in_a_text_the_values_have_their_keys() -> None:
    cells = [{"type": "text", "text": {"content": name}} for name in LINES[5].split() * 9]
    rows = [{"type": "row", "cells": cells, "status": f"blocked by {at}"} for at in range(9)]
    short = shortened(body=json.dumps({"children": rows}))["body"]
    assert "\nchildren: 9 records: status\nall: type=row\n[0] blocked by 0\n" in short


def test_of_a_patch_the_files_are_named() -> None:
    hunks = "\n".join(f"@@\n-    return guests + {n}\n+    return {n}" for n in range(40))
    files = [f"*** Update File: src/room_{n}.py\n{hunks}" for n in range(3)]
    patch = "\n".join(["*** Begin Patch", *files, "*** End Patch"])
    for call in (patch, json.dumps({"input": patch})):
        short = arguments.shorten(call, "[k]")
        assert all(f"*** Update File: src/room_{n}.py" in short for n in range(3))


def test_a_text_of_one_line_stands_with_its_beginning_and_a_command_whole() -> None:
    told = "Rewrite the decision of the refinement so that it keeps the shift. " * 9
    short = shortened(Description=told, CommandLine="python solve.py " + "--plot 1145 " * 40)
    assert short["Description"].partition("\n")[2].startswith("Rewrite the decision of the ref")
    assert short["CommandLine"] == "python solve.py " + "--plot 1145 " * 40


def test_a_text_that_a_command_writes_is_short_and_the_command_whole() -> None:
    body = "\n".join(LINES)
    command = f"mkdir -p lib && cat > lib/wrap.py <<'EOF'\n{body}\nEOF\npython -m compileall lib"
    short = json.loads(
        arguments.shorten(json.dumps({"command": command}), "[ab12cd34 · 4000 tokens]")
    )
    assert "mkdir -p lib && cat > lib/wrap.py <<'EOF'" in short["command"]
    assert short["command"].endswith("EOF\npython -m compileall lib")
    assert len(short["command"]) < len(command) / 5


def test_tables_without_spaces_are_tables() -> None:
    rows = [(f"U+{at:04X}", unicodedata.category(chr(at)), str(at)) for at in range(0x370, 0x3A0)]
    for delimiter in (",", "\t"):
        out = io.StringIO()
        csv.writer(out, delimiter=delimiter).writerows([("code", "kind", "number"), *rows])
        assert entry(out.getvalue().replace("\r", "")).startswith("48 rows, 3 columns")


@pytest.mark.parametrize("share", [0.1, 0.3, 0.9])
def test_an_entry_is_shorter_than_half_of_its_content(share: float) -> None:
    for text in ("\n".join(LINES), pprint.pformat(dict(enumerate(LINES))), json.dumps(LINES)):
        assert tokens.count(entry(text, share=share)) <= 0.56 * tokens.count(text)


def test_numbered_lines_with_carriage_returns_keep_the_numbers_of_their_file() -> None:
    body = "".join(
        f"{at}:{f'    kite_{at} = {at}' if at % 6 else ''}\r\n" for at in range(700, 790)
    )
    shown = entry(f"[File: sky.py (990 lines total)]\r\n(699 more lines above)\r\n{body}", {}, 0.5)
    assert re.search(r"^7\d\d: +kite_7", shown, re.MULTILINE)
    assert not re.search(r"\d: 7\d\d:", shown)


def test_a_failed_run_opens_with_its_failures_and_not_with_tests_about_errors() -> None:
    lines = [f"ok {at} - refuses a wrong password with an error" for at in range(40)]
    text = "\n".join(
        ["TAP version 13", *lines, "# fail 0", "not ok 41 - error: kite lost", "1..41"]
    )
    context = ExtractionContext(is_error=True, content_tokens=tokens.count(text))
    shown = index(text, context, Price(1.25, 1500.0, 60, 60)).lines
    assert shown[1:4] == ("TAP version 13", "not ok 41 - error: kite lost", "1..41")


def test_a_merged_line_of_a_trace_is_only_one_that_differs_in_digits() -> None:
    frames = [f"    at kite.Sky${at}.lift{at % 9} (Sky.java:{at})" for at in range(30)]
    other = [f"    at wind.Gust${at}.blow{at % 9} (Gust.java:{at})" for at in range(30)]
    shown = entry("\n".join(["rc=1", *frames, *other]), {}, 0.4)
    assert shown.count("(and 29 lines like it)") == 0
    assert "Sky" in shown
    assert "Gust" in shown


def test_records_inside_a_record_have_their_own_ids_first() -> None:
    children = [
        {"id": f"{at}:7", "name": f"kite {at}", "fontName": f"Sans{at}", "title": f"t{at}"}
        for at in range(9)
    ]
    rows = [{"id": f"r{at}", "name": f"row {at}", "children": children} for at in range(5)]
    assert "children[9]: 0:7 " in entry(json.dumps(rows), {}, 0.9)
