"""Extraction of needles by one model, and which needles it found (MINEA, section 4).

What needs a model takes ``client``, which stores answers the moment they arrive: what was
interrupted is simply run again.
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
    Driver,
    Limits,
    Talk,
    TokenCounter,
    Turn,
    converse,
    counters,
)
from tripleaudit.llm.endpoint import Answer, Request, bill
from tripleaudit.llm.estimate import DryRun, Estimate, longest_entity
from tripleaudit.llm.prompts import load_prompt, with_reminder
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
    UNTOUCHED,
    Counters,
    all_pieces,
    call_row,
    failed_pieces,
    status_counts,
)
from tripleaudit.needles.plan import Plan
from tripleaudit.needles.schema import Schema
from tripleaudit.needles.thread_prompts import Prompts

READS = (
    "data/prompts/minea-extract.yaml",
    "data/prompts/minea-continue.yaml",
    "data/prompts/minea-remind.yaml",
    "data/prompts/minea-identify.yaml",
)

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
    """Extract the entities of all documents, and write what is alike in them and the needles.

    Args:
        tokenizer: tokenizer.json that counts tokens (default: the usage that the server reports).
        judge, judge_gguf: endpoint of the criterion that queries one (default: the same), and the
        file of its model.
    """
    given, counter = Corpus.load(corpus), counters(tokenizer)
    with contextlib.ExitStack() as stack:
        client = stack.enter_context(access.client())
        second = None
        if judge and judge != access.endpoint:
            log_file = f"{access.server_log}.judge" if access.server_log else ""
            other = dataclasses.replace(
                access, endpoint=judge, gguf=judge_gguf, server_log=log_file
            )
            second = stack.enter_context(other.client())
        own = Plan.from_mapping(plan, client.endpoint.context)
        stages = estimate_extraction(given, own, client, counter, second)
        totals = {name: stage.total for name, stage in stages.items()}
        if second is not None:
            stack.enter_context(second.stage("judge", totals.pop("judge", 0), at_most=True))
        stack.enter_context(client.stage("extraction", sum(totals.values()), at_most=True))
        result = extract_corpus(given, own, client, client.endpoint.model, counter, second)
        result.report["capabilities"] = {
            item.endpoint.model: item.bill()["capabilities"] for item in (client, second or client)
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
        client: queries the extracting model; ``judging`` the judge, by default the same model.
        counter: makes a token counter for each conversation.

    Raises:
        UserError: the context is too short for the instructions.
    """
    schema, prompts = (
        plan.load_schema(),
        Prompts(*map(load_prompt, ("minea-extract", "minea-continue", "minea-remind"))),
    )
    answer_schema = schema.answer_schema(prompts.first.schema or {})
    talk = prompts.talk(
        opening={"schema": schema.prompt()}, parse=parse_entities, schema=answer_schema
    )
    pieces = all_pieces(corpus, plan)
    counters = {key: counter() for key in pieces}
    talks = {key: converse(pieces[key], talk, _limits(key, plan), counters[key]) for key in pieces}
    finished = client.drive(talks)
    entities: list[Entity] = []
    calls: list[dict[str, Any]] = []
    for (variant, doc), conversation in finished.items():
        calls += [call_row(turn, doc, variant, model) for turn in conversation.turns]
        entities += entities_of(conversation.turns, doc, variant, schema)
    again = _one_more_part(talk, plan.parts)
    branches = {
        (doc, piece.index): converse(
            [piece],
            again,
            _limits(("parts", doc), plan),
            copy.copy(counters["parts", doc]),
            conversation.state,
        )
        for (variant, doc), conversation in finished.items()
        if variant == "parts"
        for piece in pieces[variant, doc]
    }
    part_entities: list[Entity] = []
    parts: list[dict[str, Any]] = []
    repeated = client.drive(branches)
    for (doc, index), conversation in repeated.items():
        calls += [call_row(turn, doc, "repetition", model) for turn in conversation.turns]
        part_entities += entities_of(conversation.turns, doc, "repetition", schema)
        same = conversation.state.thread == finished["parts", doc].state.thread
        parts.append({"doc": doc, "part": index + 1, "same_thread": same})
    identified = identify_all(corpus, entities, plan, judging or client)
    failed = failed_pieces(calls)
    for stage, doc, piece in failed:
        log.warning(
            "%s, %s document: all calls about part %d failed; the result is incomplete",
            doc,
            stage,
            piece + 1,
        )
    report = {
        "model": model,
        "plan": plan.made_json(),
        "prompts": {prompt.name: prompt.sha256 for prompt in prompts},
        "calls": len(calls),
        "statuses": status_counts(calls),
        "incomplete": [
            {"stage": stage, "doc": doc, "piece": piece} for stage, doc, piece in failed
        ],
        "threads": {
            f"{variant}:{doc}": c.state.thread + 1 for (variant, doc), c in finished.items()
        },
        "judge": bill(identified.answers),
        "judge_questions": identified.questions,
        "judge_unreadable": identified.unreadable,
    }
    answers = [
        answer for talked in (*finished.values(), *repeated.values()) for answer in talked.answers
    ]
    report |= bill([*answers, *identified.answers])
    return Result(
        entities, calls, identified.matches, identified.displaced, part_entities, parts, report
    )


