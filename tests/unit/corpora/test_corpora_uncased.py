"""Lower-casing and accent-stripping: positions move with the characters."""

from hypothesis import given
from hypothesis import strategies as st

from tripleaudit.corpora.corpus import RawSentence, RawTriple, build_corpus, plain, uncased


def test_text_arguments_and_positions_change_together_but_relations_do_not():
    item = RawSentence("1", "İzmir and Ólafur", [RawTriple("İzmir", "Twin", "Ólafur", 0, 10)], "file line 1")
    changed = uncased(item)
    assert changed.text == "izmir and olafur"
    assert changed.triples == [RawTriple("izmir", "Twin", "olafur", 0, 10)]


def test_a_character_that_loses_its_combining_accent_shifts_what_follows():
    decomposed = "Jose\u0301 met Ana"
    item = RawSentence("1", decomposed, [RawTriple("Ana", "met", "Jose\u0301", decomposed.index("Ana"), 0)], "x")
    triple = uncased(item).triples[0]
    assert (triple.subject_start, triple.object) == (uncased(item).text.index("ana"), "jose")


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
