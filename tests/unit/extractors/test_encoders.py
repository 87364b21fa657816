"""Encoders of another kind than BERT: every extractor on an MPNet, and the masks that encoders
take on a GPU.
"""

import pytest
import torch
from transformers import AutoModel, AutoTokenizer, DistilBertConfig, DistilBertModel

from support.extractors import NAMES, built, save_tiny_mpnet
from tripleaudit.extractors import formulation
from tripleaudit.extractors.base import adds_masks
from tripleaudit.extractors.registry import resolve
from tripleaudit.testing import (
    build_extractor,
    check_padding_invariance,
    check_zero_triple_batch,
    save_tiny_encoder,
    toy_sentences,
    training_batch,
)
from tripleaudit.training.data import TrainingSentences


@pytest.fixture(scope="module")
def mpnet(tmp_path_factory):
    return save_tiny_mpnet(tmp_path_factory.mktemp("mpnet"))


# the classifier, and extractors that tag, fill tables, read the names of relations and generate
QUICK = ("casrel", "tplinker", "unirel", "ptrnet", "zcc-binary")


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in QUICK else pytest.mark.thorough) for name in NAMES],
)
def test_an_extractor_on_mpnet_trains_and_predicts_alike_in_both_formulations(
    mpnet, monkeypatch, name
):
    model = built(name, mpnet).double().eval()
    assert TrainingSentences(toy_sentences(), model).counts["lost_triples"] == 0
    expected = model(**(tight := training_batch(model, toy_sentences()))).loss
    assert tight["input_ids"][0, 0] == 0 and 2 in tight["input_ids"][0]
    monkeypatch.setenv(formulation.VARIABLE, "device")
    static = training_batch(model, toy_sentences(), static=len(toy_sentences()) + 2)
    assert static["input_ids"][-1].tolist() == [1] * static["input_ids"].shape[1]
    schedule = {
        key: torch.tensor(value, dtype=torch.float64) for key, value in model.schedule(0).items()
    }
    torch.testing.assert_close(model(**static, **schedule).loss, expected, rtol=1e-9, atol=0)
    monkeypatch.delenv(formulation.VARIABLE)
    if model.kind == "extractor":
        check_zero_triple_batch(model.train())
        check_padding_invariance(model)
        assert model.extract(["", "london"])[0].triples == ()


def test_an_encoder_without_a_pooler_gets_one_and_one_of_unknown_inner_width_four_times_its_width(
    tiny_encoder, tmp_path
):
    tokenizer = AutoTokenizer.from_pretrained(tiny_encoder)
    tokenizer.save_pretrained(tmp_path)
    config = DistilBertConfig(
        vocab_size=len(tokenizer), dim=32, n_layers=1, n_heads=2, hidden_dim=48
    )
    DistilBertModel(config).save_pretrained(tmp_path)
    birte, grte = (build_extractor(resolve(name)[0], tmp_path).eval() for name in ("birte", "grte"))
    assert birte(**training_batch(birte, toy_sentences())).loss > 0
    birte.extract(["tim cook leads apple ."])
    assert getattr(grte.config.encoder, "intermediate_size", None) is None
    assert grte.refine.widen.out_features == 4 * 32


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
def test_masks_for_pairs_hide_the_same_tokens_as_masks_for_tokens(
    tmp_path, mpnet, monkeypatch, attention
):
    bert = save_tiny_encoder(tmp_path / "bert")
    for folder in (bert, mpnet) if attention == "eager" else (bert,):
        kind, _ = resolve("casrel")
        encoder = AutoModel.from_pretrained(folder, attn_implementation=attention)
        assert adds_masks(encoder) == (attention == "eager")
        model = build_extractor(kind, folder).eval()
        model.encoder = encoder.eval()
        ids = torch.randint(4, 60, (3, 9))
        mask = (torch.arange(9) < torch.tensor([[9], [4], [1]])).long()
        monkeypatch.delenv(formulation.VARIABLE, raising=False)
        expected = model.encode(ids, mask)
        monkeypatch.setenv(formulation.VARIABLE, "device")
        found = model.encode(ids, mask)
        torch.testing.assert_close(found[mask.bool()], expected[mask.bool()], rtol=1e-5, atol=1e-5)


def test_a_dummy_sentence_sees_one_of_its_tokens(tmp_path, monkeypatch):
    """Not every kernel makes numbers of a row without any key."""
    model = build_extractor(resolve("casrel")[0], save_tiny_encoder(tmp_path)).eval()
    seen = []
    model.encoder.register_forward_pre_hook(
        lambda _, __, given: seen.append(given["attention_mask"]), with_kwargs=True
    )
    monkeypatch.setenv(formulation.VARIABLE, "device")
    model.encode(torch.tensor([[4, 5, 0], [0, 0, 0]]), torch.tensor([[1, 1, 0], [0, 0, 0]]))
    (mask,) = seen  # [B, 1, L, L]
    assert mask[:, 0, 0].tolist() == [[True, True, False], [True, False, False]]
    assert torch.equal(mask, mask[:, :, :1].expand(-1, 1, 3, 3))
