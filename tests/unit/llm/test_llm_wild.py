"""What odd servers, keys, disks and clocks do is read, or refused in one sentence, and paid for
once.
"""

import gzip
import json
import logging
import resource
import shutil
import sqlite3
from contextlib import closing
from types import SimpleNamespace

import pytest

from support.fake_endpoint import FakeEndpoint, Fault, asking, endpoint, malformed, status
from tripleaudit.core.errors import UserError
from tripleaudit.llm import store
from tripleaudit.llm.client import (
    BudgetExceeded,
    Client,
    Endpoint,
    EndpointError,
    Prices,
    Request,
)
from tripleaudit.llm.reading import parse_entities, parse_triples

KEY = "sk-SECRETKEY-12345"
LONG = "hdr-SECRET-98765"


def body(content="fine", finish="stop", usage=(100, 20), **message) -> dict:
    choice = {
        "index": 0,
        "finish_reason": finish,
        "message": {"role": "assistant", "content": content, **message},
    }
    counted = dict(zip(("prompt_tokens", "completion_tokens"), usage, strict=True))
    return {"id": "x", "model": "fake", "choices": [choice], "usage": counted}


def requests(n=2):
    return [
        Request([{"role": "user", "content": f"Ada wrote notes {number}"}]) for number in range(n)
    ]


class Asked:
    """What came of two requests at an endpoint whose answers are faults, and of asking them
    again.
    """

    def __init__(self, folder, monkeypatch, fault) -> None:
        monkeypatch.setenv("WILD_KEY", KEY)
        monkeypatch.setenv("WILD_HEADER", LONG)
        secret = {"api_key_env": "WILD_KEY", "headers": {"api-key": "env:WILD_HEADER"}}
        values = {
            "max_tokens": 200,
            "max_retries": 2,
            "timeout": 20,
            "prices": Prices(1, 2),
            **secret,
        }
        faults, self.answers, self.error = fault if callable(fault) else lambda *_: fault, [], ""
        with FakeEndpoint("fine", faults=faults) as fake:
            sent = []
            for _ in range(2):
                with Client(endpoint(fake, **values), folder, budget=1.0) as client:
                    try:
                        self.answers = client.complete_all(requests())
                    except EndpointError as error:
                        self.error = str(error)
                    self.spent, self.lost = client.store.spent(), client.store.lost()
                sent.append(fake.count)
        self.sent, self.again, self.bill = sent[0], sent[1] - sent[0], client.bill()
        self.files = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
        self.text = self.answers[0].text if self.answers else None


CHUNK = 'data: {"choices": [{"index": 0, "delta": {"content": "x"}}]}\n\n'
SWAPPED = body()
SWAPPED["choices"] = [
    {"index": 1, "finish_reason": "stop", "message": {"content": "second"}},
    *SWAPPED["choices"],
]
CALLED = {"type": "function", "function": {"name": "f", "arguments": '{"triples": []}'}}
READ = {  # body -> text of the answer
    "byte-order mark": (b"\xef\xbb\xbf" + json.dumps(body()).encode(), "fine"),
    "a proxy's banner behind it": (f"\n{json.dumps(body())}\n<!-- banner -->", "fine"),
    "lone surrogate": (json.dumps(body("A\ud800da")), "A?da"),
    "lone surrogate in the model": (json.dumps(body() | {"model": "m\udc80"}), "fine"),
    "NaN": (json.dumps(body() | {"created": float("nan")}), "fine"),
    "nested content": (json.dumps(body("[" * 100_000)), "[" * 100_000),
    "choices out of order": (json.dumps(SWAPPED), "fine"),
    "content as an object": (json.dumps(body({"triples": []})), '{"triples": []}'),
    "a call of a function": (
        json.dumps(body(None, "tool_calls", tool_calls=[CALLED])),
        '{"triples": []}',
    ),
    "a short word that is in the key": (json.dumps(body("SECRETKEY")), "SECRETKEY"),
    "the key itself": (json.dumps(body(f"key {KEY}")), "key [key]"),
    "unknown character set": (json.dumps(body()), "fine"),
    "a character set that is no text": (json.dumps(body()), "fine"),
    "another character set": (json.dumps(body()), "fine"),
    "a reason that is a number": (json.dumps(body(finish=5)), "fine"),
    "a reason that is a list": (json.dumps(body(finish=["stop"])), "fine"),
    "a nested name of the model": (
        json.dumps(body() | {"model": "@"}).replace('"@"', "[" * 900 + "]" * 900),
        "fine",
    ),
    "parts without a text": (
        json.dumps(body([{"type": "text", "text": None}, {"type": "text", "text": "fine"}])),
        "fine",
    ),
    "parts with values": (json.dumps(body([{"text": {"value": "fi"}}, "ne"])), "fine"),
    "a call without arguments": (
        json.dumps(body(None, tool_calls=[{"function": {"name": "f", "arguments": None}}])),
        "",
    ),
    "arguments as an object": (
        json.dumps(body(None, tool_calls=[{"function": {"arguments": {"triples": []}}}])),
        '{"triples": []}',
    ),
    "an old call of a function": (
        json.dumps(body(None, function_call={"name": "f", "arguments": "fine"})),
        "fine",
    ),
}
CHARACTER_SETS = {
    "unknown character set": "klingon",
    "a character set that is no text": "idna",
    "another character set": "utf-16",
}


