"""The client against services that obey their documented rules: what they take, what they bill,
what they refuse.
"""

import json
import random
import signal
import threading

import pytest

from support.fake_endpoint import (
    FakeEndpoint,
    Reply,
    Rules,
    asking,
    drop,
    endpoint,
    hang,
    malformed,
    requests,
    status,
)
from support.processes import die_after, forked
from tripleaudit.llm.capabilities import Capabilities, refused_field
from tripleaudit.llm.client import BudgetExceeded, Client, Endpoint, Prices, Request, Usage
from tripleaudit.llm.endpoint import Sampling
from tripleaudit.llm.prompts import FOLDER, load_prompt
from tripleaudit.llm.store import Reservation, Store

LOCAL = Endpoint("http://localhost/v1", "m")
REASONING = Rules(reasoning=200)
OPEN_SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}


# --- what a service takes


def test_a_reasoning_model_is_queried_as_it_must_be(tmp_path):
    """Nothing in the study says that it is one: its documented errors, which cost nothing, say
    it.
    """
    with FakeEndpoint("yes it is", rules=REASONING) as fake:
        with Client(endpoint(fake, prices=Prices(1, 2)), tmp_path) as client:
            answers = client.complete_all(requests(6, max_tokens=10))
            assert [answer.text for answer in answers] == ["yes it is"] * 6
            assert {answer.status for answer in answers} == {"ok"}
            assert (
                client.capabilities.token_field == "max_completion_tokens"
                and client.capabilities.refused == ("temperature",)
            )
            assert client.capabilities.reasons
            assert sum(answer.cost for answer in answers) == pytest.approx(
                client.store.spent(), abs=1e-15
            )
        good = fake.answered
        assert all(body["max_completion_tokens"] == 10 + 4096 for body in good[1:])
        assert good[0]["max_completion_tokens"] == 10  # before anything showed that it thinks
        rejected = fake.count - len(good)
        assert rejected == 2  # by the first request alone: the field, then the temperature
        with Client(endpoint(fake, prices=Prices(1, 2)), tmp_path) as client:
            client.complete_all(requests(8, max_tokens=10))
        assert (
            fake.count - len(fake.answered) == rejected
        )  # a later job begins with what was learned
        assert (
            len(fake.answered) == 8 + 1
        )  # the first one twice, with room for thought; none has another key by now


@pytest.mark.parametrize(
    "values",
    [
        {"temperature": None},
        {"extra": {"max_completion_tokens": 900}},
        {"extra": {"max_tokens": None}},
        {"reasoning_effort": "low"},
    ],
)
def test_every_way_to_describe_a_reasoning_model_works(tmp_path, values):
    with asking(tmp_path, "fine", rules=REASONING, **values) as (fake, client):
        assert client.complete_all(requests(1))[0].text == "fine"
    sent = fake.answered[-1]
    assert sent.get("reasoning_effort") == values.get("reasoning_effort")
    if "max_completion_tokens" in values.get("extra", {}):
        assert sent["max_completion_tokens"] in (900, 900 + 4096)


TOO_LONG = (
    "This model's maximum context length is 512 tokens. However, 'max_tokens' is too large: 800."
)
FLAGGED = {"message": "Your input was flagged", "code": 403, "metadata": {"reasons": ["violence"]}}


@pytest.mark.parametrize(
    "fault", [status(400, message=TOO_LONG), status(403, body={"error": FLAGGED})]
)
def test_a_request_that_is_rejected_for_its_text_is_no_lesson_and_stops_no_other(tmp_path, fault):
    def faults(number, body):
        return fault if "number 0" in body["messages"][0]["content"] else None

    with asking(tmp_path, "ok", faults=faults) as (fake, client):
        first, second = client.complete_all(requests(2))
    said = json.loads(fault.body)["error"]["message"]
    assert (first.status, first.error, second.status) == (
        "error",
        f"status {fault.code}: {said}",
        "ok",
    )
    assert fake.count == 2


def test_problems_name_their_field():
    body = {"max_tokens": 1, "temperature": 0, "model": "m", "messages": []}
    assert refused_field({"message": "no such thing as temperature"}, body) is None
    assert (
        refused_field({"message": "temperature: Extra inputs are not permitted"}, body)
        == "temperature"
    )
    error = {
        "message": "Unsupported parameter",
        "param": "max_tokens",
        "code": "unsupported_parameter",
    }
    assert refused_field(error, body) == "max_tokens"


