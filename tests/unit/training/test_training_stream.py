"""The gate of a stream, with pretended models: which sentences reach the extractor."""

from types import SimpleNamespace

import pytest

from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.training.stream import Stream, same_tokens

SCORES = {"no": 0.2, "even": 0.5, "yes": 0.7}


class Aligner(SimpleNamespace):
    def align(self, texts):
        return [SimpleNamespace(truncated=text == "yes") for text in texts]


@pytest.mark.parametrize(("threshold", "through"), [(0.5, ["yes"]), (0.4, ["even", "yes"]), (0.7, [])])
def test_only_scores_above_the_threshold_reach_the_extractor(threshold, through):
    tokenizer = SimpleNamespace(backend_tokenizer=SimpleNamespace(to_str=lambda: "{}"))
    aligner = Aligner(layout="plain", limit=9, marker_id=None, tokenizer=tokenizer)
    asked = []

    def extract(texts, batch_size, ids, known):
        asked.extend(texts)
        return [
            Sentence(id_, text, (Triple(Span(0, 1, text[0]), "r", Span(0, 1, text[0])),))
            for id_, text in zip(ids, texts, strict=True)
        ]

    gate = SimpleNamespace(aligner=aligner, decide=lambda texts, size, known: [SCORES[text] for text in texts])
    stream = Stream(SimpleNamespace(aligner=aligner, extract=extract), gate, threshold=threshold)
    found = list(stream.extract(Sentence(text, text) for text in SCORES))
    assert asked == through
    assert [(one.sentence.id, bool(one.sentence.triples), one.gate) for one in found] == [
        (text, text in through, score) for text, score in SCORES.items()
    ]
    counts = stream.account.counts
    assert (counts["sentences"], counts["let_through"], counts["triples"]) == (3, len(through), len(through))
    assert counts["cut"] == ("yes" in through)


def test_a_gate_with_other_tokens_leaves_the_extractor_its_own():
    def aligner(limit: int) -> Aligner:
        tokenizer = SimpleNamespace(backend_tokenizer=SimpleNamespace(to_str=lambda: "{}"))
        own = Aligner(layout="plain", limit=limit, marker_id=None, tokenizer=tokenizer)
        own.align = lambda texts: [SimpleNamespace(truncated=False, limit=limit) for _ in texts]
        return own

    def decide(texts, size, known):
        asked["gate"] = {text: each.limit for text, each in known.items()}
        return [SCORES[text] for text in texts]

    def extract(texts, batch_size, ids, known):
        asked["extractor"] = {text: each.limit for text, each in known.items()}
        return [Sentence(id_, text) for id_, text in zip(ids, texts, strict=True)]

    for limit, tokens in ((9, {"no": 9, "yes": 9}), (7, {"yes": 7})):
        asked: dict[str, dict[str, int]] = {}
        gate, model = SimpleNamespace(aligner=aligner(9), decide=decide), SimpleNamespace(aligner=aligner(limit))
        model.extract = extract
        list(Stream(model, gate).extract([Sentence("1", "no"), Sentence("2", "yes")]))
        assert asked == {"gate": {"no": 9, "yes": 9}, "extractor": tokens}


def test_windows_end_where_the_stream_ends_and_hold_a_batch_at_least():
    asked = []

    def extract(texts, batch_size, ids, known):
        asked.append((len(texts), batch_size))
        return [Sentence(id_, text) for id_, text in zip(ids, texts, strict=True)]

    model = SimpleNamespace(aligner=Aligner(), extract=extract)
    rows = [Sentence(str(number), f"text {number}") for number in range(7)]
    assert [one.sentence for one in Stream(model, batch_size=2, window=3).extract(rows)] == rows
    assert asked == [(3, 2), (3, 2), (1, 2)]
    asked.clear()
    list(Stream(model, batch_size=5, window=3).extract(rows))
    assert asked == [(5, 5), (2, 5)]


def test_triples_are_counted_by_relation_and_sentences_with_any_once():
    def extract(texts, batch_size, ids, known):
        span = Span(0, 1, "a")
        return [Sentence(id_, text, (Triple(span, "r", span), Triple(span, "q", span))[: len(text) - 1]) for id_, text
                in zip(ids, texts, strict=True)]  # fmt: skip

    stream = Stream(SimpleNamespace(aligner=Aligner(), extract=extract))
    list(stream.extract([Sentence("1", "a"), Sentence("2", "ab"), Sentence("3", "abc")]))
    counts = stream.account.counts
    assert (counts["sentences"], counts["with_triples"], counts["triples"]) == (3, 2, 3)
    assert stream.account.relations == {"r": 2, "q": 1}


@pytest.mark.parametrize("other", [{"layout": "markers"}, {"limit": 8}, {"marker_id": 3}, {"made": "[]"}, {}])
def test_two_models_share_tokens_if_their_aligners_make_the_same(other):
    def aligner(layout="plain", limit=9, marker_id=None, made="{}"):
        tokenizer = SimpleNamespace(backend_tokenizer=SimpleNamespace(to_str=lambda: made))
        return Aligner(layout=layout, limit=limit, marker_id=marker_id, tokenizer=tokenizer)

    assert same_tokens(aligner(), aligner(**other)) == (not other)
