"""Running the workflow from tests, in a folder of its own, with a small study made of the demo corpus."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from support.forks import SETTINGS, warm
from tripleaudit.core.errors import UserError
from tripleaudit.study.study import Study

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "resources" / "demo"
DEMO_FILES = {split: str(DEMO / f"{split}.jsonl") for split in ("train", "valid", "test")}

SMALL = """
protocols:
  original:
  sift-1: {rule: frequency, max_count: 1}
  augmented: {mlm_steps: 4, options: {k: 3, beams: 1}}
settings: [nz, wz]
noising: {probability: 0.5}
training: {epochs: 1, batch_size: 16, encoder_learning_rate: 1.0e-4, head_learning_rate: 1.0e-3}
# an untrained extractor with a prior of a half would predict triples everywhere, and every later job would pay
extractors: {casrel: {model: {prior: 0.01}}}
threads: 1
scoring: {bootstrap: 50}
gpu: 0
"""

# sentences with and without triples taken from each split of the demo corpus
SIZES = {"train": (80, 40), "valid": (16, 8), "test": (40, 20)}


class Wildcards(dict):
    """Wildcards of a job, with attributes and ``get`` as Snakemake's have."""

    __getattr__ = dict.__getitem__


def snakemake(
    folder: Path,
    *arguments: str,
    config: Path | None = None,
    snakefile: Path = ROOT / "Snakefile",
    **environment: str,
):
    """Run ``snakemake`` on the project in ``folder``; returns the completed process with its output as text.

    It and its jobs are forked from one warm process unless ``environment`` has a ``PYTHONPATH`` of its own.
    """
    command = [
        sys.executable,
        "-P",
        "-m",
        "snakemake",
        "-s",
        str(snakefile),
        "--directory",
        str(folder),
    ]
    command += ["--cores", "2", "--configfile", str(config or folder / "study.yaml"), *arguments]
    start = {} if "PYTHONPATH" in environment else warm()
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        env={**os.environ, **SETTINGS, **start, **environment},
        cwd=folder,
    )


def ran(folder: Path, *arguments: str, **options):
    """Return :func:`snakemake`, which must succeed."""
    result = snakemake(folder, *arguments, **options)
    assert result.returncode == 0, result.stdout[-4000:] + result.stderr[-8000:]
    return result


def planned(folder: Path, *arguments: str, **options) -> dict[str, int]:
    """Return the number of jobs of each rule that a run would start; nothing is run."""
    return jobs(ran(folder, "-n", "--quiet", "rules", *arguments, **options))


def problems(config: dict) -> list[str]:
    """Return why a study cannot be planned, a line each."""
    with pytest.raises(UserError) as error:
        Study(config)
    return said(str(error.value))


def said(text: str) -> list[str]:
    """Return the lines of the message on a configuration that is not usable, out of any output."""
    lines = text.split("Configuration is not usable:\n", 1)[1].splitlines()
    return [line.strip().removeprefix("- ") for line in lines if line.strip().startswith("- ")]


def refusal(folder: Path) -> str:
    """Return why the study of a folder cannot be planned: what the workflow says before anything runs."""
    path = folder / "study.yaml"
    with contextlib.chdir(folder), pytest.raises(UserError) as error:
        Study.of_workflow(yaml.safe_load(path.read_text(encoding="utf-8")), [path])
    return str(error.value)


def configure(folder: Path, config: dict) -> Path:
    """Write the configuration of a folder, ``study.yaml``."""
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
    return path


def write_study(folder: Path, encoder: Path, **changes) -> Path:
    """Write a small study (files and ``study.yaml``) into ``folder``: every stage, minutes of nothing."""
    files = {}
    for split, sizes in SIZES.items():
        lines = []
        for name, size in zip((split, f"{split}_zero"), sizes, strict=True):
            lines += (
                (DEMO / f"{name}.jsonl")
                .read_text(encoding="utf-8")
                .splitlines(keepends=True)[:size]
            )
        (folder / f"{split}.jsonl").write_text("".join(lines), encoding="utf-8")
        files[split] = f"{split}.jsonl"
    encoded = {
        "encoder": {"model": str(encoder), "layers": 1},
        "corpora": {"tiny": {"files": files, "format": "jsonl"}},
    }
    return configure(folder, {"study": "small", **encoded, **yaml.safe_load(SMALL), **changes})


def change(folder: Path, changes: dict) -> None:
    """Change the configuration of a folder key by key."""
    path = folder / "study.yaml"

    def merged(old, new):
        if not isinstance(old, dict) or not isinstance(new, dict):
            return new
        return {**old, **{key: merged(old.get(key), value) for key, value in new.items()}}

    configure(folder, merged(yaml.safe_load(path.read_text(encoding="utf-8")), changes))


def jobs(dry_run) -> dict[str, int]:
    """The job counts per rule of a dry-run (``-n --quiet rules``); empty if Snakemake says there is nothing to do."""
    text = dry_run.stdout + dry_run.stderr
    if "Nothing to be done" in text:
        return {}
    table = text.rpartition("Job stats:\n")[2].split("\n\n")[0].splitlines()
    rows = [line.split() for line in table]
    counts = {
        name: int(number)
        for name, number in (row for row in rows if len(row) == 2 and row[1].isdigit())
    }
    assert counts.pop("total", None), f"no job counts in:\n{text[-3000:]}"
    return counts
