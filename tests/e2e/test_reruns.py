"""What a finished study makes anew after an edit of the program or of its settings: the right jobs and no others.

The study runs once. An edit of the program is made in a copy of the project's tree, and Snakemake's own dry-run on the
finished study says which jobs it starts and which follow from those.
"""

import json
import os
import re
import shutil
from pathlib import Path

import pytest
import yaml

from support.fake_endpoint import FakeEndpoint
from support.needle_model import NeedleModel, make_document
from support.workflow import ROOT, jobs, snakemake, write_study

pytestmark = pytest.mark.slow

PARTS = ("Snakefile", "workflow", "profiles", "config", "envs", "resources/demo")
CHANGED = "params have changed since last execution:"


class Model(NeedleModel):
    """Finds needles, and in every other text one triple."""

    def __call__(self, body):
        shown = body["messages"][-1]["content"]
        if shown.startswith("Passage: "):
            return json.dumps({"triples": [["it", "is", shown.split()[1]]]})
        return super().__call__(body)


def settings(url: str, document: Path) -> dict:
    endpoint = {"base_url": url, "model": "fake", "max_retries": 0}
    return {
        "protocols": {"original": None, "sift-1": {"rule": "frequency", "max_count": 1}},
        "extractors": {"casrel": {"epochs": 1, "workers": 0}, "onerel": {"epochs": 1, "evaluate_from": 1}},
        "noising": None,
        "zcc": {"binary": {}},
        "generative": {
            "endpoints": {"fake": endpoint},
            "datasets": {"few": {"corpus": "tiny", "limit": 4}},
            "systems": {"open": {"endpoint": "fake"}, "semi": {"endpoint": "fake", "setting": "semi-open"}},
        },
        "needles": {"documents": [str(document)], "models": ["fake"], "schema": "demo", "iterations": 0}
        | {"piece_chars": 3000, "reserve": 300},
    }


@pytest.fixture(scope="module")
def finished(tmp_path_factory, minilm):
    """The folder of a study with every kind of job, run to its end; a large file of raw sentences among its inputs."""
    folder = tmp_path_factory.mktemp("study")
    document = folder / "report.txt"
    document.write_text(make_document(60).text, encoding="utf-8")
    with FakeEndpoint(Model()) as fake:
        write_study(folder, minilm, **settings(fake.url, document))
        pad_with_blank_lines(folder / "train.jsonl", megabytes=30)
        result = snakemake(folder, "--", "all", "generative")
    assert result.returncode == 0, result.stdout[-4000:] + result.stderr[-4000:]
    return folder


def pad_with_blank_lines(path: Path, megabytes: int) -> None:
    """Make a file of sentences large without making it longer to read."""
    path.write_bytes(path.read_bytes() + b"\n" * megabytes * 2**20)


@pytest.fixture
def tree(tmp_path):
    """A copy of the project that a test may edit."""
    for part in PARTS:
        source, target = ROOT / part, tmp_path / "tree" / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    return tmp_path / "tree"


@pytest.fixture
def copy(finished, tmp_path):
    """A copy of the finished study whose settings and files a test may change."""
    folder = tmp_path / "copy"
    shutil.copytree(finished, folder, copy_function=shutil.copy2)
    return folder


def dry_run(folder: Path, *arguments: str, tree: Path = ROOT):
    result = snakemake(folder, "-n", *arguments, "--", "all", "generative", snakefile=tree / "Snakefile")
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-3000:]
    return result


def started(result) -> set[str]:
    """The rules of which jobs run because of a changed parameter."""
    text = (result.stdout + result.stderr).rpartition("Reasons:")[2]
    lines = text.splitlines()
    found = [lines[place + 1] for place, line in enumerate(lines) if line.strip() == CHANGED]
    return {name.strip() for line in found for name in line.split(",")}


def edit(tree: Path, name: str, old: str, new: str) -> None:
    path = tree / "workflow" / "lib" / "tripleaudit" / name
    text = path.read_text(encoding="utf-8")
    assert old in text, f"{name} no longer has {old!r}; edit something else"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def change(folder: Path, changes: dict) -> None:
    path = folder / "study.yaml"
    config = yaml.safe_load(path.read_text())

    def merged(old, new):
        if not isinstance(old, dict) or not isinstance(new, dict):
            return new
        return {**old, **{key: merged(old.get(key), value) for key, value in new.items()}}

    path.write_text(yaml.safe_dump(merged(config, changes), sort_keys=False))


def test_a_copy_of_the_project_elsewhere_makes_nothing_anew(finished, tree):
    assert jobs(dry_run(finished, "--quiet", "rules", tree=tree)) == {}


NOTHING: set[str] = set()
EDITS = {
    "a docstring": ("scoring/matching.py", '"""', '"""Other words. ', NOTHING),
    "a comment": ("training/trainer.py", "\nimport ", "\n# a comment\nimport ", NOTHING),
    "a lock": ("machine/locks.py", "\nimport ", "\nCHANGED = 1\nimport ", NOTHING),
}


@pytest.mark.parametrize("kind", EDITS)
def test_an_edit_starts_the_jobs_that_depend_on_it(finished, tree, kind):
    name, old, new, expected = EDITS[kind]
    edit(tree, name, old, new)
    result = dry_run(finished, "--quiet", "rules", tree=tree)
    assert started(result) == expected
    if not expected:
        assert jobs(result) == {}


def test_a_reason_names_the_module(finished, tree):
    edit(tree, "scoring/metrics.py", "\nimport ", "\nCHANGED = 1\nimport ")
    text = dry_run(finished, tree=tree).stdout
    reasons = re.findall(r"before: (\S.*?) now: (\S.*)", text)
    assert reasons and all("'scoring.metrics'" in old and "'scoring.metrics'" in new for old, new in reasons)


SETTINGS = {
    "checkpoints": ({"extractors": {"casrel": {"save_minutes": 1}}}, NOTHING),
}


@pytest.mark.parametrize("kind", SETTINGS)
def test_a_changed_setting_starts_the_jobs_that_depend_on_it(copy, kind):
    changes, expected = SETTINGS[kind]
    change(copy, changes)
    result = dry_run(copy, "--quiet", "rules")
    assert started(result) == expected
    if not expected:
        assert jobs(result) == {}


def test_a_touched_file_of_any_size_makes_nothing_anew(copy):
    assert (copy / "train.jsonl").stat().st_size > 30e6
    for path in [*copy.glob("*.jsonl"), copy / "report.txt", *(copy / "results/small/corpora").rglob("*.jsonl")]:
        os.utime(path)
    assert jobs(dry_run(copy, "--quiet", "rules")) == {}
    with open(copy / "train.jsonl", "a") as stream:
        stream.write("\n")
    assert "prepare_corpus" in jobs(dry_run(copy, "--quiet", "rules"))
