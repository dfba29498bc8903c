"""How many of the users' messages that state a claim count as their own words.

    python -m tests.bench.own_words LOCOMO_FILE BEAM_FOLDER

A message states a claim if the rules find one where all of its text is its author's.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from hippocampus.consolidation import extract
from hippocampus.facts.pasted import Written, by_author
from hippocampus.policy.yaml_files import load
from hippocampus.replay.bench import beam

NO_CLAIMS = {extract.MESSAGE, extract.PASTED, extract.UPDATE}


def of_locomo(path: Path) -> list[str]:
    """Return the messages of both speakers, without their names and captions."""
    sessions = (
        session
        for sample in json.loads(path.read_text())
        for session in sample["conversation"].values()
    )
    return [turn["text"] for session in sessions if isinstance(session, list) for turn in session]


def of_beam(folder: Path) -> list[str]:
    """Return the messages of the users."""
    turns = (turn for one in beam.read([folder]) for turn in one.turns if turn.role == "user")
    return [turn.text.split(" ->-> ")[0] for turn in turns]


def claims(said: Written) -> set[str]:
    """Return the claims of a message."""
    found = extract._of_user(said, load("default"))
    return {text for text, kind in found if kind not in NO_CLAIMS}


def counted(texts: Sequence[str]) -> str:
    """Return how many messages state a claim, and how many of them still do by their author's own words."""
    stating = [text for text in texts if claims(Written(text, ""))]
    left = sum(bool(claims(by_author(text))) for text in stating)
    return f"{left} of {len(stating)} messages that state a claim, of {len(texts)}"


if __name__ == "__main__":
    print("LoCoMo", counted(of_locomo(Path(sys.argv[1]))))
    print("BEAM", counted(of_beam(Path(sys.argv[2]))))
