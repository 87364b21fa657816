"""Plugins of a study: what they add is planned like the built-in things, and what is wrong is said with the rest."""

import pytest

from tripleaudit.errors import UserError
from tripleaudit.plan.study import Study

PLUGIN = """
from tripleaudit.descriptors import ExtractorSpec, MatchingRule, ProtocolSpec, TableSpec


def build(splits, *, most, seed: int = 0):
    return splits, {}


RECALL = ProtocolSpec(name="recall", build=build, train=False)
HARDER = ProtocolSpec(name="harder", build=build, pattern="harder-[0-9]+")
RULE = MatchingRule(name="folded", reduce=lambda span: span.text.lower())
TABLE = TableSpec(name="wz-alone", build=lambda inputs: None, possible=lambda study: study.settings == ["nz", "wz"])
SMALL = ExtractorSpec(
    name="small", model="tripleaudit.extractors.casrel:CasRel", base="casrel", presets={"quick": {"epochs": 1}}
)
"""


@pytest.fixture
def study(tmp_path):
    file = tmp_path / "plugin.py"
    file.write_text(PLUGIN, encoding="utf-8")

    def planned(**changes) -> Study:
        return Study({"study": "s", "corpora": {"webnlg": {}}, "plugins": [str(file)], **changes})

    return planned


def test_protocols_of_a_plugin_are_trained_on_or_tested_like_the_built_in_ones(study):
    plan = study(protocols={"recall": {"most": 3}, "harder-1": {"most": 2}}, extractors={"casrel": {}})
    assert plan.protocols == ["original", "recall", "harder-1"]
    assert plan.trainsets == ["original-nz", "harder-1-nz"]
    assert plan.data.built == ["recall", "harder-1"]
    assert plan.testsets(plan.runs[0].trainset) == [("test", "nz"), ("recall", "nz")]
    assert plan.data.protocol_json("harder-1") == '{"most": 2}'


def test_rules_tables_and_presets_of_a_plugin_are_known(study):
    plan = study(
        settings=["nz", "wz"],
        extractors={"small": {"preset": "quick", "matching": "folded"}},
        tables={"wz-alone": {"matching": "folded"}},
    )
    assert plan.tables == {"wz-alone": {"matching": "folded"}}
    settings = plan.trainings.settings_of("webnlg", "small")
    assert (settings["epochs"], settings["matching"]) == (1, "folded")


def test_what_a_plugin_adds_is_checked_with_the_rest(study):
    with pytest.raises(UserError) as caught:
        study(protocols={"recall": {"mast": 3}}, tables={"wz-alone": {}}, extractors={"tiny": {}})
    assert str(caught.value).splitlines()[1:] == [
        "- protocols/recall: unknown key 'mast', did you mean 'most'?",
        "- protocols/recall: the key 'most' is missing",
        "- extractors/tiny: unknown extractor 'tiny'; known are casrel, tplinker, tdeer, prgc, grte, pfn, onerel, "
        "birte, ptrnet, unirel, pfn-star, tdeer-drop-zero, casrel-drop-zero, small",
        next(line for line in str(caught.value).splitlines() if "wz-alone" in line),
    ]
    assert "this study cannot fill wz-alone" in str(caught.value)


def test_a_broken_plugin_is_one_line_among_the_problems(tmp_path):
    file = tmp_path / "broken.py"
    file.write_text("import nothing_of_this_name\n", encoding="utf-8")
    with pytest.raises(UserError) as caught:
        Study({"study": "s", "corpora": {"webnlg": {}}, "plugins": [str(file)], "seeds": [-1]})
    assert len(str(caught.value).splitlines()) == 3
    assert f"- plugins: plugin {file} line 1: cannot be loaded (ModuleNotFoundError" in str(caught.value)
