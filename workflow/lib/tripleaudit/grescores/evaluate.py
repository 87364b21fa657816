"""All GREScores of one system, from whatever inputs there are: triples, gold, judgements, a topic model, an encoder."""

import functools
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from tripleaudit.errors import UserError
from tripleaudit.grescores.aggregate import Score, hard_match, kappa_score, mean_score, mean_tokens
from tripleaudit.grescores.judgements import (
    Splits,
    Verdicts,
    agreement,
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

MODES = ("default", "official")
FAILED = ("failed", "truncated")  # parse statuses of an answer that was not read to its end

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Settings:
    """How to score.

    Attributes:
        mode: ``default``, or ``official`` for the published rules about empty and malformed answers.
        matching: thresholds and vectors of US and CS; None where no encoder is available.
        resamples, seed: of the bootstrap over texts.
    """

    mode: str = "default"
    matching: Matching | None = None
    resamples: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise UserError(f"mode is {self.mode!r}, expected one of {', '.join(MODES)}")

    @property
    def official(self) -> bool:
        """Whether the published rules apply."""
        return self.mode == "official"


@dataclass(frozen=True)
class Inputs:
    """What is known about one system; every score whose input is None is left out."""

    system: System
    gold: System | None = None
    verdicts: Verdicts | None = None
    splits: Splits | None = None
    similarities: Similarities | None = None
    topics: TopicModel | None = None
    elements: Elements | None = None
    verdicts_by: Mapping[str, Verdicts] = field(default_factory=dict)  # of further judges, by name


@dataclass(frozen=True)
class Result:
    """The scores of one system by metric, and a record of what they were made with."""

    scores: Mapping[str, Score]
    record: Mapping[str, Any] = field(default_factory=dict)


def embed(systems: Iterable[System], elements: Elements) -> None:
    """Embed every distinct string that US and CS of these systems (gold included) need, once."""
    elements.add(strings_of(systems))


def strings_of(systems: Iterable[System]) -> set[str]:
    """Return every distinct string that US and CS of these systems need."""
    texts = (triples for system in systems for triples in system.texts.values())
    return {part for triples in texts for triple in clean(triples)[0] for part in triple}


@dataclass(frozen=True)
class Evaluation:
    """What a score is computed from.

    Attributes:
        system: of the texts that count.
        inputs: everything that is known; what is None is not available.
        settings: how to score.
    """

    system: System
    inputs: Inputs
    settings: Settings

    @property
    def triples(self) -> list[list[Any]]:
        """The triples of each text; in the default mode without malformed ones and repetitions."""
        texts = self.system.texts.values()
        return [list(triples) if self.settings.official else clean(triples)[0] for triples in texts]

    @functools.cached_property
    def embedded(self) -> Elements | None:
        """The vectors of all strings of system and gold, where there is an encoder."""
        inputs, matching = self.inputs, self.settings.matching
        if inputs.elements is None or matching is None:
            return None
        embed([self.system] if inputs.gold is None else [self.system, inputs.gold], inputs.elements)
        return inputs.elements


def evaluate(inputs: Inputs, settings: Settings) -> Result:
    """Return every score whose input is there.

    In the default mode the texts of the gold file are the data set: one that the system lacks counts as a text without
    triples. In the official mode the system's own texts are.
    """
    system, gold, official = inputs.system, inputs.gold, settings.official
    if not system.texts:
        raise UserError(f"{system.source or 'the triples'}: no text to score; expected at least one")
    if gold is not None:
        system = _on_gold(system, gold, official)

    def mean(values: Iterable[float] | None) -> Score | None:
        return None if values is None else mean_score(values, settings.resamples, settings.seed)

    evaluation = Evaluation(system, inputs, settings)
    found = {name: mean(compute(evaluation)) for name, compute in GRE_SCORES.items()}
    if inputs.verdicts is not None:
        found |= _read_shares("fs", readable_verdicts(system, inputs.verdicts), mean)
        if not official:  # the other reading of a text without triples
            empty = [0.0 for triples in evaluation.triples if not triples]
            judged = factualness(system, inputs.verdicts, official).values()
            found |= {"fs_empty_0": mean([*judged, *empty])} if empty and judged else {}
    for name, verdicts in inputs.verdicts_by.items():
        found[f"fs:{name}"] = mean(factualness(system, verdicts, official).values())
        if inputs.verdicts is not None:
            tables = agreement(system, inputs.verdicts, verdicts)
            found[f"kappa:{name}"] = kappa_score(tables, settings.resamples, settings.seed)
    if inputs.splits is not None:
        found |= _read_shares("gs", granularity_coverage(system, inputs.splits), mean)
    if gold is not None:
        # Both counting rules stand side by side; the plain names are those of the mode.
        rules = {"official": (inputs.system, True), "micro": (system, False)}
        for rule, (answers, published) in rules.items():
            prefix = "" if published == official else f"{rule}_"
            matched = hard_match(answers, gold, published, settings.resamples, settings.seed)
            found |= {prefix + name: score for name, score in matched.items()}
    found |= _answer_shares(system, mean)
    scores = {name: score for name, score in found.items() if score is not None}
    _warn_of_gaps(inputs, scores, dict(zip(system.texts, map(len, evaluation.triples), strict=True)))
    return Result(scores, _record(inputs, settings, system, scores))


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
    return system.restricted([*gold.texts, *(text for text in system.texts if text not in gold.texts)])


def _answer_shares(system: System, mean) -> dict[str, Score | None]:
    """Return the shares of answers that could not be read to their end and that were refused, where that is known."""
    if not system.status:
        return {}
    states = system.status.values()
    return {
        "parse_failures": mean(float(state in FAILED) for state in states),
        "refusals": mean(float(state == "refused") for state in states),
    }


def _read_shares(metric: str, shares: Mapping[str, float], mean) -> dict[str, Score | None]:
    """Return the share of a judge's answers that could be read, where some could not."""
    return {f"{metric}_coverage": mean(shares.values())} if any(share < 1 for share in shares.values()) else {}


def _warn_of_gaps(inputs: Inputs, scores: Mapping[str, Score], sizes: Mapping[str, int]) -> None:
    """Say when stored judgements cover fewer texts than the system answers, or other ones."""
    answered = sum(size > 0 for size in sizes.values())
    for name, details in (("fs", inputs.verdicts), ("gs", inputs.splits)):
        if details is None:
            continue
        foreign = sum(text not in sizes for text in details)
        if foreign or (name in scores and scores[name].texts < answered):
            log.warning(
                "%s: %s rests on %d texts; %d have triples, %d judged texts are not among them",
                inputs.system.source or "the system",
                name.upper(),
                scores[name].texts if name in scores else 0,
                answered,
                foreign,
            )


def _record(inputs: Inputs, settings: Settings, system: System, scores: Mapping[str, Score]) -> dict[str, Any]:
    """Return every knob and count that a reader needs to interpret the scores."""
    dropped = sum(clean(triples)[1] for triples in system.texts.values())
    return {
        "mode": settings.mode,
        "texts": len(system.texts),
        "texts_without_triples": sum(not clean(triples)[0] for triples in system.texts.values()),
        "triples": sum(map(len, system.texts.values())),
        "dropped_triples": dropped,
        "tokenizer": TOKENIZER_VERSION,
        "matching": None if settings.matching is None else asdict(settings.matching),
        "embedder": None if inputs.elements is None else inputs.elements.encoder.name,
        "topics": None if inputs.topics is None else inputs.topics.description,
        "official_join": settings.official,
        "bootstrap": {"resamples": settings.resamples, "seed": settings.seed},
        "scored_texts": {name: score.texts for name, score in scores.items()},
        **({"statuses": dict(Counter(system.status.values()))} if system.status else {}),
    }


def _sizes(evaluation: Evaluation) -> Iterable[float]:
    return map(len, evaluation.triples)


def _token_means(evaluation: Evaluation) -> Iterable[float]:
    for triples in evaluation.triples:
        value = mean_tokens(triples)
        if value is not None or evaluation.settings.official:
            yield value or 0.0


def _coverage(evaluation: Evaluation) -> Iterable[float]:
    return (float(bool(triples)) for triples in evaluation.triples)


def _topical(evaluation: Evaluation) -> Iterable[float] | None:
    topics, official = evaluation.inputs.topics, evaluation.settings.official
    return None if topics is None else topical_similarity(evaluation.system, topics, official).values()


def _unique(evaluation: Evaluation) -> Iterable[float] | None:
    elements, matching = evaluation.embedded, evaluation.settings.matching
    if elements is None or matching is None:
        return None
    return uniqueness(evaluation.system, elements, matching, evaluation.settings.official).values()


def _complete(evaluation: Evaluation) -> Iterable[float] | None:
    system, gold, official = evaluation.system, evaluation.inputs.gold, evaluation.settings.official
    similarities, matching = evaluation.inputs.similarities, evaluation.settings.matching
    if gold is None or matching is None:
        return None
    if similarities is not None:
        return completeness_from_similarities(system, gold, similarities, matching.phi, official).values()
    elements = evaluation.embedded
    return None if elements is None else completeness(system, gold, elements, matching, official).values()


def _factual(evaluation: Evaluation) -> Iterable[float] | None:
    verdicts = evaluation.inputs.verdicts
    return None if verdicts is None else factualness(evaluation.system, verdicts, evaluation.settings.official).values()


def _granular(evaluation: Evaluation) -> Iterable[float] | None:
    splits = evaluation.inputs.splits
    return None if splits is None else granularity(evaluation.system, splits, evaluation.settings.official).values()


GRE_SCORES: dict[str, Callable[[Evaluation], Iterable[float] | None]] = {
    "ntri": _sizes,
    "ntok": _token_means,
    "coverage": _coverage,
    "ts": _topical,
    "us": _unique,
    "cs": _complete,
    "fs": _factual,
    "gs": _granular,
}
"""Score -> its value for each text that counts, None where an input is missing; in the order of the scores file."""
