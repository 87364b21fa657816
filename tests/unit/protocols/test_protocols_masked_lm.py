import json
import random
import shutil
from collections import Counter
from types import SimpleNamespace

import pytest

from support.webnlg import sentence
from tripleaudit.core.errors import UserError
from tripleaudit.protocols.augmented import train_mlm
from tripleaudit.protocols.augmented.masked_lm import MaskedLanguageModel, _whole_words
from tripleaudit.protocols.augmented.train_mlm import train_masked_lm
from tripleaudit.protocols.augmented.vectors import derive_vectors

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

TEXTS = [
    "ada lovelace wrote notes on the engine .",
    "london is the capital of england .",
    "it rains today .",
] * 2
TRAIN = [sentence(f"{text} {number}") for number, text in enumerate(TEXTS)]


@pytest.fixture(scope="module")
def trained(tiny_encoder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("mlm")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(train_mlm, "RATE", 0.02)
        patch.setattr(train_mlm, "ENCODER_RATE", 0.01)
        return folder, train_masked_lm(tiny_encoder, TRAIN, folder, steps=60, batch_size=6)


def test_training_learns_the_text_and_saves_safetensors_alone(trained):
    folder, report = trained
    assert report["steps"] == 60 and report["loss"] < 2
    assert (folder / "model.safetensors").is_file()
    assert not list(folder.glob("*.bin"))
    model = MaskedLanguageModel(folder)
    answers = model.fill({"london is the [MASK] of england . 1": [0]}, 3)
    assert answers["london is the [MASK] of england . 1", 0][0][0] == "capital"


def test_words_in_held_out_texts_alone_are_an_error_and_no_training_without_end(
    tiny_encoder, tmp_path
):
    texts = [f"zzqx{number} qqzz{number}" for number in range(50)]
    shuffled = list(range(50))
    random.Random(0).shuffle(shuffled)
    texts[shuffled[0]] = (
        "london is the capital of england ."  # of 50 texts one is held out, the first
    )
    with pytest.raises(UserError, match="no word that the tokenizer has as one piece"):
        train_masked_lm(tiny_encoder, [sentence(text) for text in texts], tmp_path, steps=1)


def test_equal_seeds_give_equal_weights(tiny_encoder, tmp_path):
    sums = []
    for seed, name in ((1, "a"), (1, "b"), (2, "c")):
        out = tmp_path / name / "model"  # in a folder that is not there yet
        train_masked_lm(tiny_encoder, TRAIN, out, steps=3, batch_size=4, seed=seed)
        model = transformers.AutoModelForMaskedLM.from_pretrained(out)
        sums.append(torch.cat([parameter.flatten() for parameter in model.parameters()]))
    assert torch.equal(sums[0], sums[1])
    assert not torch.equal(sums[0], sums[2])


def test_layers_can_be_left_out(tiny_encoder, tmp_path):
    train_masked_lm(tiny_encoder, TRAIN, tmp_path, steps=2, layers=1)
    old = transformers.AutoModelForMaskedLM.from_pretrained(tiny_encoder).base_model.state_dict()
    new = transformers.AutoModelForMaskedLM.from_pretrained(tmp_path).base_model.state_dict()
    assert 0 < len(new) < len(old)


def test_masks_are_answered_as_by_the_plain_model_whatever_the_batch(trained):
    folder, _ = trained
    queries = {
        "ada [MASK] wrote [MASK] on the engine .": [0, 1],
        "[MASK] rains": [0],
        "the capital of england is an old house and stands near the [MASK] .": [0],
    }
    answers = [MaskedLanguageModel(folder, batch_size=size).fill(queries, 400) for size in (1, 8)]
    tokenizer, plain = (
        transformers.AutoTokenizer.from_pretrained(folder),
        transformers.AutoModelForMaskedLM.from_pretrained(folder).eval(),
    )
    assert (
        answers[0].keys()
        == answers[1].keys()
        == {(text, number) for text in queries for number in queries[text]}
    )
    for (text, number), ranked in answers[0].items():
        inputs = tokenizer(text, return_tensors="pt")
        place = (inputs["input_ids"][0] == tokenizer.mask_token_id).nonzero()[number, 0]
        with torch.no_grad():
            expected = plain(**inputs).logits[0, place].log_softmax(-1)
        again = dict(answers[1][text, number])
        assert set(again) == set(dict(ranked))
        for word, score in ranked:
            assert score == pytest.approx(
                expected[tokenizer.convert_tokens_to_ids(word)].item(), abs=1e-4
            )
            assert score == pytest.approx(again[word], abs=1e-4)
        scores = [score for _, score in ranked]
        assert scores == sorted(scores, reverse=True)
        assert all(word[0].isalnum() and not word.startswith("##") for word, _ in ranked)


def test_only_words_of_one_piece_count_as_such(trained):
    model = MaskedLanguageModel(trained[0])
    assert model.is_single_piece("London") and not model.cased
    assert not model.is_single_piece("Cupertino")
    assert not model.is_single_piece("ß")  # unknown to the vocabulary


def test_a_mask_beyond_the_length_limit_has_no_answer(trained):
    text = "the " * 300 + "[MASK]"
    assert MaskedLanguageModel(trained[0]).fill({text: [0], "a [MASK]": [0]}, 2).keys() == {
        ("a [MASK]", 0)
    }


def test_a_model_without_mask_token_is_refused(trained, tmp_path):
    shutil.copytree(trained[0], tmp_path, dirs_exist_ok=True)
    settings = json.loads((tmp_path / "tokenizer_config.json").read_text())
    settings["mask_token"] = None
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    (tmp_path / "special_tokens_map.json").unlink(missing_ok=True)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert tokenizer.mask_token is None
    with pytest.raises(UserError, match="the tokenizer has no mask token"):
        MaskedLanguageModel(tmp_path)
    with pytest.raises(UserError, match="the tokenizer has no mask token"):
        train_masked_lm(tmp_path, TRAIN, tmp_path / "out")


@pytest.mark.parametrize("kind", ["masks", "training", "vectors"])
def test_weights_in_pickles_are_not_loaded(trained, tmp_path, kind):
    shutil.copytree(trained[0], tmp_path, dirs_exist_ok=True)
    model = transformers.AutoModelForMaskedLM.from_pretrained(tmp_path)
    torch.save(model.state_dict(), tmp_path / "pytorch_model.bin")
    (tmp_path / "model.safetensors").unlink()
    use = {
        "masks": lambda: MaskedLanguageModel(tmp_path),
        "training": lambda: train_masked_lm(tmp_path, TRAIN, tmp_path / "out", steps=1),
        "vectors": lambda: derive_vectors(tmp_path, TRAIN),
    }[kind]
    with pytest.raises((UserError, OSError), match="safetensors"):
        use()


def test_trainings_that_name_no_numbers_keep_theirs():
    """Another default would be another model of all who name none."""
    assert train_masked_lm.__kwdefaults__ == {
        "steps": 300,
        "layers": None,
        "batch_size": 16,
        "seed": 0,
    }
    assert (train_mlm.RATE, train_mlm.ENCODER_RATE, train_mlm.MASK_RATE, train_mlm.LONGEST) == (
        2e-3,
        2e-4,
        0.25,
        128,
    )


def test_folders_that_hold_no_usable_model_are_refused(tiny_encoder, tmp_path):
    with pytest.raises(
        UserError, match="no trained masked-LM head .* expected one made by 'tripleaudit train-mlm'"
    ):
        MaskedLanguageModel(tiny_encoder)
    with pytest.raises(UserError, match="expected the folder of a masked language model"):
        MaskedLanguageModel(tmp_path / "nothing")
    with pytest.raises(UserError, match="expected the folder of an encoder"):
        train_masked_lm(tmp_path, TRAIN, tmp_path / "out")
    for layers in (0, 9):
        with pytest.raises(UserError, match=f"layers is {layers}, expected 1 to 2"):
            train_masked_lm(tiny_encoder, TRAIN, tmp_path, layers=layers)


def test_a_training_set_without_text_or_single_piece_words_is_refused(tiny_encoder, tmp_path):
    with pytest.raises(UserError, match="has no text"):
        train_masked_lm(tiny_encoder, [sentence(" ")], tmp_path)
    with pytest.raises(UserError, match="no word that the tokenizer has as one piece"):
        train_masked_lm(tiny_encoder, [sentence("... !!")], tmp_path)


@pytest.mark.parametrize(
    ("pieces", "words"),
    [
        (["the", "##the", "[unused1]", "[PAD]", ",", "1990", "zoé"], ["the", "1990", "zoé"]),
        (
            ["Ġthe", "the", "Ġzo\u00c3\u00a9", "Ġ,", "<pad>", "Ġ[unused"],
            ["the", "[unused"],
        ),  # as RoBERTa's
        (
            ["▁the", "the", "▁zoé", "▁,", "<pad>", "▁unused]"],
            ["the", "zoé", "unused]"],
        ),  # as ALBERT's
    ],
)
def test_whole_words_are_recognised_by_the_mark_of_their_kind_of_tokenizer(pieces, words):
    tokens = {piece: 10 + place for place, piece in enumerate(pieces)}
    tokenizer = SimpleNamespace(get_vocab=lambda: tokens, all_special_tokens=["[PAD]", "<pad>"])
    whole = _whole_words(tokenizer)
    assert list(whole.values()) == words
    assert all(pieces[token - 10].lstrip("Ġ▁") == word for token, word in whole.items())


def test_a_model_that_takes_longer_texts_is_given_512_pieces(trained, tmp_path):
    sizes = {
        "hidden_size": 8,
        "num_hidden_layers": 1,
        "num_attention_heads": 1,
        "intermediate_size": 8,
    }
    tokenizer = transformers.AutoTokenizer.from_pretrained(trained[0], model_max_length=600)
    config = transformers.BertConfig(
        vocab_size=len(tokenizer), max_position_embeddings=600, **sizes
    )
    transformers.BertForMaskedLM(config).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    model = MaskedLanguageModel(tmp_path)
    texts = [
        "the " * words + "[MASK]" for words in (509, 510)
    ]  # with [CLS] and [SEP] 512 and 513 pieces
    assert model.fill({text: [0] for text in texts}, 1).keys() == {(texts[0], 0)}


@pytest.fixture
def tokenizer(tiny_encoder):
    return transformers.AutoTokenizer.from_pretrained(tiny_encoder)


def test_words_of_one_piece_have_their_positions(tokenizer):
    ids, single = train_mlm._encode(tokenizer, "london is in cupertino , england", 64)
    assert [tokenizer.convert_ids_to_tokens(ids[place]) for place in single] == [
        "london",
        "is",
        "in",
        "england",
    ]
    cut, single = train_mlm._encode(tokenizer, "london is in cupertino , england", 4)
    assert (len(cut), single) == (4, [1, 2])  # [CLS] london is [SEP]


def test_a_batch_of_masks_by_hand(tokenizer, monkeypatch):
    many = train_mlm._mask([([5] * 40_000, list(range(40_000)))], tokenizer, random.Random(0))
    assert (many["labels"] == 5).float().mean().item() == pytest.approx(0.25, abs=0.01)
    monkeypatch.setattr(train_mlm, "MASK_RATE", 1.0)
    samples = [([5, 7, 8, 9], [1, 3]), ([5, 6], [1])]
    batch = train_mlm._mask(samples, tokenizer, random.Random(0))
    mask, pad = tokenizer.mask_token_id, tokenizer.pad_token_id
    assert batch["input_ids"].tolist() == [[5, mask, 8, mask], [5, mask, pad, pad]]
    assert batch["attention_mask"].tolist() == [[1, 1, 1, 1], [1, 1, 0, 0]]
    assert batch["labels"].tolist() == [
        [-100, 7, -100, 9],
        [-100, 6, -100, -100],
    ]  # -100: what PyTorch's losses ignore


def test_a_new_head_starts_from_the_frequencies_of_pieces():
    """Add-one: of four pieces in a vocabulary of three, 1 + 1, 1 + 0 and 1 + 3 of seven."""
    head = torch.nn.Linear(2, 3)
    model = SimpleNamespace(get_output_embeddings=lambda: head)
    train_mlm._start_from_frequencies(model, [([2, 0, 1], [0, 1]), ([2, 2], [0, 1])])
    assert head.bias.exp().tolist() == pytest.approx([2 / 7, 1 / 7, 4 / 7])


@pytest.fixture
def watched(monkeypatch):
    """What a training does: sentences and rates of its steps, losses, norms of the gradients."""
    seen = SimpleNamespace(batches=[], rates=[], losses=[], norms=[])
    optimizer, mask, loss = train_mlm._optimizer, train_mlm._mask, torch.nn.functional.cross_entropy

    def noted(made, *_):
        groups = made.param_groups
        gradients = [
            own.grad for group in groups for own in group["params"] if own.grad is not None
        ]
        seen.norms.append(torch.stack([gradient.norm() for gradient in gradients]).norm().item())
        seen.rates.append([group["lr"] for group in groups])

    def noted_optimizer(model):
        made = optimizer(model)
        made.register_step_pre_hook(noted)
        return made

    def noted_loss(*arguments):
        found = loss(*arguments) * 50  # large gradients, so that the bound holds
        seen.losses.append(found.item())
        return found

    def noted_mask(samples, *arguments):
        seen.batches.append([tuple(ids) for ids, _ in samples])
        return mask(samples, *arguments)

    monkeypatch.setattr(train_mlm, "_optimizer", noted_optimizer)
    monkeypatch.setattr(torch.nn.functional, "cross_entropy", noted_loss)
    monkeypatch.setattr(train_mlm, "_mask", noted_mask)
    return seen


def numbered(count):
    return [
        sentence(f"the {number} engine in london is the house of england")
        for number in range(count)
    ]


def test_a_training_goes_through_shuffled_epochs_with_a_warm_up_of_a_tenth(
    tiny_encoder, tmp_path, watched
):
    settings = {"steps": 20, "batch_size": 10, "layers": 1}
    report = train_masked_lm(tiny_encoder, numbered(102), tmp_path, **settings)
    factors = [0, 0.5, *((20 - step) / 18 for step in range(2, 20))]
    assert [pair for rates in watched.rates for pair in rates] == pytest.approx(
        [rate * factor for factor in factors for rate in (train_mlm.RATE, train_mlm.ENCODER_RATE)]
    )
    assert max(watched.norms) == pytest.approx(1, abs=1e-4)  # bounded as in BERT's code
    assert report["loss"] == pytest.approx(sum(watched.losses[-2:]) / 2)
    steps = watched.batches[:20]
    assert {len(batch) for batch in steps} == {10}
    picked = Counter(ids for batch in steps for ids in batch)
    assert len(picked) == 100 and set(picked.values()) == {2}  # of 102 sentences two are held out
    assert len(set(steps[0]) & set(steps[10])) < 10
    held_out = [ids for batch in watched.batches[20:] for ids in batch]
    assert len(held_out) == 2 and not set(held_out) & set(picked)


def test_the_accuracy_is_the_share_of_masked_words_ranked_first(tokenizer, monkeypatch):
    samples = [([5, 7, 8], [1, 2]), ([5, 6, 7, 7], [1, 2, 3]), ([5], [])]

    def predicted(model, batch):
        wanted = batch["labels"][batch["labels"] != -100]
        return torch.nn.functional.one_hot(torch.full(wanted.shape, 7), 12).float(), wanted

    monkeypatch.setattr(train_mlm, "_predicted", predicted)
    monkeypatch.setattr(train_mlm, "MASK_RATE", 1 - 1e-9)
    model = SimpleNamespace(device=torch.device("cpu"))
    for size in (1, 2, 3):  # all words are masked: 7, 8, 6, 7 and 7
        assert train_mlm._accuracy(model, samples, tokenizer, size, random.Random(0)) == (5, 3)
