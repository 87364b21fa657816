"""What a run says at its end."""

import re

import pytest

from tripleaudit.files import write_jsonl
from tripleaudit.llm.ledger import Ledger
from tripleaudit.summary import Job, RunSummary, seconds_of


def test_stages_times_money_and_places(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, seconds in (("a", 100.0), ("b", 50.0), ("t", 2.0)):
        write_jsonl(f"{name}.jsonl", [{"s": seconds}])
    folder = tmp_path / "results" / "s"
    (folder / "tables").mkdir(parents=True)
    for name in ("type-f1.md", "type-f1.csv", "audit.md"):
        (folder / "tables" / name).write_text("")
    (folder / "report.html").write_text("")
    ledger = Ledger("cache/ledger-s.jsonl")
    ledger.settle("before", 0.25)
    summary = RunSummary("s", folder, {"cache": "cache", "budget": 2})
    summary.start()
    ledger.settle("now", 0.5)
    jobs = [
        Job("table", True, "t.jsonl"),
        Job("train", True, "a.jsonl"),
        Job("train", False, "b.jsonl"),
        Job("all", True),
    ]
    text = summary.finish(jobs, ["train", "table", "all"])
    lines = text.splitlines()
    assert lines[0] == "Study s: 2 jobs ran, 1 were up to date, in 0:00"
    assert lines[1].split() == ["stage", "ran", "up", "to", "date", "time", "time", "of", "all"]
    assert lines[2].split() == ["train", "1", "1", "1:40", "2:30"]
    assert lines[3].split() == ["table", "1", "0", "0:02", "0:02"]
    assert "Language models cost 0.5000 in this run, 0.7500 of a budget of 2 for the study so far" in text
    assert f"2 tables in {folder / 'tables'}: audit, type-f1" in text
    assert f"Report: {folder / 'report.html'}" in text
    assert (folder / "logs" / "summary.txt").read_text() == text


def test_without_language_models_nothing_is_said_about_money(tmp_path):
    summary = RunSummary("s", tmp_path, {"cache": str(tmp_path)})
    summary.start()
    assert summary.finish([Job("train", False, "a.jsonl"), Job("estimate", True)], []) == ""
    assert not (tmp_path / "logs").exists()
    jobs = [Job("train", True, "a.jsonl")]
    assert "cost" not in summary.finish(jobs, [])
    assert not (tmp_path / "ledger-s.jsonl").exists()
    summary = RunSummary("s", tmp_path, {"cache": str(tmp_path), "systems": {"x": {}}})
    assert "Language models cost nothing: no endpoint has a price" in summary.finish(jobs, [])


def test_every_rule_that_makes_something_is_timed(root):
    rule = re.compile(r"^ *(?:use )?rule (\w+).*?:\n(.*?)(?=^ *(?:use )?rule |\Z)", re.DOTALL | re.MULTILINE)
    made = {}
    for path in sorted((root / "workflow" / "rules").glob("*.smk")):
        for name, body in rule.findall(path.read_text(encoding="utf-8")):
            if re.search(r"^ +output:", body, re.MULTILINE):
                made[name] = "benchmark:" in body
    assert len(made) > 30
    assert [name for name, timed in made.items() if not timed] == []


@pytest.mark.parametrize("rows", [[], [{"x": 1}], [{"s": "?"}], ["text"]])
def test_a_benchmark_that_says_nothing(tmp_path, rows):
    write_jsonl(tmp_path / "b.jsonl", rows)
    assert seconds_of(tmp_path / "b.jsonl") == 0.0
    assert seconds_of(tmp_path / "missing.jsonl") == 0.0
    write_jsonl(tmp_path / "repeats.jsonl", [{"s": 1.0}, {"s": 3.0}])
    assert seconds_of(tmp_path / "repeats.jsonl") == 2.0
