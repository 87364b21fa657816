"""All scores of a system at once, hard matching, intervals, and whole data sets."""

import json
import logging
from pathlib import Path

import pytest

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import write_json, write_jsonl
from tripleaudit.grescores.aggregate import hard_match, mean_score, micro_scores
from tripleaudit.grescores.evaluate import Inputs, Settings, evaluate
from tripleaudit.grescores.system_scores import write_dataset_scores
from tripleaudit.grescores.systems import System
from tripleaudit.llm.section import Access
from tripleaudit.scoring.scores import sidecar_of
from tripleaudit.study.study import Study

A, B, C = ["a", "r", "b"], ["c", "r", "d"], ["e", "r", "f"]
PLAIN = Settings(resamples=0)
OFFICIAL = Settings("official", resamples=0)


def values(system, settings=PLAIN, **inputs):
    return {
        name: score.value
        for name, score in evaluate(Inputs(System(system), **inputs), settings).scores.items()
    }


def test_lengths_and_coverage_by_mode():
    system = {"x": [A, ["a b", "r", ""]], "y": []}
    assert values(system) == {"ntri": 0.5, "ntok": 3, "coverage": 0.5}
    assert values(system, OFFICIAL) == {"ntri": 1, "ntok": 1.5, "coverage": 0.5}


def test_hard_matching_in_closed_form():
    """Two predicted, one of them gold, three gold."""
    gold = System({"x": [A, ["c", "R_1", "d"], C]})
    scores = hard_match(System({"x": [["a", "r", "B"], ["c", "r 1", "x"]]}), gold, False, 0, 0)
    assert [scores[name].value for name in ("precision", "recall", "f1")] == pytest.approx(
        [0.5, 1 / 3, 0.4]
    )


def test_hard_matching_by_mode():
    gold = System({"x": [A, B], "y": [C], "z": []})
    system = System({"x": [A, A, C], "y": [], "z": [A]})
    micro = hard_match(system, gold, False, 0, 0)
    assert [micro[name].value for name in ("precision", "recall", "f1")] == pytest.approx(
        [1 / 3, 1 / 3, 1 / 3]
    )
    macro = hard_match(
        system, gold, True, 0, 0
    )  # y has no prediction, z no gold: both are left out
    assert [macro[name].value for name in ("precision", "recall")] == pytest.approx([2 / 3, 0.5])
    assert macro["f1"].texts == 1
    both = values(system.texts, gold=gold)
    assert (both["precision"], both["official_precision"]) == pytest.approx((1 / 3, 2 / 3))
    both = values(system.texts, OFFICIAL, gold=gold)
    assert (both["precision"], both["micro_precision"]) == pytest.approx((2 / 3, 1 / 3))


def test_texts_that_a_system_lacks_count_as_empty(caplog):
    gold = System({"x": [A], "y": [B]}, source="gold.json")
    with caplog.at_level(logging.WARNING):
        scores = values({"x": [A]}, gold=gold)
    assert (scores["coverage"], scores["recall"], scores["ntri"]) == (0.5, 0.5, 0.5)
    assert "lacks 1 of the 2 reference texts" in caplog.text
    with pytest.raises(UserError, match="none of the 2 texts of gold.json occurs here"):
        values({"z": [A]}, gold=gold)


def test_judgements_that_cover_other_texts_are_reported(caplog):
    with caplog.at_level(logging.WARNING):
        result = evaluate(Inputs(System({"x": [A]}), verdicts={"x": [True], "z": [True]}), PLAIN)
    assert "FS" in caplog.text and "1 judged texts are not among them" in caplog.text
    assert result.record["scored_texts"]["fs"] == 1


def test_texts_without_judgement_are_reported(caplog):
    with caplog.at_level(logging.WARNING):
        evaluate(Inputs(System({"x": [A], "y": [A]}), verdicts={"x": [True]}), PLAIN)
    assert (
        "FS" in caplog.text and "2 have triples, 0 judged texts are not among them" in caplog.text
    )


def test_shares_of_unreadable_and_refused_answers():
    system = System(
        {"x": [A], "y": [], "z": [], "w": []},
        {"x": "ok", "y": "failed", "z": "refused", "w": "truncated"},
    )
    scores = evaluate(Inputs(system), PLAIN).scores
    assert (scores["parse_failures"].value, scores["refusals"].value) == (0.5, 0.25)


def test_record_says_how_scores_were_made():
    record = evaluate(Inputs(System({"x": [A, ["", "r", "b"]], "y": []})), PLAIN).record
    assert (record["texts"], record["texts_without_triples"], record["dropped_triples"]) == (
        2,
        1,
        1,
    )
    assert record["mode"] == "default"
    with pytest.raises(UserError, match="no text to score"):
        evaluate(Inputs(System({})), PLAIN)


def test_intervals_hold_the_mean_and_follow_the_seed():
    draws = [0.0, 0.25, 0.5, 1.0] * 20
    score = mean_score(draws, 500, seed=1)
    assert score == mean_score(draws, 500, seed=1) != mean_score(draws, 500, seed=2)
    assert score.low < score.value == 0.4375 < score.high
    # The standard error of the mean is 0.042, so the interval is about 0.164 wide.
    assert score.high - score.low == pytest.approx(0.164, abs=0.03)
    assert mean_score([1.0], 500, 0) == mean_score([1.0], 0, 0)
    assert mean_score([], 500, 0) is None
    micro = micro_scores([(1, 2, 2), (0, 1, 0)] * 10, 200, 0)
    assert micro["precision"].value == pytest.approx(1 / 3)
    assert micro["precision"].low < 1 / 3 < micro["precision"].high


