"""The examples of the documentation, copied out of it and run as they stand, with a tiny encoder
in place of MiniLM.
"""

import ast
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import yaml

from support.docs import every_block, sections
from support.fake_endpoint import FakeEndpoint
from support.forks import SETTINGS, warm
from support.serving import answering
from support.workflow import ROOT, planned
from tripleaudit.testing import save_tiny_encoder

EXAMPLES = sections(ROOT / "docs" / "howto" / "extending.md") | {
    "A language model": sections(ROOT / "docs" / "howto" / "language-models.md")["In a study"]
}
PAGES = [ROOT / "README.md", ROOT / "config" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the project under the name that the examples use, and an encoder where
    MiniLM would be fetched.
    """
    folder = tmp_path_factory.mktemp("examples")
    (folder / "tripleaudit").symlink_to(ROOT)
    save_tiny_encoder(folder / "resources" / "downloads" / "models" / "minilm", layers=1)
    return folder


def shell(folder, commands):
    """Run the lines of a shell as a reader with the activated environment would; returns what
    they print.
    """
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    start = warm()
    modules = os.pathsep.join([start["PYTHONPATH"], str(ROOT / "workflow" / "lib")])
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        cwd=folder,
        env={
            **os.environ,
            **SETTINGS,
            **start,
            "TRIPLEAUDIT_GPU": "0",
            "PATH": path,
            "PYTHONPATH": modules,
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{commands}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


def run(folder, title, replace=("", "")):
    """Write the files of one section and run its commands; returns what they printed."""
    printed = ""
    assert EXAMPLES[title], f"no code under the heading {title!r}"
    for block in EXAMPLES[title]:
        if block.file:
            (folder / block.file).write_text(
                block.text.replace(*replace) if replace[0] else block.text, "utf-8"
            )
        else:
            assert block.language == "bash", block
            printed += shell(folder, block.text)
    return printed


def change(file, before, after):
    text = file.read_text("utf-8")
    assert before in text
    file.write_text(text.replace(before, after), "utf-8")


def dry_run(folder, target, study):
    """The jobs that a target would run now, by rule."""
    return planned(
        folder, "--", target, config=folder / study, snakefile=folder / "tripleaudit" / "Snakefile"
    )


@pytest.fixture(scope="module")
def corpus(folder):
    """What the page's first example prints; those after it use its corpus, whichever runs first."""
    return run(folder, "A corpus")


@pytest.fixture(scope="module")
def tagger(folder, corpus):
    return run(folder, "An extractor")


@pytest.mark.thorough
def test_a_corpus(folder, corpus):
    assert "entirely seen" in corpus.lower()
    assert "people" in corpus
    assert (folder / "results/people/tables/triple-types.tex").is_file()


@pytest.mark.thorough
def test_an_extractor(folder, tagger):
    assert "tagger" in tagger.lower()
    history = (
        folder / "results/tagger/models/people/original-nz/tagger/none/seed1/history.jsonl"
    ).read_text()
    losses = [row["loss"] for row in map(json.loads, history.splitlines()) if "loss" in row]
    assert losses[-1] < losses[0] / 2, "the extractor of the example does not learn"
    change(folder / "tagger.py", "threshold: Share = 0.5", "threshold: Share = 0.6")
    assert dry_run(folder, "type_f1", "tagger.yaml")["train"] == 1, "a changed file retrains"


@pytest.mark.thorough
def test_test_an_extractor(folder):
    (block,) = [block for block in EXAMPLES["An extractor"] if block.file == "tagger.py"]
    (folder / "tagger.py").write_text(block.text, "utf-8")
    assert "1 passed" in run(folder, "Test an extractor")


@pytest.mark.thorough
def test_plugins_of_every_kind(folder, corpus):
    """Each of the five kinds comes from a file outside the project and is seen in what one study
    prints.
    """
    (folder / "tagger.py").write_text(
        next(b.text for b in EXAMPLES["An extractor"] if b.file == "tagger.py"), "utf-8"
    )
    printed = run(folder, "Plugins")
    results = folder / "results" / "plugged"
    density = list(csv.DictReader((results / "tables" / "density.csv").open()))
    # table, protocol and corpus format
    values = {(cell["row_group"], cell["row"]): float(cell["value"]) for cell in density}
    assert values == {("notes", "original"): 1, ("notes", "recall"): pytest.approx(4 / 3)}
    scores = [line.split(",") for line in (results / "scores.csv").read_text().splitlines()]
    rules = {row[9] for row in scores[1:]}
    assert "folded" in rules and "exact-string" in rules
    assert {row[2] for row in scores[1:]} == {"original", "recall"}
    assert "Folded matching" in printed and "| tagger" in printed  # matching rule and extractor
    for file, before, after, rule, others in (
        ("folded.py", "lower()", "upper()", "score", {"prepare_corpus", "build_protocol"}),
        ("density.py", '"Mean"', '"Average"', "tables", {"score", "train"}),
    ):
        change(folder / file, before, after)
        planned = dry_run(folder, "tables", "plugged.yaml")
        change(folder / file, after, before)
        assert planned[rule] and not set(planned) & others, f"{file} was changed: {planned}"


@pytest.mark.thorough
def test_a_trained_extractor_in_python(folder, tagger):
    blocks = EXAMPLES["A trained extractor in Python"]
    body = ast.parse(blocks[0].text).body
    assert len(body) <= 5
    printed = run(folder, "A trained extractor in Python")
    assert len([ast.literal_eval(line) for line in printed.splitlines()]) == 2


@pytest.mark.thorough
def test_a_language_model(folder):
    answer = json.dumps({"triples": [["Ada Lund", "works for", "Harrow Steel"]]})
    with FakeEndpoint(answer=answer) as fake:
        printed = run(folder, "A language model", replace=("http://localhost:8000/v1", fake.url))
    assert fake.count == 2
    assert set(fake.keys) == {"Bearer the-key-of-your-service"}
    assert "mine-open" in printed
    assert not [
        p
        for p in (folder / "results").rglob("*")
        if p.is_file() and b"the-key-of" in p.read_bytes()
    ]


@pytest.mark.thorough
def test_inside_another_workflow(folder, corpus):
    run(folder, "Inside another workflow")
    audit = (folder / "audited/people/audits/people/original.json").read_text()
    assert (folder / "summary.txt").read_text() == audit[:300]


@pytest.mark.thorough
def test_systems_of_every_kind(folder):
    said = {"Finn Hale lives in Lima .": [["Finn Hale", "residence", "Lima"]]}

    def answer(body):
        shown = body["messages"][-1]["content"]
        assert "- residence: where somebody lives" in shown
        return json.dumps({"triples": said.get(shown.partition("Passage: ")[2], [])})

    page = ROOT / "docs" / "howto" / "systems.md"
    (commands,) = [block.text for block in every_block(page) if block.language == "bash"]
    with FakeEndpoint(answer) as fake, answering(said) as service:
        for block in filter(lambda block: block.file, every_block(page)):
            text = block.text.replace("http://localhost:8000/v1", fake.url).replace(
                "http://localhost:8001", service.url
            )
            (folder / block.file).write_text(text, "utf-8")
        printed = shell(folder, commands)
    scored, efficiency, _ = printed.partition("What each system takes")
    assert efficiency
    rows = {
        cells[2].strip(): cells
        for cells in (line.split("|") for line in scored.splitlines())
        if len(cells) > 3
    }
    assert rows["rule"][5].split("<br>")[0].strip() == "0.667", "one of two triples, and no other"
    assert (
        rows["model"][5].split("<br>")[0].strip()
        == rows["service"][5].split("<br>")[0].strip()
        == "0.667"
    )
    assert all(cell.strip() in ("–", "") for cell in rows["broken"][3:-1])
    assert "broken (people, Ori.) has no scores: ends with exit status 1" in printed


MODEL = "results/demo/models/demo/original-nz/casrel/none/seed1"  # what the tutorial loads


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A folder with the demo corpus, and a small CasRel where the demo would leave one."""
    from tripleaudit.extractors.registry import extractor_class

    folder = tmp_path_factory.mktemp("tutorial")
    (folder / "resources").mkdir()
    (folder / "resources" / "demo").symlink_to(ROOT / "resources" / "demo")
    encoder = save_tiny_encoder(folder / "encoder", layers=1)
    extractor_class("casrel").from_encoder(encoder, ["employer", "residence"]).save_pretrained(
        folder / MODEL
    )
    return folder


def stands_in(shown, printed):
    """Compare what a page shows with what was printed; a line ``…`` stands for any lines."""
    place = 0
    for part in re.split(r"^…\n", shown, flags=re.MULTILINE):
        found = printed.find(part, place)
        assert found >= 0, f"{part}\nis not in\n{printed[place:]}"
        place = found + len(part)


CELLS = """
import ast, contextlib, io, json, sys

sys.displayhook = lambda value: value is None or print(value)
names, printed = {}, []
for text in json.load(sys.stdin):
    *statements, last = ast.parse(text).body  # a notebook shows the value of the last line
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(ast.Module(statements, []), "cell", "exec"), names)
        exec(compile(ast.Interactive([last]), "cell", "single"), names)
    printed.append(out.getvalue())
