"""Extraction of one system from one data set: texts, answers, predictions and a report."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

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
        access: its endpoint is replaced by that of the system.
        texts: sentences to extract from.
        answers: file to write, rows with answers, triples and statuses (JSON lines).
        predictions: file to write (JSON lines).
        report: file to write, with counts, statuses, tokens, money and provenance (JSON).
        examples: at most one file of sentences that the system's examples are drawn from.

    Raises:
        UserError: the section has no such data set or system, or the endpoint cannot be used.
    """
    section = access.section
    for kind, name in (("datasets", dataset), ("systems", system)):
        defined = section.get(kind) or {}
        if name not in defined:
            raise UserError(
                f"generative/{kind}: '{name}' is not defined; known: {', '.join(defined) or 'none'}"
            )
    settings = section["systems"][system]
    sentences = load_sentences(texts)
    candidates = load_sentences(examples[0]) if examples else ()
    task = extraction.build_task(settings, section["datasets"][dataset], sentences, candidates)
    with replace(access, endpoint=settings["endpoint"]).client() as client:
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
    failed, refused = (counts["statuses"][status] for status in ("failed", "refused"))
    if failed or refused:
        log.warning("unreadable answers: %d, refusals: %d", failed, refused)
    write_jsonl(answers, (item.to_json() for item in results))
    save_sentences(predictions, (item.prediction(task.relations) for item in results))
    provenance = {
        "dataset": dataset,
        "system": system,
        "setting": task.setting,
        "model": model,
        "prompt": task.prompt.name,
        "prompt_sha256": task.prompt.sha256,
        "examples": [sentence.id for sentence in task.examples],
        "relations": task.relations.names,
        "entity_types": list(task.entity_types),
        **counts,
        "identity": identity(section, dataset, system),
        "lost": served["lost"],
        "capabilities": served["capabilities"],
    }
    write_json(report, provenance)
