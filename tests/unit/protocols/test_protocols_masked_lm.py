import json

import pytest

from support.webnlg import sentence
from tripleaudit.errors import UserError
from tripleaudit.protocols.augmented.masked_lm import MaskedLanguageModel
from tripleaudit.protocols.augmented.train_mlm import MaskedLm, train_masked_lm

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

TEXTS = ["ada lovelace wrote notes on the engine .", "london is the capital of england .", "it rains today ."] * 2
TRAIN = [sentence(f"{text} {number}") for number, text in enumerate(TEXTS)]


@pytest.fixture(scope="module")
def trained(tiny_encoder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("mlm")
    rates = {"learning_rate": 0.02, "encoder_learning_rate": 0.01}
    report = train_masked_lm(tiny_encoder, TRAIN, folder, MaskedLm(steps=60, batch_size=6, **rates))
    return folder, report


def test_training_learns_the_text_and_saves_safetensors_alone(trained):
    folder, report = trained
    assert report["steps"] == 60 and report["loss"] < 2
    assert (folder / "model.safetensors").is_file()
    assert not list(folder.glob("*.bin"))
    model = MaskedLanguageModel(folder)
    answers = model.fill({"london is the [MASK] of england . 1": [0]}, 3)
    assert answers["london is the [MASK] of england . 1", 0][0][0] == "capital"


def test_equal_seeds_give_equal_weights(tiny_encoder, tmp_path):
    sums = []
    for seed, name in ((1, "a"), (1, "b"), (2, "c")):
        train_masked_lm(tiny_encoder, TRAIN, tmp_path / name, MaskedLm(steps=3, batch_size=4, seed=seed))
        model = transformers.AutoModelForMaskedLM.from_pretrained(tmp_path / name)
        sums.append(torch.cat([parameter.flatten() for parameter in model.parameters()]))
    assert torch.equal(sums[0], sums[1])
    assert not torch.equal(sums[0], sums[2])


def test_a_frozen_encoder_stays_as_it_is_and_layers_can_be_left_out(tiny_encoder, tmp_path):
    train_masked_lm(tiny_encoder, TRAIN, tmp_path, MaskedLm(steps=2, encoder_learning_rate=0, layers=1))
    old = transformers.AutoModelForMaskedLM.from_pretrained(tiny_encoder).base_model.state_dict()
    new = transformers.AutoModelForMaskedLM.from_pretrained(tmp_path).base_model.state_dict()
    assert 0 < len(new) < len(old)
    assert all(torch.equal(new[name], old[name]) for name in new)


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
    for (text, number), ranked in answers[0].items():
        inputs = tokenizer(text, return_tensors="pt")
        place = (inputs["input_ids"][0] == tokenizer.mask_token_id).nonzero()[number, 0]
        with torch.no_grad():
            expected = plain(**inputs).logits[0, place].log_softmax(-1)
        again = dict(answers[1][text, number])
        assert set(again) == set(dict(ranked))
        for word, score in ranked:
            assert score == pytest.approx(expected[tokenizer.convert_tokens_to_ids(word)].item(), abs=1e-4)
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
    assert MaskedLanguageModel(trained[0]).fill({text: [0], "a [MASK]": [0]}, 2).keys() == {("a [MASK]", 0)}


def test_a_model_without_mask_token_is_refused(trained, tmp_path):
    for path in trained[0].iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    settings = json.loads((tmp_path / "tokenizer_config.json").read_text())
    settings["mask_token"] = None
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    (tmp_path / "special_tokens_map.json").unlink(missing_ok=True)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert tokenizer.mask_token is None
    with pytest.raises(UserError, match="the tokenizer has no mask token"):
        MaskedLanguageModel(tmp_path)
    with pytest.raises(UserError, match="the tokenizer has no mask token"):
        train_masked_lm(tmp_path, TRAIN, tmp_path / "out", MaskedLm())


def test_a_model_without_trained_head_is_refused(tiny_encoder):
    with pytest.raises(UserError, match="no trained masked-LM head .* expected one made by 'tripleaudit train-mlm'"):
        MaskedLanguageModel(tiny_encoder)


def test_a_folder_without_a_model_is_refused(tmp_path):
    with pytest.raises(UserError, match="expected the folder of a masked language model"):
        MaskedLanguageModel(tmp_path / "nothing")
    with pytest.raises(UserError, match="expected the folder of an encoder"):
        train_masked_lm(tmp_path, TRAIN, tmp_path / "out", MaskedLm())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": 0}, "steps is 0"),
        ({"batch_size": 0}, "batch_size is 0"),
        ({"mask_rate": 1.0}, "mask_rate is 1.0"),
        ({"layers": 9}, "layers is 9, expected 1 to 2"),
    ],
)
def test_impossible_training_options_are_refused(tiny_encoder, tmp_path, options, message):
    with pytest.raises(UserError, match=message):
        train_masked_lm(tiny_encoder, TRAIN, tmp_path, MaskedLm(**options))


def test_the_smallest_training_is_one_step_of_one_sentence(tiny_encoder, tmp_path):
    assert train_masked_lm(tiny_encoder, TRAIN, tmp_path, MaskedLm(steps=1, batch_size=1, layers=1))["steps"] == 1


def test_a_training_set_without_text_or_single_piece_words_is_refused(tiny_encoder, tmp_path):
    with pytest.raises(UserError, match="has no text"):
        train_masked_lm(tiny_encoder, [sentence(" ")], tmp_path, MaskedLm())
    with pytest.raises(UserError, match="no word that the tokenizer has as one piece"):
        train_masked_lm(tiny_encoder, [sentence("... !!")], tmp_path, MaskedLm())
