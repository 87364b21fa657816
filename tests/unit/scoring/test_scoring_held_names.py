"""Which names of training a sentence without triples holds, and what is said of it."""

import json

import numpy as np
import pytest

from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.scoring.bootstrap import rate_interval
from tripleaudit.scoring.counts import SentenceCounts, load_counts
from tripleaudit.scoring.held_names import kinds_of
from tripleaudit.scoring.rows import count_run, score_rows
from tripleaudit.scoring.scores import write_scores
from tripleaudit.tables.building import build_table
from tripleaudit.tables.loading import load_inputs


def triple(subject: str, relation: str, object_: str, types: tuple = (None, None)) -> Triple:
    return Triple(Span(None, None, subject, types[0]), relation, Span(None, None, object_, types[1]))


def train(types: tuple = (None, None)) -> list[Sentence]:
    facts = [("Ada", "works for", "Delta Foods"), ("Ben", "works for", "U.S. Steel"), ("Oslo", "is in", "Norway")]
    kinds = [types, types, ("Loc", "Loc") if types[0] else types]
    return [
        Sentence(str(n), "", (triple(*fact, kind),)) for n, (fact, kind) in enumerate(zip(facts, kinds, strict=True))
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
    more = [*train(("Peop", "Org")), Sentence("9", "", (triple("Rome", "is in", "Italy", ("Loc", "Loc")),))]
    # an object and another object of "is in": the roles say no, the types say that a relation joins two places
    assert kinds_of([Sentence("1", "Italy against Norway")], more) == ["joinable"]


def test_intervals_of_rates():
    some = np.array([[0], [1], [2], [0]] * 20)
    bound = rate_interval(some)
    assert bound.low < 0.75 < bound.high and bound.high < 1.1
    nothing = rate_interval(np.zeros((50, 1)))
    assert nothing.low == 0 and nothing.high == pytest.approx(0.0713, abs=1e-3)  # Wilson's for 0 of 50
    two = rate_interval(np.concatenate([some, 3 * some], axis=1))
    assert two.high - two.low > bound.high - bound.low
    assert rate_interval(some[:5]) is None


def test_the_table_has_false_triples_by_kind_with_the_lookup(tmp_path):
    texts = ["Ada left Delta Foods .", "Ada and U.S. Steel .", "Ada met Ben .", "It rained ."]
    gold = [Sentence(str(n), texts[n % 4]) for n in range(160)] + [Sentence("t", "Ada", (triple("Ada", "r", "b"),))]
    keys = {"study": "s", "corpus": "demo", "protocol": "original", "training": "nz", "testing": "wz", "noise": "none"}
    said = {"mine": (2, 1, 0, 0), "memorise": (1, 0, 0, 0)}
    scores, paths = [], []
    for name, sizes in said.items():
        guess = [
            Sentence(one.id, one.text, tuple(triple("A", f"r{k}", "b") for k in range(sizes[n % 4] if n < 160 else 9)))
            for n, one in enumerate(gold)
        ]
        counts = count_run(gold, guess, {**keys, "extractor": name, "seed": ""}, train())
        paths.append(tmp_path / f"{name}.csv")
        counts.save(paths[-1])
        assert list(load_counts(paths[-1]).names) == list(counts.names) and counts.names[-1] is None
        scores += score_rows(counts, replicates=0)
    again = SentenceCounts(counts.keys | {"training": "wz"}, counts.ids, counts.strata, counts.counts, (), counts.names)
    again.save(tmp_path / "again.csv")
    scores += score_rows(again, replicates=0)
    write_scores(tmp_path / "scores.csv", scores)
    took = {"failed": None, "sentences": 161, "queried": 161, "of": 161, "triples": 1, "not_in_text": 0, "seconds": 5.0}
    fact = {"keys": {**keys, "extractor": "mine", "seed": ""}, "system": "mine", "kind": "command", **took}
    (tmp_path / "systems.json").write_text(json.dumps([fact]))
    both = [*paths, tmp_path / "again.csv"]
    inputs = load_inputs(scores=[tmp_path / "scores.csv"], counts=both, runs=[tmp_path / "systems.json"])
    table = build_table("co-occurrence", inputs)
    rows = {row.label: [cell.value for cell in row.cells] for row in table.rows}
    assert rows == {"mine": [200, 100, 0, 0, 75], "Memorised triples": [100, 0, 0, 0, 25]}
    assert len(table.rows) == len(rows)
    cell = table.cell("mine", "No name")
    assert (cell.cases, cell.low) == (40, 0) and 0 < cell.high < 10
    assert (
        "mine (Demo, not trained) says 200.0 [200.0, 200.0] false triples for 100 that hold a pair seen in training"
        in (table.answer)
    )
    assert "(looking pairs up: 100.0) and 0.0 [0.0, 8.8] for 100 without a known name" in table.answer
    assert any(
        note.startswith("Test sentences: pair seen in training 40, names that relations join 40")
        for note in table.notes
    )
    assert "Memorised triples (" not in table.answer
    found = load_counts(paths[0]).counts["exact-string"]
    tempted = [(30, "200.0", "a pair seen in training"), (20, "133.3", "two names that a relation joins")]
    for seen, shown, held in tempted:
        places = [n for n in range(161) if n // 4 < (seen, 40, 40, 30)[n % 4]]  # of 40 each, and as few as suffice
        ids, names = ([known[n] for n in places] for known in (counts.ids, counts.names))
        some = {"exact-string": found[places]}
        SentenceCounts(counts.keys | {"extractor": "mine"}, ids, [None] * len(ids), some, (), names).save(paths[0])
        answer = build_table("co-occurrence", load_inputs(scores=[tmp_path / "scores.csv"], counts=paths[:1])).answer
        assert f"mine (Demo, trained NZ) says {shown} [" in answer and f"that hold {held} and" in answer
    few = SentenceCounts(
        counts.keys, counts.ids[:8], counts.strata[:8], {"exact-string": np.zeros((8, 3), int)}, (), counts.names[:8]
    )
    few.save(paths[-1])
    answer = build_table("co-occurrence", load_inputs(scores=[tmp_path / "scores.csv"], counts=paths[-1:])).answer
    assert answer.endswith("for a conclusion, which takes 30.")