@pytest.mark.parametrize("case", READ)
def test_what_can_be_read_is_read_and_stored_once(tmp_path, monkeypatch, case):
    sent, text = READ[case]
    character_set = CHARACTER_SETS.get(case, "utf-8")
    headers = {"Content_Type": f"application/json; charset={character_set}"}
    asked = Asked(tmp_path, monkeypatch, malformed(sent, **headers))
    assert not asked.error and asked.text == text
    assert (asked.sent, asked.again) == (2, 0)
    assert asked.spent == pytest.approx(2 * (100 + 40) / 1e6) and asked.lost == 0
    assert KEY.encode() not in asked.files and LONG.encode() not in asked.files


REFUSED = {  # fault -> words of the one sentence
    "redirect": (
        Fault("status", 307, {"Location": "https://other.example/v1?key=1"}),
        "redirects to https://other",
    ),
    "a choice of places": (Fault("status", 300, {}), "redirects to nowhere"),
    "event stream": (
        malformed(CHUNK, Content_Type="text/event-stream"),
        "answers with an event stream",
    ),
    "stream that is not called one": (malformed(f"\n{CHUNK}"), "answers with an event stream"),
    "nested body": (malformed("[" * 200_000), "nested too deeply"),
    "bomb": (
        malformed(gzip.compress(bytes(70_000_000), 1), Content_Encoding="gzip"),
        "sends more than 64 MB for one",
    ),
    "no key": (
        malformed('{"error": {"message": "no key", "code": 401}}'),
        "refuses all requests: status 401: no key",
    ),
    "a redirect with secrets": (
        Fault("status", 302, {"Location": f"https://user:word@other.example/{KEY}"}),
        "redirects to https://other.example/[key];",
    ),
    "a long redirect": (Fault("status", 302, {"Location": "x" * 50_000}), "x…; set that as"),
    "a wait with secrets": (
        status(429, retry_after=f"1e400, {KEY}", body={"error": {"code": "insufficient_quota"}}),
        "refuses all requests: status 429",
    ),
    "capital letters": (status(401, message=f"BAD {KEY.upper()}"), "status 401: BAD [key]"),
    "no key, as a text": (
        malformed('{"error": {"message": "no key", "code": "401"}}'),
        "refuses all requests: status 401: no key",
    ),
    "control characters": (
        status(401, message="\x1b[2J\ud800no\nkey"),
        "refuses all requests: status 401: \ufffd[2J\ufffdno key;",
    ),
    "secrets": (
        status(401, message=f"bad {KEY}, {LONG}"),
        "refuses all requests: status 401: bad [key], [key]",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_is_one_sentence_after_one_request(tmp_path, monkeypatch, case):
    fault, words = REFUSED[case]
    asked = Asked(tmp_path, monkeypatch, fault)
    assert words in asked.error and "\n" not in asked.error and "key=1" not in asked.error
    assert asked.sent == 1 and KEY.encode() not in asked.files and LONG.encode() not in asked.files
    assert len(asked.error) < 700 and "word" not in asked.error
    assert KEY.lower() not in asked.error.lower()


@pytest.mark.parametrize("value", [KEY, "9" * 50_000, "\x1b[2J"])
@pytest.mark.parametrize("header", ["Retry-After", "Retry-After-Ms", "Content-Type"])
def test_no_header_of_a_server_is_printed_as_it_is(tmp_path, monkeypatch, caplog, header, value):
    code = 200 if header == "Content-Type" else 503
    fault = Fault("status", code, {header: f"text {value}"}, "sorry")
    asked = Asked(tmp_path, monkeypatch, fault)
    for message in (asked.error, caplog.text.replace("\n", "")):
        assert "sorry" in message and KEY not in message and message.isprintable()
    assert len(asked.error) < 700


@pytest.mark.parametrize("param", [["temperature"], {}, 5, True])
def test_an_odd_parameter_of_an_error_teaches_nothing(tmp_path, param):
    fault = status(400, body={"error": {"message": "unsupported", "param": param}})
    with asking(tmp_path, faults=lambda *_: fault) as (fake, client):
        with pytest.raises(EndpointError, match="rejects every request: status 400: unsupported"):
            client.complete_all(requests(1))
        assert fake.count == 1


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("MAX_TOKENS", "truncated"),
        ("model_length", "truncated"),
        ("SAFETY", "refused"),
        ("eos", "ok"),
    ],
)
def test_services_have_other_names_for_the_end_of_an_answer(
    tmp_path, monkeypatch, reason, expected
):
    asked = Asked(tmp_path, monkeypatch, malformed(json.dumps(body(finish=reason))))
    assert asked.answers[0].status == expected


