"""The client against a server that misbehaves: nothing is lost, nothing is paid twice, limits
hold.
"""

import hashlib
import json
import os
import re
import signal

import pytest

from support.fake_endpoint import (
    FakeEndpoint,
    Reply,
    Rules,
    asking,
    cut,
    drop,
    endpoint,
    malformed,
    requests,
    status,
)
from support.processes import forked
from tripleaudit.core.errors import UserError
from tripleaudit.corpora.model import Sentence
from tripleaudit.generative.extraction import Task, extract
from tripleaudit.llm.client import BudgetExceeded, Client, EndpointError, Prices, Request
from tripleaudit.llm.endpoint import Sampling, Usage
from tripleaudit.llm.estimate import estimate, estimate_embeddings
from tripleaudit.llm.prompts import load_prompt
from tripleaudit.llm.response import usage_of

SCHEMA = {"type": "object", "properties": {"triples": {"type": "array"}}}


def test_answers_come_in_order_and_are_sent_once(tmp_path):
    asked = requests(12) + requests(12)
    with asking(tmp_path, lambda body: body["messages"][-1]["content"]) as (fake, client):
        answers = client.complete_all(asked)
        assert [answer.text for answer in answers] == [
            item.messages[0]["content"] for item in asked
        ]
        assert {answer.status for answer in answers} == {"ok"}
        assert fake.count == 12
        again = client.complete_all(asked)
        assert fake.count == 12
        assert all(answer.cached for answer in again)
        assert [answer.usage for answer in again] == [answer.usage for answer in answers]


def test_a_conversation_is_sent_as_it_is(tmp_path):
    turns = [
        {"role": role, "content": role[::-1]} for role in ("system", "user", "assistant", "user")
    ]
    with asking(tmp_path, seed=7, extra={"top_k": 3}) as (fake, client):
        client.complete_all([Request(turns, sampling=Sampling(max_tokens=9), stop=["\n"])])
    sent = {
        "messages": turns,
        "max_tokens": 9,
        "seed": 7,
        "top_k": 3,
        "stop": ["\n"],
        "temperature": 0,
    }
    sent |= {"model": "fake", "_path": "/v1/chat/completions"}
    assert fake.requests == [sent]


@pytest.mark.parametrize(
    "fault",
    [*map(status, (408, 409, 425, 429, 500, 503)), drop(), cut(), malformed(), malformed("{}")],
)
def test_a_passing_fault_is_retried(tmp_path, fault):
    with asking(tmp_path, "fine", faults=[fault, fault]) as (fake, client):
        (answer,) = client.complete_all(requests(1))
        assert (answer.text, fake.count) == ("fine", 3)


def test_no_proxy_stands_before_a_server_on_this_machine(tmp_path, monkeypatch):
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with asking(tmp_path, "fine") as (_, client):
        assert client.complete_all(requests(1))[0].text == "fine"


def test_a_server_without_structured_outputs_is_queried_without(tmp_path):
    refusal = status(400, message="response_format is not supported")
    with FakeEndpoint(
        "[]", faults=lambda _, body: refusal if "response_format" in body else None
    ) as fake:
        with Client(endpoint(fake, concurrency=1), tmp_path) as client:
            answers = client.complete_all(requests(3, schema=SCHEMA))
        assert [answer.status for answer in answers] == ["ok"] * 3
        assert ["response_format" in body for body in fake.requests] == [True, False, False, False]
        assert fake.requests[0]["response_format"]["json_schema"]["schema"] == SCHEMA
        with Client(endpoint(fake), tmp_path) as client:  # stored under the request as it was meant
            assert all(answer.cached for answer in client.complete_all(requests(3, schema=SCHEMA)))
        with (
            Client(endpoint(fake, structured="json_schema"), tmp_path / "other") as client,
            pytest.raises(
                EndpointError,
                match="rejects every request: status 400: response_format is not supported",
            ),
        ):
            client.complete_all(requests(1, schema=SCHEMA))


