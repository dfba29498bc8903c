"""A trial from end to end: a scripted model on loopback solves some tasks and fails others."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from commands import run
from models.endpoint import Answer, Asked, Server, endpoint
from replay.study.scripted_endpoint import is_chat, said

from hippocampus.errors import StoreError
from hippocampus.replay import trial as trials
from hippocampus.replay.journal import RunJournal
from hippocampus.replay.readers.json_files import MAX_DEPTH
from hippocampus.replay.trial import (
    RAW,
    VIEW,
    Task,
    TrialRecord,
    TrialSettings,
    attempts_at,
    mcnemar,
    report,
    tasks_in,
)
from hippocampus.testing import entry_ids

WIRES = ("openai", "anthropic")
FIRST_WIRE = [WIRES[0], pytest.param(WIRES[1], marks=pytest.mark.slow)]
ROWS = 400
EXAMPLES = Path(__file__).parents[2] / "examples"
Script = Callable[[Asked, Answer], Answer]


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    """Two tasks: which line of a log has the error; the agent gets the second one wrong."""
    folder = tmp_path / "tasks"
    for name in ("easy", "hard"):
        work = folder / name / "workspace"
        work.mkdir(parents=True)
        lines = [f"2026-03-01 worker {n} took {n * 7} ms" for n in range(ROWS)]
        lines[211] += " ERROR"
        (work / "log.txt").write_text("\n".join(lines))
        (folder / name / "prompt.md").write_text(
            f"The {name} one: write the worker with the error to answer.txt."
        )
        verify = folder / name / "verify"
        verify.write_text('#!/bin/sh\n[ "$(cat answer.txt)" = 211 ]\n')
        verify.chmod(0o755)
    return folder


def called(asked: Asked, number: int, tool: str, **arguments: Any) -> Any:
    if is_chat(asked):
        function = {"name": tool, "arguments": json.dumps(arguments)}
        call = {"id": f"c{number}", "type": "function", "function": function}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        return {"choices": [{"message": message}]}
    return {"content": [{"type": "tool_use", "id": f"c{number}", "name": tool, "input": arguments}]}


def step(asked: Asked) -> Any:
    """Read the log, look at a few things, find the row, and write the answer."""
    text = json.dumps(asked.body["messages"], ensure_ascii=False)
    number = len(re.findall(r'"assistant"', text))
    if number == 0:
        return called(asked, number, "bash", command="cat log.txt")
    if number < 6:
        return called(asked, number, "bash", command=f"echo look {number}")
    if number == 6 and entry_ids(asked.body["messages"]):
        return called(
            asked, number, "recall", entry_id=entry_ids(asked.body["messages"])[0], pattern="ERROR"
        )
    if 'answer.txt\\"' not in text and "> answer.txt" not in text:
        [found] = set(re.findall(r"worker (\d+) took \d+ ms ERROR", text))
        wrong = "The hard one" in text
        return called(asked, number, "bash", command=f"echo {7 if wrong else found} > answer.txt")
    return said(asked, "It is written.")


def billed(asked: Asked, value: Any) -> Any:
    size = len(json.dumps(asked.body)) // 4
    counts = (
        ("prompt_tokens", "completion_tokens")
        if is_chat(asked)
        else ("input_tokens", "output_tokens")
    )
    return {**value, "usage": {**dict(zip(counts, (size, 10), strict=True)), "cost": size / 1e6}}


@contextmanager
def model(script: Script = lambda _, answer: answer) -> Iterator[Server]:
    with endpoint(lambda asked: script(asked, Answer(billed(asked, step(asked))))) as server:
        yield server


def command(tasks: Path, server: Server, wire: str, *more: object) -> list[object]:
    policy = tasks.parent / "short.yaml"
    policy.write_text("extends: default\ncompression: 200\nfresh_up_to_tokens: 0\nread_turns: 0\n")
    named = f"{wire}:some-model@{server.address}"
    out = tasks.parent / "out"
    return ["trial", tasks, "--out", out, "--model", named, "--policy", policy, "--yes", *more]


def trial(tasks: Path, server: Server, wire: str, *more: object) -> tuple[dict[str, Any], str]:
    done = run(*command(tasks, server, wire, "--json", *more), cwd=tasks.parent)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


@pytest.mark.parametrize("wire", WIRES)
def test_both_conditions_are_run_verified_and_paid(tasks: Path, wire: str) -> None:
    with model() as server:
        found, told = trial(tasks, server, wire)
    raw, view = (found["conditions"][each] for each in (RAW, VIEW))
    assert (found["pairs"], raw["solved"], view["solved"], raw["recalls"]) == (2, 1, 1, 0)
    assert view["recalls"] == 2
    assert raw["calls"] + view["calls"] == len(server.asked)
    assert view["input_tokens"] < raw["input_tokens"]
    assert found["cost_percent"][0] == pytest.approx(
        100 * view["dollars"] / raw["dollars"],
        abs=0.5,  # of rounded dollars
    )
    assert found["mcnemar_p"] == 1.0
    assert "needs about 626 pairs" in told


@pytest.mark.parametrize("wire", FIRST_WIRE)
def test_a_run_that_was_killed_goes_on_and_pays_nothing_twice(tasks: Path, wire: str) -> None:
    held, release = threading.Event(), threading.Event()

    def hold_the_fifth(asked: Asked, answer: Answer) -> Answer:
        if len(server.asked) == 5:
            held.set()
            answer.wait = release
        return answer

    with model(hold_the_fifth) as server:
        arguments = map(str, command(tasks, server, wire))
        killed = subprocess.Popen([sys.executable, "-P", "-m", "hippocampus", *arguments])
        assert held.wait(60)
        killed.kill()
        killed.wait()
        release.set()
        found, _ = trial(tasks, server, wire)
        again, _ = trial(tasks, server, wire)
    calls = sum(each["calls"] for each in found["conditions"].values())
    assert (found["pairs"], calls) == (2, len(server.asked) - 1)
    assert again == found


def test_the_budget_stops_a_run_and_a_larger_one_goes_on(tasks: Path) -> None:
    with model() as server:
        stopped, told = trial(tasks, server, "openai", "--budget", 0.003)
        assert "the budget of $0.00 is spent" in told
        assert stopped["pairs"] < 2
        asked = len(server.asked)
        whole, _ = trial(tasks, server, "openai", "--budget", 5)
    assert whole["pairs"] == 2
    assert sum(each["calls"] for each in whole["conditions"].values()) == len(server.asked) > asked


def test_a_budget_without_a_price_stops_after_one_call(tasks: Path) -> None:
    def unpriced(_: Asked, answer: Answer) -> Answer:
        del answer.value["usage"]["cost"]
        return answer

    with model(unpriced) as server:
        _, told = trial(tasks, server, "openai", "--budget", 5)
    assert "the price of a call is not known" in told
    assert len(server.asked) == 1


def test_a_refusal_ends_an_attempt_and_a_failure_leaves_it_open(tasks: Path) -> None:
    def refuse(asked: Asked, answer: Answer) -> Answer:
        is_hard = "The hard one" in json.dumps(asked.body)
        return Answer(said(asked, "", refusal="No.")) if is_hard else Answer({"error": "no"}, 400)

    with model(refuse) as server:
        found, told = trial(tasks, server, "openai")
    assert found["pairs"] == 1
    assert [each["refused"] for each in found["conditions"].values()] == [1, 1]
    assert told.count('status 400: {"error": "no"}') == 2


def test_a_command_ends_at_its_time_and_gets_no_key(
    tasks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    shutil.rmtree(tasks / "hard")

    def sleep(asked: Asked, answer: Answer) -> Answer:
        if len(asked.body["messages"]) == 1:
            answer.value = called(asked, 0, "bash", command="echo key:$OPENAI_API_KEY; sleep 60")
        else:
            answer.value = said(asked, "Enough.")
        return answer

    with model(sleep) as server:
        trial(tasks, server, "openai", "--seconds", 1)
    results = [
        each.body["messages"][-1]["content"]
        for each in server.asked
        if len(each.body["messages"]) > 1
    ]
    assert set(results) == {"key:\n\n(ended after 1 seconds)\n(exit status -9)"}


def test_a_process_that_keeps_the_output_open_holds_no_trial(tmp_path: Path) -> None:
    output, _ = trials._run(["bash", "-c", "echo begun; setsid sleep 40 &"], tmp_path, 0.5)
    assert output == "begun\n\n(ended after 0.5 seconds)"


@pytest.mark.slow
def test_a_verdict_may_take_longer_than_a_command(tasks: Path) -> None:
    verify = tasks / "easy" / "verify"
    verify.write_text(verify.read_text().replace("sh\n", "sh\nsleep 3\n"))
    with model() as server:
        found, _ = trial(tasks, server, "openai", "--seconds", 2)
    assert [each["solved"] for each in found["conditions"].values()] == [1, 1]


@pytest.mark.parametrize(
    ("prompt", "seen"),
    [(b"", "needs a folder `workspace`"), (b"\xff", "prompt.md cannot be read: 'utf-8' codec")],
)
def test_a_task_that_is_not_whole_is_named(tmp_path: Path, prompt: bytes, seen: str) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "prompt.md").write_bytes(prompt)
    with pytest.raises(StoreError, match=seen):
        tasks_in(tmp_path)


def test_a_folder_without_whole_tasks_is_refused(tmp_path: Path) -> None:
    with model() as server:
        done = run(
            "trial",
            tmp_path,
            "--out",
            tmp_path / "o",
            "--model",
            f"openai:m@{server.address}",
            "--yes",
            cwd=tmp_path,
        )
    assert (done.returncode, server.asked) == (2, [])
    assert "holds no task" in done.stderr


def test_other_settings_are_another_trial(tasks: Path) -> None:
    with model() as server:
        trial(tasks, server, "openai")
        done = run(*command(tasks, server, "openai", "--seed", 8), cwd=tasks)
    assert done.returncode == 2
    assert "a trial with other settings" in done.stderr


def test_the_order_is_by_chance_and_the_same_again(tasks: Path) -> None:
    found = tasks_in(tasks)
    orders = [list(attempts_at(found, seed)) for seed in range(20)]
    assert orders == [list(attempts_at(found, seed)) for seed in range(20)]
    assert {order[0] for order in orders} == {"easy-raw", "easy-view", "hard-raw", "hard-view"}


def test_figures_are_of_pairs_that_have_ended(tasks: Path) -> None:
    record = TrialRecord(tasks.parent / "out", TrialSettings("tasks", "openai:m"))
    for name, solved in (("easy-raw", True), ("easy-view", False), ("hard-raw", True)):
        ended = {"solved": solved, "reason": "answer", "recalls": 0, "seconds": 1.0}
        record.add(name=name, answer={}, dollars=1.0, seconds=1.0)
        record.add(name=name, ended=ended)
    found = report(record, tasks_in(tasks))
    assert (found["pairs"], found["solved_by_raw_alone"], found["dollars"]) == (1, 1, 3.0)
    assert found["cost_percent"] == [100.0, 100.0, 100.0]


def test_a_record_as_deep_as_a_recording_may_be_is_read_again(tmp_path: Path) -> None:
    value: Any = "kept"
    for _ in range(MAX_DEPTH):
        value = [value]
    RunJournal(tmp_path, "record").add(view=value)
    assert RunJournal(tmp_path, "record").last("view") == value


@pytest.mark.parametrize(("one", "other", "p"), [(0, 0, 1.0), (10, 1, 0.01171875), (3, 3, 1.0)])
def test_mcnemar_is_the_exact_binomial_test(one: int, other: int, p: float) -> None:
    assert mcnemar(one, other) == p == mcnemar(other, one)


def shipped(folder: Path) -> dict[str, Task]:
    script = EXAMPLES / "trial_tasks.py"
    subprocess.run([sys.executable, script, folder], check=True)
    return {task.name: task for task in tasks_in(folder)}


def verified(task: Task) -> bool:
    command = [task.verify]
    return not subprocess.run(
        command, cwd=task.workspace, capture_output=True, check=False
    ).returncode


def test_the_tasks_that_ship_are_the_same_again_unsolved_and_can_be_solved(tmp_path: Path) -> None:
    tasks, again = shipped(tmp_path / "one"), shipped(tmp_path / "two")
    assert len(tasks) == 20
    assert list(tasks) == list(again)
    for name, task in tasks.items():
        assert task.prompt == again[name].prompt
        assert task.verify.read_bytes() == again[name].verify.read_bytes()
    for name in ("tickets-00", "logs-01", "modules-02"):
        task = tasks[name]
        assert not verified(task)
        SOLUTIONS[name.partition("-")[0]](task.prompt, task.workspace)
        assert verified(task)


@pytest.mark.slow
def test_the_recorded_trial_is_that_of_the_scripted_model(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, EXAMPLES / "trial_tasks.py", tmp_path / "tasks", "--count", "3"],
        check=True,
    )
    recorded = tmp_path / "recorded"
    shutil.copytree(EXAMPLES / "trial", recorded)
    begun = ["trial", tmp_path / "tasks", "--yes", "--json"]
    served = [sys.executable, EXAMPLES / "trial_model.py", "0"]
    with subprocess.Popen(served, stdout=subprocess.PIPE, text=True) as process:
        address = process.stdout.readline().strip()
        own = ["--out", tmp_path / "own", "--model", f"openai:scripted@{address}"]
        again = run(*begun, *own, cwd=tmp_path)
        process.kill()
    its = ["--out", recorded, "--model", "openai:scripted@http://127.0.0.1:8765/v1"]
    whole = run(*begun, *its, cwd=tmp_path)  # no model answers there: all pairs have ended
    found = [json.loads(each.stdout) for each in (whole, again)]
    for each in found:
        assert each["pairs"] == 3
        for figures in each["conditions"].values():
            del figures["seconds"]
    assert found[0] == found[1]
    raw, view = (found[0]["conditions"][each] for each in (RAW, VIEW))
    assert (raw["solved"], view["solved"], view["recalls"]) == (2, 2, 10)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A clone with a bug, whose mend is in a later commit."""
    clone = tmp_path / "clones" / "shop__till"
    clone.mkdir(parents=True)
    for name, text in (("till.py", "RATE = 7\n"), ("test_till.py", "")):
        (clone / name).write_text(text)
    git(clone, "init", "-q")
    git(clone, "add", "-A")
    git(clone, "commit", "-qm", "begin")
    return clone


