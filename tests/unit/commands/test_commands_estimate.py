"""What the language-model stage would take, before anything is sent."""

import json

import pytest

from support.fake_endpoint import FakeEndpoint, Reply
from tripleaudit.cli import main
from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.store import save_sentences
from tripleaudit.files import write_json
from tripleaudit.generative.extraction import build_task
from tripleaudit.llm.client import Client
from tripleaudit.llm.section import endpoint, identity


def section(tmp_path, url):
    return {
        "cache": str(tmp_path / "cache"),
        "budget": 0.01,
        "endpoints": {
            "e": {"base_url": url, "model": "m", "api_key_env": "ESTIMATE_KEY", "max_tokens": 100}
            | {"prices": {"input": 10, "output": 20}}
        },
        "datasets": {"d": {"corpus": "c"}, "later": {"corpus": "c"}},
        "systems": {"s": {"endpoint": "e"}, "finished": {"endpoint": "e", "datasets": ["d"]}},
    }


@pytest.fixture
def prepared(tmp_path, monkeypatch):
    monkeypatch.delenv("ESTIMATE_KEY", raising=False)
    sentences = [Sentence(str(number), f"text {number}") for number in range(6)]
    save_sentences(tmp_path / "r" / "generative" / "d" / "texts.jsonl", sentences)
    with FakeEndpoint(answer=Reply("[]", completion_tokens=7)) as fake:
        chosen = section(tmp_path, fake.url)
        free = {**chosen, "endpoints": {"e": {**chosen["endpoints"]["e"], "api_key_env": None}}}
        done = {"identity": identity(chosen, "d", "finished")}
        write_json(tmp_path / "r" / "generative" / "d" / "finished" / "report.json", done)
        task = build_task(chosen["systems"]["s"], chosen["datasets"]["d"], sentences)
        with Client(endpoint(free, "e"), tmp_path / "cache") as client:
            client.complete_all([request for _, _, request in task.requests(sentences[:2])])
        yield chosen
        assert fake.count == 2  # the estimate sends nothing


def test_requests_tokens_and_money(tmp_path, prepared, capsys):
    arguments = ["estimate", "--section", json.dumps(prepared), "--study", "x", "--results", str(tmp_path / "r")]
    assert main([*arguments, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    jobs = {(job["dataset"], job["system"]): job for job in result["jobs"]}
    assert set(jobs) == {("d", "s"), ("later", "s"), ("d", "finished")}
    figures = jobs["d", "s"]
    assert (figures["total"], figures["cached"], figures["to_pay"]) == (6, 2, 4)
    assert (figures["completion_tokens"], figures["completion_limit"]) == (4 * 7, 4 * 100)
    assert figures["cost"] == pytest.approx((figures["prompt_tokens"] * 10 + 28 * 20) / 1e6)
    assert jobs["d", "finished"]["done"]
    assert (result["unknown"], result["missing_keys"]) == (["later"], ["ESTIMATE_KEY"])
    assert main(arguments) == 0
    text = capsys.readouterr().out
    assert "2 of 3 jobs are to run" in text
    assert "the budget may not suffice" in text
    assert "not counted, because what they read is not made yet: later" in text
    assert "environment variables to set first: ESTIMATE_KEY" in text
    assert text.splitlines()[1].split()[:6] == ["d", "s", "e", "6", "2", "4"]


def test_a_result_of_other_settings_is_not_done(tmp_path, prepared, capsys):
    prepared["systems"]["finished"]["max_tokens"] = 5
    arguments = ["estimate", "--section", json.dumps(prepared), "--results", str(tmp_path / "r"), "--json"]
    assert main(arguments) == 0
    assert [job["done"] for job in json.loads(capsys.readouterr().out)["jobs"]] == [False, False, False]


def test_a_study_without_language_models(capsys):
    assert main(["estimate", "--section", "{}"]) == 0
    assert "0 of 0 jobs are to run" in capsys.readouterr().out
