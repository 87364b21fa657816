"""Scores by overlap, of entities and relations alone, by score and without training's triples."""

import json
from collections import Counter

import pytest

import tripleaudit as ta
from support.published import webnlg
from tripleaudit.core.errors import UserError
from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.corpora.readers import read_corpus
from tripleaudit.corpora.store import save_sentences
from tripleaudit.scoring.overlap import overlap_classes

# published counts of test sentences (Wei et al., 2020, table 4; number of triples: figure 5)
NYT = {"Normal": 3266, "SEO": 1297, "EPO": 978}
NYT_TRIPLES = {"1": 3244, "2": 1045, "3": 312, "4": 291, "5+": 108}
WEBNLG = {"Normal": 246, "SEO": 457, "EPO": 26}
WEBNLG_TRIPLES = {1: 266, 2: 171, 3: 131, 4: 90, 5: 45}

GOLD = [
    [("a", "r", "b"), ("c", "r", "d")],  # Normal
    [("a", "r", "b"), ("a", "q", "b")],  # EPO
    [("a", "r", "b"), ("b", "r", "c")],  # SEO
    [("a", "r", "b"), ("a", "q", "b"), ("a", "r", "c")],  # both
    [],
]


def sizes(parts) -> dict[str, int]:
    return {name: scores.sentences for name, scores in parts.items()}


def test_a_sentence_is_normal_or_has_overlapping_entities_or_pairs() -> None:
    predictions = [*GOLD[:2], [("a", "r", "b")], [], [("a", "r", "b")]]
    result = ta.score(GOLD, predictions, by=["overlap", "triples"], bootstrap=0)
    assert sizes(result.overlap) == {"Normal": 1, "SEO": 2, "EPO": 2}
    assert result.overlap["Normal"].f1 == 1
    assert result.overlap["SEO"].recall == pytest.approx(1 / 5)
    assert result.overlap["EPO"].precision == 1
    assert sizes(result.cardinality) == {"0": 1, "2": 3, "3": 1}


def test_entities_and_relations_are_scored_alone() -> None:
    gold = [[("a", "r", "b"), ("a", "q", "c")]]
    predictions = [[("a", "r", "c"), ("d", "s", "c")]]
    result = ta.score(gold, predictions, by=["entities", "relations"], bootstrap=0)
    entities, relations = result.elements["entities"], result.elements["relations"]
    assert (entities.correct, entities.predicted, entities.gold) == (2, 3, 3)
    assert (relations.correct, relations.predicted, relations.gold) == (1, 2, 2)
    assert result.f1 == 0 and {"Entities", "Relations"} <= set(str(result).split())


def test_relations_are_compared_as_the_matching_rule_does() -> None:
    sides = [[("a", "works_for", "b")]], [[("c", "Works For", "d")]]
    result = ta.score(*sides, by=["relations"], matching="normalised", bootstrap=0)
    assert result.elements["relations"].f1 == 1


DOCUMENT = {
    "title": "d",
    "sents": [["Ada", "leads", "Delta", "."], ["Lund", "owns", "Delta", "Inc", "in", "Oslo", "."]],
    "vertexSet": [
        [
            {"name": "Ada", "sent_id": 0, "pos": [0, 1]},
            {"name": "Lund", "sent_id": 1, "pos": [0, 1]},
        ],
        [{"name": "Delta", "sent_id": 0, "pos": [2, 3]}, {"name": "", "sent_id": 1, "pos": [2, 4]}],
        [{"name": "Oslo", "sent_id": 1, "pos": [5, 6]}],
    ],
    "labels": [{"h": 0, "t": 1, "r": "leads"}, {"h": 1, "t": 2, "r": "in"}],
}


