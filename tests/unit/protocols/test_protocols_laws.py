"""Laws of protocols on any corpus: what is lost, what is left, and which type a triple has."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from support.webnlg import sentence
from tripleaudit.core.errors import UserError
from tripleaudit.protocols.sifted import sift
from tripleaudit.protocols.splits import Splits
from tripleaudit.protocols.strata import audit_corpus, stratify
from tripleaudit.protocols.types import SeenTriples, distinct_triples
from tripleaudit.protocols.unseen_relations import hold_out

TRIPLE = st.tuples(st.sampled_from("ABC"), st.sampled_from("pqr"), st.sampled_from("ABC"))
ROWS = st.lists(st.lists(TRIPLE, max_size=3), min_size=1, max_size=8)


def make_sentences(prefix, rows):
    return [sentence("A B C", *row, id_=f"{prefix}{number}") for number, row in enumerate(rows)]


SPLITS = st.builds(
    lambda train, valid, test: Splits(
        make_sentences("train", train), make_sentences("valid", valid), make_sentences("test", test)
    ),
    ROWS,
    ROWS,
    ROWS,
)


def triples_of(sentences):
    """Return the distinct triples of all sentences."""
    return {triple for each in sentences for triple in distinct_triples(each)}


def defined_type(triple, train):
    """Return the type of a triple by its definition, one training triple after the other."""
    subject, relation, object_ = triple
    if triple in train:
        return "entirely_seen"
    for known_subject, known_relation, known_object in train:
        if known_relation == relation and (known_subject == subject or known_object == object_):
            return "partially_seen"
    return "unseen"


@given(SPLITS)
def test_types_and_strata_are_as_defined(splits):
    train = triples_of(splits.train)
    seen = SeenTriples(splits.train)
    strata, types = [], Counter()
    for each in splits.test:
        kinds = [defined_type(triple, train) for triple in distinct_triples(each)]
        assert [seen.type_of(triple) for triple in distinct_triples(each)] == kinds
        types.update(kinds)
        distinct = set(kinds)
        strata.append(None if not kinds else kinds[0] if len(distinct) == 1 else "others")
    assert stratify(splits.test, seen) == strata
    report = audit_corpus(splits.train, splits.test)
    counted = {name: row["count"] for name, row in report["triple_types"].items()}
    assert counted == {name: types[name] for name in counted}
    assert sum(counted.values()) == report["triples"] == types.total()


@given(SPLITS, st.integers(0, 4))
def test_sifting_drops_exactly_the_training_sentences_with_a_rare_test_triple(splits, max_count):
    held = Counter(triple for each in splits.train for triple in distinct_triples(each))
    rare = {triple for triple in triples_of(splits.test) if held[triple] <= max_count}
    left = [each for each in splits.train if rare.isdisjoint(distinct_triples(each))]
    try:
        sifted, report = sift(splits, rule="frequency", max_count=max_count)
    except UserError:
        assert not any(each.triples for each in left)
        return
    assert sifted == Splits(left, splits.valid, splits.test)
    assert report["dropped_train_sentences"] == len(splits.train) - len(left)
    assert report["chosen_triples"] == len(rare)


@given(SPLITS, st.integers(0, 100), st.integers(0, 3))
def test_a_sifted_sample_hides_test_triples_and_nothing_else(splits, percent, seed):
    try:
        sifted, report = sift(splits, rule="sample", percent=percent, seed=seed)
    except UserError:  # no training sentence with triples would be left
        return
    assert (sifted.valid, sifted.test) == (splits.valid, splits.test)
    kept = {each.id for each in sifted.train}
    dropped = [each for each in splits.train if each.id not in kept]
    assert [each for each in splits.train if each.id in kept] == sifted.train
    assert len(dropped) == report["dropped_train_sentences"]
    hidden = triples_of(splits.test) - triples_of(sifted.train)
    assert all(not hidden.isdisjoint(distinct_triples(each)) for each in dropped)


@given(SPLITS, st.integers(1, 2), st.integers(0, 3))
def test_held_out_relations_are_nowhere_but_in_the_test_set(splits, relations, seed):
    try:
        made, report = hold_out(splits, relations=relations, seed=seed)
    except UserError:
        return
    held_out = set(report["held_out"])
    assert len(held_out) == relations
    for before, after in ((splits.train, made.train), (splits.valid, made.valid)):
        kept = [
            each
            for each in before
            if held_out.isdisjoint(triple.relation for triple in each.triples)
        ]
        assert after == kept
    asked = [triple for each in splits.test for triple in each.triples]
    tested = [triple for each in made.test for triple in each.triples]
    assert tested == [triple for triple in asked if triple.relation in held_out]
