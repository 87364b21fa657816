"""What odd servers, keys, disks and clocks do is read, or refused in one sentence, and paid for once."""

import gzip
import io
import json
import logging
from unittest.mock import Mock

import pytest

from support.fake_endpoint import FakeEndpoint, Fault, asking, endpoint, malformed, status
from tripleaudit.errors import UserError
from tripleaudit.llm.cache import Cache
from tripleaudit.llm.client import Client, EndpointError, Prices, Request
from tripleaudit.llm.embeddings import Vectors
from tripleaudit.llm.endpoint import tokens_at_most
from tripleaudit.llm.ledger import Ledger

KEY = "sk-SECRETKEY-12345"
LONG = "hdr-SECRET-98765"


def body(content="fine", finish="stop", usage=(100, 20), **message) -> dict:
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content, **message}}
    counted = dict(zip(("prompt_tokens", "completion_tokens"), usage, strict=True))
    return {"id": "x", "model": "fake", "choices": [choice], "usage": counted}


def requests(n=2):
    return [Request([{"role": "user", "content": f"Ada wrote notes {number}"}]) for number in range(n)]


class Asked:
    """What came of two requests at an endpoint whose answers are faults, and of asking them again."""

    def __init__(self, folder, monkeypatch, fault) -> None:
        monkeypatch.setenv("WILD_KEY", KEY)
        monkeypatch.setenv("WILD_HEADER", LONG)
        secret = {"api_key_env": "WILD_KEY", "headers": {"api-key": "env:WILD_HEADER"}}
        values = {"max_tokens": 200, "max_retries": 2, "timeout": 20, "prices": Prices(1, 2), **secret}
        faults, self.answers, self.error = fault if callable(fault) else lambda *_: fault, [], ""
        with FakeEndpoint("fine", faults=faults) as fake:
            sent = []
            for _ in range(2):
                with Client(endpoint(fake, **values), folder, budget=1.0) as client:
                    try:
                        self.answers = client.complete_all(requests())
                    except EndpointError as error:
                        self.error = str(error)
                    self.spent, self.lost = client.ledger.spent(), client.ledger.lost()
                sent.append(fake.count)
        self.sent, self.again, self.bill = sent[0], sent[1] - sent[0], client.bill()
        self.files = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
        self.text = self.answers[0].text if self.answers else None


CHUNK = 'data: {"choices": [{"index": 0, "delta": {"content": "x"}}]}\n\n'
SWAPPED = body()
SWAPPED["choices"] = [{"index": 1, "finish_reason": "stop", "message": {"content": "second"}}, *SWAPPED["choices"]]
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
    "a call of a function": (json.dumps(body(None, "tool_calls", tool_calls=[CALLED])), '{"triples": []}'),
    "a short word that is in the key": (json.dumps(body("SECRETKEY")), "SECRETKEY"),
    "the key itself": (json.dumps(body(f"key {KEY}")), "key [key]"),
    "unknown character set": (json.dumps(body()), "fine"),
}


@pytest.mark.parametrize("case", READ)
def test_what_can_be_read_is_read_and_stored_once(tmp_path, monkeypatch, case):
    sent, text = READ[case]
    headers = {"Content_Type": "application/json; charset=klingon"} if "character set" in case else {}
    asked = Asked(tmp_path, monkeypatch, malformed(sent, **headers))
    assert not asked.error and asked.text == text
    assert (asked.sent, asked.again) == (2, 0)
    assert asked.spent == pytest.approx(2 * (100 + 40) / 1e6) and asked.lost == 0
    assert KEY.encode() not in asked.files and LONG.encode() not in asked.files


