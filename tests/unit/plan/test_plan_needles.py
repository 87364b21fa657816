"""The section ``needles``: defaults agree with the package, and what cannot work is said at once."""

import json
from types import SimpleNamespace

import pytest

from support.workflow import problems, refusals
from tripleaudit.needles.plan import Plan
from tripleaudit.plan.needles import Needles
from tripleaudit.plan.study import Study

CORPORA = {"demo": {"files": {"train": "t.jsonl", "test": "u.jsonl"}}}
ENDPOINTS = {name: {"base_url": "http://127.0.0.1:9/v1", "model": "m"} for name in ("known", "a", "b")}
ENDPOINTS["short"] = {**ENDPOINTS["known"], "context": 512}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("t.jsonl", "u.jsonl", "d.txt"):
        (tmp_path / name).write_text("{}\n")


GIVEN = {"study": "s", "corpora": CORPORA, "generative": {"endpoints": ENDPOINTS}}


def configured(settings=("nz",), **changes) -> dict:
    return {**GIVEN, "settings": list(settings), "needles": changes}


def study(settings=("nz",), **changes) -> Study:
    return Study(configured(settings, **changes))


def test_the_section_is_made_from_the_settings_of_a_job():
    known = {field.alias or name for name, field in Needles.model_fields.items()}
    assert {field.alias or name for name, field in Plan.model_fields.items()} - {"context"} <= known
    assert Plan.from_mapping(json.loads(study().needles.plan_json)) == Plan()
    assert not Plan.from_mapping(json.loads(study(judge=None).needles.plan_json)).judge


def test_tables_follow_the_section():
    documents = {"documents": ["d.txt"]}
    assert not study().report.tables("needles")
    assert "lost-in-the-middle" in study(models=["a"], parts=3, **documents).tables
    assert "lost-in-the-middle" not in study(models=["a"], **documents).tables
    triples = study(("nz", "wz"), triples={"corpus": "demo"}, models=["a", "b"], **documents)
    assert [*triples.report.tables("needles")][-1] == "triple-needles" and triples.needles.triple_models == ["a", "b"]
    none = study(("nz", "wz"), triples={"corpus": "demo", "models": []}, models=["a"], **documents).needles
    assert none.triple_models == []
    assert none.files() == ["results/s/needles/models/a/scores.csv"]
    assert none.judge_of("a") == "a" and none.other_judge("a") is None
    assert study(judge="b").needles.other_judge("a") == "b"


def test_a_study_that_names_its_tables_makes_no_others():
    needles = {"models": ["a"], "documents": ["d.txt"], "triples": {"corpus": "demo"}}
    named = {"extractors": {"casrel": {}}, "tables": {"type-f1": None, "minea": None}}
    plan = Study({**configured(("nz", "wz"), **needles), **named})
    assert list(plan.tables) == ["type-f1", "minea"] and [*plan.report.tables("needles")] == ["minea"]
    assert plan.report.files() == ["results/s/tables/type-f1.json", "results/s/tables/minea.json"]


REFUSED = """
{models: [other], documents: [d.txt]}
-> needles/models: unknown endpoint 'other'; known are known, a, b
judge: other
-> unknown endpoint 'other'
models: [known]
-> needles/documents: expected at least one text file or folder
tokenizer: none.json
-> needles/tokenizer: none.json: no such file
schema: no-such
-> needles/schema: schema 'no-such' is neither a file nor one of demo, paper
types: [Persn]
-> did you mean 'Person'
maximum: 0.15
-> the shares must obey
{models: [short], documents: [d.txt], reserve: 900}
-> needles/reserve: 900 tokens kept free leave none of a context of 512 (endpoint 'short')
triples: {corpus: nyt}
-> needles/triples/corpus: unknown corpus 'nyt'
triples: {corpus: demo}
-> need the setting wz
triples: {corpus: demo, new_facts: 1000000}
-> needles/triples/new_facts: 1000000, but there are 500
"""


