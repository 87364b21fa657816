"""What is said about a document: entities or triples of its pieces, one thread with history, with provenance.

Entities come as MINEA needs them (section 4.1), triples as ordinary predictions.
"""

import dataclasses
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.corpora.spans import find_spans
from tripleaudit.errors import UserError
from tripleaudit.llm.answers import STATUSES, Parsed, parse_triples
from tripleaudit.llm.conversation import (
    Conversation,
    Limits,
    Piece,
    State,
    Talk,
    TokenCounter,
    Turn,
    converse,
    drive,
)
from tripleaudit.llm.endpoint import Answer, Request
from tripleaudit.llm.prompts import Prompt, load_prompt
from tripleaudit.llm.splitting import split, split_evenly
from tripleaudit.needles.entities import Entity, identity, parse_entities
from tripleaudit.needles.schema import Schema
from tripleaudit.needles.triples import document_of

ENRICHED, UNTOUCHED = "enriched", "untouched"
Offsets = tuple[int, int]
Ask = Callable[[list[Request]], list[Answer]]
Counters = Callable[[], TokenCounter]


@dataclass(frozen=True)
class Prompts:
    """The three prompts of an extraction; ``extract`` has the opening and the message that shows a piece."""

    extract: Prompt
    more: Prompt
    remind: Prompt

    @classmethod
    def load(cls) -> "Prompts":
        """Read the prompts.

        Raises:
            UserError: a prompt is missing or lacks a message or slot that the extraction fills.
        """
        prompts = cls(load_prompt("minea-extract"), load_prompt("minea-continue"), load_prompt("minea-remind"))
        if [message["role"] for message in prompts.extract.messages] != ["system", "user"]:
            raise UserError(f"prompt '{prompts.extract.name}': expected one system message and then one user message")
        if "text" not in prompts.extract.slots or "schema" not in prompts.extract.slots:
            raise UserError(f"prompt '{prompts.extract.name}': expected the slots {{{{schema}}}} and {{{{text}}}}")
        return prompts

    def hashes(self) -> dict[str, str]:
        """The prompts' names and SHA-256, part of every result."""
        return {prompt.name: prompt.sha256 for prompt in (self.extract, self.more, self.remind)}

    def talk(self, schema: Schema, structured: bool = False) -> Talk:
        """Return the messages of a thread about ``schema``; ``structured`` sends the JSON schema of the answer."""
        described = schema.prompt()

        def show(index: int, total: int, text: str) -> str:
            return self.extract.render(schema=described, part=index + 1, parts=total, text=text)[1]["content"]

        return Talk(
            opening=self.extract.render(schema=described, part="", parts="", text="")[0]["content"],
            show=show,
            more=lambda index, total: self.more.render(part=index + 1, parts=total)[-1]["content"],
            remind=lambda notes: self.remind.render(problem=notes or "no JSON was found")[-1]["content"],
            parse=parse_entities,
            identity=identity,
            schema=schema.answer_schema() if structured else None,
        )


def run_of(calls: int) -> str:
    """The variant of an extraction with so many follow-up calls, made for the table of iterations."""
    return f"{calls} follow-up calls"


def cut(text: str, piece_chars: int | None, pieces: int | None, protected: Sequence[Offsets] = ()) -> list[Offsets]:
    """Split a document by the length of a piece, or into a number of pieces; one of the two is given."""
    if pieces is not None:
        return split_evenly(text, pieces, protected)
    return split(text, piece_chars or max(len(text), 1), protected)


def as_pieces(text: str, spans: Sequence[Offsets], protected: Sequence[Offsets] = ()) -> list[Piece]:
    """Return the pieces to show, each with the protected spans inside it."""
    return [
        Piece(index, text[a:b], tuple((c - a, d - a) for c, d in protected if a <= c and d <= b))
        for index, (a, b) in enumerate(spans)
    ]


def branch(
    piece: Piece, total: int, talk: Talk, limits: Limits, counter: TokenCounter, state: State
) -> Generator[Request, Answer, Conversation]:
    """Show a copy of ``piece`` as one more part after the last, in a copy of a finished thread (MINEA, section 4.2).

    Every branch starts from the same ``state``, which it leaves as it is; none continues another.
    """
    shown = dataclasses.replace(talk, show=lambda _i, _n, text: talk.show(total, total + 1, text))
    shown = dataclasses.replace(shown, more=lambda _i, _n: talk.more(total, total + 1))
    return (yield from converse([piece], shown, limits, counter, state))


def entities_of(turns: Iterable[Turn], doc: str, variant: str, schema: Schema) -> list[Entity]:
    """Return the entities of all turns in order of extraction, with keys outside the schema moved to ``extra``.

    Entities outside the schema keep all they have as properties.
    """
    entities: list[Entity] = []
    for turn in turns:
        for record in turn.parsed.records:
            kind = schema.types.get(record["type"])
            known = record["properties"] if kind is None else {}
            extra: dict[str, Any] = {}
            if kind is not None:
                known = {k: v for k, v in record["properties"].items() if k in kind.properties}
                extra = {k: v for k, v in record["properties"].items() if k not in kind.properties}
            entities.append(
                Entity(
                    doc,
                    variant,
                    turn.piece,
                    turn.iteration,
                    turn.thread,
                    len(entities),
                    record["type"],
                    record["name"],
                    known,
                    extra,
                    turn.answer.key,
                )
            )
    return entities


def call_row(turn: Turn, doc: str, stage: str, model: str) -> dict[str, Any]:
    """One row of the call log."""
    return {
        "doc": doc,
        "stage": stage,
        "piece": turn.piece,
        "iteration": turn.iteration,
        "thread": turn.thread,
        "call": turn.answer.key,
        "model": model,
        "status": turn.parsed.status,
        "notes": list(turn.parsed.notes),
        "entities": len(turn.parsed.records),
        "finish_reason": turn.answer.finish_reason,
        "attempts": turn.attempts,
        "prompt_tokens": turn.usage.prompt_tokens,
        "completion_tokens": turn.usage.completion_tokens,
        "cost": sum(answer.cost for answer in turn.answers),
    }


def status_counts(calls: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Return how many calls ended in each status, all statuses listed."""
    counts = dict.fromkeys(STATUSES, 0)
    for call in calls:
        counts[call["status"]] += 1
    return counts


def failed_pieces(calls: Iterable[Mapping[str, Any]]) -> list[tuple[str, str, int]]:
    """Return ``(stage, document, piece)`` of the pieces whose calls all failed: the result is incomplete there."""
    seen: dict[tuple[str, str, int], bool] = {}
    for call in calls:
        key = (call["stage"], call["doc"], call["piece"])
        seen[key] = seen.get(key, True) and call["status"] in ("failed", "refused")
    return [key for key, failed in seen.items() if failed]


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
        identity=lambda triple: triple.strings,
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