def test_a_nested_answer_has_no_triples(tmp_path, monkeypatch):
    text = '{"a":' * 500 + "1" + "}" * 500
    asked = Asked(tmp_path, monkeypatch, malformed(json.dumps(body(text))))
    assert parse_triples(asked.answers[0]).status == "failed"
    assert parse_entities(text).status == "failed"


TRIED = {  # body -> words of the sentence
    "a provider that died": (body("", "error"), "the model's provider failed (no reason given)"),
    "an error in a good body": (
        {"error": {"message": "upstream", "code": 502}},
        "status 502: upstream",
    ),
    "no answer": ({"choices": []}, "malformed answer (nothing in it)"),
    "a provider that died in capitals": (
        body("", "ERROR"),
        "the model's provider failed (no reason given)",
    ),
    "a page": ("<html>log in</html>", "malformed answer (application/json: <html>log in</html>)"),
}


@pytest.mark.parametrize("case", TRIED)
def test_what_may_pass_is_tried_again_and_not_taken_for_an_answer(tmp_path, monkeypatch, case):
    sent, words = TRIED[case]
    sent = sent if isinstance(sent, str) else json.dumps(sent)
    asked = Asked(tmp_path / "ever", monkeypatch, malformed(sent))
    assert words in asked.error and asked.spent == 0
    assert bool(asked.lost) == (
        case != "an error in a good body"
    )  # of which alone no service sends a bill
    asked = Asked(
        tmp_path / "once", monkeypatch, lambda number, _: malformed(sent) if number == 0 else None
    )
    assert asked.text == "fine" and (asked.sent, asked.again) == (3, 0)


ABSURD_USAGES = (
    *((-100_000, -5), (10**9, 20), (100, 10**12), (float("inf"), 1)),
    *((0, 0), (0, 20), (100, 0), (100, None), (True, 20)),
)


