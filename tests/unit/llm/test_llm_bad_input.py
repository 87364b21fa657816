"""What cannot work is said in one sentence, and nothing is paid for it."""

import pytest

from support.fake_endpoint import FakeEndpoint, Fault, status
from tripleaudit.corpora.model import Sentence
from tripleaudit.errors import UserError
from tripleaudit.generative.extraction import Task, extract
from tripleaudit.llm.client import Client, Endpoint, Prices, Request
from tripleaudit.llm.prompts import load_prompt

REQUESTS = [Request([{"role": "user", "content": f"text number {number}"}]) for number in range(9)]


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


def test_a_context_too_short_for_the_prompt(tmp_path):
    texts = [Sentence("1", "Ada left.", ()), Sentence("2", "word " * 900 + "the end.", ())]
    with FakeEndpoint() as fake, Client(endpoint(fake.url, context=1024, max_tokens=200), tmp_path) as client:
        with pytest.raises(UserError, match="context of 1024 tokens is too short .*up to 200; .*the end") as error:
            extract(client, texts, Task("open", load_prompt("open")))
        assert "\n" not in str(error.value) and fake.count == 0
        assert len(extract(client, texts[:1], Task("open", load_prompt("open")))) == 1
