"""Plugins of a study: what they add is planned like the built-in things, and what is wrong is said with the rest."""

import pytest

from tripleaudit import jobs
from tripleaudit.descriptors import EXTRACTORS, MATCHINGS, ExtractorSpec
from tripleaudit.errors import UserError
from tripleaudit.plan.study import Study
from tripleaudit.registries import use_plugins
from tripleaudit.scoring.matching import PRIMARY

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
    small, tables = {"preset": "quick", "matching": "folded"}, {"wz-alone": {"matching": "folded"}}
    plan = study(settings=["nz", "wz"], extractors={"small": small}, tables=tables)
    assert plan.tables == tables
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


@pytest.mark.parametrize(
    ("model", "expected"),
    [("models.py:Your", "models.py: has no class 'Your'"), ("none.py:A", "none.py: no such file")],
)
def test_the_class_of_a_plugin_s_extractor_is_looked_for_before_anything_runs(study, tmp_path, model, expected):
    (tmp_path / "models.py").write_text("class Mine: ...\n", encoding="utf-8")
    spec = f"SPEC = ExtractorSpec(name='mine', model={str(tmp_path / model)!r})\n"
    (tmp_path / "plugin.py").write_text(PLUGIN + spec, encoding="utf-8")
    with pytest.raises(UserError, match=rf"\n- extractors/mine: .*{expected}"):
        study(extractors={"mine": {}})


def test_the_class_of_an_extractor_may_lie_in_a_module_of_an_installed_plugin(study, tmp_path, monkeypatch):
    package = tmp_path / "installed" / "biored_audit"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    own = "from tripleaudit.extractors.declared import ExtractorSettings\nclass PairNet:\n"
    own += "    class settings(ExtractorSettings):\n        training_defaults = {'epochs': 3}\n"
    (package / "pairnet.py").write_text(own, encoding="utf-8")
    monkeypatch.syspath_prepend(str(package.parent))
    models = {"pairnet": "pairnet:PairNet", "other": "pairnet:Other", "none": "none:PairNet"}
    specs = [f"{name} = ExtractorSpec(name={name!r}, model='biored_audit.{model}')" for name, model in models.items()]
    (tmp_path / "plugin.py").write_text("\n".join([PLUGIN, *specs]), encoding="utf-8")
    for name, expected in (("other", "has no class 'Other'"), ("none", "cannot be loaded")):
        with pytest.raises(UserError, match=rf"extractors/{name}: .*{expected}"):
            study(extractors={name: {}})
    plan = study(extractors={"pairnet": {}})
    assert plan.trainings.defaults("pairnet") == {"epochs": 3}
    assert any(name.endswith("pairnet.py") for name in jobs.extractor_code("train", "pairnet"))


def test_a_table_that_cannot_say_when_it_is_possible_is_named(study, tmp_path):
    (tmp_path / "plugin.py").write_text(PLUGIN.replace('study.settings == ["nz", "wz"]', "1 / 0"), encoding="utf-8")
    with pytest.raises(UserError, match=r"plugin\.py: table wz-alone cannot tell .* \(ZeroDivisionError: division by"):
        study()


def test_a_training_depends_on_its_own_matching_rule_and_on_no_other(study, tmp_path):
    """A rule that a plugin adds later trains nothing again, nor does moving an extractor's file."""
    train = "python -m tripleaudit train"
    before = jobs.rule_code(train)
    plan = study(extractors={"casrel": {"matching": "folded"}, "pfn": {"matching": "exact"}})
    assert [plan.trainings.matching("webnlg", name) for name in ("casrel", "pfn")] == ["folded", PRIMARY]
    assert jobs.rule_code(train) == before
    assert "plugin.py" in dict(jobs.rule_code("python -m tripleaudit score-run"))
    assert jobs.described_code("train", MATCHINGS, "folded")["plugin.py"]
    assert set(jobs.described_code("train", MATCHINGS, PRIMARY)) == {"matching rule as described"}


def test_where_an_extractor_lies_decides_nothing(tmp_path):
    here, there = (tmp_path / folder / "models.py" for folder in ("here", "there"))
    for file in (here, there):
        file.parent.mkdir()
        file.write_text("class Mine: ...\n", encoding="utf-8")
    use_plugins([f"mine={here}:Mine"])
    before = jobs.extractor_code("train", "mine")
    assert set(before) == {"models.py", "extractor as described"}
    EXTRACTORS.add(ExtractorSpec(name="mine", model=f"{there}:Mine"), file=str(there), replace=True)
    assert jobs.extractor_code("train", "mine") == before


def test_a_broken_plugin_is_one_line_among_the_problems(tmp_path):
    file = tmp_path / "broken.py"
    file.write_text("import nothing_of_this_name\n", encoding="utf-8")
    with pytest.raises(UserError) as caught:
        Study({"study": "s", "corpora": {"webnlg": {}}, "plugins": [str(file)], "seeds": [-1]})
    assert len(str(caught.value).splitlines()) == 3
    assert f"- plugins: plugin {file} line 1: cannot be loaded (ModuleNotFoundError" in str(caught.value)
