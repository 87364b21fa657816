"""GREScores of a system from its inputs: triples, gold, judgements, topic model, encoder."""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

from tripleaudit.core.errors import UserError
from tripleaudit.grescores.aggregate import Score, hard_match, mean_score, mean_tokens
from tripleaudit.grescores.judgements import (
    Splits,
    Verdicts,
    factualness,
    granularity,
    granularity_coverage,
    readable_verdicts,
)
from tripleaudit.grescores.similarity import (
    Elements,
    Matching,
    Similarities,
    completeness,
    completeness_from_similarities,
    uniqueness,
)
from tripleaudit.grescores.systems import System, clean
from tripleaudit.grescores.tokens import TOKENIZER_VERSION
from tripleaudit.grescores.topics import TopicModel, topical_similarity

FAILED = ("failed", "truncated")  # parse statuses of an answer that was not read to its end

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Settings:
    """Settings of scoring.

    Attributes:
        mode: ``default``, or ``official`` for the published rules about empty and malformed
            answers.
        matching: thresholds and vectors of US and CS; None where no encoder is available.
        resamples: number of bootstrap samples of texts.
        seed: seed of the bootstrap.
    """

    mode: str = "default"
    matching: Matching | None = None
    resamples: int = 1000
    seed: int = 0

    @property
    def official(self) -> bool:
        """Whether the published rules apply."""
        return self.mode == "official"


@dataclass(frozen=True)
class Inputs:
    """Inputs of the scores of one system; a score whose input is None is left out."""

    system: System
    gold: System | None = None
    verdicts: Verdicts | None = None
    splits: Splits | None = None
    similarities: Similarities | None = None
    topics: TopicModel | None = None
    elements: Elements | None = None


@dataclass(frozen=True)
class Result:
    """The scores of one system by metric, and a record of what they were made with."""

    scores: Mapping[str, Score]
    record: Mapping[str, Any] = field(default_factory=dict)


def strings_of(systems: Iterable[System]) -> set[str]:
    """Return every distinct string that US and CS of these systems need."""
    texts = (triples for system in systems for triples in system.texts.values())
    return {part for triples in texts for triple in clean(triples)[0] for part in triple}


def evaluate(inputs: Inputs, settings: Settings) -> Result:
    """Return every score whose input is there.

    In the default mode the texts of the gold file are the data set: one that the system lacks
    counts as a text without triples. In the official mode the system's own texts are.
    """
    system, gold, official = inputs.system, inputs.gold, settings.official
    if not system.texts:
        raise UserError(
            f"{system.source or 'the triples'}: no text to score; expected at least one"
        )
    if gold is not None:
        system = _on_gold(system, gold, official)
    triples = {
        text: list(rows) if official else clean(rows)[0] for text, rows in system.texts.items()
    }
    mean = partial(mean_score, resamples=settings.resamples, seed=settings.seed)
    scores: dict[str, Score | None] = {}
    for name, values in _values(inputs, settings, system, triples):
        scores[name] = mean(values)
    if inputs.verdicts is not None:
        scores |= _readable_share("fs", readable_verdicts(system, inputs.verdicts), mean)
    if inputs.verdicts is not None and not official:
        judged = factualness(system, inputs.verdicts, official).values()
        empty_texts = [0.0 for rows in triples.values() if not rows]
        if judged and empty_texts:  # the other reading of a text without triples
            scores["fs_empty_0"] = mean([*judged, *empty_texts])
    if inputs.splits is not None:
        scores |= _readable_share("gs", granularity_coverage(system, inputs.splits), mean)
    if gold is not None:
        scores |= _both_hard_matches(inputs.system, system, gold, settings)
    if system.status:
        states = list(system.status.values())
        scores["parse_failures"] = mean(float(state in FAILED) for state in states)
        scores["refusals"] = mean(float(state == "refused") for state in states)
    measured = {name: score for name, score in scores.items() if score is not None}
    _warn_of_gaps(inputs, measured, {text: len(rows) for text, rows in triples.items()})
    return Result(measured, _record(inputs, settings, system, measured))


def _both_hard_matches(
    answers: System, on_gold: System, gold: System, settings: Settings
) -> dict[str, Score]:
    """Return hard matching by both counting rules; the mode's own rule has the plain names.

    Args:
        answers: the system as it was read, which the official rule counts.
        on_gold: the system on the texts of the data set.
    """
    scores = {}
    for rule, system in (("official", answers), ("micro", on_gold)):
        is_official = rule == "official"
        prefix = "" if is_official == settings.official else f"{rule}_"
        matched = hard_match(system, gold, is_official, settings.resamples, settings.seed)
        for name, score in matched.items():
            scores[f"{prefix}{name}"] = score
    return scores


