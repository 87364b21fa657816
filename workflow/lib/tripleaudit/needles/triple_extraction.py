"""Triples from documents by a language model, with the same threads as entities, as ordinary predictions."""

from collections.abc import Sequence
from typing import Any

from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.corpora.spans import find_spans
from tripleaudit.generative.parsing import parse_triples
from tripleaudit.generative.prompts import load_prompt
from tripleaudit.generative.threads import Limits, Parsed, Piece, Talk, TokenCounter, Turn, converse, drive
from tripleaudit.needles.extraction import Ask, call_row
from tripleaudit.needles.run import Counters
from tripleaudit.needles.triples import document_of


def triple_talk(relations: Sequence[str]) -> Talk:
    """Return the messages of a thread that asks for triples of ``relations``."""
    first, more, remind = (load_prompt(f"minea-triples{suffix}") for suffix in ("", "-continue", "-remind"))
    listed = "\n".join(f"- {relation}" for relation in relations)

    def show(index: int, total: int, text: str) -> str:
        return first.render(relations="", part=index + 1, parts=total, text=text)[1]["content"]

    return Talk(
        opening=first.render(relations=listed, part="", parts="", text="")[0]["content"],
        show=show,
        more=lambda index, total: more.render(part=index + 1, parts=total)[-1]["content"],
        remind=lambda notes: remind.render(problem=notes or "no JSON was found")[-1]["content"],
        parse=_parse,
        identity=lambda record: record["triple"],
        nothing="[]",
    )


def extract_triples(
    records: Sequence[Sentence],
    relations: Sequence[str],
    limits: Limits,
    ask: Ask,
    model: str,
    counter: Counters = TokenCounter,
) -> tuple[list[Sentence], list[dict[str, Any]]]:
    """Ask for the triples of all records, one thread for each document.

    Args:
        records: pieces of documents, in order; the part of an id before ``#`` is the document.
        relations: names that the model is given.

    Returns:
        The records with predicted triples (spans at the first mention, unlocated where a string is not in the text),
        and the call log.
    """
    documents: dict[str, list[Sentence]] = {}
    for record in records:
        documents.setdefault(document_of(record.id), []).append(record)
    talk = triple_talk(relations)
    talks = {
        doc: converse([Piece(i, record.text) for i, record in enumerate(own)], talk, limits, counter())
        for doc, own in documents.items()
    }
    finished = drive(talks, ask)
    calls = [call_row(turn, doc, "triples", model) for doc, talked in finished.items() for turn in talked.turns]
    predictions = []
    for doc, own in documents.items():
        for index, record in enumerate(own):
            predictions.append(_predicted(record, [t for t in finished[doc].turns if t.piece == index]))
    return predictions, calls


def _predicted(record: Sentence, turns: Sequence[Turn]) -> Sentence:
    strings: dict[tuple[str, str, str], None] = {}
    for turn in turns:
        strings.update(dict.fromkeys(row["triple"] for row in turn.parsed.records))
    triples = [Triple(_span(record.text, s), relation, _span(record.text, o), 1.0) for s, relation, o in strings]
    return Sentence(record.id, record.text, tuple(triples))


def _span(text: str, part: str) -> Span:
    spans, _ = find_spans(text, part)
    return Span(*spans[0], part) if spans else Span(None, None, part)


def _parse(text: str, answer_status: str) -> Parsed:
    if answer_status == "refused":
        return Parsed([], "refused", ("the model refused to answer",))
    parsed = parse_triples(text)
    status = "truncated" if answer_status == "truncated" else parsed.status
    notes = parsed.notes or (("no triple was found",) if status == "failed" else ())
    return Parsed([{"triple": triple.strings} for triple in parsed.triples], status, tuple(notes))
