"""Relations that training lacks, from corpus to table: UniRel, a language model, and who cannot
name them.
"""

import json

import pytest

from support.fake_endpoint import FakeEndpoint
from support.workflow import ran, write_study

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

TABLE = "results/small/tables/unseen-relations"


@pytest.fixture(scope="module")
def finished(tmp_path_factory, tiny_encoder):
    """The folder of a study that ran to its table, and what its language model was asked."""
    folder = tmp_path_factory.mktemp("study")
    with FakeEndpoint(lambda body: answer(folder, body)) as fake:
        write_study(
            folder,
            tiny_encoder,
            protocols={"unseen_relations": {"relations": 3}},
            settings=["nz"],
            noising=None,
            baselines=[],
            training={"max_steps": 2, "batch_size": 8},
            extractors={"casrel": None, "unirel": None},
            systems={"model": {"endpoint": "fake", "protocols": ["unseen_relations"]}},
            generative={"endpoints": {"fake": {"base_url": fake.url, "model": "fake"}}},
            tables={"unseen-relations": None},
        )
        ran(folder, "--", f"{TABLE}.md")
    return folder, fake.answered


def answer(folder, body) -> str:
    """What a model says that knows the gold of the study's own test set, and of it all."""
    shown = body["messages"][-1]["content"]
    rows = map(json.loads, (folder / "test.jsonl").read_text(encoding="utf-8").splitlines())
    triples = next((row["triples"] for row in rows if row["text"] in shown), [])
    return json.dumps({"triples": [[each["subject"]["text"], each["relation"], each["object"]["text"]]
                                   for each in triples]})  # fmt: skip


def load(folder, name):
    return json.loads((folder / "results" / "small" / name).read_text(encoding="utf-8"))


def test_who_reads_names_is_scored_on_held_out_relations_alone(finished):
    folder, requests = finished
    report = load(folder, "protocols/tiny/unseen_relations/report.json")
    held_out = sorted(report["details"]["held_out"])
    assert len(held_out) == 3
    sentences = (
        (folder / "results/small/protocols/tiny/unseen_relations/nz/test.jsonl")
        .read_text()
        .splitlines()
    )
    assert {t["relation"] for line in sentences for t in json.loads(line)["triples"]} == set(
        held_out
    )
    assert len(requests) == len(sentences)
    trained = load(folder, "models/tiny/unseen_relations-nz/unirel/none/seed1/config.json")
    assert trained["relations"] and not set(held_out) & set(trained["relations"])
    record = load(
        folder, "predictions/tiny/unseen_relations-nz/unirel/none/seed1/test.jsonl.provenance.json"
    )
    assert record["settings"]["schema"] == held_out
    assert not (folder / "results/small/models/tiny/unseen_relations-nz/casrel").exists()
    table = (folder / f"{TABLE}.md").read_text(encoding="utf-8").splitlines()
    rows = {
        name: next(line for line in table if name in line) for name in ("CasRel", "UniRel", "model")
    }
    assert "0: cannot name them" in rows["CasRel"]
    assert (
        rows["model"].count("100.0") >= 3
    )  # precision, recall, F1: other relations' triples are left out
