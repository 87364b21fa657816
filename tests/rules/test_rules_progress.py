"""What a run prints: a bar where a terminal can draw one, plain logs elsewhere, and the log of a
failed job in both.
"""

import contextlib
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.thorough

PROFILE = Path(__file__).resolve().parents[2] / "workflow" / "profiles" / "default"
SNAKEFILE = """
rule all:
    input: "made", "other"
rule make:
    output: "made"
    shell: "touch {output}"
rule fail:
    output: "other"
    log: "fail.log"
    shell: "echo what went wrong > {log}; false"
"""


@pytest.mark.parametrize("terminal", [True, False])
def test_a_terminal_shows_a_bar_and_everything_else_plain_logs(tmp_path, terminal):
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    command = [
        sys.executable,
        "-m",
        "snakemake",
        "--cores",
        "1",
        "--keep-going",
        "--workflow-profile",
        str(PROFILE),
    ]
    reader, writer = pty.openpty() if terminal else os.pipe()
    out = writer if terminal else subprocess.DEVNULL
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    run = subprocess.Popen(command, cwd=tmp_path, stdout=out, stderr=writer, env=environment)
    os.close(writer)
    shown = b""
    with contextlib.suppress(OSError):  # as a terminal ends
        while part := os.read(reader, 65536):
            shown += part
    os.close(reader)
    assert run.wait() == 1
    assert (b"Total Progress" in shown) == terminal
    assert (b"1 of 3 steps (33%) done" in shown) != terminal
    assert b"what went wrong" in shown
