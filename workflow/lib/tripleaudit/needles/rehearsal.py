"""A rehearsal of a study without sending anything: how many requests, tokens and money it takes at most.

The stages run for real; only the answers that are not stored yet are made up, as long as answers may be. So threads
restart where they would at the latest, and what was paid for before is seen to cost nothing.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from tripleaudit.corpora.model import Sentence
from tripleaudit.llm.conversation import Limits, TokenCounter
from tripleaudit.llm.endpoint import Answer, Prices, Request, Usage
from tripleaudit.needles.dialogues import Ask, Counters, extract_triples
from tripleaudit.needles.haystack import Document
from tripleaudit.needles.plan import Plan
from tripleaudit.needles.stages import build_corpus, extract_corpus


class Asker(Protocol):
    """What a rehearsal needs of a client: the stored answer of a request, and the endpoint's prices."""

    endpoint: Any

    def lookup(self, request: Request) -> Answer | None: ...


@dataclass
class Estimate:
    """Requests, tokens and money of one stage; everything but ``stored`` is still to be sent, at most."""

    requests: int = 0
    stored: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0

    def to_json(self) -> dict[str, float]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass
class Rehearsal:
    """Answers requests from the cache, or with the longest possible answer, and counts."""

    client: Asker
    counter: TokenCounter
    prices: Prices
    stages: dict[str, Estimate] = field(default_factory=dict)
    form: Callable[[str], Any] = lambda filler: {"entities": [{"type": "Thing", "name": "x", "description": filler}]}

    def stage(self, name: str, times: int = 1) -> Ask:
        """Return an ``ask`` that books on the stage ``name``; every request still to be sent counts ``times`` times."""
        estimate = self.stages.setdefault(name, Estimate())

        def ask(requests: list[Request]) -> list[Answer]:
            return [self._answer(request, estimate, times) for request in requests]

        return ask

    def _answer(self, request: Request, estimate: Estimate, times: int) -> Answer:
        stored = self.client.lookup(request)
        if stored is not None:
            estimate.stored += 1
            return stored
        prompt, limit = self.counter.messages(request.messages), request.max_tokens or self.client.endpoint.max_tokens
        estimate.requests += times
        estimate.prompt_tokens += times * prompt
        estimate.completion_tokens += times * limit
        estimate.cost += times * self.prices.cost(prompt, limit)
        filler = "x " * max(1, limit * 3 // 2)
        text = json.dumps(self.form(filler))
        return Answer(text, "ok", "stop", Usage(prompt, limit), key="")


def rehearse(
    documents: Sequence[Document],
    plan: Plan,
    extractor: Asker,
    counter: Counters,
    generator: Asker | None = None,
    judge: Asker | None = None,
    corpus: Any = None,
) -> dict[str, Estimate]:
    """Return an estimate by stage: ``needles``, ``extraction``, ``judge``.

    Asking again for needles that were not valid is not foreseen; the two calls for needles count the same.

    Args:
        extractor, generator, judge: clients; without ``generator``, needles come from the templates.
        corpus: needles that are there already.
    """
    import dataclasses

    def rehearsal(client: Asker, make: Callable[[], TokenCounter]) -> Rehearsal:
        return Rehearsal(client, make(), client.endpoint.prices)

    found: dict[str, Estimate] = {}
    if corpus is None:
        one_try = dataclasses.replace(plan, refills=0, fill="templates")
        if generator is not None:
            own = rehearsal(generator, counter)
            corpus = build_corpus(documents, one_try, own.stage("needles", 2), generator.endpoint.model)
            found |= own.stages
        else:
            corpus = build_corpus(documents, one_try, None)
    own = rehearsal(extractor, counter)
    judging = rehearsal(judge or extractor, counter)
    extract_corpus(
        corpus, plan, own.stage("extraction"), extractor.endpoint.model, counter, judging=judging.stage("judge")
    )
    return found | own.stages | (judging.stages if plan.judge else {})


def rehearse_triples(
    records: Sequence[Sentence], relations: Sequence[str], limits: Limits, extractor: Asker, counter: Counters
) -> Estimate:
    """Return an estimate of extracting the triples of all records (:func:`.extract_triples`)."""
    own = Rehearsal(extractor, counter(), extractor.endpoint.prices, form=lambda filler: [["x", "is", filler]])
    extract_triples(records, relations, limits, own.stage("triples"), extractor.endpoint.model, counter)
    return own.stages["triples"]


def as_text(stages: dict[str, Estimate], documents: Sequence[Document], model: str, priced: bool) -> str:
    """Return an estimate as lines for people."""
    total = Estimate()
    characters = sum(len(document.text) for document in documents)
    lines = [f"Estimate for {len(documents)} documents ({characters:,} characters) with {model}, nothing sent yet:"]
    for name, estimate in stages.items():
        lines.append(f"  {name:<11} {_counts(estimate)}")
        for key in Estimate.__dataclass_fields__:
            setattr(total, key, getattr(total, key) + getattr(estimate, key))
    lines.append(f"  {'in all':<11} {_counts(total)}")
    lines.append(
        f"  cost        at most {total.cost:.4f} at the given prices"
        if priced
        else "  cost        unknown: no prices given"
    )
    return "\n".join(lines)


def _counts(estimate: Estimate) -> str:
    return (
        f"{estimate.requests:,} requests to send, {estimate.stored:,} stored; at most {estimate.prompt_tokens:,} "
        f"tokens in, {estimate.completion_tokens:,} out"
    )
