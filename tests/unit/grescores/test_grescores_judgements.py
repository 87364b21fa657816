"""Factualness and granularity: reading answers, scoring stored ones, and asking a judge."""

import json
import math

import pytest

from support.fake_endpoint import Reply, Rules, asking
from tripleaudit.core.errors import UserError
from tripleaudit.grescores.evaluate import Inputs, Settings, evaluate
from tripleaudit.grescores.judgements import (
    count_brackets,
    factualness,
    granularity,
    read_splits,
    read_verdicts,
    split_value,
)
from tripleaudit.grescores.judging import FACTUALNESS, GRANULARITY
from tripleaudit.grescores.systems import System
from tripleaudit.llm.client import Prices
from tripleaudit.llm.prompts import load_prompt
from tripleaudit.llm.reading import count_parts

A, B = ["a", "r", "b"], ["c", "r", "d"]
judge, split = FACTUALNESS.judge, GRANULARITY.judge


def test_factualness_by_mode():
    system = System({"x": [A, B], "empty": [], "unjudged": [A]})
    verdicts = {"x": [True, False], "empty": [], "foreign": [True]}
    assert factualness(system, verdicts, official=True) == {"x": 0.5, "empty": 0, "foreign": 1}
    assert factualness(system, verdicts, official=False) == {"x": 0.5}


def test_verdicts_of_malformed_triples_are_left_out_by_default():
    system = System({"x": [A, ["", "r", "b"]]})
    assert factualness(system, {"x": [True, False]}, official=False) == {"x": 1}
    assert factualness(system, {"x": [True, False]}, official=True) == {"x": 0.5}


@pytest.mark.parametrize(
    "answer, brackets, parts",
    [
        ("N/A", 0, 0),
        ('Sure! [["a","r","b"],["a","r","c"]]', 3, 2),
        ('Here they are:\n```json\n[["a","r","b"],["a","r","c"]]\n```', 3, 2),
        ('{"triples": [["a", "r", "b"], ["a", "r", "c"]]}', 3, 2),
        ('{"triples": [{"subject": "a", "relation": "r", "object": "b"}]}', 0, 0),
        ('{"subject": "a", "object": "b"}\n{"subject": "a", "object": "c"}', 0, 2),
        ('<think>[1] [2] [3]</think>{"parts": []}', 4, 0),
        ('["a", "r", "b"]', 0, 0),
        ('["a", "r", "b"]\n["a", "r", "c"]\nGranularity: 2', 2, 2),
        ('{"parts": [["a", "r", "b"], ["a", "r",', 0, 2),  # cut inside the second part
        ('{"parts": [["a", "r", "b', 0, None),
        ('{"statement": ["a", "r", "b"], "parts": []}', 2, 0),
        ('{"parts": [["a", "r", "b"], ["a", "r", "c"]]} Note: [both] are facts.', 4, 2),
        ('Original: ["a", "r", "b and c"]\nParts: [["a", "r", "b"], ["a", "r", "c"]]', 4, 2),
        ('{"parts": ["a r b", "a r c"]}', 0, 2),
        ("- a | r | b\n- a | r | c", 0, 2),
        ("(a, r, b), (a, r, c)", 0, 2),
        (
            " N/A (The triple is already specific and cannot be broken down further.)\nGranularity: 0",
            0,
            0,
        ),
        ("No split needed.", 0, 0),
        ("The statement cannot be split further.", 0, 0),
        ("It depends.", 0, None),
        ('{"parts": {"1": ["a", "r", "b"], "2": ["a", "r", "c"]}}', 2, 2),
        ('{"parts": {"1": ["a", "r", "b"]}}', 0, 0),
        ('{"granularity": 2}', 0, 2),
        ('{"granularity": 1}', 0, 0),
        ('{"parts": 3}', 0, 3),
        ('{"parts": null}', 0, 0),
        ("2", 0, 2),
        ("The triple can be split into 3 triples.", 0, 3),
        ('{"parts": []}', 0, 0),
        ('[["a", "r", "b"]]', 2, 0),
        ('{"parts": [["a", "r", "b"], ["a", "r", "c"], ["a", "r", "d"]]}', 4, 3),
        ("[" + ", ".join(['["a", "r", "b"]'] * 15) + "]", 16, 10),
        ("parts: " + "[x]" * 30, 30, 10),
        pytest.param("[" * 100_000 + "]" * 100_000, 100_000, None, id="deep"),
    ],
)
def test_numbers_of_parts(answer, brackets, parts):
    assert count_brackets(answer) == brackets
    assert count_parts(answer) == parts
    assert split_value("[[1], [2], [3]]") == 0.05 and split_value("no idea") is None


def test_granularity_in_closed_form():
    """The poster's example: four triples with 3, 0, 0 and 2 parts."""
    answers = {
        str(number): '["a", "r", "b"]' * parts or "N/A" for number, parts in enumerate((3, 0, 0, 2))
    }
    system = System({"x": [A], "empty": [], "unsplit": [A]})
    splits = {"x": answers, "empty": {}, "foreign": {"t": "N/A"}}
    expected = (math.exp(-3) + 1 + 1 + math.exp(-2)) / 4
    assert expected == pytest.approx(0.54628, abs=1e-5)
    assert granularity(system, splits, official=True) == {
        "x": pytest.approx(expected),
        "foreign": 1,
    }
    assert granularity(system, splits, official=False) == {"x": pytest.approx(expected)}


