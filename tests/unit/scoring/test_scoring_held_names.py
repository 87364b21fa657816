"""Which names of training a sentence without triples holds, and what is said of it."""

from dataclasses import replace

import numpy as np
import pytest

from support.scored import tables_of, told
from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.scoring.bootstrap import rate_interval
from tripleaudit.scoring.counts import SentenceCounts, load_counts
from tripleaudit.scoring.held_names import kinds_of
from tripleaudit.scoring.rows import count_run
from tripleaudit.tables.building import build_table


def triple(subject: str, relation: str, object_: str, types: tuple = (None, None)) -> Triple:
    return Triple(
        Span(None, None, subject, types[0]), relation, Span(None, None, object_, types[1])
    )


def train(types: tuple = (None, None)) -> list[Sentence]:
    facts = [
        ("Ada", "works for", "Delta Foods"),
        ("Ben", "works for", "U.S. Steel"),
        ("Oslo", "is in", "Norway"),
    ]
    kinds = [types, types, ("Loc", "Loc") if types[0] else types]
    return [
        Sentence("", "", (triple(*fact, kind),)) for fact, kind in zip(facts, kinds, strict=True)
    ]


@pytest.mark.parametrize("types", [(None, None), ("Peop", "Org")])
def test_each_kind_of_sentence_is_recognised_by_its_names(types):
    texts = {
        "Ada left (Delta Foods) .": "seen_pair",
        "Delta Foods hired Ada .": "seen_pair",  # in any order
        "Ada and U.S. Steel .": "joinable",
        "Ada met Ben .": "names",  # both are subjects
        "Ada in Oslo": "names",
        "Adam left Delta Foodstuff": "none",  # parts of words are no names
        "It rained .": "none",
    }
    found = kinds_of([Sentence(str(n), text) for n, text in enumerate(texts)], train(types))
    assert dict(zip(texts, found, strict=True)) == texts
    with_triples = Sentence("x", "Ada left Delta Foods .", (triple("Ada", "r", "x"),))
    assert kinds_of([with_triples], train()) == [None]


def test_types_join_what_roles_do_not():
    sentences = [Sentence("1", "Norway against Oslo Town and Oslo")]
    assert kinds_of(sentences, train()) == ["seen_pair"]
    more = [
        *train(("Peop", "Org")),
        Sentence("9", "", (triple("Rome", "is in", "Italy", ("Loc", "Loc")),)),
    ]
    # an object and another object of "is in": the roles say no, the types say that a relation joins
    # two places
    assert kinds_of([Sentence("1", "Italy against Norway")], more) == ["joinable"]


def test_intervals_of_rates():
    some = np.array([[0], [1], [2], [0]] * 20)
    bound = rate_interval(some)
    assert bound.low < 0.75 < bound.high and bound.high < 1.1
    nothing = rate_interval(np.zeros((50, 1)))
    assert nothing.low == 0 and nothing.high == pytest.approx(
        0.0713, abs=1e-3
    )  # Wilson's for 0 of 50
    two = rate_interval(np.concatenate([some, 3 * some], axis=1))
    assert two.high - two.low > bound.high - bound.low
    assert rate_interval(some[:5]) is None


def test_the_table_has_false_triples_by_kind_with_the_lookup(tmp_path, kept):
    texts = ["Ada left Delta Foods .", "Ada and U.S. Steel .", "Ada met Ben .", "It rained ."]
    gold = [Sentence(str(n), texts[n % 4]) for n in range(160)] + [
        Sentence("t", "Ada", (triple("Ada", "r", "b"),))
    ]
    keys = {
        "study": "s",
        "corpus": "demo",
        "protocol": "original",
        "training": "nz",
        "testing": "wz",
        "noise": "none",
    }

    def counted(extractor: str, *sizes: int) -> SentenceCounts:
        said = [
            tuple(triple("A", f"r{k}", "b") for k in range(sizes[n % 4] if n < 160 else 9))
            for n in range(161)
        ]
        guess = [replace(one, triples=triples) for one, triples in zip(gold, said, strict=True)]
        return count_run(gold, guess, {**keys, "extractor": extractor, "seed": ""}, train())

    mine, lookup = counted("mine", 2, 1, 0, 0), counted("memorise", 1, 0, 0, 0)
    again = replace(lookup, keys=lookup.keys | {"training": "wz"})
    took = {
        "failed": None,
        "sentences": 161,
        "queried": 161,
        "of": 161,
        "triples": 1,
        "not_in_text": 0,
        "seconds": 5.0,
    }
    table = build_table(
        "co-occurrence",
        tables_of(
            tmp_path,
            [mine, lookup, again],
            [{"keys": mine.keys, "system": "mine", "kind": "command", **took}],
        ),
    )
    assert (
        list(load_counts(tmp_path / "0.csv").names) == list(mine.names) and mine.names[-1] is None
    )
    kept("tables/co-occurrence.md", told(table))
