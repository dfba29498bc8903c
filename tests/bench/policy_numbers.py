"""What another value of each number of `default` would do, chosen with one owner left out.

    python -m tests.bench.policy_numbers PATH...

The constants of `session/turn_rules.py`, which no policy sets, are tried after them.

An owner is a folder with the part of a file's name before `+` or `__`. For each number and owner, the
value is chosen that costs least on the other owners (mean of their shares of the whole list's cost),
hides at most 0.2 points more of their values and 0.5 of their lines; what it costs the owner that was
left out is in the table. Two seconds a value and a million tokens.
"""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from hippocampus import policy, prices
from hippocampus.policy import Policy
from hippocampus.replay.measure import CacheModel, Script, measure
from hippocampus.replay.our_strategy import fresh_session
from hippocampus.replay.readers import find_files, read_file
from hippocampus.replay.strategies import send_everything
from hippocampus.replay.summary import SAME_LINES, SAME_VALUES
from hippocampus.session.turn_rules import CONSTANTS

PRICES = prices.TABLES["anthropic-5m"]
CACHE = CacheModel(PRICES, "ours")
DEFAULT = policy.load("default")
CHEAPER = 0.05
"""In points: by how much a value has to be cheaper."""
NUMBERS: dict[str, tuple[object, ...]] = {
    "index_over_tokens": (500, 2_000),
    "bulk_over_tokens": (300, 1_000),
    "records_over_tokens": (200, 700),
    "arguments_over_tokens": (150, 600),
    "smallest_gain_share": (0.25, 0.7),
    "fresh_turns": tuple(
        {**DEFAULT.fresh_turns, kind: turns}
        for kind, turns in [("code", 16), ("prose", 16), ("text", 0), ("config", 5), ("diff", 2)]
    ),
    "fresh_up_to_tokens": (5_000, 30_000),
    "read_turns": (4, 16),
    "fade_over_tokens": (0, 400),
    "faded_tokens": (40, 160),
    "fade_below": (0.4, 0.6),
    "sleep_below": (0.1, 0.3),
    "digest_below": (0.08, 0.19),
    "stake": (0.03, 0.25),
    "exponent": (0.7, 1.4),
    "mention_strength": (0.1, 0.6),
}


FIXED: dict[str, tuple[object, ...]] = {
    "chance_of_use": (0.25, 1.0),
    "risky_turns": (15, 60),
    "roomy_share": (0.5, 0.9),
    "faded_part": (2, 5),
    "sleeping_part": (8, 30),
    "sleeping_more_tokens": (150, 600),
    "min_saved_tokens": (1_000, 4_000),
    "limit_share": (1 / 8, 1 / 2),
    "outcome_part": (5, 20),
    "outline_part": (4, 9),
    "shown_share": (1 / 3, 1),
    "digest_share": (1 / 6, 1 / 4),
    "steps_share": (0.3, 0.7),
    "read_share": (1 / 6, 1 / 3),
    "whole_turns": (16, 20, 32),
}


class Sums(NamedTuple):
    """The sums of an owner's recordings under one policy."""

    raw: float = 0.0
    cost: float = 0.0
    uses: int = 0
    hidden: int = 0
    line_uses: int = 0
    hidden_lines: int = 0


class Shares(NamedTuple):
    """What owners pay and see, in percent."""

    cost: float
    values: float
    lines: float


def owner_of(path: Path) -> str:
    """Return the owner of a recording's file."""
    return f"{path.parent.name}/{re.split('[+]|__', path.name)[0]}"


def measured(
    recordings: Sequence[tuple[str, Script, float]], policy_now: Policy
) -> dict[str, Sums]:
    """Return the sums of each owner under a policy."""
    found: defaultdict[str, Sums] = defaultdict(Sums)
    for owner, script, raw in recordings:
        with fresh_session(policy_now, PRICES, "ours") as session:
            result = measure(script, session, model=CACHE)
        calls = result.calls
        one = Sums(
            raw,
            result.cost(PRICES),
            sum(each.uses for each in calls),
            sum(len(each.hidden) for each in calls),
            sum(each.line_uses for each in calls),
            sum(len(each.hidden_lines) for each in calls),
        )
        found[owner] = Sums(*map(sum, zip(found[owner], one, strict=True)))
    return found


def shares(sums: Iterable[Sums]) -> Shares:
    """Return the mean cost of owners, and the values and lines that all their calls see."""
    each = list(sums)
    uses, hidden = sum(one.uses for one in each), sum(one.hidden for one in each)
    lines, lost = sum(one.line_uses for one in each), sum(one.hidden_lines for one in each)
    return Shares(
        100 * sum(one.cost / one.raw for one in each) / len(each),
        100 - 100 * hidden / max(1, uses),
        100 - 100 * lost / max(1, lines),
    )


def chosen(values: dict[str, dict[str, Sums]], others: Sequence[str]) -> str:
    """Return the value that is best for some owners; the first is that of `default`."""
    found = {name: shares(sums[owner] for owner in others) for name, sums in values.items()}
    best, *_ = values
    own = found[best]
    for name, share in found.items():
        hides = own.values - share.values > SAME_VALUES or own.lines - share.lines > SAME_LINES
        if not hides and share.cost < found[best].cost - CHEAPER:
            best = name
    return best


def changed(
    recordings: Sequence[tuple[str, Script, float]], name: str, value: object
) -> dict[str, Sums]:
    """Return the sums of each owner under another value of a number."""
    if name not in FIXED:
        return measured(recordings, DEFAULT.model_copy(update={name: value}))
    own = getattr(CONSTANTS, name)
    object.__setattr__(CONSTANTS, name, value)
    try:
        return measured(recordings, DEFAULT)
    finally:
        object.__setattr__(CONSTANTS, name, own)


def rows(recordings: Sequence[tuple[str, Script, float]]) -> Iterator[str]:
    """Yield a line of the table for each number."""
    base = measured(recordings, DEFAULT)
    yield f"{len(base)} owners, now {' / '.join(f'{each:.2f}' for each in shares(base.values()))}\n"
    yield "| number | chosen, by owners | left-out cost / values / lines |\n|---|---|--:|"
    for name, others in (NUMBERS | FIXED).items():
        values = {f"{getattr(CONSTANTS if name in FIXED else DEFAULT, name)}": base}
        for value in others:
            values[f"{value}"] = changed(recordings, name, value)
        picked = {
            owner: chosen(values, [other for other in base if other != owner]) for owner in base
        }
        left_out = shares(values[value][owner] for owner, value in picked.items())
        counts = ", ".join(f"{value} ×{n}" for value, n in Counter(picked.values()).most_common())
        yield f"| `{name}` | {counts} | {' / '.join(f'{each:.2f}' for each in left_out)} |"


def main(paths: Sequence[str]) -> None:
    """Print the table."""
    recordings = [
        (owner_of(path), script, measure(script, send_everything(), model=CACHE).cost(PRICES))
        for path in find_files([Path(each) for each in paths])
        for script in map(Script, read_file(path))
    ]
    for row in rows(recordings):
        print(row, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or ["examples/transcripts"])
