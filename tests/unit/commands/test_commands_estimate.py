"""What the language-model stage would take, before anything is sent."""

import json
from pathlib import Path

import pytest

from support.fake_endpoint import FakeEndpoint, Reply
from tripleaudit.cli import main
from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.store import save_sentences
from tripleaudit.files import write_json
from tripleaudit.generative.extraction import build_task
from tripleaudit.llm.client import Client
from tripleaudit.llm.section import endpoint
from tripleaudit.plan.study import Study


@pytest.fixture
def config(tmp_path, monkeypatch):
    """A study with a data set that is prepared, another one, and one extraction that is finished."""
    monkeypatch.delenv("ESTIMATE_KEY", raising=False)
    files = {split: str(tmp_path / f"{split}.jsonl") for split in ("train", "test")}
    for file in files.values():
        Path(file).write_text("{}\n")
    sentences = [Sentence(str(number), f"text {number}") for number in range(6)]
    save_sentences(tmp_path / "r" / "generative" / "d" / "texts.jsonl", sentences)
    with FakeEndpoint(answer=Reply("[]", completion_tokens=7)) as fake:
        server = {"base_url": fake.url, "model": "m", "api_key_env": "ESTIMATE_KEY", "max_tokens": 100}
        section = {
            "cache": str(tmp_path / "cache"),
            "budget": 0.01,
            "endpoints": {"e": server | {"prices": {"input": 10, "output": 20}}},
            "datasets": {"d": {"corpus": "c"}, "later": {"corpus": "c"}},
            "systems": {"s": {"endpoint": "e"}, "finished": {"endpoint": "e", "datasets": ["d"]}},
        }
        chosen = {"study": "x", "corpora": {"c": {"files": files}}, "generative": section}
        done = {"identity": Study(chosen).language_models.identity("d", "finished")}
        write_json(tmp_path / "r" / "generative" / "d" / "finished" / "report.json", done)
        task = build_task(section["systems"]["s"], section["datasets"]["d"], sentences)
        free = {**section, "endpoints": {"e": {**section["endpoints"]["e"], "api_key_env": None}}}
        with Client(endpoint(free, "e"), tmp_path / "cache") as client:
            client.complete_all([request for _, _, request in task.requests(sentences[:2])])
        yield chosen
        assert fake.count == 2  # the estimate sends nothing


def test_requests_tokens_and_money(tmp_path, config, told, capsys):
    asked = ["estimate", "--config", json.dumps(config), "--results", str(tmp_path / "r")]
    result = told(*asked)
    jobs = {(job["dataset"], job["system"]): job for job in result["jobs"]}
    assert set(jobs) == {("d", "s"), ("later", "s"), ("d", "finished")}
    figures = jobs["d", "s"]
    assert (figures["total"], figures["cached"], figures["to_pay"]) == (6, 2, 4)
    assert (figures["completion_tokens"], figures["completion_limit"]) == (4 * 7, 4 * 100)
    assert figures["cost"] == pytest.approx((figures["prompt_tokens"] * 10 + 28 * 20) / 1e6)
    assert jobs["d", "finished"]["done"]
    assert (result["unknown"], result["missing_keys"]) == (["later"], ["ESTIMATE_KEY"])
    assert main(asked) == 0
    text = capsys.readouterr().out
    assert "2 of 3 jobs are to run" in text
    assert "the budget may not suffice" in text
    assert "not counted, because what they read is not made yet: later" in text
    assert "environment variables to set first: ESTIMATE_KEY" in text
    shown = [line.split() for line in text.splitlines()]
    assert shown[1][:6] == ["d", "s", "e", "6", "2", "4"] and ["d", "finished", "e", "done"] in shown
    assert ["total", "6", "2", "4"] in [row[:4] for row in shown]
    config["generative"]["systems"]["finished"]["max_tokens"] = 5  # a result of other settings is not done
    result = told("estimate", "--config", json.dumps(config), "--results", tmp_path / "r")
    assert [job["done"] for job in result["jobs"]] == [False, False, False]
