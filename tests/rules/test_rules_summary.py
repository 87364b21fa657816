"""What a run says before its first job and after its last one, and what the estimate prints."""

import subprocess
from pathlib import Path

import pytest

from support.workflow import ran, snakemake, write_study

TARGET = "triple_types"


@pytest.fixture
def study(tmp_path, tiny_encoder, monkeypatch):
    """The folder of a small study."""
    monkeypatch.chdir(tmp_path)
    write_study(
        tmp_path,
        tiny_encoder,
        protocols={"original": None},
        settings=["nz"],
        noising=None,
        seeds=[1, 2],
    )
    return tmp_path


@pytest.mark.slow
def test_a_run_ends_with_a_summary_and_an_estimate_makes_nothing(study):
    result = ran(study, "--", TARGET)
    text = (study / "results/small/logs/summary.txt").read_text()
    assert text in result.stderr
    lines = text.splitlines()
    assert lines[0].startswith("Study small: 7 jobs ran in ")
    assert "1 table in results/small/tables: triple-types" in text
    timed, reported = study / "results/small/benchmarks", study / "results/small/logs"
    benchmarks = {path.relative_to(timed).with_suffix("") for path in timed.rglob("*.jsonl")}
    logs = {path.relative_to(reported).with_suffix("") for path in reported.rglob("*.log")}
    # every job is timed, where its log says, but for the target of a single table
    assert logs - benchmarks == {Path("tables/triple-types")} and len(benchmarks) == 7

    result = ran(study, "--", "estimate")
    assert "no requests to language models" in result.stdout
    assert (
        study / "results/small/logs/summary.txt"
    ).read_text() == text  # an estimate makes nothing


@pytest.mark.slow
def test_results_that_cannot_be_written_are_said_before_the_first_job(study):
    results = study / "results"
    results.mkdir()
    options = ["-t", "tmpfs", "-o", "size=64k,ro", "tmpfs", str(results)]
    if subprocess.run(["mount", *options], capture_output=True).returncode:
        pytest.skip("mounting a read-only file system needs root")
    try:
        result = snakemake(study, "--", TARGET)
    finally:
        subprocess.run(["umount", "-l", str(results)], check=True)
    assert result.returncode != 0
    assert (
        "results/small: this file system is read-only; expected a writable folder" in result.stderr
    )
    assert "Traceback" not in result.stderr
    assert "rule prepare_corpus" not in result.stderr
