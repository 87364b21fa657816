"""Extraction of needles by one model, and which needles it found (MINEA, section 4).

Conversations are generators that yield requests (:func:`~tripleaudit.llm.conversation.converse`); a
client runs many of them side by side. The client stores each answer when it arrives, so an
interrupted extraction is resumed by running it again.
"""

import contextlib
import copy
import dataclasses
import logging
from collections.abc import Generator, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tripleaudit.llm.client import Client
from tripleaudit.llm.conversation import (
    Conversation,
    Driver,
    Piece,
    Reading,
    Talk,
    TokenCounter,
    Turn,
    ask_twice,
    converse,
    counters,
)
from tripleaudit.llm.endpoint import Answer, Request, Sampling, bill
from tripleaudit.llm.estimate import DryRun, Estimate, longest_entity
from tripleaudit.llm.prompts import Prompt, load_prompt
from tripleaudit.llm.reading import parse_entities, parse_match
from tripleaudit.llm.section import Access
from tripleaudit.needles.entities import Entity
from tripleaudit.needles.haystack import Document
from tripleaudit.needles.infused import Corpus, Result
from tripleaudit.needles.making import build_corpus
from tripleaudit.needles.minea import Index
from tripleaudit.needles.needle import Needle
from tripleaudit.needles.pieces import (
    ENRICHED,
    REPETITION,
    UNTOUCHED,
    Counters,
    all_pieces,
    call_row,
    failed_pieces,
    status_counts,
)
from tripleaudit.needles.plan import PARTS, Plan
from tripleaudit.needles.schema import Schema

READS = (
    "data/prompts/minea-extract.yaml",
    "data/prompts/minea-identify.yaml",
)

MAX_LINE_CHARACTERS = 300  # of an entity in the judge's prompt

log = logging.getLogger(__name__)


def write_extraction(
    plan: Mapping[str, Any],
    corpus: str | Path,
    access: Access,
    out: str | Path,
    tokenizer: str = "",
    judge: str = "",
    judge_gguf: Sequence[str | Path] = (),
) -> None:
    """Extract the entities of all documents, match them to the needles, and write the result.

    Args:
        plan: settings of the study (:class:`~tripleaudit.needles.plan.Plan`).
        corpus: folder of the documents and their needles.
        access: endpoint of the extracting model.
        out: folder to write.
        tokenizer: tokenizer.json that counts tokens (default: the usage that the server reports).
        judge: endpoint of the model that judges matches (default: the extracting model).
        judge_gguf: model file of the judge.
    """
    documents = Corpus.load(corpus)
    counter = counters(tokenizer)
    with contextlib.ExitStack() as stack:
        client = stack.enter_context(access.client())
        judging = None
        if judge and judge != access.endpoint:
            log_file = f"{access.server_log}.judge" if access.server_log else ""
            judge_access = dataclasses.replace(
                access, endpoint=judge, gguf=judge_gguf, server_log=log_file
            )
            judging = stack.enter_context(judge_access.client())
        settings = Plan.from_mapping(plan, client.endpoint.context)
        stages = estimate_extraction(documents, settings, client, counter, judging)
        totals = {name: stage.total for name, stage in stages.items()}
        if judging is not None:
            stack.enter_context(judging.stage("judge", totals.pop("judge", 0), at_most=True))
        stack.enter_context(client.stage("extraction", sum(totals.values()), at_most=True))
        result = extract_corpus(
            documents, settings, client, client.endpoint.model, counter, judging
        )
        result.report["capabilities"] = {
            queried.endpoint.model: queried.bill()["capabilities"]
            for queried in (client, judging or client)
        }
    result.save(out)


