"""The section ``needles``: defaults agree with the package, and what cannot work is said at once."""

import json

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


def test_the_section_is_made_from_the_settings_of_a_job():
    known = {field.alias or name for name, field in Needles.model_fields.items()}
    assert {field.alias or name for name, field in Plan.model_fields.items()} - {"context"} <= known
    of_job, without = (Study({**GIVEN, "needles": said}).needles.plan_json for said in ({}, {"judge": None}))
    assert Plan.from_mapping(json.loads(of_job)) == Plan()
    assert not Plan.from_mapping(json.loads(without)).judge


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
    found = problems({**GIVEN, "needles": changes})
    assert any(message in problem for problem in found), found
