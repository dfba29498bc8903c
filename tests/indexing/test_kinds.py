"""Kinds without an extractor of their own are recognised, and are their own lines."""

from __future__ import annotations

import base64
import difflib
import inspect
import json
import random
import sys
import traceback
import unittest
from pathlib import Path

import pytest

from hippocampus.indexing import ExtractionContext, kind_of, plain
from hippocampus.indexing.kinds import extraction_of

GIT = """commit 45ffe0a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6e7
Author: A B <a@b.c>

diff --git a/src/x.py b/src/y.py
rename from src/x.py
rename to src/y.py
--- a/src/x.py
+++ b/src/y.py
@@ -10,3 +10,4 @@ class Foo:
     a = 1
-    b = 2
+    b = 3
+    return 4
"""
PATCH = """*** Begin Patch
*** Update File: src/app.ts
@@ function main()
 context
-old()
+fresh()
*** End Patch
"""
CHINESE = "# 长江\n\n长江是亚洲第一长河，全长约6397公里。它发源于青藏高原。《水经注》提到了它。\n"
JEST = """
 PASS  src/a.test.ts
 FAIL  src/sum.test.ts
  ● sum › adds 1 + 2 to equal 3

      at Object.toBe (src/sum.test.ts:4:21)

Test Suites: 1 failed, 1 passed, 2 total
"""
GO = """=== RUN   TestAdd
--- FAIL: TestAdd (0.00s)
    add_test.go:12: got 3, want 4
goroutine 1 [running]:
\t/home/u/app/main.go:14
exit status 2
FAIL\texample.com/app\t0.012s
"""
JAVA = """2025-11-21 10:00:01,123 INFO  [main] app.App - starting
java.lang.IllegalStateException: no stock for sku-991
\tat app.Stock.take(Stock.java:42)
\tat app.Order.place(Order.java:17)
2025-11-21 10:00:03,000 WARN  [main] app.App - retrying
"""
NOISE = random.Random(3).randbytes(4_000)


def raised() -> str:
    try:
        json.loads("[1,")
    except ValueError:
        return traceback.format_exc()
    return ""


@pytest.mark.parametrize("text", [GIT, PATCH], ids=["git", "patch"])
def test_a_diff_is_recognised(text: str) -> None:
    assert plain.is_diff(text) > 0.6


def test_source_and_lists_are_no_diff() -> None:
    assert plain.is_diff(inspect.getsource(difflib)) < 0.5
    assert plain.is_diff("- a list\n- of things\n+ and more\n") == 0.0


def test_a_language_without_spaces_is_prose() -> None:
    assert plain.is_prose(CHINESE) > 0.6


def test_code_is_no_prose() -> None:
    assert plain.is_prose("def f(x):\n    y = g(x)\n    return y\n" * 9) < 0.2


@pytest.mark.parametrize("text", [JEST, GO, JAVA, raised()])
def test_runs_and_traces_are_logs(text: str) -> None:
    assert plain.is_log(text) > 0.5


def test_prose_and_code_are_no_logs() -> None:
    assert plain.is_log(unittest.__doc__ or "") < 0.4
    assert plain.is_log("def f(x):\n    return x\n\nclass A:\n    pass\n" * 5) < 0.2


def test_encoded_bytes_are_recognised_and_are_not_in_the_entry() -> None:
    for data in (base64.b64encode(NOISE).decode(), base64.encodebytes(NOISE).decode(), NOISE.hex()):
        assert plain.is_binary(data) > 0.8
        text = f"logo of the shop:\n{data}\nend of it"
        shown = plain.extract(text, kind="binary")
        assert shown is not None
        assert data[100:140] not in "".join(line.text for line in shown.lines)
        assert shown.lines[0].text == "logo of the shop:"
        assert (shown.lines[-1].text, shown.lines[-1].number) == ("end of it", text.count("\n") + 1)


def test_bytes_read_as_text_are_recognised() -> None:
    data = Path(sys.executable).resolve().read_bytes()[:60_000]
    assert plain.is_binary(data.decode("utf-8", "surrogateescape")) > 0.5


def test_ordinary_text_is_not_taken_for_bytes() -> None:
    assert plain.is_binary(Path(__file__).read_text(encoding="utf-8")) == 0.0
    paths = " ".join(f"src/very_deep_folder/part{at}/file_{at}.py" for at in range(40))
    assert plain.is_binary(paths.replace(" ", "/")) == 0.0


@pytest.mark.parametrize(
    "value",
    [
        {"openapi": "3.1.0", "info": {"title": "Shop"}, "paths": {"/orders": {"get": {}}}},
        {"type": "object", "properties": {"id": {"type": "string"}}},
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "properties": {"id": {}}},
    ],
)
def test_a_schema_is_json_of_its_own_kind(value: object) -> None:
    assert kind_of(json.dumps(value)) == "schema"


def test_a_diff_is_its_own_lines() -> None:
    extraction = extraction_of(GIT * 2, ExtractionContext())
    assert extraction.kind == "diff"
    assert "+    b = 3" in [line.text for line in extraction.lines]
