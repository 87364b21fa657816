"""A collection whose processes are killed at random moments, compared with an undisturbed run.

``python -m benchmarks.kill_collection --kills 10`` kills, with ``kill -9`` and in turn, a process that holds the
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
    killed, left = [], []
    run = subprocess.Popen(commands["killed"])
    while len(killed) < options.kills:
        victim, there = list(VICTIMS)[len(killed) % len(VICTIMS)], _finished(options.out)
        moment = len(there) + rng.randint(1, max(1, (blocks - len(there)) // (options.kills - len(killed) + 1)))
        found: list[psutil.Process] = []
        while run.poll() is None and not (len(_finished(options.out)) >= moment and found):
            time.sleep(0.02)
            found = _processes(run.pid, VICTIMS[victim])
        if run.poll() is not None:  # it was faster: half of its blocks are lost, as by a disk
            if run.returncode:
                return 1
            lost = rng.sample(there := _finished(options.out), len(there) // 2)
            print(f"it had finished; {len(lost)} of its blocks are taken away", flush=True)
            for path in lost:
                path.unlink()
            run = subprocess.Popen(commands["killed"])
            continue
        others = psutil.Process(run.pid).children(recursive=True)
        rng.choice(found).kill()
        killed.append(victim)
        print(f"{victim} at {len(_finished(options.out))} of {blocks} blocks", flush=True)
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
    return int(code or not equal or bool(left))


def _finished(out: Path) -> list[Path]:
    return sorted((out / "killed" / "blocks").glob("*.parquet"))


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
