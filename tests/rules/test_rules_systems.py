"""Systems of a study, queried by Snakemake on sets that are there already: the completion probe, and stored outputs."""

import json
import os
import time

import pytest

from support.fake_endpoint import FakeEndpoint
from support.hidden_halves import NUMBER, ORIGINAL, PARTS, knows, write_sets
from support.workflow import configure, jobs, ran
from tripleaudit.cli import main
from tripleaudit.corpora.store import load_sentences, save_sentences

pytestmark = pytest.mark.slow
TABLE = "results/people/tables/completion"


def write(folder, url, completion, **prices):
    endpoint = {"base_url": url, "model": "m", "max_retries": 0, "prices": {"input": 1, "output": 2, **prices}}
    config = {
        "study": "people",
        "corpora": {"people": {"files": {name: f"{name}.jsonl" for name in ("train", "test")}, "format": "jsonl"}},
        "protocols": {"original": None, "augmented": {}},
        "generative": {"cache": "cache", "budget": 9, "endpoints": {"fake": endpoint}},
        "systems": {"model": {"endpoint": "fake", "protocols": ["original"], "completion": completion}},
        "tables": {"completion": None},
        "gpu": 0,
    }
    configure(folder, config)


def probe(folder):
    return ran(folder, "--allowed-rules", "complete_halves", "table", "--", f"{TABLE}.md")


def estimated(capsys):
    assert main(["estimate", "--config", "study.yaml", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    return {job["system"]: job for job in result["jobs"]}, result


def test_hidden_halves_are_estimated_queried_once_and_shown_in_a_table(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    paths = write_sets(tmp_path)
    with FakeEndpoint(knows(ORIGINAL)) as fake:
        write(tmp_path, fake.url, 10)
        unknown = estimated(capsys)[1]["unknown"]
        assert unknown == [
            f"people/model ({what}: its sentences are not made yet)" for what in ("original", "hidden halves")
        ]
        for protocol, split, name in (
            ("original", "train", "train"),
            ("original", "test", "test"),
            ("augmented", "test", "augmented"),
        ):
            target = tmp_path / f"results/people/protocols/people/{protocol}/nz/{split}.jsonl"
            target.parent.mkdir(parents=True, exist_ok=True)
            save_sentences(target, load_sentences(paths[name]))
        jobs, _ = estimated(capsys)
        asked = jobs["model (hidden halves)"]
        assert asked["to_pay"] == 10 * (1 + len(PARTS)) and asked["cost"] > 0 and not asked["done"]
        assert jobs["model (original)"]["to_pay"] == NUMBER and fake.count == 0
        probe(tmp_path)
        assert fake.count == asked["to_pay"]
        table = json.loads((tmp_path / f"{TABLE}.json").read_text(encoding="utf-8"))
        assert (table["rows"][0]["label"], table["rows"][0]["cells"][4]["value"]) == ("model", 100)
        assert estimated(capsys)[0]["model (hidden halves)"]["done"]
        write(tmp_path, fake.url, 10, output=3)  # another price decides nothing
        assert "Nothing to be done" in (again := probe(tmp_path)).stdout + again.stderr
        write(tmp_path, fake.url, 20)
        probe(tmp_path)
        assert fake.count == 20 * (1 + len(PARTS))  # half of them came from the cache


@pytest.mark.parametrize(("edited", "rule"), [("said", "predict_system"), ("texts", "prepare_corpus")])
def test_a_changed_file_inside_a_folder_makes_what_is_read_from_it_again(tmp_path, edited, rule):
    prepared = [f"corpora/own/{split}.{kind}" for split in ("train", "test") for kind in ("jsonl", "counts.json")]
    sets = [f"protocols/own/original/nz/{split}.jsonl" for split in ("train", "test")]
    answers = [f"predictions/own/original-nz/stored/test.{kind}" for kind in ("jsonl", "report.json")]
    made = [f"results/own/{name}" for name in (*prepared, *sets, *answers)]
    given = ["train.jsonl", *(f"{folder}/a.{kind}" for folder in ("said", "texts") for kind in ("txt", "ann"))]
    for age, name in enumerate([*reversed([*given, *made]), "said", "texts"], 100):  # what is made is the younger
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix:
            path.write_text('{"text": "It rains .", "triples": []}\n' if name.endswith("jsonl") else "")
        os.utime(path, (time.time() - age, time.time() - age))
    files = {"train": "train.jsonl", "test": "texts"}
    config = {"study": "own", "corpora": {"own": {"files": files}}, "systems": {"stored": {"predictions": "said"}}}
    configure(tmp_path, config)
    options = ("-n", "--quiet", "rules", "--rerun-triggers", "mtime", "--", *made)
    assert jobs(ran(tmp_path, *options)) == {}
    (tmp_path / edited / "a.ann").write_text("T1\tP 0 2\tIt\n")
    assert jobs(ran(tmp_path, *options))[rule] == 1
