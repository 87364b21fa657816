"""The definition of a word in scripts with and without blanks, and the results that depend on
it.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.reading import lines, write
from tripleaudit.cli import main
from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.readers import read_corpus
from tripleaudit.corpora.words import (
    cuts_word,
    is_inside_word,
    segment_spans,
    segments,
    word_spans,
    words,
)
from tripleaudit.scoring.baselines import BASELINES
from tripleaudit.scoring.held_names import kinds_of

CHINESE = [
    ("艾达伦德领导哈罗钢铁公司。", "艾达伦德", "哈罗钢铁公司"),
    ("丽达住在北港市，很久了。", "丽达", "北港市"),
]
JAPANESE = [
    ("アダルンドはハロー鉄鋼を率いる。", "アダルンド", "ハロー鉄鋼"),
    ("リタは北港に住む。", "リタ", "北港"),
]
THAI = [("เอดาเป็นผู้นำของบริษัทฮาร์โรว์", "เอดา", "บริษัทฮาร์โรว์"), ("ริตาอยู่ที่นอร์ทพอร์ต", "ริตา", "นอร์ทพอร์ต")]
KOREAN = [
    ("에이다는 해로철강을 이끈다.", "에이다", "해로철강"),
    ("리타는 북항시에 산다.", "리타", "북항시"),
]
CORPORA = pytest.mark.parametrize(
    "corpus", [CHINESE, JAPANESE, THAI, KOREAN], ids=["zh", "ja", "th", "ko"]
)


def rows(corpus: list[tuple[str, str, str]]) -> list[dict]:
    return [
        {"text": text, "triples": [[subject, "r", object_]]} for text, subject, object_ in corpus
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("New York's 3.5 a_b", ["New", "York", "s", "3", "5", "a", "b"]),
        ("Ko\u0308ln été", ["Ko\u0308ln", "été"]),
        ("在iPhone上", ["在", "iPhone", "上"]),
        ("北京。", ["北", "京"]),
        ("ที่นี่", ["ที่", "นี่"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("서울에서", ["서울에서"]),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@given(st.text(st.sampled_from("ab1_ .é\u0301北京ア。ใน่ิक्े서울")))
def test_offsets_inside_words_are_those_of_the_word_spans(text: str) -> None:
    inside = {offset for start, end in word_spans(text) for offset in range(start + 1, end)}
    assert {offset for offset in range(len(text) + 1) if is_inside_word(text, offset)} == inside


@given(st.text(st.sampled_from("ab1 .\té北京ア。ใน่ิ")))
def test_segments_cover_everything_but_the_blanks(text: str) -> None:
    assert "".join(segments(text)) == "".join(text.split())
    assert [text[start:end] for start, end in segment_spans(text)] == segments(text)


@given(st.text(st.sampled_from("ab1 .\té,서울")))
def test_segments_of_scripts_with_blanks_stand_between_blanks(text: str) -> None:
    assert segments(text) == text.split()


def test_a_korean_name_may_end_where_a_particle_begins() -> None:
    assert not cuts_word("서울에서", 0, 2)
    assert cuts_word("서울에서", 1, 4)


@CORPORA
def test_the_lookup_baseline_finds_the_names_of_its_own_training_set(corpus, tmp_path) -> None:
    sentences = read_corpus(write(tmp_path, {"a.jsonl": lines(*rows(corpus))})).sentences
    predicted = BASELINES["memorise"].predict(sentences, sentences)
    assert [[triple.strings for triple in triples] for triples in predicted] == [
        [(subject, "r", object_)] for _, subject, object_ in corpus
    ]


@CORPORA
def test_names_in_sentences_without_triples_are_recognised(corpus, tmp_path) -> None:
    sentences = read_corpus(write(tmp_path, {"a.jsonl": lines(*rows(corpus))})).sentences
    assert kinds_of([Sentence("x", corpus[0][0]), Sentence("y", "!")], sentences) == [
        "seen_pair",
        "none",
    ]


@CORPORA
def test_check_reports_no_entity_as_cut_inside_a_word(corpus, tmp_path, capsys) -> None:
    path = write(tmp_path, {"a.jsonl": lines(*rows(corpus))})
    assert main(["check", str(path)]) == 0
    assert "not-words" not in capsys.readouterr().out


def test_check_still_reports_names_cut_inside_a_word(tmp_path, capsys) -> None:
    path = write(
        tmp_path,
        {"a.jsonl": lines({"text": "Chinatown lies here", "triples": [["China", "in", "here"]]})},
    )
    main(["check", str(path)])
    assert "not-words" in capsys.readouterr().out
