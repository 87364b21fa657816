"""What an extractor's file declares is what its classes have, and is checked without importing them."""

import dataclasses
import subprocess
import sys

import pytest
from transformers import PreTrainedConfig

from tripleaudit.errors import UserError
from tripleaudit.extractors.declared import RESERVED, declared
from tripleaudit.extractors.registry import extractor_class, extractor_names

OWN = """
from typing import Literal
from tripleaudit.extractors.casrel import CasRel, CasRelConfig

SIZES = ("small", "large")

class MineConfig(CasRelConfig):
    model_type = "tripleaudit-mine"
    size: Literal["small", "large"] = "small"
    depth: "int | Unknown" = 3
    strange: make_a_type() = None

class Mine(CasRel):
    name = "mine"
    config_class = MineConfig
    training_defaults = {**CasRel.training_defaults, "epochs": 3}
"""


@pytest.mark.parametrize("name", [*extractor_names(), "zcc"])
def test_what_is_read_is_what_the_classes_have(name):
    kind, read = extractor_class(name), declared(name)
    inherited = {field.name for field in dataclasses.fields(PreTrainedConfig)} | set(RESERVED)
    fields = {field.name: field.default for field in dataclasses.fields(kind.config_class)}
    assert {key: default for key, (_, default) in read.types.items()} == {
        key: default for key, default in fields.items() if key not in inherited
    }
    assert dict(read.defaults) == kind.training_defaults
    assert read.outputs == tuple(kind.sparse_outputs)
    assert [*read.problems({key: value for key, (_, value) in read.types.items()}, "model")] == []


@pytest.mark.parametrize(
    ("name", "values", "problem"),
    [
        ("casrel", {"foo": 1}, "model: unknown key 'foo'; known are drop_above, drop_zero"),
        ("casrel", {"max_lenght": 9}, "model: unknown key 'max_lenght', did you mean 'max_length'?"),
        ("casrel", {"encoder": {}}, "model: unknown key 'encoder'"),
        ("casrel", {"max_length": 0}, "model/max_length: expected at least 8, got 0"),
        ("casrel", {"drop_zero": 1}, "model/drop_zero: expected boolean, got 1"),
        ("casrel", {"prior": 2}, "model/prior: expected a probability inside 0 to 1, got 2"),
        ("casrel", {"prior": 1}, "model/prior: expected a probability inside 0 to 1, got 1"),
        ("casrel", {"prior": 0}, "model/prior: expected a probability inside 0 to 1, got 0"),
        ("casrel", {"prior": {"tails": 0.1}}, "model/prior: unknown output 'tails'; known are subject, object"),
        ("casrel", {"prior": {"object": "x"}}, "model/prior/object: expected a probability inside 0 to 1, got 'x'"),
        ("pfn", {"ends": "middle"}, "model/ends: expected one of word, token, got 'middle'"),
        ("prgc", {"dropout": float("nan")}, "model/dropout: expected a finite number, got nan"),
        ("onerel", {"layout": "markers"}, "model/layout: expected one of subword, marker, got 'markers'"),
        ("zcc", {"head": "multi"}, "model/head: expected one of binary, mcml, got 'multi'"),
    ],
)
def test_a_field_that_does_not_fit_is_named(name, values, problem):
    (found,) = declared(name).problems(values, "model")
    assert found.startswith(problem)


def test_an_extractor_of_ones_own_is_read_with_its_bases(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(OWN)
    read = declared(f"{file}:Mine")
    assert {"max_length", "zero_subject", "size", "depth", "strange"} <= set(read.types)
    assert read.defaults["epochs"] == 3
    assert [*read.problems({"size": "tiny"}, "model")] == ["model/size: expected one of 'small' or 'large', got 'tiny'"]
    assert [*read.problems({"strange": object(), "depth": "x", "prior": {"subject": 0.5}}, "model")] == []
    with pytest.raises(UserError, match="has no class 'Other'"):
        declared(f"{file}:Other")
    with pytest.raises(UserError, match="no such file"):
        declared(f"{tmp_path / 'none.py'}:Mine")


def test_nothing_heavy_is_imported():
    code = "import sys; import tripleaudit.extractors.declared as d; d.declared('pfn'); print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "False"


@pytest.mark.parametrize("name", [*extractor_names(), "zcc"])
def test_a_length_of_eight_tokens_is_the_shortest(name):
    assert [*declared(name).problems({"max_length": 8}, "model")] == []
    assert [*declared(name).problems({"max_length": 7}, "model")] == ["model/max_length: expected at least 8, got 7"]


def test_a_threshold_lies_inside_0_to_1():
    found = [len([*declared("unirel").problems({"threshold": value}, "model")]) for value in (0.0, 1e-9, 0.999, 1.0)]
    assert found == [1, 0, 0, 1]