@pytest.mark.parametrize("usage", ABSURD_USAGES)
def test_an_absurd_usage_neither_refunds_nor_ruins_a_budget(tmp_path, monkeypatch, usage):
    asked = Asked(tmp_path, monkeypatch, malformed(json.dumps(body(usage=usage))))
    assert asked.answers[0].usage.estimated and 0 < asked.spent < 0.001


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("k\ney", "a line break"),
        ("schlüssel", "a character outside ASCII"),
        ("a\x1bb", "another control character"),
    ],
)
@pytest.mark.parametrize("where", ["key", "header"])
def test_a_key_that_no_header_can_hold_is_named_by_its_variable(
    tmp_path, monkeypatch, value, found, where
):
    monkeypatch.setenv("ODD_ONE", value)
    given = {"api_key_env": "ODD_ONE"} if where == "key" else {"headers": {"x-key": "env:ODD_ONE"}}
    with asking(tmp_path, **given) as (fake, client):
        with pytest.raises(EndpointError, match=f"variable ODD_ONE holds .*{found}") as caught:
            client.complete_all(requests())
        assert fake.count == 0 and value not in str(caught.value)


@pytest.mark.parametrize("before", [45, 55, 285, 295])
@pytest.mark.parametrize("code", [200, 401])
def test_no_part_of_a_key_is_in_a_shortened_message(tmp_path, monkeypatch, before, code):
    monkeypatch.setenv("WILD_KEY", KEY)
    fault = status(code, body="x" * before + KEY)
    values = {"api_key_env": "WILD_KEY", "max_retries": 0}
    with (
        asking(tmp_path, faults=lambda *_: fault, **values) as (_, client),
        pytest.raises(EndpointError) as caught,
    ):
        client.complete_all(requests(1))
    assert KEY[:4] not in str(caught.value)


SECRETS = {
    "with a scheme": ("Bearer sk-SECRETKEY-12345", "bad sk-SECRETKEY-12345"),
    "in an address": ("sk/SECRETKEY+12345", {"error": "bad ?key=sk%2FSECRETKEY%2B12345"}),
    "with marks": ('sk-"SECRET\\KEY"-12345', {"error": {"told": 'sk-"SECRET\\KEY"-12345'}}),
}


@pytest.mark.parametrize("case", SECRETS)
def test_a_secret_header_is_cut_out_in_every_form(tmp_path, monkeypatch, case):
    value, told = SECRETS[case]
    monkeypatch.setenv("WILD_HEADER", value)
    monkeypatch.setenv("WILD_KEY", "sk-SECRET")  # the beginning of another secret
    given = {"api_key_env": "WILD_KEY", "headers": {"authorization": "env:WILD_HEADER"}}
    with (
        asking(tmp_path, faults=[status(401, body=told)], **given) as (_, client),
        pytest.raises(EndpointError, match="status 401") as caught,
    ):
        client.complete_all(requests(1))
    assert "SECRET" not in str(caught.value) and "12345" not in str(caught.value)
    reply = json.dumps(body(f"my key is {value}"))
    with asking(tmp_path, faults=[malformed(reply)], **given) as (_, client):
        assert client.complete_all(requests(1))[0].text.removeprefix("my key is ") == "[key]"


