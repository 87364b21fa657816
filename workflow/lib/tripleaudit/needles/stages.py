"""The stages of a MINEA study: needles, infusion, extraction, identification; and the files they write.

Every stage takes ``ask``, a client or what sends a list of requests and returns their answers. The client stores
answers the moment they arrive, so a stage that was interrupted is simply run again.
"""

import copy
import dataclasses
import logging
from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tripleaudit.errors import UserError
from tripleaudit.files import read_json, read_jsonl, write_json, write_jsonl
from tripleaudit.llm.conversation import Limits, TokenCounter, converse, drive
from tripleaudit.llm.endpoint import Answer, Request, bill
from tripleaudit.needles import dialogues as ex
from tripleaudit.needles.entities import Entity, deduplicated, load_entities, save_entities
from tripleaudit.needles.generation import Made, discover_types, make_needles
from tripleaudit.needles.haystack import Document, Infusion, infuse, infusion_from_json, load_documents, save_documents
from tripleaudit.needles.minea import Index, Match, judge, rate_matches, with_judgement
from tripleaudit.needles.needle import Needle, load_needles, problem, save_needles
from tripleaudit.needles.plan import TEMPLATES, Plan
from tripleaudit.needles.schema import EntityType
from tripleaudit.needles.templates import template_needles

log = logging.getLogger(__name__)


@dataclass
class Corpus:
    """Documents with their needles in them."""

    documents: list[Document]
    needles: list[Needle]
    infusions: dict[str, Infusion]
    report: dict[str, Any] = field(default_factory=dict)

    def placed(self, doc: str) -> list[Needle]:
        """The needles that are in a document, in their order there; drawn ones that did not fit are left out."""
        by_id = {needle.id: needle for needle in self.needles}
        return [by_id[placed.id] for placed in sorted(self.infusions[doc].needles, key=lambda item: item.start)]

    def save(self, folder: str | Path) -> None:
        """Write ``documents.jsonl``, ``needles.jsonl``, ``infusions.jsonl`` and ``corpus.json``."""
        folder = Path(folder)
        save_documents(folder / "documents.jsonl", self.documents)
        save_needles(folder / "needles.jsonl", self.needles)
        write_jsonl(folder / "infusions.jsonl", (item.to_json() for item in self.infusions.values()))
        write_json(folder / "corpus.json", self.report)

    @classmethod
    def load(cls, folder: str | Path) -> "Corpus":
        """Read what :meth:`save` wrote.

        Raises:
            UserError: a file is missing or was changed.
        """
        folder = Path(folder)
        path = folder / "infusions.jsonl"
        infusions = [infusion_from_json(row, f"{path} line {number}") for number, row in read_jsonl(path)]
        return cls(
            load_documents(folder / "documents.jsonl"),
            load_needles(folder / "needles.jsonl"),
            {infusion.doc: infusion for infusion in infusions},
            read_json(folder / "corpus.json"),
        )


@dataclass
class Result:
    """What one model extracted from a corpus; ``parts`` are the repetitions of the length experiment."""

    model: str
    entities: list[Entity]
    calls: list[dict[str, Any]]
    matches: list[Match]
    displaced: list[Match]
    part_entities: list[Entity]
    parts: list[dict[str, Any]]
    report: dict[str, Any] = field(default_factory=dict)


