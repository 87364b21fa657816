"""What an extractor declares is one section, which the plan checks without torch, and what its
class says.
"""

import json.decoder
import subprocess
import sys

import pytest

from tripleaudit.core.errors import UserError
from tripleaudit.extractors.registry import (
    class_reference,
    extractor_class,
    extractor_names,
    resolve,
    settings_class,
)
from tripleaudit.extractors.settings import ExtractorSettings
from tripleaudit.extractors.spec import EXTRACTORS, ExtractorSpec
from tripleaudit.training.settings import TrainingSettings

EVERY = [*extractor_names()[:10], "zcc"]
SPECS = [spec for name, spec in EXTRACTORS.items() if name != "casrel-own-subject"]
INSIDE = "model/prior: expected a probability inside 0 to 1"
OWN = """
from typing import Literal
from tripleaudit.extractors.casrel import CasRel
from tripleaudit.extractors.specs.casrel import CasRelSettings

class MineSettings(CasRelSettings):
    training_defaults = {**CasRelSettings.training_defaults, "epochs": 3}
    size: Literal["small", "large"] = "small"

class Mine(CasRel):
    name = "mine"
    settings = MineSettings
"""


def problems(name, values):
    return settings_class(name).tried(values, "model")[1]


@pytest.mark.parametrize("name", EVERY)
def test_the_plan_s_section_is_the_model_s(name):
    kind, section = extractor_class(name), settings_class(name)
    assert kind.settings is section
    assert kind.config_class.model_type == f"tripleaudit-{name}"
    assert {
        key: getattr(kind.config_class(), key) for key in section.model_fields
    } == section().full()
    assert TrainingSettings.tried(section.training_defaults, "training_defaults")[1] == []
    assert section.tried({"prior": dict.fromkeys(section.sparse_outputs, 0.5)}, "model")[1] == []
    assert problems(name, {"max_length": 8}) == []
    assert problems(name, {"max_length": 7}) == ["model/max_length: expected at least 8, got 7"]


@pytest.mark.parametrize(
    ("name", "values", "problem"),
    [
        ("casrel", {"foo": 1}, "model: unknown key 'foo'; known are drop_above, drop_zero"),
        (
            "casrel",
            {"max_lenght": 9},
            "model: unknown key 'max_lenght', did you mean 'max_length'?",
        ),
        ("casrel", {"encoder": {}}, "model: unknown key 'encoder'"),
        ("casrel", {"drop_zero": 1}, "model/drop_zero: expected true or false, got 1"),
        (
            "pfn",
            {"entities": "half"},
            "model/entities: expected one of full, last_word, got 'half'",
        ),
        ("prgc", {"dropout": float("nan")}, "model/dropout: expected a finite number, got nan"),
        (
            "grte",
            {"layout": "markers"},
            "model/layout: expected one of subword, marker, got 'markers'",
        ),
        (
            "onerel",
            {"layout": "subword"},
            "model/layout: expected marker, without which onerel finds no entity of one token, got 'subword'",
        ),
        ("ptrnet", {"order": "never"}, "model/order: expected one of text, epoch, got 'never'"),
        ("ptrnet", {"max_words": 0}, "model/max_words: expected at least 1, got 0"),
        ("zcc", {"head": "multi"}, "model/head: expected one of binary, mcml, got 'multi'"),
        ("unirel", {"threshold": 0.0}, "model/threshold: expected more than 0, got 0.0"),
        ("unirel", {"threshold": 1.0}, "model/threshold: expected less than 1, got 1.0"),
        ("casrel", {"prior": 1.5}, INSIDE + ", got 1.5"),
        ("casrel", {"prior": 0}, INSIDE + ", got 0"),
        ("casrel", {"prior": 1}, INSIDE + ", got 1"),
        ("casrel", {"prior": {"object": True}}, INSIDE + " for object, got True"),
        ("casrel", {"prior": {"object": None}}, INSIDE + " for object, got None"),
        ("casrel", {"prior": {"object": "low"}}, INSIDE + " for object, got 'low'"),
        (
            "casrel",
            {"prior": {"objects": 0.1}},
            "model/prior: unknown output 'objects', did you mean 'object'",
        ),
        ("ptrnet", {"prior": {"object": 0.1}}, "model/prior: unknown output 'object'"),
    ],
)
def test_a_field_that_does_not_fit_is_named(name, values, problem):
    (found,) = problems(name, values)
    assert found.startswith(problem)