def test_a_key_that_is_a_word_is_cut_out_of_errors_alone(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("WORD", "wrote")
    caplog.set_level(logging.DEBUG)
    faults = [status(500, message="header wrote")]
    with asking(tmp_path, "Ada wrote notes", faults=faults, api_key_env="WORD") as (_, client):
        assert client.complete_all(requests(1))[0].text == "Ada wrote notes"
    assert "status 500: header [key]" in caplog.text


@pytest.mark.parametrize(
    "created", ["yesterday", [], {}, None, True, -1, 1e300, 10**400, float("inf")]
)
def test_odd_times_of_answers_are_no_times(tmp_path, monkeypatch, created):
    def fault(number, sent):
        return malformed(json.dumps(body() | {"created": 5 if number else created}))

    asked = Asked(tmp_path, monkeypatch, fault)
    assert asked.text == "fine" and asked.bill["first"] == asked.bill["last"] == 5


NO_VECTORS = (
    *(None, "AAAA", [], [[1, 2]], [float("nan"), 1], [1, None], {"a": 1}),
    *([10**400, 1], [1e39, 1]),
)


@pytest.mark.parametrize("row", [{}, *({"embedding": value} for value in NO_VECTORS)])
def test_what_is_no_embedding_is_one_sentence_and_nothing_more_is_paid(tmp_path, row):
    odd = malformed(json.dumps({"data": [row]}))
    with asking(tmp_path, faults=lambda *_: odd, concurrency=2) as (fake, client):
        with pytest.raises(
            EndpointError, match="sent no embeddings; expected a list of numbers for each text"
        ):
            client.embed(list("abcdefghi"), batch=1)
        assert fake.count <= 2


@pytest.mark.parametrize("indices", [(0, 0), (5, 7), ("1", "0"), (1, 2), (0, None)])
def test_vectors_of_other_texts_are_refused(tmp_path, indices):
    rows = [{"index": index, "embedding": [0.5, 1]} for index in indices]
    fault = malformed(json.dumps({"data": rows}))
    with (
        asking(tmp_path, faults=lambda *_: fault) as (_, client),
        pytest.raises(EndpointError, match="sent no embeddings"),
    ):
        client.embed(["a", "b"])


def test_vectors_without_indices_are_in_the_order_of_the_texts(tmp_path):
    rows = [{"embedding": [0.5]}, {"embedding": [0.25]}]
    with asking(tmp_path, faults=lambda *_: malformed(json.dumps({"data": rows}))) as (_, client):
        assert client.embed(["a", "b"]).tolist() == [[0.5], [0.25]]


def test_embeddings_of_two_lengths_are_one_sentence(tmp_path):
    def fault(number, sent):
        return malformed(json.dumps({"data": [{"embedding": [0.5] * (number + 1)}]}))

    with asking(tmp_path, faults=fault) as (_, client):
        client.embed(["a"])
        with pytest.raises(EndpointError, match="sent embeddings of 2 lengths"):
            client.embed(["a", "b"])


# --- disks


def test_a_full_disk_is_one_sentence_before_anything_is_paid(tmp_path, monkeypatch):
    with asking(tmp_path) as (fake, client):
        with monkeypatch.context() as patched:
            patched.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=10 * 2**20))
            for work in (lambda: client.complete_all(requests(9)), lambda: client.embed(["a"])):
                with pytest.raises(
                    UserError, match="the disk is full .10 MB are free, 64 are needed."
                ) as caught:
                    work()
                assert "\n" not in str(caught.value)
        assert fake.count == 0
        assert len(client.complete_all(requests(9))) == 9 and client.embed(["a"]).shape == (1, 8)


def test_a_disk_that_fills_costs_at_most_the_requests_in_flight(tmp_path, monkeypatch):
    """The database cannot grow any more, wherever that happens; what was stored is not sent
    again.
    """
    asked = [Request([{"role": "user", "content": f"number {number}"}]) for number in range(60)]
    connect = sqlite3.connect

    def connect_to_small_database(*arguments, **options):
        database = connect(*arguments, **options)
        pages = database.execute("PRAGMA page_count").fetchone()[0]
        database.execute(f"PRAGMA max_page_count = {pages + 20}")
        return database

    with FakeEndpoint("x" * 3000) as fake:
        own = endpoint(fake, prices=Prices(1, 2))
        with Client(own, tmp_path, budget=1.0) as client:
            client.complete_all(asked[:1])
        with monkeypatch.context() as patch:
            patch.setattr(sqlite3, "connect", connect_to_small_database)
            with (
                Client(own, tmp_path, budget=1.0) as client,
                pytest.raises(UserError, match="the disk is full") as caught,
            ):
                client.complete_all(asked)
            assert "\n" not in str(caught.value) and fake.count < 60
        with Client(own, tmp_path, budget=1.0) as client:
            assert len(client.complete_all(asked)) == 60
            billed = sum(
                own.prices.cost(one["prompt_tokens"], one["completion_tokens"])
                for one in fake.books
            )
            assert client.store.spent() <= billed <= client.store.committed()
        assert fake.count <= 60 + own.concurrency


