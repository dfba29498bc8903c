"""The steps of readers and the verdicts of judges: asked of models, or exchanged as text files.

Models, people and agents get the same text, and answer with the same JSON object. A request to a model
is answered once. A reader of files has a folder with cases of one condition, which shows neither the
condition nor the future; a judge has one pass.
"""

from __future__ import annotations

import itertools
import json
import re
import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil
from pathlib import Path
from random import Random
from string import ascii_uppercase
from typing import Any, TypeVar

from hippocampus import recall
from hippocampus.errors import StoreError
from hippocampus.formats import json_text
from hippocampus.formats.conversation import Item, ToolResult
from hippocampus.formats.usage import Usage
from hippocampus.replay.study import transcript
from hippocampus.replay.study.cases import answer_recall
from hippocampus.replay.study.folder import RAW, StudyFolder
from hippocampus.replay.study.transcript import PROMPTS
from hippocampus.replay.study.wires import Wire, ask_in_turn, list_price, wire_of
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
NO_NAME = re.compile(r"[^A-Za-z0-9_-]")
"""The characters that a provider refuses in the name of a tool."""
MAX_NAME_CHARACTERS = 64
AGAIN = "Answer with the whole JSON object and nothing else. The problem was: "


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
    by_condition: defaultdict[str, list[str]] = defaultdict(list)
    for name, case in folder.by_id().items():
        by_condition[case.condition].append(name)
    seed = folder.settings.seed
    readers = [group for names in by_condition.values() for group in _groups(names, seed)]
    yield from _ask(folder, folder.settings.reader, "readers", shuffle(readers, seed))


def judge_steps(folder: StudyFolder) -> Iterator[str]:
    """Let the judge compare the steps of moments that have all steps; yield as `take_steps` does."""
    ready: set[str] = set()
    for moment in folder.moments:
        if all(folder.last("result", case.id) for case in folder.cases(moment.id)):
            ready.update(moment.judgements())
    # Groups are made of all moments, so that a moment's judge does not depend on missing steps.
    passes = zip(*(moment.judgements() for moment in folder.moments), strict=True)
    judges = [group for names in passes for group in _groups(names, folder.settings.seed)]
    groups = [[name for name in group if name in ready] for group in judges]
    yield from _ask(folder, folder.settings.judge, "judges", groups)


def _question(folder: StudyFolder, name: str, path: Path | None) -> str:
    """Return the text for the reader of a case or the judge of a judgement, in a file or for a model."""
    rule, case = transcript.RULE, folder.by_id().get(name)
    how = PROMPTS["in_file" if path else "as_calls" if case else "as_answer"]
    asks = how.substitute(answers=ANSWERS).rstrip("\n")
    fields = {"how": asks, "case": f'"case": "{name}", ' if path else ""}
    if case is None:
        whole = folder.cases(name.rpartition("-")[0])[0]
        parts = [PROMPTS["judge"].substitute(fields), transcript.text_of_conversation(whole)]
        parts.append(f"{rule} THE RECORDED STEP {rule}\n{whole.recorded}")
        for label, case_id in labels_of(folder, name).items():
            parts.append(f"{rule} STEP {label} {rule}\n{step_of(folder, case_id)}")
        return "\n\n".join([*parts, f"{rule} END {rule}\n"])
    has_recall = case.condition != RAW
    more = " and in what `recall` returns" if has_recall else ""
    asked = PROMPTS["step"].substitute(fields, more=more)
    if has_recall:
        example = '{"entry_id": "…", "lines": [1, 40]}'
        command = ["hippocampus", "study-recall", str(path and path.absolute()), example]
        run = f" Run for example\n{shlex.join(command)}" if path else ""
        asked += PROMPTS["recall"].substitute(run=run)
    conversation = transcript.text_of_conversation(case)
    return f"{asked}\n{conversation}\n\n{rule} END: your next message {rule}\n"


def _result(folder: StudyFolder, name: str, answer: Mapping[str, Any]) -> Result | str:
    """Return the step or the verdicts in an answer, or a sentence on the problem with it."""
    if name in folder.by_id():
        return step_in(answer)
    return verdicts_in(answer.get("verdicts"), labels_of(folder, name))


def step_of(folder: StudyFolder, name: str) -> str:
    """Return the step in the answers of a case's reader as text."""
    result = folder.last("result", name) or {"text": "", "calls": []}
    return transcript.text_of_step(result["text"], result["calls"])


def shuffle(values: Iterable[T], *seed: object) -> list[T]:
    """Return values in a random order, determined by the seed."""
    listed = list(values)
    return Random("\0".join(map(str, seed))).sample(listed, len(listed))  # noqa: S311 - it can be drawn again


def labels_of(folder: StudyFolder, judgement: str) -> dict[str, str]:
    """Return the cases by letter, in the moment's random order; the second pass reverses it."""
    moment, _, number = judgement.rpartition("-")
    names = [case.id for case in folder.cases(moment)]
    order = shuffle(names, folder.settings.seed, moment)
    return dict(zip(ascii_uppercase, order if number == "1" else reversed(order), strict=False))


