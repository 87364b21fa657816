import re
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.filler import Filler, vectors
from support.webnlg import sentence
from tripleaudit.core.errors import UserError
from tripleaudit.protocols.augmented.candidates import Found, find_candidates
from tripleaudit.protocols.augmented.replaced import (
    DEFAULT_BEAMS,
    DEFAULT_K,
    augment,
    check_words,
    choose,
    wants_seen,
)
from tripleaudit.protocols.augmented.vectors import NearestWords
from tripleaudit.protocols.splits import Splits
from tripleaudit.protocols.substitution import lay_out
from tripleaudit.protocols.types import SeenTriples
from tripleaudit.protocols.variants import PARTS

PLACES = {"Constantinople": (1, 0), "Byzantium": (1, 0.1), "Chalcedon": (1, 0.2), "Paris": (0, 1)}
NEAREST = NearestWords(
    vectors(**PLACES, Rome=(-1, 0), Bern=(-1, -0.1), New=(-1, -0.2), visits=(-1, -0.3))
)
WORDS = ["Oslo", "Rome", "Bern", "Lima", "Kiev", "Bonn", "Riga", "Graz"]


def candidates(row, model, k=3, beams=2):
    (found,) = find_candidates([row], [lay_out(row)], model, NEAREST, k=k, beams=beams)
    ways = Counter(each.way for each in found.values())
    return {text: each.words for text, each in found.items()}, dict(ways)


def filled(**words):
    return {
        text.replace("_", " "): Found("masked_words", options) for text, options in words.items()
    }


def test_a_single_piece_word_is_filled_behind_one_mask_with_all_entities_masked():
    model = Filler(WORDS)
    row = sentence("Rome likes New York .", ("Rome", "r", "New York"))
    found, ways = candidates(row, model)
    assert model.texts[0] == "[MASK] likes [MASK] [MASK] ."
    assert len(found["Rome"]) == 3 and ("Rome",) not in found["Rome"]
    assert ways == {"masked_word": 1, "masked_words": 1}


def test_words_of_a_longer_entity_are_filled_one_after_the_other():
    model = Filler(WORDS)
    found, _ = candidates(
        sentence("New York wins .", ("New York", "r", "New York")), model, k=4, beams=2
    )
    first, *others = model.texts
    assert first == "[MASK] [MASK] wins ."
    assert len(others) == 2 and all(
        re.fullmatch(r"[A-Z][a-z]+ \[MASK\] wins \.", text) for text in others
    )
    assert len(found["New York"]) == 4


def test_a_word_of_several_pieces_is_replaced_by_its_nearest_words():
    model = Filler(WORDS)
    found, ways = candidates(
        sentence("Constantinople fell .", ("Constantinople", "r", "Constantinople")), model
    )
    assert found["Constantinople"] == [("Byzantium",), ("Chalcedon",), ("Paris",)]
    assert ways == {"vectors": 1} and not model.texts


def test_punctuation_stays_and_an_uncased_model_gets_the_case_of_the_word():
    model = Filler(["oslo", "rome"])
    model.cased = False
    found, _ = candidates(sentence("NASA , Bonn", ("NASA , Bonn", "r", "NASA , Bonn")), model)
    assert {words[1] for words in found["NASA , Bonn"]} == {","}
    assert {words[0] for words in found["NASA , Bonn"]} == {"OSLO", "ROME"}
    assert {words[2] for words in found["NASA , Bonn"]} == {"Oslo", "Rome"}


def test_each_word_is_asked_for_at_its_own_mask():
    """The masks of other entities count, what is filled already does not, and quoted masks
    before it do.
    """
    model, asked = Filler(WORDS), []
    fill = model.fill
    model.fill = lambda queries, top: asked.append((queries, top)) or fill(queries, top)
    row = sentence("[MASK] means Rome or New York here", ("Rome", "r", "New York"))
    found, _ = candidates(row, model, k=3, beams=1)
    (first,) = {words[0] for words in found["New York"]}
    assert asked == [
        (
            {"[MASK] means [MASK] or [MASK] [MASK] here": [1, 2]},
            5,
        ),  # the word itself may come in two spellings
        ({f"[MASK] means [MASK] or {first} [MASK] here": [2]}, 5),
    ]
    assert len(found["Rome"]) == 3


