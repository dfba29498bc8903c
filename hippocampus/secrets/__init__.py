"""The spans of secrets in a text: the one detector of redaction, facts and consolidation. Pure.

The caller decides what happens to a text with a secret. Texts are read as written and decoded
(JSON escapes, entities, percent encoding, base64). A secret is known by the form that its issuer
gave it, by a header or an address, by the name of a setting, or by a sentence.
"""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from hippocampus.patterns import PatternError, searchable
from hippocampus.secrets import issued, spoken
from hippocampus.secrets.encodings import compiled, layers, matches

LEFT_OUT = "[{} left out]"
"""The replacement of a secret, with its kind."""
KINDS = (
    "a private key",
    "an API key or token",
    "a credential",
    "a credential in an address",
    "a password",
    "a passphrase",
    "a payment card's number",
    "a text that was not searched in time",
)
PRIVATE_KEY, ISSUED_KEY, CREDENTIAL, IN_ADDRESS, PASSWORD, PASSPHRASE, CARD_NUMBER, UNSEARCHED = (
    KINDS
)
_REPLACED = re.compile(rf"\[({'|'.join(KINDS)}) left out\]")


class MarkedSpan(NamedTuple):
    """A span of a text, with the kind of secret in it, or with its replacement."""

    start: int
    end: int
    label: str


def find(text: str, *, cards: bool = False) -> list[MarkedSpan]:
    """Return the secrets of a text in order, without overlaps; with `cards`, the numbers of payment cards too."""
    return spans(text, find_as_written, find_cards) if cards else spans(text, find_as_written)


def redacted(text: str) -> str:
    """Return a text with the kind of each secret in its place.

    >>> redacted("Ann works at IBM. Her password is hunter2!")
    'Ann works at IBM. Her password is [a password left out]!'
    """
    return replaced(text, LEFT_OUT)


def replaced(text: str, replacement: str) -> str:
    """Return a text with a replacement for each secret; `{}` in it is the kind."""
    found = find(text, cards=True)
    return with_labels(text, (one._replace(label=replacement.format(one.label)) for one in found))


def kinds_in(text: str) -> str:
    """Return the kinds of secrets that a text has, or had, as words; empty if it has none."""
    kinds = [*_REPLACED.findall(text), *(one.label for one in find(text, cards=True))]
    return " and ".join(dict.fromkeys(kinds))


def names_secret(text: str) -> bool:
    """Return whether a text has a word for a secret, whatever the value looks like.

    >>> names_secret("Das Admin-Passwort lautet Rose"), names_secret("a brass monkey")
    (True, False)
    """
    return spoken.NAMED.search(text) is not None


def spans(text: str, *finders: Callable[[str], Iterable[tuple[int, int, str]]]) -> list[MarkedSpan]:
    """Return what finders find in a text, in order and without overlaps.

    The text is searched as written and with its encodings decoded, as models and our readers decode
    escapes. An encoded part is found whole. Without RE2 a search may not end in time: then all of it is.
    """
    found: list[MarkedSpan] = []
    try:
        for layer in layers(text):
            plain = searchable(layer.text)
            in_layer = chain.from_iterable(find(plain) for find in finders)
            found += (
                MarkedSpan(*layer.source(start, end), label) for start, end, label in in_layer
            )
    except PatternError:
        return [MarkedSpan(0, len(text), UNSEARCHED)]
    found.sort(key=lambda one: (one.start, -one.end))
    kept: list[MarkedSpan] = []
    for one in found:
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
        elif one.end > kept[-1].end:
            kept[-1] = kept[-1]._replace(end=one.end)
    return kept


def with_labels(text: str, marked: Iterable[MarkedSpan]) -> str:
    """Return a text with the labels of spans, which are in order, in place of the spans."""
    pieces, end = [], 0
    for one in marked:
        pieces += [text[end : one.start], one.label]
        end = one.end
    return "".join([*pieces, text[end:]])