def test_a_server_that_dies_halfway_costs_only_what_is_missing(tmp_path):
    with asking(
        tmp_path, faults=lambda number, _: drop() if number >= 20 else None, max_retries=1
    ) as (fake, client):
        with pytest.raises(
            EndpointError,
            match="does not answer after 2 attempts.*of 60 answers are there; run again",
        ):
            client.complete_all(requests(60))
        assert fake.count < 60
        first = {json.dumps(body["messages"]) for body in fake.answered}
        assert len(first) == 20
    with asking(tmp_path) as (fake, client):
        assert len(client.complete_all(requests(60))) == 60
        second = {json.dumps(body["messages"]) for body in fake.answered}
        assert fake.count == 40
    assert not first & second


def ask(fake, folder):
    with Client(endpoint(fake), folder) as client:
        assert len(client.complete_all(requests(200))) == 200


def test_six_processes_want_the_same_answers_and_each_is_paid_once(tmp_path):
    with FakeEndpoint(latency=0.005) as fake:
        assert forked(ask, *[(fake, tmp_path)] * 6) == [0] * 6
        assert fake.count == 200


def test_a_full_cache_needs_neither_endpoint_nor_key(tmp_path, monkeypatch):
    monkeypatch.setenv("FAKE_KEY", "sk-something")
    with asking(tmp_path, api_key_env="FAKE_KEY") as (_, client):
        client.complete_all(requests(5))
        client.embed(["a", "b"])
    monkeypatch.delenv("FAKE_KEY")
    with Client(endpoint(None, api_key_env="FAKE_KEY"), tmp_path) as client:
        assert len(client.complete_all(requests(5))) == 5
        assert client.embed(["b", "a"]).shape == (2, 8)
        with pytest.raises(EndpointError, match="environment variable FAKE_KEY is not set"):
            client.complete_all(requests(6))


def test_stored_answers_of_another_address_are_reused_and_counted(tmp_path, caplog):
    with asking(tmp_path) as (_, client):
        client.complete_all(requests(5))
    with FakeEndpoint() as moved, Client(endpoint(moved), tmp_path) as client:
        client.complete_all(requests(6))
        assert moved.count == 1
        assert client.bill()["from_other_address"] == 5
    assert "5 of 6 answers were stored for the same model at another address" in caplog.text


def test_equal_requests_that_are_rejected_are_not_counted_as_stored(tmp_path):
    with asking(tmp_path, faults=[status(400)] * 2) as (_, client):
        with pytest.raises(EndpointError, match="rejects every request"):
            client.complete_all(requests(1) * 2)
        assert client.totals.cached == 0


def two_turns(first, second):
    yield first
    yield second


def test_the_progress_of_conversations_counts_conversations(tmp_path, caplog, monkeypatch):
    monkeypatch.setattr("tripleaudit.core.progress.INTERVAL", 0.02)
    caplog.set_level("INFO")
    pairs = {number: two_turns(*requests(6)[2 * number :][:2]) for number in range(3)}
    with asking(tmp_path, latency=0.1, concurrency=1) as (_, client):
        client.drive(pairs)
    counts = [int(found[1]) for found in re.finditer(r": (\d) of 3 conversations", caplog.text)]
    assert counts and max(counts) <= 3  # of six answers
    assert "of 3 answers" not in caplog.text


def test_a_header_of_the_settings_replaces_the_usual_one_in_any_case(tmp_path, monkeypatch):
    monkeypatch.setenv("OWN_KEY", "Token abc123")
    monkeypatch.setenv("KEY", "another")
    headers = {"Authorization": "env:OWN_KEY"}
    with asking(tmp_path, headers=headers, api_key_env="KEY") as (fake, client):
        client.complete_all(requests(1))
    assert fake.headers[0].get_all("Authorization") == ["Token abc123"]


def test_a_client_prefers_the_answers_of_its_address(tmp_path):
    with asking(tmp_path, "first") as (_, client):
        client.complete_all(requests(3))
    with FakeEndpoint(answer="second") as other:
        with Client(endpoint(other), tmp_path, same_address=True) as client:
            assert {answer.text for answer in client.complete_all(requests(3))} == {"second"}
        with Client(endpoint(other), tmp_path) as client:
            assert {answer.text for answer in client.complete_all(requests(3))} == {"second"}
        assert other.count == 3