def _values(
    inputs: Inputs, settings: Settings, system: System, triples: Mapping[str, list[Any]]
) -> Iterator[tuple[str, Iterable[float]]]:
    """Yield each GREScore whose input is there, with its value for every text that counts.

    Args:
        triples: of each text; in the default mode without malformed ones.
    """
    official, matching = settings.official, settings.matching
    gold, elements = inputs.gold, inputs.elements
    tokens = [mean_tokens(rows) for rows in triples.values()]
    yield "ntri", [len(rows) for rows in triples.values()]
    yield "ntok", [value or 0.0 for value in tokens if value is not None or official]
    yield "coverage", (float(bool(rows)) for rows in triples.values())
    if inputs.topics is not None:
        yield "ts", topical_similarity(system, inputs.topics, official).values()
    if matching is not None and elements is not None:
        elements.add(strings_of([system] if gold is None else [system, gold]))
        yield "us", uniqueness(system, elements, matching, official).values()
    if matching is not None and gold is not None:
        if inputs.similarities is not None:
            stored = completeness_from_similarities(
                system, gold, inputs.similarities, matching.phi, official
            )
            yield "cs", stored.values()
        elif elements is not None:
            yield "cs", completeness(system, gold, elements, matching, official).values()
    if inputs.verdicts is not None:
        yield "fs", factualness(system, inputs.verdicts, official).values()
    if inputs.splits is not None:
        yield "gs", granularity(system, inputs.splits, official).values()


def _on_gold(system: System, gold: System, official: bool) -> System:
    missing = [text for text in gold.texts if text not in system.texts]
    if official or not missing:
        return system
    if len(missing) == len(gold.texts):
        raise UserError(
            f"{system.source or 'the triples'}: none of the {len(gold.texts)} texts of "
            f"{gold.source or 'the reference'} occurs here; expected the same texts, character by character"
        )
    log.warning(
        "%s lacks %d of the %d reference texts; they count as texts without triples",
        system.source or "the system",
        len(missing),
        len(gold.texts),
    )
    further_texts = [text for text in system.texts if text not in gold.texts]
    return system.restricted([*gold.texts, *further_texts])


def _readable_share(
    metric: str, shares: Mapping[str, float], mean: Callable[[Iterable[float]], Score | None]
) -> dict[str, Score | None]:
    """Return the share of a judge's answers that could be read, if some could not."""
    if all(share == 1 for share in shares.values()):
        return {}
    return {f"{metric}_coverage": mean(shares.values())}


def _warn_of_gaps(inputs: Inputs, scores: Mapping[str, Score], sizes: Mapping[str, int]) -> None:
    """Warn if stored judgements cover fewer texts than the system answers, or other texts.

    Args:
        sizes: number of triples by text.
    """
    answered = sum(size > 0 for size in sizes.values())
    for name, details in (("fs", inputs.verdicts), ("gs", inputs.splits)):
        if details is None:
            continue
        foreign = sum(text not in sizes for text in details)
        scored = scores[name].texts if name in scores else 0
        if foreign or (name in scores and scored < answered):
            log.warning(
                "%s: %s rests on %d texts; %d have triples, %d judged texts are not among them",
                inputs.system.source or "the system",
                name.upper(),
                scored,
                answered,
                foreign,
            )


def _record(
    inputs: Inputs, settings: Settings, system: System, scores: Mapping[str, Score]
) -> dict[str, Any]:
    """Return every setting and count that a reader needs to interpret the scores."""
    cleaned = [clean(triples) for triples in system.texts.values()]
    record = {
        "mode": settings.mode,
        "texts": len(system.texts),
        "texts_without_triples": sum(not triples for triples, _ in cleaned),
        "triples": sum(map(len, system.texts.values())),
        "dropped_triples": sum(dropped for _, dropped in cleaned),
        "tokenizer": TOKENIZER_VERSION,
        "matching": None if settings.matching is None else asdict(settings.matching),
        "embedder": None if inputs.elements is None else inputs.elements.encoder.name,
        "topics": None if inputs.topics is None else inputs.topics.description,
        "official_join": settings.official,
        "bootstrap": {"resamples": settings.resamples, "seed": settings.seed},
        "scored_texts": {name: score.texts for name, score in scores.items()},
    }
    if system.status:
        record["statuses"] = dict(Counter(system.status.values()))
    return record