PLACEHOLDER = re.compile(
    r"(?i)^(?:[\[<({$%*#!\\/.:^~>=-]|x{3,}|\.{2,}|your|my[_-]|example|change|replace|insert|placeholder|todo|dummy"
    r"|redacted|(?:none|null|nil|true|false|undefined|string|str|required|optional)\b|https?:)"
    r"|passw(?:or)?d"
)
"""What documents write where a secret belongs."""
IDENTIFIER = re.compile(
    r"^[a-z]+\d{0,2}(?:[_:|-](?:[a-z]+\d{0,2}|\d{1,3}))+[.,:]?$|^[a-z]+(?:[A-Z][a-z]+)+$"
)
"""Words that are joined as a program's names are."""
FORMS: tuple[tuple[tuple[str, ...], str, Callable[[str], bool]], ...] = (
    ((issued.PRIVATE_KEY,), PRIVATE_KEY, lambda _: True),
    (issued.DISTINCT, ISSUED_KEY, lambda _: True),
    (issued.SIGNED, ISSUED_KEY, lambda _: True),
    ((issued.PREFIXED,), ISSUED_KEY, issued.is_random),
    (
        issued.HEADERS,
        CREDENTIAL,
        lambda value: not value.isalpha() and not IDENTIFIER.search(value),
    ),
    (
        issued.ADDRESSES,
        IN_ADDRESS,
        lambda value: (
            not PLACEHOLDER.search(value) and value.casefold() not in {"password", "passwd", "pass"}
        ),
    ),
)
"""Expressions, the kind of their matches, and the check of a match.

They are searched one by one: in one alternation, a form that is open until the end of a long line
would be followed there again after every match of another.
"""


def find_as_written(plain: str) -> Iterator[MarkedSpan]:
    """Yield the secrets of a searchable text without decoding it; some may overlap."""
    for patterns, kind, holds in FORMS:
        for match in chain.from_iterable(matches(pattern, plain) for pattern in patterns):
            start, end = match.span(match.lastindex or 0)
            if holds(plain[start:end]):
                yield MarkedSpan(start, end, kind)
    # The values that follow the name of a secret: in a setting, in a list, on its line, below it in a table.
    for pattern in SETTINGS:
        for match in matches(pattern, plain):
            start, end = match.span(match.lastindex)
            name = plain[slice(*match.span(1))]
            if _is_value(name, plain[start:end], quoted=plain[start - 1] in "\"'`>"):
                yield MarkedSpan(start, end, PASSWORD if STRONG.search(name) else CREDENTIAL)
    for match in chain.from_iterable(matches(pattern, plain) for pattern in LISTED):
        name, listed = (plain[slice(*match.span(group))] for group in (1, 2))
        if issued.is_mixed(listed) or (STRONG.search(name) and listed[0] in "\"'"):
            start = match.start(2)
            yield MarkedSpan(start, start + len(listed.rstrip()), CREDENTIAL)
    yield from _on_lines(plain)
    yield from _in_columns(plain)
    yield from (MarkedSpan(*span) for span in spoken.values(plain, compiled(spoken.HINTS).search))


# The values of settings: of a name in a setting, in a list, on its line, or at the head of a column


