"""A scripted model for `hippocampus trial` on loopback: python examples/trial_model.py [PORT].

It works on the tasks of `trial_tasks.py` by what stands in each request, as a model does: what a view no
longer shows it takes back with `recall`. It solves the tickets and the logs, and gives up on the modules.
Its bill is that of 3 dollars a million tokens, a tenth of it for the leading messages of its last request.
"""

from __future__ import annotations

import itertools
import json
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TICKET = re.compile(r"Ticket (\d+)\s+Opened by (\w+)\.\s+Parts: (\d+) of (\w+)")
GOES_ON = re.compile(r"is (\d+) more than (-?\d+)")
ENTRY = re.compile(r"^\[([a-z2-7]{8,12}) · ", re.MULTILINE)
CHARACTERS_PER_TOKEN, DOLLARS_PER_TOKEN = 4, 3e-6
Step = str | tuple[str, dict[str, Any]]
"""A final answer, or a tool with its arguments."""


def run(command: str) -> Step:
    """Return a call of the shell."""
    return "bash", {"command": command}


def tickets(prompt: str, said: list[str], recalled: set[str], results: list[str]) -> Step:
    """Go from ticket to ticket; at the end take back what is not shown, then add up."""
    last = next((text for text in reversed(results) if text.startswith("Ticket ")), "")
    if not last:
        first = re.search(r"ticket (\d+)", prompt)[1]
        return run(f"cat tickets/{first}.txt")
    if following := GOES_ON.search(last):
        return run(f"cat tickets/{sum(map(int, following.groups())):03}.txt")
    shown = "\n".join(said)
    for entry_id in ENTRY.findall(shown):
        if entry_id not in recalled:
            pattern = r"^(Ticket \d|Opened by|Parts:)"
            return "recall", {"entry_id": entry_id, "pattern": pattern, "max_tokens": 8000}
    if any("> answer.txt" in text for text in said):
        return "The sum is in answer.txt."
    wanted = re.search(r"parts of kind (\w+)", prompt)[1]
    plain = re.sub(r"(?m)^\s*\d+: ?", "", shown)
    found = [each for each in dict.fromkeys(TICKET.findall(plain)) if each[3] == wanted]
    total = sum(int(amount) for _, _, amount, _ in found)
    return run(f"echo '{total} {found[0][1]}' > answer.txt")


def logs(prompt: str, said: list[str], recalled: set[str], results: list[str]) -> Step:
    """Read the logs, take the lines that matter back from those that became entries, and count them."""
    del prompt
    services = (
        "auth",
        "billing",
        "cart",
        "geo",
        "mail",
        "media",
        "orders",
        "search",
        "stock",
        "users",
    )
    read, answers = results[: len(services)], results[len(services) :]
    if len(read) < len(services):
        return run(f"sort logs/{services[len(read)]}.log")
    if any("> answer.txt" in text for text in said):
        return "The counts are in answer.txt."
    entries = [entry for text in read for entry in ENTRY.findall(text)]
    for entry_id in entries:
        if entry_id not in recalled:
            return "recall", {"entry_id": entry_id, "pattern": "timed out$", "max_tokens": 8000}
    taken = dict(zip(entries, answers, strict=True))
    texts = [taken.get("".join(ENTRY.findall(text)), text) for text in read]
    lines = "".join(
        f"{name} {text.count('timed out')}\\n" for name, text in zip(services, texts, strict=True)
    )
    return run(f"printf '{lines}' > answer.txt")


def modules(prompt: str, said: list[str], recalled: set[str], results: list[str]) -> Step:
    """Look at three modules, and give up."""
    del prompt, said, recalled
    if not results:
        return run("ls shop; cat RULES.md")
    names = re.findall(r"(?m)^([a-z]\w+)\.py$", results[0])
    if len(results) <= 3:
        return run(f"cat shop/{names[len(results)]}.py")
    return "The modules differ too much."


def step(messages: list[dict[str, Any]]) -> Step:
    """Return what the model does next."""
    said = [str(each.get("content") or "") for each in messages]
    prompt = next(text for text, each in zip(said, messages, strict=True) if each["role"] == "user")
    made = [call["function"] for each in messages for call in each.get("tool_calls") or ()]
    asked = [json.loads(each["arguments"]) for each in made if each["name"] == "recall"]
    said += [each["arguments"] for each in made]
    results = [text for text, each in zip(said, messages, strict=False) if each["role"] == "tool"]
    kind = tickets if "tickets" in prompt else logs if "logs" in prompt else modules
    return kind(prompt, said, {each["entry_id"] for each in asked}, results)


class Model(BaseHTTPRequestHandler):
    """Answers requests of Chat Completions."""

    last: tuple[str, ...] = ()
    """The last request's messages."""

    def do_POST(self) -> None:
        """Answer one request."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        decided = step(body["messages"])
        message: dict[str, Any] = {"role": "assistant", "content": decided}
        if not isinstance(decided, str):
            tool, arguments = decided
            function = {"name": tool, "arguments": json.dumps(arguments)}
            call = {"id": f"c{len(body['messages'])}", "type": "function", "function": function}
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
        sent = tuple(map(json.dumps, body["messages"]))
        pairs = itertools.takewhile(
            lambda pair: pair[0] == pair[1], zip(sent, Model.last, strict=False)
        )
        total, same = (
            sum(map(len, texts)) // CHARACTERS_PER_TOKEN
            for texts in (sent, [one for one, _ in pairs])
        )
        Model.last = sent
        written = len(json.dumps(message)) // CHARACTERS_PER_TOKEN
        cost = DOLLARS_PER_TOKEN * (total - 0.9 * same + 5 * written)
        usage = {
            "prompt_tokens": total,
            "prompt_tokens_details": {"cached_tokens": same},
            "completion_tokens": written,
            "cost": round(cost, 9),
        }
        answer = json.dumps({"choices": [{"message": message}], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int([*sys.argv, "8765"][1])), Model)
    print(f"http://127.0.0.1:{server.server_port}/v1", flush=True)
    server.serve_forever()
