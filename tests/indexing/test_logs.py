"""Failures come first and whole: ids, places, messages, totals; repeats are counts."""

from __future__ import annotations

import io
import json
import traceback
import unittest

from hippocampus.indexing import logs, unwrap
from hippocampus.indexing.extraction import Extraction, ExtractionContext

JEST = """
 PASS  src/a.test.ts
 FAIL  src/sum.test.ts
  ● sum › adds 1 + 2 to equal 3

    Expected: 4
    Received: 3

      at Object.toBe (src/sum.test.ts:4:21)

Test Suites: 1 failed, 1 passed, 2 total
Tests:       1 failed, 5 passed, 6 total
"""
GO = """=== RUN   TestAdd
--- FAIL: TestAdd (0.00s)
    add_test.go:12: got 3, want 4
panic: runtime error: index out of range [5] with length 3

goroutine 1 [running]:
main.pick(...)
\t/home/u/app/main.go:14
main.main()
\t/home/u/app/main.go:9 +0x1d
exit status 2
FAIL\texample.com/app\t0.012s
"""
JAVA = """2025-11-21 10:00:01,123 INFO  [main] app.App - starting
2025-11-21 10:00:02,456 ERROR [pool-1] app.Order - order 5512-AB failed
java.lang.IllegalStateException: no stock for sku-991
\tat app.Stock.take(Stock.java:42)
\tat app.Order.place(Order.java:17)
Caused by: java.sql.SQLException: timeout after 30s
\tat app.Db.query(Db.java:88)
2025-11-21 10:00:03,000 WARN  [main] app.App - retrying
"""
CARGO = """   Compiling app v0.1.0 (/home/u/app)
error[E0308]: mismatched types
  --> src/main.rs:12:5
running 2 tests
test tests::adds ... ok
test tests::subs ... FAILED
test result: FAILED. 1 passed; 1 failed; 0 ignored
"""
GCC = """gcc -c -o a.o src/a.c
src/a.c:12:5: error: 'x' undeclared (first use in this function)
src/a.c:14:9: warning: unused variable 'y' [-Wunused-variable]
make: *** [Makefile:10: a.o] Error 1
"""
TSC = "".join(
    f"src/m{number % 2}.ts({number},7): error TS2554: Expected 1 arguments, but got 0.\n"
    for number in range(1, 9)
)
TAP = "TAP version 13\n1..2\nok 1 - opens\nnot ok 2 - closes the file\n# pass 1\n# fail 1\n"


def read(text: str) -> Extraction:
    extraction = logs.extract(text, ExtractionContext())
    assert extraction is not None
    return extraction


def texts(extraction: Extraction) -> str:
    return "\n".join(line.text for line in extraction.lines)


def kept(extraction: Extraction) -> str:
    return "\n".join(line.text for line in extraction.lines if line.keep)


def heavy(extraction: Extraction) -> str:
    return "\n".join(line.text for line in extraction.lines if line.weight >= 2.5)


class Sums(unittest.TestCase):
    """A case that is run here only for what it prints."""

    __test__ = False

    def test_passes(self) -> None:
        self.assertEqual(1, 1)  # noqa: PT009

    def test_fails(self) -> None:
        self.assertEqual(1 + 1, 3, "sums differ")  # noqa: PT009

    def test_raises(self) -> None:
        json.loads("{")


def test_a_run_of_unittest_keeps_its_failures_messages_and_verdict() -> None:
    out = io.StringIO()
    unittest.TextTestRunner(out, verbosity=2).run(
        unittest.defaultTestLoader.loadTestsFromTestCase(Sums)
    )
    extraction = read(out.getvalue())
    assert logs.recognises(out.getvalue()) > 0.6
    assert extraction.key_data["failures"] == 2
    assert [name.split()[0] for name in extraction.key_data["failed"]] == [
        "test_fails",
        "test_raises",
    ]
    assert "AssertionError: 2 != 3 : sums differ" in kept(extraction)
    assert "JSONDecodeError" in kept(extraction)
    assert "FAILED (failures=1, errors=1)" in kept(extraction)


def test_a_traceback_keeps_the_exception_and_the_frames_of_the_programs_own_files() -> None:
    try:
        json.loads("[1, ")
    except ValueError:
        extraction = read(traceback.format_exc())
    raised = next(line for line in extraction.lines if line.keep)
    frames = {line.text.strip(): line.weight for line in extraction.lines if "File " in line.text}
    own, library = (
        next(weight for text, weight in frames.items() if name in text)
        for name in ("test_logs.py", "json/__init__.py")
    )
    assert "JSONDecodeError: Expecting value" in raised.text
    assert own > library


def test_jest_names_the_failed_test_and_its_totals() -> None:
    extraction = read(JEST)
    assert extraction.key_data["failed"] == ["sum › adds 1 + 2 to equal 3"]
    assert "Tests: 1 failed, 5 passed, 6 total" in kept(extraction)
    assert "src/sum.test.ts:4:21" in texts(extraction)


