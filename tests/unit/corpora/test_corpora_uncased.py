"""Lower-casing and accent-stripping: positions move with the characters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripleaudit.corpora.corpus import RawSentence, RawTriple, build_corpus, plain, uncased


@pytest.mark.parametrize(
    ("text", "triple", "changed", "moved"),
    [
        (
            "İzmir and Ólafur",
            ("İzmir", "Twin", "Ólafur", 0, 10),
            "izmir and olafur",
            ("izmir", "Twin", "olafur", 0, 10),
        ),
        (
            "Jose\u0301 met Ana",
            ("Ana", "met", "Jose\u0301", 10, 0),
            "jose met ana",
            ("ana", "met", "jose", 9, 0),
        ),
    ],
)
def test_text_arguments_and_positions_change_together_but_relations_do_not(
    text, triple, changed, moved
):
    found = uncased(RawSentence("1", text, [RawTriple(*triple)], "file line 1"))
    assert (found.text, found.triples) == (changed, [RawTriple(*moved)])


@given(st.text(max_size=30), st.data())
def test_every_given_span_still_reads_its_entity(text, data):
    spans = [(start, end) for start in range(len(text)) for end in range(start + 1, len(text) + 1)]
    spans = [(start, end) for start, end in spans if plain(text[start:end])]
    if not spans:
        return
    (a, b), (c, d) = data.draw(st.sampled_from(spans)), data.draw(st.sampled_from(spans))
    changed = uncased(RawSentence("1", text, [RawTriple(text[a:b], "r", text[c:d], a, c)], "x"))
    sentence = build_corpus([changed], source="x", format="x", occurrence="given").sentences[0]
    assert not list(sentence.problems())


def test_plain_agrees_with_itself_on_parts():
    assert plain("Ångström") + plain(" ÉTÉ") == plain("Ångström ÉTÉ") == "angstrom ete"
