"""Starting, saving, loading and finding extractors, and what each refuses."""

import contextlib
import json
import logging
import shutil
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from tripleaudit.core.errors import UserError
from tripleaudit.core.plugins import use_plugins
from tripleaudit.extractors.base import GONE, Extractor, ExtractorConfig, by_sentence, encoder_limit
from tripleaudit.extractors.casrel import CasRel
from tripleaudit.extractors.onerel import OneRel
from tripleaudit.extractors.registry import extractor_class, load_extractor, resolve
from tripleaudit.extractors.tdeer import TDEER
from tripleaudit.testing import RELATIONS, build_extractor, toy_sentences

PLUGIN = """
from tripleaudit.extractors.casrel import CasRel


class Own(CasRel):
    name = "{name}"


class Nameless(CasRel):
    pass


value = 1
"""


@pytest.fixture
def saved(tiny_encoder, tmp_path):
    folder = tmp_path / "model"
    build_extractor(CasRel, tiny_encoder).save_pretrained(folder)
    return folder


def test_an_extractor_from_a_file_outside_the_project(tiny_encoder, tmp_path):
    file = tmp_path / "plugin.py"
    file.write_text(PLUGIN.format(name="own"), encoding="utf-8")
    use_plugins([f"own={file}:Own"])
    own = extractor_class("own")
    assert own.__name__ == "Own"
    model = build_extractor(own, tiny_encoder)
    model.save_pretrained(tmp_path / "saved")
    assert type(load_extractor(tmp_path / "saved")) is own


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("own=plugin.py", "expected NAME=path/to/file.py:Class"),
        ("own=missing.py:Own", "no such file"),
        ("own=plugin.py:Other", "has no class 'Other'"),
        ("own=plugin.py:value", "expected a subclass"),
        ("own=plugin.py:Nameless", "expected a class attribute 'name'"),
        ("other=plugin.py:Own", "Own has the name 'own', expected 'other'"),
        ("casrel=plugin.py:Own", "the extractor 'casrel' has the name of one that is built in"),
    ],
)
def test_bad_registrations(tmp_path, monkeypatch, reference, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plugin.py").write_text(PLUGIN.format(name="own"), encoding="utf-8")
    with pytest.raises(UserError, match=message):
        use_plugins([reference])
        extractor_class(reference.partition("=")[0])


def test_a_checkpoint_of_another_extractor_is_refused(saved):
    config = json.loads((saved / "config.json").read_text())
    (saved / "config.json").write_text(json.dumps({**config, "model_type": "tripleaudit-other"}))
    with pytest.raises(UserError, match="holds a checkpoint of other, expected casrel"):
        CasRel.from_pretrained(saved)
    with pytest.raises(UserError, match="unknown extractor 'other'"):
        load_extractor(saved)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("end_exclusive", True),
        ("mask_padding", False),
        ("pool_padding", True),
        ("pooled", True),
        ("ends", "token"),
    ],
)
def test_a_model_of_a_switch_that_there_is_no_more_is_refused(saved, name, value):
    config = json.loads((saved / "config.json").read_text())
    (saved / "config.json").write_text(json.dumps({**config, name: GONE[name]}))
    load_extractor(saved)
    (saved / "config.json").write_text(json.dumps({**config, name: value}))
    with pytest.raises(UserError, match=f"was trained with {name}"):
        load_extractor(saved)


def test_bad_encoders_relations_and_settings(tiny_encoder, tmp_path):
    """Weights that are pickled are never loaded, of an encoder either."""
    (tmp_path / "bare").mkdir()
    for name in ("config.json", "model.safetensors"):
        shutil.copy(tiny_encoder / name, tmp_path / "bare")
    shutil.copytree(tiny_encoder, tmp_path / "pickled")
    (tmp_path / "pickled" / "model.safetensors").unlink()
    torch.save(
        {"embeddings.word_embeddings.weight": torch.zeros(2, 2)},
        tmp_path / "pickled" / "pytorch_model.bin",
    )
    for message, *arguments in (
        ("expected a local folder with config.json", tmp_path, RELATIONS),
        (
            "has no tokenizer; expected one of the files tokenizer.json",
            tmp_path / "bare",
            RELATIONS,
        ),
        ("cannot be loaded", tmp_path / "pickled", RELATIONS),
        ("each relation once", tiny_encoder, ["C", "C"]),
        ("at least one relation", tiny_encoder, []),
        (
            "encoder_layers is 3, but the encoder .* has 2 layers; expected 1 to 2",
            tiny_encoder,
            RELATIONS,
            3,
        ),
    ):
        with pytest.raises(UserError, match=message):
            CasRel.from_encoder(*arguments)


