"""Batches against the scripted service: half the price, one a turn, found again after a kill, singly where not."""

import contextlib
import json
import multiprocessing
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from support.fake_endpoint import FakeEndpoint, Reply, endpoint, requests
from support.processes import die_after
from tripleaudit.llm import batched
from tripleaudit.llm.client import BudgetExceeded, Client, EndpointError, Prices, Request

REPLY = Reply("fine", prompt_tokens=100, completion_tokens=10)
PRICE = (100 * 1.0 + 10 * 2.0) / 1e6


def client_of(fake, folder, budget=1.0, **values):
    return Client(endpoint(fake, **{"batch": True, "prices": Prices(1, 2), "max_retries": 1, **values}), folder, budget)


def settled(fake, folder, **values):
    """A client whose endpoint is known: its first answer is there."""
    client = client_of(fake, folder, **values)
    client.complete_all([Request([{"role": "user", "content": "first of all"}])])
    return client


@contextlib.contextmanager
def batching(folder, reply=REPLY, own=None, **service):
    """A service that offers batches, and a client that it knows, with values of its ``own``."""
    with FakeEndpoint(reply, **service) as fake, settled(fake, folder, **(own or {})) as client:
        yield fake, client


def test_a_batch_costs_half_and_its_answers_are_stored(tmp_path):
    with batching(tmp_path, batch_polls=3) as (fake, client):
        assert fake.count == 1 and not fake.batches  # what the service takes is learned from one request
        answers = client.complete_all([*requests(20), *requests(5)])
        assert [answer.text for answer in answers] == ["fine"] * 25
        assert fake.count == 1 and len(fake.batches) == 1
        assert len(fake.files["file-0"].splitlines()) == 20  # equal requests are sent once
        assert client.totals.cost == pytest.approx(PRICE + 20 * PRICE / 2) == pytest.approx(client.ledger.committed())
        assert client.bill()["cost"] == pytest.approx(client.ledger.spent())
        client.complete_all(requests(20))
        assert len(fake.batches) == 1 and not list((tmp_path / "batches").glob("*.json"))


SIZES = [("REQUESTS", 2, [2, 2, 1]), ("BYTES", 1, [1] * 5), ("BYTES", 631, [1] * 5), ("BYTES", 632, [2, 2, 1])]


@pytest.mark.parametrize(("limit", "most", "sizes"), SIZES)  # a request has 116 bytes, and 200 around it
def test_a_batch_has_no_more_than_services_take(tmp_path, monkeypatch, limit, most, sizes):
    monkeypatch.setattr(batched, f"MOST_{limit}", most)
    with batching(tmp_path) as (fake, client):
        assert len(client.complete_all(requests(5))) == 5
        assert [len(fake.files[f"file-{number}"].splitlines()) for number in range(0, 2 * len(sizes), 2)] == sizes


def test_every_turn_of_conversations_is_one_batch(tmp_path):
    def talk(number):
        first = yield requests(9)[number]
        second = yield Request([{"role": "user", "content": f"{number} and {first.text}"}])
        return second.text

    with batching(tmp_path) as (fake, client):
        assert client.drive({number: talk(number) for number in range(9)}) == dict.fromkeys(range(9), "fine")
        assert len(fake.batches) == 2 and fake.count == 1


def job(fake, folder):
    with client_of(fake, folder) as client:
        client.complete_all(requests(6))


def dying_job(fake, folder):
    die_after(3)
    job(fake, folder)


@pytest.mark.parametrize("step", ["upload", "submit", "list", "poll", "download", "store"])
def test_a_process_that_is_killed_at_any_step_of_a_batch_pays_nothing_twice(tmp_path, step):
    """Kill -9 while the service has done its part and its reply is on its way, or while answers are stored."""
    reached, dead = threading.Event(), threading.Event()

    def on_batch(name):
        if name == step and not dead.is_set():
            reached.set()
            assert dead.wait(60)

    with FakeEndpoint(REPLY, on_batch=on_batch) as fake:
        settled(fake, tmp_path).close()
        target = dying_job if step == "store" else job
        victim = multiprocessing.get_context("fork").Process(target=target, args=(fake, tmp_path))
        victim.start()
        if step != "store":
            assert reached.wait(60)
            os.kill(victim.pid, signal.SIGKILL)
        victim.join(60)
        dead.set()
        stored = len(list(tmp_path.glob("??/*.json"))) - 1
        assert victim.exitcode == -signal.SIGKILL and stored == (3 if step == "store" else 0)
        job(fake, tmp_path)
        assert len(fake.batches) == 1 and len(fake.books) == 7 and fake.count == 1
        with client_of(fake, tmp_path) as client:
            assert client.ledger.committed() == client.ledger.spent() == pytest.approx(PRICE + 6 * PRICE / 2)
            assert [answer.text for answer in client.complete_all(requests(6))] == ["fine"] * 6
    assert not list((tmp_path / "batches").glob("*.json"))


EXPIRED = "batch batch-0 expired; 6 of its 10 requests have no answer and are sent singly, at the full price"


