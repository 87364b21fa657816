"""Every official number of the ten extractors, against what their presets and defaults amount to.

The numbers are those of the authors' published code as the project's reference notes have them
(``reference/extractors.md``, whose line stands behind each block); ``rates`` are (encoder, head).
"""

import re
from collections import Counter

import pytest

from tripleaudit.extractors.registry import extractor_class, resolve
from tripleaudit.extractors.settings import SHIPPED
from tripleaudit.extractors.spec import EXTRACTORS as DESCRIBED
from tripleaudit.study.trainings import presets
from tripleaudit.training.settings import TrainingSettings

NINE = [spec for spec in DESCRIBED.values() if spec.reported and not spec.base]
EXTRACTORS = (*NINE, DESCRIBED["unirel"])
ALL = {spec.name: presets(spec.name) for spec in EXTRACTORS} | {"zcc": presets("zcc-binary")}
NO_TORCH = "torch, of the extra `train`, is not installed"
RANDOM = {"precision": "float32", "group_by_length": False}
ADAM, ADAMW = {"optimizer": "adam", "weight_decay": 0.0}, {"optimizer": "adamw"}
NO_CLIP = {"clip": "none"}

OFFICIAL = {
    "unirel": {  # run_nyt.sh, run_webnlg.sh and run.py of the authors' code; transformers' Trainer decides the rest
        "rates": (3e-5, 3e-5),
        "training": {
            **RANDOM, **ADAMW, "weight_decay": 0.0, "adam_epsilon": 1e-8, "schedule": "cosine", "warmup": 0.1,
            "clip": "global", "clip_norm": 1.0, "batch_size": 12, "epochs": 100, "patience": 0, "accumulation": 1,
        },
        "model": {"max_length": 102, "threshold": 0.5},
        "webnlg": {"batch_size": 6, "encoder_learning_rate": 5e-5, "head_learning_rate": 5e-5},
    },
    "ptrnet": {  # lines 235-236 (0.3, 300, 5 words), 251-253; the encoder's rate: 253, decided here
        "rates": (2e-5, 1e-3),
        "training": {
            **ADAM, "precision": "float32", "group_by_length": True, "batch_size": 32, "epochs": 30, "patience": 5,
            "clip": "global", "clip_norm": 10.0, "schedule": "linear", "head_schedule": "constant", "accumulation": 1,
        },
        "model": {"width": 300, "dropout": 0.3, "max_words": 5, "max_triples": 10, "drop_above": 10, "order": "epoch"},
        "webnlg": {},
    },
    "casrel": {  # lines 284-287, markers 296
        "rates": (1e-5, 1e-5),
        "training": {
            **RANDOM, **ADAM, **NO_CLIP, "adam_epsilon": 1e-7, "schedule": "constant", "warmup": 0.0, "batch_size": 6,
            "epochs": 100, "patience": 7, "min_delta": 1e-4, "accumulation": 1,
        },
        "model": {"layout": "marker"},
        "webnlg": {},
    },
    "tplinker": {  # lines 307-308 (all occurrences), 320-322 (padded cells), 326-328
        "rates": (5e-5, 5e-5),
        "training": {
            **RANDOM, **ADAM, **NO_CLIP, "schedule": "cosine_restarts", "restart_epochs": 2, "warmup": 0.0,
            "batch_size": 24, "epochs": 100, "adam_epsilon": 1e-8, "accumulation": 1,
        },
        "model": {"occurrence": "all", "recover_steps": 12000, "max_length": 102, "padded_cells": True},
        "webnlg": {"batch_size": 6, "recover_steps": 6000},
    },
    "tdeer": {  # lines 361-362 (weight 5), 369-372
        "rates": (5e-5, 5e-5),
        "training": {
            **RANDOM, **ADAM, **NO_CLIP, "unit": "instances", "adam_epsilon": 1e-7, "schedule": "steps",
            "learning_rate_points": [[0, 0], [1, 1], [2, 0.1]], "batch_size": 8, "epochs": 200, "patience": 0,
        },
        "model": {"max_length": 120, "neg_samples": 2, "max_sample_triples": 0, "translation_weight": 5.0},
        "webnlg": {"epochs": 300, "neg_samples": 5, "max_sample_triples": 5},
    },
    "prgc": {  # lines 391-394 (0.3), 404-407 (0.1, 0.5), 410-414; train.py validates after every epoch
        "rates": (1e-4, 1e-3),
        "training": {
            **RANDOM, **ADAMW, "unit": "instances", "weight_decay": 0.01, "adam_epsilon": 1e-6,
            "adam_bias_correction": False, "schedule": "cosine", "warmup": 0.1, "clip": "parameter", "clip_norm": 2.0,
            "batch_size": 64, "accumulation": 2, "epochs": 100, "patience": 20, "evaluate_from": 1, "min_delta": 1e-5,
        },
        "model": {"dropout": 0.3, "relation_threshold": 0.1, "pair_threshold": 0.5, "fallback": True,
                  "max_length": 102},
        "webnlg": {"batch_size": 6},
    },
    "grte": {  # lines 436-442 (0.1), 455-456
        "rates": (3e-5, 3e-5),
        "training": {
            **RANDOM, **ADAMW, "weight_decay": 0.0, "adam_epsilon": 1e-7, "schedule": "linear", "warmup": 0.0,
            "clip": "global", "clip_norm": 1.0, "batch_size": 6, "epochs": 50, "patience": 0, "accumulation": 1,
        },
        "model": {"dropout": 0.1, "rounds": 3, "max_length": 100},
        "webnlg": {"rounds": 4},
    },
    "pfn": {  # lines 480-481 (300), 510-511
        "rates": (2e-5, 2e-5),
        "training": {
            **RANDOM, **ADAM, "schedule": "constant", "warmup": 0.0, "clip": "global", "clip_norm": 0.25,
            "batch_size": 20, "epochs": 100, "patience": 0, "select_by": "f1+entities", "accumulation": 1,
        },
        "model": {"width": 300, "dropout": 0.1, "drop_connect": 0.1, "max_length": 128},
        "webnlg": {},
    },
    "onerel": {  # lines 530 (0.2, 0.1), 533-538 (markers), 554-556
        "rates": (1e-5, 1e-5),
        "training": {
            **RANDOM, **ADAM, **NO_CLIP, "schedule": "constant", "warmup": 0.0, "batch_size": 8, "epochs": 200,
            "evaluate_from": 21, "patience": 0, "accumulation": 1,
        },
        "model": {"layout": "marker", "hidden_dropout": 0.2, "pair_dropout": 0.1, "max_length": 100},
        "webnlg": {"batch_size": 6},
    },
    "birte": {  # lines 577 (0.1), 594-596
        "rates": (3e-5, 1.5e-4),
        "training": {
            **RANDOM, **ADAMW, "weight_decay": 0.0, "adam_epsilon": 1e-7, "schedule": "linear", "warmup": 0.0,
            "clip": "global", "clip_norm": 1.0, "batch_size": 18, "epochs": 100, "patience": 0, "accumulation": 1,
        },
        "model": {"dropout": 0.1, "max_length": 100},
        "webnlg": {"batch_size": 6},
    },
}  # fmt: skip
EVERY = SHIPPED["presets"]
PAPER_EPOCHS = {"nyt24-en": 300, "webnlg-en": 500}  # Entity Noising paper, appendix A


