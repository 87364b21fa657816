"""The configuration section: defaults, checks, and what decides a result."""

import copy
import json

import pytest

from support.workflow import problems, refusals
from tripleaudit.errors import UserError
from tripleaudit.llm import section as settings
from tripleaudit.llm.endpoint import Endpoint
from tripleaudit.plan.language_models import Generative
from tripleaudit.plan.study import Study

SECTION = {
    "endpoints": {
        "paid": {"base_url": "https://llm.example/v1", "model": "m", "api_key_env": "SOME_KEY"},
        "local": {"serve": {"source": "smollm2"}, "max_tokens": 64},
    },
    "datasets": {"d": {"corpus": "demo", "limit": 5}, "e": {"corpus": "demo"}},
    "systems": {"a": {"endpoint": "paid"}, "b": {"endpoint": "local", "setting": "closed", "datasets": ["d"]}},
}


CONFIG = {"study": "s", "corpora": {"demo": {"files": {"train": "t.jsonl", "test": "u.jsonl"}}}}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("t.jsonl", "u.jsonl"):
        (tmp_path / name).write_text("{}\n")
    schema = "schema: {type: object, properties: {a: {type: string}}}\n"
    (tmp_path / "own.yaml").write_text("messages: [{role: user, content: '{{text}}'}]\n" + schema)


def full(**changes):
    return Generative.model_validate({**copy.deepcopy(SECTION), **changes}).full()


def study(**changes) -> Study:
    return Study({**CONFIG, "generative": {**copy.deepcopy(SECTION), **changes}})


def test_what_the_section_leaves_out_is_the_codes_default():
    section = full()
    by_section = settings.endpoint(section, "paid")
    assert by_section == Endpoint("https://llm.example/v1", "m", name="paid", api_key_env="SOME_KEY")
    local = settings.endpoint(section, "local")
    found = [(each.timeout, each.concurrency, each.max_tokens, each.temperature) for each in (by_section, local)]
    assert local.model == "smollm2" and found == [(120, 4, 800, 0), (600, 1, 64, 0)]


REFUSED = """
systems: {a: {endpoint: paid, datasets: [x]}}
-> unknown data set 'x'
systems: {a: {endpoint: paid, prompt: opn}}
-> did you mean 'open'
systems: {a: {endpoint: paid, samples: 2}}
-> systems/a/samples: 2 answers at temperature 0 are one
{systems: {a: {endpoint: paid, examples: 1}}, datasets: {d: {corpus: demo, split: train}}}
-> systems/a/examples: the texts of 'd' are the training split
budget: 3
-> generative/endpoints/paid: a budget needs 'prices' for every endpoint with a key
{endpoints: {x: {base_url: "https://h/v1", model: m, api_key_env: sk-1 2}}, systems: {}}
-> endpoints/x: 'api_key_env' must be the name
{endpoints: {x: {serve: {source: "http://h/m.gguf"}, model: m}}, systems: {}}
-> only https
{endpoints: {x: {base_url: "https://h/v1/chat/completions", model: m}}, systems: {}}
-> endpoints/x: 'base_url' must end before /chat/completions
{endpoints: {x: {base_url: "https://h/v1", model: m, extra: {stream: true}}}, systems: {}}
-> endpoints/x: 'extra' must not ask for a stream
{endpoints: {x: {base_url: "https://h/v1", model: m, extra: {n: 3}}}, systems: {}}
-> endpoints/x: 'extra' must not ask for a stream or for several answers
{endpoints: {x: {base_url: "https://h/v1", model: m, context: 512}}, systems: {a: {endpoint: x}}}
-> systems/a/max_tokens: an answer of up to 800 leaves no room for a text in a context of 512
{endpoints: {x: {base_url: "https://h/v1", model: m, structured: json_schema}},
 systems: {a: {endpoint: x, prompt: ./own.yaml}}}
-> strict mode needs 'additionalProperties: false' in every object (endpoint 'x' asks for json_schema;
"""


@pytest.mark.parametrize(("changes", "problem"), refusals(REFUSED))
def test_what_cannot_work_is_said_before_anything_runs(changes, problem):
    (found,) = problems({**CONFIG, "generative": {**SECTION, **changes}})
    assert problem in found
    assert "sk-1" not in found


def test_what_is_no_more_than_near_a_refusal_is_planned():
    near = {**SECTION["endpoints"]["paid"], "structured": "auto", "context": 2048, "extra": {"n": 1, "stream": False}}
    systems = {"a": {"endpoint": "paid", "prompt": "./own.yaml"}}
    priced = {"paid": near | {"prices": {"input": 1}}, "local": SECTION["endpoints"]["local"]}
    assert study(endpoints=priced, systems=systems, budget=3).language_models.extractions


def test_further_samples_cost_no_first_one():
    system = {"endpoint": "paid", "temperature": 0.7, "seed": 5}
    one, several = (study(systems={"a": {**system, "samples": number}}).language_models for number in (1, 3))
    assert one.identity("d", "a") == several.identity("d", "a") != several.identity("d", "a-sample2")


def identity(of="endpoints", name="paid", **changes):
    """What decides the answers of a system once its section is changed."""
    section = full()
    section[of][name] |= changes
    section |= {"cache": "elsewhere", "budget": 9} if "base_url" in changes else {}
    return json.dumps(settings.identity(section, "d", "a"))


def test_transport_does_not_decide_a_result():
    transport = {"base_url": "https://other.example/v1", "api_key_env": "K2", "timeout": 5, "concurrency": 9}
    assert identity(**transport, max_retries=1, prices={"input": 1, "output": 1}) == identity()
    changes = ({"model": "n"}, {"temperature": 1}, {"max_tokens": 5}, {"seed": 3}, {"structured": "off"})
    changed = {identity("systems", "a", prompt="open-document"), *(identity(**each) for each in changes)}
    assert len(changed - {identity()}) == len(changes) + 1


def test_a_local_model_needs_its_file(tmp_path):
    with pytest.raises(UserError, match="its model is missing; expected a GGUF file"):
        settings.Access(full(cache=str(tmp_path)), "study", "local").client()


def test_the_section_is_read_from_json_or_a_study(tmp_path):
    section, study = settings.read_section('{"endpoints": {}}', "mine")
    assert (section["systems"], study) == ({}, "mine")
    path = tmp_path / "study.yaml"
    path.write_text("study: s1\ncorpora: {c: {files: {train: a, test: b}}}\ngenerative: {budget: 2}\n")
    section, study = settings.read_section(str(path))
    assert (section["budget"], section["datasets"], study) == (2, {}, "s1")
    with pytest.raises(UserError, match="not valid JSON"):
        settings.read_section("{,")