_KEYS = (
    "api|app|access|account|admin|auth|client|consumer|deploy|encryption|license|master|preshared|private|secret"
    "|service|shared|signing|storage|subscription|webhook"
)
NAME = (
    rf"(?:passw(?:or)?d|passphrase|passcode|passwort|kennwort|\bpw|pwd|psk|secret|token|credential|(?:{_KEYS})[ ._-]?key|\w_salt"
    rf"|\b_?auth|\bDSN|(?:become|db|ftp|imap|key|mail|root|smtp|ssh|store|sudo|user)[_-]?pass"
    r"|(?-i:[A-Z\d]_(?:AUTH|KEY|PASS|PAT)))"
)
_END = r"(?:[ _-]?(?:access|base|data|key|id|value|string|token|hash|base64|b64|hex|prod|production|dev|staging|test|live|\d{1,3}))*"
_QUOTES = r"""(?:""([^"\n]{4,}?)""|[bN]?"((?:[^"\\\n]|\\.){4,}?)"|[bN]?'((?:[^'\\\n]|\\.){4,}?)'|`([^`\n]{4,}?)`|([^\s"'`,;]{5,}))"""
SETTINGS = (
    # password = "x", "password": "x", PASSWORD=x, password => x, ""x"" in CSV, apiKey: String = "x"
    rf"""(?i)({NAME}{_END})s?["'`\])]{{0,3}}(?:: ?\w{{3,12}}\s)?\s*(?:=>|[:?]?={{1,3}}|:)\s*(?:[|>][+-]?\n\s+)?{_QUOTES}""",
    # - name: DB_PASSWORD\n  value: x, {"name": "db-password", "value": "x"}, key="DbPassword" value="x"
    rf"""(?i)\b(?:name|key)["']?\s*[:=]\s*["']?[\w.-]*?({NAME}{_END})s?["']?[\s,]+["']?value["']?\s*[:=]\s*{_QUOTES}""",
    # a field of a form: name="password", an empty line, x
    rf"""(?i)\bname="[\w.-]*?({NAME}{_END})s?"\r?\n\r?\n{_QUOTES}""",
    # --password x
    rf"""(?i)(?:^|\s)--?[a-z-]*({NAME}{_END})s? +{_QUOTES}""",
    # <password>x</password>, <key>Password</key><string>x</string>, <string name="api_key">x</string>
    rf"""(?i)<(?:key>|\w+ name=["'])?[\w.:-]*({NAME}{_END})["']?(?:</key>\s*<string)?>([^<\s]{{4,}})</""",
)
"""RE2: the name of a setting, and in further groups its value."""
_CELL = rf"[\w .-]*?({NAME}{_END})s?"
COLUMN = rf"""(?im)(?:^|[\t|,;]|  )[ "'`*]*{_CELL}["'`*]*(?: *[\t|,;\r]|  | *$)"""
"""RE2: the name of a setting as a cell of a table."""
CELL, HEAD = re.compile(f"(?i){_CELL}"), re.compile(r"[^\W\d][\w .#-]{0,60}")
"""Such a name at the head of a column, and any; a line of a program has other signs too."""
ROW, AROUND = re.compile(r".*\n?"), " \t\r\n\"'`*"
BARS = str.maketrans("│┃\ufeff", "|| ")
"""Lines of boxes, and the mark before a first line, as characters of the same width."""
QUOTED_CELL = re.compile(r'(?<![^\t|,;])"[^"\n]*"')
"""A cell that may have the table's separator in it."""
LISTED = (
    rf"""(?i)({NAME}{_END})s?["']?\s*[:=]\s*\[\s*((?:["'][^"'\n]+["'],?\s*)+)\]""",
    rf"""(?i)({NAME}{_END})s?["']?:\s*\n((?:[ \t]*- ["']?[^\s"']+["']?\r?\n?)+)""",
)
"""Several values under one name, as JSON and YAML list them."""
NAMED = rf"(?i)({NAME}{_END}|pass)s?(?:\\?[^\\\w]|\\|$)"
"""RE2: the name of a setting, wherever it ends a word."""
LINE = re.compile(r".{0,200}\S{0,100}(?:(?<=[\[{(:=])\n.{0,200})?")
"""Where a value may be: the rest of a name's line, and the next one where a sign opens it."""
VALUE = re.compile(r"""(?<![\w+/.-])\w[^\s"'`,;<>|()\[\]\\=&]{7,}={0,2}""")
STRONG = re.compile(r"(?i)pass|pwd|kennwort")
"""Names with values that are secret whatever they look like."""
CODE = re.compile(r"[()\[\]{}<>|]|=>|::|\.\w+\.|^[A-Za-z_]\w*\.[A-Za-z_]\w*$|^[A-Za-z_][a-zA-Z_]*$")
"""A value of a program: a call, an index, an attribute, a type, a name without digits."""
CALL = re.compile(r"\($|\(.*\)|::|^\w+\.\w+\.")
FORM = re.compile(r"a-z|\d\.\d|\d{4}-\d\d-\d\d|/|\.\w*\.|::|%\d|@[\w-]+\.|kwD|^0x|^[\da-fA-F-]+$")
"""A class of characters, a version, a date, a path, an address of mail or in memory, an id of GitHub's, a hash."""
MIN_VALUE, MIN_CELL, MAX_LETTERS_A_CHANGE = 8, 4, 3
MIN_PASSWORD, MIN_KEY = 10, 12
"""By kind of name, the least length of a value without other signs than letters and digits."""


def _is_value(name: str, value: str, *, quoted: bool) -> bool:
    """Return whether the value of a setting is a secret rather than code or a placeholder."""
    if PLACEHOLDER.search(value) or value.casefold().strip(".") in spoken.PLAIN:
        return False
    if not quoted and (CALL if name.isupper() else CODE).search(value):
        return False
    if STRONG.search(name):
        return not IDENTIFIER.search(value)
    return (
        len(value) >= MIN_VALUE
        and " " not in value
        and issued.is_mixed(value)
        and not IDENTIFIER.search(value)
    )


def _is_unlike_code(value: str, min_dense: int) -> bool:
    """Return whether a value mixes letters and digits, and is no name, path, hash or amount of a program.

    With another sign in it any is a value, else one of `min_dense` characters that change often.
    """
    if not issued.is_mixed(value) or FORM.search(value) or IDENTIFIER.search(value):
        return False
    has_sign = re.search(r"[^\w./\\:%*-]", value) is not None
    is_dense = len(value) >= min_dense and MAX_LETTERS_A_CHANGE * issued.changes(value) > len(value)
    return (has_sign or is_dense) and not PLACEHOLDER.search(value)


