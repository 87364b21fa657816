"""What a run says at its end."""

import json

from tripleaudit.llm.store import Store
from tripleaudit.summary import RunSummary


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
    assert summary.finish(0, 3) == "" and not (folder / "logs").exists()
    assert (text := summary.finish(2, 1)) == (folder / "logs" / "summary.txt").read_text()
    assert text.splitlines() == [
        "Study s: 2 jobs ran, 1 were up to date, in 0:00",
        "Language models cost 0.5000 in this run, 0.7500 of a budget of 2 for the study so far",
        f"2 tables in {folder / 'tables'}: audit, type-f1",
        f"Report: {folder / 'report.html'}",
    ]


def test_money_is_spoken_of_where_a_price_was_paid_or_a_model_queried(tmp_path):
    assert "cost" not in RunSummary("s", tmp_path, {"cache": str(tmp_path)}).finish(1, 0)
    summary = RunSummary("s", tmp_path, {"cache": str(tmp_path), "systems": {"x": {}}})
    assert "Language models cost nothing: no request that has a price was sent" in summary.finish(
        1, 0
    )
    Store(tmp_path, "s").settle("asked", 0.5)  # without a budget, too
    assert "Language models cost 0.5000 in this run, 0.5000 for the study so far" in summary.finish(
        1, 0
    )


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
        {"keys": keys, "predicted": {"seconds": 1}},
    ]
    (tmp_path / "systems.json").write_text(json.dumps(facts))
    lines = RunSummary("s", tmp_path, {"cache": str(tmp_path)}).finish(1, 0).splitlines()
    assert lines[1:] == [
        "warning: poor has no scores: the budget of 1 is used up",
        "warning: 3 of 120 answers of odd (c, original) were truncated, refused or could not be read",
    ]
