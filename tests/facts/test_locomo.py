"""The LoCoMo measure, on a conversation of our own."""

from __future__ import annotations

import json

import pytest

from hippocampus.errors import RecordingError
from hippocampus.replay.bench import locomo

TALK = {
    "sample_id": "ours",
    "conversation": {
        "speaker_a": "Ida",
        "speaker_b": "Jo",
        "session_1_date_time": "1:00 pm on 1 May, 2023",
        "session_1": [
            {"speaker": "Ida", "dia_id": "D1:1", "text": "I adopted a parrot called Rex."},
            {"speaker": "Jo", "dia_id": "D1:2", "text": "Lovely!", "blip_caption": "a green boat"},
        ],
        "session_2": [{"speaker": "Jo", "dia_id": "D2:1", "text": "I run marathons."}],
    },
    "qa": [
        {"question": "What is Ida's parrot called?", "evidence": ["D1:1"], "category": 4},
        {
            "question": "Who runs marathons and has a boat?",
            "evidence": ["D2:1; D1:2"],
            "category": 1,
        },
        {"question": "Nothing?", "evidence": [], "category": 5},
    ],
}


def test_evidence_is_read_leniently_and_counted(tmp_path):
    path = tmp_path / "talk.json"
    path.write_text(json.dumps([TALK]))
    report = locomo.report(path)
    assert report["questions"] == 2
    assert report["without_model"]["turn"] == {"5": 1.0, "10": 1.0, "20": 1.0}
    assert report["without_model"]["session"]["5"] == 1.0
    assert report["without_model"]["by_category"]["multi-hop"]["questions"] == 1
    assert "with_embedding" not in report


def test_each_conversation_is_reported_by_itself(tmp_path):
    path = tmp_path / "talk.json"
    path.write_text(json.dumps([TALK, {**TALK, "sample_id": "again"}]))
    found = locomo.report(path, folds=True)["without_model"]
    assert list(found["folds"]) == ["ours", "again"]
    assert (
        found["mean"] == found["folds"]["ours"] == {"turn": 1.0, "session": 1.0, "all_pieces": 1.0}
    )


def test_captions_and_speakers_are_a_part_of_a_turn():
    turns = locomo._conversation(TALK).turns
    assert turns[1].text == "Jo: Lovely! [a green boat]"


def test_another_file_is_refused(tmp_path):
    path = tmp_path / "other.json"
    path.write_text("{}")
    assert locomo.read(path) == []
    path.write_text("[1]")
    with pytest.raises(RecordingError):
        locomo.read(path)