def test_the_budget_is_never_exceeded_and_the_run_can_be_resumed(tmp_path):
    with FakeEndpoint(Reply("[]", prompt_tokens=5, completion_tokens=10), latency=0.01) as fake:
        # 0.01 for the ten tokens of every answer, at most 0.02
        paid = endpoint(fake, prices=Prices(0, 1000), max_tokens=20, concurrency=4)
        with Client(paid, tmp_path, budget=0.105) as client:
            with pytest.raises(
                BudgetExceeded, match=r"of 0\.105 is used up.*9 of 30 answers are there; run again"
            ):
                client.complete_all(requests(30))
            assert client.store.spent() == client.store.committed() == pytest.approx(0.09)
        with Client(paid, tmp_path, budget=10) as client:
            answers = client.complete_all(requests(30))
            assert (
                client.store.spent()
                == sum(answer.cost for answer in answers)
                == pytest.approx(0.30)
            )
            assert client.totals.cost == pytest.approx(0.21)
        assert fake.count == 30


def reserve_and_die(paid, folder):
    client = Client(paid, folder, budget=1)
    client.store.reserve(client.key(requests(1)[0]), client.slots_key, 4, 0.02)
    os.kill(os.getpid(), signal.SIGKILL)


def test_what_a_killed_job_had_in_flight_goes_on_to_count_when_it_is_sent_again(tmp_path):
    """The service may have billed it, and nobody will ever know."""
    with FakeEndpoint(answer=Reply("[]", prompt_tokens=1, completion_tokens=10)) as fake:
        paid = endpoint(fake, prices=Prices(0, 1000), max_tokens=20)
        assert forked(reserve_and_die, (paid, tmp_path)) == [-signal.SIGKILL]
        with Client(paid, tmp_path, budget=1) as client:
            assert client.store.committed() == pytest.approx(0.02)
            client.complete_all(requests(1))
            assert client.store.spent() == pytest.approx(
                0.01
            ) and client.store.lost() == pytest.approx(0.02)
            assert client.store.committed() == pytest.approx(0.03)


def test_the_estimate_is_made_without_sending(tmp_path):
    with asking(
        tmp_path, Reply("[]", completion_tokens=10), prices=Prices(1, 2), max_tokens=100
    ) as (fake, client):
        before = estimate(client, requests(8))
        client.complete_all(requests(2))
        after = estimate(client, requests(8) + requests(8))
        assert fake.count == 2
    assert (before.total, before.cached, before.to_pay, before.completion_limit) == (8, 0, 8, 800)
    assert (after.total, after.cached, after.to_pay) == (8, 2, 6)
    assert (after.prompt_tokens, after.completion_tokens, after.completion_limit) == (
        6 * 4,
        60,
        600,
    )
    assert after.cost == pytest.approx((24 * 1 + 60 * 2) / 1e6)
    assert (after + before).total == 16


def test_the_estimate_knows_of_thought(tmp_path):
    with FakeEndpoint(answer=Reply("[]", reasoning_tokens=5)) as fake:
        prices, asked = Prices(0, 2), requests(4)
        with Client(endpoint(fake, prices=prices, max_tokens=100), tmp_path / "learned") as client:
            assert estimate(client, asked).completion_limit == 400
            client.complete_all(requests(1))
            assert estimate(client, asked).completion_limit == 3 * (100 + 4096)
        said = endpoint(fake, prices=prices, max_tokens=100, reasoning_tokens=50)
        with Client(said, tmp_path / "said") as client:
            assert estimate(client, asked).completion_limit == 4 * 150


def test_missing_usage_is_estimated(tmp_path):
    with asking(tmp_path, Reply("12345678", usage=False)) as (_, client):
        assert client.complete_all(requests(1))[0].usage == Usage(4, 2, estimated=True)
    assert usage_of({}, {"input": ["abcd", "ab"]}, (10, 0)) == Usage(
        2, 0, estimated=True
    )  # of texts to embed


