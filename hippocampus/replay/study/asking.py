"""The steps of readers and the verdicts of judges: asked of models, or exchanged as text files.

A request to a model is answered once. A reader of files has a folder with cases of one condition,
which shows neither the condition nor the future; a judge has one pass.
"""

from __future__ import annotations

import itertools
import json
import re
import shlex
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import resources
from math import ceil
from pathlib import Path
from random import Random
from string import Template, ascii_uppercase
from typing import Any, TypeVar

from hippocampus import recall
from hippocampus.errors import StoreError
from hippocampus.formats import json_text
from hippocampus.formats.conversation import Item, ToolResult
from hippocampus.formats.reader import read
from hippocampus.formats.usage import Usage
from hippocampus.models.http import post
from hippocampus.replay.study import transcript
from hippocampus.replay.study.cases import answer_recall
from hippocampus.replay.study.folder import RAW, StudyCase, StudyFolder
from hippocampus.replay.study.wires import Reply, Wire, ask_in_turn, list_price, wire_of
from hippocampus.storage import files

T = TypeVar("T")
Result = dict[str, Any]

FILES = "files"
MAX_CASES = 12
"""The most cases per reader, and moments per judge, of files."""
ANSWER_TOKENS = 700
"""The size of a step or a verdict in the estimate of the price."""
MAX_RECALL_ROUNDS = 8
"""After this number of answers with recalls, the next answer is the reader's step."""
MAX_QUALITY = 4
ANSWERS = "answers.jsonl"
LONG_LINE = re.compile(r".{1500}(?=.)")
"""Lines are wrapped, since programs that show files to agents cut lines of some thousand characters."""
NO_SYSTEM = "You are an agent. Go on with your task."
AGAIN = "Answer with the JSON object alone, with an entry for each letter. The problem was: "
PROMPTS = {
    path.name.removesuffix(".txt"): Template(path.read_text("utf-8"))
    for path in resources.files(__package__).joinpath("prompts").iterdir()
}
RUBRIC = PROMPTS["rubric"].template


def estimate(folder: StudyFolder) -> list[str]:
    """Return the number and price of the open requests, in a sentence per model.

    A view counts as the whole list, which is the largest that it can be.
    """
    steps, verdicts, found = list[int](), list[int](), list[str]()
    for moment in folder.moments:
        cases = folder.cases(moment.id)
        compared = moment.tokens + ANSWER_TOKENS * len(cases)
        steps += [moment.tokens for case in cases if folder.is_open(case.id)]
        verdicts += [compared for name in moment.judgements() if folder.is_open(name)]
    for model, requests in ((folder.settings.reader, steps), (folder.settings.judge, verdicts)):
        if model == FILES or not requests:
            continue
        usage = Usage(input_tokens=sum(requests), output_tokens=ANSWER_TOKENS * len(requests))
        dollars = list_price(model.partition(":")[2].partition("@http")[0], usage)
        price = (
            "at a price that is not known" if dollars is None else f"${dollars:,.2f} at list prices"
        )
        found.append(
            f"{model}: {len(requests)} requests, at most about {usage.input_tokens:,} tokens in and "
            f"{usage.output_tokens:,} out, {price}"
        )
    return found


def take_steps(folder: StudyFolder) -> Iterator[str]:
    """Let readers take the missing steps; yield an empty text per step, or a problem."""
    cases, settings = folder.by_id(), folder.settings
    if settings.reader != FILES:
        wire = wire_of(settings.reader)
        left = filter(folder.is_open, cases)
        yield from ask_in_turn(left, lambda name: _take_step(folder, name, cases[name], wire))
        return
    by_condition: defaultdict[str, list[str]] = defaultdict(list)
    for name, case in cases.items():
        by_condition[case.condition].append(name)
    readers = [group for names in by_condition.values() for group in _groups(names, settings.seed)]
    yield from _exchange(
        folder,
        "readers",
        shuffled(readers, settings.seed),
        lambda path: _text_to_read(path, cases[path.stem]),
        lambda _, line: step_in(line),
    )