@pytest.mark.parametrize(
    ("predicted", "counts"),
    [
        ([("Lund", "leads", "Delta Inc")], (1, 1, 2)),
        ([("Lund", "leads", "Delta"), ("Ada", "leads", "Delta Inc")], (1, 1, 2)),  # one fact
        ([("Delta Inc", "in", "Oslo"), ("Ada", "leads", "Oslo")], (1, 2, 2)),
        ([("Ada", "leads", "Oslo"), ("Lund", "leads", "Oslo")], (0, 1, 2)),
        ([("Bo", "leads", "Delta"), ("Delta", "leads", "Ada")], (0, 2, 2)),
    ],
)
def test_any_name_of_an_entity_counts_in_documents(tmp_path, predicted, counts) -> None:
    gold, predictions = tmp_path / "dev.json", tmp_path / "predicted.jsonl"
    gold.write_text(json.dumps([DOCUMENT]))
    text = " ".join(token for sentence in DOCUMENT["sents"] for token in sentence)
    predictions.write_text(json.dumps({"text": text, "triples": predicted}))
    scores = ta.score(gold, predictions, by=["mentions"], bootstrap=0).elements["mentions"]
    assert (scores.correct, scores.predicted, scores.gold) == counts


def test_files_of_the_project_keep_the_names_of_entities(tmp_path) -> None:
    gold, own, predictions = (tmp_path / name for name in ("dev.json", "own.jsonl", "p.jsonl"))
    gold.write_text(json.dumps([DOCUMENT]))
    save_sentences(own, read_corpus(gold).sentences)
    text = " ".join(token for sentence in DOCUMENT["sents"] for token in sentence)
    predictions.write_text(json.dumps({"text": text, "triples": [("Lund", "leads", "Delta Inc")]}))
    found = [ta.score(path, predictions, by=["mentions"], bootstrap=0) for path in (gold, own)]
    assert found[0].elements == found[1].elements and found[0].elements["mentions"].correct == 1


def test_a_name_of_several_entities_stands_for_the_correct_one(tmp_path) -> None:
    sentence = {
        "text": "Oslo is in Oslo county .",
        "triples": [{"subject": "Oslo", "relation": "in", "object": "county"}],
    }
    document = {
        "title": "d",
        "sents": [sentence["text"].split()],
        "vertexSet": [
            [{"name": "Oslo", "sent_id": 0, "pos": [0, 1]}],
            [
                {"name": "is", "sent_id": 0, "pos": [1, 2]},  # by this name it is in the triple
                {"name": "Oslo", "sent_id": 0, "pos": [3, 4]},
            ],
            [{"name": "county", "sent_id": 0, "pos": [4, 5]}],
        ],
        "labels": [{"h": 1, "t": 2, "r": "in"}],
    }
    gold, predictions = tmp_path / "dev.json", tmp_path / "predicted.jsonl"
    gold.write_text(json.dumps([document]))
    predictions.write_text(json.dumps(sentence))
    scores = ta.score(gold, predictions, by=["mentions"], bootstrap=0).elements["mentions"]
    assert (scores.correct, scores.predicted, scores.gold) == (1, 1, 1)


def test_mentions_need_gold_that_says_which_names_are_of_one_entity() -> None:
    with pytest.raises(UserError, match="--by mentions: the gold file does not say"):
        ta.score(GOLD, GOLD, by=["mentions"], bootstrap=0)


def test_ign_scores_leave_out_correct_triples_of_training() -> None:
    gold = [[("a", "r", "b"), ("c", "r", "d"), ("e", "r", "f")]]
    predictions = [[("a", "r", "b"), ("c", "r", "d"), ("x", "r", "y")]]
    result = ta.score(gold, predictions, train=[[("a", "r", "b")]], by=["ign"], bootstrap=0)
    precision, recall = 1 / 2, 2 / 3
    assert result.ign["precision"] == pytest.approx(precision)
    assert result.ign["recall"] == pytest.approx(recall)
    assert result.ign["f1"] == pytest.approx(2 * precision * recall / (precision + recall))
    assert result.ign["known"] == 1 and "Ign F1 57.14" in str(result.notes())