def test_embeddings_are_stored_text_by_text(tmp_path):
    with FakeEndpoint() as fake:
        with Client(endpoint(fake), tmp_path) as client:
            first = client.embed(["a", "b", "a"], batch=2)
            second = client.embed(["c", "a"])
            assert client.embed([]).shape[0] == 0
        assert [body["input"] for body in fake.requests] == [["a", "b"], ["c"]]
        with Client(endpoint(fake), tmp_path) as client:
            assert (client.embed(["a", "b", "a"]) == first).all() and fake.count == 2
            assert estimate_embeddings(client, ["c", "b", "new"]).to_pay == 1
    assert (
        first.shape == (3, 8) and (first[0] == first[2]).all() and not (first[0] == first[1]).all()
    )
    assert first[1].tolist() == pytest.approx(
        [byte / 255 for byte in hashlib.sha256(b"b").digest()[:8]]
    )
    assert (second[1] == first[0]).all()


def refused(code: int, message: str, name: str, **more):
    return status(
        code,
        body={"error": {"message": message, "type": "invalid_request_error", "code": name}},
        **more,
    )


MISSING = ("The model 'm' does not exist", "model_not_found")
UNUSABLE = {  # what the service says, of the endpoint, words of the sentence
    "address": (
        {},
        {"base_url": "http://127.0.0.1:9/v1"},
        "127.0.0.1:9/v1) does not answer after 5 attempts",
    ),
    "key": (
        {"faults": [status(401, message="bad key")]},
        {},
        "refuses all requests: status 401: bad key; name the environment variable with the key",
    ),
    "no key": (
        {},
        {"api_key_env": "NO_KEY"},
        "variable NO_KEY is not set; expected it to hold the key",
    ),
    "no header": (
        {},
        {"headers": {"x": "env:NO_X"}},
        "NO_X is not set; expected it to hold the header 'x'",
    ),
    "forbidden": ({"faults": [status(403)]}, {}, "refuses all requests: status 403: no"),
    "model-404": (
        {"faults": [refused(404, *MISSING)]},
        {},
        "refuses all requests: status 404: The model 'm' does not exist; check the name of the model",
    ),
    "model-400": (
        {"faults": [refused(400, *MISSING)]},
        {},
        "refuses all requests: status 400: The model 'm' does not exist",
    ),
    "quota": (
        {"faults": [refused(429, "no quota", "insufficient_quota", retry_after=60)]},
        {},
        "429: no quota",
    ),
    "effort": (
        {"rules": Rules()},
        {"reasoning_effort": "low"},
        "rejects every request: status 400: Unrecognized",
    ),
}


@pytest.mark.parametrize("case", UNUSABLE)
def test_what_does_not_work_is_said_after_the_first_request_and_nothing_is_paid(tmp_path, case):
    """It goes out by itself; what the study fixes is not changed."""
    service, values, words = UNUSABLE[case]
    with asking(tmp_path, **service, **values, prices=Prices(1, 1)) as (fake, client):
        with pytest.raises(UserError, match=re.escape(words)) as error:
            client.complete_all(
                requests(1 if "rules" in service else 9)
            )  # of a bad request others may be good
        assert "\n" not in str(error.value) and fake.count <= 1 and not fake.books
        assert client.store.committed() == 0


def test_a_context_too_short_for_the_prompt(tmp_path):
    texts = [Sentence("1", "Ada left.", ()), Sentence("2", "word " * 900 + "the end.", ())]
    with asking(tmp_path, context=1024, max_tokens=200) as (fake, client):
        with pytest.raises(
            UserError, match="context of 1024 tokens is too short .*up to 200; .*the end"
        ) as error:
            extract(client, texts, Task("open", load_prompt("open")))
        assert "\n" not in str(error.value) and fake.count == 0
        assert len(extract(client, texts[:1], Task("open", load_prompt("open")))) == 1
