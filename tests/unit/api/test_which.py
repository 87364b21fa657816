"""``which``: models and prediction files ranked on a gold set, with the numbers of ``score``."""

import contextlib
import json
import sqlite3
from pathlib import Path

import pytest

import tripleaudit as ta
from support.fake_endpoint import FakeEndpoint, Reply
from tripleaudit.cli import main
from tripleaudit.core.errors import UserError
from tripleaudit.corpora.readers import read_corpus
from tripleaudit.corpora.store import save_sentences
from tripleaudit.scoring.scores import read_scores

NUMBER = 60
RIGHT = ["Ann", "wrote", "Emma"]


def text(number: int) -> str:
    return f"Ann wrote Emma {number}."


def rows(wrong_every: int = 0) -> list[dict]:
    """Sentences, of which every so many has a wrong triple."""
    found = []
    for number in range(NUMBER):
        wrong = wrong_every and number % wrong_every == 0
        found.append(
            {
                "id": str(number),
                "text": text(number),
                "triples": [["Emma", "wrote", "Ann"] if wrong else RIGHT],
            }
        )
    return found


def answer(body: dict) -> Reply:
    """``good`` errs in every tenth sentence, ``poor`` in every second; ``cut`` is always right
    and always cut off.
    """
    asked = body["messages"][-1]["content"]
    number = next(number for number in reversed(range(NUMBER)) if text(number) in asked)
    every = {"good": 10, "poor": 2, "cut": NUMBER + 1, "odd": NUMBER + 1}[body["model"]]
    triple = ["Emma", "wrote", "Ann"] if number % every == 0 and every <= NUMBER else RIGHT
    if body["model"] == "odd" and number % 20 == 0:
        return Reply("Sorry, I cannot help with that.")
    return Reply(json.dumps({"triples": [triple]}), "length" if body["model"] == "cut" else "stop")


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, every in (("gold", 0), ("fair", 4)):
        Path(f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows(every)))


@pytest.fixture
def fake():
    with FakeEndpoint(answer=answer) as found:
        yield found


def test_models_and_files_are_ranked_with_the_scores_of_score(files, fake):
    models = [f"poor@{fake.url}", f"good@{fake.url}"]
    result = ta.which("gold.jsonl", models, {"fair": "fair.jsonl"}, cache="cache")
    assert [row.name for row in result.ranked] == ["good", "fair", "poor"]
    single = ta.score("gold.jsonl", "fair.jsonl")
    fair = result.ranked[1]
    assert fair.scores == single.micro
    difference = ta.compare("fair.jsonl", "gold.jsonl", "gold.jsonl")
    assert difference.difference.change() == pytest.approx(0.25)
    assert fair.behind == pytest.approx(fair.scores.f1 - result.best.scores.f1)
    assert fair.behind_low <= fair.behind <= fair.behind_high < 0
    assert result.ranked[2].p <= fair.p < 0.05 and "significantly above" in result.conclusion


def test_a_study_scores_the_same_predictions_equally_to_the_digit(files):
    for name in ("gold", "fair"):
        save_sentences(f"stored-{name}.jsonl", read_corpus(f"{name}.jsonl").sentences)
    step = "score-run --gold stored-gold.jsonl --predictions stored-fair.jsonl --keys {}"
    assert main([*step.split(), "--out-scores", "scores.csv", "--out-counts", "counts.csv"]) == 0
    (f1,) = [
        score
        for score in read_scores("scores.csv")
        if (score.stratum, score.matching, score.metric) == ("all", "exact-string", "f1")
    ]
    ranked = ta.which("gold.jsonl", predictions={"fair": "fair.jsonl"}).best.scores
    assert (f1.value, f1.low, f1.high) == pytest.approx(
        (ranked.f1, *ranked.intervals["f1"]), abs=1e-9
    )


def test_stored_answers_cost_no_second_request(files, fake):
    first = ta.which(
        "gold.jsonl", {"good": fake.url}, cache="cache", prices={"input": 1, "output": 2}
    )
    asked = len(fake.requests)
    second = ta.which(
        "gold.jsonl", {"good": fake.url}, cache="cache", prices={"input": 1, "output": 2}
    )
    assert len(fake.requests) == asked == NUMBER
    assert second.ranked[0].scores == first.ranked[0].scores
    assert first.ranked[0].money > 0 and first.ranked[0].answers == NUMBER


def money_of(command, capsys):
    """Return model -> money of ``which --json``."""
    capsys.readouterr()
    assert main(command) == 0
    result = json.loads(capsys.readouterr().out)
    return {row["name"]: row["money"] for row in result["models"]}


def test_each_model_has_its_own_prices(files, fake, capsys):
    models = ["--model", f"good@{fake.url}", "--model", f"poor@{fake.url}"]
    command = ["which", "gold.jsonl", *models, "--json"]
    one, three = ["--prices", "1", "1"], ["--prices", "3", "3"]
    same = money_of([*command, *one, "--cache", "first"], capsys)
    own = money_of([*command, *one, *three, "--cache", "second"], capsys)
    assert own["good"] == pytest.approx(same["good"])
    assert own["poor"] == pytest.approx(3 * same["poor"])
    assert main([*command, *one, *one, *one]) == 1
    assert "prices: 3 for 2 models" in capsys.readouterr().err


