"""Time and memory of planning the study of both extraction papers, every combination of it.

``python -m benchmarks.bench_dag`` dry-runs ``config/papers.yaml`` with one seed and with five,
prints one JSON object for each (seconds, CPU seconds, MB of the Snakemake process, jobs by rule),
and fails where one seed takes more than 20 CPU seconds: planning is one thread that never waits, so
these are its seconds on a core of its own.
"""

import json
import os
import sys
import tempfile
import time
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
STUDY = ROOT / "config" / "papers.yaml"
SEEDS = ([1], [1, 2, 3, 4, 5])
LIMIT = 20.0


def measure(seeds: list[int]) -> dict[str, object]:
    """Dry-run the study with these seeds in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "study.yaml"
        study = yaml.safe_load(STUDY.read_text(encoding="utf-8"))
        config.write_text(yaml.safe_dump({**study, "seeds": seeds}), encoding="utf-8")
        printed = Path(folder) / "printed.txt"
        command = [
            sys.executable,
            "-m",
            "snakemake",
            "-s",
            str(ROOT / "Snakefile"),
            "--directory",
            folder,
        ]
        command += ["--configfile", str(config), "--cores", "1", "-n", "--quiet", "rules"]
        began = time.perf_counter()
        with open(printed, "wb") as sink:
            actions = [(os.POSIX_SPAWN_DUP2, sink.fileno(), descriptor) for descriptor in (1, 2)]
            pid = os.posix_spawn(sys.executable, command, os.environ, file_actions=actions)
            _, status, usage = os.wait4(pid, 0)  # the memory of this process and no other
        seconds = time.perf_counter() - began
        text = printed.read_text(encoding="utf-8")
    if os.waitstatus_to_exitcode(status):
        raise RuntimeError(f"the dry-run failed:\n{text[-3000:]}")
    table = text.rpartition("Job stats:\n")[2].split("\n\n")[0].splitlines()
    rows = (line.split() for line in table)
    jobs = {row[0]: int(row[1]) for row in rows if len(row) == 2 and row[1].isdigit()}
    return {
        "seeds": len(seeds),
        "seconds": round(seconds, 1),
        "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 1),
        "peak_mb": round(usage.ru_maxrss / 1024),
        "jobs": jobs,
    }


def main() -> int:
    """Measure both; 1 if one seed takes too long."""
    results = [measure(seeds) for seeds in SEEDS]
    for result in results:
        print(json.dumps(result))
    return int(results[0]["cpu_seconds"] > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