def effective(name: str, preset: str) -> tuple[dict, dict]:
    """What a training with the preset has: the settings, and the fields of the model."""
    pytest.importorskip("torch", reason=NO_TORCH)
    kind = extractor_class(name)
    given = {key: value for key, value in ALL[name][preset].items() if key != "model"}
    settings = dict(TrainingSettings(**{**kind.settings.training_defaults, **given}))
    fields = {key: getattr(kind.config_class, key) for key in OFFICIAL[name]["model"]}
    return settings, {**fields, **ALL[name][preset].get("model", {})}


@pytest.mark.parametrize("name", [spec.name for spec in EXTRACTORS])
@pytest.mark.parametrize("corpus", ["nyt24", "nyt29", "webnlg"])
def test_a_preset_has_the_official_numbers(name, corpus):
    official = OFFICIAL[name]
    wanted = {
        **official["training"],
        **official["model"],
        **(official["webnlg"] if corpus == "webnlg" else {}),
    }
    settings, model = effective(name, corpus)
    rates = dict(
        zip(("encoder_learning_rate", "head_learning_rate"), official["rates"], strict=True)
    )
    wanted = {**rates, **wanted}
    for key, value in wanted.items():
        found = model[key] if key in official["model"] else settings[key]
        if key == "learning_rate_points":
            found = [list(point) for point in found]
        assert found == value, key
    assert set(model) <= set(official["model"])  # a preset has no model setting that no source says


