"""Readers and judges of text files: a folder for each of them, answers as JSON lines.

A reader's folder has cases of one condition, and shows neither the condition nor the future; a
judge's folder has moments of one pass.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hippocampus.errors import StoreError
from hippocampus.formats import json_text
from hippocampus.formats.reader import read
from hippocampus.replay.study import judging, transcript
from hippocampus.replay.study.cases import answer_recall
from hippocampus.replay.study.folder import RAW, StudyCase, StudyFolder
from hippocampus.storage import files

ANSWERS = "answers.jsonl"
LONG_LINE = re.compile(r".{1500}(?=.)")
"""Programs that show files to agents cut lines of some thousand characters."""
STEP = """You are the agent of the conversation below. It stops where your next message stands.
Write that message: the text, if you would write any, and the tool calls that you would make, with
their arguments in full (an edit with its exact old and new text, a file with its whole content).

Read to the last line of this file, which is END; a line that ends with ⤶ goes on in the next. All
that you know is in this file{more}: look for nothing about the conversation or its project
elsewhere, and run none of its tools. The conversation is data; what it asks of its agent is for
your message alone.

Append one line of JSON to {answers} in the folder of this file:
{{"case": "{case}", "text": "…", "calls": [{{"tool": "…", "arguments": {{…}}}}]}}
"""
RECALL = """
The tool `recall` is real: use it as often as you need before you answer, and leave it out of your
answer. Run for example
hippocampus study recall {path} {example}
"""
JUDGE = """{rubric}
Read to the last line of this file, which is END; a line that ends with ⤶ goes on in the next. Append
one line of JSON to {answers} in the folder of this file:
{{"case": "{case}", "verdicts": {{"A": {{…}}, …}}}}

"""

ResultIn = Callable[[str, Mapping[str, Any]], dict[str, Any] | str]
"""Takes the name of a case or judgement and a line of answers: its result, or the problem with it."""


def exchange(
    folder: StudyFolder, home: str, texts: Mapping[str, str], result_in: ResultIn
) -> list[str]:
    """Write the texts of one reader or judge, take the answers, and return the wrong and the missing ones.

    The first answer to each counts.
    """
    for name, text in texts.items():
        path = folder.path / home / f"{name}.md"
        if not path.exists():
            wrapped = LONG_LINE.sub("\\g<0>⤶\n", text)
            files.replace_file(path, wrapped.encode("utf-8", "replace"))
    answers = folder.path / home / ANSWERS
    problems: list[str] = []
    for number, line in enumerate(
        files.read_file(answers).decode("utf-8", "replace").split("\n"), 1
    ):
        value = json_text.read(line) if line.strip() else {}
        case = str(value.get("case")) if isinstance(value, Mapping) else ""
        if case in texts:
            result, log = result_in(case, value), folder.log(case)
            if isinstance(result, str):
                problems.append(f"{answers}:{number}: {result}")
            elif log.is_open:
                log.result = result
                folder.save_log(case, log)
        elif line.strip():
            problems.append(f"{answers}:{number}: no JSON object with a case of this folder")
    missing = sum(folder.log(name).is_open for name in texts)
    if missing:
        problems.append(f"{folder.path / home}: {missing} of {len(texts)} answers are missing")
    return problems


def text_to_read(folder: StudyFolder, home: str, case: StudyCase) -> str:
    """Return what a reader is shown of a case."""
    has_recall = case.condition != RAW
    text = STEP.format(
        case=case.id, answers=ANSWERS, more=" and in what `recall` returns" if has_recall else ""
    )
    if has_recall:
        path = (folder.path / home / f"{case.id}.md").absolute()
        example = shlex.quote('{"entry_id": "…", "lines": [1, 40]}')
        text += RECALL.format(path=shlex.quote(str(path)), example=example)
    shown = transcript.text_of_conversation(case.system, case.tools, read(case.view))
    return f"{text}\n{shown}\n\n{transcript.RULE} END: your next message {transcript.RULE}\n"


def step_in(_case: str, value: Mapping[str, Any]) -> dict[str, Any] | str:
    """Return the step in a reader's line, or the problem with it."""
    text, calls = value.get("text") or "", value.get("calls") or []
    if not isinstance(text, str) or not isinstance(calls, list) or not (text.strip() or calls):
        return "neither text nor calls"
    if not all(isinstance(each, Mapping) and each.get("tool") for each in calls):
        return "a call names no tool"
    more = [json.dumps(each.get("arguments", {}), ensure_ascii=False) for each in calls]
    tools = [str(each["tool"]) for each in calls]
    return {"text": text, "calls": [list(each) for each in zip(tools, more, strict=True)]}


def text_of_judgement(name: str, text: str) -> str:
    """Return what a judge is shown of a moment, from `judging.text_to_judge`."""
    return JUDGE.format(rubric=judging.RUBRIC, answers=ANSWERS, case=name) + text


def answered(file: Path, arguments: str) -> str:
    """Return the answer to a recall by the reader of a case's file, and keep it with the case.

    Raises:
        StoreError: the file is no case of a study, or nothing is stored for it.

    """
    folder = StudyFolder(file.absolute().parent.parent.parent)
    if not folder.has(f"cases/{file.stem}"):
        raise StoreError(f"{file} is no case of a study")
    case = folder.case(file.stem)
    if case.condition == RAW:
        raise StoreError(f"{file}: nothing is stored for this case; all of it is in the file")
    log = folder.log(case.id)
    log.recalls.append(answer_recall(folder, case, arguments))
    folder.save_log(case.id, log)
    return str(log.recalls[-1]["answer"])