def test_a_model_whose_answers_are_cut_off_is_not_ranked(files, fake):
    result = ta.which("gold.jsonl", {"cut": fake.url, "poor": fake.url}, cache="cache")
    assert [row.name for row in result.ranked] == ["poor", "cut"]
    cut = result.ranked[1]
    assert cut.mostly_unread and (cut.unread, cut.answers) == (NUMBER, NUMBER)
    assert result.best.name == "poor" and "¶" in str(result)


def test_unreadable_answers_are_counted(files, fake):
    (row,) = ta.which("gold.jsonl", {"odd": fake.url}, cache="cache").ranked
    assert row.unread >= 3 and not row.mostly_unread


def test_a_limit_takes_the_same_sentences_for_all(files, fake):
    result = ta.which(
        "gold.jsonl", {"good": fake.url}, {"fair": "fair.jsonl"}, limit=20, cache="cache"
    )
    assert result.sentences == 20 and {row.scores.sentences for row in result.ranked} == {20}
    assert len(fake.requests) == 20


def test_an_estimate_sends_nothing_and_is_an_upper_bound(files, fake, capsys):
    command = ["which", "gold.jsonl", "--model", f"good@{fake.url}", "--prices", "1", "2"]
    options = [*command, "--cache", "cache"]
    assert main([*options, "--estimate", "--json"]) == 0
    expected = json.loads(capsys.readouterr().out)["good"]
    assert (expected["to_pay"], expected["cached"], len(fake.requests)) == (NUMBER, 0, 0)
    assert main([*options, "--estimate"]) == 0
    text = capsys.readouterr().out
    assert f"{NUMBER} requests to send" in text and f"{expected['cost_limit']:.4f}" in text
    result = ta.which(
        "gold.jsonl", {"good": fake.url}, prices={"input": 1, "output": 2}, cache="cache"
    )
    assert 0 < result.best.money < expected["cost_limit"]
    assert main([*options, "--estimate", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["good"]["to_pay"] == 0


def test_triples_with_other_relations_are_counted_for_models_and_files(files, fake):
    odd = rows()
    for row in odd[:3]:
        row["triples"] = [["Ann", "likes", "Emma"]]
    result = ta.which(
        "gold.jsonl",
        {"good": fake.url},
        {"odd": odd},
        relations=["wrote", "read"],
        cache="cache",
    )
    assert {row.name: row.other_relations for row in result.ranked} == {"odd": 3, "good": 0}
    assert "counted as wrong: odd 3" in str(result)
    listed = ta.which("gold.jsonl", {"good": fake.url}, relations=["read"], cache="cache")
    (row,) = listed.ranked
    assert row.other_relations == NUMBER and row.scores.predicted == 0
    assert f"left out (setting closed): good {NUMBER}" in str(listed)
    assert f"not listed: {NUMBER} of {NUMBER}" in str(listed)
    assert "Gold triples" not in str(result)


def test_correct_triples_with_unlisted_relations_are_not_counted_as_wrong(files):
    result = ta.which("gold.jsonl", predictions={"fair": "fair.jsonl"}, relations=["read"])
    (row,) = result.ranked
    assert row.scores.correct == 45 and row.other_relations == NUMBER - 45
    facts = result.to_json()
    assert (facts["unlisted_gold"], facts["setting"]) == (NUMBER, "closed")
    assert any("cannot find them" in note for note in facts["notes"])
    assert all("missed" not in note for note in facts["notes"])


def test_the_conclusion_names_equal_and_unranked_models(files, fake):
    same = {"one": "fair.jsonl", "two": "fair.jsonl"}
    assert ta.which("gold.jsonl", predictions=same).conclusion == "one and two have the same F1."
    poor = {**same, "poor": rows(wrong_every=1)}
    conclusion = ta.which("gold.jsonl", {"cut": fake.url}, poor, cache="cache").conclusion
    assert conclusion.startswith("one and two have the same F1, the highest of the 3 ranked models")
    assert conclusion.endswith(
        "one's lead over every other ranked model with a lower F1 is significant."
    )
    alone = ta.which("gold.jsonl", {"cut": fake.url}, {"one": "fair.jsonl"}, cache="cache")
    assert alone.conclusion == "one is the only model that can be ranked."


def test_gold_triples_may_come_from_a_generator(files):
    gold = (row for row in rows())
    (row,) = ta.which(gold, predictions={"fair": "fair.jsonl"}).ranked
    assert row.scores.correct == 45


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--estimate"], "nothing to estimate"),
        (["--predictions", "=fair.jsonl"], "expected [NAME=]FILE"),
        (["--relation", "=x"], "expected NAME[=MEANING]"),
        (["--relation", "a=x", "--relation", "a=y"], "each name once"),
    ],
)
def test_options_without_a_name_or_a_model_are_refused(files, capsys, options, message):
    assert main(["which", "gold.jsonl", *options]) == 1
    assert message in capsys.readouterr().err


