"""Every study that ships with the project: its configuration is valid and its plan is the expected one."""

import pytest

from support.workflow import ROOT, jobs, snakemake
from tripleaudit.configuration import read_config
from tripleaudit.study import Study

STUDIES = sorted((ROOT / "config").glob("*.yaml"))


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_the_plan_of_a_study_has_one_job_for_each_training_and_table(path, tmp_path):
    study = Study(read_config(path))
    article = tmp_path / "haystacks" / "craft" / "article.txt"  # what one study expects under its raw_root
    article.parent.mkdir(parents=True)
    article.write_text("A first paragraph.\n\nA second one.\n" * 200)
    result = snakemake(tmp_path, "-n", "--quiet", "rules", config=path)
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-3000:]
    counts = jobs(result)
    assert counts.get("train", 0) == len(study.runs) + len(study.classifier_runs)
    predictions = counts.get("predict", 0) + counts.get("predict_with_augmented", 0)
    assert predictions == len(study.runs) + len(study.classifier_runs)
    assert counts.get("score", 0) == sum(len(study.testsets(run)) for run in study.runs)
    assert counts.get("score_two_step", 0) == len(study.two_step_runs)


def test_every_study_has_a_name_of_its_own():
    names = [read_config(path)["study"] for path in STUDIES]
    assert len(set(names)) == len(names)
    assert len(names) > 4
