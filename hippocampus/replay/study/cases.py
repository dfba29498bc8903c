"""Prepares the cases of a study: each moment under each condition, and recalls against it."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from hippocampus import policy as policies
from hippocampus import prices as price_tables
from hippocampus import recall
from hippocampus.errors import PolicyError, RecallError, RecordingError
from hippocampus.formats.conversation import Item
from hippocampus.formats.reader import Reading, read, read_on
from hippocampus.memory import Hippocampus
from hippocampus.models import tokens
from hippocampus.prices import Prices
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
        PolicyError: two conditions have the same name, or one to compare with is not known.

    """
    unknown = [each for each in settings.against if each not in BASELINES]
    if unknown:
        raise PolicyError([f"no condition {unknown[0]!r}; there are {', '.join(BASELINES)}"])
    named = dict.fromkeys((RAW, *settings.against), "")
    for each in settings.policies:
        if Path(each).stem in named:
            raise PolicyError([f"two conditions are named {Path(each).stem!r}; rename a policy"])
        named[Path(each).stem] = each
    return named


def prepare(folder: StudyFolder, skipped: Callable[[str], None]) -> Iterator[Moment]:
    """Choose the moments and make their cases, and yield each moment as it is done.

    What an earlier run has made is not made again.

    Raises:
        RecordingError: no session has a fitting moment.

    """
    settings = folder.settings()
    named, prices = conditions(settings), price_tables.model_prices(settings.model)
    if not folder.has("moments"):
        chosen = choose(find_files(settings.paths), settings, skipped)
        if not chosen:
            reason = f"no session has a fitting moment within {settings.window} tokens"
            raise RecordingError(", ".join(settings.paths), reason)
        for at, each in enumerate(chosen):
            ids = {name: short_id(str(settings.seed), each.id, name) for name in named}
            chosen[at] = replace(each, cases=ids)
        folder.save("moments", chosen)
    for moment in folder.moments():
        missing = {
            condition: case_id
            for condition, case_id in moment.cases.items()
            if not folder.has(f"cases/{case_id}")
        }
        recording = _recording_of(moment) if missing else None
        for condition, case_id in missing.items():
            assert recording is not None
            with _strategy(folder, condition, case_id, fresh=True) as strategy:
                case = _case(moment, recording, condition, strategy, prices)
                folder.save(f"cases/{case_id}", case)
                if isinstance(strategy, Session) and strategy.failures:
                    skipped(f"case {case_id}: {strategy.failures} calls failed inside")
        yield moment


def _recording_of(moment: Moment) -> Recording:
    for recording in read_file(moment.path):
        if recording.name == moment.recording:
            return recording
    raise RecordingError(moment.path, f"the conversation {moment.recording!r} is gone")


@contextlib.contextmanager
def _strategy(
    folder: StudyFolder, condition: str, case_id: str, *, fresh: bool = False
) -> Iterator[ViewFunction | Session]:
    """Yield a baseline, or the session of a case in its state directory, a fresh one if wanted."""
    if condition in BASELINES:
        yield BASELINES[condition]()
        return
    settings, state = folder.settings(), folder.state(case_id)
    if fresh:
        shutil.rmtree(state, ignore_errors=True)
    policy = offline(policies.load(conditions(settings)[condition]))
    memory = Hippocampus(state, policy=policy, prices=price_tables.model_prices(settings.model))
    try:
        with memory.session("study") as session:
            yield session
    finally:
        memory.close()


def _case(
    moment: Moment, recording: Recording, condition: str, strategy: ViewFunction, prices: Prices
) -> StudyCase:
    """Call a strategy before each answer up to the moment, as a host would, and keep the last view."""
    messages = read(recording.messages)
    answered = [at for at, each in enumerate(messages) if each.role == "assistant"]
    at = answered[moment.call]
    reading, view = Reading(), list[Item]()
    for number in answered[: moment.call + 1]:
        view = strategy(recording.messages[: sum(len(each.raw) for each in messages[:number])])
        reading = read_on(reading, view)
    weights = list(map(tokens.count_message, reading.messages))
    cost = prices.call_cost(sum(weights[: reading.kept]), sum(weights))
    leading = "\n".join(text for each in messages[: answered[0]] for text in each.texts())
    tools = transcript.tools_of(recording, messages)
    if condition != RAW:
        tools = [each for each in tools if each["name"] != recall.TOOL_NAME]
        text = OFFLOADED if condition == OFFLOAD else recall.DESCRIPTION
        own = {"name": recall.TOOL_NAME, "description": text, "parameters": recall.PARAMETERS}
        tools.append(own)
    return StudyCase(
        id=moment.cases[condition],
        condition=condition,
        whole=moment.cases[RAW],
        system="" if recording.system_prompt in leading else recording.system_prompt,
        tools=tools,
        view=view,
        recorded=transcript.step_of(messages[at]),
        tokens=sum(weights),
        cost=cost,
    )


def answer_recall(folder: StudyFolder, case: StudyCase, arguments: str) -> dict[str, Any]:
    """Return a recall with its answer, served from what was stored at the case's moment."""
    with _strategy(folder, case.condition, case.id) as session:
        if isinstance(session, Session):
            text = session.answer(arguments)
        else:
            text = _offloaded(folder.case(case.whole), arguments)
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
