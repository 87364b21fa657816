"""A small sample of the bad inputs; ``make fuzz`` runs all."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EVERY = 17


def test_bad_inputs_end_with_one_sentence() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz", "--every", str(EVERY), "--seed", "3"],
        cwd=ROOT, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    run, there = map(int, re.search(r"(\d+) of (\d+) cases .* 0 wrong", done.stdout).groups())
    assert there > 400 and run == -(-there // EVERY)
