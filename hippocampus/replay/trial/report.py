"""The figures of a trial: solved tasks, calls, tokens, dollars, time and recalls, with significance tests.

Arithmetic on the record, over the pairs that have ended.
"""

from __future__ import annotations

from math import ceil, comb, sqrt
from typing import Any

from hippocampus.formats.usage import Usage
from hippocampus.replay.intervals import bootstrap
from hippocampus.replay.trial import record as records
from hippocampus.replay.trial.record import RAW, VIEW, Attempt, Task, dollars_of
from hippocampus.replay.trial.running import usage_in

DISCORDANT = 0.2
"""The assumed share of pairs with different success, for the number of pairs needed."""
NORMAL = (1.959964, 0.841621)
"""Quantiles for a two-sided significance level of 5 percent and a power of 80 percent."""


def pairs_needed(points: float = 5.0, discordant: float = DISCORDANT) -> int:
    """Return the number of pairs that McNemar's test needs to find a difference in percentage points.

    Connor (1987): (z₁√p + z₂√(p - d²))² / d², with p the share of pairs that differ.

    >>> pairs_needed()
    626
    """
    alarm, power = NORMAL
    share = points / 100
    return ceil((alarm * sqrt(discordant) + power * sqrt(discordant - share**2)) ** 2 / share**2)


def mcnemar(only_one: int, only_other: int) -> float:
    """Return the exact two-sided p-value, given the numbers of pairs that only one side solved.

    >>> mcnemar(5, 0)
    0.0625
    """
    total, fewer = only_one + only_other, min(only_one, only_other)
    tail = sum(comb(total, number) for number in range(fewer + 1))
    return min(1.0, float(2 * tail / 2**total))


def report(record: records.TrialRecord, tasks: list[Task]) -> dict[str, Any]:
    """Return the figures of both conditions over the pairs that have ended, and their comparison."""
    found = [
        {condition: record.attempts[records.name_of(task, condition)] for condition in (RAW, VIEW)}
        for task in tasks
    ]
    ended = [pair for pair in found if all(attempt.ended for attempt in pair.values())]
    solved = [(_is_solved(pair[RAW]), _is_solved(pair[VIEW])) for pair in ended]
    only_raw, only_view = solved.count((True, False)), solved.count((False, True))
    raw, view = ([dollars_of(pair[name]) for pair in ended] for name in (RAW, VIEW))
    cost = [round(100 * share, 1) for share in bootstrap(view, raw)] if sum(raw) else None
    return {
        "pairs": len(ended),
        "of": len(tasks),
        "pairs_needed": pairs_needed(),
        "conditions": {name: _figures([pair[name] for pair in ended]) for name in (RAW, VIEW)},
        "solved_by_raw_alone": only_raw,
        "solved_by_view_alone": only_view,
        "mcnemar_p": mcnemar(only_raw, only_view),
        "cost_percent": cost,
        "dollars": round(record.dollars, 4),
    }


def _is_solved(attempt: Attempt) -> bool:
    return bool(attempt.ended and attempt.ended.solved)


def _figures(attempts: list[Attempt]) -> dict[str, Any]:
    answers = [answer for attempt in attempts for answer in attempt.answers]
    usage = sum((usage_in(answer["answer"]) for answer in answers), Usage())
    ends = [attempt.ended for attempt in attempts if attempt.ended]
    return {
        "solved": sum(map(_is_solved, attempts)),
        "calls": len(answers),
        "input_tokens": usage.context_tokens,
        "cached_tokens": usage.cache_read_tokens,
        "output_tokens": usage.output_tokens,
        "dollars": round(sum(map(dollars_of, attempts)), 4),
        "unpriced_calls": sum(answer["dollars"] is None for answer in answers),
        "seconds": round(sum(end.seconds for end in ends), 1),
        "recalls": sum(end.recalls for end in ends),
        "refused": sum(end.reason.startswith("refused") for end in ends),
        "out_of_calls": sum(end.reason == "calls" for end in ends),
    }