def test_ign_scores_of_documents_compare_any_name_of_an_entity(tmp_path) -> None:
    """As DocRED's scorer: a fact is known if any names of its entities are a training triple."""
    trained = {**DOCUMENT, "title": "t", "labels": [{"h": 0, "t": 1, "r": "leads"}]}
    shorter = {**DOCUMENT, "vertexSet": [[each[-1]] for each in DOCUMENT["vertexSet"]]}
    train, gold, predictions = (tmp_path / name for name in ("train.json", "dev.json", "p.jsonl"))
    train.write_text(json.dumps([trained]))
    gold.write_text(json.dumps([shorter]))
    text = " ".join(token for sentence in DOCUMENT["sents"] for token in sentence)
    found = [("Lund", "leads", "Delta Inc"), ("Lund", "in", "Oslo")]
    predictions.write_text(json.dumps({"text": text, "triples": found}))

    def ign(gold_file, train_file):
        return ta.score(gold_file, predictions, train=train_file, by=["ign"], bootstrap=0).ign

    assert ign(gold, train) == {"precision": 0, "recall": 0.5, "f1": 0, "known": 1}
    # of the gold, another name is found than the first, by which the triple is listed
    assert ign(train, gold) == {"precision": 0, "recall": 1, "f1": 0, "known": 1}


def test_a_repeated_triple_has_its_highest_score() -> None:
    gold = [{"text": "a b", "triples": [["a", "r", "b"]]}]
    triple = {"subject": "a", "relation": "r", "object": "b"}
    repeated = [{**triple, "score": score} for score in (0.2, 0.75, 0.4)]
    predictions = [{"text": "a b", "triples": repeated}]
    result = ta.score(gold, predictions, by=["thresholds"], bootstrap=0)
    predicted = {name: scores.predicted for name, scores in result.thresholds.items()}
    assert (predicted["0.7"], predicted["0.8"]) == (1, 0)


def test_a_threshold_leaves_out_triples_with_lower_scores(tmp_path) -> None:
    a, b, c = (Span(at, at + 1, "a b c"[at]) for at in (0, 2, 4))
    triples = (Triple(a, "r", b, score=0.8), Triple(a, "r", c, score=0.45))
    gold = Sentence("1", "a b c", (Triple(a, "r", b),))
    save_sentences(tmp_path / "gold.jsonl", [gold])
    save_sentences(tmp_path / "predictions.jsonl", [Sentence("1", "a b c", triples)])
    files = tmp_path / "gold.jsonl", tmp_path / "predictions.jsonl"
    result = ta.score(*files, by=["thresholds"], bootstrap=0)
    predicted = {name: scores.predicted for name, scores in result.thresholds.items()}
    assert predicted == dict.fromkeys(("0.1", "0.2", "0.3", "0.4"), 2) | dict.fromkeys(
        ("0.5", "0.6", "0.7", "0.8"), 1
    ) | {"0.9": 0}
    assert result.thresholds["0.5"].precision == 1 and result.thresholds["0.9"].recall == 0


def test_parts_that_cannot_be_scored_are_refused() -> None:
    with pytest.raises(UserError, match="--by: unknown part 'genre'; expected some of overlap"):
        ta.score(GOLD, GOLD, by=["genre"])
    with pytest.raises(UserError, match="--by ign: needs the triples of training"):
        ta.score(GOLD, GOLD, by=["ign"])
    with pytest.raises(UserError, match="--by thresholds: no predicted triple has a score"):
        ta.score(GOLD, GOLD, by=["thresholds"])


def test_classes_of_nyt_are_as_published(real_data) -> None:
    """NYT* has the last word of every entity, which partial matching compares."""
    gold = real_data / "nyt" / "test_triples.json"
    result = ta.score(gold, gold, matching="partial-last", by=["overlap"], bootstrap=0)
    assert sizes(result.overlap) == NYT
    assert sizes(result.cardinality) == NYT_TRIPLES


def test_classes_of_webnlg_are_as_published() -> None:
    """The published counts of WebNLG* count triples that are listed twice; scores do not."""
    listed = webnlg().star_test
    classes = Counter(name for triples in listed for name in overlap_classes(triples))
    assert classes == WEBNLG
    assert Counter(min(len(triples), 5) for triples in listed) == WEBNLG_TRIPLES
    result = ta.score(listed, listed, by=["overlap"], bootstrap=0)
    assert sizes(result.overlap) == WEBNLG | {"EPO": 18}
