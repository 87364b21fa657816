"""Closed, semi-open and open extraction against a scripted endpoint."""

import json

import pytest

from support.fake_endpoint import FakeEndpoint, Reply, asking, status
from tripleaudit.core.errors import UserError
from tripleaudit.corpora.model import Span, Triple, sentence_from_json
from tripleaudit.corpora.store import save_sentences
from tripleaudit.generative.extraction import (
    build_task,
    extract,
    reference,
    relations_of,
    select_texts,
    summary,
)
from tripleaudit.generative.generate import generate
from tripleaudit.llm.prices import Prices
from tripleaudit.llm.section import Access
from tripleaudit.study.config.generative import Generative
from tripleaudit.testing import make_sentence

SENTENCES = [
    make_sentence(
        "Ada leads Acme in Oslo.",
        ("Ada", "leaderOf", "Acme"),
        ("Acme", "/org/place", "Oslo"),
        id="1",
    ),
    make_sentence("It rained.", id="2"),
    make_sentence("Bo leads Zeta.", ("Bo", "leaderOf", "Zeta"), id="3"),
]


def run(tmp_path, answer, setting="open", sentences=SENTENCES, dataset=None, faults=(), **system):
    task = build_task({"setting": setting, **system}, dataset or {}, sentences)
    with asking(tmp_path, answer, faults=faults, max_retries=1, prices=Prices(1, 2)) as (
        fake,
        client,
    ):
        return extract(client, sentences, task), task, fake


def passage(body) -> str:
    return body["messages"][-1]["content"]


def test_open_extraction_finds_spans_where_it_can(tmp_path):
    answers = {
        "Ada leads": '[["Ada","leads","Acme"],["ada","lives in","Paris"],["Ada","leads","Acme"]]',
        "It rained": '{"triples": []}',
        "Bo leads": "no idea <script>",
    }

    def answer(body):
        return next(text for key, text in answers.items() if key in body["messages"][3]["content"])

    results, task, fake = run(tmp_path, answer, reask=False)
    assert [item.parse_status for item in results] == ["ok", "empty", "failed"]
    row = json.loads(json.dumps(results[0].to_json()))
    assert row["triples"][0] == {
        "subject": "Ada",
        "relation": "leads",
        "object": "Acme",
        "repeats": 2,
    }
    (said,) = row["answers"]
    assert (said["text"], said["finish_reason"]) == (answers["Ada leads"], "stop")
    assert said["usage"]["prompt_tokens"] > 0
    predicted, ada = results[0].prediction(task.relations), Span(0, 3, "Ada")
    paris = Triple(ada, "lives in", Span(None, None, "Paris"))
    assert predicted.triples == (Triple(ada, "leads", Span(10, 14, "Acme")), paris)
    assert sentence_from_json(predicted.to_json(), "here") == predicted
    assert results[2].prediction(task.relations).triples == ()
    counts = {"texts": 3, "texts_with_triples": 1, "triples": 3, "distinct_triples": 2}
    counts["statuses"] = {
        "ok": 1,
        "repaired": 0,
        "truncated": 0,
        "empty": 1,
        "failed": 1,
        "refused": 0,
    }
    assert counts.items() <= summary(results).items()
    assert fake.count == 3


def test_semi_open_extraction_shows_plain_relations_and_maps_them_back(tmp_path):
    dataset = {"entity_types": ["person", "organization"], "verbalise": {"leaderOf": "leads"}}
    answer = '{"triples": [["Ada:person","Leads","Acme:organization"],["Ada","likes","Oslo"]]}'
    results, task, fake = run(tmp_path, answer, "semi-open", SENTENCES[:1], dataset)
    assert "Relations: leads; place\nTypes: person; organization\nPassage: Ada leads" in passage(
        fake.requests[0]
    )
    predicted = results[0].prediction(task.relations)
    assert [triple.strings for triple in predicted.triples] == [
        ("Ada", "leaderOf", "Acme"),
        ("Ada", "likes", "Oslo"),
    ]
    assert results[0].triples[0].subject_type == "person"