def test_the_command_prints_the_table_and_fails_under_a_limit(files, fake, capsys):
    command = [
        "which",
        "gold.jsonl",
        "--model",
        f"poor@{fake.url}",
        "--predictions",
        "fair.jsonl",
        "--cache",
        "cache",
    ]
    assert main([*command, "--fail-under", "70"]) == 0
    shown = capsys.readouterr().out
    assert shown.index("fair") < shown.index("poor") and "0 of 60" in shown
    assert main([*command, "--fail-under", "90"]) == 3
    assert capsys.readouterr().err == "error: F1 of fair is 75.0, below --fail-under 90\n"
    assert main([*command, "--json"]) == 0
    assert [row["name"] for row in json.loads(capsys.readouterr().out)["models"]] == [
        "fair",
        "poor",
    ]


def test_a_model_that_does_not_answer_is_named_and_costs_the_others_nothing(files, capsys):
    command = [
        "which",
        "gold.jsonl",
        "--model",
        "gone@http://127.0.0.1:9",
        "--predictions",
        "mine=fair.jsonl",
    ]
    assert main([*command, "--cache", "cache"]) == 1
    captured = capsys.readouterr()
    assert (
        "error: gone: " in captured.err
        and "mine is the only model that can be ranked" in captured.out
    )
    assert main([*command, "--cache", "cache", "--fail-under", "90"]) == 3


@pytest.mark.parametrize(
    ("models", "predictions", "message"),
    [
        (["gpt"], {}, r"model 'gpt': expected \[LABEL=\]NAME@URL"),
        (
            ["a@http://127.0.0.1:8/v1", "a@http://127.0.0.1:9/v1"],
            {},
            "'a' occurs twice; write LABEL=a@URL",
        ),
        ([], {}, "nothing to rank"),
        (
            {"a": "http://127.0.0.1:9"},
            {"a": "fair.jsonl"},
            "a: names a model and a prediction file",
        ),
    ],
)
def test_what_cannot_be_ranked_is_refused(files, models, predictions, message):
    with pytest.raises(UserError, match=message):
        ta.which("gold.jsonl", models, predictions)


def reply_at_random(body: dict) -> Reply:
    """Always the wrong triple: another model under the name of ``good``."""
    return Reply(json.dumps({"triples": [["Emma", "wrote", "Ann"]]}))


def test_one_model_name_at_two_addresses_makes_two_rows(files, fake):
    with FakeEndpoint(answer=reply_at_random) as other:
        models = [f"full=good@{fake.url}", f"small=good@{other.url}"]
        first = ta.which("gold.jsonl", models, cache="cache")
        second = ta.which("gold.jsonl", models, cache="cache")
        sent = len(fake.requests), len(other.requests)
    assert sent == (NUMBER, NUMBER)
    for result in (first, second):
        assert [row.name for row in result.ranked] == ["full", "small"]
        assert result.ranked[0].scores.f1 > 0.8 and result.ranked[1].scores.f1 == 0


def test_stored_answers_of_another_address_pass_no_gate(files, fake, capsys):
    command = ["which", "gold.jsonl", "--cache", "cache", "--fail-under", "80"]
    assert main([*command, "--model", f"good@{fake.url}"]) == 0
    assert "stored in cache." in capsys.readouterr().out
    with FakeEndpoint(answer=reply_at_random) as other:
        assert main([*command, "--model", f"good@{other.url}"]) == 3
        assert len(other.requests) == NUMBER
    capsys.readouterr()
    assert main([*command, "--model", f"good@{fake.url}"]) == 0
    assert len(fake.requests) == NUMBER
    assert f"Answers from the cache cache: good {NUMBER} of {NUMBER} (" in capsys.readouterr().out


def test_the_number_of_answers_from_the_cache_is_in_the_json(files, fake):
    ta.which("gold.jsonl", {"good": fake.url}, cache="cache", limit=20)
    result = ta.which("gold.jsonl", {"good": fake.url}, cache="cache").to_json()
    (row,) = result["models"]
    assert (row["cached"], row["requests"], result["cache"]) == (20, NUMBER, "cache")
    assert len(row["oldest_cached"]) > 10


def test_answers_that_were_stored_without_an_address_are_requested_again(files, fake):
    ta.which("gold.jsonl", {"good": fake.url}, cache="cache")
    forget_addresses("cache/store.sqlite")
    again = ta.which("gold.jsonl", {"good": fake.url}, cache="cache")
    assert again.ranked[0].cached == 0 and len(fake.requests) == 2 * NUMBER
    ta.which("gold.jsonl", {"good": fake.url}, cache="cache")
    assert len(fake.requests) == 2 * NUMBER


def forget_addresses(path: str) -> None:
    """Change stored answers to what older versions stored."""
    with contextlib.closing(sqlite3.connect(path)) as database:
        for key, text in database.execute("SELECT key, record FROM answers").fetchall():
            record = json.loads(text)
            for name in ("address", "received"):
                del record["answer"][name]
            database.execute(
                "UPDATE answers SET record = ? WHERE key = ?", [json.dumps(record), key]
            )
        database.commit()
