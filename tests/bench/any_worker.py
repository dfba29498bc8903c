"""How many views are those of a session that stays, where other workers take its calls.

    python -m tests.bench.any_worker PATH...

The calls of each recording go to a session that is opened anew for each of them, and to two workers in
turn. The status is 1 where a view or a sum is another.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from session.test_any_worker import anew, compared, in_turn

from hippocampus.replay.measure import Script
from hippocampus.replay.readers import find_files, read_file
from hippocampus.storage import database


def main() -> bool:
    """Print the figures of each way, and the recordings that part; return whether one does."""
    database.new_mark = lambda: "aa"  # opens the ids of both states
    recordings = [each for path in find_files(sys.argv[1:]) for each in read_file(path)]
    is_other = False
    for workers in (anew, in_turn):
        views = calls = 0
        for recording in recordings:
            lists = [recording.messages[:end] for end in Script(recording).call_ends]
            if not lists:
                continue
            with tempfile.TemporaryDirectory() as folder:
                found = compared(Path(folder), lists, workers)
            views, calls = views + found.views, calls + found.calls
            if found.views < found.calls or not found.are_sums:
                print(f"{recording.path}: {found}", flush=True)
                is_other = True
        name = workers.__name__
        print(f"{name}: {views} of {calls} views of {len(recordings)} recordings", flush=True)
    return is_other


if __name__ == "__main__":
    sys.exit(main())
