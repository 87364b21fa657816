"""The built wheel without the checkout: every command, and a study from its corpus to its report in
an empty folder.

By default the wheel is unpacked and found through PYTHONPATH, with this environment's dependencies.
With ``--fresh`` (`make wheel-test`) it is installed into a new environment from the package index,
which takes minutes.
"""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from support.forks import warm
from support.shared import shared
from support.workflow import DEMO, ROOT, write_study
from tripleaudit.cli import build_parser

pytestmark = pytest.mark.thorough

TEXT = {"capture_output": True, "text": True}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d"]
    folder = shared(
        tmp_path_factory,
        "wheel",
        lambda folder: subprocess.run([*build, folder], cwd=ROOT, check=True),
    )
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def place(wheel, tmp_path_factory, request):
    """The command line before ``audit`` and its environment, and the folder that the package has
    to come from.
    """
    folder = tmp_path_factory.mktemp("installed")
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    environment |= {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    if not request.config.getoption("--fresh"):
        zipfile.ZipFile(wheel).extractall(folder)
        start = warm()
        paths = {"PYTHONPATH": os.pathsep.join([start["PYTHONPATH"], str(folder)])}
        return [sys.executable, "-m", "tripleaudit"], {**environment, **start, **paths}, folder
    subprocess.run([os.environ.get("PYTHON", sys.executable), "-m", "venv", folder], check=True)
    install = [folder / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, f"torch=={os.environ['TORCH']}"], check=True)
    constraints = ROOT / "envs" / "constraints.txt"
    subprocess.run(
        [*install, "-c", constraints, f"tripleaudit[all] @ {wheel.as_uri()}"], check=True
    )
    return [str(folder / "bin" / "tripleaudit")], environment, folder


@pytest.fixture
def tripleaudit(place, tmp_path):
    """Run a command in an empty folder; returns the finished process."""
    command, environment, _ = place
    return lambda *arguments: subprocess.run(
        [*command, *map(str, arguments)], cwd=tmp_path, env=environment, **TEXT
    )


def succeeded(process):
    assert process.returncode == 0, process.stdout[-2000:] + process.stderr[-3000:]
    return process.stdout


def python(place, folder, code, **environment):
    """What a script prints that runs where the command runs."""
    command, own, _ = place
    program = command[0] if "-m" in command else str(Path(command[0]).with_name("python"))
    return succeeded(
        subprocess.run([program, "-c", code], cwd=folder, env={**own, **environment}, **TEXT)
    )


def test_the_package_comes_from_the_wheel(place, tmp_path):
    files = "s.PACKAGE / 'py.typed', s.PROJECT, s.shipped('resources/prompts/open.yaml')"
    code = f"import tripleaudit.core.shipped as s; print({files})"
    found = python(place, tmp_path, code).split()
    assert all(path.startswith(str(place[2])) and Path(path).exists() for path in found)


@pytest.mark.parametrize("command", sorted(build_parser()._subparsers._group_actions[0].choices))
def test_every_command_has_its_help(tripleaudit, command):
    assert f"tripleaudit {command}" in " ".join(succeeded(tripleaudit(command, "--help")).split())


def test_a_study_is_validated_without_being_run(tripleaudit, tmp_path):
    write_study(tmp_path, "minilm")
    assert "small: this study can run" in succeeded(tripleaudit("validate", "study.yaml"))
    (tmp_path / "faulty.yaml").write_text(
        "threads: 0\nextractors: {tplinkr: {}}\n", encoding="utf-8"
    )
    refused = tripleaudit("validate", "study.yaml", "faulty.yaml")
    assert refused.returncode == 1 and "Traceback" not in refused.stderr
    assert "- threads: expected at least 1, got 0\n" in refused.stderr
    assert (
        "- extractors/tplinkr: unknown extractor 'tplinkr', did you mean 'tplinker'?"
        in refused.stderr
    )
    assert "this study can run" in succeeded(tripleaudit("validate", "config/papers.yaml"))


VALIDATED = """
import contextlib, io, json
from tripleaudit.cli import main
from tripleaudit.core.shipped import studies

said = {}
for name in studies():
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
        main(["validate", name])
    said[name] = out.getvalue()
print(json.dumps(said))
"""


def test_every_shipped_study_is_the_same_without_the_checkout(place, tmp_path):
    checkout = {"PYTHONPATH": str(ROOT / "workflow" / "lib")}
    here, there = (
        json.loads(python(place, tmp_path, VALIDATED, **paths)) for paths in ({}, checkout)
    )
    assert here == there and len(here) > 10
    unfit = [name for name, text in here.items() if "this study can run" not in text]
    assert all("raw_root" in here[name] for name in unfit) and len(unfit) < len(here) / 3
    assert "corpora: demo" in here["demo"]


def test_audit_and_split(tripleaudit, tmp_path):
    files = [DEMO / f"{name}.jsonl" for name in ("train", "valid", "test")]
    assert "56.40 %" in succeeded(tripleaudit("audit", files[0], files[2]))
    succeeded(tripleaudit("split", *files, "--protocol", "rearranged", "--out", "rearranged"))
    assert {path.name for path in (tmp_path / "rearranged").glob("*.jsonl")} >= {
        "train.jsonl",
        "test.jsonl",
    }


def test_a_registered_corpus_is_prepared(tripleaudit, tmp_path, real_data):
    options = [
        "--corpus",
        "conll04-full",
        "--split",
        "test",
        "--raw-root",
        real_data,
        "--out",
        "test.jsonl",
    ]
    succeeded(tripleaudit("prepare", *options))
    assert len((tmp_path / "test.jsonl").read_text(encoding="utf-8").splitlines()) > 1000


def test_minea_says_what_it_would_send(tripleaudit):
    options = [
        "--schema",
        "paper",
        "--model",
        "m",
        "--endpoint",
        "http://127.0.0.1:9/v1",
        "--estimate",
    ]
    finished = tripleaudit("minea", "resources/demo/document.txt", *options)  # which ships
    assert "requests to send, 0 stored" in succeeded(finished) + finished.stderr


@pytest.mark.slow
def test_a_study_runs_to_its_report(tripleaudit, tmp_path, tiny_encoder):
    write_study(tmp_path, tiny_encoder, protocols={"original": None}, noising=None, settings=["nz"])
    succeeded(tripleaudit("run", "study.yaml", "--cores", "2"))
    assert "<table" in (tmp_path / "results/small/report.html").read_text(encoding="utf-8")
    assert (
        "Nothing to be done"
        in succeeded(again := tripleaudit("run", "study.yaml", "all")) + again.stderr
    )


@pytest.mark.slow
def test_the_demo_is_planned_by_its_name_with_a_profile_by_its_name(tripleaudit):
    planned = tripleaudit(
        "run", "demo", "-n", "--quiet", "rules", "--workflow-profile", "kubernetes"
    )
    assert "write_report" in succeeded(planned) + planned.stderr
