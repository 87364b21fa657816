"""MINEA: found needles, criteria per needle, rates per type, overall score, redundancy.

The criteria (section 5.2.3 and appendix B3), compared exactly after
:func:`~tripleaudit.needles.entities.normalise`; a wrong type does not matter:

- ``n``: an entity's name equals the needle's name.
- ``ns``: the needle's name is a substring of the joined values of an entity.
- ``k(t)``: an entity shares at least the share ``t`` of the needle's keywords.
- ``llm``: a model points at the entity that is the needle (:func:`.extracting.ask_judge`).

Every needle is looked for by itself, as in the paper: where the keywords of two needles overlap, a
missed needle is credited with what was extracted about the other one. Needles of a document that
share too many keywords are therefore refused (:func:`~tripleaudit.needles.needle_check.problem`).

``a_c(type)`` is the share of a type's needles that criterion ``c`` finds, ``MINEA(type)`` the
greatest of these rates, and the overall score their mean weighted by the number of needles (section
5.2.2). It is the maximum of rates, not the rate of needles found by any criterion; that one, at
least as large, is ``minea_any``. Redundancy is that of a repeated extraction (section 4.2 and table
1).
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tripleaudit.core.files import read_jsonl, write_jsonl
from tripleaudit.needles.entities import SEPARATOR, Entity, normalise
from tripleaudit.needles.needle import Needle
from tripleaudit.scoring.bootstrap import FEWEST

RESAMPLES = 500  # of the needles of a type
Bounds = tuple[float | None, float | None]


@dataclass(frozen=True, slots=True)
class TypeScore:
    """Rates of one type: ``found[c]`` needles by criterion, ``found_any`` by at least one.

    ``found_blind`` expects of each needle what the criterion says that is best for other needles
    (:func:`_blind`).
    """

    type: str
    needles: int
    found: Mapping[str, int]
    found_any: int
    found_blind: float

    @property
    def best(self) -> str:
        """The criterion with the greatest rate, the first one on ties."""
        return max(self.found, key=lambda criterion: self.found[criterion])

    @property
    def minea(self) -> float:
        return self.found[self.best] / self.needles


def type_scores(rows: Iterable[Mapping], criteria: Sequence[str]) -> dict[str, TypeScore]:
    """Count what each criterion finds, by type.

    Args:
        rows: one mapping per needle with ``type`` and a truth value for each criterion; ``None``
            means that the criterion was not applied, and counts as not found.
    """
    by_type: dict[str, list[Mapping]] = {}
    for row in rows:
        by_type.setdefault(row["type"], []).append(row)
    return {name: _type_score(name, members, criteria) for name, members in by_type.items()}


def _type_score(name: str, rows: Sequence[Mapping], criteria: Sequence[str]) -> TypeScore:
    verdicts = np.array(
        [[bool(row[criterion]) for criterion in criteria] for row in rows]
    )  # [N, C]
    hits = verdicts.sum(axis=0)
    return TypeScore(
        type=name,
        needles=len(rows),
        found={criterion: int(count) for criterion, count in zip(criteria, hits, strict=True)},
        found_any=int(verdicts.any(axis=1).sum()),
        found_blind=_blind(verdicts.astype(float)),
    )


def overall(scores: Iterable[TypeScore]) -> tuple[float, float, int]:
    """Return ``(sum of found by the best criterion, found by any, needles)`` over types.

    ``found / needles`` is the MINEA of all types together: types weigh as much as they have
    needles.
    """
    scores = list(scores)
    return (
        sum(score.found[score.best] for score in scores),
        sum(score.found_any for score in scores),
        sum(score.needles for score in scores),
    )


def minea_interval(scores: Iterable[TypeScore]) -> Bounds:
    """Return MINEA's 95 % interval over types, corrected for the choice of the best criterion.

    MINEA is too high for the rate of the criterion that is best in truth, because the greatest of
    several rates is also the luckiest; the rate of a criterion that was chosen without the needle
    in question is not. So the lower end is Wilson's for that rate, and the upper end Wilson's for
    MINEA.
    """
    scores = list(scores)
    found, _, needles = overall(scores)
    found_blind = sum(score.found_blind for score in scores)
    low, _ = share_bounds(found_blind, needles)
    _, high = share_bounds(found, needles)
    return low, high


def rate_rows(
    stratum: str, scores: Sequence[TypeScore], hits: Mapping[str, int]
) -> Iterator[tuple[str, str, str, float, float | None, float | None]]:
    """Yield ``(stratum, matching, metric, value, low, high)`` of criteria and MINEA by type.

    Args:
        hits: needles found, by criterion, also by such that do not enter MINEA.
    """
    best, found_any, needles = overall(scores)
    yield stratum, "", "needles", needles, None, None
    for criterion, count in hits.items():
        yield stratum, criterion, "found", count, None, None
        yield stratum, criterion, "rate", count / needles, *share_bounds(count, needles)
    yield stratum, "max", "found", best, None, None
    yield stratum, "max", "minea", best / needles, *minea_interval(scores)
    yield stratum, "any", "minea_any", found_any / needles, *share_bounds(found_any, needles)


def _blind(verdicts: np.ndarray) -> float:
    """Return found needles of a type, judged by the best criterion of other resamples.

    Args:
        verdicts: ``[N, C]``, 1 where criterion c finds needle n. Criteria that are equally good weigh
            the same; a needle that no resample leaves out takes the mean of all of them.
    """
    needles = len(verdicts)
    drawn = np.random.default_rng(0).multinomial(
        needles, np.full(needles, 1 / needles), size=RESAMPLES
    )  # [R, N]
    hits = drawn @ verdicts  # [R, C]
    best = hits == hits.max(axis=1, keepdims=True)
    weights = best / best.sum(axis=1, keepdims=True)  # [R, C]
    rates = weights @ verdicts.T  # [R, N]
    left_out = drawn == 0
    times = left_out.sum(axis=0)
    mean_rates = (rates * left_out).sum(axis=0) / np.maximum(times, 1)  # [N]
    return float(np.where(times > 0, mean_rates, verdicts.mean(axis=1)).sum())


def wilson(found: float, total: int, z: float = 1.959963984540054) -> tuple[float, float]:
    """Return the Wilson score interval of ``found / total``; ``(0, 1)`` without observations."""
    if total == 0:
        return 0.0, 1.0
    rate = found / total
    square = z * z / total
    middle = (rate + square / 2) / (1 + square)
    variance = rate * (1 - rate) / total + square / (4 * total)
    half = z * math.sqrt(variance) / (1 + square)
    return max(0.0, middle - half), min(1.0, middle + half)


def share_bounds(found: float, total: int) -> Bounds:
    """Return Wilson's 95 % interval of a share; ``(None, None)`` with too few cases."""
    return wilson(found, total) if total >= FEWEST else (None, None)


