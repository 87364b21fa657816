"""Infusion: units, shares, places and its errors."""

import dataclasses
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tripleaudit.core.errors import UserError
from tripleaudit.core.rows import row_of
from tripleaudit.llm.units import is_prose, paragraphs
from tripleaudit.needles.haystack import Document
from tripleaudit.needles.infusion import Infusion, infuse, needed
from tripleaudit.needles.plan import Plan
from tripleaudit.needles.templates import template_needles

WORDS = st.lists(
    st.sampled_from(["alpha", "beta", "gamma", "delta.", "Epsilon", "zeta,", "eta!", "Theta"]),
    min_size=3,
    max_size=40,
)
BLOCKS = st.one_of(
    WORDS.map(" ".join),
    st.lists(st.sampled_from(["- item one", "- item two", "* three"]), min_size=1, max_size=4).map(
        "\n".join
    ),
    st.just("a | b | c\n1 | 2 | 3"),
    st.just("```\ncode\n\nmore\n```"),
)
DOCUMENTS = st.tuples(
    st.lists(BLOCKS, min_size=1, max_size=30),
    st.sampled_from(["\n\n", "\r\n\r\n", "\n\n\n"]),
    st.booleans(),
).map(lambda parts: parts[1].join(parts[0]) + (parts[1] if parts[2] else ""))


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(DOCUMENTS, st.lists(st.integers(20, 300), max_size=20), st.integers(1, 50))
def test_invariants(text, lengths, seed):
    document = Document("d", text)
    needles = [(f"n{i}", f"Needle{i} " + "w" * length) for i, length in enumerate(lengths)]
    try:
        infusion = infuse(document, needles, Plan(seed=seed))
    except UserError as error:
        assert re.search(
            r"its \d+ characters need between \d+ and \d+ characters of needles", str(error)
        )
        return
    assert infusion.original_text == text
    assert 0.10 - 1e-9 <= infusion.share <= 0.30 + 1e-9
    assert infusion.share == round((len(infusion.text) - len(text)) / len(infusion.text), 6)
    texts = dict(needles)
    assert all(unit.text.strip() == texts[unit.needle] for unit in infusion.units if unit.needle)
    assert infuse(document, needles, Plan(seed=seed)) == infusion
    for paragraph in paragraphs(text):  # nothing went into a list, a table or code
        assert is_prose(paragraph) or paragraph in infusion.text
    assert row_of(dataclasses.asdict(infusion), Infusion, "x") == infusion


def document(length, paragraphs=60):
    size = length // paragraphs
    return Document("doc", "\n\n".join("x" * (size - 2) for _ in range(paragraphs)) + "\n\n")


def test_share_is_counted_in_characters_of_the_enriched_text():
    assert needed(12_000, 0.2) == pytest.approx(3000)
    needles = [(str(i), "n" * 298) for i in range(30)]  # 300 characters each with their blank line
    infusion = infuse(document(12_000), needles, Plan(seed=3))
    assert len(infusion.needles) == 10 and infusion.share == pytest.approx(0.2)


def test_both_bounds_of_the_share():
    haystack = document(9000)
    # 1,000 characters are exactly 10 %, one fewer is too little
    assert infuse(haystack, [("a", "n" * 998)], Plan(seed=1)).share == pytest.approx(0.10)
    with pytest.raises(UserError, match="only 999 characters fit; add needles"):
        infuse(haystack, [("a", "n" * 997)], Plan(seed=1))
    # 30 % of the result is the most; a longer needle is left out
    seven = document(7000, 50)
    assert infuse(seven, [("a", "n" * 2998)], Plan(seed=1)).share == pytest.approx(0.30)
    with pytest.raises(
        UserError, match="only 0 characters fit; use a longer document or shorter needles"
    ):
        infuse(seven, [("a", "n" * 2999)], Plan(seed=1))


def test_sentences_take_over_where_paragraphs_are_few():
    text = "This is one sentence of the text. " * 40
    needles = [(f"n{i}", "A needle of a few words stands here.") for i in range(20)]
    infusion = infuse(Document("d", text.strip()), needles, Plan(seed=5))
    assert "\n" not in infusion.text and infusion.original_text == text.strip()
    for count, separator in ((3, "\n\n"), (2, " ")):  # two paragraphs for each needle, and one more
        text = "\n\n".join(["This is one sentence of the text. And one more."] * count)
        needle = "A needle of a few words."
        assert infuse(Document("d", text), [("a", needle)], Plan(seed=5)).share == round(
            (len(needle) + len(separator)) / (len(text) + len(needle) + len(separator)), 6
        )


def test_several_needles_share_a_place_when_places_are_few():
    text = "word " * 300
    infusion = infuse(
        Document("d", text),
        [(f"n{i}", "Needle text number nine here.") for i in range(30)],
        Plan(seed=2),
    )
    assert len(infusion.needles) > 2 and infusion.original_text == text
    assert [unit.text for unit in infusion.units if not unit.needle] == [
        text
    ]  # only before and behind it


def test_seeds_decide_the_positions():
    haystack = document(12_000)
    needles = [(n.id, n.paragraph) for n in template_needles(haystack, "Person", 12, Plan(seed=1))]
    assert len({infuse(haystack, needles, Plan(seed=seed)).text for seed in range(1, 51)}) == 50


def test_a_record_without_its_seed_is_refused():
    with pytest.raises(UserError, match="file line 3: the key 'seed' is missing"):
        row_of({"doc": "d"}, Infusion, "file line 3")


CODE = "    def f(x):\n        return x + 1\n\n    print(f(2))"


@pytest.mark.parametrize(
    "whole",
    [
        "~~~\n```\nFirst. Then\n\nB. Now\n```\nc. Then\n\nD. Now\n~~~",
        "````\n```\nFirst. Then\n\nB. Now\n````",
        "```\nFirst. Then\n\nB. Now",
        "# Methods. And Materials",
        "Methods. And Materials\n======",
        "Materials and methods",
        CODE,
    ],
    ids=[
        "fence in a fence",
        "short fence in a fence",
        "open fence",
        "heading",
        "underlined",
        "line alone",
        "indented",
    ],
)
@pytest.mark.parametrize(
    "around", [["{}"], ["{}", "Words stand here. Others follow."], ["Words stand here.", "{}"]]
)
def test_code_and_headings_stay_whole_wherever_they_stand(whole, around):
    text = "\n\n".join(around).format(whole)
    if whole.startswith("```\n"):
        whole = text[text.index("```") :]  # all that follows is code
    for seed in range(20):
        infusion = infuse(
            Document("d", text),
            [("a", "A needle is here. It ends.")],
            Plan(seed=seed, minimum=0.01, maximum=0.9),
        )
        assert f"\n\n{whole}\n\n" in f"\n\n{infusion.text}\n\n" and infusion.original_text == text
