"""Summary at the end of a run: jobs, time, money, findings, failures and places of results."""

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from tripleaudit.core.files import atomic_write
from tripleaudit.core.progress import duration
from tripleaudit.llm.store import DEFAULT_CACHE, Store

SUMMARY: Final = Path("logs") / "summary.txt"


def failures(folder: Path) -> list[str]:
    """Return a sentence for each system of a study that has no scores.

    Args:
        folder: ``results/<study>``.
    """
    found = {fact["system"]: fact["failed"] for fact in _system_facts(folder) if fact.get("failed")}
    return [f"{system} has no scores: {reason}" for system, reason in found.items()]


def findings_of(folder: Path) -> Iterator[str]:
    """Yield the headlines of a study with their numbers, and the ranking of its systems.

    Args:
        folder: ``results/<study>``.
    """
    path = folder / "contrasts.parquet"
    if not path.is_file():
        return
    # pandas is imported at the end of a run only
    from tripleaudit.tables.frames import read_contrasts
    from tripleaudit.tables.headlines import make_headlines
    from tripleaudit.tables.ranking import ranking_lines

    found = make_headlines(read_contrasts(path))
    for headline in found.headlines:
        yield headline.title
        yield f"  {headline.numbers}"
    yield from found.remarks
    yield from ranking_lines(found.ranking)


def warnings_of(folder: Path) -> Iterator[str]:
    """Yield a line for each system without scores, with unreadable answers or other addresses' ones."""
    yield from (f"warning: {failure}" for failure in failures(folder))
    for fact in _system_facts(folder):
        unread = fact.get("unreadable", 0) + fact.get("truncated", 0)
        if unread and not fact.get("failed"):
            yield (
                f"warning: {unread} of {fact['answers']} answers of {fact['system']} ({_test_set(fact)}) are "
                "unreadable (truncated, refused or not in the requested form)"
            )
        if others := fact.get("from_other_address"):
            yield (
                f"warning: {others} of {fact['cached'] + fact['sent']} answers of {fact['system']} ({_test_set(fact)}) "
                "were stored for the same model at another address"
            )


def results_of(folder: Path) -> Iterator[str]:
    """Yield the findings and warnings of a study and the places of its results.

    Args:
        folder: ``results/<study>``.
    """
    yield from findings_of(folder)
    yield from warnings_of(folder)
    if tables := sorted(path.stem for path in (folder / "tables").glob("*.md")):
        yield f"{len(tables)} table{'s' * (len(tables) > 1)} in {folder / 'tables'}: {', '.join(tables)}"
    for name in ("report.html", "scores.csv"):
        if (folder / name).is_file():
            yield f"{name.partition('.')[0].capitalize()}: {folder / name}"


def time_of_summary(folder: Path) -> float | None:
    """Return when a run of a study last wrote its summary; None if none has."""
    path = folder / SUMMARY
    return path.stat().st_mtime if path.is_file() else None


def _test_set(fact: Mapping[str, Any]) -> str:
    return f"{fact['keys']['corpus']}, {fact['keys']['protocol']}"


def _system_facts(folder: Path) -> list[dict[str, Any]]:
    """Return the facts of systems; of trained extractors the file has only what predicting took."""
    path = folder / "systems.json"
    facts = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
    return [fact for fact in facts if "system" in fact]


class RunSummary:
    """Summary of one run of the workflow.

    Args:
        study: name of the study.
        folder: ``results/<study>``.
        generative: the configuration section of that name, for cache and budget.
    """

    def __init__(self, study: str, folder: Path, generative: Mapping[str, Any]):
        self.study = study
        self.folder = folder
        self.generative = generative
        self.start()

    def start(self) -> None:
        """Note time and money before the first job."""
        self.started = time.time()
        self.spent = self._spent()

    def finish(self) -> str:
        """Return the summary and write it to ``logs/summary.txt``; empty if no job ran."""
        finished = [path.stat().st_mtime for path in (self.folder / "benchmarks").rglob("*.jsonl")]
        ran = sum(time_of_end >= self.started for time_of_end in finished)
        if not ran:
            return ""
        text = "".join(f"{line}\n" for line in self._lines(ran, len(finished) - ran))
        with atomic_write(self.folder / SUMMARY) as stream:
            stream.write(text)
        return text

    def _lines(self, ran: int, earlier: int) -> Iterator[str]:
        """Yield the lines; every job leaves a benchmark file, by which they are counted."""
        took = duration(time.time() - self.started)
        yield f"Study {self.study}: {ran} jobs ran in {took}, {earlier} in earlier runs"
        spent, budget = self._spent(), self.generative.get("budget")
        if spent or budget is not None:
            limit = "" if budget is None else f" of a budget of {budget:g}"
            yield f"Language models cost {spent - self.spent:.4f} in this run, {spent:.4f}{limit} for the study so far"
        elif self.generative.get("systems"):
            yield "Language models cost nothing: no request that has a price was sent"
        yield from results_of(self.folder)

    def _spent(self) -> float:
        with closing(Store(self.generative.get("cache") or DEFAULT_CACHE, self.study)) as store:
            return store.spent()
