"""Predictions in the device's formulation equal the CPU's; batches of texts, and memory that
does not suffice.
"""

import pytest
import torch
import torch.nn.functional as F

from support.extractors import built
from tripleaudit.extractors import formulation, prediction
from tripleaudit.extractors.grte import Attention
from tripleaudit.extractors.registry import extractor_class, extractor_names
from tripleaudit.extractors.tplinker import TPLinker
from tripleaudit.testing import build_extractor, toy_sentences

# those that decode by subject, by table and by generated triple; make test-thorough has all
QUICK = ("casrel", "tplinker", "ptrnet")
EXTRACTORS = [
    pytest.param(name, marks=() if name in QUICK else pytest.mark.thorough)
    for name in extractor_names()
]


def same(found, expected) -> None:
    """Two lists of predicted sentences have the same triples, with the same scores but for
    rounding.
    """
    assert [each.id for each in found] == [each.id for each in expected]
    for one, two in zip(found, expected, strict=True):
        scores = [
            {(t.subject, t.relation, t.object): t.score for t in each.triples}
            for each in (one, two)
        ]
        assert scores[0].keys() == scores[1].keys()
        assert scores[0] == pytest.approx(scores[1], rel=1e-6)


@pytest.mark.parametrize("name", EXTRACTORS)
def test_large_batches_predict_the_same(tiny_encoder, monkeypatch, name):
    """Tokenised and finished while the device computes, in batches by tokens; equal texts once;
    one text is cut.
    """
    texts = [each.text for each in toy_sentences()] * 2 + ["it rains", "", "today " * 200]
    for prior in (0.4, 0.5, 0.6, 0.8):  # until the untrained model finds something
        settings = {"prior": prior} if extractor_class(name).settings.sparse_outputs else {}
        model = built(name, tiny_encoder, **settings).double().eval()
        expected = model.extract(texts, 3)
        if any(each.triples for each in expected):
            break
    else:
        pytest.fail("nothing to compare")
    monkeypatch.setenv(formulation.VARIABLE, "device")
    monkeypatch.setattr(prediction, "ALIGN_AT_ONCE", 4)
    monkeypatch.setattr(prediction, "TOKENS_AT_ONCE", 60)
    same(model.extract(texts), expected)
    known = dict(zip(texts, model.aligner.align(texts), strict=True))
    same(model.extract(texts, alignments=known), expected)
    monkeypatch.setattr(type(model), "predict_rows", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        model.extract(texts)


def test_batches_of_a_prediction_hold_as_many_sentences_of_like_length_as_fit(
    tiny_encoder, monkeypatch
):
    model = build_extractor(TPLinker, tiny_encoder).eval()
    counts = enumerate((1, 9, 2, 30, 3, 8, 2, 7, 50, 4, 1, 6, 5, 12))
    # many characters are not many tokens
    texts = [
        " ".join([("london", ".")[number % 2]] * words) + f" {number}" for number, words in counts
    ]
    monkeypatch.setenv(formulation.VARIABLE, "device")
    monkeypatch.setattr(prediction, "ALIGN_AT_ONCE", 5)
    monkeypatch.setattr(prediction, "TOKENS_AT_ONCE", 40)
    for some in (texts[:10], texts):  # whether or not portions come out even
        batches = list(prediction.prepared(model, some, None, 1))
        assert sorted(text for batch in batches for text in batch.texts) == sorted(some)
    lengths = [[len(each) for each in batch.alignments] for batch in batches]
    assert all(own == sorted(own, reverse=True) for own in lengths)
    assert all(len(own) * own[0] <= 40 or len(own) == 1 for own in lengths)
    # a further sentence would not have fitted, but for the last batch
    assert all((len(own) + 1) * own[0] > 40 for own in lengths[:-1])
    monkeypatch.setattr(
        prediction, "cells_at_once", lambda _: 30 * prediction.NUMBERS_PER_TOKEN * model.hidden_size
    )
    lengths = [
        [len(each) for each in batch.alignments]
        for batch in prediction.prepared(model, texts, None, 1)
    ]
    assert (
        all(len(own) * own[0] <= 30 or len(own) == 1 for own in lengths)
        and max(map(len, lengths)) > 1
    )


@pytest.mark.parametrize("name", ["casrel", "zcc-binary"])
def test_a_batch_beyond_memory_is_halved_on_a_gpu_alone(tiny_encoder, monkeypatch, name):
    model = built(name, tiny_encoder).double().eval()
    texts = [each.text for each in toy_sentences()]
    predict = model.decide if model.kind == "classifier" else model.extract
    expected, encode, sizes = predict(texts), model.encoded, []

    def cramped(input_ids, attention_mask):
        sizes.append(len(input_ids))
        if len(input_ids) > 3:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return encode(input_ids, attention_mask)

    monkeypatch.setattr(model, "encoded", cramped)
    with pytest.raises(torch.OutOfMemoryError):
        predict(texts)
    monkeypatch.setenv(formulation.VARIABLE, "device")
    sizes.clear()
    if model.kind == "classifier":
        assert predict(texts) == pytest.approx(expected, rel=1e-6)
    else:
        same(predict(texts), expected)
    assert sizes == [8, 4, 2, 2, 4, 2, 2]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_attention_is_exact_and_finite_where_no_key_is_allowed(monkeypatch, dtype):
    """Kernels differ in what they make of a row without a key, so none gets one; half precision
    ends before them.
    """
    calls, attend = [], F.scaled_dot_product_attention

    def watched(query, key, value, attn_mask, dropout_p):
        calls.append((query.dtype, bool(attn_mask.any(dim=-1).all())))
        return attend(query, key, value, attn_mask=attn_mask, dropout_p=dropout_p)

    monkeypatch.setattr(F, "scaled_dot_product_attention", watched)
    torch.manual_seed(0)
    attention = Attention(16, 4, 0.0)
    x = torch.randn(3, 5, 16, requires_grad=True)
    mask = torch.ones(3, 5, dtype=torch.bool)
    mask[1] = False
    mask[2, 3:] = False
    with torch.autocast("cpu", torch.bfloat16, enabled=dtype is torch.bfloat16):
        result = attention(x.to(dtype), x.to(dtype), mask)
        alone = attention(x[2:, :3].to(dtype), x[2:, :3].to(dtype), mask[2:, :3])
    assert calls == [(torch.float32, True)] * 2
    torch.testing.assert_close(result[2:, :3], alone)
    result.square().sum().backward()
    for values in (result, x.grad, *(each.grad for each in attention.parameters())):
        assert values.dtype == torch.float32
        assert torch.isfinite(values).all()


def test_a_cpu_reads_the_longest_texts_first_in_batches_of_the_size_and_counts_them(
    tiny_encoder, monkeypatch
):
    model, counted = build_extractor(TPLinker, tiny_encoder).eval(), []
    monkeypatch.setattr(
        prediction.Progress, "add", lambda self, number: counted.append((number, self.total))
    )
    texts = ["london " * words + "." for words in (3, 9, 1, 7, 5)]
    batches = [batch.texts for batch in prediction.prepared(model, texts, None, 2)]
    assert [len(batch) for batch in batches] == [2, 2, 1] and counted == [(2, 5), (2, 5), (1, 5)]
    assert [text for batch in batches for text in batch] == sorted(texts, key=len, reverse=True)


@pytest.mark.parametrize("device", ["cuda", "cpu"])
def test_two_texts_beyond_memory_are_halved_and_a_gpu_frees_what_it_keeps(monkeypatch, device):
    freed = []
    monkeypatch.setenv(formulation.VARIABLE, "device")
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: freed.append(1))
    monkeypatch.setattr(prediction.Prepared, "on", lambda self, _: {"count": len(self.texts)})

    def predict(tensors):
        if tensors["count"] > 1:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return tensors["count"]

    batch = prediction.Prepared(["a", "b", "c"], [1, 2, 3], {"numbers": torch.arange(3)})
    found = list(prediction.within_memory(batch, torch.device(device), predict))
    assert [(own.texts, own.alignments, own.tensors["numbers"].tolist()) for own, _ in found] == [
        (["a"], [1], [0]), (["b"], [2], [1]), (["c"], [3], [2])
    ]  # fmt: skip
    assert len(freed) == (2 if device == "cuda" else 0)