# --- structured outputs


@pytest.mark.parametrize(
    "name", sorted(path.stem for path in FOLDER.glob("*.yaml") if load_prompt(path.stem).schema)
)
def test_the_schemas_of_all_prompts_are_sent_as_strict_mode_takes_them(tmp_path, name):
    schema = load_prompt(name).schema
    with asking(tmp_path, "{}", rules=Rules(), structured="json_schema") as (fake, client):
        assert client.complete_all(requests(1, schema=schema))[0].status == "ok"
    assert fake.answered[0]["response_format"]["json_schema"]["strict"] is True


def test_a_schema_that_strict_mode_refuses_is_sent_all_the_same(tmp_path):
    with asking(tmp_path, "{}", rules=Rules(), structured="json_schema") as (fake, client):
        client.complete_all(requests(1, schema=OPEN_SCHEMA))
    assert fake.answered[0]["response_format"]["json_schema"]["strict"] is False


# --- thought, refusals, filters


def test_what_served_an_answer_is_stored(tmp_path):
    reply = Reply(
        "done", reasoning="let me see", prompt_tokens=100, completion_tokens=30, reasoning_tokens=20
    )
    with asking(tmp_path, reply, fingerprint="fp_1", prices=Prices(1, 2)) as (fake, client):
        (first,), bill = client.complete_all(requests(1)), client.bill()
        with Client(client.endpoint, tmp_path) as another:
            (again,) = another.complete_all(requests(1))
    for answer in (first, again):
        assert answer.reasoning == "let me see" and answer.usage == Usage(
            100, 30, reasoning_tokens=20
        )
        assert (
            answer.served["created"]
            and {"model": "fake", "fingerprint": "fp_1"}.items() <= answer.served.items()
        )
    assert (
        bill["models"] == {"fake": 1}
        and bill["fingerprints"] == {"fp_1": 1}
        and bill["reasoning_tokens"] == 20
    )
    assert client.store.answer(first.key)["sent"]["max_tokens"] == 800


# --- money


def test_a_timed_out_attempt_counts_at_its_upper_bound(tmp_path):
    """Two attempts run into the time-out; the service may have billed them."""
    reply = Reply("fine", prompt_tokens=6, completion_tokens=10)
    slow = {"faults": [hang(20), hang(20)], "timeout": 0.2}
    with asking(tmp_path, reply, budget=1, prices=Prices(1, 1000), max_tokens=20, **slow) as (
        _,
        client,
    ):
        client.complete_all(requests(1))
        assert client.store.spent() == pytest.approx(6e-6 + 0.01)
        assert client.store.lost() == pytest.approx(
            2 * (6e-6 + 0.02)
        )  # the prompt's tokens are known by now
        assert client.store.committed() == pytest.approx(client.store.spent() + client.store.lost())
        assert client.bill()["lost"] == client.store.lost()


def test_a_slow_model_cannot_overspend(tmp_path):
    # a second, for on a busy machine a request must reach the service within it
    slow = {"faults": [hang(20)] * 9, "timeout": 1, "max_retries": 20}
    with asking(tmp_path, budget=0.07, prices=Prices(0, 1000), max_tokens=20, **slow) as (
        fake,
        client,
    ):
        with pytest.raises(BudgetExceeded, match="at most 0.06 on attempts without an answer"):
            client.complete_all(requests(1))
        assert client.store.committed() == pytest.approx(0.06)
        assert fake.count == 3


def test_cached_prompt_tokens_have_their_own_price(tmp_path):
    reply = Reply("x", prompt_tokens=100, completion_tokens=10, cached_tokens=80)
    with asking(tmp_path, reply, prices=Prices(1, 2, cached_input=0.1)) as (_, client):
        (answer,) = client.complete_all(requests(1))
    assert answer.cost == pytest.approx((20 * 1 + 80 * 0.1 + 10 * 2) / 1e6)


KINDS = [
    Reply("one two"),
    Reply("cut", "length"),
    Reply(None, refusal="no"),
    Reply("", "content_filter"),
]