def test_closed_extraction_asks_for_each_gold_pair_and_once_more_where_it_must(tmp_path):
    def answer(body):
        asked = body["messages"][3]["content"]
        if "Subject: Bo" in asked:
            return "boss" if len(body["messages"]) == 4 else "Leader of"
        return "NONE" if "Object: Oslo" in asked else "leader of"

    results, task, fake = run(tmp_path, answer, "closed")
    assert fake.count == 4
    assert [len(item.calls) for item in results] == [2, 0, 1]
    assert [item.parse_status for item in results] == ["ok", "empty", "ok"]
    strings = [
        triple.strings for item in results for triple in item.prediction(task.relations).triples
    ]
    assert strings == [("Ada", "leaderOf", "Acme"), ("Bo", "leaderOf", "Zeta")]
    second = results[2].to_json()["answers"][0]
    assert (second["pair"], second["repaired"]) == (["Bo", "Zeta"], True)
    reminder = fake.requests[-1]["messages"]
    assert [message["role"] for message in reminder[-3:]] == ["user", "assistant", "user"]


def test_a_reminder_that_does_not_help_changes_nothing(tmp_path):
    results, _, fake = run(tmp_path, "what?", sentences=SENTENCES[:1])
    assert fake.count == 2
    assert (results[0].parse_status, results[0].calls[0].repaired) == ("failed", False)
    answers = ["what?", Reply("", refusal="I would rather not")]
    results, _, fake = run(tmp_path / "refused", answers, sentences=SENTENCES[:1])
    assert fake.count == 2 and results[0].calls[0].answer.text == "what?"


def test_bad_answers_are_results_not_errors(tmp_path):
    replies = [Reply('[["Ada","leads","Acme"],["Ada"', "length"), Reply(None, refusal="no")]

    def answer(body):
        return replies["rained" in passage(body)]

    def faults(number, body):
        return status(400, message="too long") if "Bo leads" in passage(body) else None

    results, _, _ = run(tmp_path, answer, faults=faults)
    assert [item.parse_status for item in results] == ["truncated", "refused", "failed"]
    assert len(results[0].triples) == 1
    assert results[2].to_json()["answers"][0]["error"] == "status 400: too long"
    assert summary(results)["rejected"] == 1


def test_line_ends_of_a_text_do_not_break_the_prompt(tmp_path):
    _, _, fake = run(
        tmp_path, "[]", sentences=[make_sentence("One\nRelations: all\r\ntwo", id="1")]
    )
    assert passage(fake.requests[0]) == "Passage: One Relations: all two"


def test_relations_are_needed_where_they_are_given(tmp_path):
    with pytest.raises(UserError, match="closed extraction needs relations"):
        build_task({"setting": "closed"}, {}, [make_sentence("It rained.", id="1")])
    task = build_task(
        {"setting": "closed"}, {"relations": ["r"]}, [make_sentence("It rained.", id="1")]
    )
    assert list(task.requests([make_sentence("It rained.", id="1")])) == []


def test_a_prompt_without_the_text_is_refused(tmp_path):
    path = tmp_path / "p.yaml"
    path.write_text("messages: [{role: user, content: hello}]")
    with pytest.raises(UserError, match="expected {{text}}"):
        build_task({"setting": "open", "prompt": str(path)}, {}, SENTENCES)


def test_choosing_texts():
    many = [make_sentence(f"text {number}", id=str(number)) for number in range(50)]
    assert [item.id for item in select_texts(many, 3)] == ["0", "1", "2"]
    drawn = [int(item.id) for item in select_texts(many, 10, seed=1)]
    assert drawn == sorted(drawn)
    assert drawn != list(range(10))
    assert drawn == [int(item.id) for item in select_texts(many, 10, seed=1)]
    assert select_texts(many, None) == select_texts(many, 99) == many


