"""The gate of a stream, with pretended models: which sentences reach the extractor."""

from types import SimpleNamespace

import pytest

from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.training.stream import Stream, same_tokens

SCORES = {"no": 0.2, "even": 0.5, "yes": 0.7}
SPAN = Span(0, 1, "a")


def aligner(limit=9, marker_id=None, made="{}", words="blanks"):
    tokenizer = SimpleNamespace(backend_tokenizer=SimpleNamespace(to_str=lambda: made))
    own = SimpleNamespace(limit=limit, marker_id=marker_id, words=words, tokenizer=tokenizer)
    own.aligned = lambda texts: {
        text: SimpleNamespace(truncated=text == "yes", limit=limit) for text in texts
    }
    return own


def pretended(relations="", limit=9):
    """An extractor that finds one relation less than a text has characters, and what it is
    asked.
    """
    asked = []

    def extract(texts, batch_size, ids, known):
        asked.append((texts, batch_size, {text: each.limit for text, each in known.items()}))
        triples = [
            tuple(Triple(SPAN, relation, SPAN) for relation in relations[: len(text) - 1])
            for text in texts
        ]
        return [Sentence(*each) for each in zip(ids, texts, triples, strict=True)]

    return SimpleNamespace(aligner=aligner(limit=limit), extract=extract), asked


def pretended_gate():
    asked = []

    def decide(texts, size, known):
        asked.append({text: each.limit for text, each in known.items()})
        return [SCORES[text] for text in texts]

    return SimpleNamespace(aligner=aligner(), decide=decide), asked


@pytest.mark.parametrize(
    ("threshold", "through"), [(0.5, ["yes"]), (0.4, ["even", "yes"]), (0.7, [])]
)
def test_only_scores_above_the_threshold_reach_the_extractor(threshold, through):
    model, asked = pretended("r")
    stream = Stream(model, pretended_gate()[0], threshold=threshold)
    found = list(stream.extract(Sentence(text, text) for text in SCORES))
    assert [texts for texts, *_ in asked] == [through] * bool(through)
    assert [(one.sentence.id, bool(one.sentence.triples), one.gate) for one in found] == [
        (text, text in through, score) for text, score in SCORES.items()
    ]
    counts = stream.account.counts
    assert (counts["sentences"], counts["let_through"], counts["triples"]) == (
        3,
        len(through),
        len(through),
    )
    assert counts["cut"] == ("yes" in through)


@pytest.mark.parametrize(("limit", "tokens"), [(9, {"no": 9, "yes": 9}), (7, {"yes": 7})])
def test_a_gate_with_other_tokens_leaves_the_extractor_its_own(limit, tokens):
    (model, asked), (gate, decided) = pretended(limit=limit), pretended_gate()
    list(Stream(model, gate).extract([Sentence("1", "no"), Sentence("2", "yes")]))
    assert decided == [{"no": 9, "yes": 9}] and [known for *_, known in asked] == [tokens]


@pytest.mark.parametrize(("batch_size", "sizes"), [(2, [3, 3, 1]), (5, [5, 2])])
def test_windows_end_where_the_stream_ends_and_hold_a_batch_at_least(batch_size, sizes):
    model, asked = pretended()
    rows = [Sentence(str(number), f"text {number}") for number in range(7)]
    assert [
        one.sentence for one in Stream(model, batch_size=batch_size, window=3).extract(rows)
    ] == rows
    assert [(len(texts), size) for texts, size, _ in asked] == [
        (size, batch_size) for size in sizes
    ]


def test_triples_are_counted_by_relation_and_sentences_with_any_once():
    stream = Stream(pretended("rq")[0])
    list(stream.extract([Sentence("1", "a"), Sentence("2", "ab"), Sentence("3", "abc")]))
    counts = stream.account.counts
    assert (counts["sentences"], counts["with_triples"], counts["triples"]) == (3, 2, 3)
    assert stream.account.relations == {"r": 2, "q": 1}


@pytest.mark.parametrize(
    "other", [{"limit": 8}, {"words": "marks"}, {"marker_id": 3}, {"made": "[]"}, {}]
)
def test_two_models_share_tokens_if_their_aligners_make_the_same(other):
    assert same_tokens(aligner(), aligner(**other)) == (not other)