def test_a_limit_of_file_sizes_is_one_sentence_and_keeps_the_answers(tmp_path):
    """Quotas end in the same error of the disk."""
    asked = [Request([{"role": "user", "content": f"number {number}"}]) for number in range(40)]
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with FakeEndpoint("x" * 3000) as fake:
        own = endpoint(fake, prices=Prices(1, 2))
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, limits[1]))
        try:
            with (
                Client(own, tmp_path) as client,
                pytest.raises(UserError, match="a quota may be used up.; make room") as caught,
            ):
                client.complete_all(asked)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert "move the file away" not in str(caught.value)
        with Client(own, tmp_path) as client:
            stored = sum(client.lookup(request) is not None for request in asked)
            sent = fake.count
            assert stored > 0 and len(client.complete_all(asked)) == 40
            assert fake.count - sent == 40 - stored


# --- records of another version, and clocks


ANSWER = {
    "text": "fine",
    "status": "ok",
    "usage": {"prompt_tokens": 3, "completion_tokens": 1},
    "cost": 0.5,
}


@pytest.mark.parametrize(
    ("change", "sent"),
    [
        (lambda answer: None, 0),
        (lambda answer: answer.pop("usage"), 1),
        (lambda answer: answer.pop("text"), 1),
        (lambda answer: answer.update(usage=None), 1),
        (lambda answer: answer.update(text=None), 1),
        (lambda answer: answer.update(usage=[1]), 1),
        (lambda answer: answer["usage"].update(new=1), 0),
        (lambda answer: answer.update(new={"a": 1}), 0),
        (lambda answer: answer["usage"].update(prompt_tokens="x"), 1),
        (lambda answer: answer.update(status=5), 1),
        (lambda answer: answer.update(served=None), 1),
        (lambda answer: answer.update(cost="x"), 1),
    ],
    ids=[
        "whole",
        "no usage",
        "no text",
        "usage null",
        "text null",
        "usage a list",
        "more in usage",
        "more in it",
        "tokens a text",
        "status a number",
        "served null",
        "cost a text",
    ],
)
@pytest.mark.parametrize("form", ["file", "database"])
def test_a_record_of_another_version_is_read_or_queried_again(tmp_path, change, sent, form):
    """Version 0.3 kept a file for each answer."""
    answer = json.loads(json.dumps(ANSWER))
    change(answer)
    with FakeEndpoint("fine") as fake, Client(endpoint(fake), tmp_path) as client:
        key = client.key(requests(1)[0])
        record = {"key": key, "request": {}, "sent": {}, "answer": answer}
        if form == "file":
            (tmp_path / key[:2]).mkdir()
            (tmp_path / key[:2] / f"{key}.json").write_text(json.dumps(record))
        else:
            client.store.settle(key, 0.0, record)
        assert client.complete_all(requests(1))[0].text == "fine"
        assert fake.count == sent
        assert client.bill()["requests"] == 1


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "[" * 100_000, b"{\xff}"])
def test_a_damaged_record_of_the_database_is_no_answer(tmp_path, text):
    with asking(tmp_path, "fine") as (fake, client):
        client.complete_all(requests(1))
        with sqlite3.connect(client.store.path) as database:
            database.execute("UPDATE answers SET record = ?", [text])
        for _ in range(2):
            assert client.complete_all(requests(1))[0].text == "fine" and fake.count == 2


DAMAGED_ROWS = {
    "text": b'{"key": "b", "cost": "x"}',
    "no number": b'{"key": "b", "cost": NaN}',
    "key a list": b'{"key": [1], "reserved": 1}',
    "bytes": b"\xff\xfe",
    "list": b"[1]",
}


