"""What cannot work is said in one sentence, and nothing is paid for it."""

import pytest

from support.fake_endpoint import FakeEndpoint, Fault, status
from tripleaudit.corpora.model import Sentence
from tripleaudit.errors import UserError
from tripleaudit.generative.extraction import Task, extract
from tripleaudit.llm.client import Client, Endpoint, Prices, Request
from tripleaudit.llm.prompts import load_prompt
from tripleaudit.llm.transport import Transport
from tripleaudit.plan.study import Study

REQUESTS = [Request([{"role": "user", "content": f"text number {number}"}]) for number in range(9)]
OPEN_SCHEMA = "schema: {type: object, properties: {a: {type: string}}}\n"


def endpoint(url: str, **values) -> Endpoint:
    return Endpoint(url, "m", name="mine", prices=Prices(1, 1), **{"backoff": 0.01, "max_retries": 1, **values})


def missing(code: int) -> Fault:
    error = {"message": "The model 'm' does not exist", "type": "invalid_request_error", "code": "model_not_found"}
    return status(code, body={"error": error})


@pytest.mark.parametrize(
    ("fault", "values", "sentence"),
    [
        (None, {"base_url": "http://127.0.0.1:9/v1"}, r"\(http://127.0.0.1:9/v1\) does not answer after 2 attempts"),
        (status(401, message="bad key"), {}, "turns us away: status 401: bad key"),
        (None, {"api_key_env": "NO_SUCH_KEY"}, "variable NO_SUCH_KEY is not set; expected it to hold the key"),
        (status(403), {}, "turns us away: status 403: no"),
        (missing(404), {}, "turns us away: status 404: The model 'm' does not exist"),
        (missing(400), {}, "turns us away: status 400: The model 'm' does not exist"),
    ],
    ids=["address", "key", "no-key", "forbidden", "model-404", "model-400"],
)
def test_an_address_a_key_or_a_model_that_does_not_work(tmp_path, fault, values, sentence):
    """Said after the first request, which goes out by itself."""
    with FakeEndpoint(faults=lambda number, body: fault) as fake:
        chosen = endpoint(**{"url": values.pop("base_url", fake.url), **values})
        with Client(chosen, tmp_path) as client, pytest.raises(UserError, match=sentence) as error:
            client.complete_all(REQUESTS)
        assert "\n" not in str(error.value) and fake.count <= 1 and not fake.books
        assert client.ledger.committed() == 0


def test_an_address_where_nobody_is_is_queried_by_one_request_alone(tmp_path, monkeypatch):
    attempts = []

    async def counted(self, kind, body, own=Transport._attempt):
        attempts.append(kind)
        return await own(self, kind, body)

    monkeypatch.setattr(Transport, "_attempt", counted)
    with Client(endpoint("http://127.0.0.1:9/v1"), tmp_path) as client, pytest.raises(UserError, match="2 attempts"):
        client.complete_all(REQUESTS)
    assert len(attempts) == 2


def test_a_context_too_short_for_the_prompt(tmp_path):
    texts = [Sentence("1", "Ada left.", ()), Sentence("2", "word " * 900 + "the end.", ())]
    with FakeEndpoint() as fake, Client(endpoint(fake.url, context=1024, max_tokens=200), tmp_path) as client:
        with pytest.raises(UserError, match="context of 1024 tokens is too short .*up to 200; .*the end") as error:
            extract(client, texts, Task("open", load_prompt("open")))
        assert "\n" not in str(error.value) and fake.count == 0
        assert len(extract(client, texts[:1], Task("open", load_prompt("open")))) == 1


@pytest.mark.parametrize(
    ("server", "more", "sentence"),
    [
        (
            {"api_key_env": "SOME_KEY"},
            {"budget": 3},
            "generative/endpoints/mine: a budget needs 'prices' for every endpoint with a key",
        ),
        (
            {"structured": "json_schema"},
            {},
            "systems/a/prompt: schema: strict mode needs 'additionalProperties: false' in every object "
            "(endpoint 'mine' asks for json_schema; auto does without)",
        ),
        (
            {"context": 512},
            {},
            "systems/a/max_tokens: an answer of up to 800 leaves no room for a text in a context of 512",
        ),
        (
            {"base_url": "https://h.example/v1/chat/completions"},
            {},
            "endpoints/mine: 'base_url' must end before /chat/completions",
        ),
        ({"extra": {"stream": True}}, {}, "endpoints/mine: 'extra' must not ask for a stream"),
        ({"extra": {"n": 3}}, {}, "endpoints/mine: 'extra' must not ask for a stream or for several answers"),
    ],
    ids=["budget", "schema", "context", "address", "stream", "several"],
)
def test_what_is_said_of_a_study_before_anything_is_sent(tmp_path, monkeypatch, server, more, sentence):
    monkeypatch.chdir(tmp_path)
    for name in ("train", "test"):
        (tmp_path / f"{name}.jsonl").write_text("{}\n")
    (tmp_path / "own.yaml").write_text("messages: [{role: user, content: '{{text}}'}]\n" + OPEN_SCHEMA)
    config = {
        "endpoints": {"mine": {"base_url": "https://h.example/v1", "model": "m", **server}},
        "datasets": {"d": {"corpus": "c"}},
        "systems": {"a": {"endpoint": "mine", "prompt": "./own.yaml"}},
    }
    corpora = {"c": {"files": {"train": "train.jsonl", "test": "test.jsonl"}}}
    with pytest.raises(UserError) as error:
        Study({"study": "s", "corpora": corpora, "generative": config | more})
    (found,) = str(error.value).splitlines()[1:]
    assert sentence in found
    good = {"base_url": "https://h.example/v1", "context": 2048, "extra": {"n": 1, "stream": False}}
    config["endpoints"]["mine"] |= {"structured": "auto", "prices": {"input": 1}, **good}
    Study({"study": "s", "corpora": corpora, "generative": config | more})
