"""What facts of trainings say of the scores behind them."""

import json

import pytest

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import write_json, write_jsonl
from tripleaudit.systems.facts import write_training_facts
from tripleaudit.tables.study_facts import StudyFacts, ended, trainings_of


def said(slope: float) -> dict:
    return {"slope": slope, "error": 0.0, "flat": slope <= 0.005}


def test_a_run_is_named_once_and_its_augmented_test_has_its_mark():
    keys = {"corpus": "a", "protocol": "original", "training": "nz", "extractor": "casrel"}
    facts = [{"keys": {**keys, "seed": slope}, "convergence": said(slope)} for slope in (0, 1)]
    marked = StudyFacts(facts)
    tested = {**keys, "protocol": "augmented", "testing": "nz"}
    assert marked.training_mark(tested) == "†"
    assert marked.training_mark({**tested, "protocol": "rearranged"}) == ""
    assert list(StudyFacts([*facts, {"keys": keys}]).marks.values()) == ["†"]
    assert list(StudyFacts(facts[:1]).marks.values()) == [""] and ended(facts[:1]) == "flat"
    shown = [{**fact, "doubled": {"gain": 0.004, "high": 0.009}} for fact in facts]
    assert list(StudyFacts(shown).marks.values()) == [""] and ended(shown) == "converged"


def test_what_one_longer_training_gained_is_named_every_seed_of_its_kind(tmp_path):
    """And of an older training it is the history that says how it ended."""
    keys = {
        "corpus": "a",
        "protocol": "original",
        "training": "nz",
        "extractor": "casrel",
        "noise": "none",
    }
    ways = [{**keys, "seed": 1}, {**keys, "seed": 2}, {**keys, "seed": 1, "noise": "noising"}]
    for name, best in (("1", 0.70), ("2", 0.75), ("en", 0.6), ("twice", 0.706)):
        reported = {"best_f1": best, "steps": 40, "epochs": 4, "settings": {"patience": 0}}
        reported |= {"convergence": {"converged": True}}
        write_json(
            tmp_path / name / "provenance.json",
            {"device": "cpu", "finished": "", "training": reported},
        )
        write_jsonl(
            tmp_path / name / "history.jsonl",
            [{"step": n, "f1": best - 0.1 * (9 - n)} for n in range(1, 9)],
        )
    files = [tmp_path / name / "provenance.json" for name in ("1", "2", "en", "twice")]
    write_training_facts(files[:3], ways, tmp_path / "out.json", files[3:], ways[:1])
    facts = json.loads((tmp_path / "out.json").read_text())
    gained = [fact["doubled"] and fact["doubled"]["gain"] for fact in facts]
    assert gained == [pytest.approx(0.006), pytest.approx(0.006), None]
    assert [fact["convergence"]["flat"] for fact in facts] == [False] * 3
    assert [ended(each) for each in trainings_of(facts).values()] == [
        "rising"
    ] * 2  # a gain without an interval
    for fact in facts[:2]:
        fact["doubled"]["high"] = 0.0099
    converged = [seeds for seeds in trainings_of(facts).values() if ended(seeds) == "converged"]
    assert [seeds[0]["keys"]["noise"] for seeds in converged] == ["none"]


def test_what_doubling_gained_before_counts_for_the_same_data_encoder_and_settings(tmp_path):
    def stored(name, encoder="e", best=0.7, **settings):
        inputs = {"train": {"sha256": "t"}, "encoder": {"sha256": encoder}}
        training = {
            "best_f1": best,
            "steps": 40,
            "epochs": 4,
            "settings": {},
            "convergence": {"flat": False},
        }
        made = {
            "device": "cpu",
            "finished": "",
            "extractor": "casrel",
            "inputs": inputs,
            "settings": settings,
        }
        write_json(tmp_path / name, {**made, "training": training})
        return tmp_path / name

    (single,) = keys = [{"extractor": "casrel", "seed": 1}]
    once, twice = stored("once", epochs=4), stored("twice", best=0.705, epochs=4, double=True)
    write_training_facts([once], keys, tmp_path / "before.json", [twice], keys)
    again = [stored("again", epochs=4), stored("other", "f", epochs=4), stored("longer", epochs=5)]
    write_training_facts(
        again, [single] * 3, tmp_path / "now.json", earlier=[tmp_path / "before.json"]
    )
    facts = json.loads((tmp_path / "now.json").read_text())
    gained = {
        "gain": pytest.approx(0.005),
        "best_f1": 0.705,
        "steps": 40,
        "epochs": 4,
        "earlier": True,
    }
    assert facts[0]["doubled"] == gained
    assert [fact["doubled"] for fact in facts[1:]] == [None, None]
    write_json(tmp_path / "other.json", [{}])
    with pytest.raises(
        UserError,
        match=r"other.json: not the facts of trainings; expected trainings.json of a study",
    ):
        write_training_facts(
            again, [single] * 3, tmp_path / "now.json", earlier=[tmp_path / "other.json"]
        )
