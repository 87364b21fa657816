"""A collection whose processes are killed at random moments, compared with an undisturbed run.

``python -m tests.benchmarks.kill_collection --kills 10`` kills, with ``kill -9`` and in turn, a process that holds the
models, any other process of Ray that works on blocks, Ray's own daemon that starts them (the raylet), and the command
itself; a command that ended is started again. It fails if a row is missing, doubled, or differs.
"""

import argparse
import contextlib
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import psutil

from tripleaudit.files import read_jsonl

from .bench_collection import ROOT, command, models_in, write_sentences

VICTIMS = {  # part of the command line
    "actor": ("MapBatches(Extract",),
    "worker": ("MapBatches(read", "ray::IDLE"),
    "raylet": ("/raylet/raylet",),
    "driver": (),
}


def main(arguments: Sequence[str] = ()) -> int:
    """Run both, compare; 1 if they differ."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sentences", type=int, default=20_000)
    parser.add_argument("--block", type=int, default=250)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "benchmarks" / "kills")
    options = parser.parse_args(list(arguments))
    rng, models = random.Random(options.seed), models_in(options.out)
    for name in ("calm", "killed"):
        write_sentences(options.out / f"{name}.txt", options.sentences)
        (options.out / name / "collection.json").unlink(missing_ok=True)
    commands = {name: command(options.out, name, models, 1, options.block) for name in ("calm", "killed")}
    subprocess.run(commands["calm"], check=True)
    blocks = -(-options.sentences // options.block)
    moments = sorted(rng.sample(range(1, blocks - 1), options.kills))  # when so many blocks are finished
    killed, left = [], []
    run = subprocess.Popen(commands["killed"])
    for number, moment in enumerate(moments):
        while run.poll() is None and len(list((options.out / "killed" / "blocks").glob("*.parquet"))) < moment:
            time.sleep(0.02)
        victim = list(VICTIMS)[number % len(VICTIMS)]
        while run.poll() is None and not (found := _processes(run.pid, VICTIMS[victim])):
            time.sleep(0.02)
        if run.poll() is not None:
            break
        others = psutil.Process(run.pid).children(recursive=True)
        rng.choice(found).kill()
        killed.append(f"{victim} at {moment} of {blocks} blocks")
        print(killed[-1], flush=True)
        if victim in ("raylet", "driver"):
            print(f"the command ended with {run.wait()}", flush=True)
            left += psutil.wait_procs(others, timeout=300)[1]
            run = subprocess.Popen(commands["killed"])
    code = run.wait()
    rows = {name: _rows(options.out / name) for name in ("calm", "killed")}
    equal = (
        sorted(rows["calm"]) == sorted(rows["killed"]) and len({row[0] for row in rows["killed"]}) == options.sentences
    )
    print(f"{len(killed)} kills; {len(rows['killed'])} rows, equal: {equal}; processes left behind: {len(left)}")
    return int(code or not equal or bool(left) or len(killed) < options.kills)


def _processes(driver: int, names: Sequence[str]) -> list[psutil.Process]:
    """Processes below the command with one of these names; without names the command."""
    if not names:
        return [psutil.Process(driver)]
    found = []
    for process in psutil.Process(driver).children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if any(name in " ".join(process.cmdline()) for name in names):
                found.append(process)
    return found


def _rows(folder: Path) -> list[tuple[int, str, str]]:
    return [(row["line"], row["text"], repr(row["triples"])) for _, row in read_jsonl(folder)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
