"""All proofs for as long as they are told: `python -m tests.trust --seconds 3600`.

Each prints its table, which docs/reference/proofs.md publishes; the status is 1 where one found something.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

TURN_CUTS = 6
"""The power cuts of one seed."""


def main() -> bool:
    """Run the proofs one after the other; return whether one has failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=600, help="for all of them, as a guess")
    share = parser.parse_args().seconds // 7
    proof = [sys.executable, "-m"]
    power = ["pytest", "-q", "-n", "0", "-m", "slow or not slow", "tests/trust/test_power.py"]
    failed = False
    for program in (
        ["tests.trust.crashes", "--kills", str(max(5, share))],
        power,
        ["tests.trust.fuzz", "--seconds", str(share)],
        ["tests.trust.load", "together", "--seconds", str(share)],
        ["tests.trust.load", "long", "--turns", str(100 * max(10, share))],
        ["tests.trust.load", "many", "--sessions", str(30 * max(10, share))],
        ["tests.trust.shapes"],
    ):
        print(f"== {' '.join(program)}", flush=True)
        seeds = {"POWER_SEEDS": str(max(4, share // TURN_CUTS))}
        failed |= bool(
            subprocess.run([*proof, *program], check=False, env=os.environ | seeds).returncode
        )
    return failed


if __name__ == "__main__":
    sys.exit(main())