@pytest.mark.parametrize("case", DAMAGED_ROWS)
def test_damaged_rows_of_an_old_ledger_do_not_lift_the_budget(tmp_path, case):
    (tmp_path / "ledger.jsonl").write_bytes(DAMAGED_ROWS[case] + b'\n{"key": "a", "cost": 0.5}')
    prices = Prices(0, 1000)
    with asking(tmp_path, "fine", budget=0.5, prices=prices, max_tokens=20) as (fake, client):
        with pytest.raises(BudgetExceeded, match="of 0.5 is used up"):
            client.complete_all(requests(1))
        assert fake.count == 0 and client.store.spent() == 0.5


@pytest.mark.parametrize("text", ["", "{", '{"key": "other"}', "[]", "\x00" * 9])
def test_a_damaged_file_of_version_0_3_is_no_answer(tmp_path, text):
    with FakeEndpoint("fine") as fake, Client(endpoint(fake), tmp_path) as client:
        key = client.key(requests(1)[0])
        (tmp_path / key[:2]).mkdir()
        (tmp_path / key[:2] / f"{key}.json").write_text(text)
        assert client.complete_all(requests(1))[0].text == "fine" and fake.count == 1


def test_a_folder_of_version_0_3_is_continued(tmp_path):
    """Its embeddings are found, and its money counts: spent, lost, and reserved when its job was
    killed.
    """
    with FakeEndpoint("fine") as fake:
        own = endpoint(fake, prices=Prices(0, 1000), max_tokens=20)
        with Client(own, tmp_path) as client:
            key = client.embedding_key("a")
        with sqlite3.connect(tmp_path / "embeddings.sqlite") as old:
            old.execute("CREATE TABLE embeddings (key TEXT PRIMARY KEY, model TEXT, vector BLOB)")
            old.execute("INSERT INTO embeddings VALUES (?, 'm', ?)", [key, bytes(32)])
        rows = [{"key": "a", "reserved": 0.02, "owner": "x"}, {"key": "a", "cost": 0.01}]
        rows += [
            {"key": "b", "reserved": 0.02, "owner": "x"},
            {"key": "b", "lost": 0.02},
            {"key": "b", "lost": -0.005},
        ]
        rows += [{"key": "c", "reserved": 0.02, "owner": "x"}]
        lines = [json.dumps(row) for row in rows] + ['{"key": "d", "rese']
        (tmp_path / "ledger-mine.jsonl").write_text("\n".join(lines))
        with Client(own, tmp_path, budget=0.06, study="mine") as client:
            assert client.embed(["a"]).tolist() == [[0.0] * 8] and fake.count == 0
            assert client.store.spent() == pytest.approx(
                0.01
            ) and client.store.lost() == pytest.approx(0.035)
            with pytest.raises(BudgetExceeded, match="of 0.06 is used up"):
                client.complete_all(requests(1))
        with Client(own, tmp_path, budget=0.07, study="mine") as client:
            client.complete_all(requests(1))
            assert client.store.spent() == pytest.approx(0.011) and fake.count == 1
        with Client(own, tmp_path, study="other") as client:
            assert client.store.committed() == 0


def test_variables_of_the_package_openai_reach_no_endpoint(tmp_path, monkeypatch):
    for name in ("API_KEY", "ADMIN_KEY", "ORG_ID", "PROJECT_ID", "WEBHOOK_SECRET"):
        monkeypatch.setenv(f"OPENAI_{name}", f"secret-{name}")
    names = "x-team", "authorization", "user-agent", "host", "accept", "accept-encoding"
    custom = [f"{name}: secret-{name}" for name in names]
    lines = [*custom, "content-length: 1", "transfer-encoding: chunked", "connection: schlüssel"]
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "\n".join(lines))
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    with asking(tmp_path, headers={"OpenAI-Organization": "of-the-study"}) as (fake, client):
        client.complete_all(requests(1))
        client.embed(["a"])
    for headers in fake.headers:
        assert headers["OpenAI-Organization"] == "of-the-study" and "Authorization" not in headers
        assert not [value for value in headers.values() if "secret" in value]