def of_four_kinds(body):
    return KINDS[int(body["messages"][0]["content"].split()[-1]) % 4]


def price(usage):
    return (3 * usage["prompt_tokens"] + 7 * usage["completion_tokens"]) / 1e6


def test_the_ledger_agrees_with_the_books_of_the_service(tmp_path):
    """Rejections, retries, truncation, refusals and thought: to the last digit."""
    faults = [status(429, retry_after=0), None, status(503), None, status(500)]
    with asking(tmp_path, of_four_kinds, faults=faults, rules=REASONING, prices=Prices(3, 7)) as (
        fake,
        client,
    ):
        answers = client.complete_all(requests(24, max_tokens=50) + requests(24, max_tokens=50))
        assert [answer.status for answer in answers] == [
            "ok",
            "truncated",
            "refused",
            "refused",
        ] * 12
        bill, billed = client.bill(), sum(map(price, fake.books))
        assert client.store.spent() == pytest.approx(billed, abs=1e-15) == bill["cost"]
        assert bill["requests"] == 24
        assert bill["completion_tokens"] == sum(row["completion_tokens"] for row in fake.books)


def test_a_job_waits_for_the_reservations_of_other_jobs(tmp_path):
    """Another job has reserved nearly all of the budget and spends little of it: this one waits
    and goes on.
    """
    with FakeEndpoint(Reply("x", prompt_tokens=1, completion_tokens=1)) as fake:
        paid = endpoint(fake, prices=Prices(0, 1000), max_tokens=20)
        other = Store(tmp_path, budget=0.03)
        assert other.reserve("of another job", "e", 1, 0.02) is Reservation.GRANTED
        timer = threading.Timer(0.5, lambda: other.settle("of another job", 0.001))
        timer.start()
        with Client(paid, tmp_path, budget=0.03) as client:
            assert client.complete_all(requests(1))[0].text == "x"
            assert client.store.committed() == pytest.approx(0.002)
        assert other.reserve("once more", "e", 1, 0.02) is Reservation.GRANTED
        other.close()  # it is gone, and its reservation may have been billed: nothing to wait for
        with Client(paid, tmp_path, budget=0.03) as client, pytest.raises(BudgetExceeded):
            client.complete_all(requests(2))


def test_a_request_of_another_job_may_end_while_a_reservation_is_tried(tmp_path, monkeypatch):
    with FakeEndpoint(Reply("x", prompt_tokens=1, completion_tokens=1)) as fake:
        paid = endpoint(fake, prices=Prices(0, 1000), max_tokens=20)
        other = Store(tmp_path, budget=0.03)
        assert other.reserve("of another job", "e", 1, 0.02) is Reservation.GRANTED
        reserve = Store.reserve

        def reserve_and_end_the_other(store, *arguments):
            outcome = reserve(store, *arguments)
            other.settle("of another job", 0.0)
            return outcome

        monkeypatch.setattr(Store, "reserve", reserve_and_end_the_other)
        with Client(paid, tmp_path, budget=0.03) as client:
            assert client.complete_all(requests(1))[0].text == "x"


def job(fake, folder, dies_after):
    die_after(dies_after)
    with Client(endpoint(fake, prices=Prices(3, 7), max_retries=20), folder) as client:
        client.complete_all(requests(99, max_tokens=20))


def stored_keys(folder, fake):
    with Client(endpoint(fake), folder) as client:
        return {
            client.key(request)
            for request in requests(99, max_tokens=20)
            if client.lookup(request) is not None
        }


def test_kills_under_faults_pay_nothing_twice_that_was_stored(tmp_path):
    """Refused, truncated and filtered answers among them; what a killed job had in flight may
    come twice, no more.
    """
    draw = random.Random(3)
    troubles = [status(429, retry_after=0), status(503), drop(), malformed()]

    def faults(number, body):
        return draw.choice(troubles) if draw.random() < 0.2 else None

    with FakeEndpoint(of_four_kinds, faults=faults) as fake:
        for kill in range(1, 9):
            stored, before = stored_keys(tmp_path, fake), len(fake.answered)
            assert forked(job, (fake, tmp_path, kill)) == [-signal.SIGKILL]
            again = {
                Request(body["messages"], sampling=Sampling(max_tokens=20)).key(endpoint(fake))
                for body in fake.answered[before:]
            }
            assert not again & stored  # what is stored is never asked for
        assert forked(job, (fake, tmp_path, 100)) == [0]
        surplus, billed = len(fake.answered) - 99, sum(map(price, fake.books))
        assert len(stored_keys(tmp_path, fake)) == 99 and surplus <= 8 * 4
    store = Store(tmp_path)
    most = surplus * max(map(price, fake.books))
    assert billed - most - 1e-12 <= store.spent() <= billed + 1e-12
    assert store.committed() == pytest.approx(
        store.spent() + store.lost()
    )  # no reservation is left open