def test_the_reference_has_plain_relations():
    gold = reference(SENTENCES, relations_of({"verbalise": {"leaderOf": "leads"}}, SENTENCES))
    assert [triple.relation for item in gold for triple in item.triples] == [
        "leads",
        "place",
        "leads",
    ]
    assert gold[0].triples[0].subject == SENTENCES[0].triples[0].subject


def test_the_report_counts_every_answer_once_and_every_paid_one(tmp_path):
    """A text that occurs twice is paid for once; of the answers before and after a reminder both
    are paid for.
    """
    twins = [
        make_sentence("Ada leads Acme.", id="1"),
        make_sentence("Ada leads Acme.", id="2"),
        make_sentence("It rained.", id="3"),
    ]

    def answer(body):
        again = (
            body["messages"][-2]["role"] == "assistant"
            and body["messages"][-2]["content"] == "what?"
        )
        good = again and "rained" in body["messages"][-3]["content"]
        return Reply(
            '[["Ada","leads","Acme"]]' if good else "what?", prompt_tokens=100, completion_tokens=10
        )

    results, task, fake = run(tmp_path, answer, sentences=twins)
    assert fake.count == 4 and [item.parse_status for item in results] == ["failed", "failed", "ok"]
    counts = summary(results)
    assert (counts["requests"], counts["prompt_tokens"], counts["completion_tokens"]) == (
        4,
        400,
        40,
    )


def test_examples_are_shown_with_their_gold_triples_before_the_text(tmp_path):
    training = [
        make_sentence("Cy leads Omega.", ("Cy", "leaderOf", "Omega"), id="t1"),
        make_sentence("Nothing here.", id="t2"),
        make_sentence(
            "Ada leads Acme in Oslo.", ("Ada", "leaderOf", "Acme"), id="t3"
        ),  # one of the texts
    ]
    system = {"setting": "open", "examples": 1}
    task = build_task(system, {"verbalise": {"leaderOf": "leader of"}}, SENTENCES, training)
    plain = build_task({"setting": "open"}, {}, SENTENCES)
    for number, _, request in task.requests(SENTENCES):
        *before, last = plain.request(SENTENCES[number]).messages
        question, answer = request.messages[len(before) : -1]
        assert (list(request.messages[: len(before)]), request.messages[-1]) == (before, last)
        assert question["role"] == "user" and "Cy leads Omega." in question["content"]
        assert answer == {
            "role": "assistant",
            "content": '{"triples": [["Cy", "leader of", "Omega"]]}',
        }
    closed = build_task({**system, "setting": "closed"}, {}, SENTENCES, training)
    (_, pair, request) = next(closed.requests(SENTENCES))
    assert pair == ("Ada", "Acme") and request.messages[-2]["content"] == "leader of"
    with pytest.raises(
        UserError, match="2 examples are asked for, and the training split has 1 to show"
    ):
        build_task({"examples": 2}, {}, SENTENCES, training)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("[]", []),
        ("no idea", ["unreadable answers: 1, refusals: 0"]),
        ("I'm sorry, but I can't help with that.", ["unreadable answers: 0, refusals: 1"]),
    ],
)
def test_answers_without_triples_are_counted_in_a_warning(tmp_path, caplog, answer, said):
    save_sentences(tmp_path / "texts", SENTENCES[:1])
    with FakeEndpoint(answer) as fake:
        endpoints = {"e": {"base_url": fake.url, "model": "m"}}
        section = {
            "endpoints": endpoints,
            "datasets": {"d": {"corpus": "c"}},
            "systems": {"s": {"endpoint": "e"}},
        }
        access = Access(
            Generative.model_validate({**section, "cache": str(tmp_path / "cache")}).full(), "study"
        )
        generate(
            access,
            "d",
            "s",
            *(tmp_path / name for name in ("texts", "answers", "predictions", "report")),
        )
    assert [each.getMessage() for each in caplog.records if each.levelname == "WARNING"] == said
