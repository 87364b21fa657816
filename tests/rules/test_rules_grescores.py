"""The GREScore rules on small files: stored outputs, a judge behind an endpoint, topic models,
tables, reruns.
"""

import json

import pytest

from support.fake_endpoint import FakeEndpoint
from support.workflow import configure, planned, ran
from tripleaudit.core.files import read_json

TEXTS = [f"Ann met Bo{number} in Lyon." for number in range(6)]
GOLD = {text: [["Ann", "met", f"Bo{number}"]] for number, text in enumerate(TEXTS)}
OUTPUT = {text: [*triples, ["Bo", "lives in", "<b>Lyon</b>"]] for text, triples in GOLD.items()}


@pytest.fixture
def study(tmp_path):
    """A folder with a study of one data set and two systems, one of which a judge is asked
    about.
    """
    for name, value in (("gold.json", GOLD), ("out.json", OUTPUT)):
        (tmp_path / name).write_text(json.dumps(value), encoding="utf-8")
    stored = {text: {"score": 0.5, "results": [True, False]} for text in TEXTS}
    (tmp_path / "fs.json").write_text(json.dumps(stored), encoding="utf-8")

    def write(url="http://127.0.0.1:9/v1", systems=None, endpoint=None):
        endpoints = {"judge": {"base_url": url, "model": "judge", **(endpoint or {})}}
        stored = {"triples": "out.json", "factualness": "fs.json"}
        systems = {
            "stored": stored,
            "judged": {"triples": "out.json", "judge": True},
            **(systems or {}),
        }
        mine = {
            "level": "sentence",
            "gold": {"triples": "gold.json"},
            "topics": {"number": 2},
            "systems": systems,
        }
        section = {
            "embedder": None,
            "bootstrap": 20,
            "judge": {"endpoint": "judge"},
            "datasets": {"mine": mine},
        }
        config = {"study": "gre", "generative": {"endpoints": endpoints}, "grescores": section}
        configure(tmp_path, config)
        return tmp_path

    return write


def answer(body):
    """Judge every claim as supported and no triple as divisible."""
    return "true" if "Claim" in str(body) else '{"parts": []}'


@pytest.mark.slow
def test_stored_and_judged_outputs_are_rows_of_one_table(study):
    with FakeEndpoint(answer=answer) as fake:
        folder = study(fake.url)
        ran(folder)
    results = folder / "results" / "gre"
    table = (results / "tables" / "gre-sentence.md").read_text(encoding="utf-8")
    assert table.index("Ground truth") < table.index("judged")
    scores = (results / "gre" / "scores.csv").read_text(encoding="utf-8")
    assert "gre,mine,gre-sentence-open,,,judged,,,all,default,fs,1," in scores
    assert "gre,mine,gre-sentence-open,,,stored,,,all,default,fs,0.5," in scores
    assert ",judged,,,all,default,gs,1," in scores and ",stored,,,all,default,gs," not in scores
    assert ",ts," in scores and ",us," not in scores
    assert (
        read_json(results / "gre/mine/judged/judged/judge/report.json")["factualness"]["questions"]
        == 12
    )
    # The endpoint is gone: nothing is left to do, and a new judging run is answered from the cache.
    assert planned(folder) == {}
    # A further system is scored with the others, and nobody is asked again.
    found = planned(study(systems={"further": {"triples": "out.json"}}))
    assert set(found) == {"score_triples", "merge_scores", "tables", "write_report", "all"}
    # Neither does another address, time-out or endpoint: only what decides the answers makes the
    # judge judge again.
    assert not {"judge_triples", "score_triples"} & set(
        planned(study(endpoint={"timeout": 77, "prices": {"input": 1}}))
    )
    assert "judge_triples" in planned(study(endpoint={"temperature": 0.5}))
    ran(study(fake.url), "--forcerun", "judge_triples")
