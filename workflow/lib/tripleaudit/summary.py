"""What a run of the workflow did: jobs, time, money, and where the results are. Imports nothing heavy."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tripleaudit.files import atomic_write
from tripleaudit.llm.cache import DEFAULT_CACHE
from tripleaudit.llm.ledger import Ledger
from tripleaudit.machine.progress import duration


@dataclass(frozen=True)
class Job:
    """One job of the run's plan.

    Attributes:
        ran: in this run; else its results were up to date.
        made: whether it makes something; others only name what is to be made.
    """

    ran: bool
    made: bool


@dataclass
class RunSummary:
    """Notes the beginning of a run and tells at its end what it did.

    Args:
        study: name of the study.
        folder: ``results/<study>``.
        generative: the configuration section of that name, for cache and budget.
    """

    study: str
    folder: Path
    generative: Mapping[str, Any]
    began: float = field(default_factory=time.monotonic)
    spent: float = 0.0

    def start(self) -> None:
        """Note time and money before the first job."""
        self.began, self.spent = time.monotonic(), self._spent()

    def finish(self, jobs: Iterable[Job]) -> str:
        """Return the summary and keep it in ``logs/summary.txt`` of the study's folder.

        A run that made nothing (such as an estimate) has none: the text is empty.

        Args:
            jobs: all jobs of the run's plan, those with nothing to do included.
        """
        jobs = list(jobs)
        if not any(job.ran and job.made for job in jobs):
            return ""
        text = "\n".join(self._lines(jobs)) + "\n"
        with atomic_write(self.folder / "logs" / "summary.txt") as stream:
            stream.write(text)
        return text

    def _lines(self, jobs: Sequence[Job]) -> Iterable[str]:
        counted = [job for job in jobs if job.made]
        ran = sum(job.ran for job in counted)
        yield (
            f"Study {self.study}: {ran} jobs ran, {len(counted) - ran} were up to date, in "
            f"{duration(time.monotonic() - self.began)}"
        )
        yield from self._money()
        tables = sorted(path.stem for path in (self.folder / "tables").glob("*.md"))
        if tables:
            yield f"{len(tables)} table{'s' * (len(tables) > 1)} in {self.folder / 'tables'}: {', '.join(tables)}"
        for name in ("report.html", "scores.csv"):
            if (self.folder / name).is_file():
                yield f"{name.partition('.')[0].capitalize()}: {self.folder / name}"

    def _money(self) -> Iterable[str]:
        spent, budget = self._spent(), self.generative.get("budget")
        if spent or budget is not None:
            limit = "" if budget is None else f" of a budget of {budget:g}"
            yield f"Language models cost {spent - self.spent:.4f} in this run, {spent:.4f}{limit} for the study so far"
        elif self.generative.get("systems"):
            yield "Language models cost nothing: no request that has a price was sent"

    def _spent(self) -> float:
        path = Path(self.generative.get("cache") or DEFAULT_CACHE) / f"ledger-{self.study}.jsonl"
        return Ledger(path).spent() if path.is_file() else 0.0