ODD_ENVIRONMENT = {
    "proxy without a port": ("HTTP_PROXY", "http://user:pass/word@host"),
    "proxy of an unknown kind": ("ALL_PROXY", "gopher://user:password@host"),
    "proxy with a line break": ("HTTP_PROXY", "http://host\n"),
    "no certificates": ("SSL_CERT_FILE", "/no/such/file"),
    "a folder of certificates": ("SSL_CERT_FILE", "/"),
}


@pytest.mark.parametrize("case", ODD_ENVIRONMENT)
def test_an_odd_proxy_or_certificate_is_one_sentence(tmp_path, monkeypatch, case):
    name, value = ODD_ENVIRONMENT[case]
    for variable in ("NO_PROXY", "no_proxy", name.lower()):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv(name, value)
    settings = Endpoint("http://nobody.invalid/v1", "fake")
    with (
        Client(settings, tmp_path) as client,
        pytest.raises(EndpointError, match="correct or unset HTTP_PROXY") as caught,
    ):
        client.complete_all(requests(1))
    assert "pass" not in str(caught.value) and "\n" not in str(caught.value)
    with asking(tmp_path, "fine") as (_, client):  # a server of this machine needs neither
        assert client.complete_all(requests(1))[0].text == "fine"


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"extra": {"messages": []}}, "must not replace 'messages'"),
        ({"extra": {"max_tokens": "800"}}, "'extra/max_tokens' must be a whole number"),
        ({"extra": {"max_completion_tokens": 0}}, "must be a whole number of at least 1, got 0"),
        ({"extra": {"x": float("nan")}}, "a value that JSON cannot express"),
        ({"query": {"a": "\ud800"}}, "half of a surrogate pair"),
        ({"base_url": "http://host/\x1b"}, "must be an http or https address"),
    ],
)
def test_settings_that_no_request_can_hold_are_refused(values, words):
    settings = {"base_url": "http://host/v1", "model": "fake", **values}
    with pytest.raises(UserError, match=words):
        Endpoint.from_config("mine", settings)


def test_answers_that_another_program_locks_are_not_to_be_moved_away(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "BUSY_SECONDS", 0.05)
    with asking(tmp_path, "fine") as (fake, client):
        client.complete_all(requests(1))
        with closing(sqlite3.connect(client.store.path, isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            with (
                Client(endpoint(fake), tmp_path) as second,
                pytest.raises(UserError, match="another program keeps .* locked; end it") as caught,
            ):
                second.complete_all(requests(2))
        assert "move the file away" not in str(caught.value) and fake.count == 1


@pytest.mark.parametrize("text", ["'x'", "x'00'"])
def test_a_damaged_sum_of_money_does_not_lift_the_budget(tmp_path, text):
    with asking(tmp_path, "fine", budget=1.0, prices=Prices(1, 2)) as (fake, client):
        client.complete_all(requests(1))
        with sqlite3.connect(client.store.path) as database:
            database.execute(f"UPDATE spending SET spent = {text}")
        with pytest.raises(UserError, match="is no number; correct its row"):
            client.complete_all(requests(2))
        assert fake.count == 1


@pytest.mark.parametrize("text", ["", "{", "[]", "5", '{"refused": 5}'])
def test_damaged_knowledge_of_an_endpoint_is_learned_again(tmp_path, text):
    with asking(tmp_path, "fine") as (fake, client):
        client.complete_all(requests(1))
        with sqlite3.connect(client.store.path) as database:
            database.execute("UPDATE capabilities SET known = ?", [text])
        with Client(endpoint(fake), tmp_path) as other:
            assert other.complete_all(requests(2))[1].text == "fine" and fake.count == 2


def test_a_redirect_takes_neither_texts_nor_keys_to_another_server(tmp_path, monkeypatch):
    monkeypatch.setenv("WILD_KEY", KEY)
    with FakeEndpoint() as other:
        fault = Fault("status", 307, {"Location": f"{other.url}/chat/completions"})
        with asking(tmp_path, faults=lambda *_: fault, api_key_env="WILD_KEY") as (fake, client):
            with pytest.raises(EndpointError, match="redirects to"):
                client.complete_all(requests(5))
            assert (fake.count, other.count) == (1, 0)
