import json
import random
import shutil
from collections import Counter
from types import SimpleNamespace

import pytest

from support.webnlg import sentence
from tripleaudit.core.errors import UserError
from tripleaudit.protocols.augmented import train_mlm
from tripleaudit.protocols.augmented.masked_lm import MaskedLanguageModel
from tripleaudit.protocols.augmented.train_mlm import train_masked_lm
from tripleaudit.protocols.augmented.vectors import derive_vectors

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")

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
        (["the", "##the", "[unused1]", "[PAD]", ",", "1990", "zoé"], {"the", "1990", "zoé"}),
        # as RoBERTa's
        (["Ġthe", "of", "Ġzo\u00c3\u00a9", "Ġ,", "<pad>", "Ġ[unused"], {"the", "[unused"}),
        # as ALBERT's
        (["▁the", "of", "▁zoé", "▁,", "<pad>", "▁unused]"], {"the", "zoé", "unused]"}),
    ],
)
def test_whole_words_are_offered_by_the_mark_of_their_kind_of_tokenizer(tmp_path, pieces, words):
    special = ["<unknown>", "<mask>", *{"[PAD]", "<pad>"}.intersection(pieces)]
    distinct = dict.fromkeys([*special, *pieces])
    vocabulary = {piece: number for number, piece in enumerate(distinct)}
    model = tokenizers.models.WordLevel(vocabulary, unk_token="<unknown>")
    plain = tokenizers.Tokenizer(model)
    plain.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    names = dict(zip(("unk_token", "mask_token", "pad_token"), special, strict=True))
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=plain, **names)
    tokenizer.save_pretrained(tmp_path)
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1}
    config = transformers.BertConfig(vocab_size=len(vocabulary), intermediate_size=8, **sizes)
    transformers.BertForMaskedLM(config).save_pretrained(tmp_path)
    answers = MaskedLanguageModel(tmp_path).fill({"<mask>": [0]}, 99)
    assert {word for word, _ in answers["<mask>", 0]} == words


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


@pytest.fixture
def watched(monkeypatch):
    """Record ids and masked words of each batch, losses, learning rates and gradient norms."""
    from torch.optim.optimizer import register_optimizer_step_pre_hook

    seen = SimpleNamespace(batches=[], masked=[], losses=[], rates=[], norms=[])
    cross_entropy = torch.nn.functional.cross_entropy

    def record_ids(module, arguments):
        if isinstance(module, torch.nn.Embedding) and module.padding_idx is not None:
            seen.batches.append(arguments[0].tolist())

    def record_step(optimizer, *_):
        parameters = [p for group in optimizer.param_groups for p in group["params"]]
        gradients = [p.grad for p in parameters if p.grad is not None]
        seen.norms.append(torch.nn.utils.get_total_norm(gradients).item())
        seen.rates.append([group["lr"] for group in optimizer.param_groups])

    def record_loss(logits, words):
        loss = cross_entropy(logits, words) * 50  # large gradients, which are then clipped
        seen.masked.append(words.tolist())
        seen.losses.append(loss.item())
        return loss

    monkeypatch.setattr(torch.nn.functional, "cross_entropy", record_loss)
    embeddings = torch.nn.modules.module.register_module_forward_pre_hook(record_ids)
    steps = register_optimizer_step_pre_hook(record_step)
    yield seen
    embeddings.remove()
    steps.remove()


@pytest.fixture
def all_masked(monkeypatch):
    """Mask every word that is one piece."""
    monkeypatch.setattr(train_mlm, "MASK_RATE", 1 - 1e-9)


def one_piece_words(tokenizer, text: str) -> list[int]:
    """Return the ids of the words of a text that are one piece."""
    pieces = [tokenizer.tokenize(word) for word in text.split()]
    words = [word[0] for word in pieces if len(word) == 1 and word[0].isalnum()]
    return tokenizer.convert_tokens_to_ids(words)


def masked_ids(tokenizer, text: str) -> torch.Tensor:
    """Return the ids of a text with a mask for each word that is one piece, [1, length]."""
    words = one_piece_words(tokenizer, text)
    ids = tokenizer(text, return_tensors="pt")["input_ids"]
    ids[torch.isin(ids, torch.tensor(words))] = tokenizer.mask_token_id
    return ids


@pytest.mark.parametrize(("longest", "words"), [(64, "london is in england"), (4, "london is")])
def test_words_of_one_piece_are_masked_up_to_the_longest_text(
    tiny_encoder, tokenizer, tmp_path, monkeypatch, watched, all_masked, longest, words
):
    """Of four pieces two are [CLS] and [SEP]; `cupertino` has three pieces."""
    monkeypatch.setattr(train_mlm, "LONGEST", longest)
    text = sentence("london is in cupertino , england")
    train_masked_lm(tiny_encoder, [text], tmp_path, steps=1, batch_size=1)
    assert watched.masked == [tokenizer.convert_tokens_to_ids(words.split())]


