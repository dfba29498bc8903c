"""What a line of a log, a test run or a build is: a failure, a place, a total, a frame.

Tables only. A sign's words are looked for first (they cost nothing), then its pattern. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, NamedTuple

Sign = Literal["frame", "failed", "place", "exit", "total", "error", "warning", "command", "plain"]


class SignRule(NamedTuple):
    """How a sign is recognised."""

    sign: Sign
    words: tuple[str, ...]
    """One of them stands in the line in lower case."""
    pattern: re.Pattern[str]


FAILED = re.compile(
    r"(?:\[\w+\] \[ *\d+%\] )?(?:FAILED|ERROR|FAIL) (?P<a>(?!\S+ \d[\d.]*m?s\s*$)(?=\S*(?:::|\.))\S++(?:(?<!\]) [^\]]{1,200}\])?)(?: +- (?P<why>.*))?"
    r"|(?P<b>(?=\S*::).{1,400}?) +(?:FAILED|ERROR)\b"
    r"|(?:FAIL|ERROR): (?P<c>\w++ \([\w.]++\).*)"
    r"|(?P<d>\w++ \([\w.]++\)) \.\.\. (?:FAIL|ERROR)"
    r"|\s*+--- FAIL: (?P<e>\S+)"
    r"|test (?P<f>\S+) \.\.\. FAILED"
    r"|\s*+not ok (?P<g>\d.*)"
    r"|\s*+● (?P<h>.+ › .+)"
    r"|\s*+[✕✗✘×] (?P<i>.+)"
    r"|FAIL(?!\s+\S+\s+\d[\d.]*m?s\s*$)\s+(?P<j>\S+)"
)
"""A failed test, its id whole in the one group that matched; `why` is its message."""
PLACE = re.compile(
    r"\s*+(?:\[?(?:ERROR|WARNING|WARN|error|warning)\]?:? +)?(?:CMake (?:Error|Warning) at )?"
    r"(?=[^\s:(\[]*[A-Za-z])(?=(?:[A-Za-z]:)?[^\s:(\[]*[./])(?P<file>(?:[A-Za-z]:(?=[\\/]))?(?:[^\s:(\[]|\[[\w.-]{1,40}\](?=[/.\\]))++)"
    r"[:(\[]{1,2}(?P<line>\d++)(?:[,:](?P<column>\d++))?[\])]{0,2}:?(?: - | +)(?P<rest>\S.*)"
)
UNDER_FILE = re.compile(r"\s++(?P<line>\d++):(?P<column>\d++) +(?P<rest>(?:error|warning)\b.*)")
"""A finding below the line that names its file."""
ARROW = re.compile(r"\s*+--> (?P<place>\S+:\d+:\d+)")
CODE = re.compile(
    r"\b[A-Z]{1,6}\d{2,5}\b|(?<=\[)[a-z][\w-]{2,60}(?=\]$)|(?<=  )[@a-z][\w@/-]{2,60}$"
)
EXIT = re.compile(
    r"(?i)\bexit(?:ed|ing)?(?: with| status| code){0,3}[ :=]{1,4}(-?\d+)\b"
    r"|\breturned? (?:code|non-zero exit status)[ :=]{0,4}(-?\d+)|^make.*\bError (\d+)"
)
TOTAL = re.compile(
    r"(?i)^[\s=#*\[\]>✖✔ℹ•-]*+(?:(?:error|info|warning)\]? +)?(?:"
    r"(?:tests?|test suites?|test files?|suites|snapshots|assertions|total|results?|summary|test result|ran"
    r"|finished|found|checked|duration|coverage|successfully|compiled)\b(?![/\\.]).{0,80}\d"
    r"|\d[\d,]* (?:passed|failed|passing|failing|pending|skipped|tests?|errors?|warnings?|problems?|failures?"
    r"|examples?|files? (?:changed|checked))\b"
    r"|(?:pass|fail):? \d|FAILED(?: \(.{0,200}\))?$|OK(?: \(.{0,200}\))?$|PASS$|FAIL$|BUILD \w+$|ok +\t?\S+\t[\d.]+s"
    r"|no tests ran|\d+ (?:passed|failed|skipped|errors?) in )"
    r"|^.{0,60}\b\d+ (?:errors?|warnings?) generated"
)
LEVEL = re.compile(
    r"^\W{0,9}(?:PASS(?:ED)?|[✓✔√])(?!\w)|\b(?:INFO|DEBUG|TRACE|NOTICE|VERBOSE|FINE)\b|level=(?:info|debug|trace)\b|\[(?:info|debug|trace|notice)\]"
)
ERROR = re.compile(
    r"\b(?:ERROR|FATAL|CRITICAL|SEVERE|PANIC|EMERG|ALERT|ERR)\b|level=(?:error|fatal|panic)"
    r"|^E {2,}\S"
    r"|(?i:\b(?:error|fatal|exception|panick?(?:ed)?|fail(?:ed|ure)?|cannot|can't|could not|unable to|denied|refused"
    r"|not found|undefined|timed out|timeout|killed|segmentation fault|aborted|unresolved|invalid|missing)\b)"
    r"|\w(?:Error|Exception)\b|错误|失败|异常|エラー|失敗|(?i:ошибка)"
)
WARNING = re.compile(r"(?i)\bwarn(?:ing)?s?\b|\bdeprecat|警告|\bW\d{4}\b")
COMMAND = re.compile(r"> +\S|(?:\$|\+{1,2}|❯|%) \S|\[?\$ |(?:\S+@\S+[:~]\S*[$#] )")

FRAME = re.compile(r"\s++File \"|\s++at .*(?::0|\)$)|\t\S+\.go:|\s*+0+: +0x|#0+ +")

TOTALS = """
pass fail pending skip test suite snapshot assertion total result summary ran finished found check
duration coverage success compiled error warning problem example ok build files
"""
ERRORS = """
err fail fatal crit severe panic emerg alert exce cannot can't could_not unable denied refused
not_found undefined timeout timed killed segm abort unresolved invalid missing  e__
错误 失败 异常 エラー 失敗 ошибка
"""


def _words(listed: str) -> tuple[str, ...]:
    return tuple(word.replace("_", " ") for word in listed.split())


SIGNS: tuple[SignRule, ...] = (
    SignRule("frame", ('file "', " at ", "\tat ", ".go:", " 0x", "#0"), FRAME),
    SignRule("failed", ("fail", "error", "not ok", "●", "✕", "✗", "✘", "×"), FAILED),
    SignRule("place", (":0", "(0", "[0"), PLACE),
    SignRule("place", (" error", " warning"), UNDER_FILE),
    SignRule("exit", ("exit", "return", "make"), EXIT),
    SignRule("total", _words(TOTALS), TOTAL),
    SignRule("error", _words(ERRORS), ERROR),
    SignRule("warning", ("warn", "deprec", "警告"), WARNING),
    SignRule("command", ("$ ", "> ", "+ ", "❯ ", "% "), COMMAND),
)
"""The first that holds names the line."""
PARTS = frozenset(part for rendered in SIGNS for word in rendered.words for part in word.split())
ANCHORED = frozenset({"frame", "failed", "place", "command"})
"""Signs whose pattern starts where the line starts."""


def signs_for(lines: Iterable[str]) -> tuple[SignRule, ...]:
    """Return the signs that some of the lines may have: those with a word among theirs."""
    held = "\n".join(set("\n".join(lines).lower().split()))
    there = {part for part in PARTS if part in held}
    found = (
        (rendered, tuple(word for word in rendered.words if there.issuperset(word.split())))
        for rendered in SIGNS
    )
    return tuple(rendered._replace(words=words) for rendered, words in found if words)


def sign_of(line: str, signs: tuple[SignRule, ...]) -> Sign:
    """Return the sign of a line whose digits are 0."""
    low = line.lower()
    for sign, words, pattern in signs:
        for word in words:
            if word in low:
                found = pattern.match(line) if sign in ANCHORED else pattern.search(line)
                if found:
                    return _leveled(line) if sign == "error" else sign
                break
    return "plain"


def _leveled(line: str) -> Sign:
    """A line that calls itself information, or a test that passed, is no error, whatever its words."""
    return "plain" if LEVEL.search(line[:80]) else "error"
