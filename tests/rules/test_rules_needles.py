"""The MINEA rules on a small document against a scripted endpoint: tables, plot, reruns, messages."""

import pytest
import yaml

from support.fake_endpoint import FakeEndpoint
from support.needle_model import NeedleModel, make_document
from support.workflow import jobs, snakemake

MODEL = {"iterations": 0, "piece_chars": 3000, "reserve": 300}


@pytest.fixture
def study(tmp_path):
    """A folder with one document and a study of it."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "report.txt").write_text(make_document(60).text, encoding="utf-8")

    def write(url, **changes):
        needles = {"documents": ["notes"], "models": ["fake"], "schema": "demo", "parts": 2, **MODEL, **changes}
        endpoint = {"base_url": url, "model": "fake", "max_retries": 0}
        config = {"study": "own", "generative": {"endpoints": {"fake": endpoint}}, "needles": needles}
        (tmp_path / "study.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
        return tmp_path

    return write


TARGETS = ("results/own/tables/minea.md", "results/own/plots/lost-in-the-middle.svg")


@pytest.mark.slow
def test_a_study_is_run_and_a_change_reruns_what_depends_on_it(study):
    dry_run = ("-n", "--quiet", "rules")
    with FakeEndpoint(NeedleModel(forgotten=(1,))) as fake:
        folder = study(fake.url)
        result = snakemake(folder, "--", *TARGETS)
        assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-3000:]
    assert "Overall" in (folder / TARGETS[0]).read_text(encoding="utf-8")
    assert "<svg" in (folder / TARGETS[1]).read_text(encoding="utf-8")
    assert jobs(snakemake(folder, *dry_run, "--", *TARGETS)) == {}
    every = jobs(snakemake(folder, *dry_run))
    assert every.pop("all") == 1 and every == {"needle_table": 5, "write_report": 1}
    counted = jobs(snakemake(study(fake.url, synonyms=True), *dry_run, "--", *TARGETS))
    assert counted == {"score_needles": 1, "merge_needle_scores": 1, "needle_table": 1, "needle_plot": 1}
    (folder / "notes" / "more.txt").write_text(make_document(50).text, encoding="utf-8")
    assert jobs(snakemake(study(fake.url), *dry_run, "--", *TARGETS))["make_needles"] == 1


def test_a_document_that_is_not_there(study):
    result = snakemake(study("http://127.0.0.1:9/v1", documents=["nowhere"]), "--dry-run")
    message = "needles/documents: nowhere: no such file or folder, neither here nor under raw_root, which is not set"
    assert result.returncode != 0 and message in result.stdout + result.stderr, result.stdout