def test_fewer_encoder_layers_keep_the_first_weights(tiny_encoder):
    full, cut = (
        build_extractor(CasRel, tiny_encoder),
        build_extractor(CasRel, tiny_encoder, encoder_layers=1),
    )
    assert cut.config.encoder.num_hidden_layers == 1
    assert len(cut.encoder.encoder.layer) == 1
    own = dict(full.named_parameters())
    for name, value in cut.encoder.named_parameters():
        assert torch.equal(value, own[f"encoder.{name}"])


def test_texts_beyond_the_encoder_are_cut_with_a_warning(tiny_encoder, caplog):
    model = build_extractor(CasRel, tiny_encoder)
    with caplog.at_level(logging.WARNING, logger="tripleaudit"):
        (result,) = model.extract(["it rains today " * 100])
    assert len(result.text) == 1500
    assert (
        "1 of 1 texts are longer than the 160 tokens that the encoder takes and were cut"
        in caplog.text
    )


def test_a_single_string_is_one_text(tiny_encoder):
    model = build_extractor(CasRel, tiny_encoder, prior=0.5)
    text = toy_sentences()[0].text
    (alone,) = model.extract(text)
    assert alone.text == text
    assert [alone.triples] == [each.triples for each in model.extract([text])]


def test_prediction_leaves_the_training_mode_alone(tiny_encoder):
    model = build_extractor(CasRel, tiny_encoder).train()
    model.extract([each.text for each in toy_sentences()])
    assert model.training


def test_a_saved_model_keeps_no_path_of_the_machine(saved, tiny_encoder, tmp_path):
    again = tmp_path / "again"
    load_extractor(saved).save_pretrained(again)
    for folder in (saved, again):
        for file in folder.glob("*.json"):
            text = file.read_text(encoding="utf-8")
            assert str(tiny_encoder) not in text
            assert str(tmp_path) not in text


def test_decoded_rows_come_by_sentence_and_score_and_hold_words_alone():
    """A row is (sentence, start, end, relation, start, end); tokens 0 and 4 are no words."""
    content = torch.tensor([[0, 1, 1, 1, 0]] * 2)
    good = [
        [1, 1, 1, 0, 2, 3],
        [1, 1, 1, 0, 3, 3],
        [1, 1, 1, 0, 2, 3],
        [0, 2, 2, 1, 1, 1],
        [0, 1, 1, 1, 2, 2],
    ]
    bad = [
        [1, 0, 1, 0, 2, 2],
        [1, 1, 4, 0, 2, 2],
        [1, 1, 1, 0, 0, 2],
        [1, 1, 1, 0, 2, 4],
        [1, 2, 1, 0, 2, 2],
    ]
    bad += [[1, 1, 1, 0, 3, 2]]
    scores = torch.tensor([0.2, 0.7, 0.4, 0.5, 0.5] + [0.9] * len(bad))
    first, second = by_sentence(torch.tensor(good + bad), scores, content)
    assert [row[:-1] for row in first] == [
        (1, 1, 1, 2, 2),
        (2, 2, 1, 1, 1),
    ]  # equal scores: in order of their places
    assert [row[:-1] for row in second] == [
        (1, 1, 0, 3, 3),
        (1, 1, 0, 2, 3),
    ]  # the best first, the same row once
    assert [row[-1] for row in second] == pytest.approx([0.7, 0.4])