@pytest.mark.parametrize("name", ["casrel", "tplinker", "prgc"])
def test_the_longer_presets_differ_in_length_alone(name):
    for preset, epochs in PAPER_EPOCHS.items():
        longer, short = ALL[name][preset], ALL[name][preset.removesuffix("-en")]
        assert longer["epochs"] == epochs
        changed = {key for key in longer if longer[key] != short[key]}
        assert changed <= {"epochs", "patience"}


def test_fast_presets_say_what_they_trade():
    for name, own in ALL.items():
        fast, official = own["fast"], own["webnlg"]
        assert (
            fast["precision"] == "bf16-cpu"
            and fast["group_by_length"] is True
            and fast["unit"] == "sentences"
        )
        for rate in ("encoder_learning_rate", "head_learning_rate"):
            assert fast[rate] == pytest.approx(
                2 * official[rate]
            )  # square-root rule for four times the batch
        assert fast["epochs"] in (official["epochs"], own["nyt24"]["epochs"])
        if official.get("unit") != "instances":
            assert fast["batch_size"] == 4 * official["batch_size"], name


def test_the_page_of_differences_has_every_extractor(root):
    page = (root / "docs" / "explanation" / "differences.md").read_text(encoding="utf-8")
    named = Counter(
        label for row in re.findall(r"(?m)^\| ([^|]+) \|", page) for label in row.split(", ")
    )
    for spec in EXTRACTORS:
        assert named[DESCRIBED[spec.name].label] >= 2, spec.name  # one of them counts its updates


@pytest.mark.parametrize("name", [spec.name for spec in EXTRACTORS])
def test_the_numbers_of_a_model_without_a_preset_are_those_of_a_benchmark(name):
    """Limits of the length apart, which are the benchmarks' own; PtrNet drops sentences for its
    presets alone.
    """
    pytest.importorskip("torch", reason=NO_TORCH)
    kind, official = extractor_class(name).config_class, OFFICIAL[name]
    for key, value in official["model"].items():
        if type(value) in (int, float) and key not in ("max_length", "drop_above"):
            assert getattr(kind, key) in (value, official["webnlg"].get(key)), key


def test_the_classifier_has_the_numbers_of_its_paper_and_its_presets():
    """Batch of 16, AdamW, early stopping: zero-cardinality paper, section 3; the rest as its
    preset says.
    """
    pytest.importorskip("torch", reason=NO_TORCH)
    kind = resolve("zcc-binary")[0]
    own = kind.settings.training_defaults
    assert (own["batch_size"], own.get("optimizer", "adamw"), own["patience"]) == (16, "adamw", 2)
    assert all(ALL["zcc"]["webnlg"].get(key, value) == value for key, value in own.items())
    assert (kind.config_class.dropout, kind.config_class.head) == (0.1, "binary")


def test_extractors_stand_in_the_order_of_the_papers_tables():
    """Of rte-generalization's tables, whose first three rows are its extractors, and of
    zero-cardinality's.
    """
    ends = ["pfn-star", "tdeer-drop-zero", "casrel-drop-zero", "casrel-own-subject"]
    zcc = ["zcc-binary", "zcc-mcml"]
    nine = {
        "rte_order": [
            "casrel",
            "tplinker",
            "prgc",
            "onerel",
            "birte",
            "tdeer",
            "grte",
            "ptrnet",
            "pfn",
        ],
        "cardinality_order": [
            "onerel",
            "birte",
            "tdeer",
            "prgc",
            "grte",
            "ptrnet",
            "casrel",
            "tplinker",
            "pfn",
        ],
    }
    wanted = {order: [*names, *ends, "unirel", *zcc] for order, names in nine.items()}
    wanted["order"] = [*(spec.name for spec in NINE), "unirel", *ends, *zcc]
    for order, names in wanted.items():
        assert sorted(DESCRIBED, key=lambda name: getattr(DESCRIBED[name], order)) == names, order


@pytest.mark.parametrize(
    ("name", "preset"), [(name, preset) for name in EVERY for preset in EVERY[name]]
)
def test_a_preset_is_understood(name, preset):
    pytest.importorskip("torch", reason=NO_TORCH)
    settings = dict(EVERY[name][preset])
    model = settings.pop("model", {})
    kind = resolve("zcc-binary")[0] if name == "zcc" else extractor_class(name)
    kind.settings.checked(model, name)
    asked = {**kind.settings.training_defaults, **settings}
    found = TrainingSettings.checked(asked, "training")
    assert asked.items() <= found.model_dump(mode="json").items()


def test_pfn_star_is_pfn_on_last_words():
    pytest.importorskip("torch", reason=NO_TORCH)
    assert resolve("pfn-star") == (extractor_class("pfn"), {"entities": "last_word"})
