"""The MINEA rules on a small document against a scripted endpoint: tables, plot, reruns, messages."""

import json
import re
import sys

import pytest

from support.fake_endpoint import FakeEndpoint
from support.needle_model import NeedleModel, make_document
from support.workflow import change, configure, planned, ran

MODEL = {"iterations": 0, "piece_chars": 3000, "reserve": 300}


@pytest.fixture
def study(tmp_path):
    """A folder with one document and a study of it."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "report.txt").write_text(make_document(60).text, encoding="utf-8")

    def write(url, **changes):
        needles = {"documents": ["notes"], "models": ["fake"], "schema": "demo", "parts": 2, **MODEL, **changes}
        endpoint = {"base_url": url, "model": "fake", "max_retries": 0, "temperature": 0.7, "seed": 5}
        config = {"study": "own", "generative": {"endpoints": {"fake": endpoint}}, "needles": needles}
        configure(tmp_path, config)
        return tmp_path

    return write


SCORES = "results/own/needles/scores.csv"
TARGETS = ("results/own/tables/minea.md", "results/own/plots/lost-in-the-middle.svg")


@pytest.mark.slow
def test_a_study_is_run_and_a_change_reruns_what_depends_on_it(study):
    with FakeEndpoint(NeedleModel(forgotten=(1,))) as fake:
        folder = study(fake.url)
        ran(folder, "--", *TARGETS)
    assert re.search("^.*Overall.*$", (folder / TARGETS[0]).read_text(encoding="utf-8"), re.MULTILINE)
    assert "<svg" in (folder / TARGETS[1]).read_text(encoding="utf-8")
    assert planned(folder, "--", *TARGETS) == {}
    every = planned(folder)
    assert every.pop("all") == 1 and every == {"table": 5, "write_report": 1}
    counted = planned(study(fake.url, thresholds=[0.4]), "--", *TARGETS)
    assert counted == {"rate_needles": 1, "score_needles": 1, "merge_scores": 1, "table": 1, "plot": 1}
    (folder / "notes" / "more.txt").write_text(make_document(50).text, encoding="utf-8")
    assert planned(study(fake.url), "--", *TARGETS)["make_needles"] == 1


PROGRAM = """
import json, sys
for line in sys.stdin:
    print(json.dumps({"id": json.loads(line)["id"], "triples": []}), flush=True)
"""


@pytest.mark.slow
def test_a_further_system_is_shown_triple_needles_alone(study):
    row = json.dumps({"text": "Ann met Bo.", "triples": [["Ann", "met", "Bo"]]}) + "\n"
    triples = {"corpus": "tiny", "text": ["notes"], "documents": 1, "new_facts": 8, "models": []}
    triples |= {"target": 0.02, "minimum": 0.001}

    def write(url, **systems):
        folder = study(url, documents=[], models=[], triples=triples)
        files = {split: f"{split}.jsonl" for split in ("train", "valid", "test")}
        systems["program"] = {"command": [sys.executable, "program.py"]}
        change(folder, {"corpora": {"tiny": {"files": files, "format": "jsonl"}}, "systems": systems})
        return folder

    with FakeEndpoint(lambda body: "[]") as fake:
        model = {"endpoint": "fake", "reask": False}
        folder = write(fake.url, model=model)
        (folder / "program.py").write_text(PROGRAM, encoding="utf-8")
        for split in ("train", "valid", "test"):
            (folder / f"{split}.jsonl").write_text(row, encoding="utf-8")
        ran(folder, "--", SCORES)
        asked = fake.count
        shown = (folder / "results/own/needles/triples/sentences.jsonl").read_text(encoding="utf-8").splitlines()
        assert asked == len({json.loads(line)["text"] for line in shown}) > 8
    assert planned(folder, "--", SCORES) == {}
    write(fake.url, model=model, further={"command": [sys.executable, "program.py"]})
    found = planned(folder, "--", SCORES)
    assert found == {"predict_system": 1, "score_triple_needles": 1, "merge_scores": 1}
    write(fake.url)
    assert planned(folder, "--", SCORES) == {"merge_scores": 1}
