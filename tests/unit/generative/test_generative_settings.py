"""The configuration section: defaults, checks, and what decides a result."""

import copy
import dataclasses

import pytest

from tripleaudit.errors import UserError
from tripleaudit.generative import settings
from tripleaudit.llm.endpoint import Endpoint
from tripleaudit.plan import language_models
from tripleaudit.plan.configuration import load_schema, problems, with_defaults

SECTION = {
    "endpoints": {
        "paid": {"base_url": "https://llm.example/v1", "model": "m", "api_key_env": "SOME_KEY"},
        "local": {"serve": {"source": "smollm2"}, "max_tokens": 64},
    },
    "datasets": {"d": {"corpus": "demo", "limit": 5}, "e": {"corpus": "demo"}},
    "systems": {"a": {"endpoint": "paid"}, "b": {"endpoint": "local", "setting": "closed", "datasets": ["d"]}},
}


@pytest.fixture(scope="module")
def schema():
    return load_schema()["properties"]["generative"]


def full(schema, **changes):
    section = {**copy.deepcopy(SECTION), **changes}
    assert list(problems(section, schema)) == []
    return with_defaults(section, schema, load_schema())


def test_every_key_of_the_schema_is_described_and_closed(schema):
    def walk(part, where):
        if part.get("type") == "object" or "properties" in part:
            assert "additionalProperties" in part or where.endswith("extra"), where
        for name, item in part.get("properties", {}).items():
            assert item.get("description"), f"{where}/{name} has no description"
            walk(item, f"{where}/{name}")
        if isinstance(part.get("additionalProperties"), dict):
            walk(part["additionalProperties"], f"{where}/*")

    walk(schema, "generative")


def test_defaults_of_schema_and_code_agree(schema):
    section = full(schema)
    by_schema = settings.endpoint(section, "paid")
    assert by_schema == Endpoint("https://llm.example/v1", "m", name="paid", api_key_env="SOME_KEY")
    keys = set(schema["properties"]["endpoints"]["additionalProperties"]["properties"])
    assert keys == {item.name for item in dataclasses.fields(Endpoint)} - {"name"}
    local = settings.endpoint(section, "local")
    assert (local.model, local.timeout, local.concurrency, local.max_tokens) == ("smollm2", 600, 2, 64)


def test_a_good_section_has_no_problems(schema):
    section = full(schema)
    assert language_models.problems(section, ["demo"]) == []
    assert language_models.systems_of(section) == [("d", "a"), ("e", "a"), ("d", "b")]
    assert language_models.systems_of({}) == []


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"systems": {"a": {"endpoint": "payd"}}}, "system 'a': unknown endpoint 'payd'"),
        ({"systems": {"a": {"endpoint": "paid", "datasets": ["x"]}}}, "unknown data set 'x'"),
        ({"systems": {"a": {"endpoint": "paid", "prompt": "opn"}}}, "did you mean 'open'"),
        ({"datasets": {"d": {"corpus": "nyt"}}, "systems": {}}, "unknown corpus 'nyt'"),
        ({"budget": 3}, "a budget needs 'prices'"),
        (
            {"endpoints": {"x": {"base_url": "https://h/v1", "model": "m", "api_key_env": "sk-1 2"}}, "systems": {}},
            "name",
        ),
        ({"endpoints": {"x": {"serve": {"source": "http://h/m.gguf"}, "model": "m"}}, "systems": {}}, "only https"),
    ],
)
def test_what_cannot_work_is_said_before_anything_runs(schema, changes, problem):
    (found,) = language_models.problems(full(schema, **changes), ["demo"])
    assert problem in found
    assert "sk-1" not in found


def test_transport_does_not_decide_a_result(schema):
    section = full(schema)
    before = settings.identity(section, "d", "a")
    other = copy.deepcopy(section)
    other["endpoints"]["paid"] |= {"base_url": "https://other.example/v1", "api_key_env": "K2", "timeout": 5}
    other["endpoints"]["paid"] |= {"concurrency": 9, "max_retries": 1, "prices": {"input": 1, "output": 1}}
    other["cache"], other["budget"] = "elsewhere", 9
    assert settings.identity(other, "d", "a") == before
    for key, value in (("model", "n"), ("temperature", 1), ("max_tokens", 5), ("seed", 3), ("structured", "off")):
        changed = copy.deepcopy(section)
        changed["endpoints"]["paid"][key] = value
        assert settings.identity(changed, "d", "a") != before, key
    changed = copy.deepcopy(section)
    changed["systems"]["a"]["prompt"] = "open-document"
    assert settings.identity(changed, "d", "a") != before


def test_keys_are_only_named(schema, monkeypatch):
    section = full(schema)
    monkeypatch.delenv("SOME_KEY", raising=False)
    assert (language_models.missing_keys(section), language_models.keys_present(section)) == (["SOME_KEY"], [])
    monkeypatch.setenv("SOME_KEY", "sk-very-secret")
    assert (language_models.missing_keys(section), language_models.keys_present(section)) == ([], ["SOME_KEY"])
    assert "sk-very-secret" not in repr(settings.endpoint(section, "paid"))


def test_a_local_model_needs_its_folder(schema, tmp_path):
    with pytest.raises(UserError, match="model folder is missing"):
        settings.open_client(full(schema, cache=str(tmp_path)), "local", "study")


def test_the_section_is_read_from_json_or_a_study(tmp_path):
    section, study = settings.read_section('{"endpoints": {}}', "mine")
    assert (section["systems"], study) == ({}, "mine")
    path = tmp_path / "study.yaml"
    path.write_text("study: s1\ncorpora: {c: {files: {train: a, test: b}}}\ngenerative: {budget: 2}\n")
    section, study = settings.read_section(str(path))
    assert (section["budget"], section["datasets"], study) == (2, {}, "s1")
    with pytest.raises(UserError, match="not valid JSON"):
        settings.read_section("{,")


@pytest.mark.parametrize(("source", "gguf"), [("smollm2", True), ("minilm", False), ("a/b/model.GGUF", True)])
def test_gguf_models_are_told_apart(source, gguf):
    assert language_models.is_gguf(source) is gguf
