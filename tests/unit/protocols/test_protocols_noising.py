"""Entity Noising: what is swapped, how often, and what never changes."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.webnlg import sentence
from tripleaudit.core.errors import UserError
from tripleaudit.core.randomness import generator
from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.corpora.spans import find_spans
from tripleaudit.protocols.noising import EntityNoising, NoiseSettings, WordPool

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def letters(strings):
    """A stand-in for a tokenizer: one token for every two letters of each word."""
    return [sum(-(-len(word) // 2) for word in string.split()) for string in strings]


def corpus() -> list[Sentence]:
    """Sentences whose words fill the buckets 1, 2 and 3 with 60 words each, and one triple."""
    words = [
        LETTERS[i % 26] + LETTERS[i // 26] + tail for tail in ("", "xy", "xyzw") for i in range(60)
    ]
    return [
        Sentence("words", " ".join(words)),
        sentence("tim cook leads apple .", ("tim cook", "C", "apple"), id_="1"),
    ]


def noising(*more: Sentence, seed: int = 0, **options) -> EntityNoising:
    options = {"probability": 1.0, **options}
    return EntityNoising([*corpus(), *more], letters, NoiseSettings(**options), seed)


def check_structure(before: Sentence, after: Sentence) -> None:
    """All triples stay, spans fit, equal entities stay equal and different ones different,
    nothing else changes.
    """
    assert not list(after.problems())
    assert after.id == before.id
    assert [t.relation for t in after.triples] == [t.relation for t in before.triples]
    renamed = {}
    for old, new in zip(before.triples, after.triples, strict=True):
        for a, b in ((old.subject, new.subject), (old.object, new.object)):
            assert (a.text == b.text) != a.located
            assert renamed.setdefault(a.text, b.text) == b.text
            found = [
                find_spans(each.text, span.text, every=True)[0]
                for each, span in ((before, a), (after, b))
            ]
            assert len(found[0]) == len(found[1])
    assert len(set(renamed.values())) == len(renamed)


def test_every_mention_is_swapped_and_the_rest_stays():
    each = sentence("tim met tim and acme , acme !", ("tim", "C", "acme"), ("acme", "F", "tim"))
    noised = noising(each)(each, 0)
    check_structure(each, noised)
    subject, object_ = noised.triples[0].subject.text, noised.triples[0].object.text
    assert noised.text == f"{subject} met {subject} and {object_} , {object_} !"


def test_lengths_follow_the_paper():
    each = sentence("aabbcc leads zz .", ("aabbcc", "C", "zz"))  # 3 tokens, 1 token
    noise = noising(each, *(replace(each, id=str(i)) for i in range(3)))
    triples = [noise(each, epoch).triples[0] for epoch in range(4000)]
    three, one = (
        Counter(letters([getattr(one, role).text for one in triples]))
        for role in ("subject", "object")
    )
    shares = {length: count / 4000 for length, count in three.items()}
    assert shares == pytest.approx({2: 0.3, 3: 0.4, 4: 0.3}, abs=0.03)
    assert set(one) == {1, 2}  # length 0 counts as 1
    assert one[1] / 4000 == pytest.approx(0.7, abs=0.03)


def test_the_share_of_noised_sentences_and_the_seeding():
    each = corpus()[1]
    noise = noising(probability=0.3)
    noised = [noise(each, epoch) for epoch in range(1000)]
    assert sum(one is not None for one in noised) / 1000 == pytest.approx(0.3, abs=0.05)
    assert noised == [noising(probability=0.3)(each, epoch) for epoch in range(1000)]
    assert noised != [noising(probability=0.3, seed=1)(each, epoch) for epoch in range(1000)]
    other = replace(each, id="2")
    assert noised != [
        noise(other, epoch) and replace(noise(other, epoch), id="1") for epoch in range(1000)
    ]
    assert len({one.text for one in noised if one}) > 100
    assert all(noising(probability=0.0)(each, epoch) is None for epoch in range(50))


def test_unlocated_entities_and_sentences_without_triples_stay_as_they_are():
    each = Sentence(
        "s", "tim leads .", (Triple(Span(0, 3, "tim"), "C", Span(None, None, "nowhere")),)
    )
    noised = noising(each)(each, 0)
    check_structure(each, noised)
    assert noised.triples[0].object == Span(None, None, "nowhere")
    assert noising()(Sentence("z", "it rains"), 0) is None


CITY, YORK = Span(0, 13, "new york city"), Span(23, 31, "new york")


@pytest.mark.parametrize(
    ("text", "spans", "nested"),
    [
        ("new york city mayor of new york .", [(CITY, Span(0, 8, "new york")), (YORK, CITY)], 1),
        (
            "aa-bb leads",
            [(Span(0, 2, "aa"), Span(2, 5, "-bb"))],
            0,
        ),  # entities that touch do not overlap
        ("aa-bb leads", [(Span(0, 3, "aa-"), Span(2, 5, "-bb"))], 1),
    ],
)
def test_overlapping_entities_pass_unchanged_and_are_counted(text, spans, nested):
    each = Sentence("n", text, tuple(Triple(one, "C", other) for one, other in spans))
    noise = noising(each)
    assert noise.counts["nested"] == nested
    assert (noise(each, 0) is None) == bool(nested) and noise.counts["unchanged_nested"] == nested


def test_long_entities_are_composed_of_several_words_within_their_number_of_words():
    noise = noising()
    rng = generator(1)
    for words in (3, 4, 8):
        drawn = [noise.pool_for("aa").draw(7, words, rng) for _ in range(200)]
        assert all(letters([each])[0] == 7 for each in drawn)
        assert max(len(each.split()) for each in drawn) <= words
        assert len(set(drawn)) > 150
    # 7 tokens need at least three words of up to 3 tokens, whatever the entity had
    assert all(len(noise.pool_for("aa").draw(7, 1, rng).split()) == 3 for _ in range(50))


def test_a_corpus_that_offers_no_other_word_leaves_the_sentence_alone():
    each = sentence("aa leads bb .", ("aa", "C", "bb"))
    noise = EntityNoising([each], letters, NoiseSettings(probability=1.0), 0)
    assert noise(each, 0) is None
    assert noise.counts["given_up"] == 1


def test_noise_words_differ_from_their_entities_and_from_each_other():
    each, more = (
        sentence("aa leads bb .", ("aa", "C", "bb")),
        sentence("cc leads dd .", ("cc", "C", "dd")),
    )
    noise = EntityNoising([each, more], letters, NoiseSettings(probability=1.0, keep_length=1.0), 0)
    noised = [noise(each, epoch) for epoch in range(60)]
    drawn = {(one.triples[0].subject.text, one.triples[0].object.text) for one in noised if one}
    assert drawn == {("cc", "dd"), ("dd", "cc")}  # the sentence itself has the others


def test_a_noise_word_stands_nowhere_else():
    """Three tokens become three words here, of which the other entity's noise word must be none."""
    each = sentence("aabbcc leads zz .", ("aabbcc", "C", "zz"))
    words = sentence(" ".join(corpus()[0].text.split()[:60]))
    noise = EntityNoising([each, words], letters, NoiseSettings(probability=1.0), 0)
    for epoch in range(300):
        check_structure(each, noise(each, epoch))


