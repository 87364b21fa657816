"""The job that extracts: broken off and rerun, with a key that must not appear anywhere."""

import json
import logging
import traceback
from pathlib import Path

import pytest

from support.fake_endpoint import OK, FakeEndpoint, status
from tripleaudit.cli import main
from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.store import load_sentences, save_sentences
from tripleaudit.llm.client import Client, Endpoint, EndpointError, Request

KEY = "sk-test-0123456789abcdef-do-not-show"
TEXTS = [Sentence(f"s{number}", f"Person{number} leads Company{number}.") for number in range(40)]


def answer(body) -> str:
    words = body["messages"][-1]["content"].removeprefix("Passage: ").rstrip(".").split(" ")
    return json.dumps([words])


def job(tmp_path: Path, fake: FakeEndpoint | None) -> list[str]:
    """Return the arguments of a job on the texts, with its section."""
    texts = tmp_path / "texts.jsonl"
    if not texts.exists():
        save_sentences(texts, TEXTS)
    server = {"base_url": fake.url if fake else "http://127.0.0.1:9/v1", "model": "fake-model"}
    server |= {"api_key_env": "TEST_LLM_KEY", "max_retries": 2}
    section = {"cache": str(tmp_path / "cache"), "endpoints": {"fake": server}}
    section |= {"datasets": {"d": {"corpus": "c"}}, "systems": {"fake": {"endpoint": "fake"}}}
    arguments = [
        "generate",
        "--section",
        json.dumps(section),
        "--study",
        "s",
        "--dataset",
        "d",
        "--system",
        "fake",
    ]
    arguments += ["--texts", str(texts)]
    for name in ("answers", "predictions", "report"):
        arguments += [f"--{name}", str(tmp_path / "out" / f"{name}.json")]
    return arguments


@pytest.fixture
def key(monkeypatch):
    monkeypatch.setenv("TEST_LLM_KEY", KEY)


def test_texts_become_answers_predictions_and_a_report(tmp_path, key, monkeypatch):
    """A second run writes the same; it sends nothing and needs no key."""
    with FakeEndpoint(answer=answer) as fake:
        assert main(job(tmp_path, fake)) == 0
        assert set(fake.keys) == {f"Bearer {KEY}"}
    predicted = load_sentences(tmp_path / "out" / "predictions.json")
    expected = [(f"Person{number}", "leads", f"Company{number}") for number in range(40)]
    assert [item.triples[0].strings for item in predicted] == expected
    assert all(item.triples[0].located for item in predicted)
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert (report["texts"], report["triples"], report["statuses"]["ok"], report["model"]) == (
        40,
        40,
        40,
        "fake-model",
    )
    rows = [
        json.loads(line) for line in (tmp_path / "out" / "answers.json").read_text().splitlines()
    ]
    assert [row["id"] for row in rows] == [item.id for item in TEXTS]
    first = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    monkeypatch.delenv("TEST_LLM_KEY")
    assert main(job(tmp_path, None)) == 0
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == first


def test_a_dying_server_leaves_no_output_and_a_resumable_state(tmp_path, key, capsys):
    with FakeEndpoint(
        answer=answer, faults=lambda number, body: OK if number < 15 else status(503)
    ) as fake:
        assert main(job(tmp_path, fake)) == 1
        error = capsys.readouterr().err
        assert "error: endpoint 'fake'" in error
        assert "status 503" in error
        assert "15 of 40 answers are there; run again to send only the missing ones" in error
    assert not (tmp_path / "out").exists()
    with FakeEndpoint(answer=answer) as fake:
        assert main(job(tmp_path, fake)) == 0
        assert fake.count == 25


@pytest.mark.parametrize("place", ["authentication", "server error", "answer", "rejected"])
def test_the_key_is_nowhere(tmp_path, key, capsys, caplog, place):
    def faults(number, body):
        codes = {"authentication": 401, "server error": 500, "rejected": 400}
        return status(codes[place]) if place in codes else OK

    def echo(body):
        return f'[["Person", "has key", "{KEY}"]]'

    caplog.set_level(logging.INFO)
    with FakeEndpoint(answer=echo, faults=faults, echo_key=True) as fake:
        assert main(job(tmp_path, fake)) == (0 if place == "answer" else 1)
        assert fake.keys[0] == f"Bearer {KEY}"
    shown = "".join([*capsys.readouterr(), caplog.text])
    assert KEY not in shown and ("[key]" in shown or place == "answer")
    for path in tmp_path.rglob("*"):
        assert KEY not in path.name
        if path.is_file():
            assert KEY.encode() not in path.read_bytes(), path


def test_the_key_is_in_no_exception(tmp_path, key):
    with FakeEndpoint(faults=lambda number, body: status(401), echo_key=True) as fake:
        endpoint = Endpoint(fake.url, "m", api_key_env="TEST_LLM_KEY")
        with Client(endpoint, tmp_path) as client, pytest.raises(EndpointError) as caught:
            client.complete_all([Request([{"role": "user", "content": "x"}])])
    error: BaseException | None = caught.value
    assert KEY not in "".join(traceback.format_exception(error))
    while error is not None:
        assert KEY not in repr(error)
        error = error.__context__ or error.__cause__


def test_unknown_names_are_one_sentence(tmp_path, key, refused):
    said = refused(*job(tmp_path, None), "--system", "nobody")
    assert said == "error: generative/systems: 'nobody' is not defined; known: fake"
