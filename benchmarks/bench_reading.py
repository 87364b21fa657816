"""Processor time and memory of reading and scoring synthetic corpora of growing size.

``python -m benchmarks.bench_reading [SENTENCES ...]`` prints one JSON object for each command and
size, each measured in a process of its own, and fails where a tenfold corpus takes more than
:data:`MAX_GROWTH` times as long. With ``TRIPLEAUDIT_BENCH_BASELINE``, the folder of another
checkout, it measures that one in turn and adds the ratios to it.
"""

import json
import math
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SIZES = (10_000, 100_000)
MAX_GROWTH = 13.0  # times the processor time, for ten times the sentences
COMMANDS = {
    "score": ("score", "gold.jsonl", "predicted.jsonl", "--bootstrap", "0", "--json"),
    "check": ("check", "gold.jsonl", "--json"),
    "audit": ("audit", "gold.jsonl", "half.jsonl", "--json"),
    "prepare": ("prepare", "--source", "gold.jsonl", "--out", "out.jsonl", "--report", "out.json"),
}
"""Command -> its arguments; ``half.jsonl`` is the first half of ``gold.jsonl``."""


@dataclass(frozen=True)
class Usage:
    """What one process took.

    Attributes:
        seconds: of processor time, system time included.
        megabytes: the most memory that it had at once.
    """

    seconds: float
    megabytes: float


def synthetic_rows(sentences: int, seed: int = 0) -> Iterator[dict[str, Any]]:
    """Yield rows of zero to three triples with offsets, of 50,000 names and 50 relations."""
    draw = random.Random(seed)
    for number in range(sentences):
        names = [f"Name{draw.randrange(50_000)}" for _ in range(draw.choice((1, 2, 2, 3, 4)))]
        text = f"In {1900 + number % 120} case {number} says that "
        spans = []
        for name in names:
            full_name = f"{name} Sur{int(name[4:]) % 997}"
            spans.append({"start": len(text), "end": len(text) + len(full_name), "text": full_name})
            text += f"{full_name} worked with "
        triples = [
            {"subject": subject, "relation": f"rel_{draw.randrange(50)}", "object": object_}
            for subject, object_ in pairwise(spans)
        ]
        yield {"id": f"s{number}", "text": f"{text}others.", "triples": triples}


def write_corpus(folder: Path, sentences: int, seed: int = 0) -> None:
    """Write gold sentences, the first half of them, and predictions that miss a fifth."""
    draw = random.Random(seed)
    with (
        (folder / "gold.jsonl").open("w") as gold,
        (folder / "half.jsonl").open("w") as half,
        (folder / "predicted.jsonl").open("w") as predicted,
    ):
        for number, row in enumerate(synthetic_rows(sentences, seed)):
            line = json.dumps(row) + "\n"
            gold.write(line)
            if number < sentences // 2:
                half.write(line)
            row["triples"] = [triple for triple in row["triples"] if draw.random() < 0.8]
            predicted.write(json.dumps(row) + "\n")


def run_command(arguments: Sequence[str], folder: Path, checkout: Path) -> Usage:
    """Run a command of the package of a checkout in a folder."""
    environment = {**os.environ, "PYTHONPATH": str(checkout / "workflow" / "lib")}
    command = [sys.executable, "-m", "tripleaudit", *arguments]
    process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return Usage(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def measure(sizes: Sequence[int], baseline: Path | None = None) -> Iterator[dict[str, Any]]:
    """Yield the figures of each command and size."""
    for size in sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_corpus(folder, size)
            for command, arguments in COMMANDS.items():
                usage = run_command(arguments, folder, ROOT)
                row: dict[str, Any] = {
                    "command": command,
                    "sentences": size,
                    "seconds": round(usage.seconds, 2),
                    "megabytes": round(usage.megabytes),
                }
                if baseline is not None:
                    before = run_command(arguments, folder, baseline)
                    row["baseline_seconds"] = round(before.seconds, 2)
                    row["baseline_megabytes"] = round(before.megabytes)
                    row["ratio"] = round(usage.seconds / before.seconds, 3)
                yield row


def grows_too_fast(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return a sentence for each command whose time grows faster than its corpus."""
    problems = []
    for command in COMMANDS:
        measured = [row for row in rows if row["command"] == command]
        for small, large in pairwise(measured):
            tenfold = math.log(large["sentences"] / small["sentences"], 10)
            growth = large["seconds"] / small["seconds"]
            if growth > MAX_GROWTH**tenfold:
                problems.append(
                    f"{command}: {growth:.1f} times as long from {small['sentences']} to "
                    f"{large['sentences']} sentences"
                )
    return problems


def main(arguments: Sequence[str] = ()) -> int:
    """Measure and print; 1 if some command's time grows faster than its corpus."""
    from .speed import results_folder  # imports torch, which takes a while

    sizes = [int(argument) for argument in arguments] or list(SIZES)
    other = os.environ.get("TRIPLEAUDIT_BENCH_BASELINE")
    baseline = Path(other).resolve() if other else None
    rows = []
    for row in measure(sizes, baseline):
        print(json.dumps(row), flush=True)
        rows.append(row)
    out = results_folder() / "reading.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(rows, indent=2) + "\n")
    problems = grows_too_fast(rows)
    for problem in problems:
        print(f"missed: {problem}")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
