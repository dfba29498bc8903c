"""`hippocampus memory retrieve`: the memories about a prompt, for a hook that runs at every prompt.

Never blocks an agent: after any failure it exits with status 0 and no output. It imports no library of
the command line, which would delay the prompt.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

TOKENS = 2_000
OPTIONS = ["agent=", "scope=", "token-budget=", "db=", "json"]
DEFAULT_PATH = ".hippocampus"
VARIABLES = ["HIPPOCAMPUS_DB", "HIPPOCAMPUS_STATE"]
"""What names the database if no option does."""


def fast(arguments: Sequence[str]) -> bool:
    """Run `memory retrieve` if `getopt` can parse the arguments, and return whether it can."""
    if list(arguments[:2]) != ["memory", "retrieve"]:
        return False
    import getopt  # argparse takes as long to load as the search itself

    try:
        given, rest = getopt.getopt(list(arguments[2:]), "", OPTIONS)
        named = dict(given)
        token_budget = int(named.get("--token-budget", TOKENS))
    except (getopt.GetoptError, ValueError):
        return False  # the command line refuses it, or prints its help
    if rest:
        return False
    scopes = [value for name, value in given if name == "--scope"]
    agent = named.get("--agent") or os.environ.get("HIPPOCAMPUS_AGENT") or "default"
    paths = filter(None, [named.get("--db"), *map(os.environ.get, VARIABLES), DEFAULT_PATH])
    run(agent, scopes or None, token_budget, next(paths), as_json="--json" in named)
    return True


def run(
    agent: str, scopes: Sequence[str] | None, token_budget: int, path: str, *, as_json: bool
) -> None:
    """Print the memories about the prompt on stdin."""
    try:
        prompt = _prompt(sys.stdin.buffer.read().decode("utf-8-sig", "replace").strip())
        from hippocampus.cli.memory_store import is_there, opened

        if not prompt or not is_there(path):
            return
        from hippocampus.errors import EmbeddingModelError
        from hippocampus.formats.json_text import visible

        try:
            store = opened(path, agent)
        except EmbeddingModelError as other:
            sys.stderr.write(f"hippocampus: searched by words alone: {other}\n")
            store = opened(path, agent, models=False)
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
    """Return the prompt: the text itself, or the field `prompt` of a hook's JSON."""
    if not text.startswith("{"):
        return text
    from hippocampus.formats import json_text

    found = json_text.read(text)
    prompt = found.get("prompt") if isinstance(found, dict) else None
    return prompt.strip() if isinstance(prompt, str) else text
