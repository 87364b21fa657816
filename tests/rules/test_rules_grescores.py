"""The GREScore rules on small files: stored outputs, a judge behind an endpoint, topic models, tables, reruns."""

import json

import pytest

from support.fake_endpoint import FakeEndpoint
from support.workflow import change, planned, ran, refusal, refusals
from tripleaudit.files import read_json

TEXTS = [f"Ann met Bo{number} in Lyon." for number in range(6)]
GOLD = {text: [["Ann", "met", f"Bo{number}"]] for number, text in enumerate(TEXTS)}
OUTPUT = {text: [*triples, ["Bo", "lives in", "<b>Lyon</b>"]] for text, triples in GOLD.items()}


@pytest.fixture
def study(tmp_path):
    """A folder with a study of one data set and two systems, one of which a judge is asked about."""
    for name, value in (("gold.json", GOLD), ("out.json", OUTPUT)):
        (tmp_path / name).write_text(json.dumps(value), encoding="utf-8")
    stored = {text: {"score": 0.5, "results": [True, False]} for text in TEXTS}
    (tmp_path / "fs.json").write_text(json.dumps(stored), encoding="utf-8")

    def write(url="http://127.0.0.1:9/v1", endpoint=None, others=(), more=None, **changes):
        (tmp_path / "study.yaml").write_text(f"""
study: gre
generative:
  endpoints:
    judge: {{base_url: "{url}", model: fake-judge, max_retries: 0}}
    second: {{base_url: "{url}", model: fake-second, max_retries: 0}}
grescores:
  embedder:
  bootstrap: 20
  judge: {{endpoint: judge}}
  datasets:
    mine:
      level: sentence
      gold: {{triples: gold.json}}
      topics: {{number: 2}}
      systems:
        stored: {{triples: out.json, factualness: fs.json}}
        judged: {{triples: out.json, judge: true}}
""")
        endpoints = {name: endpoint or {} for name in ("judge", "second")}
        dataset = {"systems": more or {}, **changes}
        change(tmp_path, {"grescores": {"judge": {"others": list(others)}, "datasets": {"mine": dataset}}})
        change(tmp_path, {"generative": {"endpoints": endpoints}})
        return tmp_path

    return write


@pytest.mark.slow
def test_stored_and_judged_outputs_stand_in_one_table(study):
    with FakeEndpoint(answer=lambda body: "true" if "Claim" in str(body) else '{"parts": []}') as fake:
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
    report = read_json(results / "gre/mine/judged/judged/judge/report.json")
    assert report["factualness"]["questions"] == 12
    # The endpoint is gone: nothing is left to do, and a new judging run is answered from the cache.
    assert planned(folder) == {}
    # A further system is scored with the others, and nobody is asked again.
    study(more={"further": {"triples": "out.json"}})
    found = planned(folder)
    assert set(found) == {"score_triples", "merge_scores", "table", "plot", "write_report", "all"}
    # Neither does another address, time-out or endpoint: only what decides the answers makes the judge judge again.
    study(endpoint={"timeout": 77, "prices": {"input": 1, "output": 2}})
    assert not {"judge_triples", "score_triples"} & set(planned(folder))
    study(endpoint={"temperature": 0.5})
    assert "judge_triples" in planned(folder)
    study(fake.url)
    ran(folder, "--forcerun", "judge_triples")


@pytest.mark.slow
def test_a_second_judge_stands_next_to_the_first(study):
    def answer(body):
        if "Claim" not in str(body):
            return '{"parts": []}'
        return "true" if body["model"] == "fake-judge" or "lives in" not in str(body["messages"][-1]) else "false"

    with FakeEndpoint(answer=answer) as fake:
        folder = study(fake.url, others=["second"])
        ran(folder)
    scores = (folder / "results/gre/gre/scores.csv").read_text(encoding="utf-8")
    assert ",judged,,,all,default,fs,1," in scores and ",judged,,,all,default,fs:second,0.5," in scores
    table = (folder / "results/gre/tables/gre-sentence.md").read_text(encoding="utf-8")
    assert "FS (second)" in table and "Cohen's kappa" in table
    # another judge judges; the first one's answers stand
    assert "judge_triples" not in planned(study(others=[]))


def test_only_what_depends_on_a_change_is_planned(study):
    first = {"train_topics", "judge_triples", "score_triples", "merge_scores", "table"}
    assert set(planned(study())) >= first
    assert "train_topics" not in planned(study(topics=None))


REFUSED = """
corpus: nyt
-> grescores/datasets/mine: expected exactly one of gold, corpus, generative
{gold: null, corpus: nyt}
-> unknown corpus 'nyt'
others: [judge]
-> grescores/judge/others: a judge is named twice
level: page
-> level: expected one of 'sentence', 'bag' or 'document', got 'page'
systems: {a: {triple: x}}
-> unknown key 'triple', did you mean 'triples'?
systems: {a: {triples: out.json, row: both}, b: {triples: out.json, row: both}}
-> grescores/datasets/mine/systems/b/row: row and seed of 'a'; expected a seed for each
"""


@pytest.mark.parametrize(("changes", "message"), refusals(REFUSED))
def test_bad_sections_are_refused_before_anything_runs(study, changes, message):
    assert message in refusal(study(**changes))
