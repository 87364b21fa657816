"""The official settings: every name is one that the trainer or the extractor knows."""

import pytest
import yaml

from tripleaudit.extractors.base import check_settings
from tripleaudit.extractors.registry import BUILTIN, extractor_class, resolve
from tripleaudit.study import PRESETS
from tripleaudit.training.settings import TrainingSettings, checked

ALL = yaml.safe_load(PRESETS.read_text(encoding="utf-8"))["presets"]


def test_every_extractor_has_official_settings_for_every_benchmark():
    assert set(ALL) == {*BUILTIN, "zcc"}
    for name, presets in ALL.items():
        assert {"nyt24", "nyt29", "webnlg"} <= set(presets), name


@pytest.mark.parametrize(("name", "preset"), [(name, preset) for name in ALL for preset in ALL[name]])
def test_a_preset_is_understood(name, preset):
    settings = dict(ALL[name][preset])
    model = settings.pop("model", {})
    kind = resolve("zcc-binary")[0] if name == "zcc" else extractor_class(name)
    check_settings(kind, model)
    checked(TrainingSettings, {**kind.training_defaults, **settings}, "training")
