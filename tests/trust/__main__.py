"""All proofs in a given time: `python -m tests.trust --seconds 3600`.

Each prints its table, which docs/reference/proofs.md publishes; one that needs longer than its share is
ended, with what it has printed. The status is 1 where one found something.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time

POWER = ["pytest", "-q", "-n", "0", "-m", "slow or not slow", "tests/trust/test_power.py"]
TURN_CUTS = 6
"""The power cuts of one seed."""


def proofs(seconds: int) -> list[list[str]]:
    """Return the programs, as modules with arguments, each for about some seconds."""
    return [
        ["tests.trust.crashes", "--kills", str(max(9, seconds))],
        POWER,
        ["tests.bench.any_worker", "examples/transcripts"],
        ["tests.bench.workers"],
        ["tests.trust.shapes"],
        ["tests.trust.load", "long", "--turns", str(40 * max(10, seconds))],
        ["tests.trust.load", "many", "--sessions", str(20 * max(10, seconds))],
        ["tests.trust.load", "together", "--seconds", str(max(1, seconds // 2))],
        ["tests.trust.extractors", "--examples", str(max(10, seconds)), "--seed", str(seconds)],
        ["tests.trust.fuzz", "--seconds", str(max(1, seconds // 2))],
    ]


def main() -> bool:
    """Run the proofs one after the other; return whether one has failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=600, help="for all of them")
    until = time.monotonic() + parser.parse_args().seconds
    failed = False
    with tempfile.TemporaryDirectory() as folder:  # one that is ended leaves its files
        for at in range(count := len(proofs(0))):
            share = max(1, int((until - time.monotonic()) / (count - at)))
            program = proofs(share)[at]
            print(f"== {' '.join(program)}", flush=True)
            own = os.environ | {"POWER_SEEDS": str(max(1, share // TURN_CUTS)), "TMPDIR": folder}
            command = [sys.executable, "-m", *program]
            with subprocess.Popen(command, env=own, start_new_session=True) as running:
                try:
                    failed |= bool(running.wait(share))
                except subprocess.TimeoutExpired:
                    print(f"ended after {share} s", flush=True)
                    os.killpg(running.pid, signal.SIGTERM)
    return failed


if __name__ == "__main__":
    sys.exit(main())
