"""The official settings: every name is one that the trainer or the extractor knows."""

import json

import pytest
import yaml

from tripleaudit.extractors.registry import extractor_class, extractor_names, resolve
from tripleaudit.plan.study import Study
from tripleaudit.plan.training import PRESETS

ALL = yaml.safe_load(PRESETS.read_text(encoding="utf-8"))["presets"]


def test_every_extractor_has_official_settings_for_every_benchmark():
    assert set(ALL) == {*extractor_names(), "zcc"}
    for name, presets in ALL.items():
        assert {"nyt24", "nyt29", "webnlg"} <= set(presets), name


@pytest.mark.parametrize(("name", "preset"), [(name, preset) for name in ALL for preset in ALL[name]])
def test_a_preset_is_understood(name, preset):
    pytest.importorskip("torch", reason="torch, of the extra `train`, is not installed")
    from tripleaudit.training.settings import TrainingSettings

    settings = dict(ALL[name][preset])
    model = settings.pop("model", {})
    kind = resolve("zcc-binary")[0] if name == "zcc" else extractor_class(name)
    kind.settings.checked(model, name)
    asked = {**kind.settings.training_defaults, **settings}
    found = TrainingSettings.checked(asked, "training")
    assert asked.items() <= found.model_dump(mode="json").items()


def test_pfn_star_is_pfn_on_last_words_with_its_presets():
    pytest.importorskip("torch", reason="torch, of the extra `train`, is not installed")
    kind, fields = resolve("pfn-star")
    assert kind is extractor_class("pfn") and fields == {"entities": "last_word"}
    config = {"study": "s", "corpora": {"webnlg": None}, "extractors": {"pfn-star": {"preset": "nyt24"}, "pfn": {}}}
    plan = Study(config)
    settings = json.loads(plan.trainings.training_json("webnlg", "pfn-star", "none"))
    assert settings["matching"] == "partial-last"
    assert {name: settings[name] for name in ALL["pfn"]["nyt24"]} == ALL["pfn"]["nyt24"]
    assert "matching" not in json.loads(plan.trainings.training_json("webnlg", "pfn", "none"))