def build_corpus(documents: Sequence[Document], plan: Plan, ask: ex.Ask | None, model: str = TEMPLATES) -> Corpus:
    """Make needles for every document and infuse them.

    Args:
        ask: asks the generating model; ``None`` takes all needles from the templates.
        model: the generating model's name, kept with each needle.

    Raises:
        UserError: a type is unknown, or the share cannot be reached.
    """
    schema = plan.load_schema()
    kinds = [schema.types.get(name) or _plain(name) for name in plan.needle_types or schema.types]
    discovered: dict[str, Any] = {}
    made: dict[str, list[Needle]] = {document.id: [] for document in documents}
    rejected: Counter = Counter()
    calls = 0
    if ask is not None:
        if plan.discover:
            talks = {d.id: discover_types(d, plan.needle_tokens, plan.excerpt) for d in documents}
            discovered = drive(talks, ask)
        talks = {d.id: _all_types(d, kinds, plan, model, made[d.id]) for d in documents}
        for result in (result for results in drive(talks, ask).values() for result in results):
            rejected.update(result.rejected)
            calls += result.calls
    generated = sum(map(len, made.values()))
    if ask is None or plan.fill == TEMPLATES:
        for document in documents:
            for kind in kinds:
                _fill(document, kind.name, plan, made[document.id])
    needles = [needle for document in documents for needle in made[document.id]]
    infusions = {document.id: place(document, made[document.id], plan) for document in documents}
    used = sum(len(infusion.needles) for infusion in infusions.values())
    report = {
        "plan": plan.made_json(),
        "generator": model if ask is not None else TEMPLATES,
        "needles": {
            "wanted": len(documents) * len(kinds) * plan.per_type,
            "generated": generated,
            "from_templates": len(needles) - generated,
            "rejected": dict(sorted(rejected.items())),
            "calls": calls,
            "infused": used,
        },
        "share": {doc: round(infusion.share, 6) for doc, infusion in infusions.items()},
        "types": discovered,
    }
    return Corpus(list(documents), needles, infusions, report)


def corpus_from_needles(documents: Sequence[Document], needles: Sequence[Needle], plan: Plan) -> Corpus:
    """Infuse needles that come from a file.

    Raises:
        UserError: a needle belongs to no document or is not valid, or the share cannot be reached.
    """
    check_needles(documents, needles, plan)
    infusions = {d.id: place(d, [needle for needle in needles if needle.doc == d.id], plan) for d in documents}
    used = sum(len(infusion.needles) for infusion in infusions.values())
    report = {
        "plan": plan.made_json(),
        "generator": "file",
        "needles": {"given": len(needles), "infused": used},
        "share": {doc: round(infusion.share, 6) for doc, infusion in infusions.items()},
        "types": {},
    }
    return Corpus(list(documents), list(needles), infusions, report)


def place(document: Document, needles: Sequence[Needle], plan: Plan) -> Infusion:
    """Infuse needles into one document and say which piece each lies in."""
    pairs = [(needle.id, needle.paragraph) for needle in needles]
    infusion = infuse(document, pairs, plan.seed, plan.target, plan.minimum, plan.maximum)
    return infusion.with_pieces(ex.cut(infusion.text, plan.piece_chars, plan.pieces, infusion.spans()))


def check_needles(documents: Sequence[Document], needles: Sequence[Needle], plan: Plan) -> None:
    """Check needles that come from a file.

    Raises:
        UserError: a needle belongs to no document, or is not valid for its own.
    """
    texts = {document.id: document.text for document in documents}
    before: dict[str, list[Needle]] = {}
    for needle in needles:
        if needle.doc not in texts:
            raise UserError(f"needle {needle.id!r} belongs to {needle.doc!r}, which is none of the documents")
        known = before.setdefault(needle.doc, [])
        reason = problem(needle, texts[needle.doc], known, plan.demands)
        if reason:
            raise UserError(f"needle {needle.id!r} cannot be used: {reason}")
        known.append(needle)


