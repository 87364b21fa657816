"""The language-model stage of a study in figures: jobs, requests, tokens and money that are still to come."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tripleaudit.corpora import load_sentences
from tripleaudit.files import read_json
from tripleaudit.generative import settings
from tripleaudit.generative.client import Client
from tripleaudit.generative.estimate import Estimate
from tripleaudit.generative.extraction import build_task
from tripleaudit.generative.ledger import Ledger


def plan(section: Mapping[str, Any], study: str, results: Path) -> dict[str, Any]:
    """Return what the extractions of a section would still send; reads texts and cache, sends nothing.

    Returns:
        ``{"jobs": [{"dataset", "system", "endpoint", "done", + fields of Estimate}], "total": Estimate's fields,
        "unknown": [data sets whose texts are not prepared yet], "missing_keys", "budget", "spent"}``. The requests of
        a job whose result exists, made as the section now says, are not counted.
    """
    jobs, total, unknown = [], Estimate(), []
    cache = Path(section.get("cache") or settings.DEFAULT_CACHE)
    for dataset, name in settings.systems_of(section):
        system = section["systems"][name]
        texts = results / "generative" / dataset / "texts.jsonl"
        report = results / "generative" / dataset / name / "report.json"
        asked = settings.identity(section, dataset, name)
        done = report.exists() and read_json(report).get("identity") == json.loads(json.dumps(asked))
        figures = Estimate()
        if not texts.exists():
            unknown.append(dataset)
        elif not done:
            sentences = load_sentences(texts)
            task = build_task(system, section["datasets"][dataset], sentences)
            with Client(settings.endpoint(section, system["endpoint"]), cache) as client:
                figures = client.estimate(request for _, _, request in task.requests(sentences))
        total += figures
        jobs.append(
            {"dataset": dataset, "system": name, "endpoint": system["endpoint"], "done": done, **asdict(figures)}
        )
    ledger = cache / f"ledger-{study}.jsonl"
    return {
        "jobs": jobs,
        "total": asdict(total),
        "unknown": sorted(set(unknown)),
        "missing_keys": settings.missing_keys(section),
        "budget": section.get("budget"),
        "spent": Ledger(ledger).committed() if ledger.exists() else 0.0,
    }


def as_table(result: Mapping[str, Any]) -> str:
    """Return the plan as lines of text: one a job, the sum, and what stands in the way."""
    columns = (
        "data set",
        "system",
        "endpoint",
        "requests",
        "cached",
        "to pay",
        "tokens in",
        "tokens out",
        "money",
        "at most",
    )
    rows = [columns]
    for job in [*result["jobs"], {"dataset": "total", "system": "", "endpoint": "", "done": False, **result["total"]}]:
        figures = (job["total"], job["cached"], job["to_pay"], job["prompt_tokens"], job["completion_tokens"])
        money = (f"{job['cost']:.4f}", f"{job['cost_limit']:.4f}")
        end = ("done",) + ("",) * 6 if job["done"] else (*map(str, figures), *money)
        rows.append((job["dataset"], job["system"], job["endpoint"], *end))
    widths = [max(len(row[place]) for row in rows) for place in range(len(columns))]
    lines = [
        "  ".join(
            cell.ljust(width) if place < 3 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    open_jobs = sum(not job["done"] for job in result["jobs"])
    lines.append(f"{open_jobs} of {len(result['jobs'])} jobs are to run; tokens and money are estimates")
    if result["budget"] is not None:
        left = result["budget"] - result["spent"]
        lines.append(f"budget {result['budget']:g}, spent or reserved {result['spent']:.4f}, left {left:.4f}")
        if result["total"]["cost_limit"] > left:
            lines.append("the budget may not suffice: at most, the requests cost more than is left")
    if result["unknown"]:
        lines.append(f"not counted, because what they read is not made yet: {', '.join(result['unknown'])}")
    if result["missing_keys"]:
        lines.append(f"environment variables to set first: {', '.join(result['missing_keys'])}")
    return "\n".join(lines)
