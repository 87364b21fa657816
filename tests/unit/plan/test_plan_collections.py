import json

import pytest

from support.workflow import problems, refusals
from tripleaudit.plan.study import Study

STUDY = {"study": "s", "corpora": {"webnlg": None}, "settings": ["nz", "wz"], "seeds": [7, 8]}
STUDY |= {"extractors": {"casrel": None}, "zcc": {"binary": {}}}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text("One sentence.\n")


def collection(**changes):
    section = {"files": "texts", "extractor": "casrel", "gate": "zcc-binary", **changes}
    return {**STUDY, "collections": {"news": section}}


def test_the_models_of_a_study_are_found():
    plan = Study(collection()).collections
    report = Study({**collection(), "tables": {"collection": {"caption": "Mine."}}}).report
    assert (report.options("collection"), len(report.files())) == ('{"caption": "Mine."}', 1)
    assert plan.model_run("news") == "webnlg/original-nz/casrel/none/seed7"
    assert plan.gate_run("news") == "webnlg/original-wz/zcc-binary/none/seed7"
    folder = "results/s/models/webnlg/original-nz/casrel/none/seed7"
    assert plan.model("news") == [f"{folder}/model.safetensors"]
    assert plan.who_options("news", 2) == ["--model", folder]
    assert plan.files() == ["results/s/collections/news/collection.json"]
    other = Study(collection(seed=8, trainset="original-wz", gate=None)).collections
    assert other.model_run("news") == "webnlg/original-wz/casrel/none/seed8"
    assert other.gate_run("news") is None
    assert other.gate("news") == []


REFUSED = """
extractor: pfn
-> extractor: the study has no training webnlg/original-nz/pfn/none/seed7; expected one of
noise: noising
-> extractor: the study has no training webnlg/original-nz/casrel/noising/seed7
extractor: no/such
-> extractor: no/such: not a trained extractor, it has no config.json
gate: no/such
-> gate: no/such: not a trained extractor, it has no config.json
"""


@pytest.mark.parametrize(("changes", "message"), refusals(REFUSED))
def test_a_model_that_is_not_there_is_named(changes, message):
    (problem,) = problems(collection(**changes))
    assert problem.startswith(f"collections/news/{message}")


def test_what_decides_the_triples_is_kept_apart_from_what_does_not():
    slow, fast = (Study(collection(workers=n, gpu_share=0.5, batch_size=n)).collections for n in (1, 3))
    assert slow.deciding_options("news") == fast.deciding_options("news")
    assert slow.speed_options("news") != fast.speed_options("news")
    assert (slow.gpus("news"), fast.gpus("news")) == (1, 2)
    other = Study(collection(write="triples", on_error="skip", text_column="body")).collections
    assert other.deciding_options("news") != slow.deciding_options("news")


def test_addresses_are_distinguished_from_files_that_the_plan_can_see():
    plan = Study(collection(files=["texts", "s3://bucket/more/*.parquet"])).collections
    assert plan.texts("news") == ["texts/a.txt"]
    assert plan.addresses("news") == ["s3://bucket/more/*.parquet"]


def test_a_system_of_the_study_may_extract(tmp_path):
    (tmp_path / "own.py").write_text("class Own: ...")
    systems = {"own": {"python": "own.py:Own"}, "said": {"predictions": "texts/a.txt"}}
    plan = Study({**collection(extractor="own"), "systems": systems}).collections
    option, said = plan.who_options("news", 2)
    assert option == "--system" and json.loads(said)["name"] == "own" and json.loads(said)["files"] == ["own.py"]
    assert "own.py" in plan.model("news") and plan.gate_run("news")
    assert plan.identity("news")["python"] == "own.py:Own"
    found = problems({**collection(extractor="said"), "systems": systems})
    assert "collections/news/extractor: 'said' is stored predictions and reads no texts" in found