def judge_steps(folder: StudyFolder) -> Iterator[str]:
    """Let the judge compare the steps of moments that have all steps; yield as `take_steps` does."""
    settings, rule = folder.settings, transcript.RULE
    cases: dict[str, list[StudyCase]] = {}
    for moment in folder.moments:
        made = folder.cases(moment.id)
        if all(folder.last("result", case.id) for case in made):
            cases |= dict.fromkeys(moment.judgements(), made)

    def labels(name: str) -> dict[str, str]:
        return labels_of([case.id for case in cases[name]], settings.seed, name)

    def text(name: str) -> str:
        whole = cases[name][0]
        parts = [transcript.text_of_conversation(whole)]
        parts.append(f"{rule} THE RECORDED STEP {rule}\n{whole.recorded}")
        for label, case_id in labels(name).items():
            parts.append(f"{rule} STEP {label} {rule}\n{step_of(folder, case_id)}")
        return "\n\n".join([*parts, f"{rule} END {rule}\n"])

    if settings.judge != FILES:
        wire = wire_of(settings.judge)
        yield from ask_in_turn(
            filter(folder.is_open, cases),
            lambda name: _judge(folder, name, text(name), labels(name), wire),
        )
        return
    # Groups are made of all moments, so that a moment's judge does not depend on missing steps.
    passes = zip(*(moment.judgements() for moment in folder.moments), strict=True)
    judges = [group for names in passes for group in _groups(names, settings.seed)]
    yield from _exchange(
        folder,
        "judges",
        [[name for name in group if name in cases] for group in judges],
        lambda path: PROMPTS["judge"].substitute(
            rubric=RUBRIC, answers=ANSWERS, name=path.stem, text=text(path.stem)
        ),
        lambda name, line: verdicts_in(line.get("verdicts"), labels(name)),
    )


def step_of(folder: StudyFolder, name: str) -> str:
    """Return the step in the answers of a case's reader as text."""
    result = folder.last("result", name) or {"text": "", "calls": []}
    return transcript.text_of_step(result["text"], result["calls"])


def shuffled(values: Iterable[T], *seed: object) -> list[T]:
    """Return values in a random order, determined by the seed."""
    listed = list(values)
    return Random("\0".join(map(str, seed))).sample(listed, len(listed))  # noqa: S311 - it can be drawn again


def labels_of(names: Iterable[str], seed: int, judgement: str) -> dict[str, str]:
    """Return the cases by letter, in the moment's random order; the second pass reverses it."""
    moment, _, number = judgement.rpartition("-")
    order = shuffled(names, seed, moment)
    return dict(zip(ascii_uppercase, order if number == "1" else reversed(order), strict=False))


def verdicts_in(answer: object, labels: Iterable[str]) -> Result | str:
    """Return the verdicts by letter in a judge's answer, or a sentence on the problem with it."""
    if isinstance(answer, str):
        answer = json_text.read(answer[answer.find("{") : answer.rfind("}") + 1])
    found = {label: answer.get(label) for label in labels} if isinstance(answer, dict) else {}
    for label in labels:
        match found.get(label):
            case {
                "quality": int() | float() as quality,
                "same_effect": bool(),
                "false_facts": list(),
            }:
                if 0 <= quality <= MAX_QUALITY:
                    continue
        return (
            f"{label} lacks a quality from 0 to {MAX_QUALITY}, a same_effect that is true or false, "
            "or a list of false_facts"
        )
    return found


def step_in(line: Mapping[str, Any]) -> Result | str:
    """Return the step in a reader's line, or a sentence on the problem with it."""
    text, calls = line.get("text") or "", line.get("calls") or []
    if not isinstance(text, str) or not isinstance(calls, list) or not (text.strip() or calls):
        return "neither text nor calls"
    if not all(isinstance(call, Mapping) and call.get("tool") for call in calls):
        return "a call names no tool"
    steps = [
        [str(call["tool"]), json.dumps(call.get("arguments", {}), ensure_ascii=False)]
        for call in calls
    ]
    return {"text": text, "calls": steps}


# Models


def _take_step(folder: StudyFolder, name: str, case: StudyCase, wire: Wire) -> None:
    """Let a model take the next step of a case, with recalls; answers of an earlier run are used."""
    view, recalls, served = read(case.view), folder.records("recall", name), 0
    has_system = any(message.role == "system" for message in view)
    body = wire.body(case.system or ("" if has_system else NO_SYSTEM), view, case.tools)
    for turn in itertools.count():
        reply = _reply(folder, name, wire, body, turn)
        only_recalls = {tool for _, tool, _ in reply.calls} == {recall.TOOL_NAME}
        if not only_recalls or case.condition == RAW or turn == MAX_RECALL_ROUNDS:
            break
        results = []
        for call_id, _, arguments in reply.calls:
            if served == len(recalls):
                folder.add(name=name, recall=answer_recall(folder, case, arguments))
            results.append(ToolResult(call_id, recalls[served]["recall"]["answer"]))
            served += 1
        added = [reply.message, *wire.adapter.tool_results(results)]
        body = {**body, "messages": [*body["messages"], *added]}
    if reply.refused:
        folder.add(name=name, refused=reply.refused)
    else:
        calls = [[tool, arguments] for _, tool, arguments in reply.calls]
        folder.add(name=name, result={"text": reply.text, "calls": calls})


