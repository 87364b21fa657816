"""Plugins of a study: where their classes lie, and what depends on them; what they add, the text
of plans shows.
"""

from pathlib import Path

import pytest

from tripleaudit import jobs
from tripleaudit.core.errors import UserError
from tripleaudit.core.plugins import use_plugins
from tripleaudit.extractors.spec import EXTRACTORS, ExtractorSpec
from tripleaudit.scoring.matching import PRIMARY
from tripleaudit.scoring.spec import MATCHINGS
from tripleaudit.study.study import Study

PLUGIN = (Path(__file__).parents[2] / "data" / "plan" / "plugin.py").read_text(encoding="utf-8")


@pytest.fixture
def study(tmp_path):
    file = tmp_path / "plugin.py"
    file.write_text(PLUGIN, encoding="utf-8")

    def planned(**changes) -> Study:
        return Study({"study": "s", "corpora": {"webnlg": {}}, "plugins": [str(file)], **changes})

    return planned


@pytest.mark.parametrize(
    ("model", "expected"),
    [("models.py:Your", "models.py: has no class 'Your'"), ("none.py:A", "none.py: no such file")],
)
def test_the_class_of_a_plugin_s_extractor_is_looked_for_before_anything_runs(
    study, tmp_path, model, expected
):
    (tmp_path / "models.py").write_text("class Mine: ...\n", encoding="utf-8")
    spec = f"SPEC = ExtractorSpec(name='mine', model={str(tmp_path / model)!r})\n"
    (tmp_path / "plugin.py").write_text(PLUGIN + spec, encoding="utf-8")
    with pytest.raises(UserError, match=rf"\n- extractors/mine: .*{expected}"):
        study(extractors={"mine": {}})


def test_the_class_of_an_extractor_may_lie_in_a_module_of_an_installed_plugin(
    study, tmp_path, monkeypatch
):
    package = tmp_path / "installed" / "biored_audit"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    own = "from tripleaudit.extractors.settings import ExtractorSettings\nclass PairNet:\n"
    own += "    class settings(ExtractorSettings):\n        training_defaults = {'epochs': 3}\n"
    (package / "pairnet.py").write_text(own, encoding="utf-8")
    monkeypatch.syspath_prepend(str(package.parent))
    models = {"pairnet": "pairnet:PairNet", "other": "pairnet:Other", "none": "none:PairNet"}
    specs = [
        f"{name} = ExtractorSpec(name={name!r}, model='biored_audit.{model}')"
        for name, model in models.items()
    ]
    (tmp_path / "plugin.py").write_text("\n".join([PLUGIN, *specs]), encoding="utf-8")
    for name, expected in (("other", "has no class 'Other'"), ("none", "cannot be loaded")):
        with pytest.raises(UserError, match=rf"extractors/{name}: .*{expected}"):
            study(extractors={name: {}})
    plan = study(extractors={"pairnet": {}})
    assert plan.trainings.defaults("pairnet") == {"epochs": 3}
    assert any(name.endswith("pairnet.py") for name in jobs.extractor_code("train", "pairnet"))


def test_a_table_that_cannot_say_when_it_is_possible_is_named(study, tmp_path):
    (tmp_path / "plugin.py").write_text(
        PLUGIN.replace('study.settings == ["nz", "wz"]', "1 / 0"), encoding="utf-8"
    )
    with pytest.raises(
        UserError,
        match=r"plugin\.py: table wz-alone cannot tell .* \(ZeroDivisionError: division by",
    ):
        study()


def test_a_training_depends_on_its_own_matching_rule_and_on_no_other(study, tmp_path):
    """A rule that a plugin adds later trains nothing again, nor does moving an extractor's file."""
    before = jobs.command_code("train")
    plan = study(extractors={"casrel": {"matching": "folded"}, "pfn": {"matching": "exact"}})
    assert [plan.trainings.matching("webnlg", name) for name in ("casrel", "pfn")] == [
        "folded",
        PRIMARY,
    ]
    assert jobs.command_code("train") == before
    assert "plugin.py" in jobs.command_code("score-run")
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