def extract_corpus(
    corpus: Corpus,
    plan: Plan,
    client: Driver,
    model: str,
    counter: Counters = TokenCounter,
    judging: Driver | None = None,
) -> Result:
    """Extract documents with needles, optionally without, and apply the criteria.

    Args:
        client: runs the conversations with the extracting model.
        judging: runs the questions to the judge; None for ``client``.
        counter: makes a token counter for each conversation.

    Raises:
        UserError: the context is too short for the instructions.
    """
    schema = plan.load_schema()
    prompt = load_prompt("minea-extract")
    talk = entity_talk(prompt, schema)
    pieces_by_document = all_pieces(corpus, plan)
    token_counters = {key: counter() for key in pieces_by_document}
    extraction: dict[tuple[str, str], Conversation] = client.drive(
        {
            (variant, doc): converse(
                pieces, talk, plan.limits_of(variant), token_counters[variant, doc]
            )
            for (variant, doc), pieces in pieces_by_document.items()
        }
    )
    entities: list[Entity] = []
    calls: list[dict[str, Any]] = []
    for (variant, doc), conversation in extraction.items():
        entities += entities_of(conversation.turns, doc, variant, schema)
        calls += [call_row(turn, doc, variant, model) for turn in conversation.turns]

    repetition: dict[tuple[str, int], Conversation] = client.drive(
        _repeated_parts(pieces_by_document, extraction, talk, plan, token_counters)
    )
    repeated_entities: list[Entity] = []
    parts: list[dict[str, Any]] = []
    for (doc, index), conversation in repetition.items():
        repeated_entities += entities_of(conversation.turns, doc, REPETITION, schema)
        calls += [call_row(turn, doc, REPETITION, model) for turn in conversation.turns]
        same_thread = conversation.state.thread == extraction[PARTS, doc].state.thread
        parts.append({"doc": doc, "part": index + 1, "same_thread": same_thread})

    identified = identify_all(corpus, entities, plan, judging or client)
    conversations = [*extraction.values(), *repetition.values()]
    answers = [answer for conversation in conversations for answer in conversation.answers]
    report = {
        "model": model,
        "plan": plan.made_json(),
        "prompts": {prompt.name: prompt.sha256},
        "calls": len(calls),
        "statuses": status_counts(calls),
        "incomplete": _incomplete_pieces(calls),
        "threads": {
            f"{variant}:{doc}": conversation.state.thread + 1
            for (variant, doc), conversation in extraction.items()
        },
        "judge": bill(identified.answers),
        "judge_questions": identified.questions,
        "judge_unreadable": identified.unreadable,
        **bill([*answers, *identified.answers]),
    }
    return Result(
        entities,
        calls,
        identified.matches,
        identified.displaced,
        repeated_entities,
        parts,
        report,
    )


def entity_talk(prompt: Prompt, schema: Schema) -> Talk:
    """Return the message templates of a conversation about the entities of a document.

    Args:
        prompt: has three messages, which open the thread, show a piece of the document, and ask
            for further entities of this piece.
    """

    def message(position: int, part: int, parts: int, text: str = "") -> str:
        messages = prompt.render(schema=schema.prompt(), part=part, parts=parts, text=text)
        return messages[position]["content"]

    def show(index: int, total: int, text: str) -> str:
        return message(1, index + 1, total, text)

    def more(index: int, total: int) -> str:
        return message(2, index + 1, total)

    def remind(notes: str) -> str:
        return prompt.render_reminder(problem=notes or "no JSON was found")

    return Talk(
        opening=message(0, part=1, parts=1),
        show=show,
        more=more,
        remind=remind,
        parse=parse_entities,
        schema=schema.answer_schema(prompt.schema or {}),
    )


def _repeated_parts(
    pieces_by_document: Mapping[tuple[str, str], Sequence[Piece]],
    extraction: Mapping[tuple[str, str], Conversation],
    talk: Talk,
    plan: Plan,
    token_counters: Mapping[tuple[str, str], TokenCounter],
) -> dict[tuple[str, int], Generator[Request, Answer, Conversation]]:
    """Return a conversation for each part, which is shown once more after the last (section 4.2).

    Every conversation starts from the same state of the finished thread and leaves it as it is.
    """

    def show(_index: int, _total: int, text: str) -> str:
        return talk.show(plan.parts, plan.parts + 1, text)

    def more(_index: int, _total: int) -> str:
        return talk.more(plan.parts, plan.parts + 1)

    repeated_talk = dataclasses.replace(talk, show=show, more=more)
    conversations = {}
    for (variant, doc), finished in extraction.items():
        if variant != PARTS:
            continue
        for piece in pieces_by_document[variant, doc]:
            conversations[doc, piece.index] = converse(
                [piece],
                repeated_talk,
                plan.limits_of(variant),
                copy.copy(token_counters[variant, doc]),
                finished.state,
            )
    return conversations


