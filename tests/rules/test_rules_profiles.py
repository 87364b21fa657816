"""The profiles for clusters: known options, known rules, and jobs that ask for what they need
and see no network.
"""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from support.processes import program
from support.workflow import ROOT, change, ran, write_study

PROFILES = sorted(path.parent.name for path in (ROOT / "workflow/profiles").glob("*/config.yaml"))
CHECKS = ("--seconds-between-status-checks", "1", "--latency-wait", "10")


def profile(name: str) -> dict:
    return yaml.safe_load(
        (ROOT / "workflow/profiles" / name / "config.yaml").read_text(encoding="utf-8")
    )


def rules() -> dict[str, str]:
    """The text of every rule with a name, without what it takes over from another one."""
    found = {}
    for path in (ROOT / "workflow/rules").glob("*.smk"):
        text = path.read_text(encoding="utf-8")
        found |= re.findall(
            r"^ *(?:rule|use rule \w+ as) (\w+)(?: with)?:\n((?:(?: +.*)?\n)+)", text, re.MULTILINE
        )
    return found


@pytest.fixture
def folder(tmp_path) -> Path:
    """A folder with a small study, reached by the relative paths that a profile names; nothing
    is trained here.
    """
    for name in ("encoder", "box"):
        (tmp_path / name).mkdir()
    (tmp_path / "encoder" / "config.json").write_text(
        "{}", encoding="utf-8"
    )  # what a plan needs of an encoder
    write_study(tmp_path, tmp_path / "encoder")
    (tmp_path / "workflow").symlink_to(ROOT / "workflow")
    return tmp_path


def test_these_profiles_ship():
    assert PROFILES == ["default", "kubernetes", "slurm"]


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_names_options_and_rules_that_exist(name):
    from snakemake.cli import get_argument_parser

    options, executor = (
        get_argument_parser()._option_string_actions,
        profile(name).get("executor", ""),
    )
    if (
        importlib.util.find_spec(f"snakemake_executor_plugin_{executor.replace('-', '_')}") is None
        and executor
    ):
        options |= {
            f"--{key}": None for key in profile(name) if key.startswith(f"{executor}-")
        }  # unknown without it
    parts = (profile(name), *(part for key, part in profile(name).items() if key[0] == "?"))
    keys = {key for part in parts for key in part}
    assert [
        key for key in keys if not key.startswith(("__", "?")) and f"--{key}" not in options
    ] == []  # those of YTE
    settings = profile(name)
    named = {
        rule for key in ("set-resources", "set-threads", "groups") for rule in settings.get(key, {})
    }
    named |= set(filter(None, settings.get("slurm-array-jobs", "").split(", ")))
    assert named <= set(rules())


def test_more_jobs_may_start_at_once_than_a_study_has_for_one_rule():
    settings = profile("slurm")
    assert settings["jobs"] >= 2000
    assert settings["max-jobs-per-timespan"] == f"{settings['jobs']}/1s"


def test_every_rule_is_local_or_says_what_it_needs():
    sent = {
        name: text
        for name, text in rules().items()
        if "localrule: True" not in text and "output:" in text
    }
    rule_files = "".join(
        path.read_text(encoding="utf-8") for path in (ROOT / "workflow/rules").glob("*.smk")
    )
    unsaid = {
        name for name, text in sent.items() if not re.search(r"mem_mb=[^,]+.*\n +runtime=", text)
    }
    copies = {name for name in unsaid if re.search(rf"use rule \w+ as {name}\b", rule_files)}
    assert unsaid == copies


def test_fetching_is_local():
    fetching = {name for name, text in rules().items() if "tripleaudit fetch" in text}
    assert fetching == {"fetch_raw", "fetch_model", "fetch_lm", "fetch_data_set"}
    assert all("localrule: True" in rules()[name] for name in fetching)


@pytest.mark.slow
@pytest.mark.parametrize("served", [False, True], ids=["service", "own-model"])
def test_extraction_by_a_service_stays_where_the_network_is(served, folder):
    endpoint = {"model": "some-model"}
    endpoint |= (
        {"serve": {"source": "smollm2"}} if served else {"base_url": "http://localhost:9/v1"}
    )
    generative = {
        "endpoints": {"one": endpoint},
        "systems": {"one": {"endpoint": "one", "setting": "closed"}},
        "datasets": {"tiny": {"corpus": "tiny", "split": "test", "limit": 2}},
    }
    change(folder, {"generative": generative})
    result = ran(folder, "--list-rules", snakefile=ROOT / "tests/support/local_rules.smk")
    local = set(re.search("^local: (.*)$", result.stdout + result.stderr, re.MULTILINE)[1].split())
    assert {"fetch_model", "tables"} < local
    assert not local & {"train", "predict", "score", "prepare_corpus"}
    assert ("generate" in local) is not served