# --- throughput


def test_a_slow_conversation_holds_up_no_other(tmp_path):
    """The slow answer comes only once all other conversations are through: rounds would wait for
    it.
    """
    left = threading.Semaphore(0)

    def answer(body):
        text = body["messages"][0]["content"]
        if text == "slow 0":
            for _ in range(9):
                assert left.acquire(timeout=20)
        elif text.endswith(" 4"):
            left.release()
        return "ok"

    def talk(name):
        for turn in range(5):
            answer = yield Request([{"role": "user", "content": f"{name} {turn}"}])
        return answer.text

    with asking(tmp_path, answer, timeout=30) as (_, client):
        client.complete_all(requests(1))  # the endpoint is known by now
        found = client.drive({name: talk(name) for name in ("slow", *"abcdefghi")})
    assert list(found) == ["slow", *"abcdefghi"] and set(found.values()) == {"ok"}


def work(fake, folder, number):
    with Client(endpoint(fake, concurrency=3), folder) as client:
        asked = [Request([{"role": "user", "content": f"{number}: {i}"}]) for i in range(15)]
        assert len(client.complete_all(asked)) == 15


def test_jobs_share_the_positions_of_one_endpoint(tmp_path):
    full = threading.Barrier(3)

    def answer(body):
        if ":" in body["messages"][0]["content"] and fake.count <= 4:
            full.wait(60)  # for three of the jobs' requests, of whichever jobs
        return "ok"

    with asking(tmp_path, answer, latency=0.02, timeout=60) as (fake, client):
        client.complete_all(requests(1))  # the endpoint is known by now
        assert forked(work, *[(fake, tmp_path, number) for number in range(3)]) == [0] * 3
    assert (fake.count, fake.max_in_flight) == (46, 3)


# --- endpoints


def test_the_keys_of_stored_answers_stay_and_follow_from_what_decides_an_answer():
    """Or everything that was paid for would be paid again."""
    messages = [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]
    sampling = Sampling(max_tokens=9, temperature=0.5, seed=3)
    request = Request(messages, {"type": "object"}, sampling, stop=["\n"], sample=2)
    key = "1f53eb2d6879b1b28ae470c9a22eb02b34e7dd284f535bddef9b65dd045e6d58"
    old = Endpoint("http://127.0.0.1:9/v1", "old-model")
    elsewhere = {
        "base_url": "https://b.example/v1",
        "api_key_env": "K",
        "timeout": 9,
        "concurrency": 9,
    }
    assert request.key(old) == request.key(old.model_copy(update=elsewhere)) == key
    changes = ({}, {"model": "other"}, {"temperature": 0.3}, {"seed": 1}, {"extra": {"top_k": 1}})
    assert len({requests(1)[0].key(old.model_copy(update=change)) for change in changes}) == len(
        changes
    )


@pytest.mark.parametrize("known", ["max_tokens", "max_completion_tokens"])
def test_the_other_field_is_learned_from_a_refusal_of_either(known):
    error = {"message": f"Unrecognized request argument supplied: {known}"}
    learned = Capabilities(token_field=known).after_rejection(error, {known: 5}, LOCAL)
    assert {learned.token_field, known} == {"max_tokens", "max_completion_tokens"}


def test_what_was_learned_is_said_once():
    before = Capabilities(refused=("seed",))
    learned = Capabilities(
        "max_completion_tokens", ("seed", "temperature"), structured=False, reasons=True
    )
    assert learned.difference(before) == (
        "takes 'max_completion_tokens' in place of 'max_tokens' and takes no 'temperature' and offers no structured "
        "outputs and reasons before it answers, so limits get room for thought"
    )
    assert learned.difference(learned) == ""