def redundancy(new: Sequence[Entity], old: Sequence[Entity]) -> float | None:
    """Return the share of the new entities whose name was extracted from the same piece before.

    ``|{e in new : name(e) in names(old)}| / |new|``; ``None`` where nothing new came, and an entity
    without a name repeats nothing.
    """
    if not new:
        return None
    old_names = {normalise(entity.name) for entity in old if entity.name}
    new_names = [normalise(entity.name) for entity in new if entity.name]
    return sum(name in old_names for name in new_names) / len(new)


def by_part(old: Sequence[Entity], new: Sequence[Entity], parts: int) -> list[dict]:
    """Return one row per part of a document: redundancy, new and old entities.

    Args:
        old: entities of the finished extraction; ``piece`` is the part.
        new: entities of the branches in which part ``piece`` was shown once more.
    """
    rows = []
    for part in range(parts):
        before = [entity for entity in old if entity.piece == part]
        after = [entity for entity in new if entity.piece == part]
        row = {
            "part": part + 1,
            "redundancy": redundancy(after, before),
            "new": len(after),
            "old": len(before),
        }
        rows.append(row)
    return rows


EPSILON = 1e-9  # for thresholds such as 0.333333, which stand for a third


def rated(
    matches: Iterable[Mapping[str, Any]], thresholds: Sequence[float]
) -> list[dict[str, Any]]:
    """Return the rows of the criteria table of :meth:`Index.matches` with thresholds applied."""
    rows = []
    for match in matches:
        share = match["k_ratio"]
        criteria = {f"k{threshold:g}": share >= threshold - EPSILON for threshold in thresholds}
        rows.append({**match, **criteria, "k_ratio": round(share, 6)})
    return rows


