"""The section ``needles``: defaults agree with the package, and what cannot work is said at once."""

import dataclasses
import json

import pytest

from tripleaudit.errors import UserError
from tripleaudit.needles.plan import Plan
from tripleaudit.plan import needles as settings
from tripleaudit.plan.configuration import load_schema, validated


def section(**changes):
    return validated({"study": "s", "corpora": {}, "needles": changes})["needles"]


def test_defaults_of_the_schema_are_those_of_the_plan():
    known = set(load_schema()["properties"]["needles"]["properties"])
    assert {item.name for item in dataclasses.fields(Plan)} - {"context"} <= known
    assert Plan.from_mapping(json.loads(settings.plan_json(section()))) == Plan()
    assert not Plan.from_mapping(json.loads(settings.plan_json(section(judge=None)))).judge


def test_tables_follow_the_section():
    assert settings.tables(section()) == []
    assert settings.tables(section(models=["a"], parts=3))[0] == "lost-in-the-middle"
    triples = section(triples={"corpus": "demo"}, models=["a", "b"])
    assert settings.tables(triples)[-1] == "triple-needles" and settings.triple_models(triples) == ["a", "b"]
    assert settings.triple_models(section(triples={"corpus": "demo", "models": []}, models=["a"])) == []
    assert settings.judge_of(section(), "a") == "a" and settings.judge_of(section(judge="b"), "a") == "b"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"models": ["other"], "documents": ["d"]},
            "needles: unknown endpoint 'other'; generative/endpoints has known",
        ),
        ({"judge": "other"}, "unknown endpoint 'other'"),
        ({"models": ["known"]}, "needles/documents: expected at least one text file or folder"),
        ({"schema": "no-such"}, "needles/schema: schema 'no-such' is neither a file nor one of demo, paper"),
        ({"types": ["Persn"]}, "did you mean 'Person'"),
        ({"maximum": 0.15}, "the shares must obey"),
        ({"criteria": ["k0.9"]}, "unknown criterion 'k0.9'"),
        ({"triples": {"corpus": "nyt"}}, "needles/triples/corpus: unknown corpus 'nyt'"),
        ({"triples": {"corpus": "demo"}}, "need the setting wz"),
    ],
)
def test_what_cannot_work(changes, message):
    found = list(settings.problems(section(**changes), ["known"], ["demo"], ["nz"]))
    assert any(message in problem for problem in found), found


def test_a_good_section_has_no_problems():
    good = section(models=["known"], documents=["d"], triples={"corpus": "demo"})
    assert list(settings.problems(good, ["known"], ["demo"], ["nz", "wz"])) == []


def test_unknown_keys_are_refused():
    with pytest.raises(UserError, match="needles: unknown key 'iteration', did you mean 'iterations'"):
        section(iteration=1)