def test_an_extractor_of_ones_own_is_asked_for_its_section(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(OWN)
    read = settings_class(f"{file}:Mine")
    assert {"max_length", "prior", "size"} <= set(read.model_fields)
    assert read.training_defaults["epochs"] == 3 and read.sparse_outputs == {
        "subject": 1,
        "object": 1,
    }
    assert problems(f"{file}:Mine", {"size": "tiny"}) == [
        "model/size: expected one of 'small' or 'large', got 'tiny'"
    ]
    file = tmp_path / "other.py"
    file.write_text("class Other: ...\n")
    for reference, message in {
        f"{file}:Mine": "has no class 'Mine'",
        f"{file}:Other": "declares no settings; expected a subclass of tripleaudit.extractors.base.Extractor",
        f"{tmp_path / 'none.py'}:Mine": "no such file",
        "no_such_package.mine:Mine": "cannot be loaded",
    }.items():
        with pytest.raises(UserError, match=message):
            settings_class(reference)


def test_what_an_extractor_is_that_says_nothing_of_itself():
    assert ExtractorSettings().full() == {
        "max_length": 128, "layout": "subword", "marker": None, "words": "auto", "occurrence": "given",
        "drop_zero": False, "drop_above": 0, "prior": None,
    }  # fmt: skip
    assert (ExtractorSettings.training_defaults, ExtractorSettings.sparse_outputs) == ({}, {})


def test_a_class_is_named_by_its_module_here_and_by_its_file_elsewhere(tmp_path, monkeypatch):
    (tmp_path / "folder").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    given = (
        "mine.py:Mine",
        "json.decoder:JSONDecoder",
        "folder:Mine",
        "nowhere:Mine",
        ExtractorSettings,
    )
    for number, model in enumerate(given):
        EXTRACTORS.add(ExtractorSpec(name=f"mine{number}", model=model))
    assert [class_reference(name) for name in ("casrel", *(f"mine{number}" for number in range(len(given))))] == [
        "tripleaudit.extractors.casrel:CasRel", given[0], f"{json.decoder.__file__}:JSONDecoder", *given[2:4],
        "tripleaudit.extractors.settings:ExtractorSettings",
    ]  # fmt: skip
    assert extractor_names() == [
        *EVERY[:-1],
        *(f"mine{n}" for n in range(len(given))),
    ]


def test_nothing_heavy_is_imported():
    code = "import sys, tripleaudit.extractors.registry as r; r.settings_class('pfn'); print('torch' in sys.modules)"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip()
        == "False"
    )


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_a_spec_agrees_with_its_class(spec) -> None:
    kind, implied = resolve(spec.name)
    assert (kind.name, kind.takes_schema) == (spec.base or spec.name, spec.takes_schema)
    assert implied == spec.fields and implied.keys() <= kind.config_class().to_dict().keys()


def test_names_stand_for_one_extractor_each() -> None:
    assert len({spec.name for spec in SPECS}) == len({spec.label for spec in SPECS}) == len(SPECS)
    assert [
        EXTRACTORS[name].label for name in ("pfn-star", "tdeer-drop-zero", "casrel-drop-zero")
    ] == [
        "PFN*",
        "TDEER, trained NZ only",
        "CasRel, trained NZ only",
    ]
    assert [EXTRACTORS[name].reported for name in ("zcc-binary", "zcc-mcml")] == [
        "ZCC-binary",
        "ZCC-MCML",
    ]