def git(folder: Path, *command: str) -> str:
    named = ["-c", "user.name=a", "-c", "user.email=a@localhost"]
    done = subprocess.run(
        ["git", "-C", folder, *named, *command], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


PATCH = """\
--- a/test_till.py
+++ b/test_till.py
@@ -0,0 +1,3 @@
+from till import RATE
+def test_rate(): assert RATE == 8
+def test_type(): assert isinstance(RATE, int)
"""


def swe_bench_task(repository: Path) -> dict[str, Any]:
    """Commit the mend to a clone, and return the task to make it."""
    base = git(repository, "rev-parse", "HEAD")
    (repository / "till.py").write_text("RATE = 8\n")
    git(repository, "commit", "-qam", "the mend")
    return {
        "instance_id": "shop__till-1",
        "repo": "shop/till",
        "base_commit": base,
        "problem_statement": "The rate has to be 8.",
        "test_patch": PATCH,
        "FAIL_TO_PASS": json.dumps(["test_till.py::test_rate"]),
        "PASS_TO_PASS": ["test_till.py::test_type"],
    }


def written(file: Path, clones: Path, out: Path) -> subprocess.CompletedProcess[str]:
    script = [sys.executable, EXAMPLES / "swe_bench_tasks.py", file, clones, out]
    tests = f"PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {sys.executable} -m pytest -q"
    return subprocess.run([*script, "--tests", tests], capture_output=True, text=True, check=False)


def test_a_list_of_swe_bench_is_the_tasks_of_its_lines(repository: Path, tmp_path: Path) -> None:
    task = json.dumps(swe_bench_task(repository))
    for form in (f"[{task}]", f"{task}\n"):
        file = tmp_path / "tasks.json"
        file.write_text(form)
        home = tmp_path / str(len(form))
        assert written(file, repository.parent, home).stderr == ""
        [made] = tasks_in(home)
        assert (made.name, made.prompt) == ("shop__till-1", "The rate has to be 8.")


def test_tasks_of_swe_bench_are_solved_by_their_mend_alone(
    repository: Path, tmp_path: Path
) -> None:
    file, tasks = tmp_path / "tasks.json", tmp_path / "tasks"
    file.write_text(f"{json.dumps(swe_bench_task(repository))}\n")
    assert written(file, repository.parent, tasks).returncode == 0

    def mend(asked: Asked, answer: Answer) -> Answer:
        begun = len(asked.body["messages"]) == 1
        bash = called(asked, 0, "bash", command="git log --all --oneline; echo RATE = 8 > till.py")
        answer.value = bash if begun else said(asked, "Done.")
        return answer

    with model(mend) as server:
        found, _ = trial(tasks, server, "openai")
    assert [each["solved"] for each in found["conditions"].values()] == [1, 1]
    assert "the mend" not in json.dumps([each.body for each in server.asked])
    assert not verified(tasks_in(tasks)[0])


@pytest.mark.parametrize(
    ("task", "problem"),
    [
        ({"instance_id": "x"}, "has no repo, base_commit"),
        ({"repo": "a/b"}, "git clone it as"),
        ({"base_commit": "0" * 40}, "git archive"),
    ],
)
def test_a_task_that_cannot_be_made_is_named(
    repository: Path, tmp_path: Path, task: dict[str, str], problem: str
) -> None:
    whole = {"instance_id": "x", "repo": "shop/till", "base_commit": "HEAD"}
    whole |= {"problem_statement": "", "test_patch": "", "FAIL_TO_PASS": "[]"}
    file = tmp_path / "tasks.jsonl"
    file.write_text(json.dumps(task if "instance_id" in task else {**whole, **task}))
    done = written(file, repository.parent, tmp_path / "o")
    assert (done.returncode, problem in done.stderr) == (1, True)


def solve_tickets(prompt: str, work: Path) -> None:
    number = int(re.search(r"Begin with ticket (\d+)", prompt)[1])
    wanted = re.search(r"parts of kind (\w+)", prompt)[1]
    total, first = 0, ""
    while True:
        text = (work / f"tickets/{number:03}.txt").read_text()
        amount, part = re.search(r"Parts: (\d+) of (\w+)", text).groups()
        if part == wanted:
            total += int(amount)
            first = first or re.search(r"Opened by (\w+)", text)[1]
        found = re.search(r"is (\d+) more than (-?\d+)", text)
        if not found:
            break
        number = sum(map(int, found.groups()))
    (work / "answer.txt").write_text(f"{total} {first}\n")


def solve_logs(_: str, work: Path) -> None:
    counts = {
        path.stem: len(re.findall("timed out", path.read_text()))
        for path in sorted((work / "logs").iterdir())
    }
    (work / "answer.txt").write_text("".join(f"{name} {count}\n" for name, count in counts.items()))


def solve_modules(_: str, work: Path) -> None:
    for line in (work / "RULES.md").read_text().splitlines():
        name, limit, off = re.match(r"- (\w+): from (\d+) pieces on, (\d+) ", line).groups()
        path = work / f"shop/{name}.py"
        path.write_text(
            f"{path.read_text()}\n\nwhole = price\n\n\ndef price(amount, rebate=False):\n"
            f"    less = rebate and amount >= {limit}\n"
            f"    return whole(amount) * (100 - {off}) // 100 if less else whole(amount)\n"
        )


SOLUTIONS = {"tickets": solve_tickets, "logs": solve_logs, "modules": solve_modules}
