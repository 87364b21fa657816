"""Baselines that learn nothing, by hand and on WebNLG."""

import pytest

from support.webnlg import sentence
from tripleaudit.core.files import read_jsonl
from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.readers import read_corpus
from tripleaudit.corpora.store import load_sentences, save_sentences
from tripleaudit.scoring.baselines import BASELINES, write_predictions
from tripleaudit.scoring.matching import sentence_counts
from tripleaudit.scoring.metrics import Micro, micro

CAPITAL, WROTE, LOVES = (
    ("Rome", "capital", "Italy"),
    ("Ann", "wrote", "Emma"),
    ("Narcissus", "loves", "Narcissus"),
)
TRAIN = [
    sentence("Rome lies in Italy .", ("Rome", "in", "Italy")),
    sentence("Rome , capital of Italy", CAPITAL, ("Italy", "has", "Rome")),
    sentence("Italy and its capital Rome", CAPITAL),
    sentence("Ann wrote Emma in Rome", WROTE, WROTE),
    sentence("Ann likes Emma", ("Ann", "likes", "Emma")),
    sentence("Narcissus loves Narcissus", LOVES),
]


@pytest.mark.parametrize(
    ("text", "triples"),
    [
        ("In Italy is Rome .", [CAPITAL]),  # the most frequent of the two, in its direction
        ("Emma , by Ann", [WROTE]),  # one sentence each has "wrote" and "likes", so the first seen
        ("Romeo in Italy", []),  # whole words
        ("ROME in Italy", []),  # in their case
        ("Rome, Italy.", [CAPITAL]),
        ("Rome", []),
        ("Rome and Ann", []),
        ("Narcissus , again", [LOVES]),  # one entity twice needs one mention
    ],
)
def test_the_likeliest_triple_of_two_names_in_a_sentence_is_memorised(
    text: str, triples: list
) -> None:
    (found,) = BASELINES["memorise"].predict(TRAIN, [Sentence("x", text)])
    assert [triple.strings for triple in found] == triples


def test_spans_are_those_of_the_first_mentions():
    text = "Italy , Italy ! Rome !"
    (found,) = BASELINES["memorise"].predict(TRAIN, [Sentence("x", text)])
    assert [(one.subject.start, one.object.start) for one in found] == [(16, 0)]
    assert not list(Sentence("x", text, found).problems())


def test_files_have_the_form_of_predictions_and_of_decisions(tmp_path):
    train, test, out = (tmp_path / name for name in ("train.jsonl", "test.jsonl", "out.jsonl"))
    save_sentences(train, TRAIN)
    save_sentences(test, [TRAIN[0], Sentence("none", "Nothing here")])
    write_predictions("memorise", train, test, out)
    assert [len(one.triples) for one in load_sentences(out)] == [1, 0]
    write_predictions("nothing", train, test, out)
    assert [(one.id, one.text, one.triples) for one in load_sentences(out)] == [
        ("s", "Rome lies in Italy .", ()), ("none", "Nothing here", ()),
    ]  # fmt: skip
    write_predictions("always-yes", train, test, out)
    assert [row for _, row in read_jsonl(out)] == [
        {"id": "s", "score": 1.0},
        {"id": "none", "score": 1.0},
    ]


def test_memorising_webnlg(real_data):
    """The counts are those of the rule written once more with regular expressions, over the
    published JSON.
    """
    train, test = (
        read_corpus(real_data / "webnlg" / f"{split}_triples.json").sentences
        for split in ("train", "test")
    )
    reported = BASELINES["memorise"].predict(train, test)
    said = [Sentence(one.id, one.text, each) for one, each in zip(test, reported, strict=True)]
    assert micro(sentence_counts(test, said)) == Micro(
        1413, 3204, 1607, 703
    )  # an F1 of 58.7: docs/explanation/methods.md