def test_stored_answers_of_another_form_are_refused(tmp_path):
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"t": [True]}), encoding="utf-8")
    with pytest.raises(UserError, match="has no list 'results'"):
        read_verdicts(path)
    with pytest.raises(UserError, match="is not mapped to answers"):
        read_splits(path)


class Said:
    """Answers by what stands in the last message: the first of ``answers`` whose key does; keeps
    what was asked.
    """

    def __init__(self, answers):
        self.answers, self.asked = answers, []

    def __call__(self, body):
        self.asked.append(body["messages"][-1]["content"])
        return next(answer for part, answer in self.answers.items() if part in self.asked[-1])


def test_a_judge_is_queried_once_for_each_distinct_triple_and_again_if_unreadable(tmp_path):
    said = Said({'"c"': "hm", "sunny": "True.", "": "false"})
    texts = {
        "It is sunny.": [A, A, B, ["", "r", "b"]],
        "It rains.": [A],
        "Nothing.": [],
        "x": [["Désirée", "à", "é"]],
    }
    with asking(tmp_path, said, prices=Prices(1, 2)) as (_, client):
        details, report = judge(System(texts), client, load_prompt("judge"), most_unreadable=0.5)
        assert (
            report.paid["requests"] == 5
        )  # the first answer of the unreadable one was paid for, too
        assert report.paid["cost"] == pytest.approx(client.store.spent(), abs=1e-15)
    assert details == {
        "It is sunny.": {"score": 2 / 3, "results": [True, True, None, False]},
        "It rains.": {"score": 0.0, "results": [False]},
        "Nothing.": {"score": 0.0, "results": []},
        "x": {"score": 0.0, "results": [False]},
    }
    assert len(said.asked) == 5  # four questions, the unreadable one twice
    assert (report.questions, report.repeated, report.unparsed, report.refused) == (4, 1, 1, 0)
    assert all("Claim:" in text for text in said.asked)
    assert any('["Désirée", "à", "é"]' in text for text in said.asked)  # letters as they are


def test_splitting_queries_once_for_a_triple_of_many_texts(tmp_path):
    said = Said({'"a"': '{"parts": [["a", "r", "x"], ["a", "r", "y"]]}', "": "no idea"})
    system = System({"x": [A, B], "y": [A], "empty": []})
    with asking(tmp_path, said) as (_, client):
        details, report = split(system, client, load_prompt("split"), most_unreadable=0.5)
        assert (
            split(system, client, load_prompt("split"), most_unreadable=0.5)[0] == details
        )  # all from the cache
    assert len(said.asked) == 3  # two triples, the unreadable one twice
    assert (report.questions, report.repeated, report.unparsed) == (2, 1, 1)
    values = granularity(system, details, official=False)
    assert values == {
        "x": pytest.approx(math.exp(-2)),
        "y": pytest.approx(math.exp(-2)),
    }  # the other one is missing


def test_too_many_unreadable_verdicts_are_an_error_and_few_are_missing_values(tmp_path):
    system = System({f"text {number}": [A] for number in range(20)})
    with asking(tmp_path, Said({"text 7\n": "hm", "text 11\n": "hm", "": "true"})) as (
        fake,
        client,
    ):
        with pytest.raises(
            UserError, match=r"2 of 20 answers cannot be read, expected at most 5%.*'hm'"
        ):
            judge(system, client, load_prompt("judge"), most_unreadable=0.05)
        judge(
            system, client, load_prompt("judge"), most_unreadable=0.1
        )  # exactly as many as may be
        paid = fake.count
        details, report = judge(system, client, load_prompt("judge"))
        assert fake.count == paid == 22  # nothing is paid again once the threshold is raised
    assert report.coverage == pytest.approx(0.9) and report.unparsed == 2
    assert details["text 7"] == {"score": 0.0, "results": [None]}
    verdicts = {text: entry["results"] for text, entry in details.items()}
    assert set(factualness(system, verdicts, official=False)) == set(system.texts) - {
        "text 7",
        "text 11",
    }
    result = evaluate(Inputs(system, verdicts=verdicts), Settings(resamples=0))
    assert result.scores["fs"].value == 1 and result.scores["fs_coverage"].value == pytest.approx(
        0.9
    )


def test_a_judge_whose_thought_leaves_no_room_is_advised_how_to_get_more(tmp_path):
    said = r"1 of 1 answers .* \(truncated\) is empty.*raise 'reasoning_tokens'"
    thinks = asking(tmp_path, "true", rules=Rules(reasoning=200), reasoning_tokens=150)
    with thinks as (_, client), pytest.raises(UserError, match=said):
        judge(System({"x": [A]}), client, load_prompt("judge"))


def test_texts_without_triples_are_left_out_of_fs_and_shown_as_0_in_a_column():
    system = System({"x": [A], "empty": [], "also empty": []})
    result = evaluate(Inputs(system, verdicts={"x": [True]}), Settings(resamples=0))
    assert result.scores["fs"].value == 1
    assert result.scores["fs_empty_0"].value == pytest.approx(1 / 3)


def test_a_judge_that_refuses_is_not_queried_again(tmp_path):
    with asking(tmp_path, Reply(None, refusal="no")) as (fake, client):
        _, report = judge(System({"x": [A]}), client, load_prompt("judge"), most_unreadable=1)
        assert fake.count == 1 and (report.refused, report.unparsed, report.coverage) == (1, 0, 0)