def estimate_extraction(
    corpus: Corpus, plan: Plan, extractor: Client, counter: Counters, judge: Client | None = None
) -> dict[str, Estimate]:
    """Return upper bounds of an extraction by stage (``extraction``, ``judge``)."""
    names = " ".join(
        needle.name for needle in corpus.needles
    )  # the judge is shown entities that resemble needles
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
        generator: client that invents needles; None takes templates.
    """
    inventing = DryRun(generator, counter(), repeat=2) if generator is not None else None
    corpus = build_corpus(
        documents, plan.model_copy(update={"refills": 0}), inventing, extractor.endpoint.model
    )
    stages = estimate_extraction(corpus, plan, extractor, counter, judge)
    return stages if inventing is None else {"needles": inventing.estimate, **stages}


@dataclasses.dataclass
class Identification:
    """Needles that the criteria find.

    Attributes:
        matches: rows of :meth:`.Index.matches` about the enriched documents.
        displaced: the same about the untouched documents, which are false positives of the criteria
            (empty if those were not extracted).
        answers: the judge's answers about both.
        questions: needles about which the judge was asked.
        unreadable: needles about which no answer of the judge could be read; the criterion ``llm``
            does not find them.
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
    matches: dict[tuple[str, str], dict[str, Any]] = {}
    questions = {}
    shown = all_pieces(corpus, plan)
    for document in corpus.documents:
        piece_of = {
            unit.needle: piece.index
            for piece in shown[ENRICHED, document.id]
            for unit in piece.units
        }
        needles = corpus.placed(document.id)
        for variant in (ENRICHED, UNTOUCHED) if plan.untouched else (ENRICHED,):
            extracted = [
                entity
                for entity in entities
                if (entity.doc, entity.variant) == (document.id, variant)
            ]
            index = Index(extracted)
            for needle, match in zip(needles, index.matches(needles), strict=True):
                key = variant, needle.id
                matches[key] = match
                if plan.judge:  # an untouched document has no piece with the needle
                    piece = piece_of[needle.id] if variant == ENRICHED else None
                    candidates = index.candidates(needle, piece, plan.candidates)
                    questions[key] = judge(needle, candidates, plan.judge_tokens)
    judgements: dict[tuple[str, str], Judgement] = client.drive(questions)
    for key, judgement in judgements.items():
        matches[key] |= {"llm": judgement.entity is not None, "llm_index": judgement.entity}
    return Identification(
        matches=[match for (variant, _), match in matches.items() if variant == ENRICHED],
        displaced=[match for (variant, _), match in matches.items() if variant == UNTOUCHED],
        answers=[answer for judgement in judgements.values() for answer in judgement.answers],
        questions=sum(bool(judgement.answers) for judgement in judgements.values()),
        unreadable=sum(not judgement.is_readable for judgement in judgements.values()),
    )


@dataclasses.dataclass(frozen=True, slots=True)
class Judgement:
    """A judge's answer about one needle.

    Attributes:
        entity: index of the entity that is the needle, None for no match.
        answers: all answers; the second one follows a reminder. Empty where there was no entity to
            show.
        is_readable: whether the last answer could be read.
    """

    entity: int | None
    answers: tuple[Answer, ...] = ()
    is_readable: bool = True


JUDGE_REMINDER = 'Answer with the JSON and nothing else: {"match": NUMBER} or {"match": null}.'


def judge(
    needle: Needle, candidates: Sequence[Entity], max_tokens: int, width: int = 300
) -> Generator[Request, Answer, Judgement]:
    """Ask which entity is the needle, and once more where the answer cannot be read.

    Args:
        candidates: the entities that the judge sees; without any, nothing is sent and there is no
            match.
        width: characters of an entity's line in the prompt.

    Returns:
        The judgement; a number outside the list is no match.
    """
    if not candidates:
        return Judgement(None)
    lines = [f"{number}. {entity.line()[:width]}" for number, entity in enumerate(candidates, 1)]
    request = load_prompt("minea-identify").request(
        max_tokens=max_tokens,
        name=needle.name,
        type=needle.type,
        description=needle.description,
        keywords=", ".join(needle.keywords),
        paragraph=needle.paragraph,
        records="\n".join(lines),
    )
    answer = yield request
    answers = (answer,)
    number = _match_number(answer)
    if number is None and answer.status != "refused":
        answer = yield with_reminder(request, JUDGE_REMINDER)
        answers = (*answers, answer)
        number = _match_number(answer)
    if number is None or not 1 <= number <= len(candidates):
        return Judgement(None, answers, is_readable=number is not None)
    return Judgement(candidates[number - 1].index, answers)


def _match_number(answer: Answer) -> int | None:
    return parse_match(answer.text) if answer.status in ("ok", "truncated") else None


def entities_of(turns: Iterable[Turn], doc: str, variant: str, schema: Schema) -> list[Entity]:
    """Return entities of all turns in order; keys outside the schema move to ``extra``.

    Entities outside the schema keep all they have as properties.
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


def _one_more_part(talk: Talk, parts: int) -> Talk:
    """Show a piece once more, as a part after the last of ``parts`` (section 4.2).

    Every such branch starts from the same state of a finished thread and leaves it as it is; none
    continues another.
    """
    return dataclasses.replace(
        talk,
        show=lambda _index, _total, text: talk.show(parts, parts + 1, text),
        more=lambda _index, _total: talk.more(parts, parts + 1),
    )


def _limits(key: tuple[str, str], plan: Plan) -> Limits:
    iterations = plan.part_iterations if key[0] == "parts" else plan.iterations
    return dataclasses.replace(plan.limits, iterations=iterations)
