"""Extraction of one system from one data set: texts, answers, predictions and a report."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import write_json, write_jsonl
from tripleaudit.corpora.store import load_sentences, save_sentences
from tripleaudit.generative import extraction
from tripleaudit.llm.estimate import estimate
from tripleaudit.llm.section import Access, identity

log = logging.getLogger(__name__)


def generate(
    access: Access,
    dataset: str,
    system: str,
    texts: str | Path,
    answers: str | Path,
    predictions: str | Path,
    report: str | Path,
    examples: Sequence[str | Path] = (),
) -> None:
    """Extract triples from texts with a language model behind an OpenAI-compatible endpoint.

    Args:
        access: of which the system names the endpoint. answers, predictions: rows with answers,
        triples and statuses, and predictions, to write (JSON lines). report: counts, statuses,
        tokens, money and provenance to write (JSON). examples: at most one file of sentences that
        the system's examples are drawn from.

    Raises:
        UserError: the section has no such data set or system, or the endpoint cannot be used.
    """
    section = access.section
    for kind, name in (("datasets", dataset), ("systems", system)):
        if name not in (known := section.get(kind) or {}):
            raise UserError(
                f"generative/{kind}: '{name}' is not defined; known: {', '.join(known) or 'none'}"
            )
    chosen, sentences = section["systems"][system], load_sentences(texts)
    drawn_from = load_sentences(examples[0]) if examples else ()
    task = extraction.build_task(chosen, section["datasets"][dataset], sentences, drawn_from)
    with replace(access, endpoint=chosen["endpoint"]).client() as client:
        needed = estimate(client, (request for _, _, request in task.requests(sentences)))
        log.info(
            "%d requests, %d answered by the cache, %d to send",
            needed.total,
            needed.cached,
            needed.to_pay,
        )
        results = extraction.extract(client, sentences, task)
        model, paid, served = client.endpoint.model, client.totals, client.bill()
    log.info(
        "sent %d requests, %d + %d tokens, cost %.6g",
        paid.sent,
        paid.prompt_tokens,
        paid.completion_tokens,
        paid.cost,
    )
    counts = extraction.summary(results)
    if counts["statuses"]["failed"] or counts["statuses"]["refused"]:
        log.warning(
            "%d answers cannot be read, %d are refusals",
            *(counts["statuses"][s] for s in ("failed", "refused")),
        )
    write_jsonl(answers, (item.to_json() for item in results))
    save_sentences(predictions, (item.prediction(task.relations) for item in results))
    provenance: dict[str, Any] = {
        "dataset": dataset,
        "system": system,
        "setting": task.setting,
        "model": model,
    }
    provenance |= {"prompt": task.prompt.name, "prompt_sha256": task.prompt.sha256}
    provenance |= {"examples": [sentence.id for sentence in task.examples]}
    provenance |= {"relations": task.relations.names, "entity_types": list(task.entity_types)}
    made = {"identity": identity(section, dataset, system)} | {
        key: served[key] for key in ("lost", "capabilities")
    }
    write_json(report, provenance | counts | made)
