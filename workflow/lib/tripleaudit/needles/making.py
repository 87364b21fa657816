"""Needles of documents: from a model, templates or a file; validated and infused.

What needs a model takes ``client``, which stores answers the moment they arrive: what was
interrupted is simply run again.
"""

from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tripleaudit.core.errors import UserError
from tripleaudit.llm.conversation import Driver
from tripleaudit.llm.endpoint import Answer, Request
from tripleaudit.llm.section import Access
from tripleaudit.needles.generation import Made, discover_types, make_needles
from tripleaudit.needles.haystack import Document, read_documents
from tripleaudit.needles.infused import Corpus
from tripleaudit.needles.infusion import Infusion, infuse
from tripleaudit.needles.needle import Needle, load_needles
from tripleaudit.needles.needle_check import problem
from tripleaudit.needles.plan import TEMPLATES, Plan
from tripleaudit.needles.schema import EntityType, plain_type
from tripleaudit.needles.templates import template_needles


def write_corpus(
    plan: Mapping[str, Any],
    documents: Sequence[str | Path],
    access: Access,
    out: str | Path,
    needle_file: str = "",
    max_chars: int = 0,
) -> None:
    """Write documents, needles and infusions of a study.

    Args:
        access: who invents needles; without an endpoint they come from the templates.
        needle_file: use these needles instead of making some.
        max_chars: shorten documents to whole paragraphs within so many characters.
    """
    read = read_documents(documents, max_chars or None)
    if needle_file:
        corpus = corpus_from_needles(read, load_needles(needle_file), Plan.from_mapping(plan))
    elif access.endpoint:
        with access.client() as client:
            own = Plan.from_mapping(plan, client.endpoint.context)
            corpus = build_corpus(read, own, client, client.endpoint.model)
    else:
        corpus = build_corpus(read, Plan.from_mapping(plan), None)
    corpus.save(out)


def build_corpus(
    documents: Sequence[Document], plan: Plan, client: Driver | None, model: str = TEMPLATES
) -> Corpus:
    """Make needles for every document and infuse them.

    Args:
        client: queries the generating model; ``None`` takes all needles from the templates.
        model: the generating model's name, kept with each needle.

    Raises:
        UserError: a type is unknown, or the share cannot be reached; also if only needles from the
            templates could not reach it, before the model is queried.
    """
    schema = plan.load_schema()
    kinds = [
        schema.types.get(name) or plain_type(name) for name in plan.needle_types or schema.types
    ]
    discovered: dict[str, Any] = {}
    made: dict[str, list[Needle]] = {document.id: [] for document in documents}
    rejected: Counter = Counter()
    calls = 0
    if client is not None:
        for document in (
            documents
        ):  # before anything is paid: what the model does not give comes from the templates
            infused(document, _filled(document, kinds, plan, []), plan)
        if plan.discover:
            talks = {d.id: discover_types(d, plan.needle_tokens, plan.excerpt) for d in documents}
            discovered = client.drive(talks)
        talks = {d.id: _all_types(d, kinds, plan, model, made[d.id]) for d in documents}
        for result in (result for results in client.drive(talks).values() for result in results):
            rejected.update(result.rejected)
            calls += result.calls
    generated = sum(map(len, made.values()))
    for document in documents:
        _filled(document, kinds, plan, made[document.id])
    needles = [needle for document in documents for needle in made[document.id]]
    infusions = {document.id: infused(document, made[document.id], plan) for document in documents}
    used = sum(len(infusion.needles) for infusion in infusions.values())
    report = {
        "plan": plan.made_json(),
        "generator": model if client is not None else TEMPLATES,
        "needles": {
            "wanted": len(documents) * len(kinds) * plan.per_type,
            "generated": generated,
            "from_templates": len(needles) - generated,
            "rejected": dict(sorted(rejected.items())),
            "calls": calls,
            "infused": used,
        },
        "share": {doc: infusion.share for doc, infusion in infusions.items()},
        "types": discovered,
    }
    return Corpus(list(documents), needles, infusions, report)


def corpus_from_needles(
    documents: Sequence[Document], needles: Sequence[Needle], plan: Plan
) -> Corpus:
    """Infuse needles that come from a file.

    Raises:
        UserError: a needle belongs to no document or is not valid, or the share cannot be reached.
    """
    before: dict[str, list[Needle]] = {document.id: [] for document in documents}
    texts = {document.id: document.text for document in documents}
    for needle in needles:
        if needle.doc not in texts:
            raise UserError(
                f"needle {needle.id!r} belongs to {needle.doc!r}, which is none of the documents"
            )
        if reason := problem(needle, texts[needle.doc], before[needle.doc], plan):
            raise UserError(f"needle {needle.id!r} cannot be used: {reason}")
        before[needle.doc].append(needle)
    infusions = {d.id: infused(d, before[d.id], plan) for d in documents}
    used = sum(len(infusion.needles) for infusion in infusions.values())
    report = {
        "plan": plan.made_json(),
        "generator": "file",
        "needles": {"given": len(needles), "infused": used},
        "share": {doc: infusion.share for doc, infusion in infusions.items()},
        "types": {},
    }
    return Corpus(list(documents), list(needles), infusions, report)


def infused(document: Document, needles: Sequence[Needle], plan: Plan) -> Infusion:
    """Infuse needles into one document."""
    pairs = [(needle.id, needle.paragraph) for needle in needles]
    return infuse(document, pairs, plan.seed, plan.target, plan.minimum, plan.maximum)


def _all_types(
    document: Document, kinds: Sequence[EntityType], plan: Plan, model: str, made: list[Needle]
) -> Generator[Request, Answer, list[Made]]:
    """Ask for one type after the other, so that names are not invented twice."""
    results = []
    for kind in kinds:
        results.append((yield from make_needles(document, kind, plan, model, made)))  # noqa: PERF401
    return results


def _filled(
    document: Document, kinds: Sequence[EntityType], plan: Plan, made: list[Needle]
) -> list[Needle]:
    """Add needles of templates to ``made`` until there are enough of each type."""
    for kind in (kind.name for kind in kinds):
        missing = plan.per_type - sum(needle.type == kind for needle in made)
        if missing > 0:
            made += template_needles(document, kind, missing, plan, made)
    return made
