"""Counting: tiktoken's own figure on ordinary text, in linear time on any, and no network ever."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conversations import any_rounds
from hypothesis import given
from hypothesis import strategies as st

from hippocampus.formats.reader import read
from hippocampus.models import tokens

ALONE = """
import os, sys, tempfile
def no_network(event, _):
    if event in ("socket.connect", "socket.getaddrinfo"):
        raise SystemExit("network")
sys.addaudithook(no_network)
from hippocampus.models import tokens
print(tokens.count("hello world, hello brain"), tokens.count("hello", "cl100k_base"))
print(os.environ.get("TIKTOKEN_CACHE_DIR"))
"""


@pytest.fixture(scope="module")
def whole() -> object:
    return tokens._vocabulary("o200k_base")


@given(st.text())
def test_any_text_weighs_what_tiktoken_says_of_it_whole(whole: object, text: str) -> None:
    assert tokens.count(text) == len(whole.encode(text, disallowed_special=()))


def test_real_source_weighs_what_tiktoken_says(whole: object) -> None:
    for path in sorted(Path(os.__file__).parent.glob("c*.py"))[:12]:
        source = path.read_text("utf-8")
        assert tokens.count(source) == len(whole.encode(source, disallowed_special=()))


def test_special_tokens_in_a_text_are_text() -> None:
    assert tokens.count("<|endoftext|>") > 1


@pytest.mark.parametrize(
    "text",
    [
        " " * 1_000_000,
        "\n" * 1_000_000,
        "a" * 1_000_000,
        " \n" * 500_000,
        (" " * 19_999 + "x") * 50,
        "!" * 1_000_000,
        "\u6f22" * 500_000,
        "\ud800" * 500_000,
        "\u00a0" * 1_000_000,
        "\x1c" * 1_000_000,
    ],
    ids=["spaces", "newlines", "a", "mixed", "runs", "bangs", "han", "surrogates", "nbsp", "fs"],
)
def test_a_million_characters_take_no_more_than_seconds(text: str) -> None:
    tokens.count("warm")
    started = time.process_time()
    assert tokens.count(text) > 0
    assert time.process_time() - started < 4


def test_long_white_space_weighs_about_what_its_pieces_weigh(whole: object) -> None:
    text = f"a{' ' * 30_000}b"
    pieces = sum(len(whole.encode_ordinary(" " * 10_000)) for _ in range(3))
    assert abs(tokens.count(text) - pieces) < 5


@given(any_rounds())
def test_a_message_weighs_four_and_its_texts(rounds: object) -> None:
    for message in read([item for each in rounds for item in each]):
        texts = sum(tokens.count(text) for text in message.texts())
        images = sum(part.image_tokens for part in message.parts)
        assert tokens.count_message(message) == 4 + texts + images


def test_models_have_their_encoding_and_unknown_ones_the_newest() -> None:
    assert tokens.encoding_for("gpt-4") == "cl100k_base"
    assert tokens.encoding_for("gpt-4o") == "o200k_base"
    assert tokens.encoding_for("claude-sonnet-4-5") == "o200k_base"
    assert tokens.encoding_for(None) == "o200k_base"
    assert tokens.encoding_for("text-davinci-003") == "o200k_base"


@pytest.mark.parametrize("place", ["empty", "missing", "file", "blank", "none"])
def test_the_vocabulary_needs_no_network_and_no_home(tmp_path: Path, place: str) -> None:
    """Whatever the cache folder is; and the environment is left as it was."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("x")
    (tmp_path / "tmp").mkdir()
    env = {**os.environ, "HOME": "/proc/none", "TMPDIR": str(tmp_path / "tmp")}
    for name in ("XDG_CACHE_HOME", "TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        env.pop(name, None)
    given_folder = "" if place == "blank" else str(tmp_path / place)
    if place != "none":
        env["TIKTOKEN_CACHE_DIR"] = given_folder
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", ALONE],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    left = "None" if place == "none" else given_folder
    assert done.stdout.splitlines() == ["5 1", left]
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_home_that_can_be_written_keeps_the_vocabulary(tmp_path: Path) -> None:
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    env.pop("TIKTOKEN_CACHE_DIR", None)
    subprocess.run([sys.executable, "-c", ALONE], env=env, check=True, capture_output=True)
    assert len(list((tmp_path / "hippocampus" / "tiktoken").iterdir())) == 2
