"""Extracting the triples of documents with a language model, one thread with history for each document."""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.corpora.spans import find_spans
from tripleaudit.corpora.store import load_sentences, save_sentences
from tripleaudit.fields import read_rows
from tripleaudit.files import write_jsonl
from tripleaudit.llm.client import Client
from tripleaudit.llm.conversation import Driver, Limits, Piece, TokenCounter, Turn, converse
from tripleaudit.llm.endpoint import Answer
from tripleaudit.llm.estimate import DryRun, Estimate
from tripleaudit.llm.prompts import load_prompt
from tripleaudit.llm.reading import Parsed, parse_triples
from tripleaudit.llm.section import Access
from tripleaudit.needles.pieces import Counters, call_row
from tripleaudit.needles.thread_prompts import Prompts
from tripleaudit.needles.triples import TripleNeedle, document_of

READS = ("data/prompts/minea-triples*.yaml",)


def write_extraction(
    options: Mapping[str, Any], corpus: str | Path, access: Access, out: str | Path, calls: str | Path
) -> None:
    """Ask an endpoint for the triples of the pieces of all documents.

    Args:
        out, calls: predictions and call log (JSON lines) to write.
    """
    records = load_sentences(Path(corpus) / "pieces.jsonl")
    needles = read_rows(Path(corpus) / "pieces-needles.jsonl", TripleNeedle)
    relations = sorted({needle.relation for needle in needles})
    with access.client() as client:
        limits = Limits(options["iterations"], client.endpoint.context, options["reserve"])
        stage = rehearse_triples(records, relations, limits, client, TokenCounter)
        with client.stage("triples", stage.total, at_most=True):
            predictions, log = extract_triples(records, relations, limits, client, client.endpoint.model, TokenCounter)
    save_sentences(out, predictions)
    write_jsonl(calls, log)


def extract_triples(
    records: Sequence[Sentence],
    relations: Sequence[str],
    limits: Limits,
    client: Driver,
    model: str,
    counter: Counters = TokenCounter,
) -> tuple[list[Sentence], list[dict[str, Any]]]:
    """Ask for the triples of all records, one thread for each document.

    Args:
        records: pieces of documents, in order; the part of an id before ``#`` is the document.

    Returns:
        The records with predicted triples (spans at the first mention, unlocated where a string is not in the text),
        and the call log.
    """
    documents: dict[str, list[Sentence]] = {}
    for record in records:
        documents.setdefault(document_of(record.id), []).append(record)
    prompts = Prompts(*map(load_prompt, ("minea-triples", "minea-triples-continue", "minea-triples-remind")))
    opening = {"relations": "\n".join(f"- {relation}" for relation in relations)}
    talk = prompts.talk(opening=opening, parse=_parse, nothing="[]")
    talks = {
        doc: converse([Piece(i, record.text) for i, record in enumerate(own)], talk, limits, counter())
        for doc, own in documents.items()
    }
    finished = client.drive(talks)
    calls = [call_row(turn, doc, "triples", model) for doc, talked in finished.items() for turn in talked.turns]
    predictions = []
    for doc, own in documents.items():
        for index, record in enumerate(own):
            predictions.append(_predicted(record, [t for t in finished[doc].turns if t.piece == index]))
    return predictions, calls


def rehearse_triples(
    records: Sequence[Sentence], relations: Sequence[str], limits: Limits, extractor: Client, counter: Counters
) -> Estimate:
    """Return an estimate of extracting the triples of all records (:func:`.extract_triples`)."""
    own = DryRun(extractor, counter(), lambda filler: [["x", "is", filler]])
    extract_triples(records, relations, limits, own, extractor.endpoint.model, counter)
    return own.estimate


def _predicted(record: Sentence, turns: Sequence[Turn]) -> Sentence:
    strings: dict[tuple[str, str, str], None] = {}
    for turn in turns:
        strings.update(dict.fromkeys(triple.strings for triple in turn.parsed.records))
    triples = [Triple(_span(record.text, s), relation, _span(record.text, o), 1.0) for s, relation, o in strings]
    return Sentence(record.id, record.text, tuple(triples))


def _span(text: str, part: str) -> Span:
    spans, _ = find_spans(text, part)
    return Span(*spans[0], part) if spans else Span(None, None, part)


def _parse(text: str, answer_status: str) -> Parsed:
    parsed = parse_triples(Answer(text, answer_status))
    if parsed.notes or parsed.status not in ("failed", "refused"):
        return parsed
    said = "the model refused to answer" if parsed.status == "refused" else "no triple was found"
    return dataclasses.replace(parsed, notes=(said,))
