"""A rehearsal of a MINEA study without sending anything: how many requests, tokens and money it takes at most."""

from collections.abc import Sequence

from tripleaudit.llm.client import Client
from tripleaudit.llm.estimate import Estimate, Rehearsal
from tripleaudit.needles.extracting import rehearse_extraction
from tripleaudit.needles.haystack import Document
from tripleaudit.needles.infused import Corpus
from tripleaudit.needles.making import build_corpus
from tripleaudit.needles.pieces import Counters
from tripleaudit.needles.plan import Plan


def rehearse(
    haystack: Sequence[Document] | Corpus,
    plan: Plan,
    extractor: Client,
    counter: Counters,
    generator: Client | None = None,
    judge: Client | None = None,
) -> dict[str, Estimate]:
    """Return an estimate by stage: ``needles``, ``extraction``, ``judge``.

    Access again for needles that were not valid is not foreseen; the two calls for needles count the same.

    Args:
        haystack: documents, or a corpus whose needles are there already.
        extractor, generator, judge: clients; without ``generator``, needles come from the templates.
    """
    if isinstance(haystack, Corpus):
        return rehearse_extraction(haystack, plan, extractor, counter, judge)
    own = Rehearsal(generator, counter(), times=2) if generator is not None else None
    one_try = plan.model_copy(update={"refills": 0})
    corpus = build_corpus(haystack, one_try, own, extractor.endpoint.model)
    return ({"needles": own.found} if own else {}) | rehearse_extraction(corpus, plan, extractor, counter, judge)


def as_text(stages: dict[str, Estimate], documents: Sequence[Document], model: str, priced: bool) -> str:
    """Return an estimate as lines for people."""
    total = sum(stages.values(), Estimate())
    characters = sum(len(document.text) for document in documents)
    lines = [f"Estimate for {len(documents)} documents ({characters:,} characters) with {model}, nothing sent yet:"]
    for name, estimate in stages.items():
        lines.append(f"  {name:<11} {_counts(estimate)}")
    lines.append(f"  {'in all':<11} {_counts(total)}")
    lines.append(
        f"  cost        at most {total.cost:.4f} at the given prices"
        if priced
        else "  cost        unknown: no prices given"
    )
    return "\n".join(lines)


def _counts(estimate: Estimate) -> str:
    return (
        f"{estimate.to_pay:,} requests to send, {estimate.cached:,} stored; at most {estimate.prompt_tokens:,} "
        f"tokens in, {estimate.completion_tokens:,} out"
    )