def test_longer_entities_are_ranked_by_the_sum_of_their_words_logarithms():
    """Of two first words the less likely one leads to the likeliest entity."""
    model = Filler(WORDS)
    ranked = {
        ("[MASK] [MASK] wins", 0): [("Rome", -1.0), ("Oslo", -2.0), ("Lima", -3.0)],
        ("Rome [MASK] wins", 0): [("Bern", -5.0), ("Kiev", -6.0)],
        ("Oslo [MASK] wins", 0): [("Bonn", -1.0), ("York", -2.0), ("Graz", -4.5)],
    }
    model.fill = lambda queries, top: {
        (text, number): ranked[text, number]
        for text, numbers in queries.items()
        for number in numbers
    }
    found, _ = candidates(
        sentence("New York wins", ("New York", "r", "New York")), model, k=3, beams=2
    )
    assert found["New York"] == [("Oslo", "Bonn"), ("Rome", "Bern"), ("Oslo", "Graz")]


def test_eleven_candidates_and_five_beams_are_the_numbers_of_the_protocols_page(root):
    page = (root / "docs" / "explanation" / "test-sets.md").read_text(encoding="utf-8")
    assert (
        f"`k` ({DEFAULT_K} candidates per entity)" in page and f"`beams` ({DEFAULT_BEAMS})" in page
    )


@pytest.mark.parametrize(
    ("part", "subject", "files", "text", "object_"),
    [("ss", 1, 1, 1, 1), ("su", 1, 0, 1, 0), ("us", 0, 0, 1, 1), ("uu", 0, 0, 0, 0)],
)
def test_parts_ask_for_seen_and_unseen_roles(part, subject, files, text, object_):
    assert wants_seen(part, True, False) == bool(subject)
    assert wants_seen(part, True, True) == wants_seen(part, True, True, "files") == bool(files)
    assert wants_seen(part, True, True, "text") == bool(text)
    assert wants_seen(part, False, True) == bool(object_)


@pytest.mark.parametrize(
    ("way", "fallback", "taken"),
    [("vectors", "files", True), ("vectors", "text", False), ("masked_word", "files", False)],
)
def test_a_word_without_a_neighbour_of_the_kind_takes_any_as_in_the_files(way, fallback, taken):
    row = sentence("Rome likes Bern", ("Rome", "r", "Bern"))
    found = {"Rome": Found(way, [("Oslo",), ("Bern",)])}
    chosen, outcomes = choose(lay_out(row), found, "ss", {"Lima"}, "0", fallback=fallback)
    assert chosen == ({"Rome": ("Oslo",)} if taken else {})  # never Bern, another entity here
    assert outcomes["none_of_this_kind"] == (not taken)
    found = {"Rome": Found(way, [("Oslo",), ("Lima",)])}
    for seed in range(10):  # a word of the kind is never passed over
        assert choose(lay_out(row), found, "ss", {"Lima"}, str(seed), fallback=fallback)[0] == {
            "Rome": ("Lima",)
        }


def test_draws_are_uniform_over_the_candidates_of_the_kind():
    row = sentence("Rome likes Bern", ("Rome", "r", "Bern"))
    found = filled(Rome=[("Oslo",), ("Lima",), ("Kiev",), ("Bern",)])
    drawn = [
        choose(lay_out(row), found, "ss", {"Oslo", "Lima", "Bern"}, str(seed))[0]
        for seed in range(400)
    ]
    share = sum(chosen["Rome"] == ("Oslo",) for chosen in drawn) / 400
    assert {chosen["Rome"] for chosen in drawn} == {
        ("Oslo",),
        ("Lima",),
    }  # Bern is another entity here
    assert share == pytest.approx(0.5, abs=0.1)
    assert choose(lay_out(row), found, "uu", {"Oslo", "Lima"}, "0")[0] == {"Rome": ("Kiev",)}


def test_two_entities_never_become_one():
    row = sentence("Rome likes Bern", ("Rome", "r", "Bern"))
    found = filled(Rome=[("Oslo",)], Bern=[("Oslo",)])
    chosen, outcomes = choose(lay_out(row), found, "uu", set(), "0")
    assert len(chosen) == 1
    assert (outcomes["replaced"], outcomes["none_of_this_kind"]) == (1, 1)


