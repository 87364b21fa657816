"""What a run of the workflow did: jobs by stage, time, money, and where the results are. Imports nothing heavy."""

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tripleaudit.errors import UserError
from tripleaudit.files import atomic_write, read_jsonl
from tripleaudit.llm.cache import DEFAULT_CACHE
from tripleaudit.llm.ledger import Ledger
from tripleaudit.machine.progress import duration


@dataclass(frozen=True)
class Job:
    """One job of the run's plan.

    Attributes:
        rule: its rule.
        ran: in this run; else its results were up to date.
        benchmark: file with its time, empty if it has none.
    """

    rule: str
    ran: bool
    benchmark: str = ""


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

    def finish(self, jobs: Iterable[Job], rules: Sequence[str]) -> str:
        """Return the summary and keep it in ``logs/summary.txt`` of the study's folder.

        A run that made nothing (such as an estimate) has none: the text is empty.

        Args:
            jobs: all jobs of the run's plan, those with nothing to do included.
            rules: names of rules in the order of the stages.
        """
        jobs = list(jobs)
        if not any(job.ran and job.benchmark for job in jobs):
            return ""
        text = "\n".join(self._lines(jobs, rules)) + "\n"
        with atomic_write(self.folder / "logs" / "summary.txt") as stream:
            stream.write(text)
        return text

    def _lines(self, jobs: Sequence[Job], rules: Sequence[str]) -> Iterable[str]:
        timed = {job: seconds_of(job.benchmark) for job in jobs if job.benchmark}
        counted = [job for job in jobs if job.benchmark]  # others only name what is to be made
        ran = sum(job.ran for job in counted)
        yield (
            f"Study {self.study}: {ran} jobs ran, {len(counted) - ran} were up to date, in "
            f"{duration(time.monotonic() - self.began)}"
        )
        order = {name: place for place, name in enumerate(rules)}
        stages = sorted({job.rule for job in counted}, key=lambda name: order.get(name, len(order)))
        rows: list[tuple[str, ...]] = [("stage", "ran", "up to date", "time", "time of all")]
        for stage in stages:
            own = [job for job in counted if job.rule == stage]
            new = [job for job in own if job.ran]
            times = [sum(timed[job] for job in some) for some in (new, own)]
            rows.append((stage, str(len(new)), str(len(own) - len(new)), *map(duration, times)))
        widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
        for name, *figures in rows:
            cells = [name.ljust(widths[0])]
            cells += [figure.rjust(width) for figure, width in zip(figures, widths[1:], strict=True)]
            yield "  " + "  ".join(cells)
        yield "Times are those of the jobs one after the other, as their benchmarks have them."
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
            yield "Language models cost nothing: no endpoint has a price"

    def _spent(self) -> float:
        path = Path(self.generative.get("cache") or DEFAULT_CACHE) / f"ledger-{self.study}.jsonl"
        return Ledger(path).spent() if path.is_file() else 0.0


def seconds_of(benchmark: str | Path) -> float:
    """Return the wall time in a benchmark file of Snakemake, the mean of repeats; 0 where there is none."""
    path = Path(benchmark)
    if not path.is_file():
        return 0.0
    try:
        times = [float(row["s"]) for _, row in read_jsonl(path)]
    except (UserError, KeyError, TypeError, ValueError, json.JSONDecodeError):
        return 0.0
    return sum(times) / len(times) if times else 0.0
