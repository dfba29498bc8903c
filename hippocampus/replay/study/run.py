"""The steps of a study: what asking models costs, the steps that readers take, the judge's verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from math import ceil
from typing import Any

from hippocampus.errors import ProviderError
from hippocampus.formats.reader import read
from hippocampus.models import tokens
from hippocampus.replay.study import by_files, judging, transcript
from hippocampus.replay.study.by_models import give_verdicts, take_step
from hippocampus.replay.study.folder import PASSES, RAW, AnswerLog, Moment, StudyCase, StudyFolder
from hippocampus.replay.study.wires import wire_of

FILES = "files"
MAX_CASES = 12
"""The most cases of one reader, and moments of one judge, of files."""
ANSWER_TOKENS = 700
"""The size of a step or a verdict where the price is estimated."""
MAX_FAILURES = 3
"""This number of requests in a row without a usable answer ends a run."""


def estimate(folder: StudyFolder) -> list[str]:
    """Return the questions left to ask with their price, a sentence for each model that is asked."""
    settings = folder.settings()
    steps = [_size(each) for each in folder.cases() if folder.log(each.id).is_open]
    verdicts = [
        _size(folder.case(moment.cases[RAW])) + ANSWER_TOKENS * len(moment.cases)
        for moment in folder.moments()
        for name in moment.judgements()
        if folder.log(name).is_open and not _is_refused(folder, moment)
    ]
    return [
        f"{model}: {len(sizes)} requests, about {sum(sizes):,} tokens in and "
        f"{ANSWER_TOKENS * len(sizes):,} out, {_dollars(model, sum(sizes), len(sizes))}"
        for model, sizes in ((settings.reader, steps), (settings.judge, verdicts))
        if model != FILES and sizes
    ]


def _size(case: StudyCase) -> int:
    text = transcript.text_of_conversation(case.system, case.tools, read(case.view))
    return tokens.count(text)


def _is_refused(folder: StudyFolder, moment: Moment) -> bool:
    return any(folder.log(each).refused for each in moment.cases.values())


def _dollars(model: str, input_tokens: int, answers: int) -> str:
    from genai_prices import Usage, calc_price

    usage = Usage(input_tokens=input_tokens, output_tokens=ANSWER_TOKENS * answers)
    name = model.partition(":")[2].partition("@http")[0]
    try:
        return f"${calc_price(usage, model_ref=name).total_price:,.2f} at list prices"
    except LookupError:
        return "at a price that is not known"


def take_steps(folder: StudyFolder) -> Iterator[str]:
    """Let the reader take the missing steps; yield a problem, or an empty text for a step."""
    settings = folder.settings()
    if settings.reader != FILES:
        wire = wire_of(settings.reader)
        cases = [each for each in folder.cases() if folder.log(each.id).is_open]
        yield from _ask({each.id: partial(take_step, folder, each, wire) for each in cases})
        return
    readers = [(name, group) for group in _groups(folder) for name in group[0].cases]
    for number, (name, group) in enumerate(judging.shuffled(readers, str(settings.seed)), 1):
        home, cases = f"readers/{number}", [folder.case(each.cases[name]) for each in group]
        texts = {each.id: by_files.text_to_read(folder, home, each) for each in cases}
        yield from by_files.exchange(folder, home, texts, by_files.step_in)


def judge_steps(folder: StudyFolder) -> Iterator[str]:
    """Let the judge compare the steps of each moment that has all, and yield as `take_steps` does."""
    settings = folder.settings()
    labels: dict[str, dict[str, str]] = {}
    texts: dict[str, str] = {}
    for moment in folder.moments():
        logs = {name: folder.log(each) for name, each in moment.cases.items()}
        for name in moment.judgements() if all(each.result for each in logs.values()) else ():
            labels[name] = judging.labels_of(logs, settings.seed, name)
            steps = {label: step_of(logs[each]) for label, each in labels[name].items()}
            texts[name] = judging.text_to_judge(folder.case(moment.cases[RAW]), steps)
    if settings.judge != FILES:
        wire = wire_of(settings.judge)
        yield from _ask(
            {
                name: partial(give_verdicts, folder, name, text, labels[name], wire)
                for name, text in texts.items()
                if folder.log(name).is_open
            }
        )
        return

    def verdicts_in(name: str, value: Mapping[str, Any]) -> dict[str, Any] | str:
        return judging.verdicts_in(value.get("verdicts"), labels[name])

    judges = [(at, group) for at in range(len(PASSES)) for group in _groups(folder)]
    for number, (at, group) in enumerate(judges, 1):
        names = [name for each in group if (name := each.judgements()[at]) in texts]
        own = {name: by_files.text_of_judgement(name, texts[name]) for name in names}
        yield from by_files.exchange(folder, f"judges/{number}", own, verdicts_in)


def step_of(log: AnswerLog) -> str:
    """Return the step of a log as text."""
    result = log.result or {"text": "", "calls": []}
    return transcript.text_of_step(result["text"], result["calls"])


def _groups(folder: StudyFolder) -> list[list[Moment]]:
    """Return the moments in groups of equal size, at most twelve each, by chance."""
    moments = judging.shuffled(folder.moments(), str(folder.settings().seed))
    count = ceil(len(moments) / MAX_CASES)
    return [moments[start::count] for start in range(count)]


def _ask(work: Mapping[str, Callable[[], None]]) -> Iterator[str]:
    """Do work that asks a model, and yield its problems; what fails is left to the next run."""
    in_row = 0
    for name, each in work.items():
        try:
            each()
            in_row = 0
            yield ""
        except ProviderError as failure:
            in_row += 1
            yield f"{name}: {failure}"
        if in_row == MAX_FAILURES:
            yield f"stopped after {MAX_FAILURES} failures in a row"
            return