@pytest.mark.slow
@pytest.mark.thorough
def test_kubernetes(folder):
    run_probe(folder)
    spec = yaml.safe_load((folder / "box/2.yaml").read_text())["spec"]
    assert spec["activeDeadlineSeconds"] == 600
    container = spec["template"]["spec"]["containers"][0]
    limits = {"memory": "200M", "nvidia.com/gpu": "1"}
    assert container["resources"] == {"requests": {"cpu": "1", **limits}, "limits": limits}
    claim = spec["template"]["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"]
    setup = list(yaml.safe_load_all((ROOT / "workflow/profiles/kubernetes/setup.yaml").read_text()))
    named = {item["kind"]: item for item in setup}
    assert named["PersistentVolumeClaim"]["metadata"]["name"] == claim
    isolated = named["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"]
    assert isolated.items() <= spec["template"]["metadata"]["labels"].items()
    pod = named["Pod"]["spec"]["containers"][0]
    assert (pod["image"], pod["volumeMounts"]) == (container["image"], container["volumeMounts"])


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ("true", "running"),
        ("printf 'SuccessCriteriaMet Complete'", "success"),
        ("printf 'FailureTarget'", "running"),
        ("printf 'FailureTarget Failed'", "failed"),
        ("echo 'Error from server (NotFound)' >&2; exit 1", "failed"),
        ("echo 'connection refused' >&2; exit 1", "running"),
    ],
)
def test_states_of_jobs(tmp_path, record, said):
    program(tmp_path / "kubectl", f"#!/bin/sh\n{record}\n")
    status = ROOT / "workflow/profiles/kubernetes/status.sh"
    path = f"{tmp_path}:{os.environ['PATH']}"
    done = subprocess.run(
        [str(status), "7"], capture_output=True, text=True, env={**os.environ, "PATH": path}
    )
    assert (done.returncode, done.stdout) == (0, f"{said}\n")


# a pretended scheduler: a command named as the real one that runs each job here at once

KUBECTL = """#!{python}
import os, subprocess, sys
from pathlib import Path
import yaml

box = Path(os.environ["BOX"])
verb, *rest = sys.argv[1:]
if verb == "create":
    manifest = sys.stdin.read()
    job = yaml.safe_load(manifest)
    number = len(list(box.glob("*.yaml"))) + 1
    name = job["metadata"]["generateName"] + str(number)
    (box / f"{{number}}.yaml").write_text(manifest)
    container = job["spec"]["template"]["spec"]["containers"][0]
    given = {{item["name"]: item["value"] for item in container["env"]}}
    inside = {{key: value for key, value in os.environ.items() if key in ("PATH", "HOME", "BOX", "OMP_NUM_THREADS")}}
    exit_file = box / f"{{name}}.exit"
    command = ["sh", "-c", '"$@"; echo $? > "$0"', str(exit_file), *container["command"]]
    output = (box / f"{{number}}.output").open("w")
    subprocess.Popen(command, cwd=container["workingDir"], env={{**inside, **given}}, stdout=output, stderr=output)
    print(f"job.batch/{{name}}")
elif verb == "get":
    exit_file = box / (rest[0].removeprefix("job.batch/") + ".exit")
    if exit_file.exists():
        print("Complete" if exit_file.read_text().strip() == "0" else "FailureTarget Failed", end="")
"""


def run_probe(folder: Path) -> None:
    """Run a job that fails once; its command is in ``folder/bin`` and keeps its records in
    ``$BOX``.
    """
    program(folder / "bin" / "kubectl", KUBECTL.format(python=sys.executable))
    ran(
        folder,
        *("--workflow-profile", "workflow/profiles/kubernetes", *CHECKS, "--", "probe.txt"),
        snakefile=ROOT / "tests/support/cluster.smk",
        HF_HUB_OFFLINE="0",
        BOX=str(folder / "box"),
        PATH=f"{folder / 'bin'}:{os.environ['PATH']}",
    )
    tried = re.findall(
        r"memory=(\d+) runtime=(\d+) offline=(\d?)",
        (folder / "probe.txt").read_text(encoding="utf-8"),
    )
    assert tried == [("100", "5", "1"), ("200", "10", "1")]
