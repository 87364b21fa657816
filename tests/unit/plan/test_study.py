import json

import pytest

from tripleaudit.errors import UserError
from tripleaudit.plan.study import Run, Study


def study(**changes) -> Study:
    return Study({"study": "s", "corpora": {"webnlg": None}, **changes})


def test_the_trainings_are_the_product_without_repetition():
    plan = study(
        extractors={"casrel": {}},
        noising={},
        settings=["nz", "wz"],
        seeds=[1, 2],
        protocols={"rearranged": {}, "sift-1": {"rule": "frequency", "max_count": 2}, "augmented": {}},
    )
    assert plan.trainsets == ["original-nz", "rearranged-nz", "sift-1-nz", "original-wz"]
    assert len(plan.runs) == len(set(plan.runs)) == (3 * 2 + 1) * 2
    assert plan.runs[0].path == "webnlg/original-nz/casrel/none/seed1"
    wz = [run for run in plan.runs if run.setting == "wz"]
    assert {run.noise for run in wz} == {"none"}


def test_what_a_training_is_scored_on():
    plan = study(extractors={"casrel": {}}, settings=["nz", "wz"], protocols={"rearranged": {}, "augmented": {}})
    run = Run("webnlg", "original", "nz", "casrel", "none", 1)
    assert plan.testsets(run) == [("test", "nz"), ("test", "wz"), ("augmented", "nz")]
    assert plan.testsets(Run("webnlg", "rearranged", "nz", "casrel", "none", 1)) == [("test", "nz")]
    assert plan.testsets(Run("webnlg", "original", "wz", "casrel", "none", 1)) == [("test", "nz"), ("test", "wz")]


def test_settings_are_merged_from_general_to_special():
    plan = study(
        training={"epochs": 3, "batch_size": 4}, extractors={"casrel": {"epochs": 5}}, noising={"probability": 0.1}
    )
    settings = json.loads(plan.trainings.training_json("webnlg", "casrel", "none"))
    assert settings["epochs"] == 5
    assert settings["batch_size"] == 4
    assert "noising" not in settings
    assert json.loads(plan.trainings.training_json("webnlg", "casrel", "noising"))["noising"]["probability"] == 0.1


def test_what_only_a_scheduler_reads_does_not_decide_a_result():
    plain, greedy = study(extractors={"casrel": {}}), study(extractors={"casrel": {"mem_mb": 9000, "runtime": "3h"}})
    assert plain.trainings.training_json("webnlg", "casrel", "none") == greedy.trainings.training_json(
        "webnlg", "casrel", "none"
    )
    assert greedy.trainings.resource("casrel", "mem_mb", 1) == 9000


def test_the_noise_probability_may_differ_by_corpus():
    plan = study(
        corpora={"webnlg": {"noise_probability": 0.05}}, extractors={"casrel": {}}, noising={"probability": 0.1}
    )
    assert json.loads(plan.trainings.training_json("webnlg", "casrel", "noising"))["noising"]["probability"] == 0.05


def test_a_preset_may_be_named_for_each_corpus():
    presets = {"webnlg": "webnlg", "nyt24": "nyt24-en"}
    plan = study(corpora=dict.fromkeys([*presets, "scierc"]), extractors={"casrel": {"preset": presets}})
    epochs = {name: plan.trainings.settings_of(name, "casrel").get("epochs") for name in plan.corpora}
    assert epochs == {"webnlg": 100, "nyt24": 300, "scierc": None}
    with pytest.raises(
        UserError, match="extractors/casrel/preset: there is no corpus 'webnlg2', did you mean 'webnlg'"
    ):
        study(extractors={"casrel": {"preset": {"webnlg2": "webnlg"}}})
    with pytest.raises(UserError, match="extractors/casrel/preset: unknown preset 'nope'"):
        study(extractors={"casrel": {"preset": {"webnlg": "nope"}}})


def test_impossible_wishes_are_refused_in_one_sentence_each():
    with pytest.raises(UserError, match="unknown extractor 'casrell', did you mean 'casrel'?"):
        study(extractors={"casrell": {}})
    with pytest.raises(UserError, match="add wz to settings"):
        study(zcc={"binary": {}})
    with pytest.raises(UserError, match="extractors/casrel/preset: unknown preset 'nope'"):
        study(extractors={"casrel": {"preset": "nope"}})
    with pytest.raises(UserError, match="zcc/binary/preset: unknown preset 'nope'; known are nyt24"):
        study(settings=["nz", "wz"], zcc={"binary": {"preset": "nope"}, "mcml": {"preset": "nyt24"}})
    with pytest.raises(UserError, match="cannot fill zcc"):
        _ = study(extractors={"casrel": {}}, tables={"zcc": {}}).tables


def test_an_extractor_from_outside_the_project(tmp_path):
    file = tmp_path / "mine.py"
    with pytest.raises(UserError, match="own_extractors/mine: .*mine.py: no such file"):
        study(own_extractors={"mine": f"{file}:Mine"}, extractors={"mine": {}})
    file.write_text("class Mine: ...")
    with pytest.raises(UserError, match="own_extractors/casrel: the name 'casrel' is a built-in extractor's"):
        study(own_extractors={"casrel": f"{file}:Mine"})
    plan = study(own_extractors={"mine": f"{file}:Mine"}, extractors={"mine": {}, "casrel": {}})
    assert json.loads(plan.trainings.training_json("webnlg", "mine", "none"))["module"] == f"{file}:Mine"
    assert plan.module_options("mine") == ["--module", f"{file}:Mine"]
    assert plan.module_options("casrel") == []


def test_tables_follow_from_the_parts_of_a_study():
    assert study().possible_tables == ["triple-types", "split-sizes", "strata-sizes"]
    everything = study(
        extractors={"casrel": {}},
        settings=["nz", "wz"],
        zcc={"binary": {}},
        protocols={"rearranged": {}, "augmented": {}, "sift-1": {"rule": "frequency", "max_count": 2}},
    )
    assert set(everything.possible_tables) >= {"sifted", "rearranged", "augmented", "end-to-end", "zcc", "two-step"}


def test_a_protocol_may_be_made_without_training_on_it():
    plan = study(extractors={"casrel": {}}, protocols={"rearranged": {"train": False}, "augmented": {}})
    assert plan.trainsets == ["original-nz"]
    assert "rearranged" in plan.protocols
    assert "rearranged" not in plan.possible_tables
    assert plan.data.protocol_json("rearranged") == '{"seed": 0}'


def test_the_choices_of_the_rearranged_protocol_reach_its_builder():
    plan = study(protocols={"rearranged": {"counts": "remaining", "ties": "corpus-order", "test_size": 5}})
    options = '{"counts": "remaining", "seed": 0, "test_size": 5, "ties": "corpus-order"}'
    assert plan.data.protocol_json("rearranged") == options
    with pytest.raises(
        UserError, match="protocols/rearranged/ties: expected one of 'most-triples' or 'corpus-order', got 'shortest'"
    ):
        study(protocols={"rearranged": {"ties": "shortest"}})
