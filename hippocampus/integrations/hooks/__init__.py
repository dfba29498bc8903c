"""`hippocampus hook`: answers one event of a coding agent, which it reads from stdin.

An event that it does not know, or that fails inside, gets no output, and the host goes on as without
it. Nothing is imported here that a small result does not need.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hippocampus.storage.state import StateStore

MAX_SECONDS = 20.0
"""After this time the hook gives up, well before the host does."""

WAITING_SECONDS = 2.0
"""How long it waits for locks of other processes, or for a server: the agent waits for it."""

Event = dict[str, Any]


def main(arguments: list[str]) -> None:
    """Answer the event on stdin: `--state-dir` is the memory, `--policy NAME` its policy.

    The memory is a state directory or the address of a server; without the option, that which
    HIPPOCAMPUS_STATE names. Another argument is named on stderr, and the event is answered.
    """
    words, options = iter(arguments), {"--state-dir": "", "--policy": "default"}
    for word in words:
        name, equals, value = word.partition("=")
        if name in options:
            options[name] = value if equals else next(words, "")
        else:
            with contextlib.suppress(OSError):  # a host may have closed it
                sys.stderr.write(f"hippocampus: hook has no argument {word!r}\n")
    state = options["--state-dir"] or os.environ.get("HIPPOCAMPUS_STATE") or ".hippocampus"
    watch = threading.Timer(MAX_SECONDS, _give_up, (state,))
    watch.daemon = True
    watch.start()
    try:
        event = json.loads(sys.stdin.buffer.read())
        answer = answer_event(event, state, options["--policy"])
        if answer is not None:
            sys.stdout.write(json.dumps(answer))
            sys.stdout.flush()
    except Exception as failure:  # noqa: BLE001 - law 3: a hook that fails must not stop an agent
        note_event(state, {"failed": f"{type(failure).__name__}: {failure}"})
    finally:
        watch.cancel()


def _give_up(state: str) -> None:
    note_event(state, {"failed": f"no answer within {MAX_SECONDS:g} seconds"})
    os._exit(0)


def answer_event(event: Any, state: str, policy: str) -> Event | None:
    """Return the answer to an event of any host; None leaves everything as it is."""
    name = str(event.get("hook_event_name")) if isinstance(event, dict) else ""
    if name in {"PostToolUse", "AfterTool"}:
        from hippocampus.integrations.hooks import tool_output

        return tool_output.shorten_result(event, state, policy)
    if name in {"SessionStart", "UserPromptSubmit", "BeforeAgent"}:
        from hippocampus.integrations.hooks import context

        text = context.text_for(event, state, policy)
        more = {"hookEventName": name, "additionalContext": text}
        return {"hookSpecificOutput": more} if text else None
    if name in {"PreCompact", "SessionEnd"}:
        from hippocampus.integrations.hooks import transcripts

        transcripts.start(event, state, policy)
    return None


@contextlib.contextmanager
def open_state(state: str) -> Iterator[StateStore]:
    """Open the state of a path, or of an address with the tenant of HIPPOCAMPUS_TENANT."""
    from hippocampus.storage.deadline import bounded
    from hippocampus.storage.engines import tenant_of_environment
    from hippocampus.storage.state import state_of

    named = state_of(state, tenant_of_environment())
    with contextlib.closing(named) as found, bounded(WAITING_SECONDS):
        yield found


def note_event(state: str, fields: Event) -> None:
    """Write an event down, which `hippocampus status` reads."""
    from hippocampus.errors import StoreError
    from hippocampus.storage import hook_events

    with (
        contextlib.suppress(StoreError),  # a full disk must not stop an agent either
        open_state(state) as memory,
    ):
        hook_events.add(memory.database(), fields)


def log_of(state: str) -> list[Event]:
    """Return the events, oldest first; none where they cannot be read."""
    from hippocampus.errors import StoreError
    from hippocampus.storage import hook_events

    with contextlib.suppress(StoreError), open_state(state) as memory, memory.reading() as db:
        return hook_events.events(db)
    return []
