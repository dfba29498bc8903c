"""A browser session over the library's documentation: links are clicked by the refs just seen."""

from __future__ import annotations

import re

from recorder.agent import Agent, want
from recorder.finding import every, first

INSTRUCTIONS = (
    "You drive a browser. Each snapshot is an accessibility tree; act on elements by their ref. "
    "Refs are valid for the latest snapshot only."
)
INDEX = "index.html"


def play(agent: Agent) -> None:
    """Read about queues, follow what they raise, read about the alternatives, write notes."""
    agent.user(
        "Which of the documented modules gives us a bounded work queue with priorities and a clean "
        "shutdown? Read the pages, follow the exceptions, and write work/queues.md."
    )
    index = agent.call("", "browser_navigate", page=INDEX)
    queues = _open(agent, index, "asyncio.queues")
    raised = _follow_exceptions(agent, queues)
    threads = _open(agent, _index(agent), "queue")
    methods = _methods(threads)
    for name in ("heapq", "sched", "graphlib", "asyncio.taskgroups", "asyncio.timeouts"):
        page = _open(agent, _index(agent), name)
        methods |= _methods(page)
    agent.user("Remember: the notes need the full signature of each method, not only its name.")
    _lost_ref(agent, threads)
    _notes(agent, methods, raised)
    _sources(agent)
    _persistence(agent)
    _finish(agent, methods, raised)


def _index(agent: Agent) -> str:
    return agent.call("", "browser_navigate", page=INDEX)


def _ref(snapshot: str, target: str) -> str:
    return first(rf'link "[^"]*" \[ref=(e\d+)\]: {re.escape(target)}$', snapshot)


def _open(agent: Agent, index: str, module: str) -> str:
    ref = _ref(index, f"{module}.html")
    return agent.call(f"`{module}` is {ref}.", "browser_click", ref=ref)


def _methods(snapshot: str) -> dict[str, str]:
    """Return the signature behind each term of a page."""
    pairs = re.findall(r'- term: "(\w+)"\n\s*- text: "(\([^"]*?\))', snapshot)
    return {name: signature for name, signature in pairs if not name.startswith("_")}


def _follow_exceptions(agent: Agent, snapshot: str) -> list[str]:
    raised = every(r'link "(Queue\w+|ShutDown|\w+Full)"', snapshot)
    target = first(r"\]: (asyncio\.queues\.html#QueueFull)$", snapshot)
    page = agent.call(
        f"`{target}` says when it is raised.", "browser_click", ref=_ref(snapshot, target)
    )
    outside = first(r"\]: (builtins\.html#Exception)$", page)
    agent.call(f"Its parent is documented at {outside}.", "browser_click", ref=_ref(page, outside))
    return raised


def _lost_ref(agent: Agent, earlier: str) -> None:
    """Use a ref of an earlier page, which the open one does not have, then look again."""
    stale = every(r"\[ref=(e\d+)\]", earlier)[-1]
    agent.call(f"Back to {stale} of the queues.", "browser_click", ref=stale)
    agent.call("I look again.", "browser_snapshot")
    agent.call("", "browser_back")


def _notes(agent: Agent, methods: dict[str, str], raised: list[str]) -> None:
    rows = [f"- `{name}{signature}`" for name, signature in methods.items()]
    content = "\n".join(["# Queues", "", f"Raised: {', '.join(raised)}", "", *rows, ""])
    agent.call(
        f"{len(methods)} methods with their signatures.",
        "write_file",
        path="work/queues.md",
        content=content,
    )
    name = next(name for name in methods if name.startswith("put"))
    agent.call("", "grep", pattern=rf"`{name}\(", path="work/queues.md")


def _sources(agent: Agent) -> None:
    page = agent.call("", "browser_navigate", page="asyncio.queues.html")
    path = first(r"file:(stdlib/asyncio/queues\.py)", page)
    hits = agent.call(
        f"The page names its source, {path}.", "grep", pattern=r"^class |raise ", path=path
    )
    lines = every(r":(\d+):class \w*Priority", hits) + every(r":(\d+): +raise QueueFull", hits)
    agent.calls(
        f"The priority queue and the place that raises: lines {', '.join(lines)}.",
        *(want("read_file", path=path, start=int(line), lines=30) for line in lines),
    )


def _persistence(agent: Agent) -> None:
    agent.user("Could the tasks survive a restart? And could we format them for the log?")
    for name in ("shelve", "textwrap", "fractions", "json.encoder"):
        page = _open(agent, _index(agent), name)
        terms = list(_methods(page))[:3]
        hits = agent.call(
            f"`{name}` offers {', '.join(terms) or 'functions only'}.",
            "grep",
            pattern=rf"def ({'|'.join(terms) or 'open'})\b",
            path=f"stdlib/{name.replace('.', '/')}.py",
        )
        for place in every(r"^(stdlib/\S+?:\d+):", hits)[:2]:
            path, _, line = place.partition(":")
            agent.call("", "read_file", path=path, start=int(line), lines=20)


def _finish(agent: Agent, methods: dict[str, str], raised: list[str]) -> None:
    notes = agent.call("", "read_file", path="work/queues.md")
    name = first(r"`(put\w*)\(", notes)
    agent.call(
        "One sentence on persistence, below the list.",
        "patch_file",
        path="work/queues.md",
        old="# Queues\n",
        new="# Queues\n\nTasks survive a restart in `shelve`, written on each "
        f"`{name}{methods[name]}`.\n",
    )
    agent.answer(
        f"`asyncio.queues` and `queue` both have bounded priority queues; `{name}{methods[name]}` "
        f"waits, and what is raised is {', '.join(raised)}. The notes hold {len(methods)} methods."
    )
