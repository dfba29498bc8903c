"""The figures of a trial: solved tasks, calls, tokens, dollars, time and recalls, with significance tests.

Arithmetic on the record, over the pairs that have ended.
"""

from __future__ import annotations

from math import comb
from typing import Any

from hippocampus.formats.usage import Usage
from hippocampus.replay.intervals import bootstrap
from hippocampus.replay.readers.raw import reported_usage
from hippocampus.replay.trial.record import RAW, VIEW, Attempt, Task, TrialRecord

PAIRS_NEEDED = 626
"""The pairs that McNemar's test needs to find a difference of 5 points, by Connor (1987).

(z₁√p + z₂√(p - d²))² / d² with d = 0.05, a share p = 0.2 of pairs that differ, and z = 1.959964 and
0.841621: a two-sided significance level of 5 percent, a power of 80 percent."""


def mcnemar(only_one: int, only_other: int) -> float:
    """Return the exact two-sided p-value, given the numbers of pairs that only one side solved.

    >>> mcnemar(5, 0)
    0.0625
    """
    total, fewer = only_one + only_other, min(only_one, only_other)
    tail = sum(comb(total, number) for number in range(fewer + 1))
    return min(1.0, float(2 * tail / 2**total))


def report(record: TrialRecord, tasks: list[Task]) -> dict[str, Any]:
    """Return the figures of both conditions over the pairs that have ended, and their comparison."""
    found = ([record.attempts[f"{task.name}-{name}"] for name in (RAW, VIEW)] for task in tasks)
    ended = [pair for pair in found if all(attempt.ended for attempt in pair)]
    solved = [tuple(bool(one.ended and one.ended["solved"]) for one in pair) for pair in ended]
    only_raw, only_view = solved.count((True, False)), solved.count((False, True))
    raw, view = ([pair[at].dollars for pair in ended] for at in (0, 1))
    cost = [round(100 * share, 1) for share in bootstrap(view, raw)] if sum(raw) else None
    return {
        "pairs": len(ended),
        "of": len(tasks),
        "pairs_needed": PAIRS_NEEDED,
        "conditions": {
            name: _figures([pair[at] for pair in ended]) for at, name in enumerate((RAW, VIEW))
        },
        "solved_by_raw_alone": only_raw,
        "solved_by_view_alone": only_view,
        "mcnemar_p": mcnemar(only_raw, only_view),
        "cost_percent": cost,
        "dollars": round(record.dollars, 4),
    }


def _figures(attempts: list[Attempt]) -> dict[str, Any]:
    answers = [answer for attempt in attempts for answer in attempt.answers]
    reported = filter(None, (reported_usage(answer["answer"]) for answer in answers))
    usage = sum(reported, Usage())
    ends = [attempt.ended for attempt in attempts if attempt.ended]
    return {
        "solved": sum(end["solved"] for end in ends),
        "calls": len(answers),
        "input_tokens": usage.context_tokens,
        "cached_tokens": usage.cache_read_tokens,
        "output_tokens": usage.output_tokens,
        "dollars": round(sum(attempt.dollars for attempt in attempts), 4),
        "unpriced_calls": sum(answer["dollars"] is None for answer in answers),
        "seconds": round(sum(end["seconds"] for end in ends), 1),
        "recalls": sum(end["recalls"] for end in ends),
        "refused": sum(end["reason"].startswith("refused") for end in ends),
        "out_of_calls": sum(end["reason"] == "calls" for end in ends),
    }