STORED = ("gold.json", "gold-gs.json", "o.json", "o-fs.json", "m.jsonl")
SECTION = {
    "bootstrap": 20,
    "judge": {"endpoint": "e"},
    "datasets": {
        "cdr": {
            "level": "document",
            "gold": {"triples": "gold.json", "granularity": "gold-gs.json"},
            "systems": {
                "openchat": {
                    "triples": "o.json",
                    "factualness": "o-fs.json",
                    "setting": "open",
                    "judge": True,
                },
                "mine": {"triples": "m.jsonl", "setting": "semi-open", "seed": 7},
            },
        },
        "own": {"level": "sentence", "generative": "lm"},
    },
}
GENERATIVE = {
    "endpoints": {"e": {"base_url": "http://127.0.0.1:9/v1", "model": "m"}},
    "datasets": {"lm": {"corpus": "c"}},
    "systems": {"smollm": {"endpoint": "e"}},
}


@pytest.fixture
def given(tmp_path, monkeypatch):
    """The configuration of a study that trains CasRel, in a folder with all stored files."""
    monkeypatch.chdir(tmp_path)
    for name in (*STORED, "t.jsonl", "u.jsonl"):
        (tmp_path / name).write_text("{}\n", encoding="utf-8")
    corpora = {"c": {"files": {"train": "t.jsonl", "test": "u.jsonl"}}}
    own = {
        "corpora": corpora,
        "extractors": {"casrel": None},
        "generative": GENERATIVE,
        "grescores": SECTION,
    }
    return lambda section=SECTION, **sections: {
        "study": "s",
        **own,
        "grescores": section,
        **sections,
    }


def write_texts(name, *rows):
    """Write texts, each with its triples."""
    names = ("subject", "relation", "object")
    write_jsonl(
        name,
        [
            {"text": text, "triples": [dict(zip(names, t, strict=True)) for t in of]}
            for text, *of in rows
        ],
    )


def scored(plan, dataset, place):
    """Score the systems of a data set, whose files lie where ``place`` says; returns the name of
    the rows, and them.
    """
    text, files = plan.spec(dataset)
    write_dataset_scores(
        json.loads(text), [place(file) for file in files], Access({}, "s"), "scores.csv"
    )
    return f"grescores/{dataset}.csv", Path("scores.csv").read_text(encoding="utf-8")


def test_a_data_set_is_scored_into_tidy_rows(given, kept):
    write_json("gold.json", {"x": [A, B], "y": [C]})
    write_json("gold-gs.json", {"x": {"1": "N/A"}})
    write_json("o.json", {"x": [A], "y": []})
    write_json(
        "o-fs.json", {"x": {"score": 1.0, "results": [True]}, "y": {"score": 0, "results": []}}
    )
    write_json("judged.json", {"x": {"1": "N/A"}})
    write_texts("m.jsonl", ("x",))
    kept(
        *scored(
            Study(given()).grescores,
            "cdr",
            lambda file: "judged.json" if "/judged/" in file else file,
        )
    )
    records = json.loads(sidecar_of("scores.csv").read_text(encoding="utf-8"))["records"]
    assert [record["triples"] for record in records] == [3, 1, 0]


def test_trained_extractors_are_cut_to_the_texts_and_verbalised_as_the_gold(given, kept):
    born, lived = ["a", "/p/birthPlace", "b"], ["a", "/p/placeLived", "b"]
    write_texts("texts.jsonl", ("x", born))
    write_texts("reference.jsonl", ("x", ["a", "born in", "b"]))
    write_texts("answers.jsonl", ("x",))
    write_texts("p.jsonl", ("not drawn", lived), ("x", born, lived))
    write_json("none.json", {})

    def place(file):
        name = "none.json" if "/judged/" in file else file.rpartition("/")[2]
        return "p.jsonl" if name == "test.jsonl" else name

    kept(*scored(Study(given()).grescores, "own", place))


def test_systems_that_the_study_queries_are_rows_of_their_own_texts(given, kept):
    systems = {"all": {"predictions": "m.jsonl"}, "some": {"command": "python -", "limit": 1}}
    systems["broken"] = {"command": "python -"}
    own = {"mine": {"level": "sentence", "corpus": "c", "extractors_judged": True}}
    section = {**SECTION, "embedder": None, "datasets": own}
    study = Study(given(section, extractors={}, systems=systems))
    plan = study.grescores
    assert set(plan.to_judge("mine")) == {
        f"c-original-nz-{name}" for name in ("all", "some", "broken")
    }
    assert plan.texts("mine", "c-original-nz-all") == [
        "results/s/protocols/c/original/nz/test.jsonl"
    ]
    runs = study.report.table_inputs("gre-sentence")["gre_runs"]
    assert runs == ["results/s/systems.json"]
    p, q, z = (["a", relation, "b"] for relation in "pqz")
    write_texts("test.jsonl", ("x", p), ("y", q))
    write_texts("all.jsonl", ("zero", z), ("x", p), ("y", p))
    write_texts("some.jsonl", ("y", q))
    write_texts("broken.jsonl")
    write_json("judged.json", {})

    def place(file):
        name = "judged" if "/judged/" in file else file.rsplit("/", 2)[-2]
        return f"{name.replace('nz', 'test')}.json{'l' * (name != 'judged')}"

    kept(*scored(plan, "mine", place))


@pytest.mark.parametrize(("texts", "bounded"), [(9, False), (10, True)])
def test_few_texts_have_no_interval(texts, bounded):
    system = System({f"x{number}": [A] for number in range(texts)})
    scores = evaluate(Inputs(system), Settings(resamples=50)).scores
    assert {score.low is not None for score in scores.values()} == {bounded}
