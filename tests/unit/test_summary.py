"""What a run says at its end."""

import json
import os
import time

import pytest

from support.scored import Results
from tripleaudit.llm.store import Store
from tripleaudit.summary import RunSummary
from tripleaudit.tables.frames import read_contrasts, write_frames
from tripleaudit.tables.headlines import make_headlines


@pytest.fixture(autouse=True)
def one_finished_job(tmp_path):
    """Leave the benchmark file of a job that ends after the run began."""
    finish_job(tmp_path)


def finish_job(folder, name="table", seconds_later=60):
    path = folder / "benchmarks" / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}")
    ended = time.time() + seconds_later
    os.utime(path, (ended, ended))


def test_jobs_money_and_paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "results" / "s"
    (folder / "tables").mkdir(parents=True)
    for name in ("type-f1.md", "type-f1.csv", "audit.md"):
        (folder / "tables" / name).write_text("")
    (folder / "report.html").write_text("")
    store = Store("cache", "s")
    store.settle("before", 0.25)
    summary = RunSummary("s", folder, {"cache": "cache", "budget": 2})
    store.settle("now", 0.5)
    finish_job(folder, "corpus", seconds_later=-3600)
    assert summary.finish() == "" and not (folder / "logs").exists()
    finish_job(folder, "audit")
    finish_job(folder, "table")
    assert (text := summary.finish()) == (folder / "logs" / "summary.txt").read_text()
    assert text.splitlines() == [
        "Study s: 2 jobs ran in 0:00, 1 in earlier runs",
        "Language models cost 0.5000 in this run, 0.7500 of a budget of 2 for the study so far",
        f"2 tables in {folder / 'tables'}: audit, type-f1",
        f"Report: {folder / 'report.html'}",
    ]


def test_money_is_spoken_of_where_a_price_was_paid_or_a_model_queried(tmp_path):
    assert "cost" not in RunSummary("s", tmp_path, {"cache": str(tmp_path)}).finish()
    summary = RunSummary("s", tmp_path, {"cache": str(tmp_path), "systems": {"x": {}}})
    assert "Language models cost nothing: no request that has a price was sent" in summary.finish()
    Store(tmp_path, "s").settle("asked", 0.5)  # without a budget, too
    assert (
        "Language models cost 0.5000 in this run, 0.5000 for the study so far" in summary.finish()
    )


def test_headlines_and_ranking_are_those_of_the_report(tmp_path):
    made = Results(tmp_path)
    for name, quality in (("casrel", 0.8), ("prgc", 0.3)):
        made.run(name, quality=quality)
    write_frames(tmp_path, made.scores, made.counts)
    found = make_headlines(read_contrasts(tmp_path / "contrasts.parquet"))
    lines = RunSummary("s", tmp_path, {"cache": str(tmp_path)}).finish().splitlines()
    assert lines[1].startswith("CasRel leads by ") and lines[2].startswith("  CasRel against PRGC")
    assert [headline.title for headline in found.headlines] == lines[1::2][: len(found.headlines)]
    start = lines.index("F1 on the original test set of WebNLG:")
    assert [line.split()[:2] for line in lines[start + 1 : start + 3]] == [
        ["1.", "CasRel"],
        ["2.", "PRGC"],
    ]


def test_failed_systems_and_unread_answers_are_named(tmp_path):
    keys = {"corpus": "c", "protocol": "original"}
    facts = [
        {"keys": keys, "system": "poor", "failed": "the budget of 1 is used up"},
        {
            "keys": keys,
            "system": "odd",
            "failed": None,
            "answers": 120,
            "unreadable": 3,
            "truncated": 0,
        },
        {"keys": keys, "system": "moved", "cached": 9, "sent": 1, "from_other_address": 8},
        {"keys": keys, "predicted": {"seconds": 1}},
    ]
    (tmp_path / "systems.json").write_text(json.dumps(facts))
    lines = RunSummary("s", tmp_path, {"cache": str(tmp_path)}).finish().splitlines()
    assert lines[1:] == [
        "warning: poor has no scores: the budget of 1 is used up",
        "warning: 3 of 120 answers of odd (c, original) are unreadable (truncated, refused or not in "
        "the requested form)",
        "warning: 8 of 10 answers of moved (c, original) were stored for the same model at another address",
    ]
