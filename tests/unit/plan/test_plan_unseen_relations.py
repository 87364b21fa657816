"""Unseen relations in a study: who is trained and asked, with what, and what is said where nobody can be."""

import json
from types import SimpleNamespace

import pytest

from tripleaudit.errors import UserError
from tripleaudit.plan.study import Study

PROTOCOL = {"unseen_relations": {"relations": 3}}


def study(**changes) -> Study:
    return Study({"study": "s", "corpora": {"webnlg": None}, "protocols": PROTOCOL, **changes})


def test_only_who_reads_names_is_trained_and_queried():
    systems = {"named": {"command": "python -", "relations": True}, "plain": {"command": "python -"}}
    plan = study(extractors={"casrel": None, "unirel": None}, systems=systems)
    runs = {run.extractor for run in plan.runs if run.protocol == "unseen_relations"}
    assert runs == {"unirel"}
    assert {run.extractor for run in plan.runs} == {"casrel", "unirel"}
    files = [file for file in plan.score_files() if "/unseen_relations-nz/" in file]
    scored = sorted(file.split("/unseen_relations-nz/")[1] for file in files)
    assert scored == ["named/test-nz.csv", "unirel/none/seed1/test-nz.csv"]
    assert "unseen-relations" in plan.report.possible
    assert plan.gives_schema("unseen_relations-nz") and not plan.gives_schema("original-nz")
    for name in ("original", "unseen_relations"):
        wildcards = {"corpus": "webnlg", "extractor": "named", "testset": "test", "trainset": f"{name}-nz"}
        assert plan.systems.inputs(SimpleNamespace(**wildcards))["train"].endswith(f"/webnlg/{name}/nz/train.jsonl")


def test_a_protocol_says_whether_its_descriptions_are_read():
    meant = {"capital": "is the capital city of"}
    corpora, known = {"webnlg": {"relations": meant}}, {"extractors": {"unirel": None}}
    systems = {"named": {"command": "python -", "relations": True}}
    for value, reported in ((None, meant), (True, meant), (False, {})):
        options = {"unseen_relations": {"descriptions": value}}
        plan = study(corpora=corpora, protocols=options, systems=systems, **known)
        for protocol, expected in (("original", meant), ("unseen_relations", reported)):
            trained = json.loads(plan.trainings.training_json("webnlg", "unirel", "none", f"{protocol}-nz"))
            assert trained.get("model", {}).get("descriptions", {}) == expected
            assert plan.systems.identity("webnlg", "named", f"{protocol}-nz")["described"] == expected
            assert json.loads(plan.systems.job("webnlg", "named", 1, f"{protocol}-nz"))["relations"] == expected
        assert "descriptions" not in plan.data.protocol_json("unseen_relations")
    own = {"casrel": None, "unirel": {"model": {"descriptions": None}}}  # who reads no names, and who is to read none
    trainings = study(corpora=corpora, extractors=own).trainings
    settings = [json.loads(trainings.training_json("webnlg", name, "none")) for name in own]
    assert "model" not in settings[0] and settings[1]["model"]["descriptions"] is None
    with pytest.raises(UserError, match="unseen_relations/descriptions: corpora/webnlg/relations describes none"):
        study(protocols={"unseen_relations": {"descriptions": True}}, **known)
    with pytest.raises(UserError, match="unseen_relations/descriptions: expected boolean"):
        study(protocols={"unseen_relations": {"descriptions": "yes please"}}, **known)