def verdicts_in(answer: object, labels: Iterable[str]) -> Result | str:
    """Return the verdicts by letter in a judge's answer, or a sentence on the problem with it."""
    found = {label: answer.get(label) for label in labels} if isinstance(answer, dict) else {}
    for label in labels:
        match found.get(label):
            case {
                "quality": int() | float() as quality,
                "same_effect": bool(),
                "false_facts": list(),
            } if 0 <= quality <= MAX_QUALITY:
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


def _ask(
    folder: StudyFolder, who: str, role: str, groups: Sequence[Sequence[str]]
) -> Iterator[str]:
    """Ask a model, or a reader of files per group; yield an empty text per question, or a problem."""
    if who == FILES:
        yield from _exchange(folder, role, groups)
        return
    wire = wire_of(who)
    names = filter(folder.is_open, itertools.chain.from_iterable(groups))
    yield from ask_in_turn(names, lambda name: _ask_model(folder, wire, name))


def _ask_model(folder: StudyFolder, wire: Wire, name: str) -> None:
    """Ask a model, with the tools of its case and recalls; answers of an earlier run are used.

    A step is given by calls of the tools, or as JSON. After an answer that is neither, the question is
    asked once more.
    """
    case, served, problem = folder.by_id().get(name), 0, ""
    exchanges, recalls = folder.records("exchange", name), folder.records("recall", name)
    tools = [
        wire.adapter.tool_definition(
            NO_NAME.sub("_", tool["name"])[:MAX_NAME_CHARACTERS],
            tool["description"],
            tool["parameters"],
        )
        for tool in (case.tools if case else ())
    ]
    items: list[Item] = [{"role": "user", "content": _question(folder, name, None)}]
    for turn in itertools.count():
        if turn == len(exchanges):
            folder.add(name=name, exchange=wire.ask(items, tools))
        reply = wire.read(exchanges[turn]["exchange"]["answer"])
        is_recall = {tool for _, tool, _ in reply.calls} == {recall.TOOL_NAME}
        if case and case.condition != RAW and is_recall and turn < MAX_RECALL_ROUNDS:
            # A run that was stopped may have recorded some recalls of this answer, and not all.
            results = []
            for call_id, _, arguments in reply.calls:
                if served == len(recalls):
                    folder.add(name=name, recall=answer_recall(folder, case, arguments))
                results.append(ToolResult(call_id, recalls[served]["recall"]["answer"]))
                served += 1
            items += [reply.message, *wire.adapter.tool_results(results)]
            continue
        text = reply.text[reply.text.find("{") : reply.text.rfind("}") + 1]
        value = json_text.read(text, None)
        found = _result(folder, name, value if isinstance(value, dict) else {})
        if case and reply.calls:
            step = [[tool, arguments] for _, tool, arguments in reply.calls]
            found = {"text": reply.text, "calls": step}
        if isinstance(found, dict):
            folder.add(name=name, result=found)
            return
        if reply.refused or problem:
            break
        problem = found
        items.append({"role": "assistant", "content": reply.text or "(no text)"})
        items.append({"role": "user", "content": AGAIN + problem})
    folder.add(name=name, refused=reply.refused or f"two answers that cannot be read: {found}")


def _groups(names: Iterable[str], seed: int) -> list[list[str]]:
    """Return the names in random groups of equal size, of at most twelve names."""
    order = shuffle(names, seed)
    count = ceil(len(order) / MAX_CASES)
    return [order[start::count] for start in range(count)]


def _exchange(folder: StudyFolder, role: str, groups: Sequence[Sequence[str]]) -> Iterator[str]:
    """Write a folder of texts for each group, read the answers, and yield wrong and missing ones.

    The first answer to a text counts.
    """
    for number, names in enumerate(groups, 1):
        home = folder.path / role / str(number)
        for name in names:
            if not (path := home / f"{name}.md").exists():
                wrapped = LONG_LINE.sub("\\g<0>⤶\n", _question(folder, name, path))
                files.replace_file(path, wrapped.encode("utf-8", "replace"))
        lines = files.read_file(home / ANSWERS).decode("utf-8", "replace").split("\n")
        for at, line in enumerate(lines, 1):
            value = json_text.read(line) if line.strip() else {}
            name = str(value.get("case")) if isinstance(value, Mapping) else ""
            if name in names:
                result = _result(folder, name, value)
                if isinstance(result, str):
                    yield f"{home / ANSWERS}:{at}: {result}"
                elif folder.is_open(name):
                    folder.add(name=name, result=result)
            elif line.strip():
                yield f"{home / ANSWERS}:{at}: no JSON object with a case of this folder"
        if missing := sum(map(folder.is_open, names)):
            yield f"{home}: {missing} of {len(names)} answers are missing"


def answer_file_recall(file: Path, arguments: str) -> str:
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