REFUSED = {  # fault -> words of the one sentence
    "redirect": (Fault("status", 307, {"Location": "https://other.example/v1?key=1"}), "redirects to https://other"),
    "a choice of places": (Fault("status", 300, {}), "redirects to nowhere"),
    "event stream": (malformed(CHUNK, Content_Type="text/event-stream"), "answers with an event stream"),
    "stream that is not called one": (malformed(f"\n{CHUNK}"), "answers with an event stream"),
    "nested body": (malformed("[" * 200_000), "nested too deeply"),
    "bomb": (malformed(gzip.compress(bytes(70_000_000), 1), Content_Encoding="gzip"), "sends more than 64 MB for one"),
    "no key": (malformed('{"error": {"message": "no key", "code": 401}}'), "turns us away: status 401: no key"),
    "secrets": (status(401, message=f"bad {KEY}, {LONG}"), "turns us away: status 401: bad [key], [key]"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_is_one_sentence_after_one_request(tmp_path, monkeypatch, case):
    fault, words = REFUSED[case]
    asked = Asked(tmp_path, monkeypatch, fault)
    assert words in asked.error and "\n" not in asked.error and "key=1" not in asked.error
    assert asked.sent == 1 and KEY.encode() not in asked.files and LONG.encode() not in asked.files


TRIED = {  # body -> words of the sentence
    "a provider that died": (body("", "error"), "the model's provider failed (no reason given)"),
    "an error in a good body": ({"error": {"message": "upstream", "code": 502}}, "status 502: upstream"),
    "no answer": ({"choices": []}, "malformed answer (nothing in it)"),
    "a page": ("<html>log in</html>", "malformed answer (application/json: <html>log in</html>)"),
}


@pytest.mark.parametrize("case", TRIED)
def test_what_may_pass_is_tried_again_and_not_taken_for_an_answer(tmp_path, monkeypatch, case):
    sent, words = TRIED[case]
    sent = sent if isinstance(sent, str) else json.dumps(sent)
    asked = Asked(tmp_path / "ever", monkeypatch, malformed(sent))
    assert words in asked.error and asked.spent == 0
    assert bool(asked.lost) == (case != "an error in a good body")  # of which alone no service sends a bill
    asked = Asked(tmp_path / "once", monkeypatch, lambda number, _: malformed(sent) if number == 0 else None)
    assert asked.text == "fine" and (asked.sent, asked.again) == (3, 0)


@pytest.mark.parametrize("usage", [(-100_000, -5), (10**9, 20), (100, 10**12), (float("inf"), 1)])
def test_an_absurd_usage_neither_refunds_nor_ruins_a_budget(tmp_path, monkeypatch, usage):
    asked = Asked(tmp_path, monkeypatch, malformed(json.dumps(body(usage=usage))))
    assert asked.answers[0].usage.estimated and 0 < asked.spent < 0.001


@pytest.mark.parametrize(
    ("value", "found"),
    [("k\ney", "a line break"), ("schlüssel", "a character outside ASCII"), ("a\x1bb", "another control character")],
)
@pytest.mark.parametrize("where", ["key", "header"])
def test_a_key_that_no_header_can_hold_is_named_by_its_variable(tmp_path, monkeypatch, value, found, where):
    monkeypatch.setenv("ODD_ONE", value)
    given = {"api_key_env": "ODD_ONE"} if where == "key" else {"headers": {"x-key": "env:ODD_ONE"}}
    with asking(tmp_path, **given) as (fake, client):
        with pytest.raises(EndpointError, match=f"variable ODD_ONE holds .*{found}") as caught:
            client.complete_all(requests())
        assert fake.count == 0 and value not in str(caught.value)


def test_a_key_that_is_a_word_is_cut_out_of_errors_alone(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("WORD", "wrote")
    caplog.set_level(logging.DEBUG)
    faults = [status(500, message="header wrote")]
    with asking(tmp_path, "Ada wrote notes", faults=faults, api_key_env="WORD") as (_, client):
        assert client.complete_all(requests(1))[0].text == "Ada wrote notes"
    assert "status 500: header [key]" in caplog.text


@pytest.mark.parametrize("created", ["yesterday", [], {}, None, True])
def test_odd_times_of_answers_are_no_times(tmp_path, monkeypatch, created):
    def fault(number, sent):
        return malformed(json.dumps(body() | {"created": 5 if number else created}))

    asked = Asked(tmp_path, monkeypatch, fault)
    assert asked.text == "fine" and asked.bill["last"] == 5


NO_VECTORS = (None, "AAAA", [], [[1, 2]], [float("nan"), 1], [1, None], {"a": 1})


@pytest.mark.parametrize("row", [{}, *({"embedding": value} for value in NO_VECTORS)])
def test_what_is_no_embedding_is_one_sentence_and_nothing_more_is_paid(tmp_path, row):
    odd = malformed(json.dumps({"data": [row]}))
    with asking(tmp_path, faults=lambda *_: odd, concurrency=2) as (fake, client):
        with pytest.raises(EndpointError, match="sent no embeddings; expected a list of numbers for each text"):
            client.embed(list("abcdefghi"), batch=1)
        assert fake.count <= 2 and not (tmp_path / "embeddings.sqlite").exists()


def test_embeddings_of_two_lengths_are_one_sentence(tmp_path):
    def fault(number, sent):
        return malformed(json.dumps({"data": [{"embedding": [0.5] * (number + 1)}]}))

    with asking(tmp_path, faults=fault) as (_, client):
        client.embed(["a"])
        with pytest.raises(EndpointError, match="sent embeddings of 2 lengths"):
            client.embed(["a", "b"])


# --- disks


class Metered(io.FileIO):
    """A file whose bytes count against a disk, but for those that it overwrites; so many are ``left``."""

    left = 10**9

    def write(self, data):
        size = 0 if "r" in self.mode else len(data)
        if size > Metered.left:
            raise OSError(28, "No space left on device", self.name)
        Metered.left -= size
        return super().write(data)


@pytest.fixture
def disk(monkeypatch):
    """A disk with so many bytes for files of answers, the ledger's lines included."""
    real = io.open

    def opened(file, mode="r", *args, **kwargs):
        if not set(mode) & {*"wa+"} or str(file).endswith((".lock", ".alive")):
            return real(file, mode, *args, **kwargs)
        return Metered(file, mode) if "b" in mode else io.TextIOWrapper(io.BufferedWriter(Metered(file, mode)))

    monkeypatch.setattr(io, "open", opened)  # as Path.open has it
    monkeypatch.setattr(Metered, "left", Metered.left)
    return Metered


@pytest.mark.parametrize("room", [0, 100, 30_000, 60_000, 61_000])
def test_over_a_disk_that_fills_every_request_is_paid_for_once(tmp_path, disk, room):
    """Wherever it fills: before the first answer, between it and what was reserved, between it and its entry."""
    with FakeEndpoint("fine", latency=0.01) as fake:
        own = endpoint(fake, prices=Prices(1, 2), max_tokens=50)
        disk.left = room
        with Client(own, tmp_path, budget=1.0) as client:
            with pytest.raises(Exception, match="the disk is full") as caught:
                client.complete_all(requests(40))
            assert "\n" not in str(caught.value)
        before = fake.count
        assert before < 20
        disk.left = 10**9
        with Client(own, tmp_path, budget=1.0) as client:
            answers = client.complete_all(requests(40))
            assert {answer.text for answer in answers} == {"fine"}
            assert fake.count == 40  # and none twice
            billed = sum(own.prices.cost(one["prompt_tokens"], one["completion_tokens"]) for one in fake.books)
            assert client.ledger.spent() == client.ledger.committed() == pytest.approx(billed)
            assert client.ledger.lost() == 0
    assert not list(tmp_path.rglob("*.room"))


def test_as_much_room_is_taken_as_an_answer_or_vectors_can_need(tmp_path):
    def look(number, body):
        sizes.extend(path.stat().st_size for path in tmp_path.glob("claims/*.room"))

    sizes = []
    with asking(tmp_path, faults=look, max_tokens=50) as (_, client):
        client.complete_all(requests(1))
        client.embed(["a", "b"])
    assert sizes == [8192 + 2 * tokens_at_most(requests(1)[0].canonical(client.endpoint)) + 8 * 50, 2 * 2**15]
    assert (client.totals.sent, client.totals.prompt_tokens) == (1 + 2, 4 + 2)


def test_no_embedding_is_paid_for_that_has_no_room(tmp_path, disk, monkeypatch):
    texts = list("abcdefghi")
    with asking(tmp_path, concurrency=2) as (fake, client):
        disk.left = 100
        with pytest.raises(UserError, match="the disk is full"):
            client.embed(texts, batch=1)
        assert fake.count == 0
        disk.left = 10**9
        with monkeypatch.context() as patched, pytest.raises(UserError, match="full"):
            patched.setattr(Vectors, "put", Mock(side_effect=UserError("full")))
            client.embed(texts, batch=1)
        assert fake.count <= 2
        assert client.embed(texts, batch=1).shape == (9, 8)
    assert not list(tmp_path.rglob("*.room"))


def test_nothing_more_is_sent_after_a_write_that_failed_though_it_would_fit(tmp_path, disk):
    disk.left = 20_000
    with asking(tmp_path, max_tokens=50) as (fake, client):
        with pytest.raises(UserError, match="the disk is full"):
            client.complete_all([Request([{"role": "user", "content": "long " * 10_000}]), *requests(1)])
        assert fake.count == 0


def test_the_ledger_survives_a_line_that_is_torn_at_any_byte(tmp_path):
    whole = tmp_path / "whole.jsonl"
    ledger = Ledger(whole)
    ledger.reserve("a", 0.25)
    ledger.settle("a", 0.125)
    ledger.reserve("b", 0.5)
    lines = whole.read_bytes().splitlines(keepends=True)
    kept, torn = b"".join(lines[:2]), lines[2]
    for cut in range(len(torn)):
        path = tmp_path / "torn.jsonl"
        path.write_bytes(kept + torn[:cut])
        other = Ledger(path)
        assert other.reserve("c", 1.0)
        assert other.committed() == pytest.approx(1.125 + (0.5 if cut == len(torn) - 1 else 0))
        other.settle("c", 2.0)
        assert Ledger(path).spent() == pytest.approx(2.125)
        other.close()
    ledger.close()


# --- records of another version, and clocks


@pytest.mark.parametrize(
    ("change", "sent"),
    [
        (None, 1),
        (lambda answer: answer.pop("usage"), 1),
        (lambda answer: answer.pop("text"), 1),
        (lambda answer: answer.update(usage=None), 1),
        (lambda answer: answer.update(text=None), 1),
        (lambda answer: answer.update(usage=[1]), 1),
        (lambda answer: answer["usage"].update(new=1), 0),
        (lambda answer: answer.update(new={"a": 1}), 0),
    ],
    ids=["cut", "no usage", "no text", "usage null", "text null", "usage a list", "more in usage", "more in it"],
)
def test_a_record_that_is_damaged_or_of_another_version_is_read_or_queried_again(tmp_path, change, sent):
    with FakeEndpoint("fine") as fake:
        for _ in range(2):
            with Client(endpoint(fake), tmp_path) as client:
                assert client.complete_all(requests(1))[0].text == "fine"
            path = Cache(tmp_path).path(client.key(requests(1)[0]))
            record = json.loads(stored := path.read_text())
            if change is not None:
                change(record["answer"])
            path.write_text(json.dumps(record) if change else stored[:-20])
        assert fake.count == 1 + sent