def test_go_tells_the_failed_test_the_panic_and_the_exit_code() -> None:
    extraction = read(GO)
    assert extraction.key_data["failed"] == ["TestAdd"]
    assert extraction.key_data["exit_code"] == 2
    assert "panic: runtime error: index out of range [5] with length 3" in kept(extraction)
    assert "/home/u/app/main.go:14" in texts(extraction)


def test_java_tells_each_cause_and_the_span_of_time() -> None:
    extraction = read(JAVA)
    assert "no stock for sku-991" in kept(extraction)
    assert "Caused by: java.sql.SQLException: timeout after 30s" in kept(extraction)
    assert "order 5512-AB failed" in heavy(extraction)
    assert extraction.key_data["span"] == "2025-11-21 10:00:01,123 to 10:00:03,000"


def test_cargo_keeps_the_error_and_its_place() -> None:
    extraction = read(CARGO)
    assert "error[E0308]: mismatched types" in heavy(extraction)
    assert "--> src/main.rs:12:5" in heavy(extraction)
    assert extraction.key_data["failed"] == ["tests::subs"]
    assert "test result: FAILED. 1 passed; 1 failed" in kept(extraction)


def test_gcc_groups_findings_by_file_and_errors_weigh_more_than_warnings() -> None:
    extraction = read(GCC)
    error = next(line for line in extraction.lines if "undeclared" in line.text)
    warning = next(line for line in extraction.lines if "unused" in line.text)
    assert error.parent == warning.parent
    assert extraction.lines[error.parent or 0].text == "src/a.c: 2 findings, 1 severe"
    assert error.weight > warning.weight
    assert "Error 1" in kept(extraction)


def test_equal_findings_of_a_file_share_a_line_with_all_their_positions() -> None:
    extraction = read(TSC)
    assert "src/m1.ts:1:7, 3:7, 5:7, 7:7 error TS2554" in heavy(extraction)
    assert "8 findings in 2 files: TS2554 ×8" in heavy(extraction)


def test_tap_names_what_failed() -> None:
    extraction = read(TAP)
    assert extraction.key_data["failed"] == ["2 - closes the file"]
    assert "fail 1" in kept(extraction)


def test_a_failed_test_is_named_with_its_message() -> None:
    name = "tests/test_a.py::TestB::test_c[x y]"
    run = f"{name} FAILED [ 50%]\ntests/test_a.py::test_d PASSED [100%]\nFAILED {name} - assert 1 == 2\n1 failed, 1 passed in 0.10s\n"
    extraction = read(run)
    assert f"FAILED {name} - assert 1 == 2" in [line.text for line in extraction.lines]
    assert extraction.key_data["failed"] == [name]


def test_repeats_are_told_once_with_their_true_count() -> None:
    log = [
        f"2025-01-01 00:00:{at % 60:02} INFO served request {at} in {at % 7} ms"
        for at in range(500)
    ]
    log[250] = "2025-01-01 00:04:10 ERROR lost connection to db-7 after 3 tries"
    extraction = read("\n".join(log))
    served = next(line for line in extraction.lines if "served" in line.text)
    assert served.text.endswith("(and 498 lines like it)")
    assert "00:04:10 ERROR lost connection to db-7 after 3 tries" in heavy(extraction)


def test_line_numbers_are_those_of_the_content() -> None:
    extraction = read(JAVA)
    rows = JAVA.split("\n")
    for line in extraction.lines:
        number, colon, rest = line.text.partition(": ")
        if colon and number.isdigit():
            assert rest.split()[0] in rows[int(number) - 1]


def test_prose_and_code_are_not_taken_for_logs() -> None:
    assert logs.recognises(unittest.__doc__ or "") < 0.4
    assert logs.recognises("def f(x):\n    return x\n\nclass A:\n    pass\n" * 5) < 0.2


def test_a_line_that_calls_itself_information_is_no_error() -> None:
    extraction = read("INFO retry failed once, trying again\nERROR gave up\nINFO bye\n")
    assert extraction.key_data["errors"] == 1


def test_a_passing_test_in_a_folder_of_tests_is_no_total() -> None:
    passing = [f"tests/test_prices.py::test_gross[{at}] PASSED" for at in range(30)]
    log = logs.read("\n".join([*passing, "==== 30 passed in 0.11s ===="]))
    assert log.of("total") == [30]


def test_a_test_that_passed_is_no_error_whatever_it_is_about():
    passed = [
        f"\x1b[0;32mPASS\x1b[0m: login {n} with an invalid password returns 401" for n in range(40)
    ]
    text = "\n".join([*passed, "Test Results: 40 passed, 0 failed"])
    assert "error" not in logs.extract(unwrap.plain(text), ExtractionContext()).summary


def test_findings_in_a_folder_in_brackets_are_grouped_and_counted_once() -> None:
    line = "src/app/[id]/page.tsx({},98): error TS2304: Cannot find name 'x'."
    text = "\n".join(line.format(number) for number in (4, 9, 31, 9, 9))
    lines = [each.text for each in logs.extract(text, ExtractionContext()).lines]
    assert lines[:2] == [
        "3 findings in 1 file: TS2304 ×3",
        "src/app/[id]/page.tsx:4:98, 9:98, 31:98 error TS2304: Cannot find name 'x'.",
    ]
