"""Where the workflow meets the file system, the shell and Python's search path."""

import os
import shutil
import subprocess
import sys
import time

import pytest

from support.workflow import ROOT, planned, ran, snakemake, write_study

pytestmark = pytest.mark.slow
TEST_SET = "results/small/corpora/tiny/test.jsonl"


@pytest.fixture
def folder(tmp_path, tiny_encoder):
    write_study(tmp_path, tiny_encoder)
    return tmp_path


def test_a_raw_file_replaced_by_an_older_one_is_read_again(folder):
    raw = folder / "test.jsonl"
    ran(folder, "--", TEST_SET)
    lines = raw.read_text(encoding="utf-8").splitlines(keepends=True)
    assert len((folder / TEST_SET).read_text(encoding="utf-8").splitlines()) == len(lines)

    raw.touch()
    assert planned(folder, "--", TEST_SET) == {}

    raw.write_text("".join(lines[:20]), encoding="utf-8")
    yesterday = time.time() - 86_400
    os.utime(raw, (yesterday, yesterday))
    ran(folder, "--", TEST_SET)
    assert len((folder / TEST_SET).read_text(encoding="utf-8").splitlines()) == 20


@pytest.mark.parametrize("file", ["config.json", "model.safetensors"])
@pytest.mark.thorough
def test_a_local_encoder_replaced_by_an_older_one_is_noticed(folder, tiny_encoder, file):
    encoder = folder / "encoder"
    shutil.copytree(tiny_encoder, encoder)
    write_study(folder, encoder)
    target = "results/small/models/tiny/original-nz/casrel/none/seed1/model.safetensors"
    ran(folder, "--", target)
    assert planned(folder, "--", target) == {}
    data = (encoder / file).read_bytes()
    (encoder / file).write_bytes(data.replace(b"}", b" }", 1))
    os.utime(encoder / file, (1, 1))
    assert planned(folder, "--", target) == {"train": 1}


@pytest.mark.thorough
def test_modules_in_the_folder_of_a_study_are_not_imported(folder):
    mark = add_foreign_modules(folder)
    ran(folder, "--", TEST_SET, PYTHONPATH="")
    command = [
        sys.executable,
        "-P",
        "-m",
        "tripleaudit",
        "run",
        "study.yaml",
        "--",
        "-n",
        "--quiet",
    ]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert not mark.exists()


@pytest.mark.thorough
def test_jobs_of_a_cluster_import_no_modules_of_the_study_s_folder(folder):
    pytest.importorskip("snakemake_executor_plugin_cluster_generic")
    mark = add_foreign_modules(folder)
    submit = folder / "submit.sh"
    submit.write_text('#!/bin/sh\nsh "$1" > job.log 2>&1 &\necho $!\n', encoding="utf-8")
    submit.chmod(0o755)
    cluster = ["--executor", "cluster-generic", "--cluster-generic-submit-cmd", str(submit)]
    ran(folder, *cluster, "--jobs", "1", "--", TEST_SET, PYTHONPATH="")
    assert not mark.exists(), (folder / "job.log").read_text("utf-8")


@pytest.mark.thorough
def test_an_empty_entry_of_pythonpath_is_not_the_study_s_folder(folder, tmp_path_factory):
    mark = add_foreign_modules(folder)
    command = [sys.executable, "-P", "-m", "snakemake", "-s", str(ROOT / "Snakefile")]
    options = ["--directory", str(folder), "--configfile", str(folder / "study.yaml"), "--cores=1"]
    result = subprocess.run(
        [*command, *options, "--", TEST_SET],
        cwd=tmp_path_factory.mktemp("elsewhere"),
        env={**os.environ, "PYTHONPATH": f"{os.environ.get('PYTHONPATH', '')}{os.pathsep}"},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr[-4000:]
    assert not mark.exists()


def add_foreign_modules(folder):
    """Write modules of the user's own that have names of Python's; return the file in which they
    say that they were imported.
    """
    mark = folder / "imported"
    for name in ("types", "json", "random", "queue", "yaml"):
        code = (
            f"open({str(mark)!r}, 'a').write({name!r})\nraise ImportError('a script of the user')\n"
        )
        (folder / f"{name}.py").write_text(code, encoding="utf-8")
    return mark


def test_an_encoder_s_folder_may_contain_blanks_and_glob_characters(folder, tiny_encoder):
    encoder = folder / "my encoder *"
    shutil.copytree(tiny_encoder, encoder)
    write_study(folder, encoder)
    target = "results/small/models/tiny/original-nz/casrel/none/seed1/provenance.json"
    ran(folder, "--", target)
    assert (folder / target).is_file()


@pytest.mark.thorough
def test_read_only_results_are_one_sentence(folder):
    results = folder / "results"
    results.mkdir()
    if os.geteuid() == 0:
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", results])
        if mounted.returncode:
            pytest.skip("root writes everywhere, and may not mount a read-only folder here")
    else:
        results.chmod(0o555)
    try:
        result = snakemake(folder, "--", TEST_SET)
    finally:
        if os.geteuid() == 0:
            subprocess.run(["umount", "-l", results], check=True)
        else:
            results.chmod(0o755)
    output = result.stdout + result.stderr
    assert result.returncode != 0
    assert "results/small: " in output and "a writable folder" in output
    assert "Traceback" not in output


STOPPED_WHILE_SELECTING = """
import os, signal
from snakemake.scheduling.greedy import Scheduler

select_jobs = Scheduler.select_jobs

def stopped(self, *args, **kwargs):
    os.kill(os.getpid(), signal.SIGTERM)
    return select_jobs(self, *args, **kwargs)

Scheduler.select_jobs = stopped
workflow.include({snakefile!r}, overwrite_default_target=True)
"""


def test_a_run_that_is_stopped_while_it_selects_jobs_ends_and_leaves_no_lock(folder):
    snakefile = folder / "Snakefile"
    snakefile.write_text(STOPPED_WHILE_SELECTING.format(snakefile=str(ROOT / "Snakefile")))
    options = ["--cores", "2", "--configfile", "study.yaml", "--scheduler", "greedy"]
    result = subprocess.run(
        [sys.executable, "-P", "-m", "snakemake", *options, "--", TEST_SET],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert result.returncode == 1
    assert not any((folder / ".snakemake" / "locks").glob("*"))
