"""`hippocampus memory retrieve`: what the memory knows about a prompt, for a hook that runs at each one.

It never blocks an agent: whatever fails, it ends with status 0 and no output. It loads no library of
the command line, so that a prompt does not wait for one.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

TOKENS = 2_000


def default_path() -> str:
    """Return the database where nothing names another: that of HIPPOCAMPUS_STATE."""
    from hippocampus.storage.state_dir import StateDir, is_address

    state = os.environ.get("HIPPOCAMPUS_STATE") or ".hippocampus"
    return state if is_address(state) else str(StateDir(Path(state)).database)


def fast(arguments: Sequence[str]) -> bool:
    """Run `memory retrieve` where the arguments are plain, and return whether they were."""
    if list(arguments[:2]) != ["memory", "retrieve"]:
        return False
    agent = os.environ.get("HIPPOCAMPUS_AGENT") or "default"
    path = os.environ.get("HIPPOCAMPUS_DB") or default_path()
    scopes: list[str] = []
    token_budget, as_json, left = TOKENS, False, iter(arguments[2:])
    for argument in left:  # not with argparse, which takes as long to load as the search itself
        name, is_joined, value = argument.partition("=")
        if argument == "--json":
            as_json = True
        elif name not in {"--agent", "--scope", "--token-budget", "--db"}:
            return False  # the command line reads it, or refuses it
        elif not is_joined and (value := next(left, "-")).startswith("-"):
            return False
        elif name == "--agent":
            agent = value
        elif name == "--scope":
            scopes.append(value)
        elif name == "--db":
            path = value
        elif value.isdecimal():
            token_budget = int(value)
        else:
            return False
    run(agent, scopes or None, token_budget, path, as_json=as_json)
    return True


def run(
    agent: str, scopes: Sequence[str] | None, token_budget: int, path: str, *, as_json: bool
) -> None:
    """Print what the memory knows about the prompt on stdin."""
    try:
        prompt = _prompt(sys.stdin.buffer.read().decode("utf-8-sig", "replace").strip())
        from hippocampus.cli.memory_store import is_there, opened

        if not prompt or not is_there(path):
            return
        from hippocampus.formats.visible import visible
        from hippocampus.storage.facts.errors import EmbeddingModelError

        try:
            store = opened(path, agent, models=True)
        except EmbeddingModelError as other:
            sys.stderr.write(f"hippocampus: searched by words alone: {other}\n")
            store = opened(path, agent)
        with store as facts:
            text = facts.retrieve(prompt, token_budget=token_budget, scopes=scopes, agent=agent)
        if as_json:
            import json

            text = json.dumps({"memory": text}, ensure_ascii=False, indent=2)
        if text:
            sys.stdout.buffer.write(f"{visible(text)}\n".encode("utf-8", "replace"))
            sys.stdout.buffer.flush()
    except Exception as failure:  # noqa: BLE001 - law 3: a hook's retrieval must not block an agent
        sys.stderr.write(f"hippocampus: nothing retrieved: {failure}\n")


def _prompt(text: str) -> str:
    """Return the prompt: the text, or that in the JSON with which agents call their hooks."""
    if not text.startswith("{"):
        return text
    import json

    try:
        found = json.loads(text)
    except ValueError:
        return text
    prompt = found.get("prompt") if isinstance(found, dict) else None
    return prompt.strip() if isinstance(prompt, str) else text