def extract_corpus(
    corpus: Corpus,
    plan: Plan,
    ask: ex.Ask,
    model: str,
    counter: ex.Counters = TokenCounter,
    judging: ex.Ask | None = None,
) -> Result:
    """Extract every document with its needles and, if asked for, without them; then apply the criteria.

    Args:
        ask: asks the extracting model; ``judging`` the judge, by default the same model.
        counter: makes a token counter for each conversation.

    Raises:
        UserError: the context is too short for the instructions.
    """
    schema, prompts = plan.load_schema(), ex.Prompts.load()
    talk = prompts.talk(schema, plan.structured)
    pieces = _all_pieces(corpus, plan)
    counters = {key: counter() for key in pieces}
    talks = {key: converse(pieces[key], talk, _limits(key, plan), counters[key]) for key in pieces}
    finished = drive(talks, ask)
    entities: list[Entity] = []
    calls: list[dict[str, Any]] = []
    for (variant, doc), conversation in finished.items():
        calls += [ex.call_row(turn, doc, variant, model) for turn in conversation.turns]
        entities += ex.entities_of(conversation.turns, doc, variant, schema)
    branches = {
        (doc, piece.index): ex.branch(
            piece,
            plan.parts,
            talk,
            _limits((variant, doc), plan),
            copy.copy(counters[variant, doc]),
            conversation.state,
        )
        for (variant, doc), conversation in finished.items()
        if variant == "parts"
        for piece in pieces[variant, doc]
    }
    part_entities: list[Entity] = []
    parts: list[dict[str, Any]] = []
    repeated = drive(branches, ask)
    for (doc, index), conversation in repeated.items():
        calls += [ex.call_row(turn, doc, "repetition", model) for turn in conversation.turns]
        part_entities += ex.entities_of(conversation.turns, doc, "repetition", schema)
        same = conversation.state.thread == finished["parts", doc].state.thread
        parts.append({"doc": doc, "part": index + 1, "same_thread": same})
    matches, displaced, verdicts = identify_all(corpus, entities, plan, judging or ask)
    failed = ex.failed_pieces(calls)
    for stage, doc, piece in failed:
        log.warning("%s, %s document: all calls about part %d failed; the result is incomplete", doc, stage, piece + 1)
    report = {
        "model": model,
        "plan": plan.made_json(),
        "prompts": prompts.hashes(),
        "calls": len(calls),
        "statuses": ex.status_counts(calls),
        "incomplete": [{"stage": stage, "doc": doc, "piece": piece} for stage, doc, piece in failed],
        "threads": {f"{variant}:{doc}": c.state.thread + 1 for (variant, doc), c in finished.items()},
        "judge": bill(verdicts),
    }
    answers = [answer for talked in (*finished.values(), *repeated.values()) for answer in talked.answers]
    report |= bill([*answers, *verdicts])
    return Result(model, entities, calls, matches, displaced, part_entities, parts, report)


def identify_all(
    corpus: Corpus, entities: Sequence[Entity], plan: Plan, ask: ex.Ask
) -> tuple[list[Match], list[Match], list[Answer]]:
    """Apply the criteria to all needles, on the enriched and on the untouched documents.

    Returns:
        Matches in the enriched documents, those in the untouched ones, which are false positives of the criteria
        (empty if those were not extracted), and the judge's answers about both.
    """
    matches: dict[tuple[str, str], Match] = {}
    questions = {}
    for document in corpus.documents:
        piece = {placed.id: placed.piece for placed in corpus.infusions[document.id].needles}
        needles = corpus.placed(document.id)
        for variant in (ex.ENRICHED, ex.UNTOUCHED) if plan.untouched else (ex.ENRICHED,):
            own = [entity for entity in entities if (entity.doc, entity.variant) == (document.id, variant)]
            index = Index(own, plan.casefold)
            for match in index.matches(needles):
                key = variant, match.needle.id
                matches[key] = match
                if plan.judge:  # an untouched document has no piece with the needle
                    inside = piece[match.needle.id] if variant == ex.ENRICHED else None
                    shown = index.candidates(match.needle, inside, plan.candidates)
                    questions[key] = judge(match.needle, shown, plan.judge_tokens)
    answers = []
    for key, (found, answer) in drive(questions, ask).items():
        matches[key] = with_judgement(matches[key], found)
        answers += [answer] if answer else []
    found, displaced = ([m for (v, _), m in matches.items() if v == kind] for kind in (ex.ENRICHED, ex.UNTOUCHED))
    return found, displaced, answers


def save_result(result: Result, plan: Plan, folder: str | Path) -> None:
    """Write what :func:`save_extraction` writes, and ``criteria`` and ``untouched-criteria`` beside it."""
    save_extraction(result, folder)
    rate_matches(folder, plan.thresholds, plan.identification)