@pytest.mark.parametrize(
    ("kind", "positions", "tokens"),
    [
        ("bert", 512, 512),
        ("bert", 64, 64),
        ("bert", 8192, 512),  # no more than the published systems read
        ("bert", None, 512),  # as of encoders without learnt positions
        ("roberta", 514, 512),  # whose first two numbers stand for padding
        ("roberta", 130, 128),
        ("mpnet", 514, 512),
    ],
)
def test_how_many_tokens_an_encoder_takes(kind: str, positions: int | None, tokens: int):
    config = SimpleNamespace(model_type=kind, max_position_embeddings=positions)
    assert encoder_limit(config) == tokens


def test_heads_have_as_many_weights_as_the_papers_layers(tiny_encoder):
    """Counted by hand for states of H numbers, R relations and recurrent states of D: outputs
    times (inputs + bias).
    """
    h, r, d, inner = 32, len(RELATIONS), 6, 64
    attention = 4 * h * (h + 1) + 2 * h
    expected = {
        "casrel": (2 + 2 * r) * (h + 1),
        "tplinker": h * (2 * h + 1) + (2 + 6 * r) * (h + 1),
        "tdeer": (r + 2 + 2 + h + 1) * (h + 1) + r * h + 3 * h * h + 1,
        "prgc": (h // 2) * (h + 1) + r * (h // 2 + 1) + 3 * h * (2 * h + 1) + (1 + 3 + 3) * (h + 1) + r * h,
        "grte": (2 * h + 8 * r) * (h + 1) + 2 * h * (8 * r + 1) + 2 * attention + inner * (h + 1) + h * (inner + 3),
        "pfn": 5 * d * (h + 1 + d + 1) + 3 * d * (3 * d + 1) + 2 * d * (2 * d + 1) + 4 * d + (1 + r) * (d + 1),
        "onerel": 3 * h * (2 * h + 1) + 4 * r * (3 * h + 1),
        "birte": (3 * h + 4 * 2) * (h + 1) + r * (h + 1) ** 2,
        "ptrnet": d * (h + 1)  # words
        + 9 * d * d + 2 * d * (d + 1) + 2 * d * d + 2 * d  # attentions
        + 4 * d * (11 * d + d + 2) + 2 * 4 * d * (2 * d + d + 2) + 2 * 4 * d * (4 * d + d + 2)  # LSTMs
        + 2 * 2 * 2 * d + (r + 2) * d + (r + 2) * (9 * d + 1),  # pointers, relations
        "unirel": 2 * 3 * 8 * (h + 1) + 3,  # a third of four heads is one, of eight numbers
        "zcc-binary": h + 1,
        "zcc-mcml": r * (h + 1),
    }  # fmt: skip
    found = {}
    for name in expected:
        kind, implied = resolve(name)
        model = build_extractor(
            kind, tiny_encoder, **implied, **({"width": d} if name in ("pfn", "ptrnet") else {})
        )
        head = [each for key, each in model.named_parameters() if not key.startswith("encoder.")]
        found[name] = sum(each.numel() for each in head)
        assert all(each.dtype == torch.float32 and each.requires_grad for each in head)
    assert found == expected


def test_what_an_extractor_is_that_says_nothing_of_itself():
    config = ExtractorConfig()
    assert (config.relations, config.bf16, config.entity_types) == (None, True, None)
    names = "kind", "static", "takes_schema", "words", "pooler"
    assert [getattr(Extractor, name) for name in names] == ["extractor", False, False, False, False]
    assert Extractor.supports_gradient_checkpointing
    assert Extractor.instance_count(ExtractorConfig(), np.zeros((3, 5))) == 1


def test_an_extractor_has_the_attention_implementations_of_its_encoder(tiny_encoder):
    model = build_extractor(CasRel, tiny_encoder)
    model.set_attn_implementation("sdpa")  # raises ValueError where it is not supported
    with contextlib.suppress(ImportError):  # the package flash_attn is not installed
        model.set_attn_implementation("flash_attention_2")


def test_settings_take_whole_numbers_for_others_and_none_that_training_fills(tiny_encoder):
    assert build_extractor(TDEER, tiny_encoder, translation_weight=5).config.translation_weight == 5
    for name, value in (("translation_weight", True), ("neg_samples", 1.5), ("neg_samples", True)):
        with pytest.raises(
            UserError, match=f"tdeer/{name}: expected a (whole )?number, got {value}"
        ):
            build_extractor(TDEER, tiny_encoder, **{name: value})
    for name in ("bf16", "entity_types", "encoder", "hidden_size"):
        with pytest.raises(UserError, match=f"tdeer: unknown key '{name}'"):
            TDEER.settings.checked({name: 1}, TDEER.name)


def test_an_entity_without_characters_is_no_entity(tiny_encoder, monkeypatch):
    """A span of nothing but a marker, on either side."""
    model = build_extractor(OneRel, tiny_encoder)
    text = "tim leads apple"
    rows = [(2, 2, 0, 5, 6), (1, 2, 0, 6, 6), (1, 2, 0, 5, 6), (1, 1, 0, 5, 6)]
    scores = torch.tensor([0.875, 0.875, 0.75, 0.5])

    def predict_rows(**batch):
        return torch.tensor([(0, *row[:2], *row[2:]) for row in rows]), scores

    monkeypatch.setattr(model, "predict_rows", predict_rows)
    (sentence,) = model.extract([text])
    (triple,) = sentence.triples
    assert (triple.subject.text, triple.object.text) == ("tim", "apple")
    assert triple.score == 0.75  # the best of equal ones


def test_a_broken_checkpoint_is_reported_in_the_words_of_what_read_it(saved):
    from safetensors.torch import load_file, save_file

    weights = load_file(saved / "model.safetensors")
    without = {name: value for name, value in weights.items() if name != "object.bias"}
    for broken in (without, {**weights, "object.bias": torch.zeros(3)}):
        save_file(broken, saved / "model.safetensors", metadata={"format": "pt"})
        with pytest.raises(
            UserError, match="the weights of .*object.bias.* are missing or have another shape"
        ):
            CasRel.from_pretrained(saved)
    torch.save(weights, saved / "pytorch_model.bin")
    (saved / "model.safetensors").unlink()
    with pytest.raises(UserError, match="cannot be loaded: .* .*"):  # never a pickle
        CasRel.from_pretrained(saved)


def test_an_encoder_brings_no_code_of_its_own(tiny_encoder, tmp_path, monkeypatch):
    """Neither its configuration, nor its model, nor its tokenizer runs what lies in its folder."""
    monkeypatch.setenv("HF_MODULES_CACHE", str(tmp_path / "modules"))
    folder = shutil.copytree(tiny_encoder, tmp_path / "encoder")
    (folder / "own.py").write_text(
        f"open({str(tmp_path / 'ran')!r}, 'w')\nclass Own: pass\n", encoding="utf-8"
    )
    for name, kinds in (
        ("config.json", ("AutoConfig", "AutoModel")),
        ("tokenizer_config.json", ("AutoTokenizer",)),
    ):
        facts = json.loads((folder / name).read_text(encoding="utf-8"))
        facts["auto_map"] = {
            kind: ["own.Own", None] if kind == "AutoTokenizer" else "own.Own" for kind in kinds
        }
        (folder / name).write_text(json.dumps(facts), encoding="utf-8")
    model = build_extractor(CasRel, folder)
    model.save_pretrained(tmp_path / "saved")
    load_extractor(tmp_path / "saved")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("name", ["prgc", "birte", "unirel"])
def test_layers_start_as_the_authors_do(tiny_encoder, name):
    """Weights of layers and embeddings normal with a standard deviation of 0.02, biases 0."""
    model = build_extractor(extractor_class(name), tiny_encoder)
    for own, weight in model.named_parameters():
        if own.endswith("bias") and not own.startswith("encoder."):
            assert not weight.any(), own
        elif weight.numel() > 500 and not own.startswith("encoder."):
            assert (
                weight.std().item() == pytest.approx(0.02, rel=0.1)
                and abs(weight.mean().item()) < 0.003
            ), own
