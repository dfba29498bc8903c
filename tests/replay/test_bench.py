"""The measures of retrieval, on conversations of our own."""

from __future__ import annotations

import json

import pytest

from hippocampus.errors import RecordingError
from hippocampus.replay.bench import beam, locomo, retrieval

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
    report = retrieval.report(locomo.read(path))
    assert report["questions"] == 2
    assert report["without_model"]["turn"] == {"5": 1.0, "10": 1.0, "20": 1.0}
    assert report["without_model"]["session"]["5"] == 1.0
    assert report["without_model"]["by_category"]["multi-hop"]["questions"] == 1
    assert "with_embedding" not in report


def test_captions_and_speakers_are_a_part_of_a_turn():
    turns = locomo._conversation(TALK).turns
    assert turns[1].text == "Jo: Lovely! [a green boat]"


def test_another_file_is_refused(tmp_path):
    path = tmp_path / "other.json"
    for text in ("{}", "[1]", "a"):
        path.write_text(text)
        with pytest.raises(RecordingError, match="not a LoCoMo file"):
            locomo.read(path)


CHAT = [
    {
        "batch_number": 1,
        "turns": [
            [
                {"role": "user", "id": 0, "content": "My parrot is called Rex."},
                {"role": "assistant", "id": 1, "content": "A fine name for a parrot."},
            ]
        ],
    },
    {"batch_number": 2, "turns": [[{"role": "user", "id": 2, "content": "I run marathons."}]]},
]
ASKED = {
    "knowledge_update": [
        {"question": "What is my parrot called?", "source_chat_ids": {"first": [0], "last": [2]}}
    ],
    "abstention": [{"question": "Which car do I drive?"}],
}


def test_chats_of_beam_are_read_from_files_and_from_the_folders_of_its_repository(tmp_path):
    (tmp_path / "100K" / "7" / "probing_questions").mkdir(parents=True)
    (tmp_path / "100K" / "1.json").write_text(json.dumps({"chat": CHAT, "questions": ASKED}))
    (tmp_path / "100K" / "7" / "chat.json").write_text(json.dumps(CHAT))
    asked = tmp_path / "100K" / "7" / "probing_questions" / "probing_questions.json"
    asked.write_text(json.dumps(ASKED))
    one, other = beam.read([tmp_path / "100K"])
    assert (one.length, other.length) == ("100K", "100K")
    assert one.turns == other.turns
    assert [question.evidence for question in one.questions] == [{(1, 0), (2, 2)}]


def test_beam_is_reported_by_kind_and_by_length_next_to_fts5(tmp_path):
    (tmp_path / "short").mkdir()
    (tmp_path / "short" / "1.json").write_text(json.dumps({"chat": CHAT, "questions": ASKED}))
    report = retrieval.report(beam.read([tmp_path / "short"]))
    for way in ("plain_fts5", "without_model"):
        assert report[way]["by_category"]["knowledge_update"]["turn"]["10"] == 0.5
        assert report[way]["by_length"]["short"]["questions"] == 1


def test_a_folder_without_a_chat_of_beam_is_refused(tmp_path):
    with pytest.raises(RecordingError):
        beam.read([tmp_path])
    (tmp_path / "1.json").write_text("{}")
    with pytest.raises(RecordingError):
        beam.read([tmp_path])
    (tmp_path / "1.json").write_text("no JSON")
    with pytest.raises(RecordingError, match="not a chat of BEAM: text that is not JSON"):
        beam.read([tmp_path])