def save_extraction(result: Result, folder: str | Path) -> None:
    """Write ``entities``, ``deduplicated``, ``calls``, ``matches``, ``untouched-matches``, ``repetitions`` and
    ``parts`` as JSON lines, and ``report.json``."""
    folder = Path(folder)
    save_entities(folder / "entities.jsonl", result.entities)
    write_jsonl(folder / "deduplicated.jsonl", deduplicated(result.entities))
    write_jsonl(folder / "calls.jsonl", result.calls)
    write_jsonl(folder / "matches.jsonl", (match.row() for match in result.matches))
    write_jsonl(folder / "untouched-matches.jsonl", (match.row() for match in result.displaced))
    save_entities(folder / "repetitions.jsonl", result.part_entities)
    write_jsonl(folder / "parts.jsonl", result.parts)
    write_json(folder / "report.json", result.report)


@dataclass
class Stored:
    """A result as read back, ready for scoring."""

    entities: list[Entity]
    criteria: list[dict[str, Any]]
    untouched: list[dict[str, Any]]
    repetitions: list[Entity]
    parts: list[dict[str, Any]]
    report: dict[str, Any]


def load_result(folder: str | Path) -> Stored:
    """Read what :func:`save_result` wrote.

    Raises:
        UserError: a file is missing or broken.
    """
    folder = Path(folder)

    def rows(name: str) -> list[dict[str, Any]]:
        return [row for _, row in read_jsonl(folder / name)]

    return Stored(
        load_entities(folder / "entities.jsonl"),
        rows("criteria.jsonl"),
        rows("untouched-criteria.jsonl"),
        load_entities(folder / "repetitions.jsonl"),
        rows("parts.jsonl"),
        read_json(folder / "report.json"),
    )


def untouched_pieces(document: Document, plan: Plan) -> list[str]:
    """The pieces of a document without needles, as they were shown."""
    return [document.text[a:b] for a, b in ex.cut(document.text, plan.piece_chars, plan.pieces)]


def enriched_pieces(infusion: Infusion, plan: Plan) -> list[str]:
    """The pieces of a document with its needles, as they were shown."""
    spans = ex.cut(infusion.text, plan.piece_chars, plan.pieces, infusion.spans())
    return [infusion.text[a:b] for a, b in spans]


def _all_types(
    document: Document, kinds: Sequence[EntityType], plan: Plan, model: str, made: list[Needle]
) -> Generator[Request, Answer, list[Made]]:
    """Ask for one type after the other, so that names are not invented twice."""
    results = []
    for kind in kinds:
        results.append((yield from make_needles(document, kind, plan.recipe, model, plan.needle_tokens, made)))
    return results


def _all_pieces(corpus: Corpus, plan: Plan) -> dict[tuple[str, str], list[ex.Piece]]:
    pieces: dict[tuple[str, str], list[ex.Piece]] = {}
    for document in corpus.documents:
        infusion = corpus.infusions[document.id]
        spans = ex.cut(infusion.text, plan.piece_chars, plan.pieces, infusion.spans())
        pieces[ex.ENRICHED, document.id] = ex.as_pieces(infusion.text, spans, infusion.spans())
        if plan.untouched:
            spans = ex.cut(document.text, plan.piece_chars, plan.pieces)
            pieces[ex.UNTOUCHED, document.id] = ex.as_pieces(document.text, spans)
        if plan.separate_runs:
            base = pieces[ex.UNTOUCHED if plan.untouched else ex.ENRICHED, document.id]
            pieces |= {(ex.run_of(calls), document.id): base for calls in range(plan.iterations)}
        if plan.parts:
            spans = ex.cut(document.text, None, plan.parts)
            pieces["parts", document.id] = ex.as_pieces(document.text, spans)
    return pieces


def _limits(key: tuple[str, str], plan: Plan) -> Limits:
    calls = {ex.run_of(number): number for number in range(plan.iterations)} | {"parts": plan.part_iterations}
    return dataclasses.replace(plan.limits, iterations=calls.get(key[0], plan.iterations))


def _fill(document: Document, kind: str, plan: Plan, made: list[Needle]) -> None:
    missing = plan.per_type - sum(needle.type == kind for needle in made)
    if missing > 0:
        made += template_needles(document, kind, missing, plan.seed, made, plan.demands)


def _plain(name: str) -> EntityType:
    """A type outside the schema, as the needles of group 5 have."""
    return EntityType(name, "", ("name", "description", "keywords"), frozenset({"keywords"}))