@pytest.mark.parametrize(("changes", "message"), refusals(REFUSED))
def test_what_cannot_work(changes, message):
    found = problems(configured(**changes))
    assert any(message in problem for problem in found), found


def test_infused_documents_are_a_test_set_of_every_system_that_is_queried_about_all_texts():
    systems = {
        "asked": {"command": "python -"},
        "stored": {"predictions": "u.jsonl"},
        "some": {"command": "python -", "limit": 3},
        "elsewhere": {"command": "python -", "protocols": []},
    }
    given = {**GIVEN, "settings": ["nz", "wz"], "systems": systems}
    plan = Study({**given, "needles": {"triples": {"corpus": "demo"}}})
    assert plan.needles.triple_systems == ["asked"]
    assert plan.needles.files() == ["results/s/needles/triples/systems/asked/scores.csv"]
    wildcards = SimpleNamespace(corpus="demo", trainset="original-nz", extractor="asked", testset="infused")
    assert plan.systems.inputs(wildcards)["test"] == "results/s/needles/triples/sentences.jsonl"
    left_out = {"triples": {"corpus": "demo", "extractors": False}}
    assert Study({**given, "needles": left_out}).needles.triple_systems == []


def test_a_report_is_made_of_what_needles_and_collections_leave_behind():
    needles = {"models": ["a"], "documents": ["d.txt"], "parts": 3, "triples": {"corpus": "demo"}}
    more = {"systems": {"asked": {"command": "python -"}}, "extractors": {"casrel": {}}}
    more["collections"] = {"news": {"files": "d.txt", "extractor": "casrel", "gate": None}}
    report, folder = Study({**configured(("nz", "wz"), **needles), **more}).report, "results/s"
    found = {name: report.table_inputs(SimpleNamespace(table=name)) for name in ("minea", "triple-needles")}
    made = {"scores": [f"{folder}/needles/scores.csv"], "criteria": [f"{folder}/needles/models/a/criteria.jsonl"]}
    made["report"] = [f"{folder}/predictions/demo/original-nz/asked/infused.report.json"]
    assert found == {"minea": made, "triple-needles": {**made, "runs": [f"{folder}/trainings.json"]}}
    collected = {"collection": [f"{folder}/collections/news/collection.json"]}
    assert report.table_inputs(SimpleNamespace(table="collection")) == collected
    drawn = report.plot_inputs(SimpleNamespace(plot="lost-in-the-middle"))
    assert "lost-in-the-middle" in report.plots and drawn["scores"] == made["scores"]
    assert report.inputs()["entities"] == [f"{folder}/needles/models/a/entities.jsonl"]
    trained = [f"extractors/demo/original-{setting}/casrel/none/seed1" for setting in ("nz", "wz")]
    infused = [f"{folder}/needles/triples/{name}/predictions.jsonl" for name in (*trained, "models/a")]
    assert report.inputs()["infused"] == [*infused, f"{folder}/predictions/demo/original-nz/asked/infused.jsonl"]


def test_tables_about_trained_extractors_know_how_far_their_trainings_came():
    given = {**GIVEN, "needles": {"triples": {"corpus": "demo", "text": ["d.txt"]}}}
    plan = Study({**given, "extractors": {"casrel": {}}})
    assert Study(given).needles.trainings("triple-needles") == []
    scored = {"datasets": {"texts": {"corpus": "demo", "level": "sentence"}}}
    inputs = {
        name: Study({**given, "extractors": extractors, "grescores": scored})
        .report.table_inputs(SimpleNamespace(table="gre-sentence"))
        .get("runs", [])
        for name, extractors in (("trained", {"casrel": {}}), ("none", {}))
    }
    assert inputs == {"trained": ["results/s/trainings.json"], "none": []}
    plots = plan.report.plot_inputs
    for name in ("type-f1", "cardinality-drop", "f1-cost"):
        assert plots(SimpleNamespace(plot=name))["runs"][0] == "results/s/trainings.json"