@pytest.mark.parametrize(
    ("service", "said", "singly"),
    [({"batch_answers": 4}, EXPIRED, 6), ({"offers_batches": False}, "no batch (status 404", 10)],
)
def test_what_no_batch_answers_is_sent_singly(tmp_path, caplog, service, said, singly):
    with batching(tmp_path, **service) as (fake, client):
        assert [answer.text for answer in client.complete_all(requests(10))] == ["fine"] * 10
        assert said in caplog.text and fake.count == 1 + singly and len(fake.batches) <= 1
        assert client.ledger.committed() == pytest.approx((1 + singly) * PRICE + (10 - singly) * PRICE / 2)


def test_the_budget_holds_for_batches(tmp_path):
    with batching(tmp_path, own={"max_tokens": 100, "budget": 0.001}) as (fake, client):
        with pytest.raises(BudgetExceeded, match="budget of 0.001 is used up"):
            client.complete_all(requests(60))
        assert client.ledger.committed() <= 0.001
        assert 1 <= len(fake.files["file-0"].splitlines()) < 60


def test_a_key_in_an_answer_of_a_batch_is_not_stored(tmp_path, monkeypatch):
    monkeypatch.setenv("A_KEY", "sk-very-secret-key-123")
    reply = Reply("your key is sk-very-secret-key-123", prompt_tokens=100, completion_tokens=10)
    with batching(tmp_path, reply, own={"api_key_env": "A_KEY"}) as (fake, client):
        answers = client.complete_all(requests(3))
        assert len(fake.batches) == 1 and {answer.text for answer in answers} == {"your key is [key]"}
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and b"very-secret" in path.read_bytes()]


def test_two_jobs_share_a_batch(tmp_path):
    with batching(tmp_path, batch_polls=5) as (fake, client):
        with client_of(fake, tmp_path) as other, ThreadPoolExecutor(2) as pool:
            found = pool.map(lambda each: each.complete_all(requests(8)), (client, other))
            assert [[answer.text for answer in answers] for answers in found] == [["fine"] * 8] * 2
        assert len(fake.books) == 9
        assert client.ledger.committed() == pytest.approx(PRICE + 8 * PRICE / 2)


class Odd(FakeEndpoint):
    """A service whose replies of one kind are changed."""

    def __init__(self, where, change):
        super().__init__(REPLY)
        self.where, self.change = where, change

    def _send(self, handler, code, payload, headers=None):
        path = handler.path.partition("?")[0]
        kinds = {"/content": "content", "/files": "upload", "/batches": {"GET": "list"}.get(handler.command, "submit")}
        kind = next((kind for end, kind in kinds.items() if path.endswith(end)), "wait" if "/batches/" in path else "")
        super()._send(handler, code, self.change(payload) if kind == self.where else payload, headers)


def rows_with(**fields):
    return lambda text: "\n".join(json.dumps({**json.loads(line), **fields}) for line in text.splitlines())


ODD = {
    **{f"{kind} {value}": (kind, lambda _, value=value: value)
       for kind in ("upload", "submit", "wait") for value in ("null", "[]", "5", "{}")},
    "list []": ("list", lambda _: "[]"),
    "list of text": ("list", lambda _: {"data": ["abc"]}),
    "errors in text": ("wait", lambda batch: {**batch, "status": "failed", "errors": "bad"}),
    "a page": ("content", lambda _: "<html>"),
    "half a line": ("content", lambda text: text[:-30]),
    "nested": ("content", lambda _: "[" * 100_000),
    "rows of text": ("content", lambda _: '"x"'),
    "no names": ("content", rows_with(custom_id=[1])),
    "responses of text": ("content", rows_with(response="x")),
}  # fmt: skip


@pytest.mark.parametrize("case", ODD)
def test_what_a_service_says_of_a_batch_and_cannot_be_read_is_one_sentence(tmp_path, case):
    with Odd(*ODD[case]) as fake, settled(fake, tmp_path) as client:
        with pytest.raises(EndpointError) as caught:
            client.complete_all(requests(3))
        assert "\n" not in str(caught.value) and "attempts: ;" not in str(caught.value)
        assert fake.count == 1 and len(fake.batches) <= 1  # nothing is sent singly or twice
        if ODD[case][0] in ("wait", "content"):
            fake.where = ""
            assert [answer.text for answer in client.complete_all(requests(3))] == ["fine"] * 3
            assert fake.count == 1 and len(fake.batches) == 1
            assert client.ledger.committed() == pytest.approx(PRICE + 3 * PRICE / 2)


def test_a_good_status_without_an_answer_is_booked_as_perhaps_paid(tmp_path):
    change = rows_with(response={"status_code": 200, "body": {"choices": []}})
    with Odd("content", change) as fake, settled(fake, tmp_path) as client:
        assert [answer.text for answer in client.complete_all(requests(2))] == ["fine"] * 2
        assert fake.count == 3 and client.ledger.lost() > 2 * PRICE / 2
