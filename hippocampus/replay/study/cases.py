"""Prepares the cases of a study: each moment under each condition, and recalls against it.

Conditions that show a reader the same share one case: it is read and judged once for all of them.
"""

from __future__ import annotations

import contextlib
import itertools
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from hippocampus import policy as policies
from hippocampus import prices as price_tables
from hippocampus import recall
from hippocampus.errors import PolicyError, RecallError, RecordingError
from hippocampus.formats.conversation import Item
from hippocampus.formats.reader import Reading, read, read_on
from hippocampus.memory import Hippocampus
from hippocampus.models import tokens
from hippocampus.recall import answers, pending
from hippocampus.replay.managed import offline
from hippocampus.replay.measure import ViewFunction
from hippocampus.replay.readers import find_files, read_file
from hippocampus.replay.recording import Recording
from hippocampus.replay.strategies import offload_on_arrival, send_everything
from hippocampus.replay.study import transcript
from hippocampus.replay.study.folder import (
    OFFLOAD,
    RAW,
    Moment,
    StudyCase,
    StudyFolder,
    StudySettings,
)
from hippocampus.replay.study.moments import choose, short_id
from hippocampus.session.session import Session

BASELINES: dict[str, Callable[[], ViewFunction]] = {
    RAW: send_everything,
    OFFLOAD: offload_on_arrival,
}
RECALL_TOKENS = 2_000
"""The slice of one recall of an offloaded result."""
OFFLOADED = (
    "Read stored content. A tool result that ends with [offloaded: …] is the beginning of a longer "
    "one, which is stored in full; request the part you need by the id of its call as entry_id, "
    "and by line numbers, by a regular expression, by a path or by words."
)


def conditions(settings: StudySettings) -> dict[str, str]:
    """Return the policy by condition, empty for the baselines; the whole list is always the first.

    Raises:
        PolicyError: two conditions have the same name, one to compare with is not known, or a moment
            has more readings than a judge has letters.

    """
    unknown = [each for each in settings.against if each not in BASELINES]
    if unknown:
        raise PolicyError([f"no condition {unknown[0]!r}; there are {', '.join(BASELINES)}"])
    named = dict.fromkeys((RAW, *settings.against), "")
    for each in settings.policies:
        if Path(each).stem in named:
            raise PolicyError([f"two conditions are named {Path(each).stem!r}; rename a policy"])
        named[Path(each).stem] = each
    if len(named) * settings.readings > len(ascii_uppercase):
        raise PolicyError([f"a judge compares at most {len(ascii_uppercase)} readings of a moment"])
    return named


def prepare(
    folder: StudyFolder, settings: StudySettings, skipped: Callable[[str], None]
) -> Iterator[Moment]:
    """Choose the moments and make their cases, and yield each moment as it is done.

    What an earlier run has made is not made again.

    Raises:
        RecordingError: no session has a fitting moment.

    """
    if not folder.moments:
        chosen = choose(find_files(settings.paths), settings, skipped)
        if not chosen:
            reason = f"no session has a fitting moment within {settings.window} tokens"
            raise RecordingError(", ".join(settings.paths), reason)
        folder.add(moments=chosen)
    for moment in folder.moments:
        if not folder.cases[moment.id]:
            found = (each for each in read_file(moment.path) if each.name == moment.recording)
            recording = next(found, None)
            if recording is None:
                reason = f"the conversation {moment.recording!r} is gone"
                raise RecordingError(moment.path, reason)
            folder.add(cases=_cases(folder, settings, moment, recording, skipped))
        yield moment


def _cases(
    folder: StudyFolder,
    settings: StudySettings,
    moment: Moment,
    recording: Recording,
    skipped: Callable[[str], None],
) -> list[StudyCase]:
    """Call each strategy before each answer up to the moment, as a host would, and keep its last view."""
    messages = read(recording.messages)
    starts = [*itertools.accumulate((len(each.raw) for each in messages), initial=0)]
    answered = [at for at, each in enumerate(messages) if each.role == "assistant"]
    whole = recording.messages[: starts[answered[moment.call]]]
    leading = "\n".join(text for each in messages[: answered[0]] for text in each.texts())
    recorded_tools = transcript.tools_of(recording, messages)
    prices = price_tables.model_prices(settings.model)
    cases: list[StudyCase] = []
    for condition in conditions(settings):
        case_id = short_id(str(settings.seed), moment.id, condition)
        state = folder.path / "states" / case_id
        shutil.rmtree(state, ignore_errors=True)
        with _strategy(settings, condition, state) as strategy:
            reading, view = Reading(), list[Item]()
            for at in answered[: moment.call + 1]:
                view = strategy(recording.messages[: starts[at]])
                reading = read_on(reading, view)
            if isinstance(strategy, Session) and strategy.failures:
                skipped(f"case {case_id}: {strategy.failures} calls failed inside")
        weights = list(map(tokens.count_message, reading.messages))
        cost = prices.call_cost(sum(weights[: reading.kept]), sum(weights))
        tools = recorded_tools
        if view != whole:
            text = OFFLOADED if condition == OFFLOAD else recall.DESCRIPTION
            own = {"name": recall.TOOL_NAME, "description": text, "parameters": recall.PARAMETERS}
            tools = [*(each for each in tools if each["name"] != recall.TOOL_NAME), own]
        same = next((each for each in cases if (each.tools, each.view) == (tools, view)), None)
        if same is not None:
            same.costs[condition] = cost
            shutil.rmtree(state, ignore_errors=True)
            continue
        cases.append(
            StudyCase(
                id=case_id,
                moment=moment.id,
                costs={condition: cost},
                system="" if recording.system_prompt in leading else recording.system_prompt,
                tools=tools,
                view=view,
                recorded=transcript.step_of(messages[answered[moment.call]]),
                tokens=sum(weights),
            )
        )
    return cases


@contextlib.contextmanager
def _strategy(
    settings: StudySettings, condition: str, state: Path
) -> Iterator[ViewFunction | Session]:
    """Yield a baseline, or the session of a case in its state directory."""
    if condition in BASELINES:
        yield BASELINES[condition]()
        return
    policy = offline(policies.load(conditions(settings)[condition]))
    memory = Hippocampus(state, policy=policy, prices=price_tables.model_prices(settings.model))
    try:
        with memory.session("study") as session:
            yield session
    finally:
        memory.close()


def answer_recall(
    folder: StudyFolder, settings: StudySettings, case: StudyCase, arguments: str
) -> dict[str, Any]:
    """Return a recall with its answer, served from what was stored at the case's moment."""
    with _strategy(settings, case.condition, folder.path / "states" / case.id) as session:
        if isinstance(session, Session):
            text = session.answer(arguments)
        else:
            text = _offloaded(folder.cases[case.moment][0], arguments)
    return {"arguments": arguments, "answer": text, "tokens": tokens.count(text)}


def _offloaded(whole: StudyCase, arguments: str) -> str:
    """Return a slice of a result of the whole list, by the id of its call."""
    results = {
        part.call_id: part.text
        for message in transcript.numbered(read(whole.view))
        for part in message.parts
        if part.kind == "result"
    }
    call = pending.written("", arguments)
    try:
        if call.problem is not None:
            raise call.problem
        if call.entry_id not in results:
            raise answers.never_existed(call.entry_id or "", results)
        bound = recall.bound_of(call.request, call.max_tokens, RECALL_TOKENS)
        return recall.take(results[call.entry_id], call.request, bound)
    except RecallError as problem:
        return answers.render(problem)
