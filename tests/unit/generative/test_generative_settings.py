"""The configuration section: defaults, checks, and what decides a result."""

import copy
import json

import pytest

from tripleaudit.core.errors import UserError
from tripleaudit.llm import section as settings
from tripleaudit.llm.endpoint import Endpoint
from tripleaudit.study.config.generative import Generative

SECTION = {
    "endpoints": {
        "paid": {"base_url": "https://llm.example/v1", "model": "m", "api_key_env": "SOME_KEY"},
        "local": {"serve": {"source": "smollm2"}, "max_tokens": 64},
    },
    "datasets": {"d": {"corpus": "demo", "limit": 5}, "e": {"corpus": "demo"}},
    "systems": {
        "a": {"endpoint": "paid"},
        "b": {"endpoint": "local", "setting": "closed", "datasets": ["d"]},
    },
}


def full(**changes):
    return Generative.model_validate({**copy.deepcopy(SECTION), **changes}).full()


def test_what_the_section_leaves_out_is_the_codes_default():
    section = full()
    by_section = settings.endpoint(section, "paid")
    assert by_section == Endpoint(
        "https://llm.example/v1", "m", name="paid", api_key_env="SOME_KEY"
    )
    local = settings.endpoint(section, "local")
    found = [
        (each.timeout, each.concurrency, each.max_tokens, each.temperature)
        for each in (by_section, local)
    ]
    assert local.model == "smollm2" and found == [(120, 4, 800, 0), (600, 1, 64, 0)]


def identity(of="endpoints", name="paid", **changes):
    """What decides the answers of a system once its section is changed."""
    section = full()
    section[of][name] |= changes
    section |= {"cache": "elsewhere", "budget": 9} if "base_url" in changes else {}
    return json.dumps(settings.identity(section, "d", "a"))


def test_transport_does_not_decide_a_result():
    transport = {
        "base_url": "https://other.example/v1",
        "api_key_env": "K2",
        "timeout": 5,
        "concurrency": 9,
    }
    assert identity(**transport, max_retries=1, prices={"input": 1, "output": 1}) == identity()
    changes = (
        {"model": "n"},
        {"temperature": 1},
        {"max_tokens": 5},
        {"seed": 3},
        {"structured": "off"},
    )
    changed = {
        identity("systems", "a", prompt="open-document"),
        *(identity(**each) for each in changes),
    }
    assert len(changed - {identity()}) == len(changes) + 1


def test_a_local_model_needs_its_file(tmp_path):
    with pytest.raises(UserError, match="its model is missing; expected a GGUF file"):
        settings.Access(full(cache=str(tmp_path)), "study", "local").client()


def test_the_section_is_read_from_json_or_a_study(tmp_path):
    section, study = settings.read_section('{"endpoints": {}}', "mine")
    assert (section["systems"], study) == ({}, "mine")
    path = tmp_path / "study.yaml"
    path.write_text(
        "study: s1\ncorpora: {c: {files: {train: a, test: b}}}\ngenerative: {budget: 2}\n"
    )
    section, study = settings.read_section(str(path))
    assert (section["budget"], section["datasets"], study) == (2, {}, "s1")
    with pytest.raises(UserError, match="not valid JSON"):
        settings.read_section("{,")
