"""Threads: order of calls, history, restarts, reminders, early stopping, branches; answered by
hand.
"""

import json

import pytest

from tripleaudit.core.errors import UserError
from tripleaudit.llm.conversation import (
    Limits,
    Piece,
    Talk,
    TokenCounter,
    answered,
    converse,
    counters,
    fitting,
)
from tripleaudit.llm.endpoint import Answer, Usage
from tripleaudit.llm.reading import parse_entities
from tripleaudit.llm.units import Unit, text_of


def words(text):
    return len(text.split())


TALK = Talk(
    opening="open",
    show=lambda index, total, text: f"show {index} {text}",
    more=lambda index, total: f"more {index}",
    remind=lambda notes: f"remind {notes}",
    parse=parse_entities,
)


def entities(*names, status="ok"):
    text = json.dumps({"entities": [{"type": "T", "name": name} for name in names]})
    return Answer(text, status, usage=Usage(1, 1, estimated=True))


EMPTY = entities()


class Script:
    """Answers requests with a function of the last message, and keeps what it was sent."""

    def __init__(self, answer):
        self.answer, self.requests = answer, []

    def __call__(self, request):
        self.requests.append(request)
        return self.answer(request.messages[-1]["content"])

    @property
    def shown(self):
        return [request.messages[-1]["content"] for request in self.requests]


def run(pieces, limits, answer, state=None):
    script, shown = Script(answer), [Piece(i, (Unit(text),)) for i, text in enumerate(pieces)]
    return answered(
        converse(shown, TALK, limits, TokenCounter(words, overhead=0), state), script
    ), script


def where(conversation):
    return [(turn.piece, turn.iteration, turn.thread) for turn in conversation.turns]


def test_iterations_follow_each_piece_in_one_thread():
    talked, script = run(["a", "b"], Limits(2, None, 10), entities)
    assert script.shown == ["show 0 a", "more 0", "more 0", "show 1 b", "more 1", "more 1"]
    assert where(talked) == [(0, 0, 0), (0, 1, 0), (0, 2, 0), (1, 0, 0), (1, 1, 0), (1, 2, 0)]
    history = script.requests[-1].messages
    assert [message["role"] for message in history] == [
        "system",
        *["user", "assistant"] * 5,
        "user",
    ]
    assert json.loads(history[2]["content"])["entities"][0]["name"] == "show 0 a"


def test_empty_answers_end_no_iterations():
    found = iter([("a", "b", "c"), ("d", "e"), (), (), ()])
    talked, script = run(["x"], Limits(4, None, 10), lambda _: entities(*next(found)))
    assert len(script.shown) == 5 and sum(len(turn.parsed.records) for turn in talked.turns) == 5


def test_a_new_thread_starts_exactly_where_the_sum_passes_the_limit():
    # opening 1, a piece's message 2 + 40, its answer 2 words, reserve 5
    pieces = [" ".join(["w"] * 40)] * 5
    second = 1 + 42 + words(EMPTY.text) + 42 + 5
    talked, _ = run(pieces, Limits(0, second, 5), lambda _: EMPTY)
    assert where(talked) == [(0, 0, 0), (1, 0, 0), (2, 0, 1), (3, 0, 1), (4, 0, 2)]
    talked, _ = run(pieces, Limits(0, second - 1, 5), lambda _: EMPTY)
    assert where(talked) == [(n, 0, n) for n in range(5)]
    talked, script = run(pieces, Limits(0, 100, 5), lambda _: EMPTY)
    assert [turn.piece for turn in talked.turns] == [0, 1, 2, 3, 4]  # none lost, none repeated
    assert len({request.messages[-1]["content"] for request in script.requests}) == 5


def test_iterating_ends_where_the_context_does():
    talked, _ = run(["w " * 40] * 2, Limits(9, 1 + 42 + 2 + (2 + 2) + 2 + 5, 5), lambda _: EMPTY)
    assert where(talked) == [(0, 0, 0), (0, 1, 0), (0, 2, 0), (1, 0, 1), (1, 1, 1), (1, 2, 1)]


def test_a_piece_too_long_is_split_further_and_nothing_is_lost():
    text = " ".join(f"w{n}" for n in range(100))
    talked, script = run([text, "end"], Limits(0, 60, 5), lambda _: EMPTY)
    shown = [
        message.removeprefix("show 0 ") for message in script.shown if message.startswith("show 0")
    ]
    assert "".join(shown) == text and len(shown) > 1
    assert {turn.piece for turn in talked.turns} == {0, 1}


