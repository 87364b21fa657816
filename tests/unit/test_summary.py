"""What a run says at its end."""

from tripleaudit.llm.ledger import Ledger
from tripleaudit.summary import Job, RunSummary


def test_jobs_money_and_places(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
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
    jobs = [Job(True, made=True), Job(True, made=True), Job(False, made=True), Job(True, made=False)]
    text = summary.finish(jobs)
    assert text.splitlines()[0] == "Study s: 2 jobs ran, 1 were up to date, in 0:00"
    assert "Language models cost 0.5000 in this run, 0.7500 of a budget of 2 for the study so far" in text
    assert f"2 tables in {folder / 'tables'}: audit, type-f1" in text
    assert f"Report: {folder / 'report.html'}" in text
    assert (folder / "logs" / "summary.txt").read_text() == text


def test_without_language_models_nothing_is_said_about_money(tmp_path):
    summary = RunSummary("s", tmp_path, {"cache": str(tmp_path)})
    summary.start()
    assert summary.finish([Job(False, made=True), Job(True, made=False)]) == ""
    assert not (tmp_path / "logs").exists()
    jobs = [Job(True, made=True)]
    assert "cost" not in summary.finish(jobs)
    assert not (tmp_path / "ledger-s.jsonl").exists()
    endpoints = {"e": {"prices": {"input": 2, "output": 8}}}  # of which nothing was asked
    summary = RunSummary("s", tmp_path, {"cache": str(tmp_path), "systems": {"x": {}}, "endpoints": endpoints})
    assert "Language models cost nothing: no request that has a price was sent" in summary.finish(jobs)
    Ledger(tmp_path / "ledger-s.jsonl").settle("asked", 0.5)  # without a budget, too
    assert "Language models cost 0.5000 in this run, 0.5000 for the study so far" in summary.finish(jobs)