print(json.dumps(printed))
"""


def run_cells(cells, folder):
    """Run cells one after the other in one process; return what each of them prints."""
    scripts = str(Path(sys.executable).parent)
    done = subprocess.run(
        [sys.executable, "-c", CELLS],
        input=json.dumps(cells),
        cwd=folder,
        env={**os.environ, "PATH": os.pathsep.join([scripts, os.environ["PATH"]])},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def test_the_cells_of_the_page_on_python_print_what_it_shows(tmp_path):
    cells, shown = [], []
    for block in every_block(ROOT / "docs" / "reference" / "python.md"):
        if block.language == "python":
            cells.append(block.text)
            shown.append("")
        elif block.language == "text":
            shown[-1] = block.text
    assert run_cells(cells, tmp_path) == shown
    assert len([text for text in shown if text]) > 6


@pytest.mark.thorough
def test_the_cells_of_the_notebook_print_what_it_shows(tmp_path):
    notebook = json.loads((ROOT / "docs" / "notebook.ipynb").read_text("utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    shown = [
        "".join("".join(out.get("text") or out["data"]["text/plain"]) for out in cell["outputs"])
        for cell in cells
    ]
    printed = run_cells(["".join(cell["source"]) for cell in cells], tmp_path)
    assert [text.strip() for text in printed] == [text.strip() for text in shown]
    assert len([text for text in shown if text]) > 6


@pytest.mark.parametrize(
    "page", ["README.md", pytest.param("docs/tutorial.md", marks=pytest.mark.thorough)]
)
def test_a_new_user_sees_what_the_page_shows(finished, page):
    blocks, printed, shown = every_block(ROOT / page), "", 0
    for block in blocks:
        if block.file:
            (finished / block.file).write_text(block.text, "utf-8")
        elif block.language == "bash":
            printed = shell(
                finished, re.sub(r"^(git|pip) .*\n", "", block.text, flags=re.MULTILINE)
            )
        elif block.language == "python":
            (finished / "use.py").write_text(block.text, "utf-8")
            assert (printed := shell(finished, "python use.py")).startswith(
                "0.5 " if page == "README.md" else "("
            )
        elif block.language == "text":
            stands_in(block.text, printed)
            shown += 1
    assert shown >= (6 if page == "docs/tutorial.md" else 2)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}-{page.name}")
def test_code_blocks_are_well_formed(page):
    for block in every_block(page):
        if block.language == "python" and "snakefile:" not in block.text:
            ast.parse(textwrap.dedent(block.text))
        elif block.language == "yaml":
            assert isinstance(yaml.safe_load(block.text), dict | list), block.text
        elif block.language == "json":
            lines = block.text.splitlines()
            each = block.file.endswith("l") or all(
                line.startswith("{") and line.endswith("}") for line in lines
            )
            for text in lines if each else [block.text]:
                json.loads(text)
        elif block.language == "bash":
            done = subprocess.run(
                [shutil.which("bash"), "-n", "-c", block.text], capture_output=True, text=True
            )
            assert done.returncode == 0, done.stderr