def test_a_piece_is_divided_at_every_context_without_its_needles():
    words_of = lambda first, last: " ".join(f"w{n}" for n in range(first, last)) + " "  # noqa: E731
    units = (
        Unit(words_of(0, 3), "a"),
        Unit(words_of(3, 20)),
        Unit(words_of(20, 25), "b"),
        Unit(words_of(25, 40)),
    )
    counter = TokenCounter(words, overhead=0)
    for context in range(20, 51):
        parts = list(fitting(Piece(4, units), 9, TALK, Limits(1, context, 5), counter))
        assert text_of([unit for part in parts for unit in part.units]) == text_of(units)
        assert [unit for part in parts for unit in part.units if unit.needle] == [
            units[0],
            units[2],
        ]
        assert all(part.index == 4 and words(part.text) + 2 + 1 + 5 <= context for part in parts)


def test_a_context_too_short_for_anything_is_refused_before_any_request():
    with pytest.raises(UserError, match="the context of 8 tokens cannot hold the instructions"):
        run(["one two"], Limits(0, 8, 6), lambda _: pytest.fail("asked"))


def test_an_unreadable_answer_is_asked_for_once_more_and_then_given_up():
    answers = iter(["prose", '[{"type": "T", "name": "a"}]', "prose", "still prose", "[]"])
    talked, script = run(
        ["x"], Limits(2, None, 10), lambda _: Answer(next(answers), "ok", usage=Usage(3, 2))
    )
    assert [turn.parsed.status for turn in talked.turns] == ["ok", "failed", "empty"]
    assert [len(turn.answers) for turn in talked.turns] == [2, 2, 1]
    assert talked.turns[0].usage == Usage(6, 4)
    assert script.shown[1].startswith("remind the answer holds no JSON")
    history = [message["content"] for message in script.requests[-1].messages]
    assert history == [
        "open",
        "show 0 x",
        '[{"type": "T", "name": "a"}]',
        "more 0",
        '{"entities": []}',
        "more 0",
    ]


def test_refusals_and_truncations():
    cut = Answer('[{"type": "T", "name": "a"}, {"type": "T", "na', "truncated")
    answers = iter([*[Answer("no", "refused")] * 2, cut])
    talked, _ = run(["x"], Limits(1, None, 10), lambda _: next(answers))
    assert [turn.parsed.status for turn in talked.turns] == ["refused", "truncated"]
    assert [record["name"] for record in talked.turns[1].parsed.records] == ["a"]
    assert len(talked.turns[1].answers) == 1


def test_a_rejected_request_restarts_the_thread_once():
    answers = iter([entities("a"), Answer("", "error", error="too long"), entities("b")])
    talked, script = run(["a", "b"], Limits(0, None, 10), lambda _: next(answers))
    assert where(talked) == [(0, 0, 0), (1, 0, 1)] and len(script.requests[-1].messages) == 2


def test_branches_start_from_the_same_state():
    whole, _ = run(["a", "b"], Limits(0, None, 10), entities)
    before = whole.state
    for text in ("again a", "again b"):
        branch, script = run([text], Limits(0, None, 10), entities, state=whole.state)
        assert script.requests[0].messages[:-1] == before.messages
        assert len(branch.state.messages) == len(before.messages) + 2
    assert whole.state == before


def test_usage_teaches_the_counter():
    counter = TokenCounter(overhead=0)
    assert counter.text("x" * 30) == 10
    sent = ({"role": "user", "content": "x" * 100},)
    counter.observe(sent, Answer("", "ok", usage=Usage(50, 5)))
    assert counter.text("x" * 30) == 15  # two characters a token now
    assert counter.messages([*sent, {"role": "user", "content": "x" * 10}]) == 55
    for nothing in (Usage(10, 5, estimated=True), Usage(0, 5)):
        counter.observe(sent, Answer("", "ok", usage=nothing))
    assert (
        counter.messages(sent) == 50
        and counter.messages([{"role": "user", "content": "y" * 10}]) == 5
    )
    counter.observe(sent, Answer("", "ok", usage=Usage(25, 5)))
    assert counter.text("x" * 30) == 15 and counter.messages(sent) == 25  # the densest text counts
    assert TokenCounter().messages(sent) == 34 + 8


def test_tokenizer_counter(tmp_path):
    from tokenizers import Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer(models.WordLevel({"a": 0, "b": 1, "?": 2}, unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    assert counters(tmp_path)().text("a b a c") == 4
    (tmp_path / "bad.json").write_text("{}")
    for name, said in (("none.json", "no such tokenizer"), ("bad.json", "not a tokenizer.json")):
        with pytest.raises(UserError, match=said):
            counters(tmp_path / name)