def rate_matches(folder: str | Path, thresholds: Sequence[float]) -> None:
    """Decide which needles count as found: ``criteria`` from ``matches``, also untouched ones."""
    folder = Path(folder)
    for prefix in ("", "untouched-"):
        matches = [match for _, match in read_jsonl(folder / f"{prefix}matches.jsonl")]
        write_jsonl(folder / f"{prefix}criteria.jsonl", rated(matches, thresholds))


class Index:
    """The entities of one extraction, normalised once and searched for many needles."""

    def __init__(self, entities: Sequence[Entity]):
        self.entities = entities
        self._names: dict[str, Entity] = {}
        self._keywords: list[set[str]] = []
        self._values: list[str] = []
        for entity in entities:
            if entity.name:
                self._names.setdefault(normalise(entity.name), entity)
            self._keywords.append({normalise(keyword) for keyword in entity.keywords()})
            self._values.append(SEPARATOR.join(normalise(value) for value in entity.values()))
        self._tokens = [
            set(value.casefold().replace(SEPARATOR, " ").split()) for value in self._values
        ]

    def matches(self, needles: Sequence[Needle]) -> list[dict[str, Any]]:
        """Apply n, ns and the share of keywords to the needles of a document, without a judge.

        Returns:
            A row for each: whether its name is found, the greatest share of its keywords that one
            entity has, and the index of that entity, None where there is none.
        """
        rows = []
        for needle, shares in zip(needles, self._shares(needles), strict=True):
            name = normalise(needle.name)
            same_name = self._names.get(name)
            holder = self._first_with(name)
            ratio, best = self._best(shares)
            rows.append(
                {
                    "id": needle.id,
                    "doc": needle.doc,
                    "type": needle.type,
                    "name": needle.name,
                    "n": same_name is not None,
                    "ns": holder is not None,
                    "llm": None,
                    "k_ratio": ratio,
                    "n_index": same_name.index if same_name else None,
                    "ns_index": holder.index if holder else None,
                    "k_index": best,
                    "llm_index": None,
                }
            )
        return rows

    def _first_with(self, name: str) -> Entity | None:
        """Return the first entity with a name in one of its values."""
        for entity, values in zip(self.entities, self._values, strict=True):
            if name in values:
                return entity
        return None

    def _shares(self, needles: Sequence[Needle]) -> np.ndarray:
        """Return ``[N, E]``: which share of each needle's keywords each entity has."""
        shares = np.zeros((len(needles), len(self.entities)))
        for row, needle in enumerate(needles):
            wanted = {normalise(keyword) for keyword in needle.keywords}
            if wanted:
                shares[row] = [len(wanted & keywords) / len(wanted) for keywords in self._keywords]
        return shares

    def _best(self, shares: np.ndarray) -> tuple[float, int | None]:
        """Return the greatest share and the index of the first entity that has it."""
        if not shares.size or not shares.max():
            return 0.0, None
        best = self.entities[int(shares.argmax())]
        return float(shares.max()), best.index

    def candidates(self, needle: Needle, piece: int | None, limit: int) -> list[Entity]:
        """Return the entities that a judge should see, in order of extraction.

        Those that share a word with the needle's name or keywords, at most ``limit`` of them with
        the most shared words first, and those extracted from the piece that holds the needle.
        """
        words = set(normalise(" ".join([needle.name, *needle.keywords]), casefold=True).split())
        shared = [len(words & tokens) for tokens in self._tokens]
        similar = [position for position, count in enumerate(shared) if count]
        # stable: of equally many words, the first ones
        similar.sort(key=lambda position: -shared[position])
        chosen = set(similar[:limit])
        if piece is not None:
            chosen |= {
                position for position, entity in enumerate(self.entities) if entity.piece == piece
            }
        return [self.entities[position] for position in sorted(chosen)]
