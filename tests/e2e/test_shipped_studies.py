"""Every study that ships with the project: its configuration is valid and its plan is the
expected one.
"""

from collections import Counter

import pytest

from support.workflow import ROOT, planned
from tripleaudit.core.yaml_files import read_yaml
from tripleaudit.study.study import Study

STUDIES = sorted((ROOT / "config").glob("*.yaml"))
QUICK = ("config", "genres", "minea", "webnlg-stored")  # every stage


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=() if path.stem in QUICK else pytest.mark.thorough)
        for path in STUDIES
    ],
    ids=lambda path: path.stem,
)
def test_the_plan_of_a_study_has_one_job_for_each_training_and_one_for_all_tables(
    path, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    article = (
        tmp_path / "haystacks" / "craft" / "article.txt"
    )  # what one study expects under its raw_root
    article.parent.mkdir(parents=True)
    article.write_text("A first paragraph.\n\nA second one.\n" * 200)
    study = Study.read(path)
    counts = Counter(planned(tmp_path, config=path))
    trained = len(study.runs.trained)
    assert counts["train"] == counts["predict"] + counts["predict_with_augmented"] == trained
    classified = [path for path in study.runs.scores if path.endswith("/classification")]
    assert counts["score_classifier"] == len(classified) >= len(study.runs.classifiers)
    tested = sum(len(study.protocol_sets.testsets(run.trainset)) for run in study.runs.extractors)
    tested += len(study.runs.two_steps)
    scored = len(study.runs.scores) - len(classified)
    assert counts["score"] == scored + len(study.runs.doubled_scores) and scored >= tested
    assert counts["tables"] == bool(study.tables)
    if study.extractors and study.corpora:
        assert counts["prepare_corpus"] == 3 * len(study.corpora)
        assert counts["audit"] == len(study.corpora) * len(study.protocols)


def test_every_study_has_a_name_of_its_own():
    names = [read_yaml(path)["study"] for path in STUDIES]
    assert len(set(names)) == len(names)


def test_at_most_twelve_studies_ship_and_the_page_says_what_each_shows():
    page = (ROOT / "docs" / "howto" / "study.md").read_text(encoding="utf-8")
    rows = [f"](../../config/{path.name}) |" for path in STUDIES]
    assert len(rows) <= 12
    assert not [row for row in rows if page.count(row) != 1]