def test_a_quarter_of_the_words_is_masked(tiny_encoder, tmp_path, watched):
    texts = [sentence(f"{'the ' * 100}zzqx{number}") for number in range(300)]
    train_masked_lm(tiny_encoder, texts, tmp_path, steps=1, layers=1, batch_size=294)
    assert len(watched.masked[0]) / 29_400 == pytest.approx(0.25, abs=0.01)


def test_a_batch_has_the_loss_of_its_texts_one_by_one_and_the_frequencies_of_words(
    tiny_encoder, tokenizer, tmp_path, monkeypatch, all_masked
):
    """Without learning, the saved model is the first one, whose bias is add-one frequencies."""
    monkeypatch.setattr(train_mlm, "RATE", 0)
    monkeypatch.setattr(train_mlm, "ENCODER_RATE", 0)
    texts = ["london is the capital of england .", "it rains today .", "cupertino is old"]
    report = train_masked_lm(
        tiny_encoder, [sentence(text) for text in texts], tmp_path, steps=1, batch_size=3
    )
    model = transformers.AutoModelForMaskedLM.from_pretrained(tmp_path)
    words = [word for text in texts for word in one_piece_words(tokenizer, text)]
    logits = []
    for text in texts:
        ids = masked_ids(tokenizer, text)
        logits.append(model(ids).logits[ids == tokenizer.mask_token_id])
    expected = torch.nn.functional.cross_entropy(torch.cat(logits), torch.tensor(words))
    assert report["loss"] == pytest.approx(expected.item(), abs=1e-5)
    counts = 1 + torch.bincount(torch.tensor(words), minlength=len(tokenizer))
    bias = model.get_output_embeddings().bias
    torch.testing.assert_close(bias.exp(), counts / counts.sum(), rtol=1e-4, atol=0)


def numbered(count):
    """Return texts that differ in a number of three pieces, which is never masked."""
    texts = [f"the {100 + number} engine in london is the house" for number in range(count)]
    return [sentence(text + " of england" * (number % 3)) for number, text in enumerate(texts)]


def numbers_of(batch) -> list[tuple]:
    """Return the number of each text of a batch, which follows [CLS] and `the`."""
    return [tuple(ids[2:5]) for ids in batch]


def test_a_training_goes_through_shuffled_epochs_with_a_warm_up_of_a_tenth(
    tiny_encoder, tmp_path, watched
):
    settings = {"steps": 20, "batch_size": 10, "layers": 1}
    report = train_masked_lm(tiny_encoder, numbered(102), tmp_path, **settings)
    factors = [0, 0.5, *((20 - step) / 18 for step in range(2, 20))]
    assert [pair for rates in watched.rates for pair in rates] == pytest.approx(
        [rate * factor for factor in factors for rate in (train_mlm.RATE, train_mlm.ENCODER_RATE)]
    )
    assert max(watched.norms) == pytest.approx(1, abs=1e-4)  # clipped as in BERT's code
    assert report["loss"] == pytest.approx(sum(watched.losses[-2:]) / 2)
    steps = [numbers_of(batch) for batch in watched.batches[:20]]
    assert {len(batch) for batch in steps} == {10}
    times = Counter(number for batch in steps for number in batch)
    assert len(times) == 100 and set(times.values()) == {2}  # of 102 sentences two are held out
    assert len(set(steps[0]) & set(steps[10])) < 10
    held_out = [number for batch in watched.batches[20:] for number in numbers_of(batch)]
    assert len(held_out) == 2 and not set(held_out) & set(times)


@pytest.mark.parametrize("batch_size", [1, 2, 3])
def test_the_accuracy_is_the_share_of_masked_words_of_held_out_texts_ranked_first(
    tiny_encoder, tokenizer, tmp_path, watched, all_masked, batch_size
):
    texts = numbered(150)  # of which three are held out
    settings = {"steps": 2, "batch_size": batch_size}
    report = train_masked_lm(tiny_encoder, texts, tmp_path, **settings)
    held_out = {number for batch in watched.batches[2:] for number in numbers_of(batch)}
    model = transformers.AutoModelForMaskedLM.from_pretrained(tmp_path).eval()
    correct, words = 0, 0
    for text in (each.text for each in texts):
        ids = masked_ids(tokenizer, text)
        if tuple(ids[0, 2:5].tolist()) not in held_out:
            continue
        wanted = torch.tensor(one_piece_words(tokenizer, text))
        ranked_first = model(ids).logits[ids == tokenizer.mask_token_id].argmax(dim=-1)
        correct += (ranked_first == wanted).sum().item()
        words += len(wanted)
    assert len(held_out) == 3 and 0 < correct < words
    assert report["held_out_words"] == words
    assert report["held_out_accuracy"] == pytest.approx(correct / words)