def _incomplete_pieces(calls: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the pieces whose calls all failed, and warn of each."""
    incomplete = []
    for stage, doc, piece in failed_pieces(calls):
        log.warning(
            "%s, %s document: all calls about part %d failed; the result is incomplete",
            doc,
            stage,
            piece + 1,
        )
        incomplete.append({"stage": stage, "doc": doc, "piece": piece})
    return incomplete


def estimate_extraction(
    corpus: Corpus, plan: Plan, extractor: Client, counter: Counters, judge: Client | None = None
) -> dict[str, Estimate]:
    """Return upper bounds of an extraction by stage (``extraction``, ``judge``)."""
    # the judge is shown entities that resemble needles
    names = " ".join(needle.name for needle in corpus.needles)
    extraction = DryRun(extractor, counter(), lambda filler: longest_entity(f"{names} {filler}"))
    judging = DryRun(judge or extractor, counter())
    extract_corpus(corpus, plan, extraction, extractor.endpoint.model, counter, judging)
    stages = {"extraction": extraction.estimate}
    if plan.judge:
        stages["judge"] = judging.estimate
    return stages


def estimate_needles(
    documents: Sequence[Document],
    plan: Plan,
    extractor: Client,
    counter: Counters,
    generator: Client | None = None,
    judge: Client | None = None,
) -> dict[str, Estimate]:
    """Return upper bounds of a MINEA study by stage: ``needles``, ``extraction``, ``judge``.

    Needles that have to be generated again because they were not valid are not counted.

    Args:
        generator: client that generates needles; None if they are made from templates.
    """
    generation = DryRun(generator, counter(), repeat=2) if generator is not None else None
    corpus = build_corpus(
        documents, plan.model_copy(update={"refills": 0}), generation, extractor.endpoint.model
    )
    stages = estimate_extraction(corpus, plan, extractor, counter, judge)
    return stages if generation is None else {"needles": generation.estimate, **stages}


@dataclasses.dataclass
class Identification:
    """Matches of extracted entities to needles, by criterion.

    Attributes:
        matches: rows of :meth:`.Index.matches` for the enriched documents (with needles).
        displaced: such rows for the untouched documents (without needles), where every match is a
            false positive of a criterion; empty if these documents were not extracted.
        answers: all answers of the judge.
        questions: number of questions to the judge, one for each needle and variant.
        unreadable: number of questions without a readable answer; the criterion ``llm`` counts
            these needles as not found.
    """

    matches: list[dict[str, Any]]
    displaced: list[dict[str, Any]]
    answers: list[Answer]
    questions: int
    unreadable: int


def identify_all(
    corpus: Corpus, entities: Sequence[Entity], plan: Plan, client: Driver
) -> Identification:
    """Apply the criteria to all needles, on the enriched and on the untouched documents."""
    matches: dict[str, dict[str, dict[str, Any]]] = {ENRICHED: {}, UNTOUCHED: {}}
    questions = {}
    candidates: dict[tuple[str, str], list[Entity]] = {}
    pieces_by_document = all_pieces(corpus, plan)
    for document in corpus.documents:
        needles = corpus.placed(document.id)
        piece_of = {
            unit.needle: piece.index
            for piece in pieces_by_document[ENRICHED, document.id]
            for unit in piece.units
        }
        for variant in (ENRICHED, UNTOUCHED) if plan.untouched else (ENRICHED,):
            extracted = (document.id, variant)
            index = Index([item for item in entities if (item.doc, item.variant) == extracted])
            for needle, match in zip(needles, index.matches(needles), strict=True):
                matches[variant][needle.id] = match
                # an untouched document has no piece with the needle
                piece = piece_of[needle.id] if variant == ENRICHED else None
                similar = index.candidates(needle, piece, plan.candidates) if plan.judge else []
                if similar:
                    candidates[variant, needle.id] = similar
                    questions[variant, needle.id] = ask_judge(needle, similar, plan.judge_tokens)
                elif plan.judge:
                    match["llm"] = False
    readings: dict[tuple[str, str], Reading[int]] = client.drive(questions)
    for (variant, needle_id), reading in readings.items():
        similar = candidates[variant, needle_id]
        number = reading.value or 0
        entity = similar[number - 1].index if 1 <= number <= len(similar) else None
        matches[variant][needle_id] |= {"llm": entity is not None, "llm_index": entity}
    return Identification(
        matches=list(matches[ENRICHED].values()),
        displaced=list(matches[UNTOUCHED].values()),
        answers=[answer for reading in readings.values() for answer in reading.answers],
        questions=len(readings),
        unreadable=sum(reading.value is None for reading in readings.values()),
    )


def ask_judge(
    needle: Needle, candidates: Sequence[Entity], max_tokens: int
) -> Generator[Request, Answer, Reading[int]]:
    """Ask the judge which candidate is the needle.

    Returns:
        The number of a candidate, from 1; any other number means that none is.
    """
    lines = [
        f"{number}. {entity.line()[:MAX_LINE_CHARACTERS]}"
        for number, entity in enumerate(candidates, 1)
    ]
    prompt = load_prompt("minea-identify")
    request = prompt.request(
        sampling=Sampling(max_tokens=max_tokens),
        name=needle.name,
        type=needle.type,
        description=needle.description,
        keywords=", ".join(needle.keywords),
        paragraph=needle.paragraph,
        records="\n".join(lines),
    )
    return (yield from ask_twice(request, prompt.render_reminder(), parse_match))


def entities_of(turns: Iterable[Turn], doc: str, variant: str, schema: Schema) -> list[Entity]:
    """Return entities of all turns in order; properties outside the schema move to ``extra``.

    Entities whose type is not in the schema keep all properties.
    """
    entities: list[Entity] = []
    for turn in turns:
        for record in turn.parsed.records:
            properties = record["properties"]
            kind = schema.types.get(record["type"])
            expected = properties if kind is None else kind.properties
            entity = Entity(
                doc=doc,
                variant=variant,
                piece=turn.piece,
                iteration=turn.iteration,
                thread=turn.thread,
                index=len(entities),
                type=record["type"],
                name=record["name"],
                properties={key: value for key, value in properties.items() if key in expected},
                extra={key: value for key, value in properties.items() if key not in expected},
                call=turn.answer.key,
            )
            entities.append(entity)
    return entities
