"""A diff is read into its files, counts and hunks; the counts are those of the diff."""

from __future__ import annotations

import difflib
import inspect
import textwrap

from hypothesis import given
from hypothesis import strategies as st

from hippocampus import indexing
from hippocampus.indexing import Price, diffs
from hippocampus.indexing.extraction import Extraction, ExtractionContext

GIT = """commit 45ffe0a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6e7
Author: A B <a@b.c>

diff --git a/src/x.py b/src/y.py
similarity index 90%
rename from src/x.py
rename to src/y.py
--- a/src/x.py
+++ b/src/y.py
@@ -10,3 +10,4 @@ class Foo:
     a = 1
--- old comment
-    b = 2
+    b = 3
+    def bar(self):
+        return 4
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-bye
diff --git a/logo.png b/logo.png
new file mode 100644
Binary files /dev/null and b/logo.png differ
"""
PATCH = """*** Begin Patch
*** Update File: src/app.ts
@@ function main()
 context
-old()
+fresh()
*** Add File: src/new.ts
+export const a = 1
*** Delete File: x.md
*** End Patch
"""


def read(text: str) -> Extraction:
    extraction = diffs.extract(text, ExtractionContext())
    assert extraction is not None
    return extraction


def texts(extraction: Extraction) -> list[str]:
    return [line.text.strip() for line in extraction.lines]


def test_git_tells_status_names_and_counts_of_each_file() -> None:
    extraction = read(GIT)
    assert extraction.key_data == {"files": 3, "added": 3, "removed": 3}
    assert "src/y.py (renamed) from src/x.py +3 −2" in texts(extraction)
    assert "gone.txt (deleted) +0 −1" in texts(extraction)
    assert any(line.startswith("logo.png (") for line in texts(extraction))
    assert "commit 45ffe0a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6e7" in texts(extraction)


def test_a_commit_with_its_diff_is_a_diff_below_its_message() -> None:
    message = "    Move bar into Foo\n\n    The old one had no tests.\n"
    shown = GIT.replace("\n\ndiff", f"\nDate:   Mon Nov 23 08:48:54 2026\n\n{message}\ndiff", 1)
    entry = indexing.index(shown, ExtractionContext(), Price(2.75, 1_700.0, 300, 4_000))
    assert entry.kind == "diff"
    found = list(entry.lines)
    at = found.index("Move bar into Foo")
    assert "The old one had no tests." in found[at + 1 : at + 3]
    assert any(line.startswith("src/y.py (renamed)") for line in found[at:])
    assert any("def bar(self):" in line for line in found[at:])


def test_a_removed_line_of_dashes_is_no_header() -> None:
    assert "-11 -- old comment" in texts(read(GIT))


def test_a_hunk_stands_below_its_file_with_its_lines_and_function() -> None:
    extraction = read(GIT)
    hunk = next(line for line in extraction.lines if "class Foo" in line.text)
    assert hunk.text.strip().startswith("@@ 10-13 class Foo:")
    assert extraction.lines[hunk.parent or 0].text.startswith("src/y.py")


def test_a_definition_weighs_more_than_another_changed_line() -> None:
    weights = {line.text.strip(): line.weight for line in read(GIT).lines}
    assert weights["+12 def bar(self):"] > weights["+13 return 4"]


def test_a_patch_without_line_numbers_is_read() -> None:
    extraction = read(PATCH)
    assert diffs.recognises(PATCH) > 0.9
    assert extraction.key_data == {"files": 3, "added": 2, "removed": 1}
    assert "src/new.ts (added) +1 −0" in texts(extraction)
    assert "x.md (deleted)" in texts(extraction)
    assert "+ fresh()" in texts(extraction)


def test_counts_and_line_numbers_are_true_for_a_diff_of_real_source() -> None:
    old = inspect.getsource(textwrap).split("\n")
    new = [line.replace("width", "columns") for line in old if "fix_sentence" not in line]
    text = "\n".join(difflib.unified_diff(old, new, "a/textwrap.py", "b/textwrap.py", lineterm=""))
    extraction = read(text)
    added = sum(line.startswith("+") and not line.startswith("+++ ") for line in text.split("\n"))
    removed = sum(line.startswith("-") and not line.startswith("--- ") for line in text.split("\n"))
    assert (extraction.key_data["added"], extraction.key_data["removed"]) == (added, removed)
    for line in map(str.strip, "\n".join(texts(extraction)).split("\n")):
        number, _, rest = line[1:].partition(" ")
        if line[0] in "+-" and number.isdigit() and not rest.endswith("…"):
            assert rest == (new if line[0] == "+" else old)[int(number) - 1].strip()


lines = st.lists(st.sampled_from(["a", "b", "- c", "+ d", "", "@@ e"]), max_size=25)


@given(old=lines, new=lines)
def test_any_unified_diff_is_counted_right(old: list[str], new: list[str]) -> None:
    rows = list(difflib.unified_diff(old, new, "a/f", "b/f", lineterm=""))
    extraction = diffs.extract("\n".join(rows), ExtractionContext())
    matcher = difflib.SequenceMatcher(None, old, new)
    kept = sum(block.size for block in matcher.get_matching_blocks())
    if extraction is None:
        assert old == new
    else:
        assert extraction.key_data["added"] == len(new) - kept
        assert extraction.key_data["removed"] == len(old) - kept


def test_a_changed_line_of_a_condition_stands_with_the_whole_of_it() -> None:
    body = [
        " guard()",
        " if (",
        "     is_ready(ship)",
        "-    && crew > 2",
        "+    && crew > 3",
        " ) {",
    ]
    change = "--- a/x.js\n+++ b/x.js\n@@ -7,5 +7,5 @@\n" + "\n".join(body) + "\n"
    (condition,) = (line for line in texts(read(change)) if "crew" in line)
    whole = ["if (", "is_ready(ship)", "-10 && crew > 2", "+10 && crew > 3", ") {"]
    assert [line.strip() for line in condition.split("\n")] == whole


def test_other_text_is_not_taken_for_a_diff() -> None:
    assert diffs.recognises(inspect.getsource(difflib)) < 0.5
    assert diffs.recognises("- a list\n- of things\n+ and more\n") == 0.0
    assert diffs.extract("nothing\n--- here\n", ExtractionContext()) is None