def test_a_sentence_with_a_nested_entity_stays_as_it_is():
    row = sentence("New York City is big", ("New York City", "in", "New York"), ("big", "r", "big"))
    found = filled(
        New_York=[("Old", "Bern")], New_York_City=[("Great", "Rome", "Town")], big=[("Oslo",)]
    )
    chosen, outcomes = choose(lay_out(row), found, "uu", set(), "0")
    assert chosen == {} and outcomes["nested"] == 3
    model = Filler(WORDS)
    assert candidates(row, model) == ({}, {}) and not model.texts


@st.composite
def corpora(draw):
    """A training and a test sentence list over a small vocabulary, with shared, nested and
    repeated entities.
    """
    words = st.sampled_from(["Rome", "Bern", "Constantinople", "New", ",", "(", "visits"])
    rows = []
    for number in range(draw(st.integers(1, 4))):
        tokens = draw(st.lists(words, min_size=3, max_size=9))
        text = draw(st.sampled_from([" ", "  "])).join(tokens)

        def entity(tokens=tokens, text=text):
            first = draw(st.integers(0, len(tokens) - 1))
            last = draw(st.integers(first, min(len(tokens) - 1, first + 2)))
            return ("  " if "  " in text else " ").join(tokens[first : last + 1])

        facts = [(entity(), "r", entity()) for _ in range(draw(st.integers(1, 3)))]
        rows.append(sentence(text, *facts, id_=str(number)))
    known = draw(
        st.lists(st.sampled_from(WORDS + ["Byzantium", "New Rome"]), min_size=1, unique=True)
    )
    train = [sentence(" ".join(known), *((name, "r", name) for name in known))]
    return Splits(train, [], rows), draw(st.integers(0, 5))


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(corpora())
def test_properties_of_the_augmented_set(case):
    splits, seed = case
    new, report = augment(splits, Filler(WORDS), NEAREST, k=4, beams=2, fallback="text", seed=seed)
    known = SeenTriples(splits.train).entities
    assert len(new.test) == 4 * len(splits.test)
    layouts = [lay_out(row) for row in splits.test]
    for place, row in enumerate(new.test):
        part, number = PARTS[place // len(splits.test)], place % len(splits.test)
        old, layout = splits.test[number], layouts[number]
        assert row.id == f"{old.id}.{part}"
        assert not list(row.problems())
        assert [triple.relation for triple in row.triples] == [
            triple.relation for triple in old.triples
        ]
        renamed = {}
        for before, after in zip(old.triples, row.triples, strict=True):
            for one, other in ((before.subject, after.subject), (before.object, after.object)):
                assert (
                    renamed.setdefault(one.text, other.text) == other.text
                )  # consistent in the sentence
        assert len(set(renamed.values())) == len(renamed)
        roles = ({t.subject.text for t in old.triples}, {t.object.text for t in old.triples})
        for one, other in renamed.items():
            if one != other:
                assert layout.stays is None
                assert (other in known) == wants_seen(part, one in roles[0], one in roles[1])
        # Everything outside the words of entities is byte-identical, blanks included.
        touched = [
            slot
            for entity in layout.entities.values()
            if renamed[entity.text] != entity.text
            for mention in entity.mentions
            for slot in entity.slots(mention)
        ]
        pattern, at = "", 0
        for start, end in sorted(set(touched)):
            pattern += re.escape(old.text[at:start]) + r"\S+"
            at = end
        assert re.fullmatch(pattern + re.escape(old.text[at:]), row.text)
    total = sum(
        len({s.text for t in row.triples for s in (t.subject, t.object)}) for row in splits.test
    )
    assert all(sum(part.values()) == total for part in report["parts"].values())
    assert (
        augment(splits, Filler(WORDS), NEAREST, k=4, beams=2, fallback="text", seed=seed)[0] == new
    )


def test_zero_triple_sentences_appear_once_at_the_end():
    train = [sentence("Rome", ("Rome", "r", "Rome"))]
    test = [
        sentence("nothing", id_="z"),
        sentence("Constantinople", ("Constantinople", "r", "Constantinople")),
    ]
    new, _ = augment(Splits(train, [], test), Filler(WORDS), NEAREST)
    assert len(new.test) == 5
    assert new.test[-1] == test[0]


def test_what_cannot_be_augmented_is_refused_before_a_model_runs():
    with pytest.raises(UserError, match="no sentence with triples"):
        check_words(Splits([], [], [sentence("nothing")]), NEAREST)
    row = sentence("Москва город", ("Москва", "r", "город"))
    with pytest.raises(UserError, match="have none of the 2 words of the test entities"):
        check_words(Splits([row], [], [row]), NEAREST)
