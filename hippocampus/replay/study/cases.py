"""Chooses the moments of a study, makes their cases under all conditions, and answers recalls.

Conditions with the same view share a case, which is read and judged once.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import hashlib
import itertools
import json
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

from hippocampus import policy as policies
from hippocampus import prices as price_tables
from hippocampus import recall
from hippocampus.errors import RecallError, RecordingError
from hippocampus.formats.conversation import Item, Message
from hippocampus.formats.reader import Reading, read, read_on
from hippocampus.memory import Hippocampus
from hippocampus.models import tokens
from hippocampus.recall import calls
from hippocampus.replay.measure import Script, ViewFunction
from hippocampus.replay.our_strategy import offline
from hippocampus.replay.readers import RecordedFile, find_files, read_file
from hippocampus.replay.recording import Recording
from hippocampus.replay.strategies import offload_on_arrival, send_everything
from hippocampus.replay.study import transcript
from hippocampus.replay.study.folder import OFFLOAD, RAW, Moment, StudyCase, StudyFolder
from hippocampus.replay.uses import uses, values_of
from hippocampus.session.session import Session

ID_CHARACTERS = 6
LARGE, OLDER = "after a large result", "uses something older"
LARGE_TOKENS = 2_000
"""A moment is after a large result if a result of this size arrived since the last call."""
OLD_TOKENS = 1_000
OLD_CALLS = 3
"""A moment uses something older if its recorded step writes a value that is only in results of at
least `OLD_TOKENS` that arrived more than `OLD_CALLS` calls ago."""
LATE = 2 / 3
"""The share of the calls of a session that fit the window before the first moment: at early ones a
view often is the whole list."""
BASELINES = {RAW: send_everything, OFFLOAD: offload_on_arrival}
RECALL_TOKENS = 2_000
"""The most tokens of a recall of an offloaded result."""


def prepare(
    folder: StudyFolder, paths: Iterable[str], skipped: Callable[[str], None]
) -> Iterator[Moment]:
    """Choose the moments and make their cases, and yield the moments as they are done.

    Moments and cases of an earlier run are kept. `paths` are those of the settings, with the
    passwords of addresses.

    Raises:
        RecordingError: no session has a fitting moment.
    """
    files = functools.cache(lambda: {str(file): file for file in find_files(paths)})
    if not folder.moments:
        settings = folder.settings
        chosen = _chosen(folder, list(files().values()), skipped)
        if not chosen:
            reason = f"no session has a fitting moment of {settings.from_tokens} to {settings.window} tokens"
            raise RecordingError(", ".join(settings.paths), reason)
        folder.add(settings=settings)
        folder.add(moments=chosen)
    for moment in folder.moments:
        if not folder.cases(moment.id):
            known = files().get(moment.path)  # of some formats the path is a folder
            sources = [known] if known else find_files([moment.path])
            read = (found for source in sources for found in read_file(source))
            recording = next((found for found in read if found.name == moment.recording), None)
            if recording is None:
                reason = f"the conversation {moment.recording!r} is gone"
                raise RecordingError(moment.path, reason)
            folder.add(cases=_cases(folder, moment, recording, skipped))
        yield moment


def _chosen(
    folder: StudyFolder, files: Sequence[RecordedFile], skipped: Callable[[str], None]
) -> list[Moment]:
    """Return moments, as many of each kind, from each folder in turn, at most one a session.

    Conversations that share a file or a beginning (what follows a compaction, a sub-agent, a
    branch, another run of the task) show each other's future: only one of them is taken. `skipped`
    takes a sentence about a file that is no recording.
    """
    settings = folder.settings
    random = Random(settings.seed)  # noqa: S311 - a sample that can be drawn again
    needed = dict.fromkeys((LARGE, OLDER), -(-settings.cases // 2))
    folders: defaultdict[Path, list[RecordedFile]] = defaultdict(list)
    for path in random.sample(files, len(files)):
        folders[Path(str(path)).parent].append(path)
    # From each folder in turn, so that a project with most sessions is not the whole study.
    in_turn = itertools.chain.from_iterable(itertools.zip_longest(*folders.values()))
    openings: set[str] = set()
    chosen: list[Moment] = []
    spare: list[Moment] = []
    for path in filter(None, in_turn):
        if len(chosen) == settings.cases:
            break
        try:
            fresh = [found for found in read_file(path) if _opening(found) not in openings]
        except RecordingError as problem:
            skipped(str(problem))
            continue
        for recording in random.sample(fresh, len(fresh)):
            moments = list(_moments(recording, settings.from_tokens, settings.window))
            if moments:
                random.shuffle(moments)
                one = max(moments, key=lambda moment: needed[moment.kind])
                is_needed = needed[one.kind] > 0
                needed[one.kind] -= is_needed
                (chosen if is_needed else spare).append(one)
                openings.add(_opening(recording))
                break
    return chosen + spare[: settings.cases - len(chosen)]


def _opening(recording: Recording) -> str:
    """Return a hash of the texts before the first answer."""
    before = itertools.takewhile(lambda sent: sent.role != "assistant", read(recording.messages))
    return _short_id(*(text for sent in before if sent.role != "system" for text in sent.texts()))


def _moments(recording: Recording, from_tokens: int, to_tokens: int) -> Iterator[Moment]:
    """Yield the moments of a session whose whole list has a number of tokens within bounds."""
    script = Script(recording)
    messages, answers = script.messages, script.answers
    tools = json.dumps(recording.tools, default=str) if recording.tools else ""
    more = tokens.count(recording.system_prompt) + tokens.count(tools)
    sizes = [*itertools.accumulate(map(tokens.count_message, messages), initial=more)]
    fitting = [at for at in answers if sizes[at] <= to_tokens]
    used = uses(messages[: fitting[-1] + 1], values_of) if fitting else {}
    for call, at in enumerate(fitting):
        is_early = call < LATE * len(fitting)
        if is_early or not at or messages[at - 1].role == "assistant" or sizes[at] < from_tokens:
            continue
        last = answers[call - 1] if call else 0
        old = answers[call - OLD_CALLS] if call >= OLD_CALLS else 0
        place = (recording.path, recording.name, call)
        # Values that are only in large results of old messages.
        large = _large_texts(messages[:old], OLD_TOKENS)
        hidden = {value for value in used[at] if any(value in text for text in large)}
        texts = (text for message in messages[:at] for text in message.texts())
        others = [text for text in texts if text not in large]
        for kind, is_one in (
            (LARGE, any(_large_texts(messages[last:at], LARGE_TOKENS))),
            (OLDER, any(all(value not in text for text in others) for value in hidden)),
        ):
            if is_one:
                yield Moment(_short_id(*map(str, place)), *place, kind, sizes[at])


def _large_texts(messages: Sequence[Message], min_tokens: int) -> list[str]:
    parts = (part for message in messages for part in message.parts if part.kind == "result")
    return [part.text for part in parts if tokens.count(part.text) >= min_tokens]


def _short_id(*words: str) -> str:
    """Return an opaque id."""
    digest = hashlib.sha256("\0".join(words).encode("utf-8", "surrogatepass")).digest()
    return base64.b32encode(digest)[:ID_CHARACTERS].decode().lower()


def _cases(
    folder: StudyFolder, moment: Moment, recording: Recording, skipped: Callable[[str], None]
) -> list[StudyCase]:
    """Call all strategies before every answer up to the moment, as a host would; return the last views."""
    script = Script(recording)
    messages, ends = script.messages, script.call_ends[: moment.call + 1]
    whole, opening = recording.messages[: ends[-1]], messages[: script.answers[0]]
    leading = "\n".join(text for message in opening for text in message.texts())
    recorded_tools = transcript.tools_of(recording, messages)
    prices = price_tables.model_prices(folder.settings.model)
    cases: list[StudyCase] = []
    for condition in folder.settings.conditions():
        case_id = _short_id(str(folder.settings.seed), moment.id, condition)
        state = folder.path / "states" / case_id
        # A killed run may have left a state half-way, in which the session would go on.
        shutil.rmtree(state, ignore_errors=True)
        with _strategy(folder, condition, case_id) as strategy:
            reading, view = Reading(), list[Item]()
            for end in ends:
                view = strategy(recording.messages[:end])
                reading = read_on(reading, view)
            if isinstance(strategy, Session) and strategy.report.failures:
                skipped(f"case {case_id}: {strategy.report.failures} calls failed inside")
        weights = list(map(tokens.count_message, reading.messages))
        cost = prices.call_cost(sum(weights[: reading.kept]), sum(weights))
        tools = recorded_tools
        if view != whole:
            offloaded = transcript.PROMPTS["offloaded"].template.rstrip("\n")
            text = offloaded if condition == OFFLOAD else recall.DESCRIPTION
            own = {"name": recall.TOOL_NAME, "description": text, "parameters": recall.PARAMETERS}
            tools = [*(tool for tool in tools if tool["name"] != recall.TOOL_NAME), own]
        same = next((case for case in cases if (case.tools, case.view) == (tools, view)), None)
        if same is not None:
            same.costs[condition] = cost
            shutil.rmtree(state, ignore_errors=True)
            continue
        system = "" if recording.system_prompt in leading else recording.system_prompt
        recorded, size = transcript.step_of(messages[script.answers[moment.call]]), sum(weights)
        shown = (system, tools, view, recorded, size)
        cases.append(StudyCase(case_id, moment.id, {condition: cost}, *shown))
    return cases


@contextlib.contextmanager
def _strategy(
    folder: StudyFolder, condition: str, case_id: str
) -> Iterator[ViewFunction | Session]:
    """Yield a baseline, or a session in the state directory of the case."""
    if condition in BASELINES:
        yield BASELINES[condition]()
        return
    policy = offline(policies.load(folder.settings.conditions()[condition]))
    prices = price_tables.model_prices(folder.settings.model)
    memory = Hippocampus(folder.path / "states" / case_id, policy=policy, prices=prices)
    with contextlib.closing(memory), memory.session("study") as session:
        yield session


def answer_recall(folder: StudyFolder, case: StudyCase, arguments: str) -> dict[str, Any]:
    """Return a recall with its answer, from the contents stored at the case's moment.

    For an offloaded result it is a slice of the result with its call's id; without an id, of all results.
    """
    with _strategy(folder, case.condition, case.id) as session:
        if isinstance(session, Session):
            text = session.answer(arguments)
            return {"arguments": arguments, "answer": text, "tokens": tokens.count(text)}
    whole = transcript.number_calls(read(folder.cases(case.moment)[0].view))
    parts = (part for message in whole for part in message.parts if part.kind == "result")
    results = {part.call_id: part.text for part in parts}
    try:
        request = calls.read_request(arguments)
        if request.entry_id and request.entry_id not in results:
            raise calls.never_existed(request.entry_id, results)
        everything = "\n".join(f"[{name}]\n{text}" for name, text in results.items())
        text = results[request.entry_id] if request.entry_id else everything
        text = recall.take(text, request, request.max_tokens or RECALL_TOKENS)
    except RecallError as problem:
        text = calls.render(problem)
    return {"arguments": arguments, "answer": text, "tokens": tokens.count(text)}
