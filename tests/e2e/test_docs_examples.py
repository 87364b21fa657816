"""The examples of the documentation, copied out of it and run as they stand, with a tiny encoder in place of MiniLM."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from support.docs import every_block, sections
from support.extractors import save_tiny_encoder
from support.fake_endpoint import FakeEndpoint
from support.workflow import ROOT

EXAMPLES = sections(ROOT / "docs" / "extending.md")
PAGES = [ROOT / "README.md", ROOT / "config" / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the project under the name that the examples use, and an encoder where MiniLM would be fetched."""
    folder = tmp_path_factory.mktemp("examples")
    (folder / "tripleaudit").symlink_to(ROOT)
    save_tiny_encoder(folder / "resources" / "downloads" / "models" / "minilm", layers=1)
    return folder


def run(folder, title, replace=("", "")):
    """Write the files of one section and run its commands; returns what they printed."""
    threads = {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1", "TRIPLEAUDIT_GPU": "0"}
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    python_path = str(ROOT / "workflow" / "lib")
    printed = ""
    assert EXAMPLES[title], f"no code under the heading {title!r}"
    for block in EXAMPLES[title]:
        if block.file:
            (folder / block.file).write_text(block.text.replace(*replace) if replace[0] else block.text, "utf-8")
            continue
        assert block.language == "bash", block
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", block.text],
            cwd=folder,
            env={**os.environ, **threads, "PATH": path, "PYTHONPATH": python_path},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{block.text}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        printed += done.stdout
    return printed


@pytest.mark.slow
def test_a_corpus(folder):
    printed = run(folder, "A corpus")
    assert "entirely seen" in printed.lower()
    assert "people" in printed
    assert (folder / "results/people/tables/triple-types.tex").is_file()


@pytest.mark.slow
def test_an_extractor(folder):
    printed = run(folder, "An extractor")
    assert "tagger" in printed.lower()
    history = (folder / "results/tagger/models/people/original-nz/tagger/none/seed1/history.jsonl").read_text()
    losses = [row["loss"] for row in map(json.loads, history.splitlines()) if "loss" in row]
    assert losses[-1] < losses[0] / 2, "the extractor of the example does not learn"
    command = [sys.executable, "-m", "snakemake", "type_f1", "-n", "--cores", "1", "-s", "tripleaudit/Snakefile"]
    command += ["--configfile", "tagger.yaml", "--quiet", "rules"]
    (folder / "tagger.py").write_text((folder / "tagger.py").read_text().replace("prior", "prior ", 1), "utf-8")
    changed = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert re.search(r"^train +1$", changed.stdout + changed.stderr, re.MULTILINE), "a changed file retrains"


@pytest.mark.slow
def test_a_trained_extractor_in_python(folder):
    blocks = EXAMPLES["A trained extractor in Python"]
    body = ast.parse(blocks[0].text).body
    assert len(body) <= 5
    printed = run(folder, "A trained extractor in Python")
    assert len([ast.literal_eval(line) for line in printed.splitlines()]) == 2


@pytest.mark.slow
def test_a_language_model(folder):
    answer = json.dumps({"triples": [["Ada Lund", "works for", "Harrow Steel"]]})
    with FakeEndpoint(answer=answer) as fake:
        printed = run(folder, "A language model", replace=("http://localhost:8000/v1", fake.url))
    assert fake.count == 2
    assert set(fake.keys) == {"Bearer the-key-of-your-service"}
    assert "mine-open" in printed
    assert not [p for p in (folder / "results").rglob("*") if p.is_file() and b"the-key-of" in p.read_bytes()]


@pytest.mark.slow
def test_inside_another_workflow(folder):
    printed = run(folder, "Inside another workflow")
    assert len(printed.splitlines()) >= 2
    assert (folder / "summary.txt").read_text() == "".join(
        (folder / "audited/people/tables/split-sizes.csv").read_text().splitlines(keepends=True)[:3]
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_blocks_are_well_formed(page):
    for block in every_block(page):
        if block.language == "python" and "snakefile:" not in block.text:
            ast.parse(
                re.sub(r"^    ", "", block.text, flags=re.MULTILINE) if block.text.startswith(" ") else block.text
            )
        elif block.language == "yaml":
            assert isinstance(yaml.safe_load(block.text), dict | list), block.text
        elif block.language == "json":
            for text in [block.text] if not block.file.endswith("l") else block.text.splitlines():
                json.loads(text)
        elif block.language == "bash":
            done = subprocess.run([shutil.which("bash"), "-n", "-c", block.text], capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
