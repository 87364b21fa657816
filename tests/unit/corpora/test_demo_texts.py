"""Patterns of the demo world."""

import random

import pytest

from generator import RELATIONS, SCHEMA, SEED, Fact, World
from generator.compose import EPO, PATTERNS, pair
from generator.templates import Draft, expand
from generator.zero import HARD, OTHER, SHARES, ZeroWriter


@pytest.fixture(scope="module")
def world():
    return World(SEED)


def test_expand_resolves_nested_choices():
    found = {expand("<CITY> a[ (b|c)] (d|e[f])", random.Random(seed)) for seed in range(200)}
    assert found == {"a d", "a e", "a ef", "a b d", "a b e", "a b ef", "a c d", "a c e", "a c ef"}


@pytest.mark.parametrize("relation", RELATIONS)
def test_every_relation_has_patterns_that_name_both_arguments(relation):
    patterns = PATTERNS[relation]
    assert len(patterns["full"]) >= 6
    for template in patterns["full"]:
        assert template.count("{s}") == 1
        assert template.count("{o}") == 1
    for key, slot in (("vs", "{o}"), ("ms", "{o}"), ("vo", "{s}"), ("mo", "{s}")):
        assert all(template.count(slot) == 1 for template in patterns[key])
    orders = {template.index("{s}") < template.index("{o}") for template in patterns["full"]}
    assert (
        orders == {True, False} or relation == "spouse_of"
    )  # symmetric: the first mention is the subject


def test_two_relations_of_one_pair_in_one_sentence(world):
    for (first, second), templates in EPO.items():
        for seed in range(len(templates) * 3):
            draft = Draft(world, random.Random(seed))
            assert pair(
                draft, Fact("Ada Lund", first, "Brelin"), Fact("Ada Lund", second, "Brelin")
            )
            sentence = draft.finish("x")
            assert not list(sentence.problems())
            assert {triple.relation for triple in sentence.triples} == {first, second}


def test_zero_writer_states_nothing_and_covers_all_categories(world):
    weights = dict.fromkeys((fact for fact in world.facts if fact.relation in SCHEMA), 1.0)
    writer = ZeroWriter(world, weights, world.facts)
    for category in SHARES:
        for seed in range(40):
            name, draft = writer.write(random.Random(seed), category)
            assert name == category
            assert draft.finish("x").triples == ()
            assert len(draft.names) == (
                2 if category in (*HARD, OTHER) else 1 if category == "single" else 0
            )