def _on_lines(plain: str) -> Iterator[MarkedSpan]:
    """Yield the values that are unlike code on a line with a name: `setPassword("x")`, `| Password | x |`."""
    done = 0
    for name in matches(NAMED, plain):
        line = LINE.match(plain, max(done, name.end(1)))
        is_password = STRONG.search(plain[slice(*name.span(1))]) is not None
        for value in VALUE.finditer(plain, line.start(), done := line.end()) if line else ():
            text = value[0].rstrip(".:?})")
            if _is_unlike_code(text, MIN_PASSWORD if is_password else MIN_KEY):
                end = value.start() + len(text.rstrip("!"))
                yield MarkedSpan(value.start(), end, PASSWORD if is_password else CREDENTIAL)


def _in_columns(plain: str) -> Iterator[MarkedSpan]:
    """Yield the values of a table below the name of a secret; a row may end before its last cell."""
    done, plain = 0, plain if plain.isascii() else plain.translate(BARS)
    for found in matches(COLUMN, plain):
        if found.start() < done:
            continue
        start = plain.rfind("\n", 0, found.end() - 1) + 1
        above = plain[plain.rfind("\n", 0, max(0, start - 1)) + 1 : start]
        rows = ROW.finditer(plain, start)
        head, done = (first := next(rows))[0], first.end()
        sign = max("\t|,;", key=head.count)
        starts = _starts(head, sign)
        cells = [head[at:end].strip(AROUND) for at, end in _cells(head, sign, starts)]
        # A row of values may have the word too: a head has names only, and no row of as many cells above it.
        named = all(HEAD.fullmatch(cell) for cell in cells if cell or sign != "|")
        if (
            not named
            or len(cells) < 2
            or len(cells) == len([*_cells(above, sign, _starts(above, sign))])
        ):
            continue
        names = {at: match[1] for at, cell in enumerate(cells) if (match := CELL.fullmatch(cell))}
        for row in itertools.takewhile(lambda row: row[0].strip(), rows):
            done = row.end()
            for number, (at, end) in enumerate(_cells(row[0], sign, starts)):
                name, value = names.get(number), row[0][at:end].strip(AROUND)
                is_whole = len(value) >= MIN_CELL and (
                    " " not in value or any(map(issued.is_mixed, value.split()))
                )
                if name and is_whole and _is_value(name, value, quoted=False):
                    begin = row.start() + row[0].find(value, at)
                    kind = PASSWORD if STRONG.search(name) else CREDENTIAL
                    yield MarkedSpan(begin, begin + len(value), kind)


def _starts(head: str, sign: str) -> list[int]:
    """Return where the words of a table's head start, unless a sign parts its cells."""
    if sign in head or "  " not in head.strip():
        return []
    return [0, *(gap.end() for gap in re.finditer(r"(?<=\S)  +(?=\S)", head))]


def _cells(line: str, sign: str, starts: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield where the cells of a table's line are: below the words of its head, or between its signs."""
    if starts:
        # A head may have thousands of words, and as many lines below it may be short.
        within = starts[: bisect.bisect_left(starts, len(line))]
        yield from itertools.pairwise([*within, len(line)])
    else:
        masked = QUOTED_CELL.sub(lambda cell: cell[0].replace(sign, "_"), line)
        ends = [place.start() for place in re.finditer(re.escape(sign), masked)]
        yield from zip([0, *(end + 1 for end in ends)], [*ends, len(line)], strict=True)


# The numbers of payment cards


CARD = (
    r"(?:^|[^\w.,+/-]|[:=]-?)((?:4\d{3}|5[1-5]\d{2}|2[2-7]\d{2}|3[0689]\d{2}|6[0245]\d{2})"
    r"(?:\d{9,15}|(?: \d{4}){3}(?: \d{3})?|(?:-\d{4}){3}(?:-\d{3})?)"
    r"|3[47]\d{2}(?:\d{11}| \d{6} \d{5}|-\d{6}-\d{5}))(?:$|[^\w.,%/-]|[.,](?:\s|$))"
)
"""RE2: a number of an issuer, in its usual groups or without, that is no part of a longer number."""


def find_cards(plain: str) -> Iterator[MarkedSpan]:
    """Yield the numbers of payment cards in a searchable text: of an issuer's form, with a valid check digit."""
    for match in matches(CARD, plain):
        if is_card(plain[slice(*match.span(1))]):
            yield MarkedSpan(match.start(1), match.end(1), CARD_NUMBER)


def is_card(text: str) -> bool:
    """Return whether digits have the check digit of a payment card (Luhn, ISO/IEC 7812-1).

    >>> is_card("4111 1111 1111 1111"), is_card("4111 1111 1111 1112")
    (True, False)
    """
    digits = [int(digit) for digit in reversed(text) if digit.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[1::2]]
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0