def _judge(folder: StudyFolder, name: str, text: str, labels: Iterable[str], wire: Wire) -> None:
    """Let a model judge the steps of a moment; after an answer that cannot be read, ask once more."""
    items: list[Item] = [{"role": "user", "content": text}]
    for turn in range(2):
        reply = _reply(folder, name, wire, wire.body(RUBRIC, read(items), []), turn)
        found = verdicts_in(reply.text, labels)
        if isinstance(found, dict):
            folder.add(name=name, result=found)
            return
        if reply.refused:
            break
        items.append({"role": "assistant", "content": reply.text or "(no text)"})
        items.append({"role": "user", "content": AGAIN + found})
    folder.add(name=name, refused=reply.refused or f"no verdicts in two answers: {found}")


def _reply(folder: StudyFolder, name: str, wire: Wire, body: Item, turn: int) -> Reply:
    """Return the reply to a request, from the record of an earlier run or from the endpoint."""
    known = folder.records("exchange", name)
    if turn < len(known):
        return wire.read(known[turn]["exchange"]["answer"])
    answer = post(wire.endpoint, wire.path, body)
    reply = wire.read(answer)
    folder.add(name=name, exchange=wire.without_key({"request": body, "answer": answer}))
    return reply


# Files


def _groups(names: Iterable[str], seed: int) -> list[list[str]]:
    """Return the names in random groups of equal size, of at most twelve names."""
    order = shuffled(names, seed)
    count = ceil(len(order) / MAX_CASES)
    return [order[start::count] for start in range(count)]


def _exchange(
    folder: StudyFolder,
    role: str,
    groups: Iterable[Sequence[str]],
    text_of: Callable[[Path], str],
    result_in: Callable[[str, Mapping[str, Any]], Result | str],
) -> Iterator[str]:
    """Write a folder of texts for each group, read the answers, and yield wrong and missing ones.

    `text_of` takes the path of a text. `result_in` takes a name and a line of answers, and returns its
    result or the problem with it. The first answer to a text counts.
    """
    for number, names in enumerate(groups, 1):
        home = folder.path / role / str(number)
        for path in (home / f"{name}.md" for name in names):
            if not path.exists():
                wrapped = LONG_LINE.sub("\\g<0>⤶\n", text_of(path))
                files.replace_file(path, wrapped.encode("utf-8", "replace"))
        lines = files.read_file(home / ANSWERS).decode("utf-8", "replace").split("\n")
        for at, line in enumerate(lines, 1):
            value = json_text.read(line) if line.strip() else {}
            name = str(value.get("case")) if isinstance(value, Mapping) else ""
            if name in names:
                result = result_in(name, value)
                if isinstance(result, str):
                    yield f"{home / ANSWERS}:{at}: {result}"
                elif folder.is_open(name):
                    folder.add(name=name, result=result)
            elif line.strip():
                yield f"{home / ANSWERS}:{at}: no JSON object with a case of this folder"
        if missing := sum(map(folder.is_open, names)):
            yield f"{home}: {missing} of {len(names)} answers are missing"


def _text_to_read(path: Path, case: StudyCase) -> str:
    has_recall = case.condition != RAW
    more = " and in what `recall` returns" if has_recall else ""
    text = PROMPTS["step"].substitute(name=path.stem, answers=ANSWERS, more=more)
    if has_recall:
        example = shlex.quote('{"entry_id": "…", "lines": [1, 40]}')
        quoted = shlex.quote(str(path.absolute()))
        text += PROMPTS["recall"].substitute(path=quoted, example=example)
    rule = transcript.RULE
    return (
        f"{text}\n{transcript.text_of_conversation(case)}\n\n{rule} END: your next message {rule}\n"
    )


def answered(file: Path, arguments: str) -> str:
    """Return the answer to a recall by the reader of a case's file, and record it.

    Raises:
        StoreError: the file is not a case of a study, or the case has nothing to recall.
    """
    try:
        folder = StudyFolder(file.absolute().parent.parent.parent)
    except StoreError as failure:
        raise StoreError(f"{file} is no case of a study: {failure}") from failure
    case = folder.by_id().get(file.stem)
    if case is None:
        raise StoreError(f"{file} is no case of a study")
    if case.condition == RAW:
        raise StoreError(f"{file}: nothing is stored for this case; all of it is in the file")
    found = answer_recall(folder, case, arguments)
    folder.add(name=file.stem, recall=found)
    return str(found["answer"])
