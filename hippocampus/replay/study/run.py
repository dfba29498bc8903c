"""The steps of a study in their order: what is left to read and to judge, and at which price."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from math import ceil
from typing import Any

from hippocampus import tokens
from hippocampus.errors import ProviderError
from hippocampus.formats.reader import read
from hippocampus.replay.study import by_files, by_models, judging, transcript
from hippocampus.replay.study.folder import PASSES, AnswerLog, Moment, StudyFolder
from hippocampus.replay.study.wires import wire_of

FILES = "files"
MAX_CASES = 12
"""The most cases of one reader, and moments of one judge, of files."""
ANSWER_TOKENS = 700
"""The size of a step or a verdict where the price is estimated."""
MAX_FAILURES = 3
"""This number of requests in a row without a usable answer ends a run."""

Agree = Callable[[str], bool]
"""Takes a sentence about requests and their price, and returns whether to make them."""


def take_steps(folder: StudyFolder, agree: Agree) -> list[str]:
    """Let the reader take the steps that are missing; return a sentence for each problem."""
    settings = folder.settings()
    if settings.reader == FILES:
        readers = [(name, group) for group in _groups(folder) for name in group[0].cases]
        problems: list[str] = []
        for number, (name, group) in enumerate(judging.shuffled(readers, str(settings.seed)), 1):
            home, cases = f"readers/{number}", [folder.case(each.cases[name]) for each in group]
            texts = {each.id: by_files.text_to_read(folder, home, each) for each in cases}
            problems += by_files.exchange(folder, home, texts, by_files.step_in)
        return problems
    wire, cases = wire_of(settings.reader), []
    cases = [each for each in folder.cases() if folder.log(each.id).is_open]
    sent = [
        transcript.text_of_conversation(each.system, each.tools, read(each.view)) for each in cases
    ]
    work = {each.id: partial(by_models.take_step, folder, each, wire) for each in cases}
    return _ask(settings.reader, work, sum(map(tokens.count, sent)), agree)


def give_verdicts(folder: StudyFolder, agree: Agree) -> list[str]:
    """Let the judge compare the steps of each moment that has all; return a sentence a problem."""
    settings = folder.settings()
    labels: dict[str, dict[str, str]] = {}
    texts: dict[str, str] = {}
    for moment in folder.moments():
        logs = {name: folder.log(each) for name, each in moment.cases.items()}
        whole = folder.case(next(iter(moment.cases.values())))
        for name in moment.judgements():
            if all(each.result for each in logs.values()):
                labels[name] = judging.labels_of(logs, settings.seed, name)
                steps = {label: step_of(logs[each]) for label, each in labels[name].items()}
                texts[name] = judging.text_to_judge(whole, steps)
    if settings.judge == FILES:
        judges = [(at, group) for at in range(len(PASSES)) for group in _groups(folder)]
        problems: list[str] = []
        for number, (at, group) in enumerate(judges, 1):
            names = [each.judgements()[at] for each in group]
            own = {
                name: by_files.text_of_judgement(name, texts[name])
                for name in names
                if name in texts
            }

            def verdicts_in(name: str, value: Mapping[str, Any]) -> dict[str, Any] | str:
                return judging.verdicts_in(value.get("verdicts"), labels[name])

            problems += by_files.exchange(folder, f"judges/{number}", own, verdicts_in)
        return problems
    wire = wire_of(settings.judge)
    left = {name: text for name, text in texts.items() if folder.log(name).is_open}
    work = {
        name: partial(by_models.give_verdicts, folder, name, text, labels[name], wire)
        for name, text in left.items()
    }
    return _ask(settings.judge, work, sum(map(tokens.count, left.values())), agree)


def step_of(log: AnswerLog) -> str:
    """Return the step of a log as text."""
    result = log.result or {"text": "", "calls": []}
    return transcript.text_of_step(result["text"], result["calls"])


def _groups(folder: StudyFolder) -> list[list[Moment]]:
    """Return the moments in groups of equal size, at most twelve each, by chance."""
    moments = judging.shuffled(folder.moments(), str(folder.settings().seed))
    count = ceil(len(moments) / MAX_CASES)
    return [moments[start::count] for start in range(count)]


def _ask(
    model: str, work: Mapping[str, Callable[[], None]], input_tokens: int, agree: Agree
) -> list[str]:
    """Do work that asks a model, once its price is agreed to; what fails is left to the next run."""
    output_tokens = ANSWER_TOKENS * len(work)
    price = _dollars(model, input_tokens, output_tokens)
    if not work or not agree(
        f"{model}: {len(work)} requests, about {input_tokens:,} tokens in and {output_tokens:,} out, "
        f"{price}; each recall sends its request once more"
    ):
        return [f"{model}: {len(work)} requests were not made"] if work else []
    problems: list[str] = []
    in_row = 0
    for name, each in work.items():
        try:
            each()
            in_row = 0
        except ProviderError as failure:
            problems.append(f"{name}: {failure}")
            in_row += 1
        if in_row == MAX_FAILURES:
            problems.append(f"stopped after {MAX_FAILURES} failures in a row")
            break
    return problems


def _dollars(model: str, input_tokens: int, output_tokens: int) -> str:
    from genai_prices import Usage, calc_price

    usage = Usage(input_tokens=input_tokens, output_tokens=output_tokens)
    name = model.partition(":")[2].partition("@http")[0]
    try:
        return f"${calc_price(usage, model_ref=name).total_price:,.2f} at list prices"
    except LookupError:
        return "at a price that is not known"
