"""Needles of documents: from a model, templates or a file; validated and infused.

The client stores each answer when it arrives, so an interrupted job is resumed by running it
again.
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
        access: endpoint of the model that makes needles; without one they come from the templates.
        needle_file: use these needles instead of making some.
        max_chars: shorten documents to whole paragraphs within so many characters.
    """
    haystacks = read_documents(documents, max_chars or None)
    if needle_file:
        corpus = corpus_from_needles(haystacks, load_needles(needle_file), Plan.from_mapping(plan))
    elif access.endpoint:
        with access.client() as client:
            settings = Plan.from_mapping(plan, client.endpoint.context)
            corpus = build_corpus(haystacks, settings, client, client.endpoint.model)
    else:
        corpus = build_corpus(haystacks, Plan.from_mapping(plan), None)
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
    names = plan.needle_types or schema.types
    types = [schema.types.get(name) or plain_type(name) for name in names]
    discovered: dict[str, Any] = {}
    needles: dict[str, list[Needle]] = {document.id: [] for document in documents}
    rejected: Counter = Counter()
    calls = 0
    if client is not None:
        # before anything is paid: needles that the model does not give come from the templates
        for document in documents:
            infused(document, template_needles_for(document, types, plan, []), plan)
        if plan.discover:
            questions = {
                document.id: discover_types(document, plan.needle_tokens, plan.excerpt)
                for document in documents
            }
            discovered = client.drive(questions)
        conversations = {
            document.id: _all_types(document, types, plan, model, needles[document.id])
            for document in documents
        }
        for results in client.drive(conversations).values():
            for result in results:
                rejected.update(result.rejected)
                calls += result.calls
    generated = sum(len(members) for members in needles.values())
    for document in documents:
        needles[document.id] += template_needles_for(document, types, plan, needles[document.id])
    infusions = {
        document.id: infused(document, needles[document.id], plan) for document in documents
    }
    all_needles = [needle for document in documents for needle in needles[document.id]]
    counts = {
        "wanted": len(documents) * len(types) * plan.per_type,
        "generated": generated,
        "from_templates": len(all_needles) - generated,
        "rejected": dict(sorted(rejected.items())),
        "calls": calls,
    }
    generator = model if client is not None else TEMPLATES
    report = _report(plan, generator, counts, infusions, discovered)
    return Corpus(list(documents), all_needles, infusions, report)


def corpus_from_needles(
    documents: Sequence[Document], needles: Sequence[Needle], plan: Plan
) -> Corpus:
    """Infuse needles that come from a file.

    Raises:
        UserError: a needle belongs to no document or is not valid, or the share cannot be reached.
    """
    accepted: dict[str, list[Needle]] = {document.id: [] for document in documents}
    texts = {document.id: document.text for document in documents}
    for needle in needles:
        if needle.doc not in texts:
            raise UserError(
                f"needle {needle.id!r} belongs to {needle.doc!r}, which is none of the documents"
            )
        reason = problem(needle, texts[needle.doc], accepted[needle.doc], plan)
        if reason is not None:
            raise UserError(f"needle {needle.id!r} cannot be used: {reason}")
        accepted[needle.doc].append(needle)
    infusions = {
        document.id: infused(document, accepted[document.id], plan) for document in documents
    }
    report = _report(plan, "file", {"given": len(needles)}, infusions, {})
    return Corpus(list(documents), list(needles), infusions, report)


def infused(document: Document, needles: Sequence[Needle], plan: Plan) -> Infusion:
    """Infuse needles into one document."""
    return infuse(document, [(needle.id, needle.paragraph) for needle in needles], plan)


def _report(
    plan: Plan,
    generator: str,
    counts: Mapping[str, Any],
    infusions: Mapping[str, Infusion],
    discovered: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the content of ``corpus.json``.

    Args:
        counts: where the needles came from.
        discovered: types of the schema discovery by document.
    """
    infused_needles = sum(len(infusion.needles) for infusion in infusions.values())
    return {
        "plan": plan.made_json(),
        "generator": generator,
        "needles": {**counts, "infused": infused_needles},
        "share": {doc: infusion.share for doc, infusion in infusions.items()},
        "types": discovered,
    }


def _all_types(
    document: Document, types: Sequence[EntityType], plan: Plan, model: str, taken: list[Needle]
) -> Generator[Request, Answer, list[Made]]:
    """Ask for one type after the other, so that names are not invented twice."""
    results = []
    for entity_type in types:
        result = yield from make_needles(document, entity_type, plan, model, taken)
        results.append(result)
    return results


def template_needles_for(
    document: Document, types: Sequence[EntityType], plan: Plan, taken: Sequence[Needle]
) -> list[Needle]:
    """Return needles of templates for those that a document lacks of each type.

    Args:
        taken: the needles that the document has.
    """
    needles: list[Needle] = []
    for entity_type in types:
        others = [*taken, *needles]
        missing = plan.per_type - sum(needle.type == entity_type.name for needle in others)
        if missing > 0:
            needles += template_needles(document, entity_type.name, missing, plan, others)
    return needles