@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_any_sentence_keeps_its_structure(data):
    each_word = st.sampled_from(["aa", "bbb", "cccc", "dd", "leads", ",", "eeeee"])
    words = data.draw(st.lists(each_word, min_size=1, max_size=9))
    text = " ".join(words)
    starts = [len(" ".join(words[:i])) + bool(i) for i in range(len(words))]

    def span():
        first = data.draw(st.integers(0, len(words) - 1))
        last = data.draw(st.integers(first, min(len(words) - 1, first + 2)))
        start, end = starts[first], starts[last] + len(words[last])
        return Span(start, end, text[start:end])

    triples = tuple(Triple(span(), "r", span()) for _ in range(data.draw(st.integers(0, 3))))
    each = Sentence("h", text, triples)
    noised = noising(each)(each, 0)
    if noised is not None:
        check_structure(each, noised)


def test_settings_have_a_range_and_the_papers_defaults_for_nyt():
    assert (NoiseSettings().probability, NoiseSettings().keep_length) == (0.1, 0.4)
    with pytest.raises(UserError, match="noising/probability: expected at most 1, got 2"):
        NoiseSettings.checked({"probability": 2}, "noising")


def test_noise_words_come_from_the_whole_vocabulary_uniformly():
    pool = noising().pool_for("aa")
    rng = generator(0, 0, "s", "noise")
    drawn = Counter(pool.draw(1, 1, rng) for _ in range(12_000))
    words = {word for row in corpus() for word in row.text.split() if letters([word]) == [1]}
    assert set(drawn) == words
    mean = 12_000 / len(words)
    assert all(abs(count - mean) < 6 * mean**0.5 for count in drawn.values())


@pytest.mark.parametrize(("words", "filled"), [(49, [1]), (50, [1, 2])])
def test_single_words_are_drawn_from_buckets_of_fifty(words: int, filled: list[int]):
    pool = WordPool({1: [f"a{n}" for n in range(60)], 2: [f"b{n}" for n in range(words)]})
    assert pool.filled == filled
    assert (pool.fewest(0), pool.fewest(1), pool.fewest(2), pool.fewest(3)) == (
        0,
        1,
        3 - len(filled),
        4 - len(filled),
    )


def test_lengths_that_no_words_make_up_come_from_what_the_corpus_has():
    pool, rng = WordPool({2: [f"b{n}" for n in range(50)], 3: ["only"]}), generator(0)
    assert pool.filled == [2]
    assert pool.draw(3, 1, rng) == "only"  # a word of a small bucket
    assert pool.draw(5, 3, rng) is None
    assert len(pool.draw(4, 1, rng).split()) == 2


def test_words_without_tokens_are_not_drawn():
    each = sentence("aa leads bb", ("aa", "C", "bb"))
    noise = EntityNoising(
        [each], lambda texts: [int(text != "leads") for text in texts], NoiseSettings(), 0
    )
    assert noise.words == ["aa", "bb"]


def test_entities_in_scripts_without_blanks_become_strings_of_their_own_length():
    """One token a character, as encoders of Chinese have it; a corpus has clauses between its
    blanks.
    """
    signs = [chr(0x4E00 + number) for number in range(200)]
    others = [
        Sentence(str(n), "".join(signs[n : n + 20]) + "。 " + "".join(signs[n + 30 : n + 60]))
        for n in range(100)
    ]
    text = "艾达伦德领导哈罗钢铁公司。"
    each = Sentence(
        "zh", text, (Triple(Span(0, 4, "艾达伦德"), "leads", Span(6, 12, "哈罗钢铁公司")),)
    )
    count = lambda strings: [len(string.replace(" ", "")) for string in strings]  # noqa: E731
    noise = EntityNoising(
        [each, *others], count, NoiseSettings(probability=1.0, keep_length=1.0), 0
    )
    for epoch in range(50):
        noised = noise(each, epoch)
        (triple,) = noised.triples
        assert not list(noised.problems())
        assert noised.text == f"{triple.subject.text}领导{triple.object.text}。"
        assert [len(part.text) for part in (triple.subject, triple.object)] == [4, 6]
        assert {triple.subject.text, triple.object.text}.isdisjoint({"艾达伦德", "哈罗钢铁公司"})
