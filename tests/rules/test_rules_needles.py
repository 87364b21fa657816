"""The MINEA rules on a small document against a scripted endpoint: tables, plot, reruns,
messages.
"""

import pytest

from support.fake_endpoint import FakeEndpoint
from support.needle_model import NeedleModel, make_document
from support.workflow import configure, planned, ran

MODEL = {"iterations": 0, "piece_chars": 3000, "reserve": 300}


@pytest.fixture
def study(tmp_path):
    """A folder with one document and a study of it."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "report.txt").write_text(make_document(60).text, encoding="utf-8")

    def write(url, **changes):
        needles = {
            "documents": ["notes"],
            "models": ["fake"],
            "schema": "demo",
            "parts": 2,
            **MODEL,
            **changes,
        }
        endpoint = {
            "base_url": url,
            "model": "fake",
            "max_retries": 0,
            "temperature": 0.7,
            "seed": 5,
        }
        config = {
            "study": "own",
            "generative": {"endpoints": {"fake": endpoint}},
            "needles": needles,
        }
        configure(tmp_path, config)
        return tmp_path

    return write


SCORES = "results/own/needles/scores.csv"
TARGETS = ("results/own/tables/minea.md", "results/own/plots/lost-in-the-middle.svg")


@pytest.mark.slow
def test_a_study_is_run_and_a_change_reruns_what_depends_on_it(study):
    with FakeEndpoint(NeedleModel(forgotten=(1,))) as fake:
        folder = study(fake.url)
        ran(folder, "--", *TARGETS)
    assert "Overall" in (folder / TARGETS[0]).read_text(encoding="utf-8")
    assert "<svg" in (folder / TARGETS[1]).read_text(encoding="utf-8")
    assert planned(folder, "--", *TARGETS) == {}
    every = planned(folder)
    assert every.pop("all") == 1 and every == {"write_report": 1}
    counted = planned(study(fake.url, thresholds=[0.4]), "--", *TARGETS)
    assert counted == {
        "rate_needles": 1,
        "score_needles": 1,
        "merge_scores": 1,
        "tables": 1,
        "plots": 1,
    }
    (folder / "notes" / "more.txt").write_text(make_document(50).text, encoding="utf-8")
    assert planned(study(fake.url), "--", *TARGETS)["make_needles"] == 1
