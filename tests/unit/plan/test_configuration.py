import copy

import pytest

from tripleaudit.errors import UserError
from tripleaudit.plan.configuration import load_schema, read_config, validated

MINIMAL = {"study": "s", "corpora": {"webnlg": None}}


def problems_of(**changes) -> str:
    with pytest.raises(UserError) as error:
        validated({**copy.deepcopy(MINIMAL), **changes})
    return str(error.value)


def test_defaults_are_filled_at_every_level_that_is_present():
    config = validated(
        {**MINIMAL, "noising": {"probability": 0.05}, "protocols": {"sift-1": {"rule": "frequency", "max_count": 2}}}
    )
    assert config["seeds"] == [1]
    assert config["encoder"] == {"model": "minilm", "layers": None}
    assert config["noising"] == {
        "probability": 0.05,
        "keep_length": 0.4,
        "vocabulary": "words",
        "nested": "skip",
        "wz": False,
    }
    assert config["protocols"]["sift-1"]["select_on"] == "valid"


def test_the_input_is_left_as_it_was():
    config = copy.deepcopy(MINIMAL)
    validated(config)
    assert config == MINIMAL


def test_every_problem_is_listed_at_once():
    message = problems_of(seed=[1], seeds=["one"], settings=["wz"], gpu=-1)
    assert message.splitlines()[0] == "Configuration is not usable:"
    assert "(top level): unknown key 'seed', did you mean 'seeds'?" in message
    assert "seeds/0: expected integer, got 'one'" in message
    assert "gpu: -1 is not one of" in message
    assert "settings" in message


@pytest.mark.parametrize("name", ["../elsewhere", "a/b", "", ".hidden", "..", "/absolute", "with blank"])
def test_a_study_cannot_leave_the_results_folder(name):
    assert "cannot name a study" in problems_of(study=name) or "study" in problems_of(study=name)


def test_unknown_keys_deep_down_name_their_place():
    assert "training: unknown key 'epoch', did you mean 'epochs'?" in problems_of(training={"epoch": 1})
    assert "corpora/demo: unknown key 'fromat', did you mean 'format'?" in problems_of(
        corpora={"demo": {"fromat": "auto"}}
    )


def test_a_sifted_protocol_needs_the_number_of_its_rule():
    assert "max_count" in problems_of(protocols={"sift-1": {"rule": "frequency"}})
    assert "percent" in problems_of(protocols={"sift-1": {"rule": "sample"}})
    assert "101 is greater than the maximum of 100" in problems_of(
        protocols={"sift-1": {"rule": "sample", "percent": 101}}
    )


def test_a_study_file_that_is_missing_or_no_yaml_is_named(tmp_path):
    with pytest.raises(UserError, match="none.yaml: no such file"):
        read_config(tmp_path / "none.yaml")
    (tmp_path / "bad.yaml").write_text("study: [")
    with pytest.raises(UserError, match="not valid YAML"):
        read_config(tmp_path / "bad.yaml")


def test_every_object_of_the_schema_refuses_unknown_keys():
    def objects(part, where):
        if isinstance(part, dict):
            if "properties" in part and "if" not in where:
                yield where, part
            for key, value in part.items():
                if key not in ("allOf", "if", "then", "else", "default"):
                    yield from objects(value, f"{where}/{key}")

    for where, part in objects(load_schema(), ""):
        assert part.get("additionalProperties") is not None, f"{where} accepts unknown keys"


def test_the_training_section_has_the_trainers_settings():
    import dataclasses

    from tripleaudit.training.settings import TrainingSettings

    fields = {field.name for field in dataclasses.fields(TrainingSettings)}
    of_the_workflow = {"preset", "model", "mem_mb", "runtime"}
    assert set(load_schema()["$defs"]["training"]["properties"]) == fields | of_the_workflow


def test_the_readme_explains_every_key(root):
    from tripleaudit.commands.config_reference import reference

    text = (root / "config" / "README.md").read_text(encoding="utf-8")
    assert "\n".join(reference()) in text, "run: tripleaudit config-reference, and paste it into config/README.md"


def test_every_key_has_a_description():
    from tripleaudit.commands.config_reference import reference

    missing = [row.split("|")[1].strip() for row in list(reference())[2:] if row.rstrip().endswith("|  |")]
    assert not missing
