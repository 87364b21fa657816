"""Batches for prediction and what the log says of them."""

import pytest

from support.extractors import build, toy_sentences
from tripleaudit.extractors import prediction
from tripleaudit.extractors.casrel import CasRel


def test_progress_counts_the_sentences_that_are_done(tiny_encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    reached = []
    monkeypatch.setattr(prediction.Progress, "reach", lambda self, done: reached.append((done, self.total)))
    texts = list(dict.fromkeys(sentence.text for sentence in toy_sentences()))
    batches = list(prediction.prepared(build(CasRel, tiny_encoder).eval(), texts, None, 2))
    assert [len(batch.texts) for batch in batches] == [2] * (len(texts) // 2) + [1] * (len(texts) % 2)
    assert reached == [(min(2 * number, len(texts)), len(texts)) for number in range(1, len(batches) + 1)]
