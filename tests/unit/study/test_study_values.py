"""Values of a study that people write and that YAML or Python read otherwise."""

import pytest
import yaml

from tripleaudit.core.errors import UserError
from tripleaudit.core.fields import Section
from tripleaudit.study.study import Study

BASE = """
study: x
corpora: {demo: {files: {train: resources/demo/train.jsonl, test: resources/demo/test.jsonl}}}
"""


def study(text: str) -> Study:
    return Study(yaml.safe_load(BASE + text))


def test_a_number_with_an_exponent_is_a_number() -> None:
    one = study("extractors: {casrel: {encoder_learning_rate: 3e-4, model: {prior: 1e-2}}}")
    settings = one.config["extractors"]["casrel"]
    assert settings["encoder_learning_rate"] == 3e-4 and settings["model"] == {"prior": 1e-2}


def test_a_name_that_looks_like_a_number_with_an_exponent_stays_a_name() -> None:
    class Named(Section):
        name: str
        rate: float

    settings = Named.checked({"name": "3e-4", "rate": "3e-4"}, "named")
    assert (settings.name, settings.rate) == ("3e-4", 3e-4)


def test_other_text_is_no_number() -> None:
    with pytest.raises(UserError, match="encoder_learning_rate: expected a number, got 'fast'"):
        study("extractors: {casrel: {encoder_learning_rate: fast}}")


def test_an_own_extractor_whose_name_is_not_its_key_is_refused_before_anything_runs(
    tmp_path,
) -> None:
    pytest.importorskip("torch")
    file = tmp_path / "mine.py"
    file.write_text(
        "from tripleaudit.extractors.casrel import CasRel\n\n\nclass Mine(CasRel):\n    name = 'broken'\n"
    )
    with pytest.raises(
        UserError, match="own_extractors/mine: Mine has the name 'broken', expected 'mine'"
    ):
        study(f"own_extractors: {{mine: '{file}:Mine'}}\nextractors: {{mine: }}")


@pytest.mark.parametrize(("word", "value"), [("true", True), ("false", False)])
def test_double_reads_the_words_that_snakemake_passes_as_text(word, value) -> None:
    assert study(f"double: '{word}'").config["double"] is value
