"""Readers and judges at endpoints: each request is answered once, and kept with its answer."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable

from hippocampus import recall
from hippocampus.errors import ProviderError
from hippocampus.formats.conversation import Item, ToolResult
from hippocampus.formats.reader import read
from hippocampus.replay.study import judging
from hippocampus.replay.study.cases import answer_recall
from hippocampus.replay.study.folder import RAW, StudyCase, StudyFolder
from hippocampus.replay.study.wires import Reply, Wire

MAX_RECALL_ROUNDS = 8
"""A reader that has recalled in this number of answers has taken its step."""
NO_SYSTEM = "You are an agent. Go on with your task."
AGAIN = "Answer with the JSON object alone, with an entry for each letter. The problem was: "


def take_step(folder: StudyFolder, case: StudyCase, wire: Wire) -> None:
    """Let a model take the next step of a case, with recalls; an earlier run's answers count.

    Raises:
        ProviderError: there is no usable answer; the next run asks for it again.

    """
    view = read(case.view)
    has_system = any(each.role == "system" for each in view)
    body = wire.body(case.system or ("" if has_system else NO_SYSTEM), view, case.tools)
    served = 0
    for turn in range(MAX_RECALL_ROUNDS + 1):
        reply = _reply(folder, case.id, wire, body, turn)
        log = folder.log(case.id)
        recalls = [each for each in reply.calls if each[1] == recall.TOOL_NAME]
        is_step = len(recalls) < max(1, len(reply.calls)) or case.condition == RAW
        if is_step or turn == MAX_RECALL_ROUNDS:
            break
        results: list[ToolResult] = []
        for call_id, _, arguments in recalls:
            if served == len(log.recalls):
                log.recalls.append(answer_recall(folder, case, arguments))
                folder.save_log(case.id, log)
            results.append(ToolResult(call_id, log.recalls[served]["answer"]))
            served += 1
        body = wire.next_body(body, reply, results)
    if not reply.refused:
        calls = [[tool, arguments] for _, tool, arguments in reply.calls]
        log.result = {"text": reply.text, "calls": calls}
    log.refused = reply.refused
    folder.save_log(case.id, log)


def give_verdicts(
    folder: StudyFolder, name: str, text: str, labels: Iterable[str], wire: Wire
) -> None:
    """Let a model judge the steps of a moment; an answer that cannot be read is asked again once.

    Raises:
        ProviderError: there is no usable answer; the next run asks for it again.

    """
    items: list[Item] = [{"role": "user", "content": text}]
    listed = list(labels)
    for turn in range(2):
        body = wire.body(judging.RUBRIC, read(items), [])
        reply = _reply(folder, name, wire, body, turn)
        found = judging.verdicts_in(reply.text, listed)
        if isinstance(found, dict) or reply.refused:
            break
        items.append({"role": "assistant", "content": reply.text or "(no text)"})
        items.append({"role": "user", "content": AGAIN + found})
    log = folder.log(name)
    if isinstance(found, dict):
        log.result = found
    else:
        log.refused = reply.refused or f"no verdicts in two answers: {found}"
    folder.save_log(name, log)


def _reply(folder: StudyFolder, name: str, wire: Wire, body: Item, turn: int) -> Reply:
    """Return the reply to a request: in the answer of an earlier run, or in the endpoint's."""
    log = folder.log(name)
    if turn < len(log.exchanges):
        return wire.read(log.exchanges[turn]["answer"])
    key = os.environ.get(wire.endpoint.key_variable, "").strip()
    try:
        answer = wire.ask(body)
        reply = wire.read(answer)
    except ProviderError as failure:
        log.failures.append(str(failure))
        raise
    else:
        exchange = json.dumps({"request": body, "answer": answer}, ensure_ascii=False)
        # An answer may quote the key.
        log.exchanges.append(json.loads(exchange.replace(key, "…") if key else exchange))
        return reply
    finally:
        folder.save_log(name, log)
