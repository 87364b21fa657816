"""A small study on a real SLURM of this machine with the profile that ships: training,
prediction, scores, tables.
"""

import contextlib
import os
import re
import time
from types import SimpleNamespace

import pytest

from support.slurm_box import NoSlurm, accounts, obstacle, slurm_box
from support.workflow import ROOT, snakemake, write_study
from tripleaudit.core.files import read_jsonl

pytestmark = [
    pytest.mark.slow,
    pytest.mark.thorough,
    pytest.mark.skipif(obstacle() is not None, reason=str(obstacle())),
]

# Of the machine, not of the profile: it has no accounting. The first look at a job comes after
# these seconds, every further one ten seconds later than the one before, so that a few seconds more
# or less decide about ten.
BOX = "--slurm-status-command squeue --slurm-init-seconds-before-status-checks 4 --seconds-between-status-checks 1"
TABLES = {"type-f1": None, "triple-types": None}


@pytest.fixture(scope="module")
def finished(tmp_path_factory, tiny_encoder):
    """The folder of the study, what Snakemake printed, and what SLURM knows about its jobs, by
    rule.
    """
    folder = tmp_path_factory.mktemp("slurm")
    study = {"protocols": {"original": None}, "settings": ["nz"], "tables": TABLES, "gpu": "auto"}
    texts = {"files": "texts.txt", "extractor": "casrel", "gate": None, "block": 10, "jobs": 2}
    config = write_study(folder, tiny_encoder, noising=None, collections={"news": texts}, **study)
    (folder / "texts.txt").write_text("london is the capital of england\n" * 40, encoding="utf-8")
    # few sentences: an encoder that knows nothing finds triples everywhere, and that takes time
    for split, size in (("train", 32), ("valid", 6), ("test", 6)):
        path = folder / f"{split}.jsonl"
        path.write_text(
            "".join(path.read_text(encoding="utf-8").splitlines(keepends=True)[:size]),
            encoding="utf-8",
        )
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(slurm_box())
        except NoSlurm as reason:
            pytest.skip(str(reason))
        started = time.monotonic()
        result = snakemake(
            folder,
            *(
                "--workflow-profile",
                str(ROOT / "workflow/profiles/slurm"),
                *BOX.split(),
                "--latency-wait",
                "10",
            ),
            *("--", "tables", "collection", "probe.txt"),
            config=config,
            snakefile=ROOT / "tests/support/cluster.smk",
            HF_HUB_OFFLINE="0",
            PYTHONPATH=os.environ.get("PYTHONPATH", ""),  # a scheduler starts real processes
        )
        jobs = accounts(
            "JobId", "ArrayTaskId", "Comment", "Partition", "JobState", "TresPerJob", "TimeLimit"
        )
    assert result.returncode == 0, result.stdout[-4000:] + result.stderr[-8000:]
    print(f"{len(jobs)} jobs in {time.monotonic() - started:.0f} s")
    by_rule = {}
    for job in jobs:
        by_rule.setdefault(
            re.match(r"rule_(\w+?)(?:_wildcards_.*)?$", job["Comment"])[1], []
        ).append(job)
    return SimpleNamespace(folder=folder, output=result.stdout + result.stderr, jobs=by_rule)


def test_tables_are_made_of_what_the_cluster_trained_and_predicted(finished):
    for table in TABLES:
        assert (finished.folder / "results/small/tables" / f"{table}.csv").stat().st_size > 30
    # one rule scores every system: the one that was trained, and the baselines next to it
    for rule, jobs in (("train", 1), ("predict", 1), ("score", 3)):
        assert [job["JobState"] for job in finished.jobs[rule]] == ["COMPLETED"] * jobs, rule
    assert not set(finished.jobs) & {"fetch_model", "fetch_raw", "tables", "original_split"}


def test_jobs_get_the_partition_and_the_gpu_that_they_ask_for(finished):
    for rule in ("train", "predict"):
        (job,) = finished.jobs[rule]
        assert (job["Partition"], job["TresPerJob"]) == ("gpu", "gres:gpu:1")
    assert finished.jobs["train"][0]["TimeLimit"] == "08:00:00"
    assert {(job["Partition"], job["TresPerJob"]) for job in finished.jobs["score"]} == {
        ("cpu", "")
    }


def test_a_job_that_failed_asks_for_more_memory_and_sees_one_gpu_and_no_network(finished):
    assert [job["JobState"] for job in finished.jobs["probe"]] == ["FAILED", "COMPLETED"]
    first, second = (finished.folder / "probe.txt").read_text(encoding="utf-8").splitlines()
    assert re.fullmatch("memory=100 runtime=5 offline=1 gpus=[01]", first)
    assert re.fullmatch("memory=200 runtime=10 offline=1 gpus=[01]", second)


def test_the_blocks_of_a_collection_are_divided_among_jobs(finished):
    assert [job["JobState"] for job in finished.jobs["extract_collection"]] == ["COMPLETED"] * 2
    rows = [row for _, row in read_jsonl(finished.folder / "results/small/collections/news")]
    assert [row["line"] for row in rows] == list(range(1, 41))
